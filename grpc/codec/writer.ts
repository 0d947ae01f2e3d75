import type { UnknownField } from "@bufbuild/protobuf";
import { MISMATCH } from "./error.ts";

/*
 * Writers into one scratch buffer that all codecs share. Each takes the position to write at and returns the
 * position after. Those that write values of no fixed size make room themselves, and for `spare` bytes more.
 */

/** Size the scratch starts with, and returns to after a message larger than {@linkcode SCRATCH_KEPT_BYTES}. */
export const SCRATCH_BYTES = 65_536;

/** Largest scratch that is kept from one message to the next: room for one message of gRPC's usual limit. */
export const SCRATCH_KEPT_BYTES = 8_388_608;

/** Protobuf's limit on a message (protobuf.dev/programming-guides/proto-limits). */
export const MESSAGE_LIMIT_BYTES = 2_147_483_647;

/** The scratch. Generated code reads `bytes` again after each call that may make it grow. */
export const scratch: { bytes: Uint8Array; busy: boolean } = {
  bytes: new Uint8Array(SCRATCH_BYTES),
  busy: false,
};

/** Largest result whose view is kept for the next result of the same size, as making one costs more than it holds. */
const VIEW_BYTES = 1_024;

const smallest = scratch.bytes;
const views: (Uint8Array | undefined)[] = new Array(VIEW_BYTES + 1).fill(undefined);
let viewed = smallest;

/** The first `size` bytes of the scratch, as the result of an encode. A scratch grown too large is then let go. */
export function viewOf(size: number): Uint8Array {
  const b = scratch.bytes;
  if (b.length > SCRATCH_KEPT_BYTES) scratch.bytes = smallest;
  if (size > VIEW_BYTES) return b.subarray(0, size);
  if (b !== viewed) {
    views.fill(undefined);
    viewed = b;
  }
  return views[size] ??= b.subarray(0, size);
}

/** Makes the scratch at least `size` bytes large and returns it. What is written stays. */
export function grow(size: number): Uint8Array {
  if (size > MESSAGE_LIMIT_BYTES) {
    throw new RangeError(
      `Cannot encode message as it must be <= ${MESSAGE_LIMIT_BYTES} bytes: it is larger`,
    );
  }
  // The scratch has no bytes at all if a caller has transferred the buffer of a result.
  let length = Math.max(scratch.bytes.length, SCRATCH_BYTES);
  while (length < size) length *= 2;
  const bytes = new Uint8Array(length);
  if (scratch.bytes.length > 0) bytes.set(scratch.bytes);
  return scratch.bytes = bytes;
}

/** Writes a number of at most 32 bits as a varint. There must be room for 5 bytes. */
export function varint32(o: number, value: number): number {
  const b = scratch.bytes;
  while (value > 127) {
    b[o++] = (value & 127) | 128;
    value >>>= 7;
  }
  b[o++] = value;
  return o;
}

/** Writes an int32 as a varint; negative ones take 10 bytes, as if they were 64 bits wide. */
export function int32(o: number, value: number): number {
  if (value >= 0) return varint32(o, value);
  words[LOW] = value;
  words[HIGH] = -1;
  return varint64(o);
}

// One 8-byte cell seen as every type. Words are stored where the host's byte order has them.
const cell = new ArrayBuffer(8);
const words = new Int32Array(cell);
const floats = new Float32Array(cell);
const doubles = new Float64Array(cell);
const signed = new BigInt64Array(cell);
const unsigned = new BigUint64Array(cell);
const LOW = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

const DECIMAL = /^-?[0-9]+$/;

/** The bigint a value of a 64-bit field stands for: a bigint, a safe integer, or a decimal string. */
export function toBigInt(value: unknown): bigint | undefined {
  switch (typeof value) {
    case "bigint":
      return value;
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : undefined;
    case "string":
      // Long strings are refused before they are parsed: 20 digits and a sign hold every 64-bit number.
      return value.length <= 21 && DECIMAL.test(value) ? BigInt(value) : undefined;
    default:
      return undefined;
  }
}

/** Takes a signed 64-bit value for the writers below. Returns whether it differs from 0. */
export function loadSigned(value: unknown): boolean {
  const long = typeof value === "bigint" ? value : toBigInt(value);
  if (long === undefined) throw MISMATCH;
  signed[0] = long;
  if (signed[0] !== long) throw MISMATCH;
  return (words[0]! | words[1]!) !== 0;
}

/** Takes an unsigned 64-bit value for the writers below. Returns whether it differs from 0. */
export function loadUnsigned(value: unknown): boolean {
  const long = typeof value === "bigint" ? value : toBigInt(value);
  if (long === undefined) throw MISMATCH;
  unsigned[0] = long;
  if (unsigned[0] !== long) throw MISMATCH;
  return (words[0]! | words[1]!) !== 0;
}

