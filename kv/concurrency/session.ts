import { checkNumber, checkOptions, optionNames, quietMethods } from "../../http/engine.ts";
import { binaryOf } from "../binary.ts";
import { type Clock, clockOf } from "../clock.ts";
import type { Keyspace } from "../keyspace.ts";
import { KvError } from "../errors.ts";
import type { Int64 } from "../types.ts";
import { waiting, type WaitOptions } from "../wait.ts";

/** Seconds a session outlives its process, unless it says otherwise; as in etcd's own clients. */
const TTL = 60;

/** How a session is made. */
export interface SessionOptions extends WaitOptions {
  /**
   * Seconds after which the server ends the session of a process that is gone or cut off. Less lets
   * others go on sooner; more rides out longer pauses. The server may raise it, to 2 by default.
   * @default {60}
   */
  readonly ttl?: number | undefined;
  /**
   * A lease made elsewhere, which is kept alive from now on. All that share it share what is held
   * under it. Excludes `ttl`.
   */
  readonly lease?: Int64 | undefined;
}

const NAMES = optionNames<SessionOptions>({ ttl: true, lease: true, signal: true, timeout: true });

/** Parts of a session that users do not see. */
interface SessionParts {
  /** Where its lease was made. */
  readonly keyspace: Keyspace;
  readonly clock: Clock;
  /** Turns at keys of the cluster, by name: each ends when all that wait are done. */
  readonly turns: Map<string, Promise<void>>;
  /** Keys that a put whose answer is missing may still make, with what stops looking for them. */
  readonly haunted: Map<string, AbortController>;
}

let partsOf: (session: Session) => SessionParts;
let isSession: (value: unknown) => value is Session;
/** Makes a session. */
let openSession: (
  keyspace: Keyspace,
  options?: SessionOptions,
  clock?: Clock,
) => Promise<Session>;
/** The cluster's name for a key, whichever part of the keys it is used in. */
export function nameOf(keyspace: Keyspace, key: string): string {
  return binaryOf(keyspace.absoluteKey?.(key) ?? key);
}

export { isSession, openSession, partsOf };

/**
 * A lease that is kept alive while its process lives: what locks and leaderships hang on. When it ends,
 * the server removes their keys, and others go on.
 *
 * {@linkcode Session.signal} aborts before that, also when the server cannot be reached.
 */
export class Session implements AsyncDisposable {
  /** The lease. */
  readonly lease: bigint;
  /**
   * Aborts when the session ends: with a {@linkcode LeaseLostError}, no later than the server ends it.
   */
  readonly signal: AbortSignal;
  readonly #parts: SessionParts;

  private constructor(lease: bigint, parts: SessionParts) {
    this.lease = lease;
    this.#parts = parts;
    this.signal = parts.keyspace.leaseSignal(lease);
  }

  static {
    partsOf = (session) => session.#parts;
    isSession = (value): value is Session =>
      typeof value === "object" && value !== null && #parts in value;
    openSession = async (keyspace, options = {}, clock = clockOf(keyspace)) => {
      checkOptions("open a session", NAMES, options);
      const { ttl, lease } = options;
      checkNumber("open a session", "ttl", ttl, 1);
      if (ttl !== undefined && lease !== undefined) {
        throw new TypeError("Cannot open a session with a ttl and a lease: the lease has its own");
      }
      const ID = await waiting("session", options, clock, async (signal) => {
        if (lease !== undefined) {
          await keyspace.keepalive(lease);
          return BigInt(lease);
        }
        const granted = await keyspace.grant({ TTL: Math.ceil(ttl ?? TTL) }, { signal });
        if (granted.error !== undefined) throw new KvError(granted.error, 2);
        return granted.ID;
      }, NAMES);
      return new Session(ID, { keyspace, clock, turns: new Map(), haunted: new Map() });
    };
  }

  /**
   * Ends the session: its signal aborts, then the lease is revoked, and all its keys are gone at once.
   * Where that fails, it rejects, and the lease ends when its time is over. Does nothing for a session
   * that is over.
   */
  async close(options?: WaitOptions): Promise<void> {
    if (this.signal.aborted) return;
    const { keyspace, clock } = this.#parts;
    await waiting("close", options ?? {}, clock, async (signal) => {
      try {
        await keyspace.revoke({ ID: this.lease }, { signal });
      } catch (error) {
        if (!(error instanceof KvError && error.reason === "LEASE_NOT_FOUND")) throw error;
      }
    });
  }

  /**
   * Ends the session on this side only: its signal aborts, and the lease and its keys stay until its
   * time is over, or for as long as another process keeps it alive.
   */
  orphan(): void {
    this.#parts.keyspace.stopKeepAlive(this.lease);
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

quietMethods(Session, ["close"]);
