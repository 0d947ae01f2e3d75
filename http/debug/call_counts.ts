/**
 * Counts of a server's calls: by name, in the last minute, and how long they took. It takes the same
 * memory however many calls there are.
 *
 * @module
 */
import type { CallRecorder } from "../server/watch.ts";

/** Names that are counted each for itself; calls of further ones are counted together. */
export const MAX_NAMES = 256;
/** Name of the others. */
const OTHERS = "_OTHER";
/** Seconds that the last counts go back. */
const SECONDS = 60;

/** Milliseconds that bound the buckets of durations; one more bucket is beyond the last. */
export const BUCKETS: readonly number[] = [
  ...[0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000],
];

/** Counts of the last seconds. */
class LastSeconds {
  readonly #counts = new Uint32Array(SECONDS);
  #second = 0;

  add(second: number): void {
    this.#turnTo(second);
    this.#counts[second % SECONDS]!++;
  }

  /** Counts up to a second, which is the last. */
  list(second: number): number[] {
    this.#turnTo(second);
    return Array.from({ length: SECONDS }, (_, i) => this.#counts[(second + 1 + i) % SECONDS]!);
  }

  #turnTo(second: number): void {
    if (second - this.#second >= SECONDS) this.#counts.fill(0);
    else for (let i = this.#second + 1; i <= second; i++) this.#counts[i % SECONDS] = 0;
    this.#second = Math.max(this.#second, second);
  }
}

/** Counts of one name. */
class Counts {
  begun = 0;
  ended = 0;
  failed = 0;
  readonly durations: number[] = Array(BUCKETS.length + 1).fill(0);
  readonly last = new LastSeconds();
  readonly lastFailed = new LastSeconds();
}

/** Calls of one name, as they are shown. */
interface NamedCalls {
  readonly name: string;
  readonly calls: number;
  readonly running: number;
  readonly failed: number;
  /** Calls by duration, a number for each of {@linkcode BUCKETS} and one for those beyond. */
  readonly durations: readonly number[];
  /** Calls that ended in each of the last seconds, the present one last; and those that failed. */
  readonly last: readonly number[];
  readonly lastFailed: readonly number[];
}

/** See the module. */
export class CallCounts implements CallRecorder {
  readonly #now: () => number;
  readonly #names = new Map<string, Counts>();

  /** `now` tells milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  begun(name: string): void {
    this.#counts(name).begun++;
  }

  ended(name: string, ms: number, failed: boolean): void {
    const counts = this.#counts(name);
    const bucket = BUCKETS.findIndex((bound) => ms <= bound);
    counts.ended++;
    counts.durations[bucket < 0 ? BUCKETS.length : bucket]!++;
    counts.last.add(this.#second);
    if (!failed) return;
    counts.failed++;
    counts.lastFailed.add(this.#second);
  }

  /** The calls of all names, by name. */
  list(): NamedCalls[] {
    const second = this.#second;
    return [...this.#names].map(([name, counts]) => ({
      name,
      calls: counts.begun,
      running: counts.begun - counts.ended,
      failed: counts.failed,
      durations: counts.durations,
      last: counts.last.list(second),
      lastFailed: counts.lastFailed.list(second),
    })).sort((a, b) => a.name < b.name ? -1 : 1);
  }

  get #second(): number {
    return Math.floor(this.#now() / 1000);
  }

  #counts(name: string): Counts {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    if (this.#names.size >= MAX_NAMES && name !== OTHERS) return this.#counts(OTHERS);
    const counts = new Counts();
    this.#names.set(name, counts);
    return counts;
  }
}
