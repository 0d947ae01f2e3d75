/**
 * Keys with their history. Every change has a revision; what was there at a revision can be read until
 * it is compacted. No input, no output, no clock.
 *
 * @module
 */
import { ServerFault } from "../fault.ts";
import type { Interval } from "./key_text.ts";
import { SortedMap } from "./sorted_map.ts";
import { PORTION, type Work } from "./work.ts";

/** A key that has a history. */
interface KeyEntry {
  readonly key: string;
  /** The newest version; versions are chained from new to old. */
  newest: Version;
  /** The compaction that dropped states of it last; −1 if none did. */
  swept: number;
}

/** A state of a key. One with `version` 0 says that the key was deleted. */
export interface Version extends Change {
  readonly entry: KeyEntry;
  readonly modRevision: number;
  /** Which change of its revision made it, from 0. */
  readonly sub: number;
  /** The state before this one; `null` if there was none or it was compacted. */
  older: Version | null;
}

/** A change as it is told and written down: the key's new state. `version` 0 deletes the key. */
export interface Change {
  readonly key: string;
  readonly createRevision: number;
  readonly version: number;
  readonly value: Uint8Array;
  readonly lease: bigint;
}

/** The changes of one revision, in their order. */
export type Changes = readonly Version[];

const NO_VALUE = new Uint8Array(0);
const NO_LEASE = 0n;

/** The state of a key at a revision, if it was there. */
function versionAt(entry: KeyEntry, revision: number): Version | undefined {
  let version: Version | null = entry.newest;
  while (version !== null && version.modRevision > revision) version = version.older;
  return version === null || version.version === 0 ? undefined : version;
}

/** The order in which states came about. */
export const byRevision = (a: Version, b: Version): number =>
  a.modRevision - b.modRevision || a.sub - b.sub;

/** The state a change replaced; none if the key was not there, or that is compacted. */
export function replacedBy(change: Version): Version | undefined {
  let version = change.older;
  while (version !== null && version.modRevision === change.modRevision) version = version.older;
  return version === null || version.version === 0 ? undefined : version;
}

/** Bytes of a state beside its key and value. Measured: 416 of V8's heap for a key with one state. */
const STATE_BYTES = 416;

const sizeOf = ({ key, value }: Change): number => key.length + value.length + STATE_BYTES;

/** All keys and their history. */
export class Mvcc {
  readonly #keys = new SortedMap<KeyEntry>();
  /** The changes of each revision from `#logStart` on, one alone or a list. */
  #log: (Version | Version[])[] = [];
  #logStart = 2;
  #revision = 1;
  #compacted = -1;
  /** The compaction up to which states were dropped, not only forbidden to read. */
  #swept = -1;
  #bytes = 0;
  /** The changes since `begin()`; `null` outside of a write. */
  #changes: Version[] | null = null;

  /** The revision of the last write; an empty store has 1. */
  get revision(): number {
    return this.#revision;
  }

  /** The revision a read or a write under way sees: one more than the last once something changed. */
  get revisionInside(): number {
    return this.#changes === null || this.#changes.length === 0
      ? this.#revision
      : this.#revision + 1;
  }

  /** The revision up to which history was dropped; −1 if it never was. */
  get compacted(): number {
    return this.#compacted;
  }

  /** Keys that have a history, deleted ones included until they are compacted. */
  get size(): number {
    return this.#keys.size;
  }

  /** Bytes of memory that all states take that are kept, about. */
  get bytes(): number {
    return this.#bytes;
  }

  // ---- reading ---------------------------------------------------------------------------------

