import {
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import { BodyBuffer, checkChoice, ZstdFrames } from "../../http/engine.ts";

/** How messages are compressed. */
export type Encoding = "gzip" | "deflate" | "zstd";

/** Encodings, most wanted first: every implementation of gRPC has the first. */
export const ENCODINGS: readonly Encoding[] = ["gzip", "deflate", "zstd"];

/** Message encodings understood here, as sent in `grpc-accept-encoding`. */
export const ACCEPT_ENCODING = `identity,${ENCODINGS.join()}`;

/** Names one `grpc-accept-encoding` is read for. */
const MAX_NAMES = 16;

/** Whether a text names an encoding that messages can be put in here. */
export function isEncoding(name: string): name is Encoding {
  return (ENCODINGS as readonly string[]).includes(name);
}

/** Whether messages in this encoding can be read. */
export function isKnownEncoding(encoding: string): boolean {
  return encoding === "identity" || isEncoding(encoding);
}

/** The names in a `grpc-accept-encoding`. */
export function encodingNames(accept: string): readonly string[] {
  return accept.split(",", MAX_NAMES).map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}

/** The wanted encoding if the other side accepts it, else the best that it accepts, or null. */
export function chooseEncoding(
  accepted: readonly string[],
  wanted: Encoding | undefined,
): Encoding | null {
  if (wanted !== undefined && accepted.includes(wanted)) return wanted;
  return ENCODINGS.find((one) => accepted.includes(one)) ?? null;
}

/** Checks an option that names an encoding. Throws `TypeError` if it names none. */
export function checkEncoding(what: string, encoding: unknown): void {
  if (encoding !== undefined) checkChoice(what, "encoding", encoding, ENCODINGS);
}

/** Messages below this size gain nothing from compression. */
export const MIN_COMPRESS_SIZE = 1024;

/** The longest array the platform makes. */
const MAX_LENGTH = 0x7fff_ffff;

/** Frames of zstd one message may have. */
const MAX_ZSTD_FRAMES = 16;

/** Window of zstd at most, as in HTTP (RFC 9659 §3): 8 MiB, as a power of two. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

/** Compresses one message. "deflate" is the zlib format, as HTTP has it. */
export function compress(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case "gzip":
      return gzipSync(bytes);
    case "deflate":
      return deflateSync(bytes);
    case "zstd":
      return withoutEmptyFrame(zstdCompressSync(bytes));
  }
}

/** A frame of zstd without content, which the platform puts behind some messages. */
const EMPTY_FRAME = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0]);

function withoutEmptyFrame(bytes: Uint8Array): Uint8Array {
  const at = bytes.length - EMPTY_FRAME.length;
  return at > 0 && EMPTY_FRAME.every((byte, i) => bytes[at + i] === byte)
    ? bytes.subarray(0, at)
    : bytes;
}

/** Bytes of a block of zstd at most (RFC 8878 §3.1.1.2.4). */
const MAX_ZSTD_BLOCK = 128 << 10;

/** Puts one message in an encoding's frame as it is, so that its length tells nothing of its content. */
export function store(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case "gzip":
      return gzipSync(bytes, { level: 0 });
    case "deflate":
      return deflateSync(bytes, { level: 0 });
    case "zstd": {
      const blocks = Math.max(1, Math.ceil(bytes.length / MAX_ZSTD_BLOCK));
      const out = new Uint8Array(9 + 3 * blocks + bytes.length);
      const view = new DataView(out.buffer);
      view.setUint32(0, 0xfd2fb528, true);
      // One segment, its size in four bytes, no checksum, no dictionary (§3.1.1.1.1).
      out[4] = 0xa0;
      view.setUint32(5, bytes.length, true);
      let at = 9;
      for (let i = 0; i < blocks; i++) {
        const block = bytes.subarray(i * MAX_ZSTD_BLOCK, (i + 1) * MAX_ZSTD_BLOCK);
        const header = block.length << 3 | (i === blocks - 1 ? 1 : 0);
        view.setUint16(at, header, true);
        out[at + 2] = header >>> 16;
        out.set(block, at + 3);
        at += 3 + block.length;
      }
      return out;
    }
  }
}

/**
 * Decompresses one message, stopping at `limit` bytes of output: RESOURCE_EXHAUSTED past it,
 * INTERNAL if the bytes are not what `encoding` says.
 */
export function decompress(encoding: string, bytes: Uint8Array, limit: number): Uint8Array {
  if (!isEncoding(encoding)) {
    throw new ConnectError(
      `message is compressed but grpc-encoding is ${encoding || "absent"}`,
      Code.Internal,
    );
  }
  try {
    const maxOutputLength = Math.min(Math.max(limit, 1), MAX_LENGTH);
    switch (encoding) {
      case "gzip":
        return gunzipSync(bytes, { maxOutputLength });
      case "deflate":
        return inflateSync(bytes, { maxOutputLength });
      case "zstd":
        return decompressZstd(bytes, maxOutputLength);
    }
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") {
      throw new ConnectError(
        `decompressed message is larger than max (${limit} bytes)`,
        Code.ResourceExhausted,
      );
    }
    throw new ConnectError(`cannot decompress message: ${encoding} data is corrupt`, Code.Internal);
  }
}

/**
 * Decompresses frame by frame: the platform looks at the first alone, and says nothing where the input
 * ends early.
 */
function decompressZstd(bytes: Uint8Array, limit: number): Uint8Array {
  const frames = new ZstdFrames();
  const parts = frames.split(bytes);
  if (!frames.complete || frames.over || parts.length > MAX_ZSTD_FRAMES) {
    throw new Error(`a message must be at most ${MAX_ZSTD_FRAMES} whole frames of zstd`);
  }
  const body = new BodyBuffer();
  for (const part of parts) {
    const maxOutputLength = Math.max(limit - body.length, 1);
    body.add(zstdDecompressSync(part, { maxOutputLength, params: ZSTD_PARAMS }));
  }
  return body.takeAll();
}
