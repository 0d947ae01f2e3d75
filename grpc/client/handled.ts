/**
 * Promises handed to users who may not await them. Their rejections reach those who do; one that
 * nobody awaits does not end the process.
 *
 * @module
 */
import { setImmediate } from "node:timers";

const NOTHING = () => {};

/** The promise itself, never an unhandled rejection. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(NOTHING);
  return promise;
}

/**
 * Rejects in the next turn of the event loop: a program that does again and again what fails at once
 * must not keep timers, signals and connections from their turns.
 */
export function rejectSoon(error: unknown): Promise<never> {
  return handled(new Promise((_, reject) => setImmediate(reject, error)));
}
