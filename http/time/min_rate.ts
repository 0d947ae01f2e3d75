/**
 * How slow a peer may be: an average, so that neither a pause nor one byte now and then decides.
 *
 * It is a bucket of milliseconds. Waiting for the peer empties it, the bytes the peer moves fill it:
 * `n` bytes are worth the time they take at the least rate. Full at first, it allows a pause of
 * `graceMs`; what it can hold at most limits how long a peer that was fast may then be slow.
 *
 * @module
 */

/** The rule for one peer. Knows no clock: the caller counts the time that it waits. */
export class MinRate {
  readonly #bytesPerSecond: number;
  readonly #mostMs: number;
  #left: number;

  /**
   * `bytesPerSecond` must be moved on average; with 0, any byte fills the bucket. `mostMs` is what
   * the bucket can hold; `Infinity` makes it the average over everything.
   */
  constructor(bytesPerSecond: number, graceMs: number, mostMs: number = graceMs) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#mostMs = mostMs;
    this.#left = graceMs;
  }

  /** Milliseconds the peer may still keep us waiting without moving a byte. */
  get left(): number {
    return this.#left;
  }

  /** Counts `ms` of waiting, in which `bytes` were moved. False: the peer is too slow. */
  count(ms: number, bytes: number): boolean {
    let left = this.#left - ms;
    if (bytes > 0) {
      const worth = this.#bytesPerSecond > 0 ? bytes * 1000 / this.#bytesPerSecond : Infinity;
      left = Math.min(this.#mostMs, left + worth);
    }
    this.#left = left;
    return left > 0;
  }

  /** Counts `ms` in which nothing was waited for: they are given back. */
  rest(ms: number): void {
    this.#left = Math.min(this.#mostMs, this.#left + ms);
  }
}

/** Milliseconds a body may come slower than `minBodyRate`. */
const BODY_RATE_GRACE_MS = 5000;

/** The rule on slow bodies, for one body; null if there is none: with a rate of 0. */
export function bodyRate(limits: { readonly minBodyRate?: number }): MinRate | null {
  const { minBodyRate = 0 } = limits;
  return minBodyRate > 0 ? new MinRate(minBodyRate, BODY_RATE_GRACE_MS, Infinity) : null;
}
