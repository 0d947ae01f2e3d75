/** Frame types, flags and limits of RFC 9113 §4 and §6. */

/** Frame types, RFC 9113 §6. */
export const FrameType = {
  DATA: 0x0,
  HEADERS: 0x1,
  PRIORITY: 0x2,
  RST_STREAM: 0x3,
  SETTINGS: 0x4,
  PUSH_PROMISE: 0x5,
  PING: 0x6,
  GOAWAY: 0x7,
  WINDOW_UPDATE: 0x8,
  CONTINUATION: 0x9,
} as const;

/** Frame flags, RFC 9113 §6. `ACK` and `END_STREAM` share a bit: they belong to different frames. */
export const Flag = {
  ACK: 0x1,
  END_STREAM: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const;

/** Bytes before the payload of every frame: length 24, type 8, flags 8, R 1, stream id 31. */
export const FRAME_HEADER_SIZE = 9;

/** The frame size every endpoint must accept and the smallest that may be advertised, RFC 9113 §4.2. */
export const MIN_MAX_FRAME_SIZE = 16_384;

/** The largest frame size that may be advertised, RFC 9113 §6.5.2. */
export const MAX_MAX_FRAME_SIZE = 16_777_215;

/** Stream ids are 31 bits, RFC 9113 §5.1.1. */
export const MAX_STREAM_ID = 0x7fff_ffff;

/** Sent by clients before their first frame, RFC 9113 §3.4. */
export const PREFACE: Uint8Array = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Writes a frame header at `offset` and returns the offset of the payload. */
export function writeFrameHeader(
  out: Uint8Array,
  offset: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  out[offset] = length >>> 16;
  out[offset + 1] = length >>> 8;
  out[offset + 2] = length;
  out[offset + 3] = type;
  out[offset + 4] = flags;
  return writeUint32(out, offset + 5, streamId);
}

/** Writes 32 bits in network order and returns the next offset. */
export function writeUint32(out: Uint8Array, offset: number, value: number): number {
  out[offset] = value >>> 24;
  out[offset + 1] = value >>> 16;
  out[offset + 2] = value >>> 8;
  out[offset + 3] = value;
  return offset + 4;
}

/** Reads 32 bits in network order. */
export function readUint32(buf: Uint8Array, offset: number): number {
  return ((buf[offset]! << 24) | (buf[offset + 1]! << 16) | (buf[offset + 2]! << 8) |
    buf[offset + 3]!) >>> 0;
}
