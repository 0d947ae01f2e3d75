import {
  CREDIT_SHARE,
  GROWTH,
  INITIAL_CONNECTION_WINDOW,
  MAX_GROWN,
  START_WINDOW,
} from "./flow.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { ReceiveWindow } from "./receive_window.ts";
import type { EngineRecord, StreamRecord } from "./stream_record.ts";
import type { OpenStreams } from "./stream_map.ts";

/** Room to grow of a connection below which its streams are held to equal shares. */
const AMPLE_ROOM = MAX_GROWN / 4;

/** The receiving windows of a connection and its streams; policy in `flow.ts`. */
export class ReceiveWindows {
  /** Window streams start with. */
  readonly startWindow: number;
  readonly #maxWindow: number;
  readonly #connectionWindow: number;
  readonly #streams: OpenStreams;
  readonly #writer: FrameWriter;
  readonly #wantWrite: () => void;
  #window = INITIAL_CONNECTION_WINDOW;
  /** Bytes the next WINDOW_UPDATE of the connection gives back. */
  #pendingCredit = 0;
  /** Bytes the windows of open streams have grown by. */
  #grown = 0;
  /** Unconsumed DATA frames of streams whose window has not grown, and unconsumed bytes of all streams. */
  #unreadFrames = 0;
  #unreadBytes = 0;
  #closed = false;

  constructor(
    streamWindow: number,
    connectionWindow: number,
    streams: OpenStreams,
    writer: FrameWriter,
    wantWrite: () => void,
  ) {
    this.startWindow = Math.min(START_WINDOW, streamWindow);
    this.#maxWindow = streamWindow;
    this.#connectionWindow = connectionWindow;
    this.#streams = streams;
    this.#writer = writer;
    this.#wantWrite = wantWrite;
  }

  /** Bytes of DATA the peer may still send on the connection. */
  get window(): number {
    return this.#window;
  }

  /** DATA frames that wait on streams whose consumer has hardly read. */
  get unreadFrames(): number {
    return this.#unreadFrames;
  }

  /** Bytes that wait on all streams. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  /** Opens the connection's window from the protocol's 64 KiB to what was asked for. */
  open(): void {
    const more = this.#connectionWindow - INITIAL_CONNECTION_WINDOW;
    if (more <= 0) return;
    this.#writer.windowUpdate(0, more);
    this.#window += more;
  }

  /** The connection is gone: nothing is given back any more. */
  close(): void {
    this.#closed = true;
  }

  /** A stream begins. */
  adopt(stream: EngineRecord): void {
    stream.receive = new ReceiveWindow(this.startWindow);
  }

  /** DATA of that size, padding included, came. False if the connection's window is too small. */
  take(size: number): boolean {
    if (size > this.#window) return false;
    this.#window -= size;
    return true;
  }

  /** DATA was delivered or dropped: the connection's credit goes back. */
  received(size: number): void {
    this.#pendingCredit += size;
    if (this.#closed || this.#pendingCredit * CREDIT_SHARE < this.#connectionWindow) return;
    this.#writer.windowUpdate(0, this.#pendingCredit);
    this.#window += this.#pendingCredit;
    this.#pendingCredit = 0;
    this.#wantWrite();
  }

  /** DATA for a stream: `length` bytes for its consumer, the rest of `size` is padding. */
  deliver(stream: StreamRecord, length: number, size: number): void {
    const { receive } = stream;
    if (length > 0) {
      receive.unconsumed += length;
      this.#unreadBytes += length;
      // A window that has grown has a consumer that reads.
      if (receive.size === this.startWindow) {
        receive.unreadFrames++;
        this.#unreadFrames++;
      }
    }
    if (size > length) this.#returnStream(stream, size - length);
    this.received(size);
  }

  /** The consumer of a stream took `n` bytes. */
  consumed(stream: StreamRecord, n: number): void {
    const { receive } = stream;
    const unread = receive.unconsumed;
    // A stream that is over has given everything back already.
    if (n > unread) n = unread;
    if (n === 0) return;
    receive.unconsumed = unread - n;
    this.#unreadBytes -= n;
    const frames = n === unread
      ? receive.unreadFrames
      : Math.floor(receive.unreadFrames * n / unread);
    receive.unreadFrames -= frames;
    this.#unreadFrames -= frames;
    if (!stream.receivable) return this.ended(stream);
    receive.consumed += n;
    this.#returnStream(stream, n);
  }

  /** The peer sends no more on this stream: the room it does not need goes to others. */
  ended({ receive }: StreamRecord): void {
    const needed = Math.max(this.startWindow, receive.unconsumed);
    if (receive.size <= needed) return;
    this.#grown -= receive.size - needed;
    receive.size = needed;
  }

  /** A stream is gone: its unconsumed bytes count no more. */
  drop({ receive }: StreamRecord): void {
    this.#unreadBytes -= receive.unconsumed;
    this.#unreadFrames -= receive.unreadFrames;
    receive.unconsumed = receive.unreadFrames = 0;
    this.#grown -= receive.size - this.startWindow;
    receive.size = this.startWindow;
  }

  /** The consumer keeps up: its stream's window grows, as far as there is room for that. */
  #resize(receive: ReceiveWindow): void {
    receive.consumed = 0;
    const { size } = receive;
    const room = MAX_GROWN - this.#grown;
    const largest = room >= AMPLE_ROOM ? this.#maxWindow : Math.min(
      this.#maxWindow,
      this.startWindow + Math.ceil(MAX_GROWN / this.#streams.size),
    );
    // A window is made smaller by credit that does not go back.
    const change = size <= largest
      ? Math.min(size * (GROWTH - 1), largest - size, room)
      : -Math.min(size - largest, receive.pendingCredit);
    receive.size += change;
    receive.pendingCredit += change;
    this.#grown += change;
  }

  #returnStream(stream: StreamRecord, n: number): void {
    const { receive } = stream;
    receive.pendingCredit += n;
    if (this.#closed || receive.pendingCredit * CREDIT_SHARE < receive.size) return;
    // Padding gives credit as well, but shows nothing of the consumer.
    if (receive.consumed * CREDIT_SHARE >= receive.size) this.#resize(receive);
    if (receive.pendingCredit === 0) return;
    this.#writer.windowUpdate(stream.id, receive.pendingCredit);
    receive.left += receive.pendingCredit;
    receive.pendingCredit = 0;
    this.#wantWrite();
  }
}
