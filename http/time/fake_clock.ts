/**
 * A clock that tests move by hand: what goes by it takes no real time, and never races with a busy
 * machine. It fits http/, grpc/ (by their `…At` functions) and kv/.
 *
 * Sockets know nothing of it: where a test has real ones, it awaits what they bring before it moves
 * the time on.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import type { Alarm, AlarmClock } from "./clock.ts";
import type { Time } from "./time.ts";
import { TimerWheel } from "./timer_wheel.ts";

/**
 * How long the consequences of one moment may take: rounds of so many turns of the event loop.
 *
 * @internal
 */
export interface Settling {
  readonly rounds: number;
  readonly turns: number;
  /** Real milliseconds of rest after each round. */
  readonly restMs: number;
}

/** Where all is in memory. What gives way to others does so for 61 turns. */
const IN_MEMORY: Settling = { rounds: 1, turns: 150, restMs: 0 };

/**
 * Where a test has sockets, both ends of them in this process: of a loop that is never idle the platform
 * looks after them in every 61st turn, and on a busy machine the system brings what was sent only when
 * it gets to it.
 *
 * @internal
 */
export const OVER_SOCKETS: Settling = { rounds: 5, turns: 61, restMs: 1 };

/** Real milliseconds that something is waited for for which no alarm is set. */
const PATIENCE_MS = 30_000;

/**
 * Lets promises settle and what was put off to the next turns of the event loop happen.
 *
 * @internal
 */
export async function settle({ rounds, turns, restMs }: Settling = IN_MEMORY): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < turns; i++) await new Promise<void>((resolve) => setImmediate(resolve));
    if (restMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, restMs));
  }
}

class FakeAlarm implements Alarm {
  readonly at: number;
  readonly ring: () => void;
  readonly #alarms: Set<FakeAlarm>;

  constructor(alarms: Set<FakeAlarm>, at: number, ring: () => void) {
    this.#alarms = alarms;
    this.at = at;
    this.ring = ring;
    alarms.add(this);
  }

  hold(): void {
    // No platform timer is behind it.
  }

  cancel(): void {
    this.#alarms.delete(this);
  }
}

/** See the module. */
export class FakeClock implements AlarmClock {
  #now = 1000;
  readonly #settling: Settling;
  readonly #alarms = new Set<FakeAlarm>();
  /** The clock with timers that go by it. */
  readonly time: Time = { clock: this, timers: new TimerWheel(this) };

  /** `settling` is how long what a moment causes may take. */
  constructor(settling: Settling = IN_MEMORY) {
    this.#settling = settling;
  }

  now(): number {
    return this.#now;
  }

  /** How many alarms and sleepers wait. */
  get waiting(): number {
    return this.#alarms.size;
  }

  alarm(ms: number, ring: () => void): Alarm {
    return new FakeAlarm(this.#alarms, this.#now + Math.max(0, ms), ring);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        alarm.cancel();
        reject(signal!.reason);
      };
      const alarm = this.alarm(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /**
   * Moves on by `ms` milliseconds. What is due rings in order, each at its own time, and all that
   * follows from it happens before the next.
   */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle(this.#settling);
    while (this.#ringNext(until)) await settle(this.#settling);
    this.#now = until;
  }

  /** Moves on until `promise` settles, by `ms` milliseconds at most; whether it did. */
  async within(ms: number, promise: PromiseLike<unknown>): Promise<boolean> {
    const end = this.#now + ms;
    let settled = false;
    const done = () => settled = true;
    promise.then(done, done);
    for (;;) {
      await settle(this.#settling);
      if (settled) return true;
      if (this.#ringNext(end)) continue;
      this.#now = end;
      return false;
    }
  }

  /**
   * Moves on, from alarm to alarm, until `promise` settles; returns how many milliseconds it took by
   * this clock. Rejects as it does, and if `mostMs` pass before.
   */
  async until(promise: PromiseLike<unknown>, mostMs = 2 ** 31): Promise<number> {
    const start = this.#now;
    let settled = false;
    const done = () => settled = true;
    promise.then(done, done);
    const began = performance.now();
    for (;;) {
      await settle(this.#settling);
      if (settled) break;
      if (this.#ringNext(start + mostMs)) continue;
      if (this.#alarms.size > 0) throw new Error(`Not settled after ${mostMs} ms`);
      if (performance.now() - began > PATIENCE_MS) throw new Error("Nothing is left to wait for");
    }
    await promise;
    return this.#now - start;
  }

  /** The time passes at once, as for a process that was stopped: what was due rings late. */
  async leap(ms: number): Promise<void> {
    this.#now += ms;
    await this.advance(0);
  }

  #ringNext(until: number): boolean {
    let next: FakeAlarm | null = null;
    for (const alarm of this.#alarms) if (next === null || alarm.at < next.at) next = alarm;
    if (next === null || next.at > until) return false;
    this.#alarms.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.ring();
    return true;
  }
}
