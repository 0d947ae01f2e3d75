/**
 * Ends a request from outside: by its signal or its timeout.
 *
 * @module
 */
import { TimeoutError } from "../message/error.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import { Timer } from "../time/timer_wheel.ts";

/** Something that can be given up. */
interface Abortable {
  abort(reason: Error): void;
}

/** See the module. */
export class Cancellation extends Timer {
  /** Why the request was given up, or null. */
  reason: Error | null = null;
  /** The origin requested, for the message. */
  where: string | undefined;
  /** Ends the wait under way. */
  #cancel: ((reason: Error) => void) | null = null;
  /** The exchange under way. */
  #exchange: Abortable | null = null;
  readonly #signal: AbortSignal | undefined;
  readonly #timeout: number;
  readonly #time: Time;

  /** Counts from now on; a `timeout` of 0 is no limit. */
  constructor(signal: AbortSignal | undefined, timeout: number, time: Time) {
    super();
    this.#signal = signal;
    this.#timeout = timeout;
    this.#time = time;
    if (signal !== undefined) {
      if (signal.aborted) this.reason = reasonOf(signal);
      else signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    if (timeout > 0) time.timers.add(this, timeout);
  }

  readonly #onAbort = (): void => this.#end(reasonOf(this.#signal!));

  onTimeout(): void {
    this.#end(new TimeoutError("timeout", this.#timeout, this.where));
  }

  #end(reason: Error): void {
    this.reason ??= reason;
    const cancel = this.#cancel;
    const exchange = this.#exchange;
    // The request has ended: nothing else will call release().
    this.release();
    cancel?.(this.reason);
    exchange?.abort(this.reason);
  }

  /**
   * From now on, what is given up is `exchange`.
   *
   * @throws What the request was given up with.
   */
  attach(exchange: Abortable): void {
    if (this.reason !== null) {
      exchange.abort(this.reason);
      throw this.reason;
    }
    this.#exchange = exchange;
  }

  /** Waits for `promise`; if the request is given up meanwhile, `cancel` has to end the wait. */
  async during<T>(cancel: (reason: Error) => void, promise: Promise<T>): Promise<T> {
    this.check();
    this.#cancel = cancel;
    try {
      return await promise;
    } finally {
      this.#cancel = null;
    }
  }

  /** Waits for what is not ours to end; rejects at once if the request is given up. */
  settled<T>(foreign: PromiseLike<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    foreign.then(resolve, reject);
    return this.during(reject, promise);
  }

  /** Waits `ms` milliseconds; rejects at once if the request is given up. */
  sleep(ms: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const countdown = new Countdown(this.#time, ms, resolve);
    return this.during(reject, promise).finally(() => countdown.stop());
  }

  /** @throws What the request was given up with, if it was. */
  check(): void {
    if (this.reason !== null) throw this.reason;
  }

  /** The request has ended: nothing is given up any more. */
  release(): void {
    this.#cancel = null;
    this.#exchange = null;
    this.#time.timers.remove(this);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** `abort(null)` is a reason too, if a poor one. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason ?? new DOMException("The signal has been aborted", "AbortError");
}
