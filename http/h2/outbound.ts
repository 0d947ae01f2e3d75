import type { Template } from "../hpack/mod.ts";
import { INITIAL_CONNECTION_WINDOW, MAX_WINDOW } from "./flow.ts";
import { FrameWriter } from "./frame_writer.ts";
import { MAX_BATCH_BYTES, Scheduler, type SendSide } from "./scheduler.ts";
import { type End, SendQueue, type Stream, STREAM_QUEUE_HIGH_WATER } from "./stream.ts";
import { canSend } from "./stream_state.ts";

/** What the sending half tells its connection. */
export interface OutboundOwner {
  /** There is output to write. */
  wantWrite(): void;
  /** END_STREAM of this stream is in the output. */
  localEnded(stream: Stream): void;
}

/** The sending half of a connection: windows, queues, and the frames that leave. */
export class Outbound implements SendSide {
  readonly writer: FrameWriter = new FrameWriter();
  /** Octets of DATA the peer allows on the connection. */
  sendWindow: number = INITIAL_CONNECTION_WINDOW;
  /** Octets of DATA the peer has allowed on the connection so far. */
  #allowed: number = INITIAL_CONNECTION_WINDOW;
  readonly #owner: OutboundOwner;
  readonly #scheduler = new Scheduler();

  constructor(owner: OutboundOwner) {
    this.#owner = owner;
  }

  /** Octets of DATA sent. */
  get sent(): number {
    return this.#allowed - this.sendWindow;
  }

  /** Octets held back by flow control. */
  get queued(): number {
    return this.#scheduler.queued;
  }

  /** Whether no output is held back. */
  get idle(): boolean {
    return this.#scheduler.idle;
  }

  /** The streams with output held back. */
  get blocked(): Iterable<Stream> {
    return this.#scheduler.blocked;
  }

  /** Moves blocked output into `writer.out` as far as windows and the high-water mark allow. */
  pump(): void {
    if (!this.#scheduler.idle) this.#scheduler.pump(this);
  }

  headers(stream: Stream, fields: Template | readonly string[], end: boolean): void {
    if (!canSend(stream.state)) return;
    this.writer.headers(stream.id, fields, end);
    this.#owner.wantWrite();
    if (end) this.#owner.localEnded(stream);
  }

  /**
   * Room for `length` body octets in `writer.out.bytes` at the result, to be filled at once; -1 if
   * windows or the high-water mark do not allow it now: then use {@linkcode Outbound.data}.
   */
  reserveData(stream: Stream, length: number, end: boolean): number {
    const { writer } = this;
    if (
      stream.queue !== null || length > stream.sendWindow || length > this.sendWindow ||
      length > writer.maxFrameSize || writer.out.length >= MAX_BATCH_BYTES ||
      !canSend(stream.state)
    ) {
      return -1;
    }
    stream.sendWindow -= length;
    this.sendWindow -= length;
    const payload = writer.data(stream.id, length, end);
    this.#owner.wantWrite();
    if (end) this.#owner.localEnded(stream);
    return payload;
  }

  /** Sends or queues body octets; a promise to wait for, or undefined if there is room for more. */
  data(stream: Stream, bytes: Uint8Array, end: boolean): Promise<void> | undefined {
    if (!stream.sendable) return undefined;
    if (bytes.length === 0) {
      if (end) this.end(stream, true);
      return undefined;
    }
    const payload = this.reserveData(stream, bytes.length, end);
    if (payload >= 0) {
      this.writer.out.bytes.set(bytes, payload);
      return undefined;
    }
    const queue = stream.queue ??= new SendQueue();
    queue.push(bytes);
    if (end) queue.end = true;
    this.#scheduler.queued += bytes.length;
    this.#scheduler.add(stream);
    this.#owner.wantWrite();
    return queue.length >= STREAM_QUEUE_HIGH_WATER || this.writer.out.length >= MAX_BATCH_BYTES
      ? queue.wait()
      : undefined;
  }

  /** Ends the stream behind what is queued. */
  end(stream: Stream, how: End): void {
    if (!stream.sendable) return;
    if (stream.queue !== null) stream.queue.end = how;
    else this.finishOutput(stream, how);
  }

  finishOutput(stream: Stream, end: End | null): void {
    if (!canSend(stream.state)) return;
    if (end === true) this.writer.data(stream.id, 0, true);
    else if (end !== null) this.writer.headers(stream.id, end, true);
    this.#owner.wantWrite();
    this.#owner.localEnded(stream);
  }

  rstStream(id: number, code: number): void {
    this.writer.rstStream(id, code);
    this.#owner.wantWrite();
  }

  /** Forgets the output of a stream that is over. */
  drop(stream: Stream): void {
    this.#scheduler.drop(stream);
  }

  /** WINDOW_UPDATE for the connection. False if the window would overflow. */
  grow(increment: number): boolean {
    this.sendWindow += increment;
    this.#allowed += increment;
    this.#pumpSoon();
    return this.sendWindow <= MAX_WINDOW;
  }

  /** WINDOW_UPDATE or new settings for one stream. False if the window would overflow. */
  growStream(stream: Stream, increment: number): boolean {
    stream.sendWindow += increment;
    if (stream.queue !== null) this.#pumpSoon();
    return stream.sendWindow <= MAX_WINDOW;
  }

  #pumpSoon(): void {
    if (!this.#scheduler.idle) this.#owner.wantWrite();
  }
}
