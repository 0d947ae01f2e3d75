// A checksum of keys with their history, the same that etcd computes of the same history.

import type { Mvcc, Version } from "./mvcc.ts";

/** CRC-32C (RFC 3720 appendix B.4), by a table of 256. */
const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

class Crc {
  #crc = 0xffffffff;

  byte(value: number): void {
    this.#crc = (this.#crc >>> 8) ^ TABLE[(this.#crc ^ value) & 0xff]!;
  }

  bytes(values: Uint8Array): void {
    for (let i = 0; i < values.length; i++) this.byte(values[i]!);
  }

  text(value: string): void {
    for (let i = 0; i < value.length; i++) this.byte(value.charCodeAt(i));
  }

  /** Eight bytes, the highest first. */
  uint64(value: number): void {
    const high = Math.floor(value / 0x1_0000_0000);
    for (const half of [high, value >>> 0]) {
      for (let shift = 24; shift >= 0; shift -= 8) this.byte((half >>> shift) & 0xff);
    }
  }

  /** A number as protobuf writes it. */
  varint(value: bigint): void {
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.byte(Number(rest));
  }

  get sum(): number {
    return (this.#crc ^ 0xffffffff) >>> 0;
  }
}

/** A state as etcd keeps it: under its revision, as a `mvccpb.KeyValue`. */
function add(crc: Crc, { key, modRevision, sub, createRevision, version, value, lease }: Version) {
  crc.uint64(modRevision);
  crc.text("_");
  crc.uint64(sub);
  if (version === 0) crc.text("t");
  const bytes = (field: number, length: number): void => {
    crc.byte((field << 3) | 2);
    crc.varint(BigInt(length));
  };
  const number = (field: number, value: bigint): void => {
    if (value === 0n) return;
    crc.byte(field << 3);
    crc.varint(value);
  };
  bytes(1, key.length);
  crc.text(key);
  if (version === 0) return;
  number(2, BigInt(createRevision));
  number(3, BigInt(modRevision));
  number(4, BigInt(version));
  if (value.length > 0) {
    bytes(5, value.length);
    crc.bytes(value);
  }
  number(6, lease);
}

/**
 * The checksum of everything up to a revision. Of what is as old as the compaction, only states count
 * that are still there at that revision; if no key is, all of them.
 */
export function hashKeys(mvcc: Mvcc, revision: number): number {
  const crc = new Crc();
  crc.text("key");
  const { compacted } = mvcc;
  const old: Version[] = [];
  let any = false;
  mvcc.range({ key: "", end: null }, revision, (version) => {
    any = true;
    if (version.modRevision <= compacted) old.push(version);
  });
  if (!any) {
    mvcc.oldest("", compacted, Infinity, (version) => old.push(version));
  }
  old.sort((a, b) => a.modRevision - b.modRevision || a.sub - b.sub);
  for (const version of old) add(crc, version);
  for (let at = Math.max(1, compacted) + 1; at <= revision; at++) {
    for (const change of mvcc.changesAt(at)) add(crc, change);
  }
  return crc.sum;
}
