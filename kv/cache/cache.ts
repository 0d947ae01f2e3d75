import { code } from "../../grpc/mod.ts";
import {
  checkBoolean,
  checkCount,
  checkOptions,
  checkSignal,
  quiet,
  quietMethods,
} from "../../http/engine.ts";
import { binaryOf, bytesOf } from "../binary.ts";
import { type Clock, clockOf } from "../clock.ts";
import { KvError } from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";
import type { KeyValue } from "../key_value.ts";
import type { Bytes, Int64 } from "../types.ts";
import { raced, waiting, type WaitOptions } from "../wait.ts";
import type { CacheEvent } from "./event_queue.ts";
import { Fences } from "./fences.ts";
import {
  CACHE_NAMES,
  type CacheEventsOptions,
  type CacheGetOptions,
  type CacheOptions,
  type CacheRange,
  checkBytes,
  EVENTS_NAMES,
  GET_NAMES,
  revisionOf,
  storeRangeOf,
} from "./options.ts";
import { Readers } from "./readers.ts";
import { type CacheState, Replica } from "./replica.ts";

/** Events that wait for one reader at most. */
const MAX_EVENTS = 10_000;

/** Bytes that keys and values take at most, with what holds them. */
const MAX_BYTES = 1 << 30;

/** Milliseconds that a linearizable read waits for the cache to catch up; as in etcd's own cache. */
const SYNC_MS = 3_000;

/** Makes a cache, which begins to read. */
let newCache: (keyspace: Keyspace, options: CacheOptions, clock?: Clock) => Cache;
export { newCache };

/**
 * All keys of a prefix, in memory, as they were a moment ago.
 *
 * Guarantees:
 * - It shows the store as it was at one revision, {@linkcode Cache.revision}: changes that were made
 *   together are seen together, in the order of revisions, and none is left out. It never shows an older
 *   state than before, unless the cluster itself went back (its data were restored).
 * - Readers of events get each change once, in that order; what they cannot get is told by `resync`.
 * - It may be behind the cluster by the time a watch takes, and further while the cluster cannot be
 *   reached. `linearizable` reads, and {@linkcode Cache.sync}, wait until it is not.
 *
 * It survives whatever watches survive. When the history it would need was compacted, or the store is
 * another one, it reads all keys anew.
 */
export class Cache implements Iterable<KeyValue>, AsyncDisposable {
  readonly #keyspace: Keyspace;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #replica: Replica;
  readonly #readers: Readers;
  readonly #fences: Fences;

