// Checks of requests that need no look at the keys.

import type {
  DeleteMessage,
  PutMessage,
  RangeMessage,
  RequestOpMessage,
  TxnMessage,
} from "../../wire.ts";
import { ServerFault } from "../fault.ts";
import { IntervalTree } from "./interval_tree.ts";
import { type Interval, textOfKey } from "./key_text.ts";
import { sortIsKnown } from "./range.ts";

/** Checks a range. Throws KEY_NOT_PROVIDED, INVALID_SORT_OPTION. */
export function checkRange(request: RangeMessage): void {
  if (request.key.length === 0) throw new ServerFault("KEY_NOT_PROVIDED");
  if (!sortIsKnown(request)) throw new ServerFault("INVALID_SORT_OPTION");
}

/** Checks a put. Throws KEY_NOT_PROVIDED, VALUE_PROVIDED, LEASE_PROVIDED. */
export function checkPut(request: PutMessage): void {
  if (request.key.length === 0) throw new ServerFault("KEY_NOT_PROVIDED");
  if (request.ignoreValue && request.value.length > 0) throw new ServerFault("VALUE_PROVIDED");
  if (request.ignoreLease && request.lease !== 0n) throw new ServerFault("LEASE_PROVIDED");
}

/** Checks a deletion. Throws KEY_NOT_PROVIDED. */
export function checkDelete(request: DeleteMessage): void {
  if (request.key.length === 0) throw new ServerFault("KEY_NOT_PROVIDED");
}

/**
 * Checks a transaction: `maxOps` bounds each of its lists, and those of transactions inside it
 * together with them; no key may be changed twice.
 *
 * Throws TOO_MANY_OPS, DUPLICATE_KEY, KEY_NOT_FOUND for an operation that is none, and what the
 * operations throw.
 */
export function checkTxn(request: TxnMessage, maxOps: number): void {
  checkOps(request, maxOps);
  checkOverlap(request.success);
  checkOverlap(request.failure);
}

function checkOps({ compare, success, failure }: TxnMessage, maxOps: number): void {
  const used = Math.max(compare.length, success.length, failure.length);
  if (used > maxOps) throw new ServerFault("TOO_MANY_OPS");
  for (const { key } of compare) {
    if (key.length === 0) throw new ServerFault("KEY_NOT_PROVIDED");
  }
  for (const op of success) checkOp(op, maxOps - used);
  for (const op of failure) checkOp(op, maxOps - used);
}

function checkOp({ request }: RequestOpMessage, maxOps: number): void {
  switch (request.case) {
    case "requestRange":
      return checkRange(request.value);
    case "requestPut":
      return checkPut(request.value);
    case "requestDeleteRange":
      return checkDelete(request.value);
    case "requestTxn":
      return checkOps(request.value, maxOps);
    default:
      throw new ServerFault("KEY_NOT_FOUND");
  }
}

/** Keys and ranges that a list of operations changes, whichever of inner lists is carried out. */
interface Touched {
  readonly puts: Set<string>;
  readonly deletions: Interval[];
}

/** Finds puts of one key twice, and puts into a range that is deleted. Throws DUPLICATE_KEY. */
function checkOverlap(ops: readonly RequestOpMessage[]): Touched {
  const puts = new Set<string>();
  const deletions: Interval[] = [];
  // A tree: a request may have tens of thousands of deletions, and as many puts to hold against them.
  const deleted = new IntervalTree<true>();
  const remove = (interval: Interval): void => {
    deletions.push(interval);
    deleted.add(interval, true);
  };
  const put = (key: string): void => {
    if (deleted.has(key)) throw new ServerFault("DUPLICATE_KEY");
    puts.add(key);
  };
  for (const { request } of ops) {
    if (request.case !== "requestDeleteRange") continue;
    const key = textOfKey(request.value.key);
    const { rangeEnd } = request.value;
    // As it is written: etcd does not take one zero byte for "no end" here.
    remove({ key, end: rangeEnd.length === 0 ? `${key}\0` : textOfKey(rangeEnd) });
  }
  for (const { request } of ops) {
    if (request.case !== "requestTxn") continue;
    const success = checkOverlap(request.value.success);
    const failure = checkOverlap(request.value.failure);
    for (const key of success.puts) {
      if (puts.has(key)) throw new ServerFault("DUPLICATE_KEY");
      put(key);
    }
    for (const key of failure.puts) {
      // One of the two lists is carried out: they may put the same key.
      if (puts.has(key) && !success.puts.has(key)) throw new ServerFault("DUPLICATE_KEY");
      put(key);
    }
    success.deletions.forEach(remove);
    failure.deletions.forEach(remove);
  }
  for (const { request } of ops) {
    if (request.case !== "requestPut") continue;
    const key = textOfKey(request.value.key);
    if (puts.has(key)) throw new ServerFault("DUPLICATE_KEY");
    put(key);
  }
  return { puts, deletions };
}
