import { CREDIT_SHARE, INITIAL_CONNECTION_WINDOW } from "./flow.ts";
import type { FrameWriter } from "./frame_writer.ts";
import type { Stream } from "./stream.ts";
import { canReceive } from "./stream_state.ts";

/** The receiving windows of a connection and its streams; policy in `flow.ts`. */
export class Inbound {
  readonly #streamWindow: number;
  readonly #connectionWindow: number;
  readonly #maxUnconsumed: number;
  readonly #writer: FrameWriter;
  readonly #wantWrite: () => void;
  #window = INITIAL_CONNECTION_WINDOW;
  /** Octets to be given back to the peer by the next WINDOW_UPDATE of the connection. */
  #credit = 0;
  /** Octets received that their consumers have not taken. */
  #unconsumed = 0;
  #closed = false;

  constructor(
    streamWindow: number,
    connectionWindow: number,
    maxUnconsumed: number,
    writer: FrameWriter,
    wantWrite: () => void,
  ) {
    this.#streamWindow = streamWindow;
    this.#connectionWindow = connectionWindow;
    this.#maxUnconsumed = maxUnconsumed;
    this.#writer = writer;
    this.#wantWrite = wantWrite;
  }

  /** Octets of DATA the peer may still send on the connection. */
  get window(): number {
    return this.#window;
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

  /** DATA of that size, padding included, came. False if the connection's window is too small. */
  take(size: number): boolean {
    if (size > this.#window) return false;
    this.#window -= size;
    return true;
  }

  /** DATA that nobody will consume goes back at once. */
  discard(size: number): void {
    this.#return(size);
  }

  /** DATA for a stream: `length` octets for its consumer, the rest of `size` is padding. */
  deliver(stream: Stream, length: number, size: number): void {
    stream.unconsumed += length;
    this.#unconsumed += length;
    if (size > length) this.#returnStream(stream, size - length);
    if (this.#unconsumed < this.#maxUnconsumed) this.#return(size);
    else this.#credit += size;
  }

  /** The consumer of a stream took `n` octets. */
  consumed(stream: Stream, n: number): void {
    // A stream that is over has given everything back already.
    if (n > stream.unconsumed) n = stream.unconsumed;
    if (n === 0) return;
    stream.unconsumed -= n;
    this.#unconsumed -= n;
    if (this.#credit > 0 && this.#unconsumed < this.#maxUnconsumed) this.#return(0);
    if (canReceive(stream.state)) this.#returnStream(stream, n);
  }

  /** A stream is over: what it had not consumed counts no more. */
  drop(stream: Stream): void {
    if (stream.unconsumed > 0) this.consumed(stream, stream.unconsumed);
  }

  #returnStream(stream: Stream, n: number): void {
    stream.credit += n;
    if (this.#closed || stream.credit * CREDIT_SHARE < this.#streamWindow) return;
    this.#writer.windowUpdate(stream.id, stream.credit);
    stream.receiveWindow += stream.credit;
    stream.credit = 0;
    this.#wantWrite();
  }

  #return(n: number): void {
    this.#credit += n;
    if (this.#closed || this.#credit * CREDIT_SHARE < this.#connectionWindow) return;
    this.#writer.windowUpdate(0, this.#credit);
    this.#window += this.#credit;
    this.#credit = 0;
    this.#wantWrite();
  }
}
