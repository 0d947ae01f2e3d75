/** Result of {@linkcode attempt}: the value, or the error. */
export type Attempt<T> = [value: T, error: undefined] | [value: undefined, error: Error];

/**
 * Turns a promise that may reject into a pair, for those who would rather test than catch. The same as
 * in the other entries: this folder stands alone, so that loading schemas loads nothing else.
 *
 * @example
 * ```ts
 * import { attempt, Loader } from "@sluice/sluice/protoc";
 *
 * const [file, error] = await attempt(new Loader().loadAsync('syntax = "proto3";', "empty.proto"));
 * if (error) throw error;
 * file.messages.length;
 * ```
 */
export async function attempt<T>(promise: Promise<T>): Promise<Attempt<T>> {
  try {
    return [await promise, undefined];
  } catch (error) {
    return [undefined, error instanceof Error ? error : new Error(String(error))];
  }
}