/** Writes the loaded 64 bits as a varint. There must be room for 10 bytes. */
export function varint64(o: number): number {
  let low = words[LOW]!;
  let high = words[HIGH]!;
  const b = scratch.bytes;
  while (high !== 0 || low < 0 || low > 127) {
    b[o++] = (low & 127) | 128;
    low = (low >>> 7) | (high << 25);
    high >>>= 7;
  }
  b[o++] = low;
  return o;
}

/** Writes the loaded 64 bits zigzag encoded. There must be room for 10 bytes. */
export function zigzag64(o: number): number {
  const low = words[LOW]!;
  const high = words[HIGH]!;
  const sign = high >> 31;
  words[LOW] = (low << 1) ^ sign;
  words[HIGH] = ((high << 1) | (low >>> 31)) ^ sign;
  return varint64(o);
}

/** Writes the loaded 64 bits as 8 bytes. */
export function fixed64(o: number): number {
  const b = scratch.bytes;
  let word = words[LOW]!;
  for (let i = 0; i < 4; i++, word >>= 8) b[o++] = word;
  word = words[HIGH]!;
  for (let i = 0; i < 4; i++, word >>= 8) b[o++] = word;
  return o;
}

export function fixed32(o: number, value: number): number {
  const b = scratch.bytes;
  for (let i = 0; i < 4; i++, value >>>= 8) b[o++] = value;
  return o;
}

export function float(o: number, value: number): number {
  floats[0] = value;
  return fixed32(o, words[0]!);
}

export function double(o: number, value: number): number {
  doubles[0] = value;
  return fixed64(o);
}

const encoder = new TextEncoder();

/** Longest text, in UTF-16 units, that is first tried as ASCII, unit by unit. */
const SHORT_TEXT_UNITS = 48;

/** Writes a length and text. A lone surrogate becomes U+FFFD. */
export function string(o: number, text: string, spare: number): number {
  const units = text.length;
  // A UTF-16 unit takes at most 3 bytes of UTF-8, a length 5.
  const most = o + units * 3 + 5 + spare;
  const b = most > scratch.bytes.length ? grow(most) : scratch.bytes;
  if (units <= SHORT_TEXT_UNITS) {
    let i = 0;
    for (let at = o + 1; i < units; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 127) break;
      b[at++] = unit;
    }
    if (i === units) {
      b[o] = units;
      return o + 1 + units;
    }
  }
  const guess = varintSize(units);
  const { written } = encoder.encodeInto(text, b.subarray(o + guess));
  const size = varintSize(written);
  if (size !== guess) b.copyWithin(o + size, o + guess, o + guess + written);
  return varint32(o, written) + written;
}

/** Writes a length and bytes. */
export function bytes(o: number, value: Uint8Array, spare: number): number {
  const length = value.length;
  const most = o + length + 5 + spare;
  const b = most > scratch.bytes.length ? grow(most) : scratch.bytes;
  o = varint32(o, length);
  if (length < 32) {
    for (let i = 0; i < length; i++) b[o + i] = value[i]!;
  } else {
    b.set(value, o);
  }
  return o + length;
}

/** Puts the length of what was written after `start + 1` at `start`, where one byte was left for it. */
export function close(start: number, o: number, spare: number): number {
  const length = o - start - 1;
  if (length < 128) {
    scratch.bytes[start] = length;
    return o;
  }
  const size = varintSize(length);
  const most = o + size + spare;
  const b = most > scratch.bytes.length ? grow(most) : scratch.bytes;
  b.copyWithin(start + size, start + 1, o);
  return varint32(start, length) + length;
}

/** Whether a value is the unknown field it should be. */
export function isUnknownField(field: unknown): field is UnknownField {
  if (field === null || typeof field !== "object") return false;
  const { no, wireType, data } = field as UnknownField;
  return Number.isInteger(no) && no > 0 && no < 2 ** 29 &&
    (wireType === 0 || wireType === 1 || wireType === 2 || wireType === 3 || wireType === 5) &&
    data instanceof Uint8Array;
}

/** Writes unknown fields as they came. */
export function unknownFields(o: number, fields: unknown, spare: number): number {
  if (!Array.isArray(fields)) throw MISMATCH;
  for (const field of fields) {
    if (!isUnknownField(field)) throw MISMATCH;
    const most = o + field.data.length + 5 + spare;
    const b = most > scratch.bytes.length ? grow(most) : scratch.bytes;
    o = varint32(o, ((field.no << 3) | field.wireType) >>> 0);
    b.set(field.data, o);
    o += field.data.length;
  }
  return o;
}

function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < 0x10000000) return 4;
  return 5;
}
