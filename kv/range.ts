/**
 * Ranges of keys. A range is its first key and the first key behind it; keys compare byte by byte.
 *
 * @module
 */

/**
 * As the end of a range: no end.
 */
export const NO_END: Uint8Array = new Uint8Array([0]);

/** As the end of a range: the one key alone. */
export const ONE_KEY: Uint8Array = new Uint8Array(0);

/** Less than 0 if `a` comes before `b`, 0 if they are the same key, more if it comes behind. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** Whether a key is behind `key`, or it, and before `rangeEnd`; without an end: whether it is `key`. */
export function isWithin(
  name: Uint8Array,
  key: Uint8Array,
  rangeEnd: Uint8Array | undefined,
): boolean {
  if (rangeEnd === undefined || rangeEnd.length === 0) return compareKeys(name, key) === 0;
  if (compareKeys(name, key) < 0) return false;
  return (rangeEnd.length === 1 && rangeEnd[0] === 0) || compareKeys(name, rangeEnd) < 0;
}

/** Keys from `key` on, up to and without `rangeEnd`; two special ends above. */
export interface KeyRange {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
}

/**
 * The first key behind all keys that begin with `prefix`: its last byte that can be raised is raised,
 * what follows is cut. If none can, nothing follows.
 */
export function prefixEnd(prefix: Uint8Array): Uint8Array {
  for (let i = prefix.length - 1; i >= 0; i--) {
    const byte = prefix[i]!;
    if (byte === 0xff) continue;
    const end = prefix.slice(0, i + 1);
    end[i] = byte + 1;
    return end;
  }
  return NO_END;
}

/** All keys that begin with `prefix`; all keys there are if it is empty. */
export function prefixRange(prefix: Uint8Array): KeyRange {
  // A range may not begin with the empty key: the least key there can be is one zero byte.
  if (prefix.length === 0) return { key: NO_END, rangeEnd: NO_END };
  return { key: prefix, rangeEnd: prefixEnd(prefix) };
}

/** `key` and all keys behind it. */
export function fromKeyRange(key: Uint8Array): KeyRange {
  return { key: key.length === 0 ? NO_END : key, rangeEnd: NO_END };
}
