/**
 * What the clients of a round do: a seeded mix of calls, and watches that are closed and resumed.
 *
 * @module
 */
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";
import type { Random } from "../../../support/random.ts";
import { type ClientRecord, endOf, Recorded, type Recorder, type TxnOp } from "./record.ts";

/** All keys begin with the two, of which the first may be a namespace's. */
const SPACE = "k";
const PREFIX = "/";

/** How many keys there are. */
const KEYS = 10;

/** The value that ends a round, and every watch. */
const LAST = "last";

/** Milliseconds of the longest pause between two calls of one client. */
const LONGEST_PAUSE_MS = 10;

/** Milliseconds a watch may take for what is left when all is healed. */
const CATCH_UP_MS = 60_000;

/** Milliseconds of the longest pause between two looks at a cache. */
const LONGEST_LOOK_MS = 700;

/** Revisions that compactions leave. */
const KEPT_HISTORY = 150;

/** What the clients of a round have in common. */
export interface Scene {
  readonly recorder: Recorder;
  /** Whether the faults are over and clients should come to an end. */
  over: boolean;
  /** Whether its clients are closed, however it went. */
  closed: boolean;
  /** The highest revision anybody saw. */
  revision: number;
  /** The next lease. */
  lease: number;
  /** How many values were written: each is another one. */
  values: number;
}

/** The state of a new round. */
export function newScene(recorder: Recorder): Scene {
  return { recorder, over: false, closed: false, revision: 1, lease: 1, values: 0 };
}

/** One client with its record. */
export class Actor {
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #keyspace: kv.KeyspaceClient;
  readonly #store: Recorded;
  /** What its keys begin with. */
  readonly #prefix: string;
  readonly #leases: number[] = [];
  /** Where each key was last seen. */
  readonly #seen = new Map<string, { revision: number; version: number }>();

