/**
 * The body of a web `Request`, within the limits of size and pace that `Deno.serve` does not keep.
 *
 * @module
 */
import { BodyTooLargeError, TimeoutError } from "../message/error.ts";
import { Deadline } from "../time/deadline.ts";
import { bodyRate, type MinRate } from "../time/min_rate.ts";
import type { Time } from "../time/time.ts";
import type { ServerLimits } from "./limits.ts";

/** See the module. One read at a time. */
export class FetchBody {
  readonly #body: ReadableStream<Uint8Array>;
  /** Value of content-length, or -1. */
  readonly #length: number;
  readonly #limits: Required<ServerLimits>;
  readonly #time: Time;
  readonly #deadline: Deadline;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #received = 0;
  #rate: MinRate | null = null;
  #reject: ((error: Error) => void) | null = null;

  constructor(
    body: ReadableStream<Uint8Array>,
    length: number,
    limits: Required<ServerLimits>,
    time: Time,
  ) {
    this.#body = body;
    this.#length = length;
    this.#limits = limits;
    this.#time = time;
    this.#deadline = new Deadline(
      time,
      (phase, ms) => this.#reject?.(new TimeoutError(phase, ms)),
    );
  }

  /** Whether reading has begun. */
  get begun(): boolean {
    return this.#reader !== null;
  }

  /** Whether a piece is waited for. */
  get reading(): boolean {
    return this.#reject !== null;
  }

  /**
   * The next piece, or null at the end. Rejects with `TimeoutError` or `BodyTooLargeError` if it passes
   * a limit, with another error if the platform's reading failed.
   */
  async read(): Promise<Uint8Array | null> {
    this.#reader ??= this.#body.getReader();
    const begun = this.#time.clock.now();
    const { done, value } = await this.#wait(this.#reader.read(), begun);
    if (done) {
      if (this.#received < this.#length) throw new Error("the body ended early");
      return null;
    }
    const { maxBodyBytes } = this.#limits;
    this.#received += value.length;
    if (maxBodyBytes > 0 && this.#received > maxBodyBytes) {
      throw new BodyTooLargeError(maxBodyBytes, "limits.maxBodyBytes");
    }
    const waited = this.#time.clock.now() - begun;
    this.#rate ??= bodyRate(this.#limits);
    if (this.#rate?.count(waited, value.length) === false) {
      throw new TimeoutError("minBodyRate", Math.round(waited));
    }
    return value;
  }

  /** Waits for a piece, no longer than `bodyTimeout`. */
  #wait<T>(read: Promise<T>, begun: number): Promise<T> {
    this.#deadline.set("bodyTimeout", this.#limits.bodyTimeout, begun);
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      read.then(resolve, reject);
    }).finally(() => {
      this.#reject = null;
      this.#deadline.stop();
    });
  }

  /** Rejects the read under way with `error`. */
  fail(error: Error): void {
    this.#reject?.(error);
  }

  /** Nobody reads on: the platform drops what still comes, or closes the connection. */
  cancel(): void {
    const cancelled = this.#reader !== null ? this.#reader.cancel() : this.#body.cancel();
    cancelled.catch(() => {});
  }
}
