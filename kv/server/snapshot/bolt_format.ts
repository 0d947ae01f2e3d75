/**
 * The file format of bbolt, which etcd keeps its data in: pages of a B+ tree, little-endian.
 * {@link https://github.com/etcd-io/bbolt/tree/main/internal/common}
 *
 * @module
 */

/** Bytes of a page in files that are written; files with others are read. */
export const PAGE_BYTES = 4096;

/** Bytes in front of each page: id, flags, count of elements, pages that belong to it. */
export const PAGE_HEADER = 16;

/** Bytes of an element of a page, the keys and values come behind all of them. */
export const ELEMENT = 16;

/** Flags of pages. */
export const BRANCH = 0x01;
export const LEAF = 0x02;
export const META = 0x04;
export const FREE_LIST = 0x10;

/** Flag of an element of a leaf whose value is a bucket: the page of its root, and a number. */
export const BUCKET = 0x01;

/** Bytes of a bucket's value. */
export const BUCKET_HEADER = 16;

/** First bytes of a meta page's content, and the version that follows. */
export const MAGIC = 0xed0cdaed;
export const FORMAT_VERSION = 2;

/** Bytes of a meta page's content before its checksum. */
export const META_BYTES = 56;

/** FNV-1a of 64 bits, the checksum of meta pages. */
export function fnv64(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash;
}
