/**
 * Reports of a client on itself while it runs. The core reports here; counters, events and spans are
 * made of it elsewhere. Without an observer nothing is built and nothing is called.
 *
 * @module
 */
import type { LeaseLostError } from "./errors.ts";

/** Something that happened between calls. Times are milliseconds. */
export type KvEvent =
  /** An endpoint can be used. */
  | { readonly kind: "endpoint-up"; readonly endpoint: string }
  /** The connection to an endpoint ended, or could not be made. */
  | { readonly kind: "endpoint-down"; readonly endpoint: string; readonly error: Error }
  /** The stream of all watches broke; it is being opened again. `attempt` counts from 1. */
  | {
    readonly kind: "watch-disconnected";
    readonly watches: number;
    readonly error: Error;
    readonly attempt: number;
  }
  /** The stream of all watches is back, `after` milliseconds behind the break. */
  | {
    readonly kind: "watch-reconnected";
    readonly watches: number;
    readonly attempts: number;
    readonly after: number;
  }
  /** A lease was renewed so late that half of its time was over: `after` of `ttl`. */
  | {
    readonly kind: "lease-late";
    readonly ID: bigint;
    readonly after: number;
    readonly ttl: number;
  }
  /** A lease that was kept alive no longer is. Not for leases this client revokes. */
  | { readonly kind: "lease-lost"; readonly ID: bigint; readonly error: LeaseLostError }
  /** A member answered that it has no leader. */
  | { readonly kind: "leader-lost"; readonly operation: string; readonly error: Error };

/** How a call ended. */
export interface CallOutcome {
  /** How often it was sent. */
  readonly attempts: number;
  /** Why it failed; undefined if it did not. */
  readonly error: Error | undefined;
}

/** Follows one call with all its attempts. */
export interface CallObserver {
  /** Metadata to send along, as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called once, when the call is over. Must not throw. */
  ended(outcome: CallOutcome): void;
}

/** Follows one call from within the client. */
export interface FollowedCall extends CallObserver {
  /** Runs what is sent for the call, in its trace. */
  run?<T>(body: () => T): T;
}

/** Told of what a client does, from within. */
export interface CallFollower {
  /** See {@linkcode Observer.callStarted}. */
  callStarted(operation: string): FollowedCall | undefined;
  /** See {@linkcode Observer.event}. */
  event(event: KvEvent): void;
}

/** Told of what a client does. Its methods must not throw. */
export interface Observer {
  /** Called when a call begins, `operation` being the client's method; undefined: not followed. */
  callStarted(operation: string): CallObserver | undefined;
  /** Called with everything else. */
  event(event: KvEvent): void;
}
