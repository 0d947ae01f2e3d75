import { code } from "../../grpc/mod.ts";
import {
  checkBoolean,
  checkCount,
  checkOptions,
  checkSignal,
  quiet,
  quietMethods,
} from "../../http/engine.ts";
import { reopenDelay } from "../backoff.ts";
import { type Clock, systemClock } from "../clock.ts";
import { CompactedError, HistoryLostError, KvError } from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";
import type { KeyValue } from "../key_value.ts";
import type { Bytes, Int64, WatchEvent } from "../types.ts";
import type { Watch } from "../watch.ts";
import { Scan } from "../scan.ts";
import { isPassing, raced, waiting, type WaitOptions } from "../wait.ts";
import { binaryOf, bytesOf } from "../binary.ts";
import { differences, EVERYTHING } from "./differences.ts";
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
import { type CacheEvent, EventQueue, type ResyncReason } from "./event_queue.ts";
import { RevisionWaits } from "./revision_waits.ts";
import { Entry, KeyStore } from "./store.ts";

/** Events that wait for one reader at most. */
const MAX_EVENTS = 10_000;

/** Bytes that keys and values take at most, with what holds them. */
const MAX_BYTES = 1 << 30;

/** Keys of a page at most while all are read. */
const PAGE_SIZE = 10_000;

/** Milliseconds that a linearizable read waits for the cache to catch up; as in etcd's own cache. */
const SYNC_MS = 3_000;

/**
 * Keys that the server may look through to find out what changed last. Of more the watch is asked how
 * far it is.
 */
const COMPARED_KEYS = 1_000;

/** Milliseconds that a server may take to say how far a watch is, before it is asked again. */
const PROGRESS_MS = 1_000;

/** Milliseconds before members are asked again for their versions when not all were new enough. */
const ASK_AGAIN_MS = 10_000;

/** Milliseconds before it is asked again when it did not say. */
const PAUSE_MS = 50;

/**
 * - `loading`: it has not read all keys yet.
 * - `following`: it has, and follows what changes.
 * - `resyncing`: it lost track of what changes, and reads all keys anew; meanwhile it gives what it had.
 * - `closed`, `failed`: it is over.
 */
