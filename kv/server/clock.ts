/**
 * The time of a store, which tests may put forward.
 *
 * @module
 */
import { type Clock, systemClock } from "../clock.ts";

/** Tells the time: milliseconds since some moment. */
export type Now = Pick<Clock, "now">;

/** A call that waits for its time. */
interface Alarm {
  readonly at: number;
  readonly ring: () => void;
  /** Ends the wait by the clock underneath. */
  waiting: AbortController;
}

/** A clock that runs with another and may be put forward. All waits of a store go by it. */
export class StoreClock implements Now {
  readonly #base: Clock;
  readonly #alarms = new Set<Alarm>();
  #ahead = 0;

  /** Runs with `base`; with the system's clock by default. */
  constructor(base: Clock = systemClock) {
    this.#base = base;
  }

  now(): number {
    return this.#base.now() + this.#ahead;
  }

  /** Calls `ring` in `ms` milliseconds, until the function that is given is called. */
  after(ms: number, ring: () => void): () => void {
    const alarm: Alarm = { at: this.now() + ms, ring, waiting: new AbortController() };
    this.#alarms.add(alarm);
    this.#wait(alarm);
    return () => {
      this.#alarms.delete(alarm);
      alarm.waiting.abort();
    };
  }

  #wait(alarm: Alarm): void {
    const ms = Math.min(2 ** 31 - 1, Math.max(0, Math.ceil(alarm.at - this.now())));
    this.#base.sleep(ms, alarm.waiting.signal).then(() => {
      if (alarm.waiting.signal.aborted) return;
      // It may have waited for a part of its time, or the platform's timer was early.
      if (this.now() < alarm.at) this.#wait(alarm);
      else this.#ring(alarm);
    }, () => {});
  }

  #ring(alarm: Alarm): void {
    if (this.#alarms.delete(alarm)) alarm.ring();
  }

  /** Resolves in `ms` milliseconds, or as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.after(ms, done);
      signal.addEventListener("abort", done);
      function done(): void {
        cancel();
        signal.removeEventListener("abort", done);
        resolve();
      }
    });
  }

  /** Puts the clock forward. What would have rung meanwhile rings now, in its order. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
    const now = this.now();
    const alarms = [...this.#alarms].sort((a, b) => a.at - b.at);
    for (const alarm of alarms) {
      if (!this.#alarms.has(alarm)) continue;
      alarm.waiting.abort();
      if (alarm.at <= now) this.#ring(alarm);
      else {
        alarm.waiting = new AbortController();
        this.#wait(alarm);
      }
    }
  }
}
