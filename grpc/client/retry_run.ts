import type { ConnectError } from "@connectrpc/connect";
import { Timer, type TimerWheel } from "../../http/engine.ts";
import type { RetrySettings } from "../config/method_settings.ts";
import { NEVER, type Policies, pushbackOf } from "./policies.ts";

/** Share of a pause by which it may be longer or shorter. */
const JITTER = 0.2;

/** The call of a {@linkcode RetryRun}. */
export interface Retried {
  /** The pause is over: the next attempt begins. */
  onPauseEnd(): void;
  /** Ends the call. */
  abort(error: ConnectError): void;
}

/**
 * The attempts of one call under a retry policy: whether there is another, and the pause before it.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md}
 */
export class RetryRun extends Timer {
  /** Attempts before the one that runs. */
  previous = 0;
  /** The last failure. */
  failure: ConnectError | undefined;
  readonly #policies: Policies;
  /** Null: failures only count for the throttle. */
  readonly #settings: RetrySettings | null;
  readonly #timers: TimerWheel;
  readonly #call: Retried;
  readonly #random: () => number;
  /** Pauses since the last that the server asked for. */
  #pauses = 0;

  constructor(
    policies: Policies,
    settings: RetrySettings | null,
    timers: TimerWheel,
    call: Retried,
    random: () => number = Math.random,
  ) {
    super();
    this.#policies = policies;
    this.#settings = settings;
    this.#timers = timers;
    this.#call = call;
    this.#random = random;
  }

  /** Whether there may be a further attempt at all. */
  get active(): boolean {
    return this.#settings !== null && this.#policies.maxAttempts > 1;
  }

  /**
   * An attempt failed: begins the pause before the next one. False if there is none.
   *
   * @param open Whether the call can be sent again.
   */
  retries(error: ConnectError, trailers: readonly string[], open: boolean): boolean {
    this.failure = error;
    const settings = this.#settings;
    const { throttle, maxAttempts } = this.#policies;
    const pushback = pushbackOf(trailers);
    const retryable = settings?.codes.has(error.code) === true;
    if (retryable || pushback === NEVER) throttle?.failed();
    if (!open || !retryable || pushback === NEVER || this.#policies.blocked) return false;
    if (this.previous + 1 >= Math.min(settings.maxAttempts, maxAttempts)) return false;
    if (!this.#policies.pause(this)) return false;
    this.previous++;
    if (pushback !== null) this.#pauses = 0;
    this.#timers.add(this, pushback ?? pauseOf(settings, this.#pauses++, this.#random));
    return true;
  }

  onTimeout(): void {
    this.#policies.resume(this);
    this.#call.onPauseEnd();
  }

  /** There is no further attempt. */
  stop(): void {
    if (this.dueTick === 0) return;
    this.#timers.remove(this);
    this.#policies.resume(this);
  }

  close(error: ConnectError): void {
    this.#call.abort(error);
  }
}

/** Milliseconds of the pause after `pauses` others. */
function pauseOf(settings: RetrySettings, pauses: number, random: () => number): number {
  const { initialBackoff, maxBackoff, backoffMultiplier } = settings;
  const pause = Math.min(initialBackoff * backoffMultiplier ** pauses, maxBackoff);
  return pause * (1 + JITTER * (random() * 2 - 1));
}