export type CacheState = "loading" | "following" | "resyncing" | "closed" | "failed";

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
  readonly #maxBytes: number;
  readonly #maxEvents: number;
  readonly #closing = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  readonly #waits = new RevisionWaits();
  readonly #readers = new Set<EventQueue>();
  readonly #loop: Promise<void>;
  #store = new KeyStore();
  #revision = 0n;
  #state: CacheState = "loading";
  #error: Error | undefined;
  /** Why it could not read or follow at last, while it tries again. */
  #trouble: KvError | undefined;
  /** The read by which those who sync at present find out how far to wait, and the one behind it. */
  #fence: Promise<Fence> | null = null;
  #nextFence: Promise<Fence> | null = null;
  #watch: Watch | null = null;
  /** Whether members say exactly how far watches are, and when that was found out. */
  #exact: { readonly yes: boolean; readonly at: number } | null = null;
  /** How far the watch is, while it is asked. */
  #asking: Promise<bigint> | null = null;

  private constructor(keyspace: Keyspace, options: CacheOptions, clock: Clock) {
    this.#keyspace = keyspace;
    this.#clock = clock;
    this.#prefix = binaryOf(options.prefix);
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#maxEvents = options.maxEvents ?? MAX_EVENTS;
    quiet(this.#ready.promise);
    this.#loop = this.#run();
  }

  static {
    newCache = (keyspace, options, clock = systemClock) => {
      checkOptions("make a cache", CACHE_NAMES, options);
      const { prefix, maxBytes, maxEvents } = options;
      checkBytes("make a cache", "prefix", prefix);
      checkCount("make a cache", "maxBytes", maxBytes, 1, Infinity);
      checkCount("make a cache", "maxEvents", maxEvents, 1);
      return new Cache(keyspace, options, clock);
    };
  }

  // ---- what it is ------------------------------------------------------------------------------

  /** What it does at present. */
  get state(): CacheState {
    return this.#state;
  }

  /** The revision it shows; 0n before it is ready. */
  get revision(): bigint {
    return this.#revision;
  }

  /** How many keys it has. */
  get size(): number {
    return this.#store.size;
  }

  /** Bytes that it takes, more or less. */
  get bytes(): number {
    return this.#store.bytes;
  }

  /**
   * Waits until it has read all keys and follows them. Rejects when it cannot: when the cluster refuses
   * to let it read, or has too much.
   */
  async ready(options: WaitOptions = {}): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    try {
      await waiting(
        "wait for the cache",
        options,
        this.#clock,
        (signal) => raced(this.#ready.promise, signal),
      );
    } catch (error) {
      const trouble = this.#trouble;
      if (!(error instanceof KvError) || trouble === undefined || this.#error !== undefined) {
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
    return this.#store.get(name)?.toKeyValue();
  }

  /** Whether the cache has a key. Throws as `get`. */
  has(key: Bytes): boolean {
    const name = this.#nameOf("look for a key", key);
    this.#check("look for a key");
    return this.#store.get(name) !== undefined;
  }

  /**
   * Keys in order. Changes that come while they are gone through are seen if they are ahead; who wants
   * one state of the store goes through without awaiting anything.
   */
  *entries(range: CacheRange = {}): Generator<KeyValue, void, undefined> {
    for (const entry of this.#range(range)) yield entry.toKeyValue();
  }

  /** All keys in order: the same as `entries()`. */
  [Symbol.iterator](): Generator<KeyValue, void, undefined> {
    return this.entries();
  }

  /**
   * What changes from this call on; of a cache that is not ready, from then on. Each reader has its own
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
    const queue = new EventQueue(this.#maxEvents, () => this.#revision);
    this.#readers.add(queue);
    if (this.#error !== undefined) queue.finish(this.#state === "failed" ? this.#error : undefined);
    // At one moment with the first event that is queued.
    const look = () => initial ? [...this.#store.range(EVERYTHING)] : [];
    const present = this.#state === "loading"
      ? this.#ready.promise.then(look)
      : Promise.resolve(look());
    const events = this.#events(queue, quiet(present), signal);
    const end = events.return.bind(events);
    // A generator that was not begun does not clean up.
    events.return = (value) => {
      this.#readers.delete(queue);
      return end(value);
    };
    return events;
  }

  async *#events(
    queue: EventQueue,
    present: Promise<readonly Entry[]>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<CacheEvent, void, undefined> {
    const given = new AbortController();
    const onAbort = () => {
      given.abort();
      queue.finish();
    };
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for (const entry of await raced(present, given.signal)) {
        if (given.signal.aborted || this.#error !== undefined) break;
        yield { type: "add", kv: entry.toKeyValue(), revision: entry.modRevision };
      }
      for (let event = await queue.read(); event !== null; event = await queue.read()) yield event;
    } catch (error) {
      if (!given.signal.aborted && this.#state !== "closed") throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#readers.delete(queue);
    }
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
      (signal) => this.#reached(wanted, signal),
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
      await raced(this.#ready.promise, signal);
      const fence = await raced(this.#takeFence(), signal);
      if (this.#revision >= fence.revision) return;
      if (fence.last === null) return await this.#progress(fence.revision, signal);
      await this.#reached(fence.last, signal);
      // Nothing was put since. What was deleted since is still there: then there is too much.
      while (this.#revision < fence.revision && this.#store.size !== fence.count) {
        await this.#reached(this.#revision + 1n, signal);
      }
    });
  }

  // ---- the end ---------------------------------------------------------------------------------

  /** Ends it: waits reject, readers of events come to their end. May be called again. */
  async close(): Promise<void> {
    this.#finish("closed", new KvError("the cache was closed", code.CANCELLED));
    await this.#loop;
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #finish(state: "closed" | "failed", error: Error): void {
    if (this.#error !== undefined) return;
    this.#state = state;
    this.#error = error;
    this.#store = new KeyStore();
    this.#closing.abort(error);
    this.#ready.reject(error);
    this.#waits.fail(error);
    for (const reader of this.#readers) reader.finish(state === "failed" ? error : undefined);
  }

  // ---- keeping up ------------------------------------------------------------------------------

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let lost: ResyncReason | null = "compacted";
    for (let failures = 0; !signal.aborted;) {
      try {
        if (lost !== null) {
          await this.#load(lost);
          lost = null;
        }
        await this.#follow(() => failures = 0);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof CompactedError) lost = "compacted";
        else if (error instanceof HistoryLostError) lost = "history-lost";
        else if (!isPassing(error)) {
          return this.#finish("failed", error instanceof Error ? error : new Error(String(error)));
        }
        this.#trouble = error as KvError;
        if (lost !== null && this.#state === "following") this.#state = "resyncing";
        await this.#clock.sleep(reopenDelay(++failures), signal).catch(() => {});
      }
    }
  }

  /** Reads all keys, and tells of what is different. */
  async #load(reason: ResyncReason): Promise<void> {
    const { signal } = this.#closing;
    const store = new KeyStore();
    const request = { prefix: bytesOf(this.#prefix), pageSize: PAGE_SIZE };
    const scan = new Scan(this.#keyspace, request, { signal });
    for await (const kvs of scan.pages()) {
      for (const kv of kvs) store.put(new Entry(kv));
      this.#checkSize(store);
    }
    const { revision } = scan;
    if (signal.aborted) return;
    const before = this.#store;
    this.#store = store;
    this.#revision = revision;
    if (this.#state !== "loading") {
      this.#tell({ type: "resync", reason, revision });
      if (this.#readers.size > 0) {
        for (const event of differences(before, store, revision)) this.#tell(event);
      }
    }
    this.#waits.reach(revision);
  }

  /** Follows what changes, until that cannot go on. */
  async #follow(onFollowing: () => void): Promise<void> {
    using watch = await this.#keyspace.watch({
      key: bytesOf(this.#prefix),
      prefix: true,
      revision: this.#revision + 1n,
      progressNotify: true,
    }, { signal: this.#closing.signal });
    if (this.#closing.signal.aborted) return;
    onFollowing();
    this.#trouble = undefined;
    this.#state = "following";
    this.#ready.resolve();
    this.#watch = watch;
    try {
      await this.#read(watch);
    } finally {
      this.#watch = null;
    }
  }

  async #read(watch: Watch): Promise<void> {
    for (let response = await watch.read(); response !== null; response = await watch.read()) {
      const { events, header } = response;
      for (const event of events) this.#apply(event);
      const revision = events.length === 0 ? header.revision : events.at(-1)!.kv.modRevision;
      if (revision > this.#revision) this.#revision = revision;
      this.#checkSize(this.#store);
      this.#waits.reach(this.#revision);
    }
  }

  #apply({ type, kv }: WatchEvent): void {
    const listened = this.#readers.size > 0;
    const revision = kv.modRevision;
    if (type === "DELETE") {
      const before = this.#store.delete(binaryOf(kv.keyBytes));
      if (before !== undefined && listened) {
        this.#tell({ type: "delete", kv: before.toKeyValue(), revision });
      }
      return;
    }
    const before = this.#store.put(new Entry(kv));
    if (!listened) return;
    this.#tell(
      before === undefined
        ? { type: "add", kv, revision }
        : { type: "update", kv, previous: before.toKeyValue(), revision },
    );
  }

  #tell(event: CacheEvent): void {
    for (const reader of this.#readers) reader.push(event);
  }

  #checkSize({ bytes, size }: KeyStore): void {
    if (bytes <= this.#maxBytes) return;
    throw new KvError(
      `the cache has more than ${this.#maxBytes} bytes in ${size} keys: cache a longer prefix, or raise maxBytes`,
      code.RESOURCE_EXHAUSTED,
    );
  }

  // ---- reads that wait -------------------------------------------------------------------------

  #reached(revision: bigint, signal: AbortSignal): Promise<void> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#revision >= revision) return Promise.resolve();
    return this.#waits.wait(revision, signal);
  }

  /** One key: it is enough that the cache has what the cluster has of it. */
  #linearizable(
    name: string,
    { timeout = SYNC_MS, signal }: WaitOptions,
  ): Promise<KeyValue | undefined> {
    return waiting("get", { timeout, signal }, this.#clock, async (signal) => {
      await raced(this.#ready.promise, signal);
      const { header, kvs: [kv] } = await this.#keyspace.get(
        { key: bytesOf(name), keysOnly: true },
        { signal },
      );
      if (kv !== undefined) await this.#reached(kv.modRevision, signal);
      else {
        while (this.#revision < header.revision && this.#store.get(name) !== undefined) {
          await this.#reached(this.#revision + 1n, signal);
        }
      }
      this.#check("get");
      return this.#store.get(name)?.toKeyValue();
    });
  }

  /** A read that began behind this call. One is under way at a time, and one behind it is shared. */
  #takeFence(): Promise<Fence> {
    if (this.#fence === null) {
      return this.#fence = this.#fenceBehind(Promise.resolve());
    }
    return this.#nextFence ??= this.#fenceBehind(this.#fence.catch(() => {}));
  }

  #fenceBehind(before: Promise<unknown>): Promise<Fence> {
    return quiet(
      before.then(() => this.#readFence()).catch((error) => {
        // The revision of the first of its two reads was compacted before the second.
        if (error instanceof CompactedError) return this.#readFence();
        throw error;
      }).finally(() => {
        this.#fence = this.#nextFence;
        this.#nextFence = null;
      }),
    );
  }

  async #readFence(): Promise<Fence> {
    const { signal } = this.#closing;
    const key = bytesOf(this.#prefix);
    const { header: { revision }, count } = await this.#keyspace.get(
      { key, prefix: true, countOnly: true },
      { signal },
    );
    if (this.#revision >= revision) return { revision, count, last: 0n };
    if (count > COMPARED_KEYS && await this.#tellsProgress()) {
      return { revision, count, last: null };
    }
    const { kvs: [last] } = await this.#keyspace.get({
      key,
      prefix: true,
      keysOnly: true,
      revision,
      minModRevision: this.#revision + 1n,
      sortTarget: "MOD",
      sortOrder: "DESCEND",
      limit: 1,
    }, { signal });
    return { revision, count, last: last?.modRevision ?? 0n };
  }

  /** Whether what members say of watches can be relied on. Looked up again if it could not be found out. */
  async #tellsProgress(): Promise<boolean> {
    const now = this.#clock.now();
    if (this.#exact === null || (!this.#exact.yes && now > this.#exact.at + ASK_AGAIN_MS)) {
      this.#exact = { yes: await this.#keyspace.tellsProgress?.() ?? false, at: now };
    }
    return this.#exact.yes;
  }

  /** Asks how far the watch is until that is far enough. Those who wait at once ask together. */
  async #progress(revision: bigint, signal: AbortSignal): Promise<void> {
    while (this.#revision < revision) {
      this.#asking ??= quiet(this.#ask().finally(() => this.#asking = null));
      const reached = await raced(this.#asking, signal);
      await this.#reached(reached < revision ? reached : revision, signal);
    }
  }

  async #ask(): Promise<bigint> {
    const { signal } = this.#closing;
    try {
      if (this.#watch !== null) {
        return await this.#watch.requestProgress({ timeout: PROGRESS_MS, signal });
      }
    } catch {
      // It broke, or the server was busy.
    }
    await this.#clock.sleep(PAUSE_MS, signal);
    return 0n;
  }

  // ---- requests --------------------------------------------------------------------------------

  #check(what: string): void {
    if (this.#error !== undefined) throw this.#error;
    if (this.#revision === 0n) {
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

  *#range(range: CacheRange): Generator<Entry, void, undefined> {
    this.#check("read");
    const wanted = storeRangeOf(range);
    let store = this.#store;
    let entries = store.range(wanted);
    for (;;) {
      const { done, value } = entries.next();
      if (done) return;
      yield value;
      if (store === this.#store) continue;
      // All keys were read anew: it goes on behind this one.
      store = this.#store;
      entries = store.range(
        wanted.reverse ? { ...wanted, end: value.key } : { ...wanted, from: `${value.key}\0` },
      );
    }
  }
}

quietMethods(Cache, ["ready", "waitForRevision", "sync", "close"]);

/** How far the cluster was at a moment. */
interface Fence {
  /** The store's revision. */
  readonly revision: bigint;
  /** Keys of the prefix. */
  readonly count: number;
  /**
   * Revision of the last change of those of them that the cache had not seen; 0n if there is none, null
   * if there are too many to look at.
   */
  readonly last: bigint | null;
}
