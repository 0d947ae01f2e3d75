/**
 * State of one watch: revisions seen, and where it goes on after a break. No I/O: responses go in, their
 * meaning comes out.
 *
 * ```text
 * start revision 5, three changes of one key, the connection breaks, the watch is made again:
 *
 *   create 5 ─► created, header 9   the store is at 9; nothing has been delivered: go on at 5
 *            ─► event 5, header 9   go on at 6. (Not at 10: that would lose the other two.)
 *            ✗
 *   create 6 ─► created, header 9
 *            ─► events 7, 9         go on at 10
 *            ─► progress, header 12 nothing came since: go on at 13
 * ```
 *
 * @module
 */
import { cancelError, CompactedError, HistoryLostError, type KvError, misfit } from "../errors.ts";
import type { EventMessage, WatchResult } from "../wire.ts";

/** Meaning of a response for its watch. */
export type Step =
  /** Nothing to deliver: a piece of a response, or events from before the start. */
  | { readonly kind: "none" }
  /** The watch is in place. */
  | { readonly kind: "created"; readonly revision: bigint }
  /** Everything up to the header's revision was delivered. */
  | { readonly kind: "progress"; readonly result: WatchResult }
  /** Events to deliver, complete revisions only. */
  | {
    readonly kind: "events";
    readonly result: WatchResult;
    readonly events: readonly EventMessage[];
  }
  /** The watch is over. */
  | { readonly kind: "failed"; readonly error: KvError }
  /** The member's store is behind what was seen: either it lags, or history was lost. */
  | { readonly kind: "behind"; readonly revision: bigint };

const NONE: Step = { kind: "none" };

/**
 * Bytes that the pieces of one revision may have together. etcd takes some 128 operations of 1.5 MiB
 * in a transaction, and deletions of any number of keys.
 */
const MAX_REVISION_BYTES = 0x7fff_ffff;

/** No store gets there, and nothing could come behind it. */
const MAX_REVISION = 2n ** 63n - 1n;

/** See the module. */
export class WatchState {
  /** The first revision wanted. */
  readonly start: bigint;
  /** Events from this revision on are still to come; where a new stream has to start. */
  next: bigint;
  /** The highest revision the store is known to have reached. */
  seen: bigint;
  /** The cluster; 0n until it is known. */
  clusterId: bigint;
  /** Events of a revision that is not complete. */
  #pieces: EventMessage[] = [];
  #size = 0;

  /** `next` is the first revision wanted; `seen` and `clusterId` come from a read made just before. */
  constructor(next: bigint, seen: bigint, clusterId: bigint) {
    this.start = next;
    this.next = next;
    this.seen = seen;
    this.clusterId = clusterId;
  }

  /** The stream broke: pieces of a revision are worth nothing without the rest. */
  interrupt(): void {
    this.#pieces = [];
    this.#size = 0;
  }

  /** Takes one response of this watch. */
  advance(result: WatchResult): Step {
    const { clusterId = 0n, revision = 0n } = result.header ?? {};
    if (revision < 0n || revision >= MAX_REVISION) {
      return failed(misfit(`the store is at revision ${revision}`));
    }
    if (clusterId !== 0n) {
      if (this.clusterId === 0n) this.clusterId = clusterId;
      else if (clusterId !== this.clusterId) {
        return failed(
          new HistoryLostError(
            `the watch followed cluster ${this.clusterId.toString(16)}, and now ${
              clusterId.toString(16)
            } answers`,
            "cluster",
          ),
        );
      }
    }
    if (result.canceled) return this.#canceled(result);
    if (result.created) {
      if (revision < this.seen) return { kind: "behind", revision };
      this.seen = revision;
      return { kind: "created", revision };
    }
    if (result.events.length === 0 && !result.fragment && this.#pieces.length === 0) {
      return this.#progress(result, revision);
    }
    return this.#events(result, revision);
  }

  #canceled(result: WatchResult): Step {
    this.interrupt();
    const { compactRevision, cancelReason } = result;
    if (compactRevision === 0n) return failed(cancelError(cancelReason));
    return failed(
      new CompactedError(
        `cannot watch from revision ${this.next}: history before ${compactRevision} was compacted`,
        compactRevision,
      ),
    );
  }

  #progress(result: WatchResult, revision: bigint): Step {
    // Only here is the header's revision about this watch: in all other responses it is the store's.
    if (revision > this.seen) this.seen = revision;
    if (revision >= this.next) this.next = revision + 1n;
    return { kind: "progress", result };
  }

  #events(result: WatchResult, revision: bigint): Step {
    let { events } = result;
    const fault = faultOf(events);
    if (fault !== undefined) return failed(misfit(fault));
    if (result.fragment || this.#pieces.length > 0) {
      events = this.#complete(result);
      if (this.#size > MAX_REVISION_BYTES) {
        return failed(
          cancelError(`the events of one revision are larger than ${MAX_REVISION_BYTES} bytes`),
        );
      }
    }
    if (events.length === 0) return NONE;
    // A member that fell behind may send what another one sent already.
    const fresh = events.filter((event) => event.kv!.modRevision >= this.next);
    if (fresh.length === 0) return NONE;
    const last = fresh[fresh.length - 1]!.kv!.modRevision;
    this.next = last + 1n;
    if (revision > this.seen) this.seen = revision;
    if (last > this.seen) this.seen = last;
    return { kind: "events", result, events: fresh };
  }

  /**
   * Takes a piece of a response. Returns the events of revisions that are complete: all with the last
   * piece, else those before the last event's. What is kept is of one revision.
   */
  #complete({ events, fragment }: WatchResult): readonly EventMessage[] {
    const kept = this.#pieces;
    if (!fragment) {
      this.interrupt();
      return [...kept, ...events];
    }
    const last = revisionOf(events[events.length - 1]);
    if (last === undefined) return [];
    if (revisionOf(kept[0]) === last) {
      for (const event of events) this.#keep(event);
      return [];
    }
    const end = events.findIndex(({ kv }) => kv!.modRevision === last);
    this.interrupt();
    for (const event of events.slice(end)) this.#keep(event);
    return [...kept, ...events.slice(0, end)];
  }

  #keep(event: EventMessage): void {
    this.#pieces.push(event);
    this.#size += sizeOf(event);
  }
}

/** Says if events are not what can be told on: in the order of their revisions, each of a key. */
function faultOf(events: readonly EventMessage[]): string | undefined {
  let last = 0n;
  for (const { kv } of events) {
    if (kv === undefined) return "an event without a key";
    if (kv.modRevision < last) return "events that are not in order";
    last = kv.modRevision;
  }
  return last < MAX_REVISION ? undefined : `an event of revision ${last}`;
}

function revisionOf(event: EventMessage | undefined): bigint | undefined {
  return event?.kv?.modRevision;
}

/** Bytes an event holds, more or less. */
export function sizeOf({ kv, prevKv }: EventMessage): number {
  let size = kv!.key.length + kv!.value.length;
  if (prevKv !== undefined) size += prevKv.key.length + prevKv.value.length;
  // Once as bytes, once as text.
  return EVENT_OVERHEAD + 2 * size;
}

/** Bytes that the objects of an event take besides its own. */
const EVENT_OVERHEAD = 256;

function failed(error: KvError): Step {
  return { kind: "failed", error };
}
