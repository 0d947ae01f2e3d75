// Puts, deletions and transactions on the keys.

import type {
  CompareMessage,
  DeleteMessage,
  HeaderMessage,
  PutMessage,
  RequestOpMessage,
  TxnMessage,
} from "../../wire.ts";
import { ServerFault } from "../fault.ts";
import { intervalOf, textOfKey } from "./key_text.ts";
import type { Mvcc, Version } from "./mvcc.ts";
import { compareBytes, keyValue, type RangeAnswer, readRange } from "./range.ts";

/** Whether a lease is there; leases are kept elsewhere. */
type LeaseLookup = (id: bigint) => boolean;

type Header = Pick<HeaderMessage, "revision">;
type KeyValueAnswer = ReturnType<typeof keyValue>;

/** The answer to a put. */
export interface PutAnswer {
  readonly header: Header;
  readonly prevKv?: KeyValueAnswer;
}

/** The answer to a deletion. */
export interface DeleteAnswer {
  readonly header: Header;
  readonly deleted: bigint;
  readonly prevKvs: readonly KeyValueAnswer[];
}

/** The answer to an operation inside a transaction. */
interface OpAnswer {
  readonly response:
    | { readonly case: "responseRange"; readonly value: RangeAnswer & { readonly header: Header } }
    | { readonly case: "responsePut"; readonly value: PutAnswer }
    | { readonly case: "responseDeleteRange"; readonly value: DeleteAnswer }
    | { readonly case: "responseTxn"; readonly value: TxnAnswer };
}

/** The answer to a transaction. */
export interface TxnAnswer {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly OpAnswer[];
}

const header = (mvcc: Mvcc): Header => ({ revision: BigInt(mvcc.revisionInside) });

/** Keeps a value alone, not the message it came in. */
const owned = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();

/** Checks a put against what is there. Throws LEASE_NOT_FOUND, KEY_NOT_FOUND. */
export function checkPutHere(mvcc: Mvcc, request: PutMessage, hasLease: LeaseLookup): void {
  checkLease(request, hasLease);
  checkKey(mvcc, request);
}

function checkLease({ lease }: PutMessage, hasLease: LeaseLookup): void {
  if (lease !== 0n && !hasLease(lease)) throw new ServerFault("LEASE_NOT_FOUND");
}

function checkKey(mvcc: Mvcc, { key, ignoreValue, ignoreLease }: PutMessage): void {
  if (!ignoreValue && !ignoreLease) return;
  if (mvcc.get(textOfKey(key)) === undefined) throw new ServerFault("KEY_NOT_FOUND");
}

/** Carries a checked put out, within a write. */
export function put(mvcc: Mvcc, request: PutMessage): PutAnswer {
  const key = textOfKey(request.key);
  const { ignoreValue, ignoreLease, prevKv } = request;
  const before = ignoreValue || ignoreLease || prevKv ? mvcc.get(key) : undefined;
  // It was there when the request was checked; an operation before this one may have deleted it.
  if (before === undefined && (ignoreValue || ignoreLease)) throw new ServerFault("KEY_NOT_FOUND");
  mvcc.put(
    key,
    ignoreValue ? before!.value : owned(request.value),
    ignoreLease ? before!.lease : request.lease,
  );
  const answer: PutAnswer = { header: header(mvcc) };
  return prevKv && before !== undefined ? { ...answer, prevKv: keyValue(before) } : answer;
}

/** Carries a deletion out, within a write. */
export function deleteRange(mvcc: Mvcc, request: DeleteMessage): DeleteAnswer {
  const interval = intervalOf(request.key, request.rangeEnd);
  const prevKvs: KeyValueAnswer[] = [];
  if (request.prevKv) {
    mvcc.range(interval, mvcc.revisionInside, (version) => {
      prevKvs.push(keyValue(version));
    });
  }
  const deleted = BigInt(mvcc.delete(interval));
  return { header: header(mvcc), deleted, prevKvs };
}

/** A key that is not there, to compare with. */
const ABSENT: Pick<Version, "version" | "createRevision" | "modRevision" | "lease"> = {
  version: 0,
  createRevision: 0,
  modRevision: 0,
  lease: 0n,
};

/** Numbers of `Compare.CompareTarget`. */
const VALUE = 3;
const LEASE = 4;
const TARGETS = ["version", "createRevision", "modRevision"] as const;
const NO_VALUE = new Uint8Array(0);

/** By the number of `Compare.CompareResult`; of others etcd says that they hold. */
const RESULTS: readonly ((order: number) => boolean)[] = [
  (order) => order === 0,
  (order) => order > 0,
  (order) => order < 0,
  (order) => order !== 0,
];

