// A checksum of keys with their history, the same that etcd computes of the same history.

import type { Mvcc, Version } from "./mvcc.ts";
import { storedKey, storedValue } from "./stored.ts";

/** CRC-32C (RFC 3720 appendix B.4), by a table of 256. */
const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

function update(crc: number, bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[i]!) & 0xff]!;
  return crc;
}

/**
 * The checksum of everything up to a revision. Of what is as old as the compaction, only states count
 * that are still there at that revision; if no key is, all of them.
 */
export function hashKeys(mvcc: Mvcc, revision: number): number {
  let crc = update(0xffffffff, new TextEncoder().encode("key"));
  const add = (version: Version): void => {
    crc = update(update(crc, storedKey(version)), storedValue(version));
  };
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
  for (const version of old) add(version);
  for (let at = Math.max(1, compacted) + 1; at <= revision; at++) {
    for (const change of mvcc.changesAt(at)) add(change);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
