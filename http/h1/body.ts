/**
 * Reads the body of an HTTP/1.1 message out of a buffer (RFC 9112 §6, §7), without I/O.
 *
 * @module
 */
import { FIELD_BYTE, latin1, TOKEN_LOWER } from "../message/headers.ts";
import { MessageError } from "../message/message_error.ts";
import { readTrailers } from "./fields.ts";
import { HeadSearch } from "./read.ts";

/** Bytes of a chunk-size line, extensions included. */
const MAX_CHUNK_LINE = 1024;
/** Bytes of chunk extensions in one body: they carry nothing and cost the reader. */
const MAX_CHUNK_EXTENSIONS = 16 << 10;
/** Bytes of a trailer section. */
const MAX_TRAILER_BYTES = 8 << 10;
/** Fields of a trailer section. */
const MAX_TRAILER_FIELDS = 64;

const TRAILER_LIMITS = {
  maxHeaderBytes: MAX_TRAILER_BYTES,
  maxHeaderFields: MAX_TRAILER_FIELDS,
  maxTargetBytes: MAX_TRAILER_BYTES,
};

const CR = 0x0d;
const LF = 0x0a;

/** Results of {@linkcode BodyReader.next}. */
export const Found = {
  /** Nothing yet: give it more. */
  NEED_MORE: 0,
  /** `buf[dataStart, dataEnd)` is body. */
  DATA: 1,
  /** The message is complete. */
  END: 2,
} as const;

/** Where a chunked reader stands. */
const Mode = { LENGTH: 0, TO_EOF: 1, SIZE: 2, DATA: 3, DATA_END: 4, TRAILERS: 5, DONE: 6 } as const;

const NO_FIELDS: readonly string[] = [];

/** How a body ends: after a number of bytes, at the last chunk, or with the connection. */
export type BodyFraming = number | "chunked" | "eof";

/** One body. Feed it the buffer again and again; it says what it took. */
export class BodyReader {
  /** Bytes taken by the last {@linkcode BodyReader.next}, counted from its `start`. */
  consumed = 0;
  /** The piece found. */
  dataStart = 0;
  dataEnd = 0;
  /** Trailer fields; complete when the end was found. */
  trailers: readonly string[] = NO_FIELDS;

  #mode: number;
  /** Bytes of the body or of the chunk still to come. */
  #remaining: number;
  #extensions = 0;
  #search: HeadSearch | null = null;

  constructor(framing: BodyFraming) {
    this.#remaining = typeof framing === "number" ? framing : 0;
    this.#mode = framing === "chunked"
      ? Mode.SIZE
      : framing === "eof"
      ? Mode.TO_EOF
      : framing === 0
      ? Mode.DONE
      : Mode.LENGTH;
  }

  /** Whether the message is complete. */
  get done(): boolean {
    return this.#mode === Mode.DONE;
  }

  /** Bytes still to come, if the length was given in advance, else -1. */
  get remaining(): number {
    return this.#mode === Mode.LENGTH ? this.#remaining : this.#mode === Mode.DONE ? 0 : -1;
  }

  /** Bytes still to come of what is plain data now; they may be read past this reader. */
  get contiguous(): number {
    return this.#mode === Mode.LENGTH || this.#mode === Mode.DATA ? this.#remaining : 0;
  }

