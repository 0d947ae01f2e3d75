/** Builders of HTTP/2 frames and a reader of what a connection sends, for tests. */
import { Decoder, Encoder } from "../http/hpack/mod.ts";
import {
  Flag,
  FRAME_HEADER_SIZE,
  FrameType,
  PREFACE,
  readUint32,
  writeFrameHeader,
  writeUint32,
} from "../http/h2/frame.ts";
import { writeSettings } from "../http/h2/settings.ts";

/** Any frame. */
export function frame(type: number, flags: number, id: number, payload: Uint8Array): Uint8Array {
  const out = new Uint8Array(FRAME_HEADER_SIZE + payload.length);
  out.set(payload, writeFrameHeader(out, 0, payload.length, type, flags, id));
  return out;
}

export const EMPTY: Uint8Array = new Uint8Array(0);

export function settings(...entries: [number, number][]): Uint8Array {
  const payload = new Uint8Array(entries.length * 6);
  writeSettings(payload, 0, entries);
  return frame(FrameType.SETTINGS, 0, 0, payload);
}

export const settingsAck = (): Uint8Array => frame(FrameType.SETTINGS, Flag.ACK, 0, EMPTY);

/** A header block without state: nothing is indexed. */
export function block(fields: readonly string[]): Uint8Array {
  const encoder = new Encoder();
  encoder.setMaxTableSize(0);
  const out = new Uint8Array(encoder.bound(fields) + 16);
  return out.slice(0, encoder.encode(out, 0, fields));
}

export const REQUEST: readonly string[] = [
  ":method",
  "POST",
  ":scheme",
  "http",
  ":path",
  "/",
  ":authority",
  "localhost",
];

export const RESPONSE: readonly string[] = [":status", "200"];

export function headers(
  id: number,
  fields: readonly string[] = REQUEST,
  { end = false, endHeaders = true } = {},
): Uint8Array {
  const flags = (end ? Flag.END_STREAM : 0) | (endHeaders ? Flag.END_HEADERS : 0);
  return frame(FrameType.HEADERS, flags, id, block(fields));
}

export function data(id: number, body: string | Uint8Array, end = false): Uint8Array {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return frame(FrameType.DATA, end ? Flag.END_STREAM : 0, id, bytes);
}

export function uint32(value: number): Uint8Array {
  const out = new Uint8Array(4);
  writeUint32(out, 0, value);
  return out;
}

export const rstStream = (id: number, code: number): Uint8Array =>
  frame(FrameType.RST_STREAM, 0, id, uint32(code));
export const windowUpdate = (id: number, increment: number): Uint8Array =>
  frame(FrameType.WINDOW_UPDATE, 0, id, uint32(increment));
export const ping = (ack = false): Uint8Array =>
  frame(FrameType.PING, ack ? Flag.ACK : 0, 0, new Uint8Array(8).fill(7));
export const goAway = (last: number, code: number): Uint8Array =>
  frame(FrameType.GOAWAY, 0, 0, concat(uint32(last), uint32(code)));

export function concat(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const NAMES = Object.keys(FrameType);

/** Turns sent bytes into lines such as `HEADERS 1 END_STREAM :status=200`, with state. */
export class Transcript {
  readonly #decoder = new Decoder();

  /** One line a frame. SETTINGS of this side, their ACKs and WINDOW_UPDATEs can be left out. */
  lines(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    let at = 0;
    if (bytes.length >= PREFACE.length && PREFACE.every((octet, i) => bytes[i] === octet)) {
      lines.push("PREFACE");
      at = PREFACE.length;
    }
    while (at < bytes.length) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      const [type, flags, id] = [bytes[at + 3]!, bytes[at + 4]!, readUint32(bytes, at + 5)];
      const payload = bytes.subarray(at + FRAME_HEADER_SIZE, at + FRAME_HEADER_SIZE + length);
      lines.push(this.#line(type, flags, id, payload));
      at += FRAME_HEADER_SIZE + length;
    }
    return lines;
  }

  #line(type: number, flags: number, id: number, payload: Uint8Array): string {
    const name = `${NAMES[type]} ${id}`;
    const end = flags & Flag.END_STREAM ? " END_STREAM" : "";
    switch (type) {
      case FrameType.HEADERS: {
        const { fields } = this.#decoder.decode(payload, 0, payload.length);
        const pairs: string[] = [];
        for (let i = 0; i < fields.length; i += 2) pairs.push(`${fields[i]}=${fields[i + 1]}`);
        return `${name}${end} ${pairs.join(" ")}`;
      }
      case FrameType.DATA:
        return `${name}${end} ${
          payload.length > 40 ? payload.length : new TextDecoder().decode(payload)
        }`;
      case FrameType.RST_STREAM:
      case FrameType.WINDOW_UPDATE:
        return `${name} ${readUint32(payload, 0)}`;
      case FrameType.SETTINGS:
      case FrameType.PING:
        return name + (flags & Flag.ACK ? " ACK" : "");
      case FrameType.GOAWAY:
        return `${name} ${readUint32(payload, 0)} ${readUint32(payload, 4)}`;
      default:
        return name;
    }
  }
}
