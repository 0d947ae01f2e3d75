/**
 * The contents of a store, and what requests do with them. No input, no output, no clock: a request
 * and the time go in, an answer comes out, and each change is told once, in order.
 *
 * @module
 */
import type {
  CompactMessage,
  DeleteMessage,
  PutMessage,
  RangeMessage,
  TxnMessage,
} from "../wire.ts";
import { Accounts, type AccountsRecord } from "./auth/accounts.ts";
import type { Counts } from "./counts.ts";
import { ServerFault } from "./fault.ts";
import { Leases } from "./lease/leases.ts";
import { type Change, Mvcc } from "./store/mvcc.ts";
import { type RangeAnswer, rangeWork } from "./store/range.ts";
import { finish, type Work } from "./store/work.ts";
import {
  checkPutHere,
  type DeleteAnswer,
  deleteRange,
  isReadOnly,
  put,
  type PutAnswer,
  txn,
  type TxnAnswer,
} from "./store/txn.ts";

/** A change of the state. The same records in the same order make the same state. */
export type StateRecord =
  | { readonly kind: "revision"; readonly revision: number; readonly changes: readonly Change[] }
  | { readonly kind: "grant"; readonly id: bigint; readonly ttl: number }
  /** The changes delete the keys of the lease; there are none if it had no keys. */
  | {
    readonly kind: "revoke";
    readonly id: bigint;
    readonly revision: number;
    readonly changes: readonly Change[];
  }
  | { readonly kind: "compact"; readonly revision: number }
  /** Numbers of `AlarmType` that are raised. */
  | { readonly kind: "alarms"; readonly alarms: readonly number[] }
  | AccountsRecord;

/** A key as it was at the start of what is known. */
interface BaseKey extends Change {
  readonly modRevision: number;
  readonly sub: number;
}

/** Keys as they were at a revision, the first that is known. `compacted` as in the store. */
interface BaseRecord {
  readonly kind: "base";
  readonly revision: number;
  readonly compacted: number;
  readonly keys: readonly BaseKey[];
}

/** A record that leads to a state: a change of it, or what was there before. */
export type LoadRecord = StateRecord | BaseRecord;

/** Keys in one record of a base. */
const BASE_KEYS = 1_000;

/** Options of a state. */
interface StateOptions {
  /** The shortest time to live of a lease, in seconds. */
  readonly minLeaseTtl: number;
  readonly counts: Counts;
  /** Called with each change, after it was made. */
  readonly onRecord: (record: StateRecord) => void;
}

/** Leases that end together are revoked in portions, as etcd does: so many each half second. */
const MAX_EXPIRED_AT_ONCE = 500;

/** Keys, their history, leases, users and alarms. Requests come checked as far as they alone show. */
export class State {
  readonly mvcc: Mvcc = new Mvcc();
  readonly leases: Leases;
  readonly accounts: Accounts;
  readonly #alarms = new Set<number>();
  readonly #options: StateOptions;

  constructor(options: StateOptions) {
    this.#options = options;
    this.leases = new Leases(options.minLeaseTtl);
    this.accounts = new Accounts(options.onRecord);
  }

  /** The alarms that are raised, by their number. */
  get alarms(): ReadonlySet<number> {
    return this.#alarms;
  }

  /** Raises or disarms an alarm. */
  setAlarm(alarm: number, raised: boolean): void {
    if (this.#alarms.has(alarm) === raised) return;
    if (raised) this.#alarms.add(alarm);
    else this.#alarms.delete(alarm);
    this.#options.onRecord({ kind: "alarms", alarms: [...this.#alarms] });
  }

  /** Runs a write: all of it, or nothing if it throws. */
  #write<Answer>(run: () => Answer): Answer {
    const { mvcc } = this;
    mvcc.begin();
    let answer: Answer;
    try {
      answer = run();
    } catch (error) {
      mvcc.abort();
      throw error;
    }
    const changes = mvcc.end();
    if (changes.length > 0) {
      this.#count(changes);
      this.leases.follow(changes);
      this.#options.onRecord({ kind: "revision", revision: mvcc.revision, changes });
    }
    return answer;
  }

