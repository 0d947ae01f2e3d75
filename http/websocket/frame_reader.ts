/**
 * Finds messages and control frames in what a client sends (RFC 6455 §5). It knows no connection:
 * whoever reads gives it bytes and acts on what it finds.
 *
 * @module
 */
import { BodyBuffer } from "../message/body_buffer.ts";
import { CloseCode, mayBeSent, WebSocketError } from "./close_code.ts";
import { inflate } from "./deflate.ts";
import { unmask } from "./mask.ts";
import { Utf8Check } from "./utf8.ts";

/** Frame types (RFC 6455 §11.8). */
export const Opcode = {
  CONTINUATION: 0,
  TEXT: 1,
  BINARY: 2,
  CLOSE: 8,
  PING: 9,
  PONG: 10,
} as const;

/** Results of {@linkcode FrameReader.next}. */
export const Found = { NEED_MORE: 0, TEXT: 1, BINARY: 2, PING: 3, PONG: 4, CLOSE: 5 } as const;

const FIN = 0x80;
const RSV1 = 0x40;
const OTHER_RSV = 0x30;
const MASKED = 0x80;
/** Bytes of a control frame's payload (RFC 6455 §5.5). */
export const MAX_CONTROL_BYTES = 125;

const NONE = new Uint8Array(0);
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** For text that was checked before. */
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function broken(rule: string): WebSocketError {
  return new WebSocketError(`${rule} (RFC 6455 §5)`, CloseCode.PROTOCOL_ERROR);
}

function notUtf8(): WebSocketError {
  return new WebSocketError("Text must be UTF-8 (RFC 6455 §8.1)", CloseCode.INVALID_DATA);
}

/** See the module. */
export class FrameReader {
  /** Where the bytes not yet used begin, after {@linkcode next}. */
  at = 0;
  /** The message found with TEXT. */
  text = "";
  /** The bytes found with BINARY, PING, PONG or CLOSE. They belong to the caller. */
  bytes: Uint8Array<ArrayBuffer> = NONE;
  readonly #maxMessageBytes: number;
  readonly #compressed: boolean;

  /** The frame under way: bytes still to come, -1 between frames. */
  #left = -1;
  #key = 0;
  #opcode = 0;
  #fin = false;
  /** The message under way: TEXT or BINARY, 0 between messages. */
  #message = 0;
  #deflated = false;
  readonly #payload = new BodyBuffer();
  readonly #check = new Utf8Check();

