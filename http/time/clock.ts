/**
 * The clock that all waits go by, so that tests can give theirs.
 *
 * @module
 */

/** Tells the time, and waits for it. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /**
   * Resolves in `ms` milliseconds; longer ones than the platform's longest timer, 24.8 days, are cut
   * to it. Rejects with the signal's reason when it aborts.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** One ring that a clock was asked for. */
export interface Alarm {
  /** Whether the process stays alive for it; at first it does. */
  hold(on: boolean): void;
  /** It does not ring any more. */
  cancel(): void;
}

/** A clock that timers can be built on. */
export interface AlarmClock extends Clock {
  /** Calls `ring` in `ms` milliseconds, cut as those of `sleep`. */
  alarm(ms: number, ring: () => void): Alarm;
}

/** The platform's longest timer, milliseconds; what is asked beyond fires at once. */
const MAX_PLATFORM_MS = 2 ** 31 - 1;

class SystemAlarm implements Alarm {
  readonly #id: ReturnType<typeof setTimeout>;

  constructor(ms: number, ring: () => void) {
    this.#id = setTimeout(ring, Math.min(ms, MAX_PLATFORM_MS));
  }

  hold(on: boolean): void {
    if (on) Deno.refTimer(this.#id as unknown as number);
    else Deno.unrefTimer(this.#id as unknown as number);
  }

  cancel(): void {
    clearTimeout(this.#id);
  }
}

class SystemClock implements AlarmClock {
  now(): number {
    return performance.now();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        alarm.cancel();
        reject(signal!.reason);
      };
      const alarm = new SystemAlarm(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  alarm(ms: number, ring: () => void): Alarm {
    return new SystemAlarm(ms, ring);
  }
}

/** The platform's monotonic clock. */
export const systemClock: AlarmClock = new SystemClock();