  #count(changes: readonly Change[]): void {
    const { counts } = this.#options;
    for (const { key, version, value } of changes) {
      if (version === 0) counts.deletes++;
      else {
        counts.puts++;
        counts.putBytes += key.length + value.length;
      }
    }
  }

  readonly #hasLease = (id: bigint): boolean => this.leases.has(id);

  /** Reads a range. */
  range(request: RangeMessage): Work<RangeAnswer> {
    this.#options.counts.ranges++;
    return rangeWork(this.mvcc, request);
  }

  /** Stores a value. */
  put(request: PutMessage): PutAnswer {
    checkPutHere(this.mvcc, request, this.#hasLease);
    return this.#write(() => put(this.mvcc, request));
  }

  /** Deletes a range. */
  deleteRange(request: DeleteMessage): DeleteAnswer {
    return this.#write(() => deleteRange(this.mvcc, request));
  }

  /** Carries a transaction out. */
  txn(request: TxnMessage): TxnAnswer {
    this.#options.counts.txns++;
    if (isReadOnly(request)) return txn(this.mvcc, request, this.#hasLease);
    return this.#write(() => txn(this.mvcc, request, this.#hasLease));
  }

  /** Drops history; the memory is free when it was swept. */
  compact(request: Pick<CompactMessage, "revision">): void {
    const revision = Number(request.revision);
    this.mvcc.compact(revision);
    this.#options.onRecord({ kind: "compact", revision });
  }

  /** Makes a lease; `id` is not 0. Gives its time to live in seconds. */
  grant(id: bigint, ttl: bigint, now: number): number {
    const seconds = this.leases.checkGrant(id, ttl);
    this.leases.grant(id, seconds, now);
    this.#options.counts.leasesGranted++;
    this.#options.onRecord({ kind: "grant", id, ttl: seconds });
    return seconds;
  }

  /** Ends a lease and deletes its keys, all in one revision and in the order of the keys. */
  revoke(id: bigint): void {
    const lease = this.leases.get(id);
    if (lease === undefined) throw new ServerFault("LEASE_NOT_FOUND");
    const keys = [...lease.keys].sort();
    this.mvcc.begin();
    for (const key of keys) this.mvcc.delete({ key, end: `${key}\0` });
    const changes = this.mvcc.end();
    this.#options.counts.leasesRevoked++;
    this.#options.counts.deletes += changes.length;
    this.leases.follow(changes);
    this.leases.remove(id);
    this.#options.onRecord({ kind: "revoke", id, revision: this.mvcc.revision, changes });
  }

  /** Repeats a record; it is not told. Leases live for their whole time again. */
  load(record: LoadRecord, now: number): void {
    switch (record.kind) {
      case "base":
        return this.#loadBase(record);
      case "revision":
        this.leases.follow(this.mvcc.loadRevision(record.revision, record.changes));
        return;
      case "revoke":
        if (record.changes.length > 0) {
          this.leases.follow(this.mvcc.loadRevision(record.revision, record.changes));
        }
        return this.leases.remove(record.id);
      case "grant":
        this.leases.grant(record.id, record.ttl, now);
        return;
      case "compact":
        this.mvcc.compact(record.revision);
        return finish(this.mvcc.sweep());
      case "accounts":
        return this.accounts.load(record);
      case "alarms":
        this.#alarms.clear();
        for (const alarm of record.alarms) this.#alarms.add(alarm);
    }
  }

  #loadBase({ revision, compacted, keys }: BaseRecord): void {
    // A base comes in parts.
    if (this.mvcc.size === 0) this.mvcc.startAt(revision, compacted);
    this.leases.follow(keys.map((key) => this.mvcc.loadKey(key, key.modRevision, key.sub)));
  }

  /**
   * Records that lead to this state from an empty one: the leases, the keys as they were before the
   * first revision that is still known, and every revision since. Draw from it as slowly as you like;
   * it gives `null` when a compaction has overtaken it.
   */
  *records(): Generator<LoadRecord | null> {
    const { mvcc } = this;
    const { compacted, revision: last } = mvcc;
    const leases = this.leases.list();
    yield this.accounts.record();
    yield { kind: "alarms", alarms: [...this.#alarms] };
    for (const { id, ttl } of leases) yield { kind: "grant", id, ttl };
    if (compacted > 1) {
      const revision = compacted - 1;
      yield { kind: "base", revision, compacted, keys: [] };
      for (let from: string | undefined = ""; from !== undefined;) {
        const keys: BaseKey[] = [];
        const visit = (version: BaseKey): void => void keys.push(version);
        from = mvcc.range({ key: from, end: null }, revision, visit, BASE_KEYS);
        if (mvcc.compacted !== compacted) return yield null;
        yield { kind: "base", revision, compacted, keys };
      }
    }
    for (let revision = Math.max(2, compacted); revision <= last; revision++) {
      if (mvcc.compacted !== compacted) return yield null;
      yield { kind: "revision", revision, changes: mvcc.changesAt(revision) };
    }
  }

  /** Revokes leases that have ended, at most `MAX_EXPIRED_AT_ONCE`; says how many. */
  expire(now: number): number {
    const ended = this.leases.expired(now, MAX_EXPIRED_AT_ONCE);
    for (const { id } of ended) this.revoke(id);
    return ended.length;
  }
}
