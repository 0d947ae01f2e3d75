import { HpackError } from "./error.ts";

/*
 * An integer (RFC 7541 §5.1) begins in the low bits of an octet whose high bits say what it is:
 *
 *     0   1   2   3   4   5   6   7
 *   +---+---+---+---+---+---+---+---+
 *   | ?   ?   ? | 1   1   1   1   1 |   all ones: the rest follows, least significant group first
 *   +---+---+---+-------------------+
 *   | 1 |    value - (2^5-1), low 7 |   1: more octets follow
 *   +---+---------------------------+
 *   | 0 |    ... high 7             |
 *   +---+---------------------------+
 */

/** Where a decoder stands in a header block. Nothing at or past `end` is ever read. */
export interface Cursor {
  bytes: Uint8Array;
  at: number;
  end: number;
}

/**
 * The largest integer accepted. Nothing in a header block has a use for more.
 *
 * @internal
 */
export const MAX_INTEGER = 0x7fff_ffff;

/** Octets an integer may have after its prefix: five hold 35 bits, enough for every value allowed. */
const MAX_CONTINUATION_OCTETS = 5;

/** Octets {@linkcode encodeInteger} writes at most, prefix included. */
export const MAX_INTEGER_OCTETS: number = 1 + MAX_CONTINUATION_OCTETS;

/**
 * Reads the integer whose prefix is the low `prefixBits` bits of the octet at the cursor, and moves
 * the cursor past it.
 *
 * @throws {HpackError} If the block ends first, or the value or its length is over the limit.
 */
export function decodeInteger(cursor: Cursor, prefixBits: number): number {
  const { bytes, end } = cursor;
  let at = cursor.at;
  if (at >= end) throw new HpackError("Header block ends where an integer must begin");
  const prefix = (1 << prefixBits) - 1;
  let value = bytes[at++]! & prefix;
  if (value === prefix) {
    let scale = 1;
    let octet: number;
    const limit = at + MAX_CONTINUATION_OCTETS;
    do {
      if (at === end) throw new HpackError("Header block ends inside an integer");
      // RFC 7541 §5.1: "Integer encodings that exceed implementation limits -- in value or octet
      // length -- MUST be treated as decoding errors."
      if (at === limit) {
        throw new HpackError(
          `Integer must have at most ${MAX_CONTINUATION_OCTETS} bytes after its prefix`,
        );
      }
      octet = bytes[at++]!;
      value += (octet & 0x7f) * scale;
      scale *= 128;
    } while (octet >= 0x80);
    if (value > MAX_INTEGER) {
      throw new HpackError(`Integer must be at most ${MAX_INTEGER}: got ${value}`);
    }
  }
  cursor.at = at;
  return value;
}

/**
 * Writes `value` with a prefix of `prefixBits` bits; `pattern` holds the bits above the prefix.
 * Returns the offset after the integer.
 */
export function encodeInteger(
  out: Uint8Array,
  offset: number,
  pattern: number,
  prefixBits: number,
  value: number,
): number {
  const prefix = (1 << prefixBits) - 1;
  if (value < prefix) {
    out[offset] = pattern | value;
    return offset + 1;
  }
  out[offset++] = pattern | prefix;
  let rest = value - prefix;
  while (rest >= 0x80) {
    out[offset++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  out[offset++] = rest;
  return offset;
}
