import { Timer, type TimerWheel } from "../../http/engine.ts";
import type { Candidate } from "../balancing/picker.ts";
import type { PickedCall } from "../balancing/policy.ts";

/** Somebody who wants a connection. */
export interface Wanted<C> extends PickedCall {
  /** Whether it waits although all connections are down. */
  readonly waitForReady: boolean;
  /** There is a connection with room. */
  onConnected(connected: C): void;
  /** There will be none. */
  onUnavailable(error: Error): void;
}

/** A place among those that wait; a list node, so that giving it up costs the same for all. */
export class Waiting<C extends Candidate> {
  readonly wanted: Wanted<C>;
  /** The connection that has just refused it. */
  readonly after: C | null;
  next: Waiting<C> | null = null;
  previous: Waiting<C> | null = null;
  readonly #calls: WaitingCalls<C>;

  constructor(calls: WaitingCalls<C>, wanted: Wanted<C>, after: C | null) {
    this.#calls = calls;
    this.wanted = wanted;
    this.after = after;
  }

  /** Gives the place up. False if it was given up or taken already. */
  cancel(): boolean {
    return this.#calls.remove(this);
  }
}

/** A timer that never means anything: it holds the process. */
class Hold extends Timer {
  readonly #timers: TimerWheel;

  constructor(timers: TimerWheel) {
    super();
    this.#timers = timers;
  }

  on(): void {
    this.#timers.add(this, HOLD_MS);
  }

  off(): void {
    this.#timers.remove(this);
  }

  onTimeout(): void {
    this.on();
  }
}

const HOLD_MS = 3_600_000;

/** Calls that wait for a connection, in order. While there are any, the process does not end. */
export class WaitingCalls<C extends Candidate> {
  /** The one that waits longest. */
  first: Waiting<C> | null = null;
  /** How many wait. */
  size = 0;
  #last: Waiting<C> | null = null;
  readonly #hold: Hold;

  constructor(timers: TimerWheel) {
    this.#hold = new Hold(timers);
  }

  /** Puts a call behind all others. */
  add(wanted: Wanted<C>, after: C | null): Waiting<C> {
    const waiting = new Waiting(this, wanted, after);
    waiting.previous = this.#last;
    if (this.#last === null) this.first = waiting;
    else this.#last.next = waiting;
    this.#last = waiting;
    if (this.size++ === 0) this.#hold.on();
    return waiting;
  }

  /** Takes a call out. False if it does not wait. */
  remove(waiting: Waiting<C>): boolean {
    const { previous, next } = waiting;
    if (previous === null && this.first !== waiting) return false;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    waiting.previous = waiting.next = null;
    if (--this.size === 0) this.#hold.off();
    return true;
  }
}
