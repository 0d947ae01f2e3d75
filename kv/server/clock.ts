// The time of a store, which tests may move.

/** Milliseconds, monotonic: they say how much time passes, not what time it is. */
export interface Clock {
  now(): number;
}

/** A clock that runs with another and may be put forward. */
export class StoreClock implements Clock {
  readonly #base: Clock;
  #ahead = 0;

  /** @param base The system's monotonic clock by default. */
  constructor(base: Clock = performance) {
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
