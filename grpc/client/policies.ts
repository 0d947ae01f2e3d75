/**
 * The part of the service config in force that calls go by.
 *
 * @module
 */
import type { ConnectError } from "@connectrpc/connect";
import { type MethodSettings, settingsFor } from "../config/method_settings.ts";
import type { ServiceSettings, ThrottleSettings } from "../config/parse.ts";

/** Calls of one client that may pause before they are sent again; any other fails instead. */
const MAX_PAUSING_CALLS = 100_000;

/** Something that pauses, and ends when its client is closed. */
interface Pausing {
  /** Ends the call. */
  close(error: ConnectError): void;
}

/** Settings of methods, and what all calls of a client share when they are sent again. */
export class Policies {
  /** Attempts of one call at most, whatever its policy says. */
  readonly maxAttempts: number;
  /** Counts failures; null: nothing is throttled. */
  throttle: Throttle | null = null;
  /** Whether it is known what the config is: until then calls ask again when they get a connection. */
  known = true;
  /** The client's own config: it counts while no resolver gives one. */
  readonly #given: ServiceSettings | null;
  #settings: ServiceSettings | null = null;
  #closed = false;
  readonly #pausing = new Set<Pausing>();

  constructor(maxAttempts: number, given: ServiceSettings | null) {
    this.maxAttempts = maxAttempts;
    this.#given = given;
    this.use(null);
  }

  /** Takes a resolver's config; null: it has none. Calls that run keep what they have. */
  use(resolved: ServiceSettings | null): void {
    this.known = true;
    this.#settings = resolved ?? this.#given;
    const { throttling = null } = this.#settings ?? {};
    if (throttling === null) this.throttle = null;
    else if (!this.throttle?.goesBy(throttling)) this.throttle = new Throttle(throttling);
  }

  /** Settings of the method with that path; null: there are none. */
  settingsFor(path: string): MethodSettings | null {
    return this.#settings === null ? null : settingsFor(this.#settings.methods, path);
  }

  /** Whether nothing is sent again. */
  get blocked(): boolean {
    return this.#closed || this.throttle?.blocks === true;
  }

  /** Remembers one that pauses. False if there are too many. */
  pause(one: Pausing): boolean {
    if (this.#pausing.size === MAX_PAUSING_CALLS) return false;
    this.#pausing.add(one);
    return true;
  }

  /** It pauses no more. */
  resume(one: Pausing): void {
    this.#pausing.delete(one);
  }

  /** Ends the calls that pause. */
  close(error: ConnectError): void {
    this.#closed = true;
    for (const one of this.#pausing) one.close(error);
  }
}

/**
 * Stops retries and hedges while too many calls fail.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs}
 */
class Throttle {
  readonly #settings: ThrottleSettings;
  /** In thousandths: sums of ratios stay exact. */
  #tokens: number;
  readonly #most: number;
  readonly #ratio: number;

  constructor(settings: ThrottleSettings) {
    this.#settings = settings;
    this.#most = settings.maxTokens * 1000;
    this.#ratio = Math.round(settings.tokenRatio * 1000);
    this.#tokens = this.#most;
  }

  goesBy({ maxTokens, tokenRatio }: ThrottleSettings): boolean {
    return this.#settings.maxTokens === maxTokens && this.#settings.tokenRatio === tokenRatio;
  }

  /** Whether nothing is sent again: "less than or equal to the threshold". */
  get blocks(): boolean {
    return this.#tokens <= this.#most / 2;
  }

  succeeded(): void {
    this.#tokens = Math.min(this.#most, this.#tokens + this.#ratio);
  }

  failed(): void {
    this.#tokens = Math.max(0, this.#tokens - 1000);
  }
}

/** The server asks for no further attempt. */
export const NEVER = -1;

const PUSHBACK = "grpc-retry-pushback-ms";

/**
 * The pause that the server asks for: milliseconds until the next attempt, {@linkcode NEVER}, or null if it says
 * nothing. "If the value for pushback is negative or unparseable, then it will be seen as the server
 * asking the client not to retry at all."
 */
export function pushbackOf(trailers: readonly string[]): number | null {
  let value: string | null = null;
  for (let i = 0; i < trailers.length; i += 2) {
    if (trailers[i] !== PUSHBACK) continue;
    if (value !== null) return NEVER;
    value = trailers[i + 1]!;
  }
  if (value === null) return null;
  // "An ASCII encoded signed 32-bit integer with no unnecessary leading zeros".
  if (!/^(?:0|[1-9]\d{0,9})$/.test(value)) return NEVER;
  const ms = Number(value);
  return ms < 2 ** 31 ? ms : NEVER;
}
