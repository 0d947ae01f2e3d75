// A checksum of keys with their history, the same that etcd computes of the same history.

import { ALL_KEYS } from "./key_text.ts";
import { byRevision, type Mvcc, type Version } from "./mvcc.ts";
import { storedKey, storedValue } from "./stored.ts";
import { mapped, sorted, type Work } from "./work.ts";

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
export function* hashKeys(mvcc: Mvcc, revision: number): Work<number> {
  let crc = update(0xffffffff, new TextEncoder().encode("key"));
  const add = (version: Version): void => {
    crc = update(update(crc, storedKey(version)), storedValue(version));
  };
  const { compacted } = mvcc;
  const old: Version[] = [];
  let any = false;
  yield* mvcc.walk(ALL_KEYS, revision, (version) => {
    any = true;
    if (version.modRevision <= compacted) old.push(version);
  });
  if (!any) yield* mvcc.walk(ALL_KEYS, compacted, (version) => void old.push(version));
  const inOrder = yield* sorted(old, byRevision);
  yield* mapped(inOrder, add);
  yield* mvcc.walkChanges(Math.max(1, compacted) + 1, revision, add);
  return (crc ^ 0xffffffff) >>> 0;
}
