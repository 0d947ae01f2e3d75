/**
 * Undoes the codings of a body (RFC 9110 §8.4.1), in pieces and within a limit: a hundred octets may
 * decode to gigabytes.
 *
 * @module
 */
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import type { Transform } from "node:stream";
import { ProtocolError } from "./error.ts";
import { ErrorCode } from "./h2/code.ts";
import { BodyTooLargeError } from "./limits.ts";

/** Codings one body may have on top of each other. */
export const MAX_CODINGS = 5;

/** What is asked for. */
export const ACCEPT_ENCODING = "gzip, deflate, br, zstd";

type Coding = "gzip" | "deflate" | "br" | "zstd";

/** The source of a body: the next piece, or null at the end. */
export type PieceSource = () => Promise<Uint8Array | null>;

/**
 * The codings named in a `content-encoding`, first applied first; null if one is not known, and the
 * body stays as it is.
 *
 * @throws {ProtocolError} If there are too many.
 */
export function parseCodings(value: string | undefined): Coding[] | null {
  if (value === undefined) return [];
  const codings: Coding[] = [];
  for (const item of value.split(",")) {
    switch (item.trim().toLowerCase()) {
      case "":
      case "identity":
        break;
      case "gzip":
      case "x-gzip":
        codings.push("gzip");
        break;
      case "deflate":
        codings.push("deflate");
        break;
      case "br":
        codings.push("br");
        break;
      case "zstd":
        codings.push("zstd");
        break;
      default:
        return null;
    }
  }
  if (codings.length > MAX_CODINGS) {
    throw new ProtocolError(
      `Content-encoding must name <= ${MAX_CODINGS} codings: got ${codings.length}`,
      ErrorCode.PROTOCOL_ERROR,
      "stream",
    );
  }
  return codings;
}

/**
 * A source of the decoded body. Rejects with {@linkcode BodyTooLargeError} beyond `limit` octets
 * (0: none), and with {@linkcode ProtocolError} if the data is damaged or ends early.
 */
export function decompress(
  source: PieceSource,
  codings: readonly ("gzip" | "deflate" | "br" | "zstd")[],
  limit: number,
): { read: PieceSource; cancel(): void } {
  const stages: AsyncGenerator<Uint8Array>[] = [];
  let read = source;
  for (const coding of [...codings].reverse()) {
    // Every stage counts: the bomb may sit in the middle of a chain.
    const stage = decode(read, coding, limit);
    stages.push(stage);
    read = async () => {
      const { done, value } = await stage.next();
      return done ? null : value;
    };
  }
  return {
    read,
    cancel() {
      for (const stage of stages) stage.return(undefined).catch(() => {});
    },
  };
}

function decoder(coding: Coding, first: Uint8Array): Transform {
  switch (coding) {
    case "gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "zstd":
      return createZstdDecompress();
    case "deflate": {
      // RFC 9110 §8.4.1.2: zlib's format; some send the bare deflate stream.
      const zlib = (first[0]! & 0x0f) === 8 && (first[0]! * 256 + (first[1] ?? 1)) % 31 === 0;
      return zlib ? createInflate() : createInflateRaw();
    }
  }
}

async function* decode(
  source: PieceSource,
  coding: Coding,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let first = await source();
  while (first !== null && first.length === 0) first = await source();
  // A response to HEAD, or an empty one, has a coding and no body.
  if (first === null) return;
  const transform = decoder(coding, first);
  let fault: unknown;
  let stopped = false;
  const feed = (async () => {
    try {
      for (let piece: Uint8Array | null = first; piece !== null; piece = await source()) {
        if (stopped) return;
        if (!transform.write(piece)) {
          await new Promise<void>((resolve) => {
            transform.once("drain", resolve);
            transform.once("close", resolve);
          });
        }
      }
      transform.end();
    } catch (error) {
      fault = error;
      transform.destroy(error as Error);
    }
  })();
  let length = 0;
  try {
    for await (const piece of transform as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (limit > 0 && length > limit) throw new BodyTooLargeError(limit, "maxResponseBytes");
      yield piece;
    }
    await feed;
  } catch (error) {
    if (fault !== undefined) throw fault;
    if (error instanceof BodyTooLargeError) throw error;
    throw new ProtocolError(
      `Body is not valid ${coding}: ${error instanceof Error ? error.message : error}`,
      ErrorCode.PROTOCOL_ERROR,
      "stream",
    );
  } finally {
    stopped = true;
    transform.destroy();
  }
}
