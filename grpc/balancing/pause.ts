import { type Time, Timer, type TimerWheel } from "../../http/engine.ts";

/** Calls back once, when its time is over. Calls that wait hold the process, if anything does. */
export class Pause extends Timer {
  readonly #timers: TimerWheel;
  readonly #action: () => void;

  /** `action` is called in `ms` milliseconds, and never with Infinity. Must not throw. */
  constructor({ timers }: Time, ms: number, action: () => void) {
    super();
    this.#timers = timers;
    this.#action = action;
    timers.add(this, ms);
  }

  override get background(): boolean {
    return true;
  }

  /** Nothing is called any more. */
  stop(): void {
    this.#timers.remove(this);
  }

  onTimeout(): void {
    this.#action();
  }
}
