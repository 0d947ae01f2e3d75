/**
 * Writes one message into an out-buffer: a head that waits until the first bytes of the body show how
 * the message is framed, then the body. Knows no role and no socket.
 *
 * @module
 */
import { checkEnd, checkSent } from "../message/body_length.ts";
import type { FlatHeaders } from "../message/headers.ts";
import type { OutBuffer } from "../net/out_buffer.ts";
import { writeChunk, writeLastChunk } from "./write.ts";

/** How a body is framed: not at all, by its length, in chunks, by the end of the connection. */
export type Framing = "none" | "length" | "chunked" | "eof";

/** Text (sent as UTF-8) or bytes. */
type Piece = string | Uint8Array;

const encoder = new TextEncoder();
/** Text up to a third of this is encoded without a fresh array. Measured: 128 characters 80 ns, not 290. */
const scratch = new Uint8Array(4 << 10);

/** UTF-8 of a piece. Text may lie in the scratch area: it is valid until the next call. */
function bytesOf(piece: Piece): Uint8Array {
  if (typeof piece !== "string") return piece;
  if (piece.length * 3 > scratch.length) return encoder.encode(piece);
  return scratch.subarray(0, encoder.encodeInto(piece, scratch).written);
}

/** Pieces up to this size may wait for what follows before the head is written. */
const MAX_HELD_BYTES = 64 << 10;

/** See the module. What a role knows of heads is in its child. */
export abstract class MessageWriter {
  protected readonly out: OutBuffer;
  /** Whether a head was given that waits to be written. */
  headWaits = false;
  readonly #what: "request" | "response";
  #framing: Framing | null = null;
  /** Bytes of the body that the head tells of, or -1. */
  #declared = -1;
  /** Whether a first piece is held back, for it may be the whole body. */
  #holds = false;
  #held: Piece | null = null;
  #sent = 0;

  constructor(out: OutBuffer, what: "request" | "response") {
    this.out = out;
    this.#what = what;
  }

  /**
   * Takes the head. `declared` is the length of the body that the sender has to keep, or -1; with
   * `holds` a first piece waits with the head.
   */
  protected begin(declared: number, holds: boolean): void {
    this.headWaits = true;
    this.#declared = declared;
    this.#holds = holds;
  }

  /**
   * Writes the head. `length` is that of the body if it is known whole, else -1. The result is how the
   * body is framed.
   */
  protected abstract writeHead(length: number): Framing;

  /** Forgets a head that was not written, and what of the body waits with it. False if it was. */
  drop(): boolean {
    if (this.#framing !== null) return false;
    this.headWaits = false;
    this.#held = null;
    this.#declared = -1;
    return true;
  }

  /** Whether a head waits, and nothing of the body with it. */
  get headAlone(): boolean {
    return this.headWaits && this.#held === null;
  }

  /** Writes the head and what was held back, if that has not been done. */
  commit(): void {
    if (!this.headWaits) return;
    this.#commitHead(-1);
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#append(bytesOf(held));
  }

  #commitHead(length: number): void {
    this.headWaits = false;
    this.#framing = this.writeHead(length);
    if (this.#framing === "length" && this.#declared < 0) this.#declared = length;
  }

  /**
   * Writes a piece of the body. False if it waits with the head.
   *
   * @throws {RangeError} If that is more than the head told of. Nothing was written then.
   */
  write(piece: Piece): boolean {
    if (
      this.headWaits && this.#holds && this.#held === null && piece.length > 0 &&
      piece.length < MAX_HELD_BYTES
    ) {
      // A caller that waits before it goes on may change its array afterwards.
      this.#held = typeof piece === "string" ? piece : piece.slice();
      return false;
    }
    if (this.#declared < 0) {
      this.commit();
      this.#append(bytesOf(piece));
      return true;
    }
    // Checked before the head leaves. A head with a length has no piece held back beside it.
    const bytes = bytesOf(piece);
    checkSent(this.#declared, this.#sent + bytes.length);
    this.commit();
    this.#append(bytes);
    return true;
  }

  /**
   * Ends the message, with a last piece and trailers if there are any.
   *
   * @throws {RangeError} If the body is not as long as the head told. Nothing was written then.
   */
  end(piece: Piece | null, trailers: FlatHeaders | null): void {
    let bytes: Uint8Array | null = null;
    if (this.#declared >= 0) {
      if (piece !== null) bytes = bytesOf(piece);
      checkEnd(this.#what, this.#declared, this.#sent + (bytes === null ? 0 : bytes.length));
    }
    if (this.headWaits) {
      if (this.#held !== null && piece === null) {
        piece = this.#held;
        this.#held = null;
      }
      if (this.#held === null && trailers === null) {
        // The body is known whole before anything was sent.
        bytes ??= piece === null ? null : bytesOf(piece);
        this.#commitHead(bytes === null ? 0 : bytes.length);
      } else this.commit();
    }
    if (piece !== null) this.#append(bytes ?? bytesOf(piece));
    if (this.#framing === "chunked") writeLastChunk(this.out, trailers);
  }

  #append(bytes: Uint8Array): void {
    this.#sent += bytes.length;
    if (this.#framing === "chunked") writeChunk(this.out, bytes);
    else if (this.#framing !== "none") this.out.append(bytes);
  }
}
