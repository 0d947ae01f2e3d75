import { BodyBuffer } from "../../http/engine.ts";
import { PREFIX_SIZE } from "../wire/message_stream.ts";

const NO_BYTES = new Uint8Array(0);

/**
 * Cuts a body into frames: one byte of flags, four of length, the payload. gRPC-Web and Connect's
 * streams have the same. Memory follows what came, not what a length announces.
 */
export class FrameReader {
  /** Flags of the frame that is read, or was read last. */
  flags = 0;
  readonly #check: (flags: number, length: number) => void;
  #prefixSeen = 0;
  #length = 0;
  /** The beginning of a payload that is split over pieces. */
  #partial: BodyBuffer | null = null;
  #payload: Uint8Array | null = null;

  /** `check` is called with each prefix, and throws if the frame cannot be taken. */
  constructor(check: (flags: number, length: number) => void) {
    this.#check = check;
  }

  /** Whether a frame has begun and not ended. */
  get midFrame(): boolean {
    return this.#prefixSeen > 0;
  }

  /** The payload of the frame that is complete, once; else null. It may be a view of the piece. */
  take(): Uint8Array | null {
    const payload = this.#payload;
    this.#payload = null;
    return payload;
  }

  /** Reads `piece` from `at` to the end of a frame or its own; returns where it stopped. */
  read(piece: Uint8Array, at: number): number {
    while (this.#prefixSeen < PREFIX_SIZE) {
      if (at === piece.length) return at;
      const byte = piece[at++]!;
      if (this.#prefixSeen++ === 0) {
        this.flags = byte;
        this.#length = 0;
      } else this.#length = this.#length * 256 + byte;
      if (this.#prefixSeen === PREFIX_SIZE) this.#check(this.flags, this.#length);
    }
    const length = this.#length;
    const have = this.#partial?.length ?? 0;
    const end = at + Math.min(length - have, piece.length - at);
    if (end - at === length) this.#complete(length === 0 ? NO_BYTES : piece.subarray(at, end));
    else {
      const partial = this.#partial ??= new BodyBuffer();
      partial.push(piece, at, end);
      if (partial.length === length) this.#complete(partial.takeAll());
    }
    return end;
  }

  #complete(payload: Uint8Array): void {
    this.#payload = payload;
    this.#partial = null;
    this.#prefixSeen = 0;
  }
}