  constructor(scene: Scene, random: Random, client: kv.Client) {
    this.#scene = scene;
    this.#random = random;
    // Every third sees its keys by a namespace.
    const spaced = random.below(3) === 0;
    this.#prefix = spaced ? PREFIX : SPACE + PREFIX;
    this.#keyspace = spaced ? client.namespace(SPACE) : client;
    this.record = scene.recorder.client();
    this.#store = new Recorded(
      scene.recorder,
      this.record,
      this.#keyspace,
      spaced ? SPACE : "",
    );
  }

  /** What it did. */
  readonly record: ClientRecord;

  /** Shows that the store is fresh, as the judge wants it. */
  async first(): Promise<void> {
    await this.#store.get({ Start: `${this.#prefix}0` });
  }

  /** Calls until the round is over. */
  async call(): Promise<void> {
    while (!this.#scene.over) {
      const response = await this.#one();
      this.#note(response);
      await delay(this.#random.below(LONGEST_PAUSE_MS));
    }
  }

  /** The last call of a round: rejects if it does not get through, though nothing is in the way. */
  async last(): Promise<number> {
    for (let i = 0; i < KEYS; i++) {
      const response = await this.#store.put(`${this.#prefix}${i}`, LAST + this.#scene.values++);
      if (response === undefined) throw new Error("A put failed after all faults were healed");
      this.#note(response);
    }
    await this.#list();
    return this.#scene.revision;
  }

  /** Drops history, as far as nobody needs it. */
  async compact(): Promise<void> {
    if (this.#scene.revision > KEPT_HISTORY) {
      await this.#store.compact(this.#scene.revision - KEPT_HISTORY);
    }
  }

  #note(response: unknown): void {
    const { header } = (response ?? {}) as Partial<kv.GetResponse>;
    if (header !== undefined) {
      this.#scene.revision = Math.max(this.#scene.revision, Number(header.revision));
    }
  }

  #key(): string {
    return `${this.#prefix}${this.#random.below(KEYS)}`;
  }

  #value(): string {
    const value = `v${this.#scene.values++}`;
    // Now and then one that is recorded by its hash.
    return this.#random.below(8) === 0 ? value.padEnd(20 + this.#random.below(3_000), "é") : value;
  }

  #one(): Promise<unknown> {
    const dice = this.#random.below(100);
    if (dice < 14) return this.#get(this.#key());
    if (dice < 22) return this.#list();
    if (dice < 29) return this.#history();
    if (dice < 32) return this.#scan();
    if (dice < 58) return this.#store.put(this.#key(), this.#value());
    if (dice < 70) return this.#store.delete(this.#key());
    if (dice < 80) return this.#swap();
    if (dice < 88) return this.#many();
    if (dice < 91) return this.#grant();
    if (dice < 97) return this.#putLeased();
    return this.#revoke();
  }

  async #get(key: string): Promise<kv.GetResponse | undefined> {
    const response = await this.#store.get({ Start: key });
    if (response === undefined) return undefined;
    const found = response.kvs[0];
    if (found === undefined) this.#seen.delete(key);
    else {
      this.#seen.set(key, { revision: Number(found.modRevision), version: found.version });
    }
    return response;
  }

  #list(): Promise<kv.GetResponse | undefined> {
    const limit = this.#random.pick([0, 0, 3]);
    return this.#store.get({
      Start: this.#prefix,
      End: endOf(this.#prefix),
      ...(limit === 0 ? {} : { Limit: limit }),
      ...(this.#random.below(4) === 0 ? { KeysOnly: true } : {}),
    });
  }

  /** A read of the past; of what is compacted it fails, which is not judged. */
  #history(): Promise<kv.GetResponse | undefined> {
    const revision = this.#scene.revision - this.#random.below(KEPT_HISTORY / 2);
    if (revision < 2) return this.#get(this.#key());
    const all = this.#random.below(2) === 0;
    return this.#store.get({
      Start: all ? this.#prefix : this.#key(),
      ...(all ? { End: endOf(this.#prefix) } : {}),
      Revision: revision,
    });
  }

  /** All keys in pages; of what is compacted meanwhile it fails, which is not judged. */
  async #scan(): Promise<void> {
    const since = this.#scene.recorder.now();
    const scan = this.#keyspace.scan({
      prefix: this.#prefix,
      pageSize: 1 + this.#random.below(4),
    });
    const kvs: kv.KeyValue[] = [];
    const [, error] = await kv.attempt((async () => {
      for await (const one of scan) kvs.push(one);
    })());
    if (error !== undefined) return failed(error);
    const range = { Start: this.#prefix, End: endOf(this.#prefix) };
    this.#store.scanned(since, range, scan.revision, kvs);
  }

  /** Compare and swap of a key as it was last seen. */
  async #swap(): Promise<kv.TxnResponse | undefined> {
    const key = this.#key();
    const seen = this.#seen.get(key);
    const condition = seen === undefined || this.#random.below(2) === 0
      ? { key, modRevision: seen?.revision ?? 0 }
      : { key, version: seen.version };
    const response = await this.#store.txn({
      compare: [condition],
      success: [
        this.#random.below(4) === 0 ? { delete: { key } } : { put: { key, value: this.#value() } },
      ],
      failure: [{ get: { key } }],
    });
    // Whether it was changed or not: where it stands now, the next one that fails will tell.
    this.#seen.delete(key);
    const found = response?.responses[0];
    const kv = found !== undefined && "get" in found ? found.get.kvs[0] : undefined;
    if (kv !== undefined) {
      this.#seen.set(key, { revision: Number(kv.modRevision), version: kv.version });
    }
    return response;
  }

  /** Several changes in one revision, with reads between. */
  #many(): Promise<kv.TxnResponse | undefined> {
    const keys = [...new Set([this.#key(), this.#key(), this.#key()])];
    const ops: TxnOp[] = keys.map((key) =>
      this.#random.below(3) === 0 ? { delete: { key } } : { put: { key, value: this.#value() } }
    );
    ops.push({ get: { key: this.#prefix, rangeEnd: endOf(this.#prefix), limit: 4 } });
    return this.#store.txn({ compare: [], success: ops, failure: [] });
  }

  async #grant(): Promise<unknown> {
    const lease = this.#scene.lease++;
    const response = await this.#store.grant(lease);
    if (response !== undefined) this.#leases.push(lease);
    return response;
  }

  #putLeased(): Promise<unknown> {
    const lease = this.#leases.at(-1);
    return lease === undefined ? this.#grant() : this.#store.put(this.#key(), this.#value(), lease);
  }

  #revoke(): Promise<unknown> {
    const lease = this.#leases.shift();
    return lease === undefined ? this.#get(this.#key()) : this.#store.revoke(lease);
  }

  /**
   * Watches, one watch after the other, until the round's end was seen: some go on where the last one
   * ended, some begin anew. `until` resolves to the last revision when there is one.
   */
  async watch(until: Promise<number>): Promise<void> {
    let end = Infinity;
    until.then((revision) => end = revision, () => {});
    /** The first revision that the watches so far have not covered. */
    let next = 1n;
    while (!this.#scene.closed) {
      const { watch, record, anew } = await this.#open(next) ?? {};
      if (watch === undefined || record === undefined) {
        if (end !== Infinity) throw new Error("A watch failed after all faults were healed");
        await delay(50);
        continue;
      }
      using _ = watch;
      // One that begins "now" could be behind the end, which it would then wait for in vain.
      if (anew && this.#scene.over) continue;
      // Some are closed early and resumed, the rest lasts.
      let left = this.#random.below(2) === 0 ? 1 + this.#random.below(300) : Infinity;
      while (left > 0) {
        const [response, error] = await kv.attempt(watch.read(CATCH_UP_MS));
        if (error instanceof kv.CompactedError) {
          next = error.compactRevision;
          break;
        }
        if (error !== undefined) throw error;
        record(response!);
        const { events, header, progressNotify } = response!;
        left -= events.length;
        const last = events.at(-1)?.kv.modRevision ?? (progressNotify ? header.revision : 0n);
        if (last >= next) next = last + 1n;
        if (events.some(({ kv }) => kv.value.startsWith(LAST))) return;
      }
      // Of one key the end may have been seen by a progress notification only.
      if (Number(next) > end) return;
    }
  }

  /**
   * Keeps a cache, looks at it now and then, and reads its events, until it shows the round's end.
   * `until` resolves to the last revision when there is one.
   */
  async cache(until: Promise<number>): Promise<void> {
    const range = { Start: this.#prefix, End: endOf(this.#prefix) };
    let last = 0n;
    await using cache = this.#keyspace.cache({ prefix: this.#prefix });
    const following = this.#follow(cache);
    following.catch(() => {});
    let end = Infinity;
    until.then((revision) => end = revision, () => {});
    while (!this.#scene.closed) {
      const [, error] = await kv.attempt(
        this.#random.below(3) === 0 ? cache.sync({ timeout: CATCH_UP_MS }) : cache.ready(),
      );
      if (error !== undefined) {
        if (end !== Infinity) throw error;
        failed(error);
        await delay(this.#random.below(LONGEST_LOOK_MS));
        continue;
      }
      if (cache.revision < last) throw new Error(`A cache went back from ${last}`);
      last = cache.revision;
      // Without a pause between: one state of the store.
      this.#store.looked(range, last, [...cache]);
      if (Number(cache.revision) >= end) break;
      await delay(this.#random.below(LONGEST_LOOK_MS));
      if (end !== Infinity) await cache.waitForRevision(end, { timeout: CATCH_UP_MS });
    }
    await cache.close();
    await following;
  }

  /** Events of a cache, as a watch of what it caches; where it was read anew another one begins. */
  async #follow(cache: kv.Cache): Promise<void> {
    const request = {
      Key: this.#prefix,
      Revision: 0,
      WithPrefix: true,
      WithProgressNotify: false,
      WithPrevKV: true,
    };
    let record = this.#store.watched(request);
    /** Events of one revision, which belong together. */
    let events: kv.WatchEvent[] = [];
    let revision = 0n;
    /** What is told up to there was read, not watched. */
    let readUpTo = 0n;
    const flush = () => {
      if (events.length > 0) {
        const header = { clusterId: 0n, memberId: 0n, raftTerm: 0n, revision };
        record({ header, events, progressNotify: false });
      }
      events = [];
    };
    for await (const event of cache.events()) {
      if (event.type === "resync" || event.revision !== revision) flush();
      if (event.type === "resync") {
        record = this.#store.watched(request);
        readUpTo = event.revision;
        continue;
      }
      if (event.revision <= readUpTo) continue;
      ({ revision } = event);
      if (event.type === "delete") {
        // It tells what was there, not what is.
        const gone = { key: event.kv.key, value: "", modRevision: revision, version: 0 };
        events.push({ type: "DELETE", kv: gone as kv.KeyValue, prevKv: event.kv });
      } else {
        events.push({
          type: "PUT",
          kv: event.kv,
          ...(event.type === "update" ? { prevKv: event.previous } : {}),
        });
      }
    }
    flush();
  }

  async #open(next: bigint): Promise<
    { watch: kv.Watch; record: (response: kv.WatchResponse) => void; anew: boolean } | undefined
  > {
    const anew = !this.#scene.over && this.#random.below(3) === 0;
    const one = this.#random.below(3) === 0;
    const request = {
      key: one ? this.#key() : this.#prefix,
      prefix: !one,
      revision: anew ? 0n : next,
      progressNotify: this.#random.below(2) === 0,
      prevKv: this.#random.below(2) === 0,
      fragment: this.#random.below(4) === 0,
    };
    const [watch] = await kv.attempt(this.#keyspace.watch(request));
    if (watch === undefined) return undefined;
    const record = this.#store.watched({
      Key: request.key,
      Revision: Number(request.revision),
      WithPrefix: request.prefix,
      WithProgressNotify: request.progressNotify,
      WithPrevKV: request.prevKv,
    });
    return { watch, record, anew };
  }
}

/** A failure that is not judged; any other is this module's fault. */
function failed(error: Error): void {
  if (!(error instanceof kv.KvError)) throw error;
}
