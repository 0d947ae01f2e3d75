/**
 * What the engine keeps of a stream, and what each tells the other.
 *
 * @module
 */
import type { FieldBlock, Template } from "../hpack/mod.ts";
import { ErrorCode } from "../message/error_code.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { Settings } from "./settings.ts";
import { canReceive, canSend, State } from "./stream_state.ts";

/** Bytes one stream may have queued before its sender is asked to wait. */
export const STREAM_QUEUE_HIGH_WATER = 64 << 10;

/** Pieces up to this size are copied, longer ones wait where they are. */
const COPY_BYTES = 4 << 10;
/** Buffers in which short pieces are joined: the first, and each twice the last up to the largest. */
const MIN_JOINED_BYTES = 512;
const MAX_JOINED_BYTES = 16 << 10;

/** How a stream's output ends once its queue is empty. */
export type End = true | Template | readonly string[];

/**
 * Output of one stream that flow control holds back. Most streams never need one.
 */
export class SendQueue {
  readonly chunks: Uint8Array[] = [];
  /** First chunk not yet sent, and how much of it has been. */
  index = 0;
  offset = 0;
  /** Bytes waiting. */
  length = 0;
  /** Bytes that have left. */
  taken = 0;
  /** What follows the last byte. */
  end: End | null = null;
  /** Set while senders wait for the queue to fall below its high-water mark. */
  drained: Promise<void> | null = null;
  resolve: (() => void) | null = null;

  /** Where short pieces are joined, each alone costing far more than its bytes; null if full or sent. */
  #tail: Uint8Array | null = null;
  #used = 0;
  #capacity = MIN_JOINED_BYTES;

  push(bytes: Uint8Array): void {
    const n = bytes.length;
    this.length += n;
    if (n > COPY_BYTES) {
      this.#tail = null;
      this.chunks.push(bytes);
      return;
    }
    if (this.#tail === null || this.#used + n > this.#tail.length) {
      this.#tail = new Uint8Array(Math.max(n, this.#capacity));
      this.#used = 0;
      this.#capacity = Math.min(this.#capacity * 2, MAX_JOINED_BYTES);
      this.chunks.push(NOTHING);
    }
    this.#tail.set(bytes, this.#used);
    this.#used += n;
    this.chunks[this.chunks.length - 1] = this.#tail.subarray(0, this.#used);
  }

  /** Moves `n` bytes to `out` at `offset`. Throws if what was pushed is not what it was. */
  move(out: Uint8Array, offset: number, n: number): void {
    let left = n;
    while (left > 0) {
      const chunk = this.chunks[this.index]!;
      const k = Math.min(left, chunk.length - this.offset);
      out.set(chunk.subarray(this.offset, this.offset + k), offset);
      offset += k;
      left -= k;
      this.offset += k;
      if (this.offset === chunk.length) {
        this.chunks[this.index++] = NOTHING;
        this.offset = 0;
        if (this.index === this.chunks.length) this.#tail = null;
      }
    }
    this.length -= n;
    this.taken += n;
    // Half of it at least, so that a chunk is moved once on average however many wait.
    if (this.index > 64 && this.index * 2 >= this.chunks.length) {
      this.chunks.splice(0, this.index);
      this.index = 0;
    }
  }

  wait(): Promise<void> {
    return this.drained ??= new Promise((resolve) => this.resolve = resolve);
  }

  wake(): void {
    const resolve = this.resolve;
    this.resolve = null;
    this.drained = null;
    resolve?.();
  }
}

const NOTHING = new Uint8Array(0);

/** Sends a stream's frames. */
export interface StreamOutput {
  readonly writer: FrameWriter;
  /** Sends a field block; `end` also ends this side. */
  headers(stream: StreamRecord, fields: Template | readonly string[], end: boolean): void;
  /** Reserves room for body octets that are filled in at once; -1 if they have to be queued. */
  reserveData(stream: StreamRecord, length: number, end: boolean): number;
  /** Sends or queues body octets; a promise to wait for, or undefined if there is room for more. */
  data(stream: StreamRecord, bytes: Uint8Array, end: boolean): Promise<void> | undefined;
  /** Ends the stream behind what is queued. */
  end(stream: StreamRecord, how: End): void;
}

