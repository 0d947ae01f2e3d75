// Files of a journal: reading one, and the mark beside it.

import { crc32 } from "node:zlib";
import { Reader } from "./codec.ts";
import { StoreDamagedError } from "./error.ts";
import { FRAME_BYTES, Frames } from "./frames.ts";
import { type JournalRecord, readRecord } from "./records.ts";

/** Bytes of a mark: a length and a checksum. */
const MARK_BYTES = 12;

/** Writes all of it, where the file stands. */
export function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
}

/** Writes up to where the journal is synced. It need not be synced itself: less is no lie. */
export function writeMark(mark: Deno.FsFile, length: number): void {
  const bytes = new Uint8Array(MARK_BYTES);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(length));
  view.setUint32(8, crc32(bytes.subarray(0, 8)));
  mark.seekSync(0, Deno.SeekMode.Start);
  writeAll(mark, bytes);
}

/**
 * Reads a mark. A journal that was never synced has an empty one.
 *
 * @throws {StoreDamagedError} If its checksum is wrong.
 */
export function readMark(path: string, mark: Deno.FsFile): number {
  const bytes = new Uint8Array(MARK_BYTES);
  mark.seekSync(0, Deno.SeekMode.Start);
  let filled = 0;
  for (;;) {
    const read = mark.readSync(bytes.subarray(filled));
    if (read === null || read === 0) break;
    filled += read;
  }
  if (filled === 0) return 0;
  const view = new DataView(bytes.buffer);
  if (filled < MARK_BYTES || view.getUint32(8) !== crc32(bytes.subarray(0, 8))) {
    throw new StoreDamagedError(path, 0, "its checksum is wrong");
  }
  return Number(view.getBigUint64(0));
}

/**
 * Gives every record of a journal to `onRecord` and says where the last whole one ends.
 *
 * @throws {StoreDamagedError} If something before `synced` cannot be read.
 */
export function load(
  path: string,
  file: Deno.FsFile,
  synced: number,
  onRecord: (record: JournalRecord) => void,
): number {
  const { size } = file.statSync();
  if (size < synced) {
    throw new StoreDamagedError(path, size, `it ends here, but was written up to ${synced}`);
  }
  const frames = new Frames(file, size);
  let at = 0;
  while (at < size) {
    const found = frames.read(at);
    if (found instanceof Uint8Array) {
      give(path, at, found, onRecord);
      at += found.length;
      continue;
    }
    if (at < synced || !found.torn) throw new StoreDamagedError(path, at, found.why);
    break;
  }
  return at;
}

function give(
  path: string,
  at: number,
  framed: Uint8Array,
  onRecord: (record: JournalRecord) => void,
): void {
  try {
    onRecord(readRecord(new Reader(framed.subarray(FRAME_BYTES))));
  } catch (cause) {
    throw new StoreDamagedError(path, at, (cause as Error).message, { cause });
  }
}
