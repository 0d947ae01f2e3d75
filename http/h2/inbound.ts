import {
  CREDIT_SHARE,
  GROWTH,
  INITIAL_CONNECTION_WINDOW,
  MAX_GROWN,
  START_WINDOW,
} from "./flow.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { StreamRecord } from "./stream_record.ts";
import type { OpenStreams } from "./stream_map.ts";
import { canReceive } from "./stream_state.ts";

/** Room to grow of a connection below which its streams are held to equal shares. */
const AMPLE_ROOM = MAX_GROWN / 4;

/** The receiving windows of a connection and its streams; policy in `flow.ts`. */
export class Inbound {
  /** Window streams start with. */
  readonly startWindow: number;
  readonly #maxWindow: number;
  readonly #connectionWindow: number;
  readonly #streams: OpenStreams;
  readonly #writer: FrameWriter;
  readonly #wantWrite: () => void;
  #window = INITIAL_CONNECTION_WINDOW;
  /** Octets to be given back to the peer by the next WINDOW_UPDATE of the connection. */
  #credit = 0;
  /** Octets the windows of open streams have grown by. */
  #grown = 0;
  /** DATA frames on streams nobody reads, and octets on all streams that were not taken. */
  #unreadFrames = 0;
  #unreadOctets = 0;
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

  /** Octets of DATA the peer may still send on the connection. */
  get window(): number {
    return this.#window;
  }

  /** DATA frames that wait on streams nobody has read much of. */
  get unreadFrames(): number {
    return this.#unreadFrames;
  }

  /** Octets that wait on all streams. */
  get unreadOctets(): number {
    return this.#unreadOctets;
  }

  /** Opens the connection's window from the protocol's 64 KiB to what was asked for. */
  open(): void {
    const more = this.#connectionWindow - INITIAL_CONNECTION_WINDOW;
    if (more <= 0) return;
    this.#writer.windowUpdate(0, more);
    this.#window += more;
  }

  /** The connection is over: nothing is given back any more. */
  close(): void {
    this.#closed = true;
  }

  /** A stream begins. */
  adopt(stream: StreamRecord): void {
    stream.window = stream.receiveWindow = this.startWindow;
  }

  /** DATA of that size, padding included, came. False if the connection's window is too small. */
  take(size: number): boolean {
    if (size > this.#window) return false;
    this.#window -= size;
    return true;
  }

  /** DATA was seen to, whatever became of it: the connection's credit goes back. */
  received(size: number): void {
    this.#credit += size;
    if (this.#closed || this.#credit * CREDIT_SHARE < this.#connectionWindow) return;
    this.#writer.windowUpdate(0, this.#credit);
    this.#window += this.#credit;
    this.#credit = 0;
    this.#wantWrite();
  }

  /** DATA for a stream: `length` octets for its consumer, the rest of `size` is padding. */
  deliver(stream: StreamRecord, length: number, size: number): void {
    if (length > 0) {
      stream.unconsumed += length;
      this.#unreadOctets += length;
      // Where a window has grown, there is somebody who reads.
      if (stream.window === this.startWindow) {
        stream.unreadFrames++;
        this.#unreadFrames++;
      }
    }
    if (size > length) this.#returnStream(stream, size - length);
    this.received(size);
  }

  /** The consumer of a stream took `n` octets. */
  consumed(stream: StreamRecord, n: number): void {
    const unread = stream.unconsumed;
    // A stream that is over has given everything back already.
    if (n > unread) n = unread;
    if (n === 0) return;
    stream.unconsumed = unread - n;
    this.#unreadOctets -= n;
    const frames = n === unread
      ? stream.unreadFrames
      : Math.floor(stream.unreadFrames * n / unread);
    stream.unreadFrames -= frames;
    this.#unreadFrames -= frames;
    if (!canReceive(stream.state)) return this.ended(stream);
    stream.consumedOctets += n;
    this.#returnStream(stream, n);
  }

  /** The peer sends no more on this stream: room for more than what is here may go to others. */
  ended(stream: StreamRecord): void {
    const needed = Math.max(this.startWindow, stream.unconsumed);
    if (stream.window <= needed) return;
    this.#grown -= stream.window - needed;
    stream.window = needed;
  }

  /** A stream is over: what it had not consumed counts no more. */
  drop(stream: StreamRecord): void {
    this.#unreadOctets -= stream.unconsumed;
    this.#unreadFrames -= stream.unreadFrames;
    stream.unconsumed = stream.unreadFrames = 0;
    this.#grown -= stream.window - this.startWindow;
    stream.window = this.startWindow;
  }

  /** The consumer keeps up: its stream's window grows, as far as there is room for that. */
  #resize(stream: StreamRecord): void {
    stream.consumedOctets = 0;
    const { window } = stream;
    const room = MAX_GROWN - this.#grown;
    const largest = room >= AMPLE_ROOM ? this.#maxWindow : Math.min(
      this.#maxWindow,
      this.startWindow + Math.ceil(MAX_GROWN / this.#streams.size),
    );
    // A window is made smaller by credit that does not go back.
    const change = window <= largest
      ? Math.min(window * (GROWTH - 1), largest - window, room)
      : -Math.min(window - largest, stream.credit);
    stream.window += change;
    stream.credit += change;
    this.#grown += change;
  }

  #returnStream(stream: StreamRecord, n: number): void {
    stream.credit += n;
    if (this.#closed || stream.credit * CREDIT_SHARE < stream.window) return;
    // Padding gives credit as well, but shows nothing of the consumer.
    if (stream.consumedOctets * CREDIT_SHARE >= stream.window) this.#resize(stream);
    if (stream.credit === 0) return;
    this.#writer.windowUpdate(stream.id, stream.credit);
    stream.receiveWindow += stream.credit;
    stream.credit = 0;
    this.#wantWrite();
  }
}
