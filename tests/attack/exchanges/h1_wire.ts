/**
 * HTTP/1.1 written and read by hand, for both roles.
 *
 * @module
 */
import { concat } from "../../../support/frames.ts";
import { Expectation, type Flow, type Plan, type Seen, sendFlow } from "./plan.ts";

const latin1 = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** Whether a raw side sends a message in chunks if it may choose. */
export function isChunked(flow: Flow, plan: Plan): boolean {
  return flow.trailer !== null || plan.seed % 3 !== 0;
}

/** A connection read by lines and lengths. */
export class H1Wire {
  readonly #conn: Deno.TcpConn;
  #buf: Uint8Array = new Uint8Array(0);

  constructor(conn: Deno.TcpConn) {
    conn.setNoDelay(true);
    this.#conn = conn;
  }

  close(): void {
    try {
      this.#conn.close();
    } catch {
      // Closed before.
    }
  }

  async write(bytes: Uint8Array, cut: number): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.#conn.write(bytes.subarray(at, at + cut));
    }
  }

  /**
   * Writes head, body and trailers of a message, its end not before `hold`; false if it gave up after
   * `stop` pieces.
   */
  async send(
    head: string,
    flow: Flow,
    plan: Plan,
    stop: number | null,
    hold?: Promise<unknown>,
  ): Promise<boolean> {
    const chunked = hold !== undefined || isChunked(flow, plan);
    const framing = chunked ? "transfer-encoding: chunked" : `content-length: ${flow.total}`;
    await this.write(latin1(`${head}${framing}\r\n\r\n`), plan.cut);
    await sendFlow(flow, stop, (piece) => {
      if (!chunked) return this.write(piece, plan.cut);
      // An empty chunk would be the last: an empty piece is an extension's text.
      if (piece.length === 0) return;
      const size = `${piece.length.toString(16)}${piece.length % 7 === 0 ? ";ext=1" : ""}\r\n`;
      return this.write(concat(latin1(size), piece, latin1("\r\n")), plan.cut);
    });
    if (stop !== null) return false;
    await hold;
    const trailer = flow.trailer === null ? "" : `x-check: ${flow.trailer}\r\n`;
    if (chunked) await this.write(latin1(`0\r\n${trailer}\r\n`), plan.cut);
    return true;
  }

  /** The next head, or null at the end of input. */
  async head(): Promise<string | null> {
    let text = "";
    for (;;) {
      const line = await this.#line();
      if (line === null) return null;
      if (line === "") return text;
      text += `${line.toLowerCase()}\n`;
    }
  }

  /** Reads the body that `head` announces and compares it. */
  async body(head: string, flow: Flow): Promise<Seen> {
    const expected = new Expectation(flow);
    const cut = (): Seen => ({ bytes: expected.at, complete: false, trailer: null });
    const length = /^content-length: (\d+)$/m.exec(head);
    if (length === null && !head.includes("transfer-encoding: chunked")) {
      if (/^(?:get|post) /.test(head)) return { bytes: 0, complete: true, trailer: null };
      throw new Error(`Cannot read a body framed so: ${head}`);
    }
    if (length !== null) {
      for (let left = Number(length[1]); left > 0;) {
        const bytes = await this.#some(left);
        if (bytes === null) return cut();
        expected.push(bytes);
        left -= bytes.length;
        await expected.rest();
      }
      return { bytes: expected.at, complete: true, trailer: null };
    }
    for (;;) {
      const line = await this.#line();
      if (line === null) return cut();
      let left = parseInt(line, 16);
      if (Number.isNaN(left)) throw new Error(`no chunk: ${line}`);
      if (left === 0) break;
      while (left > 0) {
        const bytes = await this.#some(left);
        if (bytes === null) return cut();
        expected.push(bytes);
        left -= bytes.length;
      }
      if (await this.#line() !== "") return cut();
      await expected.rest();
    }
    let trailer: string | null = null;
    for (;;) {
      const line = await this.#line();
      if (line === null) return cut();
      if (line === "") return { bytes: expected.at, complete: true, trailer };
      trailer = /^x-check: (.*)$/.exec(line)?.[1] ?? trailer;
    }
  }

  async #some(most: number): Promise<Uint8Array | null> {
    if (this.#buf.length === 0 && !await this.#more()) return null;
    const bytes = this.#buf.subarray(0, most);
    this.#buf = this.#buf.subarray(bytes.length);
    return bytes;
  }

  async #line(): Promise<string | null> {
    for (let from = 0;;) {
      const at = this.#buf.indexOf(10, from);
      if (at >= 0) {
        const line = String.fromCharCode(...this.#buf.subarray(0, at - 1));
        this.#buf = this.#buf.subarray(at + 1);
        return line;
      }
      from = this.#buf.length;
      if (!await this.#more()) return null;
    }
  }

  async #more(): Promise<boolean> {
    const buf = new Uint8Array(64 << 10);
    const n = await this.#conn.read(buf).catch(() => null);
    if (n === null) return false;
    this.#buf = this.#buf.length === 0 ? buf.subarray(0, n) : concat(this.#buf, buf.subarray(0, n));
    return true;
  }
}
