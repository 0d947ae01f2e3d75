import { gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";

/** Message encodings understood here, as sent in `grpc-accept-encoding`. */
export const ACCEPT_ENCODING = "identity,gzip,deflate";

/** Whether messages in this encoding can be read. */
export function isKnownEncoding(encoding: string): boolean {
  return encoding === "identity" || encoding === "gzip" || encoding === "deflate";
}

/** Messages below this size gain nothing from compression. */
export const MIN_COMPRESS_SIZE = 1024;

/** Compresses with gzip. */
export function compress(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes);
}

/**
 * Decompresses one message, stopping at `limit` octets of output: RESOURCE_EXHAUSTED past it,
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
    const options = { maxOutputLength: limit };
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
