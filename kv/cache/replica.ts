/**
 * A copy of the keys of a prefix: reads all, then follows their changes, and begins again when it lost
 * track of them.
 *
 * @module
 */
import { code, detached } from "../../grpc/mod.ts";
import { quiet } from "../../http/engine.ts";
import { reopenDelay } from "../backoff.ts";
import { binaryOf, bytesOf } from "../binary.ts";
import type { Clock } from "../clock.ts";
import { CompactedError, HistoryLostError, KvError, misfit } from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";
import { Scan } from "../scan.ts";
import type { WatchEvent } from "../types.ts";
import { isPassing, raced } from "../wait.ts";
import type { Watch } from "../watch/watch.ts";
import { differences } from "./differences.ts";
import type { CacheEvent, EventQueue, ResyncReason } from "./event_queue.ts";
import { RevisionWaits } from "./revision_waits.ts";
import { Entry, KeyStore, type KeyStoreRange } from "./store.ts";
import { WatchPace } from "./watch_pace.ts";

/** Keys of a page at most while all are read. */
const PAGE_SIZE = 10_000;

/**
 * - `loading`: it has not read all keys yet.
 * - `following`: it has, and follows what changes.
 * - `resyncing`: it lost track of what changes, and reads all keys anew; meanwhile it gives what it had.
 * - `closed`, `failed`: it is over.
 */
export type CacheState = "loading" | "following" | "resyncing" | "closed" | "failed";

/** Keys to copy, where from, and how many bytes of them. */
interface ReplicaOptions {
  readonly keyspace: Keyspace;
  readonly prefix: string;
  readonly clock: Clock;
  readonly maxBytes: number;
}

/** See the module. */
export class Replica {
  /** The keys it shows. */
  store: KeyStore = new KeyStore();
  /** The revision it shows; 0n before it is ready. */
  revision = 0n;
  state: CacheState = "loading";
  /** Set when it is over. */
  error: Error | undefined;
  /** Why it could not read or follow at last, while it tries again. */
  trouble: KvError | undefined;
  /** Queues that get the events. */
  readonly readers: Set<EventQueue> = new Set();
  /** Aborts when it is over. */
  readonly signal: AbortSignal;
  readonly #options: ReplicaOptions;
  readonly #closing: AbortController = new AbortController();
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #waits: RevisionWaits = new RevisionWaits();
  readonly #pace: WatchPace;
  readonly #loop: Promise<void>;

  /** Begins to read. */
  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.signal = this.#closing.signal;
    this.#pace = new WatchPace(options.clock, this.signal);
    quiet(this.#ready.promise);
    this.#loop = detached(() => this.#run());
  }

  /** Resolves when all keys were read and are followed. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Ends it. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#finish("closed", new KvError("the cache was closed", code.CANCELLED));
    await this.#loop;
  }

  #finish(state: "closed" | "failed", error: Error): void {
    if (this.error !== undefined) return;
    this.state = state;
    this.error = error;
    this.store = new KeyStore();
    this.#closing.abort(error);
    this.#ready.reject(error);
    this.#waits.fail(error);
    for (const reader of this.readers) reader.finish(state === "failed" ? error : undefined);
  }

  // ---- reading ---------------------------------------------------------------------------------

  /** Resolves when it shows a revision or a later one. */
  reached(revision: bigint, signal: AbortSignal): Promise<void> {
    if (this.error !== undefined) return Promise.reject(this.error);
    if (this.revision >= revision) return Promise.resolve();
    return this.#waits.wait(revision, signal);
  }

  /** Asks how far the watch is until that is far enough. */
  async caughtUp(revision: bigint, signal: AbortSignal): Promise<void> {
    while (this.revision < revision) {
      const reached = await raced(this.#pace.ask(), signal);
      await this.reached(reached < revision ? reached : revision, signal);
    }
  }

  /** Entries in order; goes on in the new copy should all keys be read anew meanwhile. */
  *range(wanted: KeyStoreRange): Generator<Entry, void, undefined> {
    let { store } = this;
    let entries = store.range(wanted);
    for (;;) {
      const { done, value } = entries.next();
      if (done) return;
      yield value;
      if (store === this.store) continue;
      store = this.store;
      entries = store.range(
        wanted.reverse ? { ...wanted, end: value.key } : { ...wanted, from: `${value.key}\0` },
      );
    }
  }

  // ---- keeping up ------------------------------------------------------------------------------

  async #run(): Promise<void> {
    const { signal } = this;
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
        this.trouble = error as KvError;
        if (lost !== null && this.state === "following") this.state = "resyncing";
        await this.#options.clock.sleep(reopenDelay(++failures), signal).catch(() => {});
      }
    }
  }

  /** Reads all keys, and tells of what is different. */
  async #load(reason: ResyncReason): Promise<void> {
    const { signal } = this;
    const store = new KeyStore();
    const request = { prefix: bytesOf(this.#options.prefix), pageSize: PAGE_SIZE };
    const scan = new Scan(this.#options.keyspace, request, { signal });
    for await (const kvs of scan.pages()) {
      for (const kv of kvs) store.put(new Entry(kv));
      this.#checkSize(store);
    }
    const { revision } = scan;
    if (signal.aborted) return;
    const before = this.store;
    this.store = store;
    this.revision = revision;
    if (this.state !== "loading") {
      this.#tell({ type: "resync", reason, revision });
      if (this.readers.size > 0) {
        for (const event of differences(before, store, revision)) this.#tell(event);
      }
    }
    this.#waits.reach(revision);
  }

  /** Follows what changes, until that cannot go on. */
  async #follow(onFollowing: () => void): Promise<void> {
    using watch = await this.#options.keyspace.watch({
      key: bytesOf(this.#options.prefix),
      prefix: true,
      revision: this.revision + 1n,
      progressNotify: true,
    }, { signal: this.signal });
    if (this.signal.aborted) return;
    onFollowing();
    this.trouble = undefined;
    this.state = "following";
    this.#ready.resolve();
    this.#pace.watch = watch;
    try {
      await this.#read(watch);
    } finally {
      this.#pace.watch = null;
    }
  }

  async #read(watch: Watch): Promise<void> {
    for (let response = await watch.read(); response !== null; response = await watch.read()) {
      const { events, header } = response;
      for (const event of events) this.#apply(event);
      const revision = events.length === 0 ? header.revision : events.at(-1)!.kv.modRevision;
      if (revision > this.revision) this.revision = revision;
      this.#checkSize(this.store);
      this.#waits.reach(this.revision);
    }
  }

  #apply({ type, kv }: WatchEvent): void {
    const listened = this.readers.size > 0;
    const revision = kv.modRevision;
    const name = binaryOf(kv.keyBytes);
    if (!name.startsWith(this.#options.prefix)) throw misfit("an event of another key");
    if (type === "DELETE") {
      const before = this.store.delete(name);
      if (before !== undefined && listened) {
        this.#tell({ type: "delete", kv: before.toKeyValue(), revision });
      }
      return;
    }
    const before = this.store.put(new Entry(kv));
    if (!listened) return;
    this.#tell(
      before === undefined
        ? { type: "add", kv, revision }
        : { type: "update", kv, previous: before.toKeyValue(), revision },
    );
  }

  #tell(event: CacheEvent): void {
    for (const reader of this.readers) reader.push(event);
  }

  #checkSize({ bytes, size }: KeyStore): void {
    if (bytes <= this.#options.maxBytes) return;
    throw new KvError(
      `the cache has more than ${this.#options.maxBytes} bytes in ${size} keys: cache a longer prefix, or raise maxBytes`,
      code.RESOURCE_EXHAUSTED,
    );
  }
}
