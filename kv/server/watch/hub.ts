/**
 * Watches as places in the log of changes. Nothing is queued for one that is slow: it knows from which
 * revision on it has to look, and reads on when its reader is ready.
 *
 * @module
 */
import type { EventMessage } from "../../wire.ts";
import type { Interval } from "../store/key_text.ts";
import { type Mvcc, replacedBy, type Version } from "../store/mvcc.ts";
import { keyValue } from "../store/range.ts";
import { bytesOfKey } from "../store/key_text.ts";
import { IntervalTree } from "../store/interval_tree.ts";

/** Revisions with events one response holds at most, as in etcd. */
const MAX_REVISIONS = 1_000;

/** Revisions looked at for one response at most: others get their turn in between. */
const MAX_SCANNED = 20_000;

/** Bytes of keys and values after which a response takes no further revision. */
const ENOUGH_BYTES = 1 << 20;

/** Options of a watch. */
interface WatchOptions {
  readonly interval: Interval;
  /** The first revision to tell of; 0 is the next one. */
  readonly startRevision: number;
  readonly noPut: boolean;
  readonly noDelete: boolean;
  readonly prevKv: boolean;
  /** Called when there may be something to read where there was nothing before. */
  readonly onReady: () => void;
}

/** A step of a watch: events, or the compaction that ended it. */
export type WatchStep =
  | { readonly kind: "events"; readonly revision: number; readonly events: EventMessage[] }
  | { readonly kind: "compacted"; readonly compacted: number };

const NO_BYTES = new Uint8Array(0);

function eventOf(change: Version, prevKv: boolean, compacted: number): EventMessage {
  const { key, version, createRevision, modRevision } = change;
  const kv = version > 0 ? keyValue(change) : {
    key: bytesOfKey(key),
    createRevision: 0n,
    modRevision: BigInt(modRevision),
    version: 0n,
    value: NO_BYTES,
    lease: 0n,
  };
  const event: EventMessage = { type: version > 0 ? 0 : 1, kv };
  if (!prevKv || (version > 0 && createRevision === modRevision)) return event;
  const before = modRevision - 1 < compacted ? undefined : replacedBy(change);
  return before === undefined ? event : { ...event, prevKv: keyValue(before) };
}

const holds = ({ key, end }: Interval, one: string): boolean =>
  key <= one && (end === null || one < end);

/** A watch. */
export class Watcher {
  readonly #hub: WatchHub;
  readonly options: WatchOptions;
  /** The first revision that was not looked at. */
  #from: number;
  /** Whether something the watch has not read may be there. */
  #behind: boolean;

  /** Made by {@linkcode WatchHub.watch}. */
  constructor(hub: WatchHub, options: WatchOptions) {
    const { published } = hub;
    this.#hub = hub;
    this.options = options;
    this.#from = options.startRevision === 0 ? published + 1 : options.startRevision;
    this.#behind = this.#from <= published;
  }

  /** Whether all is read that was published, and the store has come to the start of the watch. */
  get synced(): boolean {
    return !this.#behind && this.options.startRevision <= this.#hub.published;
  }

  /** Whether there may be something to read. */
  get behind(): boolean {
    return this.#behind;
  }

  /** Takes notice of a change within the range. */
  touch(revision: number): void {
    if (this.#behind || revision < this.#from) return;
    this.#behind = true;
    this.#from = revision;
    this.options.onReady();
  }

  /** Reads on. `undefined`: nothing for now; `behind` says whether to ask again. */
  read(): WatchStep | undefined {
    const { mvcc, published } = this.#hub;
    const { interval, noPut, noDelete, prevKv } = this.options;
    const { compacted } = mvcc;
    if (!this.#behind) return undefined;
    if (this.#from < compacted) return { kind: "compacted", compacted };
    const events: EventMessage[] = [];
    const stop = Math.min(published, this.#from + MAX_SCANNED - 1);
    let revisions = 0;
    let bytes = 0;
    while (this.#from <= stop && revisions < MAX_REVISIONS && bytes < ENOUGH_BYTES) {
      const before = events.length;
      for (const change of mvcc.changesAt(this.#from)) {
        if (!holds(interval, change.key)) continue;
        if (change.version > 0 ? noPut : noDelete) continue;
        events.push(eventOf(change, prevKv, compacted));
        bytes += change.key.length + change.value.length;
      }
      if (events.length > before) revisions++;
      this.#from++;
    }
    this.#behind = this.#from <= published;
    this.#hub.told += events.length;
    // Like etcd: the store's revision, not that of the last event.
    return events.length === 0 ? undefined : { kind: "events", revision: published, events };
  }

  /** Ends the watch. */
  close(): void {
    this.#hub.forget(this);
  }
}

/** All watches of a store. */
export class WatchHub {
  readonly mvcc: Mvcc;
  /** Watches of one key. */
  readonly #byKey = new Map<string, Set<Watcher>>();
  readonly #byRange = new IntervalTree<Watcher>();
  /** Events that were told since the start. */
  told = 0;
  #published: number;
  #size = 0;

  /** Watches the changes of `mvcc` that are {@linkcode publish}ed. */
  constructor(mvcc: Mvcc) {
    this.mvcc = mvcc;
    this.#published = mvcc.revision;
  }

  /** How many watches there are. */
  get size(): number {
    return this.#size;
  }

  /** The last revision watches may know of. */
  get published(): number {
    return this.#published;
  }

  /** Begins a watch. */
  watch(options: WatchOptions): Watcher {
    const watcher = new Watcher(this, options);
    const { key, end } = options.interval;
    if (end === `${key}\0`) {
      const same = this.#byKey.get(key);
      if (same === undefined) this.#byKey.set(key, new Set([watcher]));
      else same.add(watcher);
    } else this.#byRange.add(options.interval, watcher);
    this.#size++;
    return watcher;
  }

  /** Forgets a watch that has ended. */
  forget(watcher: Watcher): void {
    const { interval } = watcher.options;
    if (interval.end === `${interval.key}\0`) {
      const same = this.#byKey.get(interval.key);
      if (!same?.delete(watcher)) return;
      if (same.size === 0) this.#byKey.delete(interval.key);
    } else this.#byRange.delete(interval, watcher);
    this.#size--;
  }

  /** Makes the changes up to a revision known. */
  publish(revision: number): void {
    while (this.#published < revision) {
      const at = ++this.#published;
      for (const { key } of this.mvcc.changesAt(at)) {
        this.#byKey.get(key)?.forEach((watcher) => watcher.touch(at));
        this.#byRange.visit(key, (watcher) => watcher.touch(at));
      }
    }
  }
}
