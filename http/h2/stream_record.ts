/**
 * The engine's record of a stream, and the interface between the two.
 *
 * @module
 */
import type { FieldBlock, Template } from "../hpack/mod.ts";
import { ErrorCode } from "../message/error_code.ts";
import { type Half, isOver } from "../message/exchange_state.ts";
import type { ReceiveWindow } from "./receive_window.ts";
import type { End, SendQueue } from "./send_queue.ts";
import type { Settings } from "./settings.ts";

/** Sends a stream's frames. */
interface StreamSender {
  /** Where frames are written. */
  readonly bytes: Uint8Array;
  /** Sends a field block; `end` also ends this side. */
  headers(stream: StreamRecord, fields: Template | readonly string[], end: boolean): void;
  /** Reserves room for body bytes that are filled in at once; -1 if they have to be queued. */
  reserve(stream: StreamRecord, length: number, end: boolean): number;
  /** Sends or queues body bytes; a promise to wait for, or undefined if there is room for more. */
  data(stream: StreamRecord, bytes: Uint8Array, end: boolean): Promise<void> | undefined;
  /** Ends this side behind the queued bytes. */
  end(stream: StreamRecord, how: End): void;
}

/** The connection of a stream, as the stream sees it. */
export interface StreamHost {
  /** Milliseconds; when the last input came. */
  readonly now: number;
  /** The peer's settings. */
  readonly peer: Readonly<Settings>;
  readonly sender: StreamSender;
  /** Throws `HeadersTooLargeError` if the peer does not take so many fields. */
  checkFields(fields: Template | readonly string[], more: number): void;
  /** The consumer of a stream took `n` bytes. */
  consumed(stream: StreamRecord, n: number): void;
  /** The response to come has no body, whatever its content-length says. */
  expectNoBody(stream: StreamRecord): void;
  /** Ends a stream with RST_STREAM. */
  reset(stream: StreamRecord, code: number): void;
  /** A handler runs for a stream. */
  handlerStarted(stream: StreamRecord): void;
  /** The handler of a stream ended. */
  handlerEnded(stream: StreamRecord): void;
}

/**
 * One HTTP/2 stream as its connection knows it. The engine calls the `on…` methods while it parses.
 *
 * Guarantees: `onHeaders` comes first (several times on a client: 1xx, then the response, then
 * trailers), `onData` in order, then exactly one of `onEnd` (the peer ended well) and `onReset` (it
 * did not). After a reset by the owner only `onClosed` comes, which is called once in any case.
 *
 * Its two sides are the states of RFC 9113 §5.1; there is no server push here, so that "reserved"
 * does not occur:
 *
 * | state | `local` | `remote` |
 * |---|---|---|
 * | idle | idle | idle |
 * | open | body | idle, body |
 * | half-closed (local) | ended | idle, body |
 * | half-closed (remote) | body | ended |
 * | closed | ended, failed | ended, failed |
 *
 * `remote` is idle until the final head has come; whether this side has sent its own is up to the
 * stream's user. Only the engine changes fields, as an {@linkcode EngineRecord}.
 */
export abstract class StreamRecord {
  /** The connection it lives on; set when it is opened or accepted. */
  readonly host!: StreamHost;
  /** Stream id, RFC 9113 §5.1.1; 0 before it is opened. */
  readonly id: number = 0;
  /** What this side sends. */
  readonly local: Half = "idle";
  /** What the peer sends. */
  readonly remote: Half = "idle";
  /** Bytes of DATA the peer allows. May be negative, RFC 9113 §6.9.2. */
  readonly sendWindow: number = 0;
  /** Flow control of what the peer sends; set when the stream is opened or accepted. */
  readonly receive!: ReceiveWindow;
  /** Body bytes still to come by content-length, or -1 if none was given. */
  readonly bodyBytesLeft: number = -1;
  /** Whether a handler runs for it: it then counts as open even after a reset. */
  readonly handlerRunning: boolean = false;
  /** Output held back, or null. */
  readonly queue: SendQueue | null = null;

  /** A field block came: request, response or trailers. `end` if the stream ends with it. */
  abstract onHeaders(block: FieldBlock, end: boolean): void;
  /**
   * Bytes `buf[start, end)` of the body came. They are overwritten when the call returns: use or
   * copy them now. Call `consumed` for them, now or later.
   */
  abstract onData(buf: Uint8Array, start: number, end: number): void;
  /** The peer ended its side well. */
  abstract onEnd(): void;
  /** The stream ended badly: `StreamResetError`, `ProtocolError`, `TimeoutError` or `ConnectionLostError`. */
  abstract onReset(error: Error): void;

  /**
   * The peer takes the queued bytes too slowly: `TimeoutError`. The stream is reset, and its user told
   * as of any bad end.
   */
  onSlow(error: Error): void {
    this.host.reset(this, ErrorCode.CANCEL);
    this.onReset(error);
  }

  /** The stream is gone in both directions, well or not: its connection has forgotten it. */
  onClosed(): void {}

  /** Whether the stream is over in both directions. */
  get closed(): boolean {
    return isOver(this.local) && isOver(this.remote);
  }

  /** Whether the peer may still send. */
  get receivable(): boolean {
    return !isOver(this.remote);
  }

  /** Whether this side may still send. */
  get sendable(): boolean {
    return !isOver(this.local) && (this.queue === null || this.queue.end === null);
  }

  /** Bytes that wait for the peer's windows, or for the socket. */
  get unsent(): number {
    return this.queue === null ? 0 : this.queue.length;
  }
}

/** A stream's record as the engine sees it, which alone may change it. */
export type EngineRecord = { -readonly [Name in keyof StreamRecord]: StreamRecord[Name] };
