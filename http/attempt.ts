/** What {@linkcode attempt} returns: the value, or the error. */
export type Attempt<T> = [value: T, error: undefined] | [value: undefined, error: Error];

/**
 * Turns a promise that may reject into a pair, for those who would rather test than catch.
 *
 * @example
 * ```ts
 * import { attempt } from "@sluice/sluice/http";
 *
 * const [value, error] = await attempt(Promise.resolve(1));
 * if (error) throw error;
 * value.toFixed();
 * ```
 */
export async function attempt<T>(promise: Promise<T>): Promise<Attempt<T>> {
  try {
    return [await promise, undefined];
  } catch (error) {
    return [undefined, error instanceof Error ? error : new Error(String(error))];
  }
}
