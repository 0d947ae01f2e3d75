import { code } from "../../grpc/mod.ts";
import { checkOptions, optionNames, quietMethods } from "../../http/engine.ts";
import { type Clock, clockOf } from "../clock.ts";
import { CompactedError, KvError } from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";
import { checkName, unique } from "./holder.ts";
import { isSession, type Session } from "./session.ts";
import { persist, waiting, type WaitOptions } from "../wait.ts";

/** How a barrier is held. */
export interface BarrierOptions extends WaitOptions {
  /** A session whose end releases the barrier. @default {none: it stays until it is released} */
  readonly session?: Session | undefined;
}

const NAMES = optionNames<BarrierOptions>({ session: true, signal: true, timeout: true });

/** Makes a barrier. */
let newBarrier: (keyspace: Keyspace, name: string, clock?: Clock) => Barrier;
export { newBarrier };

/** A barrier: while somebody holds it, others wait. Its key is its name, as in etcd's recipes. */
export class Barrier {
  /** Its name. */
  readonly name: string;
  readonly #keyspace: Keyspace;
  readonly #clock: Clock;

  private constructor(keyspace: Keyspace, name: string, clock: Clock) {
    this.name = name;
    this.#keyspace = keyspace;
    this.#clock = clock;
  }

  static {
    newBarrier = (keyspace, name, clock = clockOf(keyspace)) => {
      checkName("make a barrier", name);
      return new Barrier(keyspace, name, clock);
    };
  }

  /**
   * Holds the barrier.
   *
   * @throws {KvError} With code ALREADY_EXISTS if it is held.
   */
  async hold(options: BarrierOptions = {}): Promise<void> {
    checkOptions("hold a barrier", NAMES, options);
    const { session } = options;
    if (session !== undefined && !isSession(session)) {
      throw new TypeError("Cannot hold a barrier as session must be one that session() gave");
    }
    // Tells the put of this call, should its answer be lost, from somebody else's.
    const value = unique();
    const key = this.name;
    await waiting("hold", options, this.#clock, async (signal) => {
      const { succeeded, responses: [found] } = await persist(
        signal,
        this.#clock,
        () =>
          this.#keyspace.txn({
            compare: [{ key, createRevision: 0n }],
            success: [{ put: { key, value, lease: session?.lease ?? 0n } }],
            failure: [{ get: { key } }],
          }, { signal }),
      );
      const kv = found !== undefined && "get" in found ? found.get.kvs[0] : undefined;
      if (succeeded || kv?.value === value) return;
      throw new KvError(`the barrier ${JSON.stringify(key)} is held`, code.ALREADY_EXISTS);
    }, NAMES);
  }

  /** Releases the barrier, also one that others hold: all waits end. */
  async release(options: WaitOptions = {}): Promise<void> {
    await waiting(
      "release",
      options,
      this.#clock,
      (signal) => this.#keyspace.delete({ key: this.name }, { signal, idempotent: true }),
    );
  }

  /** Waits until nobody holds the barrier. */
  async wait(options: WaitOptions = {}): Promise<void> {
    await waiting(
      "wait",
      options,
      this.#clock,
      (signal) => untilGone(this.#keyspace, this.#clock, this.name, signal),
    );
  }
}

quietMethods(Barrier, ["hold", "release", "wait"]);

/** Resolves as soon as a key is not there. */
export async function untilGone(
  keyspace: Keyspace,
  clock: Clock,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  await untilEvent(keyspace, clock, { key, noPut: true }, signal, async () => {
    const { kvs, header } = await keyspace.get({ key, keysOnly: true }, { signal });
    return kvs.length === 0 ? null : header.revision;
  });
}

/**
 * Waits until `look` gives null: it is called at first, and after each event behind the revision it
 * gave.
 */
export async function untilEvent(
  keyspace: Keyspace,
  clock: Clock,
  request: {
    readonly key: string;
    readonly prefix?: boolean;
    readonly noPut?: boolean;
    readonly noDelete?: boolean;
  },
  signal: AbortSignal,
  look: () => Promise<bigint | null>,
): Promise<void> {
  for (;;) {
    const revision = await persist(signal, clock, look);
    if (revision === null) return;
    try {
      await persist(signal, clock, async () => {
        using watch = await keyspace.watch({ ...request, revision: revision + 1n }, { signal });
        await watch.read();
      });
    } catch (error) {
      // The present keys tell as well.
      if (!(error instanceof CompactedError)) throw error;
    }
    signal.throwIfAborted();
  }
}
