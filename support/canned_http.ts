/**
 * A server of HTTP/1.1 that answers every request with the same bytes, and responses of gRPC-Web and
 * Connect to make them of.
 *
 * @module
 */
import { RawServer } from "./raw_server.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");

/** Bytes of texts and bytes, one behind the other. */
export function joined(...parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    parts.flatMap((part) => [...(typeof part === "string" ? encoder.encode(part) : part)]),
  );
}

/** A frame of gRPC-Web or of Connect's streams. */
export function webFrame(flags: number, payload: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = joined(payload);
  const frame = new Uint8Array(5 + bytes.length);
  frame[0] = flags;
  new DataView(frame.buffer).setUint32(1, bytes.length);
  frame.set(bytes, 5);
  return frame;
}

/** The head of a response, with the fields and what frames its body. */
export function responseHead(status: number, ...fields: readonly string[]): string {
  return `HTTP/1.1 ${status} Whatever\r\n${fields.map((field) => `${field}\r\n`).join("")}\r\n`;
}

/** A body in chunks of these sizes; the rest is the last. */
export function chunked(body: Uint8Array, ...sizes: readonly number[]): Uint8Array<ArrayBuffer> {
  const parts: (string | Uint8Array)[] = [];
  let at = 0;
  for (const size of [...sizes, body.length]) {
    const piece = body.subarray(at, at + size);
    at += piece.length;
    if (piece.length > 0) parts.push(`${piece.length.toString(16)}\r\n`, piece, "\r\n");
  }
  return joined(...parts, "0\r\n\r\n");
}

/** Reads one request whole; false if the connection has ended. */
async function readWhole(conn: Deno.Conn): Promise<boolean> {
  const buf = new Uint8Array(65_536);
  let text = "";
  for (;;) {
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) {
      const length = /^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1];
      const isWhole = length !== undefined
        ? text.length >= end + 4 + Number(length)
        : /^transfer-encoding:/im.test(text.slice(0, end))
        ? text.endsWith("0\r\n\r\n")
        : true;
      if (isWhole) return true;
    }
    const n = await conn.read(buf);
    if (n === null) return false;
    text += decoder.decode(buf.subarray(0, n));
  }
}

/** Answers every request with `answer()`; then with `end` the connection ends. */
export function cannedServer(answer: () => { bytes: Uint8Array; end: boolean }): RawServer {
  return new RawServer(async (conn) => {
    while (await readWhole(conn)) {
      const { bytes, end } = answer();
      for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
      if (end) return;
    }
  });
}
