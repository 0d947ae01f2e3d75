/**
 * Calls of the user's callbacks that only tell something. What they throw, now or later, is printed
 * and goes no further: it must not end the connection that tells, nor the process.
 *
 * @module
 */

/**
 * Calls `callback` with `args`, if it is given. Never throws.
 */
export function tell<A extends unknown[]>(
  callback: ((...args: A) => unknown) | null | undefined,
  ...args: A
): void {
  if (callback === null || callback === undefined) return;
  try {
    const result = callback(...args);
    if (isThenable(result)) Promise.resolve(result).catch((error) => print(callback, error));
  } catch (error) {
    print(callback, error);
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}

function print(callback: (...args: never[]) => unknown, error: unknown): void {
  // deno-lint-ignore no-console
  console.error(`The callback ${callback.name || "given"} failed:`, error);
}
