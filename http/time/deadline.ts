/**
 * One deadline that moves often and passes seldom: each request on a connection starts and ends
 * several waits. Moving it later costs a store; the timer underneath follows when it fires.
 *
 * @module
 */
import type { Time } from "./time.ts";
import { Timer } from "./timer_wheel.ts";

/** A deadline with the name of what it limits. */
export class Deadline extends Timer {
  /** Name of the wait; "" while there is none. */
  phase = "";
  /** The limit in milliseconds. */
  ms = 0;
  #at = Infinity;
  #armed = Infinity;
  readonly #time: Time;
  readonly #action: (phase: string, ms: number) => void;

  /** `action` is called with the phase and its limit when a deadline passes. Must not throw. */
  constructor(time: Time, action: (phase: string, ms: number) => void) {
    super();
    this.#time = time;
    this.#action = action;
  }

  /** Its connection holds the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  /** Limits what is being waited for to `ms` from `now` by the clock; 0 is no limit. */
  set(phase: string, ms: number, now: number = this.#time.clock.now()): void {
    if (ms <= 0) return this.clear();
    this.phase = phase;
    this.ms = ms;
    this.#at = now + ms;
    if (this.#at < this.#armed) {
      const { timers, clock } = this.#time;
      timers.remove(this);
      this.#armed = this.#at;
      // `now` may be some time ago.
      timers.add(this, this.#at - clock.now());
    }
  }

  /** Nothing is waited for. */
  clear(): void {
    this.phase = "";
    this.#at = Infinity;
  }

  /** Takes it off the wheel for good. */
  stop(): void {
    this.clear();
    this.#armed = Infinity;
    this.#time.timers.remove(this);
  }

  onTimeout(): void {
    this.#armed = Infinity;
    if (this.#at === Infinity) return;
    const left = this.#at - this.#time.clock.now();
    if (left > 0) {
      this.#armed = this.#at;
      this.#time.timers.add(this, left);
      return;
    }
    const { phase, ms } = this;
    this.clear();
    this.#action(phase, ms);
  }
}