  /** Tells that `n` bytes of {@linkcode BodyReader.contiguous} were read elsewhere. */
  skip(n: number): void {
    this.#remaining -= n;
    if (this.#remaining === 0) this.#mode = this.#mode === Mode.DATA ? Mode.DATA_END : Mode.DONE;
  }

  /**
   * The connection ended.
   *
   * @throws {MessageError} If the message was not complete.
   */
  eof(): void {
    if (this.#mode === Mode.TO_EOF) this.#mode = Mode.DONE;
    if (this.#mode !== Mode.DONE) {
      throw new MessageError("Connection ended in the middle of a body (RFC 9112 §8)");
    }
  }

  /**
   * Looks at `buf[start, end)`; takes `consumed` bytes of it.
   *
   * @throws {MessageError} If the framing is broken.
   */
  next(buf: Uint8Array, start: number, end: number): number {
    let p = start;
    for (;;) {
      switch (this.#mode) {
        case Mode.DONE:
          this.consumed = p - start;
          return Found.END;
        case Mode.TO_EOF:
        case Mode.LENGTH:
        case Mode.DATA: {
          if (p === end) {
            this.consumed = p - start;
            return Found.NEED_MORE;
          }
          const n = this.#mode === Mode.TO_EOF ? end - p : Math.min(end - p, this.#remaining);
          this.dataStart = p;
          this.dataEnd = p + n;
          if (this.#mode !== Mode.TO_EOF) this.skip(n);
          this.consumed = p + n - start;
          return Found.DATA;
        }
        case Mode.DATA_END:
          if (end > p && (buf[p] !== CR || (end - p > 1 && buf[p + 1] !== LF))) {
            throw new MessageError("Chunk must end in CRLF after its size (RFC 9112 §7.1)");
          }
          if (end - p < 2) {
            this.consumed = p - start;
            return Found.NEED_MORE;
          }
          p += 2;
          this.#mode = Mode.SIZE;
          break;
        case Mode.SIZE: {
          const next = this.#readSize(buf, p, end);
          if (next < 0) {
            this.consumed = p - start;
            return Found.NEED_MORE;
          }
          p = next;
          break;
        }
        case Mode.TRAILERS: {
          const next = this.#readTrailers(buf, p, end);
          if (next < 0) {
            this.consumed = p - start;
            return Found.NEED_MORE;
          }
          p = next;
          this.#mode = Mode.DONE;
          break;
        }
      }
    }
  }

  /** Reads `chunk-size [ chunk-ext ] CRLF`; returns where it ends, or -1 if more is needed. */
  #readSize(buf: Uint8Array, start: number, end: number): number {
    let p = start;
    let size = 0;
    for (; p < end; p++) {
      const digit = HEX[buf[p]!]!;
      if (digit === 255) break;
      size = size * 16 + digit;
      // 2^52 and more is no length anyone sends, and beyond 2^53 numbers lose bytes.
      if (p - start >= 13) {
        throw new MessageError("Chunk size must be at most 13 digits (RFC 9112 §7.1)");
      }
    }
    if (p === end) return -1;
    if (p === start) {
      throw new MessageError(
        `Chunk size must be hexadecimal digits (RFC 9112 §7.1): got byte 0x${
          buf[p]!.toString(16).padStart(2, "0")
        }`,
      );
    }
    const extension = p;
    if (buf[p] === SEMICOLON || buf[p] === SP || buf[p] === HTAB) {
      const most = Math.min(end, start + MAX_CHUNK_LINE + 1);
      while (p < most && buf[p] !== CR && buf[p] !== LF) p++;
      if (p - start > MAX_CHUNK_LINE) {
        throw new MessageError(`Chunk line must be <= ${MAX_CHUNK_LINE} bytes`);
      }
      if (p === end) return -1;
      checkExtensions(buf, extension, p);
    }
    if (buf[p] !== CR) {
      throw new MessageError(
        `Chunk size must be followed by ";" or CRLF (RFC 9112 §7.1): got byte 0x${
          buf[p]!.toString(16).padStart(2, "0")
        }`,
      );
    }
    if (end - p < 2) return -1;
    if (buf[p + 1] !== LF) throw new MessageError("Chunk line must end in CRLF (RFC 9112 §7.1)");
    this.#extensions += p - extension;
    if (this.#extensions > MAX_CHUNK_EXTENSIONS) {
      throw new MessageError(`Chunk extensions must be <= ${MAX_CHUNK_EXTENSIONS} bytes in all`);
    }
    this.#remaining = size;
    this.#mode = size === 0 ? Mode.TRAILERS : Mode.DATA;
    return p + 2;
  }

  #readTrailers(buf: Uint8Array, start: number, end: number): number {
    if (end - start >= 2 && buf[start] === CR && buf[start + 1] === LF) return start + 2;
    this.#search ??= new HeadSearch();
    const found = this.#search.find(buf, start, end, TRAILER_LIMITS);
    if (found < 0) return -1;
    this.trailers = readTrailers(buf, start, found, MAX_TRAILER_FIELDS);
    return found;
  }
}

/**
 * Checks `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )` (RFC 9112 §7.1.1). They
 * mean nothing here, but readers that disagree about them disagree about where chunks end.
 *
 * @throws {MessageError} If they are none.
 */
function checkExtensions(buf: Uint8Array, start: number, end: number): void {
  const fault = () =>
    new MessageError(
      `Chunk extensions must be ";name" or ";name=value" (RFC 9112 §7.1.1): got ${
        JSON.stringify(latin1(buf, start, end))
      }`,
    );
  let p = start;
  while (p < end) {
    p = blanks(buf, p, end);
    if (p === end || buf[p] !== SEMICOLON) throw fault();
    p = blanks(buf, p + 1, end);
    const name = p;
    p = token(buf, p, end);
    if (p === name) throw fault();
    const equals = blanks(buf, p, end);
    if (buf[equals] !== EQUALS || equals === end) continue;
    p = blanks(buf, equals + 1, end);
    const value = p;
    p = buf[p] === QUOTE ? quoted(buf, p, end) : token(buf, p, end);
    if (p <= value) throw fault();
  }
}

function blanks(buf: Uint8Array, p: number, end: number): number {
  while (p < end && (buf[p] === SP || buf[p] === HTAB)) p++;
  return p;
}

function token(buf: Uint8Array, p: number, end: number): number {
  while (p < end && TOKEN_LOWER[buf[p]!] !== 0) p++;
  return p;
}

/** Where the quoted-string at `p` ends (RFC 9110 §5.6.4), or -1. */
function quoted(buf: Uint8Array, p: number, end: number): number {
  for (p++; p < end; p++) {
    if (buf[p] === QUOTE) return p + 1;
    if (buf[p] === BACKSLASH) p++;
    if (p === end || FIELD_BYTE[buf[p]!] !== 1) return -1;
  }
  return -1;
}

const SP = 0x20;
const HTAB = 0x09;
const QUOTE = 0x22;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

const HEX = new Uint8Array(256).fill(255);
for (let i = 0; i < 10; i++) HEX[0x30 + i] = i;
for (let i = 0; i < 6; i++) HEX[0x41 + i] = HEX[0x61 + i] = 10 + i;
