import { Encoder, Template } from "../hpack/mod.ts";
import {
  Flag,
  FRAME_HEADER_SIZE,
  FrameType,
  MIN_MAX_FRAME_SIZE,
  writeFrameHeader,
  writeUint32,
} from "./frame.ts";
import { OutBuffer } from "../net/out_buffer.ts";
import { SETTING_SIZE, writeSettings } from "./settings.ts";

/** Writes frames in place into one {@linkcode OutBuffer}. Knows no streams and no windows. */
export class FrameWriter {
  readonly out: OutBuffer = new OutBuffer();
  readonly encoder: Encoder = new Encoder();
  /** SETTINGS_MAX_FRAME_SIZE of the peer. */
  maxFrameSize: number = MIN_MAX_FRAME_SIZE;

  /** Raw bytes: the client's preface. */
  raw(bytes: Uint8Array): void {
    this.out.reserve(bytes.length);
    this.out.bytes.set(bytes, this.out.length);
    this.out.length += bytes.length;
  }

  /** HEADERS, with CONTINUATION where one frame does not hold the block. */
  headers(id: number, fields: Template | readonly string[], endStream: boolean): void {
    const out = this.out;
    const start = out.length;
    const payload = start + FRAME_HEADER_SIZE;
    let end: number;
    if (fields instanceof Template) {
      out.reserve(FRAME_HEADER_SIZE + this.encoder.boundTemplate(fields));
      end = this.encoder.encodeTemplate(out.bytes, payload, fields);
    } else {
      out.reserve(FRAME_HEADER_SIZE + this.encoder.bound(fields));
      end = this.encoder.encode(out.bytes, payload, fields);
    }
    const length = end - payload;
    const endFlag = endStream ? Flag.END_STREAM : 0;
    if (length <= this.maxFrameSize) {
      writeFrameHeader(out.bytes, start, length, FrameType.HEADERS, Flag.END_HEADERS | endFlag, id);
      out.length = end;
      return;
    }
    this.#split(id, out.bytes.slice(payload, end), endFlag);
  }

  #split(id: number, block: Uint8Array, endFlag: number): void {
    const out = this.out;
    for (let from = 0; from < block.length;) {
      const piece = block.subarray(from, from + this.maxFrameSize);
      const first = from === 0;
      from += piece.length;
      out.reserve(FRAME_HEADER_SIZE + piece.length);
      const payload = writeFrameHeader(
        out.bytes,
        out.length,
        piece.length,
        first ? FrameType.HEADERS : FrameType.CONTINUATION,
        (first ? endFlag : 0) | (from === block.length ? Flag.END_HEADERS : 0),
        id,
      );
      out.bytes.set(piece, payload);
      out.length = payload + piece.length;
    }
  }

  /** Header of a DATA frame with room for its `length` bytes, which the caller writes at the result. */
  data(id: number, length: number, endStream: boolean): number {
    const out = this.out;
    out.reserve(FRAME_HEADER_SIZE + length);
    const payload = writeFrameHeader(
      out.bytes,
      out.length,
      length,
      FrameType.DATA,
      endStream ? Flag.END_STREAM : 0,
      id,
    );
    out.length = payload + length;
    return payload;
  }

  settings(entries: readonly (readonly [number, number])[]): void {
    const length = entries.length * SETTING_SIZE;
    const payload = this.#frame(length, FrameType.SETTINGS, 0, 0);
    writeSettings(this.out.bytes, payload, entries);
  }

  settingsAck(): void {
    this.#frame(0, FrameType.SETTINGS, Flag.ACK, 0);
  }

  /** `buf[start, start + 8)` is the opaque data. */
  ping(buf: Uint8Array, start: number, ack: boolean): void {
    const payload = this.#frame(8, FrameType.PING, ack ? Flag.ACK : 0, 0);
    this.out.bytes.set(buf.subarray(start, start + 8), payload);
  }

  goAway(lastStreamId: number, code: number, debug: Uint8Array): void {
    const payload = this.#frame(8 + debug.length, FrameType.GOAWAY, 0, 0);
    const at = writeUint32(this.out.bytes, payload, lastStreamId);
    this.out.bytes.set(debug, writeUint32(this.out.bytes, at, code));
  }

  rstStream(id: number, code: number): void {
    const payload = this.#frame(4, FrameType.RST_STREAM, 0, id);
    writeUint32(this.out.bytes, payload, code);
  }

  windowUpdate(id: number, increment: number): void {
    const payload = this.#frame(4, FrameType.WINDOW_UPDATE, 0, id);
    writeUint32(this.out.bytes, payload, increment);
  }

  #frame(length: number, type: number, flags: number, id: number): number {
    const out = this.out;
    out.reserve(FRAME_HEADER_SIZE + length);
    const payload = writeFrameHeader(out.bytes, out.length, length, type, flags, id);
    out.length = payload + length;
    return payload;
  }
}
