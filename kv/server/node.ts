/**
 * A store at work: its state, the watches on it, and the time. Services answer through it.
 *
 * @module
 */
import type { HeaderMessage } from "../wire.ts";
import type { Clock } from "../clock.ts";
import { Guard } from "./auth/guard.ts";
import { AutoCompaction, type KeptHistory } from "./auto_compaction.ts";
import { Tokens } from "./auth/tokens.ts";
import { StoreClock } from "./clock.ts";
import { Counts } from "./counts.ts";
import type { StoreLimits } from "./limits.ts";
import { ServerFault } from "./fault.ts";
import { headerOf, type Identity, newIdentity } from "./headers.ts";
import { Journal } from "./log/journal.ts";
import { LongWork } from "./long_work.ts";
import type { JournalRecord } from "./log/records.ts";
import { writeSnapshot } from "./snapshot/etcd_file.ts";
import { Space } from "./space.ts";
import { type LoadRecord, State, type StateRecord } from "./state.ts";
import { WatchHub } from "./watch/hub.ts";
import type { ServerWatchStream } from "./watch/stream.ts";

/** Milliseconds between two portions of leases that end together, as in etcd. */
const EXPIRY_PAUSE_MS = 500;

/**
 * Milliseconds leases live on beyond their end. etcd looks for ended ones every half second; clients that
 * count the time themselves rely on not being last to know.
 */
const EXPIRY_LAG_MS = 100;

/** Entries of etcd's log before the first request: its election and its member. */
const FIRST_INDEX = 4;

/** Bytes of a journal that is not worth to be shortened. */
const MIN_SHORTENED_BYTES = 16 << 20;

/** Options of a {@linkcode Node}. */
interface NodeOptions {
  /** Name of the member. */
  readonly name: string;
  /** Version of etcd it says it is. */
  readonly version: string;
  readonly limits: StoreLimits;
  /** Folder of the journal; without, all is in memory alone. */
  readonly path?: string;
  /** Contents to begin with, if the store is empty. */
  readonly restored?: readonly LoadRecord[];
  /** How much history is kept; all of it by default. */
  readonly keptHistory?: KeptHistory;
  /** Clock it goes by. @default the system's */
  readonly clock?: Clock;
  /** Called if the journal cannot be written any more. */
  readonly onFailed: (error: unknown) => void;
}

/** A store at work. */
export class Node {
  readonly name: string;
  readonly version: string;
  /** Addresses other members would use; none does. */
  peerUrls: readonly string[] = ["http://localhost:2380"];
  /** Addresses of the member, once it listens. */
  clientUrls: readonly string[] = [];
  /** Counts the changes since the start, as etcd's log does. */
  index = FIRST_INDEX;
  readonly limits: StoreLimits;
  readonly counts: Counts = new Counts();
  readonly state: State;
  readonly watches: WatchHub;
  readonly space: Space;
  readonly work: LongWork;
  readonly tokens: Tokens;
  readonly guard: Guard;
  /** Version a downgrade was enabled to, as `3.5.0`; none while it is undefined. */
  downgrade: string | undefined;
  /** Whether notices of progress are kept back. */
  progressFrozen = false;
  #identity: Identity;
  #hasLeader = true;
  readonly #journal: Journal | null = null;
  readonly #onFailed: (error: unknown) => void;
  readonly #clock: StoreClock;
  /** Streams of watches, and whether they are to end with the leader. */
  readonly #streams = new Map<ServerWatchStream, boolean>();
  readonly #waiting = new Set<() => void>();
  #expiry: { readonly at: number; readonly cancel: () => void } | null = null;
  /** Ends the wait for the next notices of progress; there is one while there are watches. */
  #progress: (() => void) | null = null;
  readonly #compaction: AutoCompaction | null = null;
  /** Ends the wait for its next look. */
  #nextLook: (() => void) | null = null;
  /** Bytes of the journal when it was last shortened. */
  #shortened = 0;
  #closed = false;

