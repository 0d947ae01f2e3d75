/**
 * One deadline that moves often and passes seldom: each request on a connection starts and ends
 * several waits. Moving it later costs a store; the timer underneath follows when it fires.
 *
 * @module
 */
import { type TimerNode, timers } from "./timer_wheel.ts";

/** A deadline with the name of what it limits. */
export class Deadline implements TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  /** Its connection holds the process, if anything does. */
  readonly background = true;
  /** What is being waited for; "" while nothing is. */
  phase = "";
  /** The limit in milliseconds. */
  ms = 0;
  #at = Infinity;
  #armed = Infinity;
  readonly #action: (phase: string, ms: number) => void;

  /** `action` is called with the phase and its limit when a deadline passes. Must not throw. */
  constructor(action: (phase: string, ms: number) => void) {
    this.#action = action;
  }

  /** Limits what is being waited for to `ms` from `now` (`performance.now()`); 0 is no limit. */
  set(phase: string, ms: number, now: number): void {
    if (ms <= 0) return this.clear();
    this.phase = phase;
    this.ms = ms;
    this.#at = now + ms;
    if (this.#at < this.#armed) {
      timers.remove(this);
      this.#armed = this.#at;
      timers.add(this, ms);
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
    timers.remove(this);
  }

  onTimeout(): void {
    this.#armed = Infinity;
    if (this.#at === Infinity) return;
    const left = this.#at - performance.now();
    if (left > 0) {
      this.#armed = this.#at;
      timers.add(this, left);
      return;
    }
    const { phase, ms } = this;
    this.clear();
    this.#action(phase, ms);
  }
}
