import { HpackError } from "./error.ts";
import { CODE_LENGTHS, END_OF_STRING, MAX_CODE_LENGTH } from "./tables.ts";

/*
 * Huffman code of RFC 7541 §5.2. Decoding looks the next 10 bits up in one table, which settles every
 * octet that is common in headers; longer codes are found by their length, as the code is canonical:
 * among codes padded to 32 bits, those of one length form one run.
 */

/** Bits looked up at once: covers the codes of all common octets in a table of 2 KiB. */
const LOOKUP_BITS = 10;
const LOOKUP_SHIFT = 32 - LOOKUP_BITS;

/** Bits of {@linkcode Tables.lookup} that hold the length of the code. */
const LENGTH_BITS = 4;
const LENGTH_MASK = (1 << LENGTH_BITS) - 1;

interface Tables {
  /** Code of every symbol, in its low bits. */
  readonly codes: Uint32Array;
  /** Length of every code. */
  readonly lengths: Uint8Array;
  /** By the next bits: symbol << LENGTH_BITS | length, or 0 where the code is longer. */
  readonly lookup: Uint16Array;
  /** Symbols in the order of their codes. */
  readonly order: Uint16Array;
  /** By length: the first code of any greater length, padded to 32 bits. */
  readonly limits: Float64Array;
  /** By length: what to add to a code of this length to get its place in `order`. */
  readonly bases: Int32Array;
}

let built: Tables | undefined;

/** Builds the tables on first use, as a program may never see a Huffman-coded string. */
function tables(): Tables {
  return built ??= build();
}

function build(): Tables {
  const lengths = Uint8Array.from(CODE_LENGTHS);
  const codes = new Uint32Array(lengths.length);
  const lookup = new Uint16Array(1 << LOOKUP_BITS);
  const order = new Uint16Array(lengths.length);
  const limits = new Float64Array(MAX_CODE_LENGTH + 1);
  const bases = new Int32Array(MAX_CODE_LENGTH + 1);
  let code = 0;
  let place = 0;
  for (let length = 1; length <= MAX_CODE_LENGTH; length++) {
    code *= 2;
    bases[length] = place - code;
    for (let symbol = 0; symbol <= END_OF_STRING; symbol++) {
      if (lengths[symbol] !== length) continue;
      codes[symbol] = code;
      order[place++] = symbol;
      if (length <= LOOKUP_BITS) {
        const spare = LOOKUP_BITS - length;
        lookup.fill((symbol << LENGTH_BITS) | length, code << spare, (code + 1) << spare);
      }
      code++;
    }
    limits[length] = code * 2 ** (32 - length);
  }
  return { codes, lengths, lookup, order, limits, bases };
}

/** Octets that `length` Huffman-coded octets can decode to at most: no code is shorter than 5 bits. */
export function maxDecodedLength(length: number): number {
  return Math.floor((length * 8) / 5);
}

/**
 * Decodes `bytes[start, end)` into `out`, which has room for {@linkcode maxDecodedLength} octets, and
 * returns how many it wrote.
 *
 * @throws {HpackError} If the string holds the end-of-string symbol, or its padding is not what
 * RFC 7541 §5.2 asks for.
 */
export function huffmanDecode(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): number {
  const { lookup } = tables();
  let at = start;
  let length = 0;
  // The next bits of the string, from the top; those below `count` are zero.
  let window = 0;
  let count = 0;
  for (;;) {
    while (count <= 24 && at < end) {
      window |= bytes[at++]! << (24 - count);
      count += 8;
    }
    const found = lookup[window >>> LOOKUP_SHIFT]!;
    let bits = found & LENGTH_MASK;
    let symbol = found >>> LENGTH_BITS;
    if (bits === 0) {
      // Up to 30 bits are needed, and the window may hold as few as 25 of them.
      const ahead = at < end && count < 32 ? bytes[at]! >>> (count - 24) : 0;
      const longer = longSymbol((window | ahead) >>> 0);
      bits = longer >>> 16;
      symbol = longer & 0xffff;
    }
    if (bits > count && at === end) break;
    if (symbol === END_OF_STRING) {
      // RFC 7541 §5.2: "A Huffman-encoded string literal containing the EOS symbol MUST be treated
      // as a decoding error."
      throw new HpackError("Huffman-coded string must not contain the end-of-string symbol");
    }
    out[length++] = symbol;
    window <<= bits;
    count -= bits;
    if (count < 0) {
      // The code ended inside the octet that was looked at ahead of time.
      window = bytes[at++]! << (24 - count);
      count += 8;
    }
  }
  checkPadding(window, count);
  return length;
}

/** The symbol of a code longer than {@linkcode LOOKUP_BITS} at the top of `window`, and its length << 16. */
function longSymbol(window: number): number {
  const { limits, bases, order } = tables();
  let bits = LOOKUP_BITS + 1;
  while (window >= limits[bits]!) bits++;
  return (bits << 16) | order[(window >>> (32 - bits)) + bases[bits]!]!;
}

function checkPadding(window: number, count: number): void {
  // RFC 7541 §5.2: "A padding strictly longer than 7 bits MUST be treated as a decoding error. A
  // padding not corresponding to the most significant bits of the code for the EOS symbol MUST be
  // treated as a decoding error."
  if (count > 7) {
    throw new HpackError(`Padding of a Huffman-coded string must be at most 7 bits: got ${count}`);
  }
  if (count > 0 && window >>> (32 - count) !== (1 << count) - 1) {
    throw new HpackError("Padding of a Huffman-coded string must be all ones");
  }
}

/** Octets that `text`, one octet a character, takes when Huffman-coded. */
export function huffmanLength(text: string): number {
  const { lengths } = tables();
  let bits = 0;
  for (let i = 0; i < text.length; i++) bits += lengths[text.charCodeAt(i) & 0xff]!;
  return (bits + 7) >>> 3;
}

/** Writes `text`, one octet a character, Huffman-coded, and returns the offset after it. */
export function huffmanEncode(text: string, out: Uint8Array, offset: number): number {
  const { codes, lengths } = tables();
  // The low `count` bits of `pending` are yet to be written; at most 7 between characters.
  let pending = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 0xff;
    let code = codes[symbol]!;
    let bits = lengths[symbol]!;
    if (bits > 24) {
      // Together with what is pending more than 32 bits: in two steps.
      pending = (pending << (bits - 16)) | (code >>> 16);
      count += bits - 16;
      while (count >= 8) out[offset++] = pending >>> (count -= 8);
      code &= 0xffff;
      bits = 16;
    }
    pending = (pending << bits) | code;
    count += bits;
    while (count >= 8) out[offset++] = pending >>> (count -= 8);
  }
  if (count > 0) out[offset++] = (pending << (8 - count)) | (0xff >>> count);
  return offset;
}
