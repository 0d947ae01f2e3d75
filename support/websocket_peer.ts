/**
 * A client of WebSockets that does as it is told: any bytes, any frames, reading or not.
 *
 * @module
 */
import { concat } from "./frames.ts";

/** The handshake every server of a test should take. */
export const HANDSHAKE = {
  host: "localhost",
  upgrade: "websocket",
  connection: "Upgrade",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
};

/** A request head; fields that are undefined are left out. */
export function requestHead(
  fields: Record<string, string | undefined>,
  first = "GET / HTTP/1.1",
): string {
  return `${first}\r\n${
    Object.entries(fields).filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n`;
}

/** A masked frame. `length` is the announced one, that of `payload` unless given. */
export function maskedFrame(
  first: number,
  payload: Uint8Array | string = "",
  length?: bigint,
  key: number = 0x1234_5678,
): Uint8Array {
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  const said = length ?? BigInt(bytes.length);
  const short = said < 126n ? Number(said) : said < 65536n ? 126 : 127;
  const size = 6 + (short === 126 ? 2 : short === 127 ? 8 : 0);
  const frame = new Uint8Array(size + bytes.length);
  const view = new DataView(frame.buffer);
  frame[0] = first;
  frame[1] = 0x80 | short;
  if (short === 126) view.setUint16(2, Number(said));
  if (short === 127) view.setBigUint64(2, said);
  view.setUint32(size - 4, key);
  for (let i = 0; i < bytes.length; i++) {
    frame[size + i] = bytes[i]! ^ frame[size - 4 + (i & 3)]!;
  }
  return frame;
}

/** A frame that a server sent. */
export interface ServerFrame {
  readonly first: number;
  readonly payload: Uint8Array;
}

/** A connection whose handshake is over. */
export class WebSocketPeer implements Disposable {
  readonly conn: Deno.Conn;
  /** Head of the answer. */
  readonly head: string;
  #buf: Uint8Array;

  private constructor(conn: Deno.Conn, head: string, rest: Uint8Array) {
    this.conn = conn;
    this.head = head;
    this.#buf = rest;
  }

  /** Opens a connection with a handshake of these fields; `ca` for TLS. */
  static async open(
    port: number,
    fields: Record<string, string | undefined> = HANDSHAKE,
    ca?: string,
    first?: string,
  ): Promise<WebSocketPeer> {
    const conn = ca === undefined
      ? await Deno.connect({ port, hostname: "127.0.0.1" })
      : await Deno.connectTls({ port, hostname: "localhost", caCerts: [ca] });
    const peer = new WebSocketPeer(conn, "", new Uint8Array(0));
    await peer.send(requestHead(fields, first));
    let text = "";
    for (;;) {
      const at = text.indexOf("\r\n\r\n");
      if (at >= 0) {
        return new WebSocketPeer(conn, text.slice(0, at), peer.#buf.slice(at + 4));
      }
      if (!await peer.#more()) return new WebSocketPeer(conn, text, new Uint8Array(0));
      text = String.fromCharCode(...peer.#buf);
    }
  }

  /** Sends all of it. */
  async send(data: Uint8Array | string): Promise<void> {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    for (let at = 0; at < bytes.length;) at += await this.conn.write(bytes.subarray(at));
  }

  /** Sends `unit` this many times, many at once. False if the server hung up before. */
  async repeat(unit: Uint8Array, times: number): Promise<boolean> {
    const most = Math.max(1, Math.floor((64 << 10) / unit.length));
    const batch = concat(...new Array<Uint8Array>(Math.min(most, times)).fill(unit));
    try {
      for (let left = times; left > 0; left -= most) {
        await this.send(left >= most ? batch : batch.subarray(0, left * unit.length));
      }
      return true;
    } catch {
      return false;
    }
  }

  /** The next frame, or null when the server ended the connection. */
  async frame(): Promise<ServerFrame | null> {
    const need = async (n: number) => {
      while (this.#buf.length < n) if (!await this.#more()) return false;
      return true;
    };
    if (!await need(2)) return null;
    const short = this.#buf[1]!;
    let size = 2;
    let length = short;
    if (short >= 126) {
      size = short === 126 ? 4 : 10;
      if (!await need(size)) return null;
      const view = new DataView(this.#buf.buffer, this.#buf.byteOffset);
      length = short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2));
    }
    if (!await need(size + length)) return null;
    const frame = { first: this.#buf[0]!, payload: this.#buf.slice(size, size + length) };
    this.#buf = this.#buf.subarray(size + length);
    return frame;
  }

  /** The code of the Close frame, 0 if the server hung up without one; other frames are skipped. */
  async closeCode(): Promise<number> {
    for (let frame = await this.frame(); frame !== null; frame = await this.frame()) {
      if (frame.first !== 0x88) continue;
      return frame.payload.length === 0 ? 1005 : frame.payload[0]! << 8 | frame.payload[1]!;
    }
    return 0;
  }

  [Symbol.dispose](): void {
    try {
      this.conn.close();
    } catch {
      // Closed before.
    }
  }

  async #more(): Promise<boolean> {
    const buf = new Uint8Array(64 << 10);
    const n = await this.conn.read(buf).catch(() => null);
    if (n === null) return false;
    this.#buf = concat(this.#buf, buf.subarray(0, n));
    return true;
  }
}
