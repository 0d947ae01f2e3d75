import type { Template } from "../hpack/mod.ts";
import { isOver, step } from "../message/exchange_state.ts";
import { INITIAL_CONNECTION_WINDOW, MAX_WINDOW } from "./flow.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { type End, SendQueue } from "./send_queue.ts";
import type { EngineRecord, StreamRecord } from "./stream_record.ts";

/** Bytes one stream may have queued before its sender is asked to wait. */
const STREAM_QUEUE_HIGH_WATER = 64 << 10;

/**
 * Output bytes of one connection beyond which senders are asked to wait: a generator that never waits
 * would else fill memory.
 */
const MAX_BATCH_BYTES = 512 << 10;

/**
 * The sending half of a connection: windows, queues, and the frames that leave. Streams whose output
 * flow control or the high-water mark holds back are served in turn, one DATA frame each, so that a
 * large body delays no other.
 */
export class FrameSender {
  readonly #writer: FrameWriter;
  /** Bytes of DATA the peer allows on the connection. */
  #window: number = INITIAL_CONNECTION_WINDOW;
  /** Bytes of DATA the peer has allowed on the connection so far. */
  #allowed: number = INITIAL_CONNECTION_WINDOW;
  readonly #blocked = new Set<StreamRecord>();
  /** Bytes queued over all streams. */
  #queued = 0;
  readonly #wantWrite: () => void;
  readonly #onEnded: (stream: StreamRecord) => void;
  readonly #onLost: (stream: StreamRecord) => void;

  /**
   * `onEnded` is called once END_STREAM of a stream is in the output, `onLost` if the bytes of a stream
   * are gone before they were sent.
   */
  constructor(
    writer: FrameWriter,
    wantWrite: () => void,
    onEnded: (stream: StreamRecord) => void,
    onLost: (stream: StreamRecord) => void,
  ) {
    this.#writer = writer;
    this.#wantWrite = wantWrite;
    this.#onEnded = onEnded;
    this.#onLost = onLost;
  }

  /** Where frames are written. */
  get bytes(): Uint8Array {
    return this.#writer.out.bytes;
  }

  /** Bytes of DATA the peer allows on the connection. */
  get window(): number {
    return this.#window;
  }

  /** Bytes of DATA sent. */
  get sent(): number {
    return this.#allowed - this.#window;
  }

  /** Bytes held back by flow control. */
  get queued(): number {
    return this.#queued;
  }

  /** Whether no output is held back. */
  get idle(): boolean {
    return this.#blocked.size === 0;
  }

  /** The streams with output held back. */
  get blocked(): Iterable<StreamRecord> {
    return this.#blocked;
  }

