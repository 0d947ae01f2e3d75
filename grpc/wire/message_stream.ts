/**
 * Length-prefixed messages on an HTTP/2 stream: one octet of flags, four of length, the message.
 * DATA frames and messages have nothing to do with each other: one frame may hold many messages, and
 * a message any number of frames.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#requests}
 *
 * @module
 */
import { h2 } from "../../http/engine.ts";

/** Octets before each message. */
export const PREFIX_SIZE = 5;

/** The largest message received by default: 4 MiB, as in every gRPC implementation. */
export const DEFAULT_MAX_RECEIVE_SIZE = 4 * 1024 * 1024;

/** Flow-control window of a stream: a message of the default limit is sent without a pause. */
export const DEFAULT_STREAM_WINDOW = 4 * 1024 * 1024;

/** Set in the flags of a compressed message. */
const COMPRESSED = 1;

const NO_BYTES = new Uint8Array(0);

/** Undelivered octets of messages beyond which a stream's peer is held back. */
const BACKLOG_HIGH_WATER = 256 << 10;

/** A stream of messages; base of both roles. */
export abstract class MessageStream extends h2.Stream {
  /** Messages longer than this are refused by their prefix, before anything is buffered. */
  maxReceiveSize: number = DEFAULT_MAX_RECEIVE_SIZE;
  /** Octets of the prefix seen so far, while it is split over frames. */
  #prefixSeen = 0;
  #prefixLength = 0;
  #flags = 0;
  /** A message split over frames. */
  #partial: Uint8Array | null = null;
  #partialLength = 0;
  /** Nothing received counts any more. */
  #deaf = false;
  /** Octets of delivered messages nobody has taken yet, and credit kept back meanwhile. */
  #backlog = 0;
  #withheld = 0;

  /**
   * One message: `bytes[start, end)`. With `owned`, nobody else will write to the bytes; otherwise
   * they are overwritten when the call returns.
   */
  protected abstract onMessage(
    bytes: Uint8Array,
    start: number,
    end: number,
    owned: boolean,
    compressed: boolean,
  ): void;
  /** A prefix announced more than `maxReceiveSize`. Nothing more is delivered. */
  protected abstract onTooLarge(length: number): void;
  /** A prefix was wrong. Nothing more is delivered. */
  protected abstract onBadPrefix(flags: number): void;

  /** Whether the last message is incomplete. */
  protected get midMessage(): boolean {
    return this.#partial !== null || this.#prefixSeen > 0;
  }

  /** Drops whatever else arrives. */
  protected stopListening(): void {
    this.#deaf = true;
    this.#partial = null;
    this.#prefixSeen = 0;
  }

  override onData(buf: Uint8Array, start: number, end: number): void {
    const size = end - start;
    while (start < end && !this.#deaf) {
      if (this.#partial !== null) start = this.#fill(this.#partial, buf, start, end);
      else if (this.#prefixSeen === 0 && end - start >= PREFIX_SIZE) {
        const length = buf[start + 1]! * 0x1000000 +
          ((buf[start + 2]! << 16) | (buf[start + 3]! << 8) | buf[start + 4]!);
        const flags = buf[start]!;
        start += PREFIX_SIZE;
        if (!this.#accepts(flags, length)) break;
        if (end - start >= length) {
          this.onMessage(buf, start, start + length, false, flags === COMPRESSED);
          start += length;
        } else {
          this.#begin(flags, length);
        }
      } else this.#prefixOctet(buf[start++]!);
    }
    if (this.#backlog > BACKLOG_HIGH_WATER && !this.#deaf) this.#withheld += size;
    else this.consumed(size);
  }

  #accepts(flags: number, length: number): boolean {
    if (flags > COMPRESSED) {
      this.stopListening();
      this.onBadPrefix(flags);
      return false;
    }
    if (length > this.maxReceiveSize) {
      this.stopListening();
      this.onTooLarge(length);
      return false;
    }
    return true;
  }

  #begin(flags: number, length: number): void {
    this.#flags = flags;
    this.#partial = new Uint8Array(length);
    this.#partialLength = 0;
  }

  #fill(partial: Uint8Array, buf: Uint8Array, start: number, end: number): number {
    const n = Math.min(partial.length - this.#partialLength, end - start);
    partial.set(buf.subarray(start, start + n), this.#partialLength);
    this.#partialLength += n;
    if (this.#partialLength === partial.length) {
      this.#partial = null;
      this.onMessage(partial, 0, partial.length, true, this.#flags === COMPRESSED);
    }
    return start + n;
  }

  #prefixOctet(octet: number): void {
    if (this.#prefixSeen++ === 0) {
      this.#flags = octet;
      this.#prefixLength = 0;
      return;
    }
    this.#prefixLength = this.#prefixLength * 256 + octet;
    if (this.#prefixSeen < PREFIX_SIZE) return;
    this.#prefixSeen = 0;
    if (!this.#accepts(this.#flags, this.#prefixLength)) return;
    if (this.#prefixLength > 0) this.#begin(this.#flags, this.#prefixLength);
    else this.onMessage(NO_BYTES, 0, 0, true, this.#flags === COMPRESSED);
  }

  /** A message of `size` octets waits for its consumer. */
  protected waits(size: number): void {
    this.#backlog += size;
  }

  /** The consumer took a message of `size` octets. */
  protected taken(size: number): void {
    this.#backlog -= size;
    if (this.#withheld === 0 || this.#backlog > BACKLOG_HIGH_WATER / 2) return;
    const n = this.#withheld;
    this.#withheld = 0;
    this.consumed(n);
  }

  /**
   * Sends one message. `bytes` may be overwritten once the call returns. Returns a promise to wait
   * for before sending more, or undefined if there is room.
   */
  sendMessage(bytes: Uint8Array, compressed = false, end = false): Promise<void> | undefined {
    const length = bytes.length;
    const payload = this.connection.outbound.reserveData(this, PREFIX_SIZE + length, end);
    if (payload >= 0) {
      writeMessage(this.connection.writer.out.bytes, payload, bytes, length, compressed);
      return undefined;
    }
    const copy = new Uint8Array(PREFIX_SIZE + length);
    writeMessage(copy, 0, bytes, length, compressed);
    return this.sendData(copy, end);
  }
}

function writeMessage(
  out: Uint8Array,
  at: number,
  bytes: Uint8Array,
  length: number,
  compressed: boolean,
): void {
  out[at] = compressed ? COMPRESSED : 0;
  out[at + 1] = length >>> 24;
  out[at + 2] = length >>> 16;
  out[at + 3] = length >>> 8;
  out[at + 4] = length;
  at += PREFIX_SIZE;
  // Below this, a loop is faster than the call behind set().
  if (length < 32) { for (let i = 0; i < length; i++) out[at + i] = bytes[i]!; }
  else out.set(bytes, at);
}
