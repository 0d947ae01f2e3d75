/**
 * Masking (RFC 6455 §5.3).
 *
 * @module
 */

/** Below this many bytes a view of words costs more than it saves. */
const MIN_WORD_BYTES = 64;

const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/**
 * Takes the mask off `buf[start, end)` in place. `key` is the masking key as a little-endian word,
 * turned so that its lowest byte belongs to `buf[start]`; the return value is it for `buf[end]`.
 */
export function unmask(buf: Uint8Array, start: number, end: number, key: number): number {
  if (key === 0) return 0;
  let at = start;
  if (LITTLE_ENDIAN && end - start >= MIN_WORD_BYTES) {
    while (((buf.byteOffset + at) & 3) !== 0) {
      buf[at]! ^= key;
      at++;
      key = key >>> 8 | key << 24;
    }
    const words = new Uint32Array(buf.buffer, buf.byteOffset + at, (end - at) >> 2);
    for (let i = 0; i < words.length; i++) words[i]! ^= key;
    at += words.length << 2;
  }
  for (; at < end; at++) {
    buf[at]! ^= key;
    key = key >>> 8 | key << 24;
  }
  return key;
}