const orderOf = (a: bigint, b: bigint): number => a < b ? -1 : a > b ? 1 : 0;

function compares(compare: CompareMessage, version: Version | typeof ABSENT): boolean {
  const { target, targetUnion } = compare;
  const holds = RESULTS[compare.result];
  if (holds === undefined) return true;
  if (target === VALUE) {
    const given = targetUnion.case === "value" ? targetUnion.value : NO_VALUE;
    return holds(compareBytes("value" in version ? version.value : NO_VALUE, given));
  }
  if (target === LEASE) {
    const given = targetUnion.case === "lease" ? targetUnion.value : 0n;
    return holds(orderOf(version.lease, given));
  }
  const name = TARGETS[target];
  if (name === undefined) return holds(0);
  const given = targetUnion.case === name ? targetUnion.value : 0n;
  return holds(orderOf(BigInt(version[name]), given));
}

/** Whether a condition holds: for every key of its range, or for a key that is not there. */
function holds(mvcc: Mvcc, compare: CompareMessage): boolean {
  let any = false;
  let all = true;
  const interval = intervalOf(compare.key, compare.rangeEnd);
  mvcc.range(interval, mvcc.revision, (version) => {
    any = true;
    all = compares(compare, version);
    return all;
  });
  if (any) return all;
  // A value that is not there is neither equal nor unequal to any.
  return compare.target !== VALUE && compares(compare, ABSENT);
}

/** The list a transaction will carry out, and the same of those inside it, in their order. */
interface Path {
  readonly succeeded: boolean;
  readonly ops: readonly RequestOpMessage[];
  readonly inner: readonly Path[];
}

/** All conditions are judged on what was there before, those of inner transactions included. */
function pathOf(mvcc: Mvcc, request: TxnMessage): Path {
  const succeeded = request.compare.every((compare) => holds(mvcc, compare));
  const ops = succeeded ? request.success : request.failure;
  const inner = ops.flatMap(({ request }) =>
    request.case === "requestTxn" ? [pathOf(mvcc, request.value)] : []
  );
  return { succeeded, ops, inner };
}

/** Checks every operation that will be carried out before the first one is. */
function checkPath(mvcc: Mvcc, { ops, inner }: Path, hasLease: LeaseLookup): void {
  let next = 0;
  for (const { request } of ops) {
    if (request.case === "requestRange") checkRevision(mvcc, Number(request.value.revision));
    else if (request.case === "requestPut") {
      // The other way round than for a put alone.
      checkKey(mvcc, request.value);
      checkLease(request.value, hasLease);
    } else if (request.case === "requestTxn") checkPath(mvcc, inner[next++]!, hasLease);
  }
}

/** In a transaction a negative revision is not "latest", but one before all that was compacted. */
function checkRevision(mvcc: Mvcc, revision: number): void {
  if (revision === 0) return;
  if (revision > mvcc.revision) throw new ServerFault("FUTURE_REVISION");
  if (revision < mvcc.compacted) throw new ServerFault("COMPACTED");
}

function carryOut(mvcc: Mvcc, { ops, inner }: Path): OpAnswer[] {
  let next = 0;
  return ops.map(({ request }): OpAnswer => {
    switch (request.case) {
      case "requestRange": {
        const answer = readRange(mvcc, request.value);
        return { response: { case: "responseRange", value: { header: header(mvcc), ...answer } } };
      }
      case "requestPut":
        return { response: { case: "responsePut", value: put(mvcc, request.value) } };
      case "requestDeleteRange":
        return {
          response: { case: "responseDeleteRange", value: deleteRange(mvcc, request.value) },
        };
      case "requestTxn": {
        const path = inner[next++]!;
        const responses = carryOut(mvcc, path);
        // etcd leaves the revision out here.
        const value = { header: { revision: 0n }, succeeded: path.succeeded, responses };
        return { response: { case: "responseTxn", value } };
      }
    }
  });
}

/** Whether a transaction can change nothing. One inside another counts as a change. */
export function isReadOnly({ success, failure }: TxnMessage): boolean {
  const reads = ({ request }: RequestOpMessage): boolean => request.case === "requestRange";
  return success.every(reads) && failure.every(reads);
}

/**
 * Carries a transaction out, within a write: nothing of it if an operation cannot be.
 *
 * @throws {ServerFault} FUTURE_REVISION, COMPACTED, LEASE_NOT_FOUND, KEY_NOT_FOUND.
 */
export function txn(mvcc: Mvcc, request: TxnMessage, hasLease: LeaseLookup): TxnAnswer {
  const path = pathOf(mvcc, request);
  checkPath(mvcc, path, hasLease);
  const responses = carryOut(mvcc, path);
  return { header: header(mvcc), succeeded: path.succeeded, responses };
}
