import type { UnknownField } from "@bufbuild/protobuf";
import { Buffer } from "node:buffer";
import { Malformed } from "./error.ts";

/*
 * Readers for what does not fit a few inlined instructions. Generated code reads one-byte varints and
 * lengths itself and comes here for everything longer, for every failure, and for strings.
 *
 * All take the bytes, the position to read at, and the end of the enclosing message, which no reader passes.
 * Those of variable width leave the position after the value in `cursor.p`.
 */

/** Where the last reader of variable width stopped. */
export const cursor: { p: number } = { p: 0 };

/**
 * The input being decoded, for unknown fields. Their data are views of the input where the caller has agreed
 * to that, else views of one copy, which is made when the first unknown field shows up.
 */
export const input: {
  start: number;
  end: number;
  aliases: boolean;
  copy: Uint8Array | undefined;
} = { start: 0, end: 0, aliases: false, copy: undefined };

/** One-byte 64-bit varints without an allocation. */
export const SMALL_BIGINTS: readonly bigint[] = Array.from({ length: 128 }, (_, i) => BigInt(i));

// One 8-byte cell seen as every type. Filled with 32-bit words whose place depends on the host's byte order.
const cell = new ArrayBuffer(8);
const words = new Int32Array(cell);
const floats = new Float32Array(cell);
const doubles = new Float64Array(cell);
const signed = new BigInt64Array(cell);
const unsigned = new BigUint64Array(cell);
const LOW = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/** Most levels of messages and groups within each other that are decoded: protobuf's usual limit. */
export const DECODE_DEPTH = 100;

export function truncated(at: number): never {
  throw new Malformed("the value runs past the end of the message", at);
}

export function tooDeep(at: number): never {
  throw new Malformed(`messages are nested more than ${DECODE_DEPTH} deep`, at);
}

function tooLong(at: number): never {
  throw new Malformed("the varint is longer than 10 bytes", at);
}

/** A field tag of two bytes or more: at most 5 bytes and 32 bits, like every protobuf implementation. */
export function tag(b: Uint8Array, p: number, e: number): number {
  const at = p;
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (p >= e) truncated(at);
    const c = b[p++]!;
    if (shift === 28 && c > 0x0f) break;
    value |= (c & 127) << shift;
    if (c < 128) {
      cursor.p = p;
      return value >>> 0;
    }
  }
  throw new Malformed("the field tag does not fit 32 bits", at);
}

/** The low 32 bits of a varint of at most 10 bytes, unsigned. */
export function varint32(b: Uint8Array, p: number, e: number): number {
  const at = p;
  let value = 0;
  for (let i = 0; i < 10; i++) {
    if (p >= e) truncated(at);
    const c = b[p++]!;
    if (i < 5) value |= (c & 127) << (7 * i);
    if (c < 128) {
      cursor.p = p;
      return value >>> 0;
    }
  }
  return tooLong(at);
}

/** Reads a length and returns where the value ends. `cursor.p` is where it starts. */
export function end(b: Uint8Array, p: number, e: number): number {
  const at = p;
  let length = 0;
  let scale = 1;
  for (let i = 0; i < 10; i++) {
    if (p >= e) truncated(at);
    const c = b[p++]!;
    length += (c & 127) * scale;
    scale *= 128;
    if (c < 128) {
      if (length > e - p) truncated(at);
      cursor.p = p;
      return p + length;
    }
  }
  return tooLong(at);
}

/** Reads a varint of at most 10 bytes into the cell. Bits past the 64th are dropped. */
function varint64(b: Uint8Array, p: number, e: number): void {
  if (e - p < 10) return varint64AtEnd(b, p, e);
  const at = p;
  let c = b[p++]!;
  let lo = c & 127;
  let hi = 0;
  if (c > 127) {
    lo |= ((c = b[p++]!) & 127) << 7;
    if (c > 127) {
      lo |= ((c = b[p++]!) & 127) << 14;
      if (c > 127) {
        lo |= ((c = b[p++]!) & 127) << 21;
        if (c > 127) {
          lo |= ((c = b[p++]!) & 127) << 28;
          hi = (c & 127) >> 4;
          for (let shift = 3; c > 127; shift += 7) {
            if (shift > 31) tooLong(at);
            hi |= ((c = b[p++]!) & 127) << shift;
          }
        }
      }
    }
  }
  cursor.p = p;
  words[LOW] = lo;
  words[HIGH] = hi;
}

