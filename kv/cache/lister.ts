import type { Keyspace } from "../keyspace.ts";
import type { Bytes } from "../types.ts";
import { Entry, KeyStore } from "./store.ts";

/** Keys of the first page: their values may be large. */
const FIRST_PAGE = 100;

/** Keys of a page at most. */
const MAX_PAGE = 10_000;

/** Bytes a page should have. */
const PAGE_BYTES = 4 << 20;

/** All keys of a prefix at one revision. */
interface Listing {
  readonly store: KeyStore;
  readonly revision: bigint;
}

/**
 * Reads all keys of a prefix as they are at one revision, page after page.
 *
 * @throws {CompactedError} If the revision is compacted before all are read.
 */
export async function list(
  keyspace: Keyspace,
  prefix: Bytes,
  rangeEnd: Uint8Array,
  signal: AbortSignal,
  check: (store: KeyStore) => void,
): Promise<Listing> {
  const store = new KeyStore();
  let revision = 0n;
  let limit = FIRST_PAGE;
  for (let key: Bytes = prefix;;) {
    const { header, kvs, more } = await keyspace.get({ key, rangeEnd, limit, revision }, {
      signal,
    });
    if (revision === 0n) revision = header.revision;
    let bytes = 0;
    for (const kv of kvs) {
      bytes += kv.keyBytes.length + kv.valueBytes.length;
      store.put(new Entry(kv));
    }
    check(store);
    const last = kvs[kvs.length - 1];
    if (!more || last === undefined) return { store, revision };
    // The first key there can be behind the last one.
    const next = new Uint8Array(last.keyBytes.length + 1);
    next.set(last.keyBytes);
    key = next;
    if (bytes > PAGE_BYTES) limit = Math.max(1, limit >> 1);
    else if (bytes * 2 < PAGE_BYTES) limit = Math.min(MAX_PAGE, limit * 2);
  }
}
