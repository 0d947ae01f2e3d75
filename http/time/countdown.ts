/**
 * A wait that happens once, and for which the process stays alive.
 *
 * @module
 */
import type { Time } from "./time.ts";
import { Timer, type TimerWheel } from "./timer_wheel.ts";

/** Calls back once, when its time is over. */
export class Countdown extends Timer {
  readonly #timers: TimerWheel;
  readonly #action: () => void;

  /** `action` is called in `ms` milliseconds, and never with Infinity. Must not throw. */
  constructor({ timers }: Time, ms: number, action: () => void) {
    super();
    this.#timers = timers;
    this.#action = action;
    timers.add(this, ms);
  }

  /** Nothing is called any more. */
  stop(): void {
    this.#timers.remove(this);
  }

  onTimeout(): void {
    this.#action();
  }
}
