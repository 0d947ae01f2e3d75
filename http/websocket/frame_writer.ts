/**
 * Frames a server sends (RFC 6455 §5.2), unmasked and never fragmented.
 *
 * @module
 */
import { Opcode } from "./frame_reader.ts";

/** Bytes of the longest head of a frame that is not masked. */
const MAX_HEAD_BYTES = 10;
/** Small frames are cut from arrays of this size: an array for each would cost more than the frame. */
const SLAB_BYTES = 16 << 10;
/** Frames up to this size are cut from a slab. */
const MAX_SLAB_FRAME_BYTES = 2 << 10;

const encoder = new TextEncoder();
let slab = new Uint8Array(SLAB_BYTES);
let slabUsed = 0;

/** Room for a frame that nobody has written to. */
function room(size: number): Uint8Array {
  if (size > MAX_SLAB_FRAME_BYTES) return new Uint8Array(size);
  if (size > SLAB_BYTES - slabUsed) {
    slab = new Uint8Array(SLAB_BYTES);
    slabUsed = 0;
  }
  return slab.subarray(slabUsed, slabUsed + size);
}

/** Counts what of the last room was used. */
function used(frame: Uint8Array): Uint8Array {
  if (frame.buffer === slab.buffer) slabUsed = frame.byteOffset + frame.length;
  return frame;
}

const headSize = (length: number) => length < 126 ? 2 : length < 65536 ? 4 : 10;

/** Writes the head in front of a payload of `length` bytes that begins at `at`; returns its start. */
function putHead(frame: Uint8Array, at: number, first: number, length: number): number {
  const start = at - headSize(length);
  frame[start] = first;
  if (length < 126) {
    frame[start + 1] = length;
  } else if (length < 65536) {
    frame[start + 1] = 126;
    frame[start + 2] = length >> 8;
    frame[start + 3] = length;
  } else {
    frame[start + 1] = 127;
    let rest = length;
    for (let i = 9; i >= 2; i--) {
      frame[start + i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
  }
  return start;
}

/** A frame with a copy of `payload`. `deflated` sets the bit that says so (RFC 7692 §6). */
export function makeFrame(opcode: number, payload: Uint8Array, deflated = false): Uint8Array {
  const size = headSize(payload.length);
  const frame = room(size + payload.length);
  frame.set(payload, size);
  putHead(frame, size, 0x80 | (deflated ? 0x40 : 0) | opcode, payload.length);
  return used(frame);
}

/** A text frame; lone surrogates become U+FFFD. */
export function makeTextFrame(text: string): Uint8Array {
  // A character takes three bytes at most: where that could be much, it is counted first.
  if (text.length * 3 > MAX_SLAB_FRAME_BYTES) return makeFrame(Opcode.TEXT, encoder.encode(text));
  const frame = room(MAX_HEAD_BYTES + text.length * 3);
  const { written } = encoder.encodeInto(text, frame.subarray(MAX_HEAD_BYTES));
  const start = putHead(frame, MAX_HEAD_BYTES, 0x80 | Opcode.TEXT, written);
  return used(frame.subarray(start, MAX_HEAD_BYTES + written));
}

/** A Close frame; without `code` an empty one. `reason` has 123 bytes of UTF-8 at most. */
export function makeCloseFrame(code: number | undefined, reason: Uint8Array): Uint8Array {
  if (code === undefined) return makeFrame(Opcode.CLOSE, new Uint8Array(0));
  const payload = new Uint8Array(2 + reason.length);
  payload[0] = code >> 8;
  payload[1] = code;
  payload.set(reason, 2);
  return makeFrame(Opcode.CLOSE, payload);
}
