import { checkBoolean, checkOptions, optionNames, quietMethods } from "../../http/engine.ts";
import { type Clock, clockOf } from "../clock.ts";
import type { Keyspace } from "../keyspace.ts";
import type { Comparison } from "../types.ts";
import { Claim } from "./claim.ts";
import {
  checkName,
  dismiss,
  type Holder,
  holderOf,
  type HolderOptions,
  leave,
  unique,
} from "./holder.ts";
import { waiting, type WaitOptions } from "../wait.ts";
import type { Session } from "./session.ts";

/** How a lock is taken. */
export interface LockOptions extends HolderOptions {
  /** Do not wait: resolve with null if somebody else holds it. @default {false} */
  readonly try?: boolean | undefined;
}

/** How a lock is taken only if nobody holds it. */
export interface TryLockOptions extends LockOptions {
  /** Do not wait: resolve with null if somebody else holds it. */
  readonly try: true;
}

/** How a lock is waited for. */
export interface WaitLockOptions extends LockOptions {
  /** Wait. */
  readonly try?: false | undefined;
}

const NAMES = optionNames<LockOptions>({
  session: true,
  ttl: true,
  signal: true,
  timeout: true,
  try: true,
});

/** Takes a lock; `mode` says beside whom it may be held. */
let takeLock: (
  keyspace: Keyspace,
  name: string,
  mode: LockMode,
  options?: LockOptions,
  clock?: Clock,
) => Promise<Lock | null>;
export { takeLock };

/** Whom a lock excludes: everybody; or, of locks for readers and writers, writers only, or everybody. */
type LockMode = "exclusive" | "read" | "write";

/**
 * A lock that is held, until it is released or its session ends: then {@linkcode Lock.signal} aborts,
 * before anybody else can hold it. (Only who removes the key by force is not waited for.)
 *
 * A process that was stopped for longer than its session lives finds out late. What it does outside of
 * etcd is safe if it passes {@linkcode Lock.revision} on, and the other system refuses numbers smaller
 * than the greatest it has seen; what it does in etcd if {@linkcode Lock.condition} is among the
 * conditions of its transactions.
 */
export class Lock implements AsyncDisposable {
  /** Its name. */
  readonly name: string;
  readonly #claim: Claim;
  readonly #holder: Holder;
  readonly #clock: Clock;

  private constructor(name: string, claim: Claim, holder: Holder, clock: Clock) {
    this.name = name;
    this.#claim = claim;
    this.#holder = holder;
    this.#clock = clock;
  }

  static {
    takeLock = async (keyspace, name, mode, options = {}, clock = clockOf(keyspace)) => {
      checkName("lock", name);
      checkOptions("lock", NAMES, options);
      checkBoolean("lock", "try", options.try);
      return await waiting("lock", options, clock, async (signal) => {
        const holder = await holderOf("lock", keyspace, options, signal, clock);
        try {
          const { session } = holder;
          const request = { keyspace, session, value: "", ...LINES[mode](name, session.lease) };
          if (options.try === true && Claim.taken(request)) {
            dismiss(holder);
            return null;
          }
          const { claim, first } = await Claim.enter(request, signal);
          try {
            if (!first) {
              if (options.try === true) {
                await leave(claim, holder, signal);
                return null;
              }
              await claim.first(signal);
            }
            claim.signal.throwIfAborted();
            claim.observe();
            return new Lock(name, claim, holder, clock);
          } catch (error) {
            leave(claim, holder).catch(() => {});
            throw error;
          }
        } catch (error) {
          dismiss(holder);
          throw error;
        }
      }, NAMES);
    };
  }

  /** The session it is held under. */
  get session(): Session {
    return this.#holder.session;
  }

  /** Its key. */
  get key(): string {
    return this.#claim.key;
  }

  /**
   * The fencing token: the revision at which it was asked for. Who holds the lock later has a greater
   * one. (Readers that hold it together each have their own.)
   */
  get revision(): bigint {
    return this.#claim.revision;
  }

  /**
   * Aborts when the lock is no longer held: with {@linkcode LeaseLostError} when its session ended,
   * else with {@linkcode OwnershipLostError}.
   */
  get signal(): AbortSignal {
    return this.#claim.signal;
  }

  /** Holds in a transaction as long as the lock is held. */
  get condition(): Comparison {
    return this.#claim.condition;
  }

  /**
   * Releases it: the signal aborts, then the key is removed. Resolves when it is gone. A removal that
   * gets no answer is repeated until the session is over; `options` end the wait for it only. May be
   * called again.
   */
  async release(options?: WaitOptions): Promise<void> {
    await waiting(
      "release",
      options ?? {},
      this.#clock,
      (signal) => leave(this.#claim, this.#holder, signal),
    );
  }

  /** The same as `release()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** Keys of etcd's Go client: `concurrency.Mutex`, and `recipe.RWMutex`. */
const LINES: Readonly<
  Record<LockMode, (name: string, lease: bigint) => { key: string; line: string }>
> = {
  exclusive: (name, lease) => ({ key: `${name}/${lease.toString(16)}`, line: `${name}/` }),
  read: (name) => ({ key: `${name}/read/${unique()}`, line: `${name}/write` }),
  write: (name) => ({ key: `${name}/write/${unique()}`, line: `${name}/` }),
};

quietMethods(Lock, ["release"]);