/** The same where the message may end first. */
function varint64AtEnd(b: Uint8Array, p: number, e: number): void {
  const at = p;
  let lo = 0;
  let hi = 0;
  for (let i = 0; i < 10; i++) {
    if (p >= e) truncated(at);
    const c = b[p++]!;
    const bits = c & 127;
    if (i < 4) {
      lo |= bits << (7 * i);
    } else if (i === 4) {
      lo |= bits << 28;
      hi = bits >> 4;
    } else {
      hi |= bits << (7 * i - 32);
    }
    if (c < 128) {
      cursor.p = p;
      words[LOW] = lo;
      words[HIGH] = hi;
      return;
    }
  }
  tooLong(at);
}

export function int64(b: Uint8Array, p: number, e: number): bigint {
  varint64(b, p, e);
  // A small bigint is cheaper to make of a number.
  return words[HIGH] === 0 ? BigInt(words[LOW]! >>> 0) : signed[0]!;
}

export function uint64(b: Uint8Array, p: number, e: number): bigint {
  varint64(b, p, e);
  return words[HIGH] === 0 ? BigInt(words[LOW]! >>> 0) : unsigned[0]!;
}

export function sint64(b: Uint8Array, p: number, e: number): bigint {
  varint64(b, p, e);
  const low = words[LOW]!;
  const high = words[HIGH]!;
  const sign = -(low & 1);
  words[LOW] = ((low >>> 1) | (high << 31)) ^ sign;
  words[HIGH] = (high >>> 1) ^ sign;
  return signed[0]!;
}

/** 1 if any of the 64 bits of a varint is set, else 0. */
export function bool(b: Uint8Array, p: number, e: number): number {
  varint64(b, p, e);
  return (words[LOW]! | words[HIGH]!) === 0 ? 0 : 1;
}

export function sfixed32(b: Uint8Array, p: number, e: number): number {
  if (e - p < 4) truncated(p);
  return b[p]! | (b[p + 1]! << 8) | (b[p + 2]! << 16) | (b[p + 3]! << 24);
}

export function fixed32(b: Uint8Array, p: number, e: number): number {
  return sfixed32(b, p, e) >>> 0;
}

export function float(b: Uint8Array, p: number, e: number): number {
  words[0] = sfixed32(b, p, e);
  return floats[0]!;
}

function load64(b: Uint8Array, p: number, e: number): void {
  if (e - p < 8) truncated(p);
  words[LOW] = b[p]! | (b[p + 1]! << 8) | (b[p + 2]! << 16) | (b[p + 3]! << 24);
  words[HIGH] = b[p + 4]! | (b[p + 5]! << 8) | (b[p + 6]! << 16) | (b[p + 7]! << 24);
}

export function double(b: Uint8Array, p: number, e: number): number {
  load64(b, p, e);
  return doubles[0]!;
}

export function sfixed64(b: Uint8Array, p: number, e: number): bigint {
  load64(b, p, e);
  return signed[0]!;
}

export function fixed64(b: Uint8Array, p: number, e: number): bigint {
  load64(b, p, e);
  return unsigned[0]!;
}

// A U+FEFF at the start of a protobuf string is text, not a byte order mark.
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { fatal: true });
const fromCharCode = String.fromCharCode;

/** Longest text, in bytes, put together here. Past 12, `+` makes ropes, which cost again when they are used. */
const SHORT_TEXT_BYTES = 12;

/** Longest text, in bytes, that is left to `utf8Slice`; `TextDecoder` costs more to call but less a byte. */
const MEDIUM_TEXT_BYTES = 192;

type Slice = (this: Uint8Array, start: number, end: number) => string;

// Buffer's toString without its checks: it takes any Uint8Array, and half the time of TextDecoder.
const { utf8Slice } = Buffer.prototype as unknown as { utf8Slice?: Slice };

/** A string whose invalid UTF-8 becomes U+FFFD (feature `utf8_validation = NONE`, the default of proto2). */
export function lenientString(b: Uint8Array, p: number, q: number): string {
  return ascii(b, p, q) ?? text(b, p, q);
}

/** A string whose invalid UTF-8 is refused (feature `utf8_validation = VERIFY`, the default elsewhere). */
export function strictString(b: Uint8Array, p: number, q: number): string {
  const short = ascii(b, p, q);
  if (short !== undefined) return short;
  const long = text(b, p, q);
  // A fatal decoder takes about three times as long, so it is asked only when a replacement character shows up.
  if (long.includes("\uFFFD")) {
    try {
      strict.decode(b.subarray(p, q));
    } catch {
      throw new Malformed("the string is not valid UTF-8", p);
    }
  }
  return long;
}

