/**
 * Results of handlers, whatever they return or throw.
 *
 * @module
 */
import type { Method } from "../wire/method.ts";

/** Whether a handler answers later. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null)?.then === "function";
}

/** Whether an error says only that the handler learnt of its call's end. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/**
 * The responses a handler gave.
 *
 * @throws {TypeError} If they cannot be iterated over.
 */
export function iteratorOf(result: unknown, method: Method): AsyncIterator<unknown> {
  if (result !== null && typeof result === "object" && Symbol.asyncIterator in result) {
    return (result as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  }
  throw new TypeError(
    `Cannot stream responses of ${method.path}: the handler must return an async iterable`,
  );
}
