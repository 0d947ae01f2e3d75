/**
 * The token that calls are sent with: fetched when first needed, again before it ends where that is
 * known, and again when the server refuses it.
 *
 * etcd's simple tokens end when they were not used for a while (300 s by default), which only the
 * server can tell; JSON web tokens end at a time they carry, and with every change of users and roles.
 *
 * @module
 */
import { detached } from "../../grpc/mod.ts";
import { quiet } from "../../http/engine.ts";
import type { Clock } from "../clock.ts";
import type { Credentials } from "../credentials.ts";
import type { ErrorReason } from "../server_errors.ts";

/** Share of its life that remains of a token when another one is fetched, and its milliseconds at most. */
const RENEW_BEFORE = 0.2;
const MAX_RENEW_BEFORE_MS = 60_000;

/** Milliseconds before another try, when a token could not be renewed before its end. */
const RENEWAL_PAUSE_MS = 1_000;

/** A token to send. */
interface Held {
  /** Undefined if the server takes calls without one. */
  readonly token: string | undefined;
  /** When to fetch another one, and when this one is over; times of the clock. */
  renewAt: number;
  readonly endsAt: number;
  /** Whether it was fetched because this very token was refused. */
  readonly again: boolean;
}

/** See the module. */
export class TokenKeeper implements Credentials {
  readonly #fetch: () => Promise<string | undefined>;
  readonly #clock: Clock;
  #held: Held | null = null;
  /** The token that was refused last. */
  #refused: string | undefined;
  /** One for all that wait. */
  #fetching: Promise<string | undefined> | null = null;

  /** `fetch` logs in. */
  constructor(fetch: () => Promise<string | undefined>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  token(): string | undefined | Promise<string | undefined> {
    const held = this.#held;
    if (held === null) return this.#renew();
    if (held.renewAt === Infinity) return held.token;
    const now = this.#clock.now();
    if (now < held.renewAt) return held.token;
    const renewal = this.#renew();
    return now < held.endsAt ? held.token : renewal;
  }

  refused(token: string | undefined, reason: ErrorReason): Promise<boolean> {
    const held = this.#held;
    // Of many calls that are refused at once the first has the token renewed for all.
    if (held === null || held.token !== token) return Promise.resolve(true);
    // There is no other to get. (One that is old may be new enough in a moment.)
    if (held.again && reason === "INVALID_AUTH_TOKEN") return Promise.resolve(false);
    this.#held = null;
    this.#refused = token;
    return Promise.resolve(true);
  }

  #renew(): Promise<string | undefined> {
    return this.#fetching ??= quiet(
      detached(this.#fetch).then((token) => {
        this.#held = this.#hold(token);
        return token;
      }).catch((error) => {
        // The old one is good until its end.
        if (this.#held !== null) this.#held.renewAt = this.#clock.now() + RENEWAL_PAUSE_MS;
        throw error;
      }).finally(() => this.#fetching = null),
    );
  }

  #hold(token: string | undefined): Held {
    const now = this.#clock.now();
    const again = token !== undefined && token === this.#refused;
    const left = token === undefined ? undefined : millisecondsLeft(token, Date.now());
    if (left === undefined) return { token, renewAt: Infinity, endsAt: Infinity, again };
    const margin = Math.min(MAX_RENEW_BEFORE_MS, left * RENEW_BEFORE);
    return { token, renewAt: now + left - margin, endsAt: now + left, again };
  }
}

/**
 * Milliseconds that remain of a JSON web token (RFC 7519 §4.1.4); undefined if it does not tell, or if
 * the clocks here and there disagree so much that it seems over.
 */
function millisecondsLeft(token: string, now: number): number | undefined {
  const payload = token.split(".", 3)[1];
  if (payload === undefined) return undefined;
  try {
    const { exp } = JSON.parse(atob(payload.replace(/-/g, "+").replace(/_/g, "/")));
    const left = exp * 1_000 - now;
    return typeof exp === "number" && left > 0 && left < Infinity ? left : undefined;
  } catch {
    // A simple token has a dot too.
    return undefined;
  }
}
