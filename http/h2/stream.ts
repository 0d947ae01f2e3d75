import type { Template } from "../hpack/mod.ts";
import { type End, StreamRecord } from "./stream_record.ts";

/**
 * One HTTP/2 stream with its sending methods. Whoever uses the engine extends it, so that nothing else
 * is allocated per stream.
 */
export abstract class Stream extends StreamRecord {
  /**
   * Checks that the peer takes so many fields, and `more` octets besides: `sendHeaders` and `end` do not.
   *
   * @throws {HeadersTooLargeError} If it does not.
   */
  checkFields(fields: Template | readonly string[], more = 0): void {
    this.host.checkFields(fields, more);
  }

  /** Sends a field block; `end` also ends this side. */
  sendHeaders(fields: Template | readonly string[], end = false): void {
    this.host.outbound.headers(this, fields, end);
  }

  /**
   * Sends body octets, which the engine keeps until they are written: do not change them.
   * Returns a promise to wait for before sending more, or undefined if there is room.
   */
  sendData(bytes: Uint8Array, end = false): Promise<void> | undefined {
    return this.host.outbound.data(this, bytes, end);
  }

  /** Ends this side: with END_STREAM, or with trailers. */
  end(how: End = true): void {
    this.host.outbound.end(this, how);
  }

  /** Gives `n` consumed octets back to the peer's window. */
  consumed(n: number): void {
    this.host.consumed(this, n);
  }

  /** Ends the stream at once with RST_STREAM. Queued output is dropped; waiting senders go on. */
  reset(code: number): void {
    this.host.resetStream(this, code);
  }

  /** Marks that a handler runs for this stream: it counts against the limit until `release`. */
  hold(): void {
    this.held = true;
  }

  /** The handler ended. */
  release(): void {
    this.host.releaseStream(this);
  }
}