  /** Whether flow control holds back so many bytes beside the stream with the most. */
  holdsBeside(bytes: number): boolean {
    if (this.#queued < bytes) return false;
    let most = 0;
    for (const stream of this.#blocked) most = Math.max(most, stream.unsent);
    return this.#queued - most >= bytes;
  }

  // ---- what streams send -----------------------------------------------------------------------

  headers(stream: EngineRecord, fields: Template | readonly string[], end: boolean): void {
    if (isOver(stream.local)) return;
    this.#writer.headers(stream.id, fields, end);
    this.#wantWrite();
    if (end) this.#ended(stream);
  }

  /**
   * Room for `length` body bytes in {@linkcode FrameSender.bytes} at the result, to be filled at once;
   * -1 if windows or the high-water mark do not allow it now: then use {@linkcode FrameSender.data}.
   */
  reserve(stream: EngineRecord, length: number, end: boolean): number {
    const writer = this.#writer;
    if (
      stream.queue !== null || length > stream.sendWindow || length > this.#window ||
      length > writer.maxFrameSize || writer.out.length >= MAX_BATCH_BYTES || isOver(stream.local)
    ) {
      return -1;
    }
    stream.sendWindow -= length;
    this.#window -= length;
    const payload = writer.data(stream.id, length, end);
    this.#wantWrite();
    if (end) this.#ended(stream);
    return payload;
  }

  /** Sends or queues body bytes; a promise to wait for, or undefined if there is room for more. */
  data(stream: EngineRecord, bytes: Uint8Array, end: boolean): Promise<void> | undefined {
    if (!stream.sendable) return undefined;
    if (bytes.length === 0) {
      if (end) this.end(stream, true);
      return undefined;
    }
    const payload = this.reserve(stream, bytes.length, end);
    if (payload >= 0) {
      this.bytes.set(bytes, payload);
      return undefined;
    }
    const queue = stream.queue ??= new SendQueue();
    queue.push(bytes);
    if (end) queue.end = true;
    this.#queued += bytes.length;
    this.#blocked.add(stream);
    this.#wantWrite();
    return queue.length >= STREAM_QUEUE_HIGH_WATER || this.#writer.out.length >= MAX_BATCH_BYTES
      ? queue.wait()
      : undefined;
  }

  /** Ends this side behind the queued bytes. */
  end(stream: EngineRecord, how: End): void {
    if (!stream.sendable) return;
    if (stream.queue !== null) stream.queue.end = how;
    else this.#finish(stream, how);
  }

  #finish(stream: EngineRecord, how: End): void {
    if (how === true) this.#writer.data(stream.id, 0, true);
    else this.#writer.headers(stream.id, how, true);
    this.#wantWrite();
    this.#ended(stream);
  }

  #ended(stream: EngineRecord): void {
    stream.local = step(stream.local, "end");
    this.#onEnded(stream);
  }

  rstStream(id: number, code: number): void {
    this.#writer.rstStream(id, code);
    this.#wantWrite();
  }

  // ---- blocked output ---------------------------------------------------------------------------

  /** Writes DATA of blocked streams as far as windows and the high-water mark allow. */
  pump(): void {
    // A stream with more to send is added again, behind the others, and so met again by this loop.
    for (const stream of this.#blocked) {
      if (this.#window <= 0 || this.#writer.out.length >= MAX_BATCH_BYTES) return;
      this.#serve(stream);
    }
  }

  #serve(stream: EngineRecord): void {
    const writer = this.#writer;
    const queue = stream.queue!;
    const n = Math.min(queue.length, stream.sendWindow, this.#window, writer.maxFrameSize);
    if (n <= 0) return;
    const last = n === queue.length && queue.end === true;
    const { out } = writer;
    const { length } = out;
    const payload = writer.data(stream.id, n, last);
    try {
      queue.move(out.bytes, payload, n);
    } catch {
      // Its owner gave the buffer away meanwhile, or made it smaller.
      out.length = length;
      return this.#onLost(stream);
    }
    stream.sendWindow -= n;
    this.#window -= n;
    this.#queued -= n;
    if (queue.length < STREAM_QUEUE_HIGH_WATER) queue.wake();
    this.#blocked.delete(stream);
    if (queue.length > 0) {
      this.#blocked.add(stream);
      return;
    }
    stream.queue = null;
    if (last) {
      this.#wantWrite();
      this.#ended(stream);
    } else if (queue.end !== null) this.#finish(stream, queue.end);
  }

  /** Forgets the output of a stream that is gone; senders that wait for room go on. */
  drop(stream: EngineRecord): void {
    const { queue } = stream;
    if (queue === null) return;
    stream.queue = null;
    this.#blocked.delete(stream);
    this.#queued -= queue.length;
    queue.wake();
  }

  // ---- windows ---------------------------------------------------------------------------------

  /** WINDOW_UPDATE for the connection. False if the window would overflow. */
  grow(increment: number): boolean {
    this.#window += increment;
    this.#allowed += increment;
    if (!this.idle) this.#wantWrite();
    return this.#window <= MAX_WINDOW;
  }

  /** WINDOW_UPDATE or new settings for one stream. False if the window would overflow. */
  growStream(stream: EngineRecord, increment: number): boolean {
    stream.sendWindow += increment;
    if (stream.queue !== null) this.#wantWrite();
    return stream.sendWindow <= MAX_WINDOW;
  }
}
