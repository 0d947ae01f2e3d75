import { HpackError } from "./error.ts";
import { decodedRoom, huffmanDecode, huffmanEncode, huffmanLength } from "./huffman.ts";
import { type Cursor, decodeInteger, encodeInteger, MAX_INTEGER_OCTETS } from "./integer.ts";

/*
 * A string (RFC 7541 §5.2): H | length in octets (7-bit prefix) | octets, Huffman-coded if H is set.
 * On our side a string has one character an octet, 0 to 255.
 */

/** The H bit. */
const HUFFMAN = 0x80;

/** From this length on, `TextDecoder` beats building a string out of character codes: see `readOctets`. */
const LONG_TEXT = 64;

/**
 * Strings shorter than this are never Huffman-coded, which saves a quarter: that is worth its time only
 * where it saves a good part of a packet. Measured: 200 characters take 600 ns to code and 370 to
 * decode, and 260 to copy.
 */
const MIN_HUFFMAN_LENGTH = 1024;

/** Octets {@linkcode encodeString} writes at most besides one for every character. */
export const MAX_STRING_OVERHEAD: number = MAX_INTEGER_OCTETS;

/** Octets {@linkcode scratch} begins with. */
const MIN_SCRATCH = 1024;

/** Octets {@linkcode scratch} keeps once the string that took more has been read. */
const MAX_KEPT_SCRATCH: number = 64 * 1024;

/** Where Huffman-coded strings are decoded to, of all decoders: nothing in it outlives a call. */
let scratch = new Uint8Array(0);

/** Reads the string at the cursor, and moves the cursor past it. */
export function decodeString(cursor: Cursor): string {
  const huffman = isHuffman(cursor);
  const start = openString(cursor);
  const { bytes, at: end } = cursor;
  if (!huffman) return readOctets(bytes, start, end);
  // In two steps: decoding may replace `scratch`.
  const length = decodeToScratch(bytes, start, end);
  return readOctets(scratch, 0, length);
}

/** Checks the string at the cursor as {@linkcode decodeString} does, but returns only its length. */
export function skipString(cursor: Cursor): number {
  const huffman = isHuffman(cursor);
  const start = openString(cursor);
  const { bytes, at: end } = cursor;
  return huffman ? decodeToScratch(bytes, start, end) : end - start;
}

/**
 * Writes a string, and returns the offset after it.
 *
 * @throws {TypeError} If a character does not fit an octet.
 */
export function encodeString(out: Uint8Array, offset: number, text: string): number {
  const length = text.length;
  if (length >= MIN_HUFFMAN_LENGTH) {
    const coded = huffmanLength(text);
    if (coded < length) {
      checkOctets(text);
      return huffmanEncode(text, out, encodeInteger(out, offset, HUFFMAN, 7, coded));
    }
  }
  let at = encodeInteger(out, offset, 0, 7, length);
  let seen = 0;
  for (let i = 0; i < length; i++) {
    const octet = text.charCodeAt(i);
    seen |= octet;
    out[at++] = octet;
  }
  if (seen > 0xff) checkOctets(text);
  return at;
}

/**
 * Checks that `text` has one octet a character.
 *
 * @throws {TypeError} If a character does not fit an octet.
 */
export function checkOctets(text: string): void {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0xff) {
      throw new TypeError(
        `Header field must have characters up to U+00FF, one for each byte: character ${i} is U+${
          code.toString(16).toUpperCase().padStart(4, "0")
        }`,
      );
    }
  }
}

function isHuffman(cursor: Cursor): boolean {
  return cursor.at < cursor.end && cursor.bytes[cursor.at]! >= HUFFMAN;
}

/** Reads the length, moves the cursor past the string, and returns where the string starts. */
function openString(cursor: Cursor): number {
  const length = decodeInteger(cursor, 7);
  const start = cursor.at;
  if (length > cursor.end - start) {
    throw new HpackError(
      `String must end inside its header block: got length ${length} with ${
        cursor.end - start
      } bytes left`,
    );
  }
  cursor.at = start + length;
  return start;
}

function decodeToScratch(bytes: Uint8Array, start: number, end: number): number {
  const room = decodedRoom(end - start);
  const isExcessive = scratch.length > MAX_KEPT_SCRATCH && room <= MAX_KEPT_SCRATCH;
  if (room > scratch.length || isExcessive) scratch = new Uint8Array(Math.max(MIN_SCRATCH, room));
  return huffmanDecode(bytes, start, end, scratch);
}

const fromCodes = String.fromCharCode;
const ascii = new TextDecoder();

/**
 * The octets as a string. Measured: 32 take 44 ns eight at a time, 113 one at a time and 111 by
 * `TextDecoder`, which calls out of JavaScript; 63 take 71, 206 and 112.
 */
function readOctets(bytes: Uint8Array, start: number, end: number): string {
  // UTF-8 and one octet a character are the same for ASCII, and only for ASCII.
  if (end - start >= LONG_TEXT && isAscii(bytes, start, end)) {
    return ascii.decode(bytes.subarray(start, end));
  }
  let text = "";
  let at = start;
  for (; end - at >= 8; at += 8) {
    text += fromCodes(
      bytes[at]!,
      bytes[at + 1]!,
      bytes[at + 2]!,
      bytes[at + 3]!,
      bytes[at + 4]!,
      bytes[at + 5]!,
      bytes[at + 6]!,
      bytes[at + 7]!,
    );
  }
  switch (end - at) {
    case 7:
      return text +
        fromCodes(
          bytes[at]!,
          bytes[at + 1]!,
          bytes[at + 2]!,
          bytes[at + 3]!,
          bytes[at + 4]!,
          bytes[at + 5]!,
          bytes[at + 6]!,
        );
    case 6:
      return text +
        fromCodes(
          bytes[at]!,
          bytes[at + 1]!,
          bytes[at + 2]!,
          bytes[at + 3]!,
          bytes[at + 4]!,
          bytes[at + 5]!,
        );
    case 5:
      return text +
        fromCodes(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!, bytes[at + 4]!);
    case 4:
      return text + fromCodes(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!);
    case 3:
      return text + fromCodes(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!);
    case 2:
      return text + fromCodes(bytes[at]!, bytes[at + 1]!);
    case 1:
      return text + fromCodes(bytes[at]!);
    default:
      return text;
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  let seen = 0;
  for (let at = start; at < end; at++) seen |= bytes[at]!;
  return seen < 0x80;
}
