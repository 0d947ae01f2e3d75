/**
 * Time as the client sees it: given, so that tests need not wait for it.
 *
 * @module
 */
import { SYSTEM_TIME, type Time } from "../http/engine.ts";

/** Tells the time and waits. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system's time: a clock, and timers that go by it. */
export const systemTime: Time = SYSTEM_TIME;

/** The system's clock. */
export const systemClock: Clock = SYSTEM_TIME.clock;

/** Clocks of clients, and of parts of their keys, that do not go by the system's. */
const clocks = new WeakMap<object, Clock>();

/** Gives a keyspace its clock: all that is made of it goes by that. */
export function giveClock(keyspace: object, clock: Clock): void {
  if (clock !== systemClock) clocks.set(keyspace, clock);
}

/** The clock of a keyspace. */
export function clockOf(keyspace: object): Clock {
  return clocks.get(keyspace) ?? systemClock;
}

/** Calls `act` in `ms` milliseconds. Returns what prevents it. */
export function after(clock: Clock, ms: number, act: () => void): () => void {
  const over = new AbortController();
  clock.sleep(ms, over.signal).then(act, () => {});
  return () => over.abort();
}