  /** Opens a store: in `path`, or an empty one in memory. */
  constructor(options: NodeOptions) {
    const { name, version, limits, path, restored, clock, onFailed, keptHistory } = options;
    this.name = name;
    this.version = version;
    this.limits = limits;
    this.#clock = new StoreClock(clock);
    this.#onFailed = onFailed;
    this.state = new State({
      minLeaseTtl: limits.minLeaseTtl,
      counts: this.counts,
      onRecord: (record) => this.#record(record),
    });
    const { accounts, leases } = this.state;
    this.work = new LongWork(this.state.mvcc);
    this.space = new Space(this.state, limits.quotaBytes);
    this.tokens = new Tokens(this.#clock, limits.tokenTtl, limits.maxTokens);
    this.guard = new Guard(accounts, this.tokens, leases);
    let identity: Identity | undefined;
    if (path !== undefined) {
      const now = this.now();
      this.#journal = Journal.open(path, (record) => {
        if (record.kind === "identity") identity = { ...record, raftTerm: 2n };
        else this.state.load(record, now);
      }, (error) => this.#fail(error));
    }
    this.#identity = identity ?? newIdentity();
    if (identity === undefined) this.#journal?.append({ kind: "identity", ...this.#identity });
    this.#restore(restored ?? []);
    this.watches = new WatchHub(this.state.mvcc);
    if (keptHistory !== undefined) {
      this.#compaction = new AutoCompaction(this.state, this.#clock, keptHistory);
      this.#lookAgain(this.#compaction);
    }
    this.#watchExpiry();
  }

