/**
 * Undoes the codings of a body (RFC 9110 §8.4.1), in pieces and within a limit: a hundred bytes may
 * decode to gigabytes.
 *
 * @module
 */
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import type { Transform } from "node:stream";
import { BodyBuffer } from "../message/body_buffer.ts";
import type { PieceSource } from "../message/collect.ts";
import { ProtocolError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { BodyTooLargeError } from "../message/error.ts";
import { ZstdFrames } from "./zstd_frames.ts";

/** Codings one body may have on top of each other. */
const MAX_CODINGS = 5;

/** Bytes passed over after the end of a coded body. */
const MAX_TRAILING_BYTES = 64 << 10;

/** RFC 9659 §3: the window of zstd in HTTP is 8 MiB at most, as a power of two. */
const MAX_ZSTD_WINDOW_LOG = 23;

/** Value of accept-encoding in requests. */
export const ACCEPT_ENCODING = "gzip, deflate, br, zstd";

type Coding = "gzip" | "deflate" | "br" | "zstd";

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
 * A source of the decoded body. Rejects with {@linkcode BodyTooLargeError} beyond `limit` bytes
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
      return createZstdDecompress({
        params: { [constants.ZSTD_d_windowLogMax]: MAX_ZSTD_WINDOW_LOG },
      });
    case "deflate": {
      // RFC 9110 §8.4.1.2: zlib's format; some send the bare deflate stream.
      const zlib = (first[0]! & 0x0f) === 8 && (first[0]! * 256 + (first[1] ?? 1)) % 31 === 0;
      return zlib ? createInflate() : createInflateRaw();
    }
  }
}

/** The source's next piece, of at least `n` bytes unless it ends before; null: it has ended. */
async function opening(source: PieceSource, n: number): Promise<Uint8Array | null> {
  const buffer = new BodyBuffer();
  while (buffer.length < n) {
    const piece = await source();
    if (piece === null) break;
    buffer.add(piece);
  }
  return buffer.length === 0 ? null : buffer.takeAll();
}

async function* decode(
  source: PieceSource,
  coding: Coding,
  limit: number,
): AsyncGenerator<Uint8Array> {
  const first = await opening(source, 2);
  // A response to HEAD, or an empty one, has a coding and no body.
  if (first === null) return;
  const feed = new Feed(coding, first, source);
  let length = 0;
  try {
    for await (const piece of feed.transform as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (limit > 0 && length > limit) throw new BodyTooLargeError(limit, "maxResponseBytes");
      yield piece;
    }
    await feed.finished();
  } catch (error) {
    if (feed.fault !== undefined) throw feed.fault;
    if (error instanceof BodyTooLargeError || error instanceof ProtocolError) throw error;
    throw damaged(coding, error instanceof Error ? error.message : String(error), error);
  } finally {
    feed.abandon();
  }
}

/** Moves a body into the platform's decoder. */
class Feed {
  readonly transform: Transform;
  /** Why the source failed, or why what it gave cannot be right. */
  fault: unknown;
  readonly #coding: Coding;
  readonly #source: PieceSource;
  readonly #frames: ZstdFrames | null;
  readonly #run: Promise<void>;
  #fed = 0;
  #abandoned = false;
  /** The coding's own end was met, which may come before the body's. */
  #ended = false;
  #wake: (() => void) | null = null;

  constructor(coding: Coding, first: Uint8Array, source: PieceSource) {
    this.#coding = coding;
    this.#source = source;
    this.#frames = coding === "zstd" ? new ZstdFrames() : null;
    this.transform = decoder(coding, first);
    const goOn = () => this.#wake?.();
    this.transform.on("drain", goOn);
    this.transform.on("close", goOn);
    this.transform.on("end", () => {
      this.#ended = true;
      goOn();
    });
    this.#run = this.#feed(first);
  }

  async #feed(first: Uint8Array): Promise<void> {
    const { transform } = this;
    try {
      let passed = 0;
      for (let piece: Uint8Array | null = first; piece !== null; piece = await this.#source()) {
        if (this.#abandoned) return;
        if (this.#ended) {
          // As browsers do, what follows is passed over; it has to be read for the connection's sake.
          passed += piece.length;
          if (passed > MAX_TRAILING_BYTES) {
            throw damaged(this.#coding, `bytes after its end must be <= ${MAX_TRAILING_BYTES}`);
          }
        } else await this.#write(piece);
      }
      if (this.#ended || this.#abandoned) return;
      if (this.#frames !== null && !this.#frames.complete) {
        throw damaged(this.#coding, "unexpected end");
      }
      if (this.#coding === "br") transform.write(NUL);
      transform.end();
    } catch (error) {
      this.fault = error;
      transform.destroy(error as Error);
    }
  }

  async #write(piece: Uint8Array): Promise<void> {
    this.#fed += piece.length;
    const frames = this.#frames;
    for (const part of frames === null ? [piece] : frames.split(piece)) {
      if (!this.transform.write(part)) await new Promise<void>((resolve) => this.#wake = resolve);
      if (this.#ended || this.#abandoned) return;
    }
    if (frames === null || !frames.over) return;
    this.#ended = true;
    this.transform.end();
  }

  /** Resolves when the body was read to its end. Rejects if the coding was not. */
  async finished(): Promise<void> {
    const { bytesWritten } = this.transform as unknown as { bytesWritten: number };
    await this.#run;
    if (this.fault !== undefined) throw this.fault;
    // This decoder ends without a word where its input does. The byte too many tells: only one that
    // is not through takes it.
    if (this.#coding === "br" && bytesWritten > this.#fed) {
      throw damaged(this.#coding, "unexpected end");
    }
  }

  /** Nothing more is wanted of it. */
  abandon(): void {
    this.#abandoned = true;
    this.transform.destroy();
  }
}

const NUL = Uint8Array.of(0);

function damaged(coding: Coding, reason: string, cause?: unknown): ProtocolError {
  const error = new ProtocolError(
    `Body is not valid ${coding}: ${reason}`,
    ErrorCode.PROTOCOL_ERROR,
    "stream",
  );
  if (cause !== undefined) error.cause = cause;
  return error;
}
