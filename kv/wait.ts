/**
 * Waiting that can be given up, and trying on while there is hope.
 *
 * @module
 */
import { code } from "../grpc/mod.ts";
import { checkOptions, checkSignal, checkTime, MAX_TIMER_MS, optionNames } from "../http/engine.ts";
import { reopenDelay } from "./backoff.ts";
import { after, type Clock } from "./clock.ts";
import { cancelled, ClientClosedError, KvError } from "./errors.ts";

/** How long to wait for something, and what ends the wait. */
export interface WaitOptions {
  /** Gives the wait up: it rejects with code CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds to wait at most; then it rejects with code DEADLINE_EXCEEDED.
   * @default {Infinity}
   */
  readonly timeout?: number | undefined;
}

const WAIT_NAMES = optionNames<WaitOptions>({ signal: true, timeout: true });

/** Milliseconds between two attempts, at least. */
const MIN_PAUSE_MS = 50;

/**
 * Does work that ends, at the latest, as its caller's options say. The signal it gets aborts then, with
 * the error the work has to reject with. `names` are those of options that say more than how to wait.
 *
 * @throws {TypeError} If the options are none.
 */
export async function waiting<T>(
  what: string,
  options: WaitOptions,
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
  names: readonly string[] = WAIT_NAMES,
): Promise<T> {
  checkOptions(what, names, options);
  const { signal, timeout = Infinity } = options;
  checkSignal(what, "signal", signal);
  checkTime(what, "timeout", timeout);
  if (signal?.aborted) throw cancelled(what, signal);
  const ended = new AbortController();
  const onAbort = () => ended.abort(cancelled(what, signal!));
  signal?.addEventListener("abort", onAbort, { once: true });
  const disarm = timeout === Infinity
    ? undefined
    : after(clock, Math.min(timeout, MAX_TIMER_MS), () =>
      ended.abort(
        new KvError(`${what} took longer than ${timeout} ms`, code.DEADLINE_EXCEEDED),
      ));
  try {
    return await work(ended.signal);
  } catch (error) {
    // Also where the end of the wait made another error of the calls under way.
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    disarm?.();
  }
}

/** The outcome of `promise`, unless the signal aborts first: then its reason. */
export function raced<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/**
 * Does work again and again until it succeeds, fails for good, or the signal aborts. What passes are
 * the moments in which the cluster cannot be reached or has no leader.
 */
export async function persist<T>(
  signal: AbortSignal,
  clock: Clock,
  work: () => Promise<T>,
): Promise<T> {
  for (let failures = 1;; failures++) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
    }
    await clock.sleep(Math.max(MIN_PAUSE_MS, reopenDelay(failures)), signal);
  }
}

/**
 * Codes of errors that say nothing of what was asked, only that now is a bad moment. etcd 3.4 says
 * UNKNOWN for calls whose time was over or whose stream was cut.
 */
const PASSING: readonly number[] = [
  code.UNAVAILABLE,
  code.DEADLINE_EXCEEDED,
  code.CANCELLED,
  code.ABORTED,
  code.UNKNOWN,
  code.INTERNAL,
];

/** Whether what failed may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof KvError && !(error instanceof ClientClosedError) &&
    (PASSING.includes(error.code) || error.reason === "TOO_MANY_REQUESTS");
}
