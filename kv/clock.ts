/**
 * Time as the client sees it: given, so that tests need not wait for it.
 *
 * @module
 */
import { delay } from "@std/async";

/** Tells the time and waits. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system's clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, signal === undefined ? {} : { signal }),
};
