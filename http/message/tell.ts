/**
 * Calls of the user's callbacks that only tell something, and the printing of errors that nobody
 * asked to hear of. What a callback throws, now or later, is printed and goes no further: it must not
 * end the connection that tells, nor the process.
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
    if (isThenable(result)) {
      Promise.resolve(result).catch((error) => callbackFailed(callback, error));
    }
  } catch (error) {
    callbackFailed(callback, error);
  }
}

/**
 * Tells `onError` of an error. Without one (undefined) the error is printed with its stack behind
 * `what`, the sentence that says where it came from; null silences it. Never throws.
 */
export function tellError<A extends unknown[]>(
  onError: ((error: unknown, ...args: A) => unknown) | null | undefined,
  what: string,
  error: unknown,
  ...args: A
): void {
  if (onError === undefined) print(`${what}:`, error);
  else tell(onError, error, ...args);
}

/**
 * Aborts a signal that users listen to. What their listeners throw is printed: the platform would end
 * the process.
 */
export function abort(controller: AbortController, reason: unknown): void {
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    print("A listener of an abort signal failed:", event.error);
  };
  globalThis.addEventListener("error", onError, { capture: true });
  try {
    controller.abort(reason);
  } finally {
    globalThis.removeEventListener("error", onError, { capture: true });
  }
}

/** Longest text of a peer in a printed line. */
const MAX_PRINTED = 256;

/** Text of a peer as it may be printed: without control characters, and of bounded length. */
export function printable(text: string): string {
  const cut = text.length > MAX_PRINTED ? `${text.slice(0, MAX_PRINTED)}…` : text;
  // deno-lint-ignore no-control-regex
  return cut.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, "?");
}

/** Whether a callback gave something that may still fail. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}

function callbackFailed(callback: (...args: never[]) => unknown, error: unknown): void {
  const { name } = callback;
  print(`The callback ${typeof name === "string" && name !== "" ? name : "given"} failed:`, error);
}

function print(what: string, error: unknown): void {
  try {
    // deno-lint-ignore no-console
    console.error(what, error);
  } catch {
    // An error that cannot be shown (a getter of it throws) is still an error that was thrown.
    // deno-lint-ignore no-console
    console.error(what, typeof error);
  }
}
