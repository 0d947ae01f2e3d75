/**
 * Reads JSON values that stand one behind the other in a body, as grpc-gateway does.
 *
 * @module
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `{` and `}`; `[` and `]` differ from them in one bit. */
const OPEN = 0x7b;
const CLOSE = 0x7d;
const BRACKET_BIT = 0x20;
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** A body that holds no JSON object where one should begin, or one that is too long. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  /** Whether it is too long, and not wrong. */
  readonly tooLong: boolean;

  constructor(message: string, tooLong = false) {
    super(message);
    this.tooLong = tooLong;
  }
}

/** Finds where values end. Bytes are looked at once, however small the pieces they come in. */
class Scanner {
  #depth = 0;
  #inText = false;
  #escaped = false;

  /** The place behind the end of the value `bytes` go on with, or -1 if it goes on behind them. */
  end(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH && this.#inText) this.#escaped = true;
      else if (byte === QUOTE) this.#inText = !this.#inText;
      else if (this.#inText) continue;
      else if ((byte | BRACKET_BIT) === OPEN) this.#depth++;
      else if ((byte | BRACKET_BIT) === CLOSE && --this.#depth === 0) return at + 1;
    }
    return -1;
  }
}

const tooLong = (maxBytes: number): JsonError =>
  new JsonError(`an object, or the blanks before it, must be <= ${maxBytes} bytes`, true);

/**
 * The objects of a body, as soon as each is whole.
 *
 * @throws {JsonError} If something else is there, an object is longer than `maxBytes`, or none.
 */
export async function* jsonObjects(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<unknown> {
  let scanner: Scanner | null = null;
  let parts: Uint8Array[] = [];
  let length = 0;
  let blanks = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      if (scanner === null) {
        if (BLANKS.has(piece[at]!)) {
          at++;
          if (++blanks > maxBytes) throw tooLong(maxBytes);
          continue;
        }
        if (piece[at] !== OPEN) {
          throw new JsonError(`unexpected token ${String.fromCharCode(piece[at]!)}`);
        }
        scanner = new Scanner();
        blanks = 0;
      }
      const end = scanner.end(piece, at);
      const part = piece.subarray(at, end < 0 ? piece.length : end);
      length += part.length;
      if (length > maxBytes) throw tooLong(maxBytes);
      // A part that is kept must not change with the buffer it came in.
      parts.push(end < 0 ? part.slice() : part);
      if (end < 0) break;
      yield parse(parts, length);
      [scanner, parts, length, at] = [null, [], 0, end];
    }
  }
  if (scanner !== null) throw new JsonError("unexpected EOF");
}

function parse(parts: readonly Uint8Array[], length: number): unknown {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes), exact);
  } catch (error) {
    throw new JsonError((error as Error).message);
  }
}

/** Keeps the digits of integers that a number would round: numbers of revisions and leases. */
function exact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? source : value;
}
