import { HpackError } from "./error.ts";
import { CODE_LENGTHS, END_OF_STRING, MAX_CODE_LENGTH } from "./tables.ts";

/*
 * Huffman code of RFC 7541 §5.2. The decoder is an automaton that takes a whole octet a step: its states
 * are the inner nodes of the code tree, state 0 the root, and a step says where in the tree the octet
 * ends and which symbols it completes, which are two at most as no code is shorter than 5 bits.
 *
 *   31     26     25 … 24   23 … 16   15 … 8   7 … 0
 *   ERROR  KNOWN  symbols   second    first    next state
 *
 * There are 65,536 steps, and it would take milliseconds to work them all out. Headers take but few of
 * them, so each is worked out when it is first taken.
 */

/** Set in every step that has been worked out. */
const KNOWN = 1 << 26;

/** The step that completes the end-of-string symbol; negative, as no other step is. */
const ERROR = -1;

/** Inner nodes of the code tree: one less than there are symbols. */
const STATES: number = END_OF_STRING;

interface Tables {
  /** Code of every symbol, in its low bits. */
  readonly codes: Uint32Array;
  /** Length of every code, in bits. */
  readonly lengths: Uint8Array;
  /** By node * 2 + bit: the inner node that follows, or the complement of the symbol. */
  readonly tree: Int16Array;
  /** By state << 8 | octet: the step, or 0 where it is not worked out yet. */
  readonly steps: Int32Array;
  /** By state: whether a string may end there. */
  readonly accepts: Uint8Array;
}

let built: Tables | undefined;

/** Builds the tables on first use, as a program may never see a Huffman-coded string. */
function tables(): Tables {
  return built ??= build();
}

function build(): Tables {
  const lengths = Uint8Array.from(CODE_LENGTHS);
  const codes = new Uint32Array(lengths.length);
  const tree = new Int16Array(2 * STATES);
  // By length, then by symbol; numbers, as sorting with a function would take most of the time here.
  const order = Uint16Array.from(lengths, (length, symbol) => (length << 9) | symbol).sort();
  // Level by level, as the code is canonical: of the nodes of a level the first ones are symbols, in
  // order, and the others are inner nodes, which get consecutive numbers.
  let place = 0;
  let code = 0;
  let nodes = 1;
  let parent = 0;
  for (let length = 1; length <= MAX_CODE_LENGTH; length++) {
    const parents = nodes;
    code *= 2;
    for (let branch = 2 * parent; branch < 2 * parents; branch++) {
      const symbol = order[place]! & 0x1ff;
      if (lengths[symbol] === length) {
        tree[branch] = ~symbol;
        codes[symbol] = code++;
        place++;
      } else {
        tree[branch] = nodes++;
      }
    }
    parent = parents;
  }

  // RFC 7541 §5.2: padding is "the most significant bits of the code for the EOS symbol", all ones,
  // and "a padding strictly longer than 7 bits MUST be treated as a decoding error".
  const accepts = new Uint8Array(STATES);
  for (let node = 0, ones = 0; ones <= 7; ones++, node = tree[2 * node + 1]!) accepts[node] = 1;

  return { codes, lengths, tree, steps: new Int32Array(STATES << 8), accepts };
}

/** Works out the step from a state by an octet. */
function workOut(state: number, octet: number): number {
  const { tree, steps } = tables();
  let node = state;
  let symbols = 0;
  let step = KNOWN;
  for (let bit = 7; bit >= 0; bit--) {
    const next = tree[2 * node + ((octet >>> bit) & 1)]!;
    if (next >= 0) {
      node = next;
      continue;
    }
    if (~next === END_OF_STRING) return steps[(state << 8) | octet] = ERROR;
    step |= ~next << (8 + 8 * symbols++);
    node = 0;
  }
  return steps[(state << 8) | octet] = step | (symbols << 24) | node;
}

/** Octets of room {@linkcode huffmanDecode} needs for a string of `length` coded octets. */
export function decodedRoom(length: number): number {
  // Two octets are stored a step, of which the second may be one too many.
  return Math.floor((length * 8) / 5) + 2;
}

/**
 * Decodes `bytes[start, end)` into `out`, which has room as of {@linkcode decodedRoom}, and returns how
 * many octets there are.
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
  const { steps, accepts } = tables();
  let state = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    let step = steps[(state << 8) | octet]!;
    if (step <= 0) {
      if (step === 0) step = workOut(state, octet);
      // RFC 7541 §5.2: "A Huffman-encoded string literal containing the EOS symbol MUST be treated
      // as a decoding error."
      if (step === ERROR) {
        throw new HpackError("Huffman-coded string must not contain the end-of-string symbol");
      }
    }
    out[length] = step >>> 8;
    out[length + 1] = step >>> 16;
    length += (step >>> 24) & 3;
    state = step & 0xff;
  }
  if (accepts[state] === 0) {
    throw new HpackError(
      "Huffman-coded string must end with a whole code and at most 7 bits of padding, all ones",
    );
  }
  return length;
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