  /**
   * Checks a revision to read at, and turns "latest" (0 and less) into a number.
   *
   * @throws {ServerFault} FUTURE_REVISION, COMPACTED.
   */
  readable(revision: number): number {
    const latest = this.revisionInside;
    if (revision > latest) throw new ServerFault("FUTURE_REVISION");
    if (revision <= 0) return latest;
    if (revision < this.#compacted) throw new ServerFault("COMPACTED");
    return revision;
  }

  /** The state of one key at a revision. */
  get(key: string, revision: number = this.revisionInside): Version | undefined {
    const entry = this.#keys.get(key);
    return entry && versionAt(entry, revision);
  }

  /**
   * Calls `visit` with the keys of a range as they were at a revision, until it returns `false`. Looks at
   * `most` keys and gives the one to go on with, if there are more.
   */
  range(
    { key, end }: Interval,
    revision: number,
    visit: (version: Version) => boolean | void,
    most = Infinity,
  ): string | undefined {
    let seen = 0;
    let next: string | undefined;
    this.#keys.visit(key, end, (entry) => {
      if (seen++ === most) {
        next = entry.key;
        return false;
      }
      const version = versionAt(entry, revision);
      return version === undefined ? undefined : visit(version);
    });
    return next;
  }

  /** Calls `visit` like {@linkcode range}, in portions. Keys may change in between. */
  *walk(
    { key, end }: Interval,
    revision: number,
    visit: (version: Version) => void,
  ): Work<void> {
    let from: string | undefined = key;
    for (;;) {
      from = this.range({ key: from, end }, revision, visit, PORTION);
      if (from === undefined) return;
      yield;
    }
  }

  /** Calls `visit` with the changes of revisions that are not compacted, `first` to `last`, in portions. */
  *walkChanges(first: number, last: number, visit: (change: Version) => void): Work<void> {
    let seen = 0;
    for (let at = first; at <= last; at++) {
      for (const change of this.changesAt(at)) {
        visit(change);
        if (++seen % PORTION === 0) yield;
      }
    }
  }

  /** The changes of a revision that is not compacted. */
  changesAt(revision: number): Changes {
    const changes = this.#log[revision - this.#logStart];
    if (changes === undefined) return [];
    return Array.isArray(changes) ? changes : [changes];
  }

  // ---- writing ---------------------------------------------------------------------------------

  /** Begins a write: what is put and deleted until `end()` has one revision. */
  begin(): void {
    if (this.#changes !== null) throw new Error("a write is under way");
    this.#changes = [];
  }

  /** Ends a write and gives its changes; without any the revision stays. */
  end(): Changes {
    const changes = this.#changes;
    if (changes === null) throw new Error("no write is under way");
    this.#changes = null;
    if (changes.length === 0) return changes;
    this.#revision++;
    this.#log.push(changes.length === 1 ? changes[0]! : changes);
    return changes;
  }

  /** Gives a write up: nothing was changed. */
  abort(): void {
    const changes = this.#changes ?? [];
    this.#changes = null;
    for (const change of changes.reverse()) {
      const { entry, older } = change;
      this.#bytes -= sizeOf(change);
      if (older === null) this.#keys.delete(entry.key);
      else entry.newest = older;
    }
  }

  /** Makes a state the newest of its key. */
  #change(
    entry: KeyEntry | undefined,
    change: Change,
    modRevision: number,
    sub = this.#changes!.length,
  ): Version {
    const { key, createRevision, version, value, lease } = change;
    const owner = entry ?? { key, swept: -1 } as KeyEntry;
    const older = entry?.newest ?? null;
    const newest = {
      key,
      entry: owner,
      modRevision,
      sub,
      createRevision,
      version,
      value,
      lease,
      older,
    };
    owner.newest = newest;
    this.#bytes += sizeOf(newest);
    if (entry === undefined) this.#keys.add(owner);
    return newest;
  }

  /** Stores a value. The array is kept: it must not change any more. */
  put(key: string, value: Uint8Array, lease: bigint): void {
    const entry = this.#keys.get(key);
    const before = entry?.newest.version ?? 0;
    const revision = this.#revision + 1;
    const createRevision = before === 0 ? revision : entry!.newest.createRevision;
    const change = { key, createRevision, version: before + 1, value, lease };
    this.#changes!.push(this.#change(entry, change, revision));
  }

  /** Deletes the keys of a range and says how many there were. */
  delete(interval: Interval): number {
    const entries: KeyEntry[] = [];
    this.#keys.visit(interval.key, interval.end, (entry) => {
      if (entry.newest.version !== 0) entries.push(entry);
    });
    for (const entry of entries) {
      const { key } = entry;
      const change = { key, createRevision: 0, version: 0, value: NO_VALUE, lease: NO_LEASE };
      this.#changes!.push(this.#change(entry, change, this.#revision + 1));
    }
    return entries.length;
  }

  // ---- loading ---------------------------------------------------------------------------------

  /**
   * Begins an empty store at a later revision. What was before `compacted` is not known; −1: nothing
   * was dropped.
   */
  startAt(revision: number, compacted: number): void {
    if (this.#revision === revision && this.#compacted === compacted) return;
    if (this.#revision !== 1) throw new RangeError("a base follows a revision");
    this.#revision = revision;
    this.#compacted = this.#swept = compacted;
    this.#logStart = revision + 1;
  }

  #skip(): void {
    this.#revision++;
    this.#log.push([]);
  }

  /** Adds a key as it was at the start. */
  loadKey(change: Change, modRevision: number, sub: number): Version {
    return this.#change(undefined, change, modRevision, sub);
  }

  /** Repeats the changes of a revision, the one after the last. */
  loadRevision(revision: number, changes: readonly Change[]): Changes {
    if (revision !== this.#revision + 1) {
      throw new RangeError(`revision ${revision} follows ${this.#revision}`);
    }
    this.begin();
    for (const change of changes) {
      this.#changes!.push(this.#change(this.#keys.get(change.key), change, revision));
    }
    // A compaction may have left nothing of its own revision.
    if (changes.length === 0) this.#skip();
    const made = this.end();
    // States this revision replaced were compacted with the ones before.
    if (revision === this.#compacted) made.forEach(({ entry }) => this.#forget(entry, revision));
    return made;
  }

  // ---- compaction ------------------------------------------------------------------------------

  /**
   * Ends the history before a revision, for good. What was there at it can still be read. The memory is
   * free after {@linkcode sweep}.
   *
   * @throws {ServerFault} COMPACTED, FUTURE_REVISION.
   */
  compact(revision: number): void {
    if (revision <= this.#compacted) throw new ServerFault("COMPACTED");
    if (revision > this.#revision) throw new ServerFault("FUTURE_REVISION");
    this.#compacted = revision;
  }

  /** Whether all states are dropped that were compacted. */
  get swept(): boolean {
    return this.#swept === this.#compacted;
  }

  /** Drops the states that were compacted. Before it ends, no other one may begin. */
  *sweep(): Work<void> {
    const revision = this.#compacted;
    // Only keys that changed since the last compaction can have a history to drop, each once: an entry
    // that is out of use then has changed no more, a key that came back has another.
    const first = Math.max(this.#logStart, this.#swept + 1);
    yield* this.walkChanges(first, revision, ({ entry }) => {
      if (entry.swept === revision) return;
      entry.swept = revision;
      this.#forget(entry, revision);
    });
    this.#log.splice(0, Math.max(0, revision - this.#logStart));
    this.#logStart = Math.max(this.#logStart, revision);
    this.#swept = revision;
  }

  /** Drops the states of a key that were replaced at a revision or before. */
  #forget(entry: KeyEntry, revision: number): void {
    let version: Version | null = entry.newest;
    while (version !== null && version.modRevision > revision) version = version.older;
    if (version === null) return;
    for (let gone = version.older; gone !== null; gone = gone.older) this.#bytes -= sizeOf(gone);
    version.older = null;
    if (version.version !== 0) return;
    this.#bytes -= sizeOf(version);
    if (version === entry.newest) {
      this.#keys.delete(entry.key);
      return;
    }
    let newer = entry.newest;
    while (newer.older !== version) newer = newer.older!;
    newer.older = null;
  }
}