function text(b: Uint8Array, p: number, q: number): string {
  return q - p <= MEDIUM_TEXT_BYTES && utf8Slice !== undefined
    ? utf8Slice.call(b, p, q)
    : lenient.decode(b.subarray(p, q));
}

/** The text of a few bytes, or undefined if there are more or they are not ASCII. */
function ascii(b: Uint8Array, p: number, q: number): string | undefined {
  if (q - p > SHORT_TEXT_BYTES) return undefined;
  let head = "";
  if (q - p >= 8) {
    const c0 = b[p]!, c1 = b[p + 1]!, c2 = b[p + 2]!, c3 = b[p + 3]!;
    const c4 = b[p + 4]!, c5 = b[p + 5]!, c6 = b[p + 6]!, c7 = b[p + 7]!;
    if ((c0 | c1 | c2 | c3 | c4 | c5 | c6 | c7) > 127) return undefined;
    head = fromCharCode(c0, c1, c2, c3, c4, c5, c6, c7);
    p += 8;
  }
  const rest = q - p;
  if (rest === 0) return head;
  const c0 = b[p]!;
  const c1 = rest > 1 ? b[p + 1]! : 0, c2 = rest > 2 ? b[p + 2]! : 0, c3 = rest > 3 ? b[p + 3]! : 0;
  const c4 = rest > 4 ? b[p + 4]! : 0, c5 = rest > 5 ? b[p + 5]! : 0, c6 = rest > 6 ? b[p + 6]! : 0;
  if ((c0 | c1 | c2 | c3 | c4 | c5 | c6) > 127) return undefined;
  switch (rest) {
    case 1:
      return head + fromCharCode(c0);
    case 2:
      return head + fromCharCode(c0, c1);
    case 3:
      return head + fromCharCode(c0, c1, c2);
    case 4:
      return head + fromCharCode(c0, c1, c2, c3);
    case 5:
      return head + fromCharCode(c0, c1, c2, c3, c4);
    case 6:
      return head + fromCharCode(c0, c1, c2, c3, c4, c5);
    default:
      return head + fromCharCode(c0, c1, c2, c3, c4, c5, c6);
  }
}

/**
 * Skips the value of a field with the given tag and returns where it ends.
 *
 * @param depth How many levels of groups may still be opened.
 */
export function skip(b: Uint8Array, p: number, e: number, t: number, depth: number): number {
  if (t < 8) throw new Malformed("field number 0 is not allowed", p - 1);
  switch (t & 7) {
    case 0:
      varint32(b, p, e);
      return cursor.p;
    case 1:
      if (e - p < 8) truncated(p);
      return p + 8;
    case 2:
      return end(b, p, e);
    case 3:
      return skipGroup(b, p, e, t, depth);
    case 4:
      throw new Malformed(`the end of group ${t >>> 3} has no start`, p);
    case 5:
      if (e - p < 4) truncated(p);
      return p + 4;
    default:
      throw new Malformed(`wire type ${t & 7} does not exist`, p);
  }
}

function skipGroup(b: Uint8Array, p: number, e: number, start: number, depth: number): number {
  if (depth <= 0) tooDeep(p);
  const at = p;
  const close = start + 1;
  while (p < e) {
    const t = tag(b, p, e);
    p = cursor.p;
    if (t === close) return p;
    p = skip(b, p, e, t, depth - 1);
  }
  return truncated(at);
}

/** Appends the field at `p` to the unknown fields. `cursor.p` is then after it. */
export function keep(
  list: UnknownField[] | undefined,
  b: Uint8Array,
  p: number,
  e: number,
  t: number,
  depth: number,
): UnknownField[] {
  const q = skip(b, p, e, t, depth);
  cursor.p = q;
  let data: Uint8Array;
  if (input.aliases) {
    data = b.subarray(p, q);
  } else {
    input.copy ??= b.slice(input.start, input.end);
    data = input.copy.subarray(p - input.start, q - input.start);
  }
  const field = { no: t >>> 3, wireType: t & 7, data };
  if (list === undefined) return [field];
  list.push(field);
  return list;
}

/** Appends a value that a closed enum does not know, as protobuf demands, to the unknown fields. */
export function keepEnum(
  list: UnknownField[] | undefined,
  no: number,
  value: number,
): UnknownField[] {
  const data: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) data.push(Number(rest & 127n) | 128);
  data.push(Number(rest));
  const field = { no, wireType: 0, data: new Uint8Array(data) };
  if (list === undefined) return [field];
  list.push(field);
  return list;
}

/** Sets a map entry; `__proto__` becomes a key like any other. */
export function setEntry(map: Record<string, unknown>, key: string | number, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(map, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    map[key] = value;
  }
}
