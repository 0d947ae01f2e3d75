/**
 * What ends a request from outside.
 *
 * @module
 */
import { TimeoutError } from "../message/error.ts";
import { MAX_TIMER_MS } from "../message/options.ts";
import type { Waiting } from "./pool.ts";
import { type TimerNode, timers } from "../time/timer_wheel.ts";

/** The one thing that can end a request from outside: its signal or its deadline. */
export class Cancellation implements TimerNode, Waiting {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  /** What to call to give up. */
  cancel: ((reason: Error) => void) | null = null;
  reason: Error | null = null;
  /** The origin requested, for the message. */
  where: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #timeout: number;

  constructor(signal: AbortSignal | undefined, timeout: number) {
    this.#signal = signal;
    this.#timeout = timeout;
    if (signal !== undefined) {
      if (signal.aborted) this.reason = reasonOf(signal);
      else signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    if (timeout > 0) timers.add(this, timeout);
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

  check(): void {
    if (this.reason !== null) throw this.reason;
  }

  release(): void {
    this.cancel = null;
    timers.remove(this);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** `abort(null)` is a reason too, if a poor one. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason ?? new DOMException("The signal has been aborted", "AbortError");
}

/** Waits, unless the request is given up. */
export function sleep(ms: number, cancellation: Cancellation): Promise<void> {
  if (cancellation.reason !== null) return Promise.reject(cancellation.reason);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      cancellation.cancel = null;
      resolve();
    }, Math.min(ms, MAX_TIMER_MS));
    cancellation.cancel = (reason) => {
      clearTimeout(timer);
      reject(reason);
    };
  });
}
