// The time of a store, which tests may move.

import { type Clock, systemClock } from "../clock.ts";

/** What tells the time: milliseconds since some moment. */
export type Now = Pick<Clock, "now">;

/** A clock that runs with another and may be put forward. */
export class StoreClock implements Now {
  readonly #base: Now;
  #ahead = 0;

  /** Runs with `base`; with the system's clock by default. */
  constructor(base: Now = systemClock) {
    this.#base = base;
  }

  now(): number {
    return this.#base.now() + this.#ahead;
  }

  /** Puts the clock forward. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }
}
