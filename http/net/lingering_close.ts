/**
 * Limits on the input that follows the last answer on a connection or a stream.
 *
 * A socket that is closed with unread input is reset, and a reset overtakes what was sent before: a
 * client that still uploads never sees why it was refused (RFC 9112 §9.6). So this side ends its
 * output, reads on, and drops what comes until the peer ends too. How long is nginx's policy
 * (`lingering_timeout`, `lingering_time`) with a limit in bytes; a connection that lingers counts
 * against the limits of its server like any other.
 *
 * @module
 */
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";

/** Milliseconds a peer may be silent. */
const LINGER_SILENCE_MS = 5000;
/** The same when this side wants to end for reasons of its own, such as a shutdown. */
const LINGER_HURRY_MS = 500;
/** Milliseconds it may go on in all. */
const LINGER_MS = 30_000;
/**
 * Bytes that are dropped.
 *
 * @internal
 */
export const LINGER_BYTES: number = 64 << 20;

/** The limits of one lingering close: when it is over, `onOver` is called, once. */
export class LingeringClose {
  readonly #time: Time;
  readonly #deadline: Deadline;
  #silence = LINGER_SILENCE_MS;
  #end = Infinity;
  #left = LINGER_BYTES;

  constructor(time: Time, onOver: () => void) {
    this.#time = time;
    this.#deadline = new Deadline(time, onOver);
  }

  /** The answer is out: time counts from now on. */
  start(): void {
    const now = this.#time.clock.now();
    this.#end = now + LINGER_MS;
    this.#watch(now);
  }

  /** Waits shorter for a silent peer. */
  hurry(): void {
    this.#silence = LINGER_HURRY_MS;
    if (this.#end < Infinity) this.#watch(this.#time.clock.now());
  }

  /** `n` bytes came and were dropped. False if that was enough. */
  dropped(n: number): boolean {
    this.#left -= n;
    if (this.#left < 0) return false;
    if (this.#end < Infinity) this.#watch(this.#time.clock.now());
    return true;
  }

  /** The peer has ended too, or is gone. */
  stop(): void {
    this.#deadline.stop();
    this.#end = Infinity;
  }

  #watch(now: number): void {
    // At least a moment: 0 would be no limit.
    this.#deadline.set("linger", Math.max(1, Math.min(this.#silence, this.#end - now)), now);
  }
}