  /**
   * `maxMessageBytes` counts what comes out of decompression; Infinity is no limit. `compressed` if
   * permessage-deflate was agreed on.
   */
  constructor(maxMessageBytes: number, compressed: boolean) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#compressed = compressed;
  }

  /** Whether no frame is under way. */
  get between(): boolean {
    return this.#left < 0;
  }

  /** Bytes held of a message that is not complete. */
  get held(): number {
    return this.#payload.length;
  }

  /**
   * The next thing in `buf[start, end)`, which it changes: payloads are unmasked in place. What it did
   * not use begins at {@linkcode at}, and must come again.
   *
   * @throws {WebSocketError} If the client broke a rule or a limit; nothing can be read after that.
   */
  next(buf: Uint8Array, start: number, end: number): number {
    this.at = start;
    for (;;) {
      if (this.#left < 0 && !this.#head(buf, end)) return Found.NEED_MORE;
      if (this.#opcode >= Opcode.CLOSE) return this.#control(buf, end);
      const { at } = this;
      const n = Math.min(this.#left, end - at);
      const last = n === this.#left;
      if (last && this.#fin && this.#opcode !== Opcode.CONTINUATION && this.#payload.length === 0) {
        // Nearly every message: one frame, all of it at hand.
        this.#key = unmask(buf, at, end = at + n, this.#key);
        this.at = end;
        return this.#whole(buf, at, end);
      }
      this.#key = unmask(buf, at, at + n, this.#key);
      if (this.#message === Opcode.TEXT && !this.#deflated && !this.#check.push(buf, at, at + n)) {
        throw notUtf8();
      }
      this.#payload.push(buf, at, at + n);
      this.at = at + n;
      this.#left -= n;
      if (!last) return Found.NEED_MORE;
      this.#left = -1;
      if (this.#fin) return this.#assembled();
    }
  }

  /** Reads the head of a frame. False if it is not all there. */
  #head(buf: Uint8Array, end: number): boolean {
    let { at } = this;
    if (end - at < 2) return false;
    const first = buf[at]!;
    const second = buf[at + 1]!;
    const opcode = first & 0x0f;
    const short = second & 0x7f;
    this.#checkHead(first, opcode, second, short);
    const size = 6 + (short === 126 ? 2 : short === 127 ? 8 : 0);
    if (end - at < size) return false;
    let length = short;
    if (short === 126) {
      length = buf[at + 2]! << 8 | buf[at + 3]!;
      if (length < 126) throw broken("Length must be in its shortest form");
    } else if (short === 127) {
      if (buf[at + 2]! > 0x7f) throw broken("Length must be below 2^63");
      length = 0;
      for (let i = 2; i < 10; i++) length = length * 256 + buf[at + i]!;
      if (length < 65536) throw broken("Length must be in its shortest form");
    }
    at += size;
    this.#key = buf[at - 4]! | buf[at - 3]! << 8 | buf[at - 2]! << 16 | buf[at - 1]! << 24;
    this.at = at;
    this.#left = length;
    this.#opcode = opcode;
    this.#fin = (first & FIN) !== 0;
    if (opcode < Opcode.CLOSE) this.#dataHead(opcode, length, (first & RSV1) !== 0);
    return true;
  }

  #checkHead(first: number, opcode: number, second: number, short: number): void {
    if ((second & MASKED) === 0) throw broken("Frames of a client must be masked");
    if ((first & OTHER_RSV) !== 0) throw broken("Reserved bits must be 0");
    if ((first & RSV1) !== 0 && !(this.#compressed && (opcode === 1 || opcode === 2))) {
      throw broken("Reserved bits must be 0");
    }
    if (opcode >= Opcode.CLOSE) {
      if (opcode > Opcode.PONG) throw broken(`Opcode ${opcode} is not defined`);
      if ((first & FIN) === 0) throw broken("Control frames must not be fragmented");
      if (short > MAX_CONTROL_BYTES) {
        throw broken(`Control frames must have <= ${MAX_CONTROL_BYTES} bytes`);
      }
    } else {
      if (opcode > Opcode.BINARY) throw broken(`Opcode ${opcode} is not defined`);
      if ((opcode === Opcode.CONTINUATION) !== (this.#message !== 0)) {
        throw broken(
          this.#message === 0
            ? "Continuation must follow a fragment"
            : "A message must end before the next begins",
        );
      }
    }
  }

  /** A frame of a message begins. Its length is only a promise: nothing is allocated for it. */
  #dataHead(opcode: number, length: number, deflated: boolean): void {
    if (opcode !== Opcode.CONTINUATION) {
      this.#message = opcode;
      this.#deflated = deflated;
      this.#check.reset();
    }
    const max = this.#maxMessageBytes;
    // Input that cannot be compressed grows by five bytes in each block of at least 16 KiB.
    const most = this.#deflated ? max + Math.ceil(max / 1024) + 64 : max;
    if (length > most - this.#payload.length) throw tooBig(max);
  }

  #control(buf: Uint8Array, end: number): number {
    const { at } = this;
    const stop = at + this.#left;
    if (stop > end) return Found.NEED_MORE;
    unmask(buf, at, stop, this.#key);
    this.bytes = (stop === at ? NONE : buf.slice(at, stop)) as Uint8Array<ArrayBuffer>;
    this.at = stop;
    this.#left = -1;
    switch (this.#opcode) {
      case Opcode.PING:
        return Found.PING;
      case Opcode.PONG:
        return Found.PONG;
      default:
        return Found.CLOSE;
    }
  }

  /** A message in one frame, unmasked in the buffer. */
  #whole(buf: Uint8Array, start: number, end: number): number {
    this.#left = -1;
    const message = this.#message;
    this.#message = 0;
    if (this.#deflated) return this.#inflated(message, buf.subarray(start, end));
    if (message === Opcode.TEXT) {
      this.text = textOf(buf.subarray(start, end));
      return Found.TEXT;
    }
    this.bytes = buf.slice(start, end) as Uint8Array<ArrayBuffer>;
    return Found.BINARY;
  }

  /** A message in several frames, or of which only a part was at hand. */
  #assembled(): number {
    const message = this.#message;
    this.#message = 0;
    if (message === Opcode.TEXT && !this.#deflated && !this.#check.complete) throw notUtf8();
    const whole = this.#payload.takeAll();
    if (this.#deflated) return this.#inflated(message, whole);
    if (message === Opcode.TEXT) {
      this.text = textOf(whole, lenient);
      return Found.TEXT;
    }
    this.bytes = whole;
    return Found.BINARY;
  }

  #inflated(message: number, compressed: Uint8Array): number {
    const whole = inflate(compressed, this.#maxMessageBytes);
    if (whole === null) throw tooBig(this.#maxMessageBytes);
    if (message === Opcode.TEXT) {
      this.text = textOf(whole);
      return Found.TEXT;
    }
    this.bytes = whole;
    return Found.BINARY;
  }
}

function tooBig(max: number): WebSocketError {
  return new WebSocketError(`Message must have <= ${max} bytes`, CloseCode.TOO_BIG);
}

/** Text up to this size is looked through for bytes beyond ASCII: a call of the decoder costs more. */
const MAX_SHORT_TEXT = 32;

function textOf(bytes: Uint8Array, decoder = strict): string {
  const n = bytes.length;
  if (n <= MAX_SHORT_TEXT) {
    let i = 0;
    while (i < n && bytes[i]! < 0x80) i++;
    if (i === n) return String.fromCharCode.apply(null, bytes as unknown as number[]);
  }
  try {
    return decoder.decode(bytes);
  } catch (error) {
    // Beyond what a string can hold, or no UTF-8.
    throw error instanceof RangeError ? tooBig(n - 1) : notUtf8();
  }
}

/** Code and reason of a Close frame. */
export function parseClose(payload: Uint8Array): { code: number; reason: string } {
  if (payload.length === 0) return { code: CloseCode.NO_STATUS, reason: "" };
  if (payload.length === 1) throw broken("A Close frame must have no byte or two and more");
  const code = payload[0]! << 8 | payload[1]!;
  if (!mayBeSent(code)) throw broken(`Close code ${code} must not be sent`);
  return { code, reason: textOf(payload.subarray(2)) };
}
