/**
 * What ends a request from outside.
 *
 * @module
 */
import { TimeoutError } from "../message/error.ts";
import type { Waiting } from "./pool.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import { Timer } from "../time/timer_wheel.ts";

/** The one thing that can end a request from outside: its signal or its deadline. */
export class Cancellation extends Timer implements Waiting {
  /** What to call to give up. */
  cancel: ((reason: Error) => void) | null = null;
  reason: Error | null = null;
  /** The origin requested, for the message. */
  where: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #timeout: number;
  readonly #time: Time;

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
    const cancel = this.cancel;
    // Over: nobody may come to say so.
    this.release();
    cancel?.(this.reason);
  }

  /** Waits for what is not ours to end, unless the request is given up. */
  during<T>(waited: PromiseLike<T>): Promise<T> {
    const { cancel } = this;
    return new Promise<T>((resolve, reject) => {
      this.cancel = (reason) => {
        reject(reason);
        cancel?.(reason);
      };
      Promise.resolve(waited).then(resolve, reject);
    }).finally(() => {
      if (this.reason === null) this.cancel = cancel;
    });
  }

  /** Waits `ms` milliseconds, unless the request is given up. */
  sleep(ms: number): Promise<void> {
    if (this.reason !== null) return Promise.reject(this.reason);
    return new Promise((resolve, reject) => {
      const countdown = new Countdown(this.#time, ms, () => {
        this.cancel = null;
        resolve();
      });
      this.cancel = (reason) => {
        countdown.stop();
        reject(reason);
      };
    });
  }

  check(): void {
    if (this.reason !== null) throw this.reason;
  }

  release(): void {
    this.cancel = null;
    this.#time.timers.remove(this);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** `abort(null)` is a reason too, if a poor one. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason ?? new DOMException("The signal has been aborted", "AbortError");
}
