/**
 * Compression of messages: permessage-deflate (RFC 7692), each message by itself. Without a context
 * that lives from message to message an idle connection holds no memory for it.
 *
 * @module
 */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { CloseCode, WebSocketError } from "./close_code.ts";

/** Messages shorter than this are sent as they are: they would hardly become shorter. */
const MIN_COMPRESS_BYTES = 512;
/** Messages longer than this too: compressing is done at once, and others would wait. */
const MAX_COMPRESS_BYTES = 1 << 20;
/** Level of compression: most of what level 6 saves at a third of its time. */
const LEVEL = 3;
/** Offers looked at: more in one request make no sense. */
const MAX_OFFERS = 16;

/** The end of a flushed block, left out on the way (RFC 7692 §7.2.1). */
const TAIL = Uint8Array.of(0, 0, 0xff, 0xff);

/** Parameters that were agreed on. */
export interface Deflate {
  /** The `sec-websocket-extensions` of the answer. */
  readonly header: string;
  /** Base-two logarithm of the window this side compresses with. */
  readonly windowBits: number;
}

/** The first offer in `sec-websocket-extensions` that can be met, or null. */
export function agreeOnDeflate(header: string | undefined): Deflate | null {
  if (header === undefined) return null;
  for (const offer of header.split(",", MAX_OFFERS)) {
    const [name, ...parameters] = offer.split(";").map((part) => part.trim());
    if (name !== "permessage-deflate") continue;
    const windowBits = windowOf(parameters);
    if (windowBits === null) continue;
    return {
      header: "permessage-deflate; server_no_context_takeover; client_no_context_takeover" +
        (windowBits === 15 ? "" : `; server_max_window_bits=${windowBits}`),
      windowBits,
    };
  }
  return null;
}

/** The window an offer leaves this side, or null if it cannot be met (RFC 7692 §7.1). */
function windowOf(parameters: readonly string[]): number | null {
  let windowBits = 15;
  const seen = new Set<string>();
  for (const parameter of parameters) {
    const [, name = "", quoted, plain] =
      /^([a-z_]+)(?:\s*=\s*(?:"([^"]*)"|([^\s"]+)))?$/.exec(parameter) ?? [];
    const value = quoted ?? plain;
    if (seen.has(name)) return null;
    seen.add(name);
    const bits = value !== undefined && /^(?:[89]|1[0-5])$/.test(value) ? Number(value) : null;
    switch (name) {
      case "server_no_context_takeover":
      case "client_no_context_takeover":
        if (value !== undefined) return null;
        break;
      case "client_max_window_bits":
        // Inflating with the largest window understands all smaller ones.
        if (value !== undefined && bits === null) return null;
        break;
      case "server_max_window_bits":
        // zlib has no raw stream with a window of 256 bytes.
        if (bits === null || bits === 8) return null;
        windowBits = bits;
        break;
      default:
        return null;
    }
  }
  return windowBits;
}

/**
 * The message that was compressed, or null if it has more than `max` bytes.
 *
 * @throws {WebSocketError} If it is damaged.
 */
export function inflate(compressed: Uint8Array, max: number): Uint8Array<ArrayBuffer> | null {
  const input = new Uint8Array(compressed.length + TAIL.length);
  input.set(compressed);
  input.set(TAIL, compressed.length);
  try {
    const { buffer, byteOffset, length } = inflateRawSync(input, {
      finishFlush: constants.Z_SYNC_FLUSH,
      ...(max === Infinity ? {} : { maxOutputLength: max }),
    });
    return new Uint8Array(buffer as ArrayBuffer, byteOffset, length);
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") return null;
    throw new WebSocketError("Compressed message is damaged", CloseCode.INVALID_DATA);
  }
}

/** A message compressed, or null if that does not make it shorter. */
export function deflate(payload: Uint8Array, windowBits: number): Uint8Array | null {
  if (payload.length < MIN_COMPRESS_BYTES || payload.length > MAX_COMPRESS_BYTES) return null;
  const compressed: Uint8Array = deflateRawSync(payload, {
    level: LEVEL,
    windowBits,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  const length = compressed.length - TAIL.length;
  return length < payload.length ? compressed.subarray(0, length) : null;
}
