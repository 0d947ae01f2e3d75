import { deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";

/** How messages are compressed. */
export type Encoding = "gzip" | "deflate";

/** Message encodings understood here, as sent in `grpc-accept-encoding`. */
export const ACCEPT_ENCODING = "identity,gzip,deflate";

/** Whether messages in this encoding can be read. */
export function isKnownEncoding(encoding: string): boolean {
  return encoding === "identity" || encoding === "gzip" || encoding === "deflate";
}

/** The best of the encodings in a `grpc-accept-encoding`, or null. */
export function acceptedEncoding(accept: string): Encoding | null {
  const names = accept.split(",").map((name) => name.trim().toLowerCase());
  return names.includes("gzip") ? "gzip" : names.includes("deflate") ? "deflate" : null;
}

/** Messages below this size gain nothing from compression. */
export const MIN_COMPRESS_SIZE = 1024;

/** The longest array the platform makes. */
const MAX_LENGTH = 0x7fff_ffff;

/** Compresses one message. "deflate" is the zlib format, as HTTP has it. */
export function compress(bytes: Uint8Array, encoding: Encoding = "gzip"): Uint8Array {
  return encoding === "gzip" ? gzipSync(bytes) : deflateSync(bytes);
}

/**
 * Decompresses one message, stopping at `limit` bytes of output: RESOURCE_EXHAUSTED past it,
 * INTERNAL if the bytes are not what `encoding` says.
 */
export function decompress(encoding: string, bytes: Uint8Array, limit: number): Uint8Array {
  if (encoding !== "gzip" && encoding !== "deflate") {
    throw new ConnectError(
      `message is compressed but grpc-encoding is ${encoding || "absent"}`,
      Code.Internal,
    );
  }
  try {
    const options = { maxOutputLength: Math.min(Math.max(limit, 1), MAX_LENGTH) };
    return encoding === "gzip" ? gunzipSync(bytes, options) : inflateSync(bytes, options);
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
