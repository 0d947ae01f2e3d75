// States of keys as etcd keeps them in its file: under their revision, as `mvccpb.KeyValue`.

import type { Version } from "./mvcc.ts";

/** Bytes of a revision: two numbers of 64 bits and a mark between them. */
const REVISION_BYTES = 17;

const UNDERSCORE = 0x5f;
const TOMBSTONE = 0x74;

/** A revision, and a place within it, as a key of etcd's file. */
export function revisionKey(revision: number, sub: number, deleted = false): Uint8Array {
  const bytes = new Uint8Array(REVISION_BYTES + (deleted ? 1 : 0));
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(revision));
  bytes[8] = UNDERSCORE;
  view.setBigUint64(9, BigInt(sub));
  if (deleted) bytes[REVISION_BYTES] = TOMBSTONE;
  return bytes;
}

/** The key of a state in etcd's file: its revision, its place within it, `t` for a deletion. */
export function storedKey({ modRevision, sub, version }: Version): Uint8Array {
  return revisionKey(modRevision, sub, version === 0);
}

/** The revision and the place in it that a key of etcd's file stands for. */
export function readStoredKey(
  bytes: Uint8Array,
): { readonly revision: number; readonly sub: number; readonly deleted: boolean } {
  if (bytes.length < REVISION_BYTES) throw new RangeError("a revision is too short");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    revision: Number(view.getBigUint64(0)),
    sub: Number(view.getBigUint64(9)),
    deleted: bytes[REVISION_BYTES] === TOMBSTONE,
  };
}

/** Bytes of a field's number and of any number as protobuf writes it, at most. */
const MAX_FIELD_BYTES = 11;

/** The value of a state in etcd's file. A deletion has the key alone. */
export function storedValue(state: Version): Uint8Array {
  const { key, modRevision, createRevision, version, value, lease } = state;
  const bytes = new Uint8Array(6 * MAX_FIELD_BYTES + key.length + value.length);
  let at = 0;
  const varint = (value: bigint): void => {
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) bytes[at++] = Number(rest & 0x7fn) | 0x80;
    bytes[at++] = Number(rest);
  };
  const number = (field: number, value: bigint): void => {
    if (value === 0n) return;
    bytes[at++] = field << 3;
    varint(value);
  };
  const length = (field: number, length: number): void => {
    bytes[at++] = (field << 3) | 2;
    varint(BigInt(length));
  };
  length(1, key.length);
  for (let i = 0; i < key.length; i++) bytes[at++] = key.charCodeAt(i);
  if (version === 0) return bytes.subarray(0, at);
  number(2, BigInt(createRevision));
  number(3, BigInt(modRevision));
  number(4, BigInt(version));
  if (value.length > 0) {
    length(5, value.length);
    bytes.set(value, at);
    at += value.length;
  }
  number(6, lease);
  return bytes.subarray(0, at);
}