/** What a stream asks of its connection. */
export interface StreamHost {
  /** Milliseconds; when the last input came. */
  readonly now: number;
  /** The peer's settings. */
  readonly peer: Readonly<Settings>;
  readonly outbound: StreamOutput;
  /** Throws `HeadersTooLargeError` if the peer does not take so many fields. */
  checkFields(fields: Template | readonly string[], more: number): void;
  /** The consumer of a stream took `n` octets. */
  consumed(stream: StreamRecord, n: number): void;
  /** Ends a stream with RST_STREAM. */
  resetStream(stream: StreamRecord, code: number): void;
  /** The handler of a stream ended. */
  releaseStream(stream: StreamRecord): void;
}

/**
 * One HTTP/2 stream as its connection knows it. The engine calls the `on…` methods while it parses.
 *
 * Guarantees: `onHeaders` comes first (several times on a client: 1xx, then the response, then
 * trailers), `onData` in order, then exactly one of `onEnd` (the peer ended well) and `onReset` (it
 * did not). After a reset by the owner only `onClosed` comes, which is called once in any case.
 */
export abstract class StreamRecord {
  /** The connection it lives on; set when it is opened or accepted. */
  host!: StreamHost;
  /** Stream id, RFC 9113 §5.1.1; 0 before it is opened. */
  id = 0;
  /** RFC 9113 §5.1. Changed by the connection only. */
  state: State = State.IDLE;
  /** Octets of DATA the peer allows. May be negative, RFC 9113 §6.9.2. */
  sendWindow = 0;
  /** Octets of DATA the peer may still send. */
  receiveWindow = 0;
  /** Octets the peer may send ahead of the consumer; grows with what is consumed. */
  window = 0;
  /** Consumed octets not yet given back by WINDOW_UPDATE. */
  credit = 0;
  /** Octets consumed since the window grew. */
  consumedOctets = 0;
  /** Octets received and not consumed, and the DATA frames of the first ones. */
  unconsumed = 0;
  unreadFrames = 0;
  /** Body octets still to come by content-length, or -1 if none was given. */
  expected = -1;
  /** Whether the peer's header section has come. */
  headed = false;
  /** Whether a handler runs for it: it then counts as open even after a reset. */
  held = false;
  /** Output held back, or null. */
  queue: SendQueue | null = null;

  /** A field block came: request, response or trailers. `end` if the stream ends with it. */
  abstract onHeaders(block: FieldBlock, end: boolean): void;
  /**
   * Octets `buf[start, end)` of the body came. They are overwritten when the call returns: use or
   * copy them now. Call `consumed` for them, now or later.
   */
  abstract onData(buf: Uint8Array, start: number, end: number): void;
  /** The peer ended its side well. */
  abstract onEnd(): void;
  /** The stream ended badly: `StreamResetError`, `ProtocolError`, `TimeoutError` or `ConnectionLostError`. */
  abstract onReset(error: Error): void;

  /**
   * The peer takes too little of what is queued for it: `TimeoutError`. The stream is reset; whoever
   * uses it hears of that as of any bad end.
   */
  onSlow(error: Error): void {
    this.host.resetStream(this, ErrorCode.CANCEL);
    this.onReset(error);
  }

  /** The stream is over in both directions, well or not: its connection has forgotten it. */
  onClosed(): void {}

  /** Whether the stream is over in both directions. */
  get closed(): boolean {
    return this.state === State.CLOSED;
  }

  /** Whether the peer may still send. */
  get receivable(): boolean {
    return canReceive(this.state);
  }

  /** Whether this side may still send. */
  get sendable(): boolean {
    return canSend(this.state) && (this.queue === null || this.queue.end === null);
  }
}
