/**
 * Writes the heads, chunks and trailers of HTTP/1.1 messages (RFC 9112) into an output buffer.
 * Names and values are taken as checked: they come from `flattenHeaders`.
 *
 * @module
 */
import type { FlatHeaders } from "../message/headers.ts";
import { httpDate } from "../message/date.ts";
import type { OutBuffer } from "../net/out_buffer.ts";
import { statusText } from "../message/status_text.ts";

const encoder = new TextEncoder();
const statusLines = new Map<number, Uint8Array>();

/** Writes `HTTP/1.1 200 OK CRLF`. */
export function writeStatusLine(out: OutBuffer, status: number): void {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = encoder.encode(`HTTP/1.1 ${status} ${statusText(status)}\r\n`);
    statusLines.set(status, line);
  }
  out.append(line);
}

/** Writes `GET /target HTTP/1.1 CRLF`. Method and target are taken as checked. */
export function writeRequestLine(out: OutBuffer, method: string, target: string): void {
  out.appendLatin1(method);
  out.appendLatin1(" ");
  out.appendLatin1(target);
  out.appendLatin1(" HTTP/1.1\r\n");
}

/** Writes `name: value CRLF`. */
export function writeField(out: OutBuffer, name: string, value: string): void {
  const n = name.length;
  const v = value.length;
  out.reserve(n + v + 4);
  const { bytes } = out;
  let at = out.length;
  for (let i = 0; i < n; i++) bytes[at++] = name.charCodeAt(i);
  bytes[at++] = 0x3a;
  bytes[at++] = 0x20;
  for (let i = 0; i < v; i++) bytes[at++] = value.charCodeAt(i);
  bytes[at++] = 0x0d;
  bytes[at++] = 0x0a;
  out.length = at;
}

/** Writes a flat list of fields. */
export function writeFields(out: OutBuffer, fields: FlatHeaders): void {
  for (let i = 0; i < fields.length; i += 2) writeField(out, fields[i]!, fields[i + 1]!);
}

/** Writes the empty line that ends a head. */
export function writeEndOfHead(out: OutBuffer): void {
  out.reserve(2);
  out.bytes[out.length++] = 0x0d;
  out.bytes[out.length++] = 0x0a;
}

/** Writes a head without body: an informational response (RFC 9110 §15.2). */
export function writeInformational(out: OutBuffer, status: number, fields: FlatHeaders): void {
  writeStatusLine(out, status);
  writeFields(out, fields);
  writeEndOfHead(out);
}

/** Writes a whole response that ends the connection, and has no body. */
export function writeRefusal(out: OutBuffer, status: number): void {
  writeStatusLine(out, status);
  writeDate(out);
  writeContentLength(out, 0);
  if (status === 405) {
    writeField(out, "allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  }
  writeField(out, "connection", "close");
  writeEndOfHead(out);
}

/** Writes `content-length: n CRLF`. */
export function writeContentLength(out: OutBuffer, n: number): void {
  writeField(out, "content-length", String(n));
}

let date = "";
let dateBytes: Uint8Array = new Uint8Array(0);

/** Writes `date: … CRLF` (RFC 9110 §6.6.1). */
export function writeDate(out: OutBuffer): void {
  const now = httpDate();
  if (now !== date) {
    date = now;
    dateBytes = encoder.encode(`date: ${now}\r\n`);
  }
  out.append(dateBytes);
}

/** Writes one chunk (RFC 9112 §7.1). An empty one would end the body, so it is left out. */
export function writeChunk(out: OutBuffer, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  out.appendLatin1(bytes.length.toString(16));
  writeEndOfHead(out);
  out.append(bytes);
  writeEndOfHead(out);
}

/** Writes the last chunk with its trailer section. */
export function writeLastChunk(out: OutBuffer, trailers: FlatHeaders | null): void {
  out.appendLatin1("0\r\n");
  if (trailers !== null) writeFields(out, trailers);
  writeEndOfHead(out);
}
