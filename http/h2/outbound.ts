import type { Template } from "../hpack/mod.ts";
import { INITIAL_CONNECTION_WINDOW, MAX_WINDOW } from "./flow.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { MAX_BATCH_BYTES, Scheduler, type SendSide } from "./scheduler.ts";
import { canSend } from "./stream_state.ts";
import {
  type End,
  SendQueue,
  STREAM_QUEUE_HIGH_WATER,
  type StreamOutput,
  type StreamRecord,
} from "./stream_record.ts";

/** The sending half of a connection: windows, queues, and the frames that leave. */
export class Outbound implements SendSide, StreamOutput {
  readonly writer: FrameWriter;
  /** Octets of DATA the peer allows on the connection. */
  sendWindow: number = INITIAL_CONNECTION_WINDOW;
  /** Octets of DATA the peer has allowed on the connection so far. */
  #allowed: number = INITIAL_CONNECTION_WINDOW;
  readonly #wantWrite: () => void;
  readonly #localEnded: (stream: StreamRecord) => void;
  readonly #lost: (stream: StreamRecord) => void;
  readonly #scheduler = new Scheduler();

  /**
   * `localEnded` is called once END_STREAM of a stream is in the output, `lost` if what a stream was
   * given to send is not there any more.
   */
  constructor(
    writer: FrameWriter,
    wantWrite: () => void,
    localEnded: (stream: StreamRecord) => void,
    lost: (stream: StreamRecord) => void,
  ) {
    this.writer = writer;
    this.#wantWrite = wantWrite;
    this.#localEnded = localEnded;
    this.#lost = lost;
  }

  /** Octets of DATA sent. */
  get sent(): number {
    return this.#allowed - this.sendWindow;
  }

  /** Octets held back by flow control. */
  get queued(): number {
    return this.#scheduler.queued;
  }

  /** Whether flow control holds back so many octets beside the stream with the most. */
  holdsBeside(octets: number): boolean {
    const { queued } = this;
    if (queued < octets) return false;
    let most = 0;
    for (const stream of this.blocked) most = Math.max(most, stream.queue!.length);
    return queued - most >= octets;
  }

  /** Whether no output is held back. */
  get idle(): boolean {
    return this.#scheduler.idle;
  }

  /** The streams with output held back. */
  get blocked(): Iterable<StreamRecord> {
    return this.#scheduler.blocked;
  }

  /** Moves blocked output into `writer.out` as far as windows and the high-water mark allow. */
  pump(): void {
    if (!this.#scheduler.idle) this.#scheduler.pump(this);
  }

  headers(stream: StreamRecord, fields: Template | readonly string[], end: boolean): void {
    if (!canSend(stream.state)) return;
    this.writer.headers(stream.id, fields, end);
    this.#wantWrite();
    if (end) this.#localEnded(stream);
  }

  /**
   * Room for `length` body octets in `writer.out.bytes` at the result, to be filled at once; -1 if
   * windows or the high-water mark do not allow it now: then use {@linkcode Outbound.data}.
   */
  reserveData(stream: StreamRecord, length: number, end: boolean): number {
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
    this.#wantWrite();
    if (end) this.#localEnded(stream);
    return payload;
  }

  /** Sends or queues body octets; a promise to wait for, or undefined if there is room for more. */
  data(stream: StreamRecord, bytes: Uint8Array, end: boolean): Promise<void> | undefined {
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
    this.#wantWrite();
    return queue.length >= STREAM_QUEUE_HIGH_WATER || this.writer.out.length >= MAX_BATCH_BYTES
      ? queue.wait()
      : undefined;
  }

  /** Ends the stream behind what is queued. */
  end(stream: StreamRecord, how: End): void {
    if (!stream.sendable) return;
    if (stream.queue !== null) stream.queue.end = how;
    else this.finishOutput(stream, how);
  }

  finishOutput(stream: StreamRecord, end: End | null): void {
    if (!canSend(stream.state)) return;
    if (end === true) this.writer.data(stream.id, 0, true);
    else if (end !== null) this.writer.headers(stream.id, end, true);
    this.#wantWrite();
    this.#localEnded(stream);
  }

  outputLost(stream: StreamRecord): void {
    this.#lost(stream);
  }

  rstStream(id: number, code: number): void {
    this.writer.rstStream(id, code);
    this.#wantWrite();
  }

  /** Forgets the output of a stream that is over. */
  drop(stream: StreamRecord): void {
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
  growStream(stream: StreamRecord, increment: number): boolean {
    stream.sendWindow += increment;
    if (stream.queue !== null) this.#pumpSoon();
    return stream.sendWindow <= MAX_WINDOW;
  }

  #pumpSoon(): void {
    if (!this.#scheduler.idle) this.#wantWrite();
  }
}