  private constructor(keyspace: Keyspace, options: CacheOptions, clock: Clock) {
    this.#keyspace = keyspace;
    this.#clock = clock;
    const prefix = this.#prefix = binaryOf(options.prefix);
    const maxBytes = options.maxBytes ?? MAX_BYTES;
    const replica = this.#replica = new Replica({ keyspace, prefix, clock, maxBytes });
    this.#readers = new Readers(replica, options.maxEvents ?? MAX_EVENTS);
    this.#fences = new Fences({
      keyspace,
      prefix,
      clock,
      signal: replica.signal,
      shown: () => replica.revision,
    });
  }

  static {
    newCache = (keyspace, options, clock = clockOf(keyspace)) => {
      checkOptions("make a cache", CACHE_NAMES, options);
      const { prefix, maxBytes, maxEvents } = options;
      checkBytes("make a cache", "prefix", prefix);
      checkCount("make a cache", "maxBytes", maxBytes, 1, Infinity);
      checkCount("make a cache", "maxEvents", maxEvents, 1);
      return new Cache(keyspace, options, clock);
    };
  }

  // ---- its state ------------------------------------------------------------------------------

  /** Its state at present. */
  get state(): CacheState {
    return this.#replica.state;
  }

  /** The revision it shows; 0n before it is ready. */
  get revision(): bigint {
    return this.#replica.revision;
  }

  /** How many keys it has. */
  get size(): number {
    return this.#replica.store.size;
  }

  /** Bytes that it takes, more or less. */
  get bytes(): number {
    return this.#replica.store.bytes;
  }

  /**
   * Waits until it has read all keys and follows them. Rejects when it cannot: when the cluster refuses
   * to let it read, or has too much.
   */
  async ready(options: WaitOptions = {}): Promise<void> {
    if (this.#replica.error !== undefined) throw this.#replica.error;
    try {
      await waiting(
        "wait for the cache",
        options,
        this.#clock,
        (signal) => raced(this.#replica.ready, signal),
      );
    } catch (error) {
      const trouble = this.#replica.trouble;
      if (
        !(error instanceof KvError) || trouble === undefined || this.#replica.error !== undefined
      ) {
        throw error;
      }
      throw new KvError(`${error.message}; at last: ${trouble.message}`, error.code, {
        cause: trouble,
        reason: trouble.reason,
      });
    }
  }

  // ---- reading ---------------------------------------------------------------------------------

  /**
   * A key as the cache has it, or undefined if there is none.
   *
   * @throws {KvError} With code FAILED_PRECONDITION before it is ready, and the cache's error behind its
   * end.
   * @throws {TypeError} If the key does not begin with the prefix.
   */
  get(key: Bytes, options?: CacheGetOptions & { readonly linearizable?: false | undefined }):
    | KeyValue
    | undefined;
  /**
   * A key as the cluster has it, or undefined if there is none.
   *
   * @throws {KvError} With code DEADLINE_EXCEEDED if the cache did not catch up in time.
   */
  get(
    key: Bytes,
    options: CacheGetOptions & { readonly linearizable: true },
  ): Promise<KeyValue | undefined>;
  get(
    key: Bytes,
    options?: CacheGetOptions,
  ): KeyValue | undefined | Promise<KeyValue | undefined> {
    const name = this.#nameOf("get", key);
    if (options !== undefined) {
      checkOptions("get", GET_NAMES, options);
      checkBoolean("get", "linearizable", options.linearizable);
      if (options.linearizable === true) return quiet(this.#linearizable(name, options));
    }
    this.#check("get");
    return this.#replica.store.get(name)?.toKeyValue();
  }

  /** Whether the cache has a key. Throws as `get`. */
  has(key: Bytes): boolean {
    const name = this.#nameOf("look for a key", key);
    this.#check("look for a key");
    return this.#replica.store.get(name) !== undefined;
  }

  /**
   * Keys in order. Changes that come while they are gone through are seen if they are ahead; who wants
   * one state of the store goes through without awaiting anything.
   */
  *entries(range: CacheRange = {}): Generator<KeyValue, void, undefined> {
    this.#check("read");
    for (const entry of this.#replica.range(storeRangeOf(range))) yield entry.toKeyValue();
  }

  /** All keys in order: the same as `entries()`. */
  [Symbol.iterator](): Generator<KeyValue, void, undefined> {
    return this.entries();
  }

  /**
   * Changes from this call on; of a cache that is not ready, from then on. Each reader has its own
   * events; a slow one holds up nobody, see `maxEvents`. Ends when the cache is closed, `signal` aborts
   * or the loop is left; rejects when the cache fails.
   *
   * @throws {TypeError} If the options are none.
   */
  events(options: CacheEventsOptions = {}): AsyncGenerator<CacheEvent, void, undefined> {
    checkOptions("read events", EVENTS_NAMES, options);
    const { initial = false, signal } = options;
    checkBoolean("read events", "initial", initial);
    checkSignal("read events", "signal", signal);
    return this.#readers.open(initial, signal);
  }

  // ---- waiting ---------------------------------------------------------------------------------

  /**
   * Waits until the cache shows a revision or a later one: to read what one has written, give the
   * revision in the header of the write. It comes to revisions that change none of its keys only with
   * the next that does, or when the server tells of progress; {@linkcode Cache.sync} does not wait for
   * that.
   */
  async waitForRevision(revision: Int64, options: WaitOptions = {}): Promise<void> {
    const wanted = revisionOf(revision);
    await waiting(
      "wait for a revision",
      options,
      this.#clock,
      (signal) => this.#replica.reached(wanted, signal),
    );
  }

  /**
   * Waits until the cache shows all that was written before the call, by whomever. Those who wait at
   * once share a call to the cluster. A cache of more than 1,000 keys then asks how far its watch is;
   * where members are older than etcd 3.4.25 or 3.5.8 they look through all keys instead.
   *
   * @throws {KvError} With code DEADLINE_EXCEEDED if it did not catch up in `timeout` milliseconds.
   */
  async sync(options: WaitOptions = {}): Promise<void> {
    const wait = { ...options, timeout: options.timeout ?? SYNC_MS };
    await waiting("sync", wait, this.#clock, async (signal) => {
      await raced(this.#replica.ready, signal);
      const { revision, count, last } = await raced(this.#fences.take(), signal);
      if (this.#replica.revision >= revision) return;
      if (last === null) return await this.#replica.caughtUp(revision, signal);
      await this.#replica.reached(last, signal);
      // Nothing was put since. What was deleted since is still there: then there is too much.
      while (this.#replica.revision < revision && this.#replica.store.size !== count) {
        await this.#replica.reached(this.#replica.revision + 1n, signal);
      }
    });
  }

  // ---- the end ---------------------------------------------------------------------------------

  /** Ends it: waits reject, readers of events come to their end. May be called again. */
  close(): Promise<void> {
    return this.#replica.close();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- reads that wait -------------------------------------------------------------------------

  /** One key: it is enough that the cache has what the cluster has of it. */
  #linearizable(
    name: string,
    { timeout = SYNC_MS, signal }: WaitOptions,
  ): Promise<KeyValue | undefined> {
    return waiting("get", { timeout, signal }, this.#clock, async (signal) => {
      await raced(this.#replica.ready, signal);
      const { header, kvs: [kv] } = await this.#keyspace.get(
        { key: bytesOf(name), keysOnly: true },
        { signal },
      );
      if (kv !== undefined) await this.#replica.reached(kv.modRevision, signal);
      else {
        while (
          this.#replica.revision < header.revision && this.#replica.store.get(name) !== undefined
        ) {
          await this.#replica.reached(this.#replica.revision + 1n, signal);
        }
      }
      this.#check("get");
      return this.#replica.store.get(name)?.toKeyValue();
    });
  }

  // ---- requests --------------------------------------------------------------------------------

  #check(what: string): void {
    if (this.#replica.error !== undefined) throw this.#replica.error;
    if (this.#replica.revision === 0n) {
      throw new KvError(
        `cannot ${what} from a cache that is not ready: await ready() first`,
        code.FAILED_PRECONDITION,
      );
    }
  }

  #nameOf(what: string, key: Bytes): string {
    checkBytes(what, "key", key);
    const name = binaryOf(key);
    if (name.startsWith(this.#prefix)) return name;
    throw new TypeError(
      `Cannot ${what} as its key must begin with the cache's prefix: current value is ${
        JSON.stringify(typeof key === "string" ? key : name)
      }`,
    );
  }
}

quietMethods(Cache, ["ready", "waitForRevision", "sync", "close"]);
