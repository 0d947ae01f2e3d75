/**
 * Keys as strings of one code unit a byte: they compare as their bytes do, and serve as keys of maps.
 *
 * @module
 */

/** Arguments a call may have; longer keys are written in pieces. */
const PIECE = 4096;

/** The bytes of a key as a string. */
export function textOfKey(bytes: Uint8Array): string {
  if (bytes.length <= PIECE) return String.fromCharCode.apply(null, bytes as unknown as number[]);
  let text = "";
  for (let i = 0; i < bytes.length; i += PIECE) {
    text += String.fromCharCode.apply(null, bytes.subarray(i, i + PIECE) as unknown as number[]);
  }
  return text;
}

/** The bytes of a key that is a string. */
export function bytesOfKey(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Keys from `key` on, up to and without `end`; `null` is no end. */
export interface Interval {
  readonly key: string;
  readonly end: string | null;
}

/** All keys. */
export const ALL_KEYS: Interval = { key: "", end: null };

/** The keys a request names: none for the end is the key alone, one zero byte is no end. */
export function intervalOf(key: Uint8Array, rangeEnd: Uint8Array): Interval {
  const text = textOfKey(key);
  if (rangeEnd.length === 0) return { key: text, end: `${text}\0` };
  if (rangeEnd.length === 1 && rangeEnd[0] === 0) return { key: text, end: null };
  return { key: text, end: textOfKey(rangeEnd) };
}