  #lookAgain(compaction: AutoCompaction): void {
    this.#nextLook = this.#clock.after(compaction.pause, () => {
      compaction.look();
      this.#lookAgain(compaction);
    });
  }

  /** Takes a snapshot in, into an empty store. Its leases live for their whole time again. */
  #restore(records: readonly LoadRecord[]): void {
    if (records.length === 0) return;
    if (this.state.mvcc.revision > 1) {
      throw new TypeError("Cannot restore a snapshot into a store that has data: use another path");
    }
    const now = this.now();
    for (const record of records) {
      this.state.load(record, now);
      this.#journal?.append(record);
    }
  }

  /** Ends the streams: memory is ahead of the disk, and nothing of it may be seen any more. */
  #fail(error: unknown): void {
    for (const stream of this.#streams.keys()) stream.close();
    this.#onFailed(error);
  }

  /** The identity that answers. */
  get identity(): Identity {
    return this.#identity;
  }

  /** Milliseconds of the store's clock. */
  now(): number {
    return this.#clock.now();
  }

  /** The header of a response. */
  header(revision: number | bigint): HeaderMessage {
    return headerOf(this.identity, revision);
  }

  /**
   * Answers a request. What it changed, and what it saw of others' changes, is durable before it is
   * answered.
   */
  answer<Answer>(run: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    if (this.#journal === null) return run();
    if (this.#journal.settled) {
      const answer = run();
      return this.#journal.settled ? answer : this.#durable().then(() => answer);
    }
    return this.#answerLater(this.#journal, run);
  }

  async #answerLater<Answer>(
    journal: Journal,
    run: () => Answer | Promise<Answer>,
  ): Promise<Answer> {
    while (journal.full) await this.#durable();
    try {
      return run();
    } finally {
      await this.#durable();
    }
  }

  async #durable(): Promise<void> {
    const { revision } = this.state.mvcc;
    try {
      await this.#journal!.durable();
    } catch {
      throw new ServerFault("STOPPED");
    }
    this.watches.publish(revision);
  }

  #record(record: StateRecord): void {
    this.index++;
    if (record.kind === "compact") this.work.sweep();
    if (this.#journal === null) {
      if ("changes" in record) this.watches.publish(record.revision);
      return;
    }
    this.#journal.append(record);
    if (record.kind === "compact") this.#shorten(this.#journal);
  }

  /** Begins a journal without what is compacted, once that is most of it. */
  #shorten(journal: Journal): void {
    if (journal.length < Math.max(MIN_SHORTENED_BYTES, 2 * this.#shortened)) return;
    journal.replace(this.#records()).then((done) => {
      if (done) this.#shortened = journal.length;
    }, (error) => this.#fail(error));
  }

  *#records(): Generator<JournalRecord | null> {
    yield { kind: "identity", ...this.identity };
    yield* this.state.records();
  }

  /** All there is, as a snapshot of etcd. */
  snapshot(): Uint8Array[] | Promise<Uint8Array[]> {
    const { memberId, raftTerm } = this.identity;
    return this.work.read(writeSnapshot(this.state, {
      memberId,
      index: this.index,
      term: raftTerm,
      version: this.version.replace(/\.\d+$/, ".0"),
    }));
  }

  /** Takes a stream of watches in, until the function that is given is called. */
  join(stream: ServerWatchStream, needsLeader: boolean): () => void {
    this.#streams.set(stream, needsLeader);
    this.#progress ??= this.#tellProgress();
    return () => {
      this.#streams.delete(stream);
      if (this.#streams.size > 0) return;
      this.#progress?.();
      this.#progress = null;
    };
  }

  #tellProgress(): () => void {
    return this.#clock.after(this.limits.progressInterval, () => {
      this.#progress = this.#tellProgress();
      if (this.progressFrozen) return;
      for (const stream of this.#streams.keys()) stream.notifyProgress();
    });
  }

  /** Resolves in `ms` milliseconds of the store's clock, or as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }

  /** How many streams of watches there are. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Whether there is a leader. Without one nothing is written, and no lease ends. */
  get hasLeader(): boolean {
    return this.#hasLeader;
  }

  /** Loses the leader: streams that need one end. */
  loseLeader(): void {
    if (!this.#hasLeader) return;
    this.#hasLeader = false;
    for (const [stream, needsLeader] of this.#streams) {
      if (needsLeader) stream.close(new ServerFault("NO_LEADER"));
    }
  }

  /** Elects a leader: a new term begins, and leases live for their whole time again. */
  electLeader(): void {
    if (this.#hasLeader) return;
    this.#hasLeader = true;
    this.#identity = { ...this.#identity, raftTerm: this.#identity.raftTerm + 1n };
    this.state.leases.renewAll(this.now());
    this.#watchExpiry();
  }

  /** Lets a lease end now. False if there is none, or no leader to end it. */
  expireLease(id: bigint): boolean {
    if (!this.#hasLeader || !this.state.leases.has(id)) return false;
    this.state.leases.expire(id, this.now());
    this.#expire();
    return true;
  }

  /** Puts the clock forward and lets leases end that would have ended meanwhile. */
  advance(milliseconds: number): void {
    this.#clock.advance(milliseconds);
    this.#expire();
    this.#compaction?.look();
  }

  /**
   * Makes a lease; for 0 the id is a positive random number. `ttl` in seconds.
   *
   * @throws {ServerFault} LEASE_EXISTS, LEASE_TTL_TOO_LARGE.
   */
  grant(given: bigint, ttl: bigint): { readonly id: bigint; readonly ttl: number } {
    const id = given === 0n ? freeId((id) => this.state.leases.has(id)) : given;
    const seconds = this.state.grant(id, ttl, this.now());
    this.#watchExpiry();
    return { id, ttl: seconds };
  }

  /** Calls `callback` when the store ends, until the function that is given is called. */
  whenClosed(callback: () => void): () => void {
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  /** Whether the store has ended. */
  get closed(): boolean {
    return this.#closed;
  }

  #watchExpiry(): void {
    const at = this.state.leases.nextExpiry;
    if (at === undefined || this.#closed || (this.#expiry !== null && this.#expiry.at <= at)) {
      return;
    }
    this.#arm(at);
  }

  #arm(at: number): void {
    this.#expiry?.cancel();
    const cancel = this.#clock.after(at + EXPIRY_LAG_MS - this.now(), () => this.#expire());
    this.#expiry = { at, cancel };
  }

  #expire(): void {
    this.#expiry?.cancel();
    this.#expiry = null;
    if (!this.#hasLeader) return;
    const ended = this.state.expire(this.now());
    this.counts.leasesExpired += ended;
    if (this.#journal?.settled === false) this.#durable().catch(() => {});
    const next = this.state.leases.nextExpiry;
    if (next === undefined || this.#closed) return;
    this.#arm(ended > 0 ? Math.max(next, this.now() + EXPIRY_PAUSE_MS) : next);
  }

  /** Ends the watches and the timers. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#progress?.();
    this.#expiry?.cancel();
    this.#nextLook?.();
    for (const stream of this.#streams.keys()) stream.close();
    for (const callback of this.#waiting) callback();
    await this.#journal?.close();
  }
}

/** A positive number of 63 bits that no lease has. */
function freeId(taken: (id: bigint) => boolean): bigint {
  for (;;) {
    const [random] = crypto.getRandomValues(new BigUint64Array(1));
    const id = random! >> 1n;
    if (id !== 0n && !taken(id)) return id;
  }
}
