// Reads of ranges: limits, filters and orders.

import type { KeyValueMessage, RangeMessage } from "../../wire.ts";
import { bytesOfKey, intervalOf } from "./key_text.ts";
import type { Mvcc, Version } from "./mvcc.ts";
import { finish, mapped, sorted, type Work } from "./work.ts";

/** Numbers of `RangeRequest.SortOrder`. */
const NONE = 0;
const DESCEND = 2;

/** Numbers of `RangeRequest.SortTarget`. */
const KEY = 0;

const NO_VALUE = new Uint8Array(0);

/** A state of a key as a message. */
export function keyValue(version: Version, withValue = true): KeyValueMessage {
  return {
    key: bytesOfKey(version.key),
    createRevision: BigInt(version.createRevision),
    modRevision: BigInt(version.modRevision),
    version: BigInt(version.version),
    value: withValue ? version.value : NO_VALUE,
    lease: version.lease,
  };
}

/** Compares bytes as etcd does: by the first that differ, then by length. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return a.length - b.length;
}

const compareKeys = (a: Version, b: Version): number => a.key < b.key ? -1 : a.key > b.key ? 1 : 0;

/** By the number of `RangeRequest.SortTarget`. */
const COMPARE: readonly ((a: Version, b: Version) => number)[] = [
  compareKeys,
  (a, b) => a.version - b.version,
  (a, b) => a.createRevision - b.createRevision,
  (a, b) => a.modRevision - b.modRevision,
  (a, b) => compareBytes(a.value, b.value),
];

/** Whether a request has a number that is no order or no target. */
export function sortIsKnown({ sortOrder, sortTarget }: RangeMessage): boolean {
  return sortOrder >= NONE && sortOrder <= DESCEND && COMPARE[sortTarget] !== undefined;
}

/** The test of the four bounds on revisions, if a request has any. 0 is no bound. */
function filterOf(request: RangeMessage): ((version: Version) => boolean) | undefined {
  const minMod = Number(request.minModRevision);
  const maxMod = Number(request.maxModRevision);
  const minCreate = Number(request.minCreateRevision);
  const maxCreate = Number(request.maxCreateRevision);
  if (minMod === 0 && maxMod === 0 && minCreate === 0 && maxCreate === 0) return undefined;
  return ({ modRevision, createRevision }) =>
    (minMod === 0 || modRevision >= minMod) && (maxMod === 0 || modRevision <= maxMod) &&
    (minCreate === 0 || createRevision >= minCreate) &&
    (maxCreate === 0 || createRevision <= maxCreate);
}

/** The order a request asks for; undefined if it is that of the keys anyway. */
function orderOf({ sortOrder, sortTarget }: RangeMessage) {
  const compare = COMPARE[sortTarget]!;
  if (sortOrder === DESCEND) return (a: Version, b: Version): number => compare(b, a);
  return sortTarget === KEY ? undefined : compare;
}

/** The answer to a range, without the header. */
export interface RangeAnswer {
  readonly kvs: readonly KeyValueMessage[];
  readonly more: boolean;
  readonly count: bigint;
}

/**
 * Reads a range. `count` is that of all keys there; limit and filters do not change it.
 *
 * @throws {ServerFault} FUTURE_REVISION, COMPACTED.
 */
export function readRange(mvcc: Mvcc, request: RangeMessage): RangeAnswer {
  return finish(rangeWork(mvcc, request));
}

/** Reads a range like {@linkcode readRange}, in portions. */
export function* rangeWork(mvcc: Mvcc, request: RangeMessage): Work<RangeAnswer> {
  const revision = mvcc.readable(Number(request.revision));
  const interval = intervalOf(request.key, request.rangeEnd);
  let count = 0;
  if (request.countOnly) {
    yield* mvcc.walk(interval, revision, () => {
      count++;
    });
    return { kvs: [], more: false, count: BigInt(count) };
  }
  const limit = request.limit > 0n ? Number(request.limit) : Infinity;
  const filter = filterOf(request);
  const order = orderOf(request);
  // Keys beyond the limit are counted and not kept, unless an order was asked for by name: like
  // etcd, which with none cuts first and sorts then.
  const asked = request.sortOrder !== NONE && order !== undefined;
  const enough = filter === undefined && !asked ? limit : Infinity;
  const all: Version[] = [];
  yield* mvcc.walk(interval, revision, (version) => {
    count++;
    if (all.length <= enough && (filter === undefined || filter(version))) all.push(version);
  });
  let found: readonly Version[] = order === undefined ? all : yield* sorted(all, order);
  const more = found.length > limit;
  if (more) found = found.slice(0, limit);
  const kvs = yield* mapped(found, (version) => keyValue(version, !request.keysOnly));
  return { kvs, more, count: BigInt(count) };
}
