/**
 * Bytes to frames: everything about a frame that can be checked without knowing its stream
 * (RFC 9113 §4, §6). Stateless but for a header block that spans CONTINUATION frames.
 */
import { ProtocolError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { Flag, FRAME_HEADER_SIZE, FrameType, MAX_STREAM_ID, readUint32 } from "./frame.ts";
import { SETTING_SIZE } from "./settings.ts";

/**
 * CONTINUATION frames one header block may span whatever their size, against floods (CVE-2024-27316).
 * More are allowed as far as they bring {@linkcode MIN_CONTINUATION_SIZE} bytes each on average.
 */
const MAX_SMALL_CONTINUATIONS = 8;
const MIN_CONTINUATION_SIZE = 1 << 10;

/** Work of a header block, and of the request it mostly is, in small frames. */
const HEADERS_WORK = 8;

/** So many bytes of a header block, as a power of two, are the work of a small frame. */
const FIELDS_SHIFT = 7;

/** Receives the frames a FrameReader finds. Payloads are `buf[start, end)`, valid during the call only. */
export interface FrameSink {
  /** `size` is what flow control counts: the whole payload with its padding. */
  onDataFrame(
    id: number,
    buf: Uint8Array,
    start: number,
    end: number,
    size: number,
    endStream: boolean,
  ): void;
  /** One complete header block. `dependsOn` is the stream id of its priority fields, or -1. */
  onHeaderBlock(
    id: number,
    buf: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
    dependsOn: number,
  ): void;
  onPriorityFrame(id: number, dependsOn: number): void;
  /** A PRIORITY frame of the wrong size is the one frame-size error that reaches its stream only. */
  onBadPrioritySize(id: number): void;
  onRstStreamFrame(id: number, code: number): void;
  onSettingsFrame(buf: Uint8Array, start: number, end: number): void;
  onSettingsAck(): void;
  onPingFrame(buf: Uint8Array, start: number, ack: boolean): void;
  onGoAwayFrame(lastStreamId: number, code: number, debug: Uint8Array): void;
  onWindowUpdateFrame(id: number, increment: number): void;
  onUnknownFrame(): void;
}

function frameSizeError(what: string, length: number): ProtocolError {
  return new ProtocolError(
    `Cannot read ${what}: current length is ${length}`,
    ErrorCode.FRAME_SIZE_ERROR,
  );
}

function protocolError(message: string): ProtocolError {
  return new ProtocolError(message, ErrorCode.PROTOCOL_ERROR);
}

/** Cuts bytes into frames and hands them to a sink. */
export class FrameReader {
  /** Frames read, and what their header blocks add: see {@linkcode HEADERS_WORK}. */
  work = 0;
  readonly #maxFrameSize: number;
  readonly #maxBlockSize: number;
  /** A header block whose END_HEADERS has not come. */
  #block: Uint8Array | null = null;
  #blockLength = 0;
  #blockId = 0;
  #blockEndStream = false;
  #blockDependsOn = -1;
  #continuations = 0;

  /**
   * `maxFrameSize` is the SETTINGS_MAX_FRAME_SIZE this side advertised. A block longer than
   * `maxBlockSize` bytes ends the connection: it would have to be kept to be decoded.
   */
  constructor(maxFrameSize: number, maxBlockSize: number) {
    this.#maxFrameSize = maxFrameSize;
    this.#maxBlockSize = maxBlockSize;
  }

  /** Bytes the frame at `buf[start]` needs in all, or 0 if its header is not complete yet. */
  frameSize(buf: Uint8Array, start: number, end: number): number {
    if (end - start < FRAME_HEADER_SIZE) return 0;
    return FRAME_HEADER_SIZE + ((buf[start]! << 16) | (buf[start + 1]! << 8) | buf[start + 2]!);
  }

  /**
   * Hands every whole frame in `buf[start, end)` to `sink`; returns where the first incomplete one
   * begins. Throws {@linkcode ProtocolError}.
   */
  read(buf: Uint8Array, start: number, end: number, sink: FrameSink): number {
    while (end - start >= FRAME_HEADER_SIZE) {
      const length = (buf[start]! << 16) | (buf[start + 1]! << 8) | buf[start + 2]!;
      // "An endpoint MUST send an error code of FRAME_SIZE_ERROR if a frame exceeds the size defined
      // in SETTINGS_MAX_FRAME_SIZE" (§4.2): said at once, before any of the payload is waited for.
      if (length > this.#maxFrameSize) {
        throw frameSizeError(`frame as length must be <= ${this.#maxFrameSize}`, length);
      }
      const payload = start + FRAME_HEADER_SIZE;
      if (end - payload < length) return start;
      this.work++;
      this.#frame(
        buf[start + 3]!,
        buf[start + 4]!,
        readUint32(buf, start + 5) & MAX_STREAM_ID,
        buf,
        payload,
        payload + length,
        sink,
      );
      start = payload + length;
    }
    return start;
  }

  #frame(
    type: number,
    flags: number,
    id: number,
    buf: Uint8Array,
    start: number,
    end: number,
    sink: FrameSink,
  ): void {
    // "Any frame of any other type or on a different stream between the frames of a header block is
    // a connection error of type PROTOCOL_ERROR" (§4.3).
    if (this.#block !== null && (type !== FrameType.CONTINUATION || id !== this.#blockId)) {
      throw protocolError(
        `Cannot read frame of type ${type} as stream ${this.#blockId} has an open header block`,
      );
    }
    const length = end - start;
    switch (type) {
      case FrameType.DATA: {
        if (id === 0) throw protocolError("Cannot read DATA on stream 0");
        let pad = 0;
        if (flags & Flag.PADDED) {
          pad = this.#padding(buf, start, end);
          start++;
        }
        sink.onDataFrame(id, buf, start, end - pad, length, (flags & Flag.END_STREAM) !== 0);
        return;
      }
      case FrameType.HEADERS: {
        if (id === 0) throw protocolError("Cannot read HEADERS on stream 0");
        if (flags & Flag.PADDED) {
          end -= this.#padding(buf, start, end);
          start++;
        }
        let dependsOn = -1;
        if (flags & Flag.PRIORITY) {
          if (end - start < 5) throw frameSizeError("priority fields of HEADERS", end - start);
          dependsOn = readUint32(buf, start) & MAX_STREAM_ID;
          start += 5;
        }
        this.work += HEADERS_WORK + (length >> FIELDS_SHIFT);
        const endStream = (flags & Flag.END_STREAM) !== 0;
        if (flags & Flag.END_HEADERS) {
          sink.onHeaderBlock(id, buf, start, end, endStream, dependsOn);
          return;
        }
        this.#block = buf.slice(start, end);
        this.#blockLength = end - start;
        this.#blockId = id;
        this.#blockEndStream = endStream;
        this.#blockDependsOn = dependsOn;
        this.#continuations = 0;
        return;
      }
      case FrameType.CONTINUATION: {
        const block = this.#block;
        if (block === null) {
          throw protocolError("Cannot read CONTINUATION without open header block");
        }
        this.work += length >> FIELDS_SHIFT;
        this.#continue(block, buf, start, end);
        if (flags & Flag.END_HEADERS) {
          const whole = this.#block!;
          this.#block = null;
          sink.onHeaderBlock(
            id,
            whole,
            0,
            this.#blockLength,
            this.#blockEndStream,
            this.#blockDependsOn,
          );
        }
        return;
      }
      case FrameType.PRIORITY:
        if (id === 0) throw protocolError("Cannot read PRIORITY on stream 0");
        if (length !== 5) sink.onBadPrioritySize(id);
        else sink.onPriorityFrame(id, readUint32(buf, start) & MAX_STREAM_ID);
        return;
      case FrameType.RST_STREAM:
        if (length !== 4) throw frameSizeError("RST_STREAM as length must be 4", length);
        if (id === 0) throw protocolError("Cannot read RST_STREAM on stream 0");
        sink.onRstStreamFrame(id, readUint32(buf, start));
        return;
      case FrameType.SETTINGS:
        if (id !== 0) throw protocolError(`Cannot read SETTINGS on stream ${id}`);
        if (flags & Flag.ACK) {
          if (length !== 0) {
            throw frameSizeError("acknowledging SETTINGS as length must be 0", length);
          }
          sink.onSettingsAck();
          return;
        }
        if (length % SETTING_SIZE !== 0) {
          throw frameSizeError("SETTINGS as length must be a multiple of 6", length);
        }
        sink.onSettingsFrame(buf, start, end);
        return;
      case FrameType.PUSH_PROMISE:
        // Clients cannot push, and we as a client send ENABLE_PUSH 0 (§8.4).
        throw protocolError("Cannot read PUSH_PROMISE as push is disabled");
      case FrameType.PING:
        if (length !== 8) throw frameSizeError("PING as length must be 8", length);
        if (id !== 0) throw protocolError(`Cannot read PING on stream ${id}`);
        sink.onPingFrame(buf, start, (flags & Flag.ACK) !== 0);
        return;
      case FrameType.GOAWAY:
        if (length < 8) throw frameSizeError("GOAWAY as length must be >= 8", length);
        if (id !== 0) throw protocolError(`Cannot read GOAWAY on stream ${id}`);
        sink.onGoAwayFrame(
          readUint32(buf, start) & MAX_STREAM_ID,
          readUint32(buf, start + 4),
          buf.slice(start + 8, end),
        );
        return;
      case FrameType.WINDOW_UPDATE:
        if (length !== 4) throw frameSizeError("WINDOW_UPDATE as length must be 4", length);
        sink.onWindowUpdateFrame(id, readUint32(buf, start) & MAX_STREAM_ID);
        return;
      default:
        // "Implementations MUST ignore and discard frames of unknown types" (§5.5).
        sink.onUnknownFrame();
    }
  }

  /** Padding bytes; the pad length byte itself stands at `start`. */
  #padding(buf: Uint8Array, start: number, end: number): number {
    if (end === start) throw frameSizeError("padded frame as length must be >= 1", 0);
    const pad = buf[start]!;
    // "If the length of the padding is the length of the frame payload or greater, the recipient
    // MUST treat this as a connection error of type PROTOCOL_ERROR" (§6.1).
    if (pad > end - start - 1) {
      throw protocolError(
        `Cannot read frame as padding must be < ${end - start}: current value is ${pad}`,
      );
    }
    return pad;
  }

  #continue(block: Uint8Array, buf: Uint8Array, start: number, end: number): void {
    const length = this.#blockLength + end - start;
    const most = MAX_SMALL_CONTINUATIONS + Math.floor(length / MIN_CONTINUATION_SIZE);
    if (++this.#continuations > most) {
      throw new ProtocolError(
        `Cannot read header block of ${length} bytes as CONTINUATION frames must be <= ${most}: current value is ${this.#continuations}`,
        ErrorCode.ENHANCE_YOUR_CALM,
      );
    }
    if (length > this.#maxBlockSize) {
      throw new ProtocolError(
        `Cannot read header block as its bytes must be <= ${this.#maxBlockSize}: current value is ${length}`,
        ErrorCode.ENHANCE_YOUR_CALM,
      );
    }
    let whole = block;
    if (length > block.length) {
      whole = new Uint8Array(Math.max(length, block.length * 2));
      whole.set(block.subarray(0, this.#blockLength));
    }
    whole.set(buf.subarray(start, end), this.#blockLength);
    this.#block = whole;
    this.#blockLength = length;
  }
}
