// Framed records in a file, and what is wrong where there is none.

import { crc32 } from "node:zlib";

/** Bytes of length and checksum in front of a record. */
export const FRAME_BYTES = 8;

/** The largest record: a request of the largest size with all its keys. */
const MAX_RECORD_BYTES = 1 << 30;

/** Bytes read at once when a journal is opened. */
const READ_BYTES = 4 << 20;

/** The checksum of a framed record: of its length and its bytes. */
export function checksum(framed: Uint8Array): number {
  return crc32(framed.subarray(FRAME_BYTES), crc32(framed.subarray(0, 4)));
}

/** Why a record cannot be read. `torn`: as a write looks that was cut off. */
interface Fault {
  readonly why: string;
  readonly torn: boolean;
}

/** Bytes of a disk's sector: what is written is there by sectors, or not. */
const SECTOR_BYTES = 512;

/** Reads the records of a file, which it takes in in large pieces. */
export class Frames {
  readonly #file: Deno.FsFile;
  readonly #size: number;
  #bytes = new Uint8Array(0);
  /** Where in the file the piece begins. */
  #start = 0;

  constructor(file: Deno.FsFile, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** The bytes of the file from `at` on, `length` of them. */
  #view(at: number, length: number): Uint8Array {
    const offset = at - this.#start;
    if (offset >= 0 && offset + length <= this.#bytes.length) {
      return this.#bytes.subarray(offset, offset + length);
    }
    const bytes = new Uint8Array(Math.min(this.#size - at, Math.max(length, READ_BYTES)));
    this.#file.seekSync(at, Deno.SeekMode.Start);
    let filled = 0;
    while (filled < bytes.length) {
      const read = this.#file.readSync(bytes.subarray(filled));
      if (read === null) break;
      filled += read;
    }
    this.#bytes = bytes.subarray(0, filled);
    this.#start = at;
    return this.#bytes.subarray(0, length);
  }

  /** The framed record at a place, valid until the next one is read; or why there is none. */
  read(at: number): Uint8Array | Fault {
    const left = this.#size - at;
    if (left < FRAME_BYTES) return { why: "a record is cut off", torn: true };
    const head = this.#view(at, FRAME_BYTES);
    const view = new DataView(head.buffer, head.byteOffset, FRAME_BYTES);
    const length = view.getUint32(0);
    const expected = view.getUint32(4);
    const whole = FRAME_BYTES + length;
    // Nothing but zeros up to the end is room that was taken and never written.
    if (length === 0) return { why: "a record is empty", torn: this.#zeros(at, left) };
    if (length > MAX_RECORD_BYTES) return { why: `a record has ${length} bytes`, torn: false };
    if (whole > left) return { why: "a record is cut off", torn: true };
    const framed = this.#view(at, whole);
    if (checksum(framed) === expected) return framed;
    // Behind the last record nothing may follow, and a part that was not written is zero.
    return { why: "a checksum is wrong", torn: whole === left && hasZeroSector(framed, at) };
  }

  #zeros(at: number, length: number): boolean {
    for (let done = 0; done < length; done += READ_BYTES) {
      const part = this.#view(at + done, Math.min(READ_BYTES, length - done));
      if (part.some((byte) => byte !== 0)) return false;
    }
    return true;
  }
}

function hasZeroSector(framed: Uint8Array, at: number): boolean {
  const first = Math.ceil(at / SECTOR_BYTES) * SECTOR_BYTES - at;
  for (let start = first; start < framed.length; start += SECTOR_BYTES) {
    if (framed.subarray(start, start + SECTOR_BYTES).every((byte) => byte === 0)) return true;
  }
  return false;
}
