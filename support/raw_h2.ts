/** An HTTP/2 client that sends any frames and tells, line by line, what comes back. */
import { FRAME_HEADER_SIZE, PREFACE } from "../http/h2/frame.ts";
import { concat, ping, settings, settingsAck, Transcript } from "./frames.ts";

/** How the server's side ended: null while it has not. */
export type End = "eof" | "reset" | null;

/** One connection. */
export class RawH2 {
  readonly #conn: Deno.Conn;
  readonly #transcript = new Transcript();
  #left = new Uint8Array(0);
  #wake: (() => void) | null = null;
  #reading: Promise<void>;
  /** Every frame that came, as `Transcript` writes it. */
  readonly lines: string[] = [];
  /** Body bytes received. */
  received = 0;
  ended: End = null;

  private constructor(conn: Deno.Conn) {
    this.#conn = conn;
    this.#reading = this.#read();
  }

  /** Connects by prior knowledge, or over `conn`, and says hello with these settings. */
  static async open(port: number | Deno.Conn, ...entries: [number, number][]): Promise<RawH2> {
    const conn = typeof port === "number" ? await Deno.connect({ port }) : port;
    const raw = new RawH2(conn);
    await raw.send(PREFACE, settings(...entries), settingsAck());
    return raw;
  }

  async send(...parts: Uint8Array[]): Promise<void> {
    const bytes = concat(...parts);
    for (let at = 0; at < bytes.length;) at += await this.#conn.write(bytes.subarray(at));
  }

  /** Waits until the server has read all that was sent: it answers a PING behind it. */
  async heard(): Promise<void> {
    const answers = () => this.lines.filter((line) => line === "PING 0 ACK").length;
    const before = answers();
    await this.send(ping());
    await this.until(() => answers() > before);
  }

  /** Waits for a line that begins so; the end of the connection is an error. */
  async line(start: string): Promise<string> {
    const find = () => this.lines.find((line) => line.startsWith(start));
    await this.until(() => find() !== undefined);
    return find()!;
  }

  /** Waits until `met`, which is asked again with all that comes. */
  async until(met: () => boolean): Promise<void> {
    while (!met()) {
      if (this.ended !== null) throw new Error(`Connection ended by ${this.ended}: ${this.lines}`);
      await this.#more();
    }
  }

  /** Waits for the server's end of the connection. */
  async end(): Promise<End> {
    while (this.ended === null) await this.#more();
    return this.ended;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      const before = this.#wake;
      this.#wake = () => {
        before?.();
        resolve();
      };
    });
  }

  async #read(): Promise<void> {
    const buf = new Uint8Array(64 << 10);
    try {
      for (let n = await this.#conn.read(buf); n !== null; n = await this.#conn.read(buf)) {
        this.#take(buf.subarray(0, n));
        this.#notify();
      }
      this.ended = "eof";
    } catch {
      this.ended = "reset";
    }
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #take(bytes: Uint8Array): void {
    const all = concat(this.#left, bytes);
    let at = 0;
    while (all.length - at >= FRAME_HEADER_SIZE) {
      const length = (all[at]! << 16) | (all[at + 1]! << 8) | all[at + 2]!;
      const end = at + FRAME_HEADER_SIZE + length;
      if (end > all.length) break;
      if (all[at + 3] === 0) this.received += length;
      this.lines.push(...this.#transcript.lines(all.subarray(at, end)));
      at = end;
    }
    this.#left = all.slice(at);
  }

  /** Hangs up. */
  async close(): Promise<void> {
    try {
      this.#conn.close();
    } catch {
      // The runtime closed it when it failed.
    }
    await this.#reading;
  }
}
