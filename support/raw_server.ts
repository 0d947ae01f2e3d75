/** Servers that do as told, octet by octet or frame by frame. */
import { newClientAt } from "../http/client/client.ts";
import type { Client, ClientOptions } from "../http/mod.ts";
import { FRAME_HEADER_SIZE, FrameType, PREFACE, readUint32 } from "../http/h2/frame.ts";
import { SYSTEM_TIME } from "../http/time/time.ts";
import type { FakeClock } from "./fake_clock.ts";
import { data, headers, settings, settingsAck } from "./frames.ts";

/** What a raw server does with its nth connection. */
export type Script = (conn: Deno.TcpConn, nth: number) => Promise<void>;

/** A server that does as told, octet by octet. */
export class RawServer implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #conns = new Set<Deno.TcpConn>();
  readonly #loop: Promise<void>;
  /** Connections accepted. */
  connections = 0;
  /** Connections open now. */
  open = 0;

  constructor(script: Script) {
    this.#loop = (async () => {
      const running: Promise<void>[] = [];
      for await (const conn of this.#listener) {
        this.#conns.add(conn);
        this.open++;
        running.push(
          script(conn, ++this.connections).catch(() => {}).finally(() => {
            this.open--;
            try {
              conn.close();
            } catch {
              // Closed by the script.
            }
          }),
        );
      }
      await Promise.all(running);
    })();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#conns) {
      try {
        conn.close();
      } catch {
        // Closed already.
      }
    }
    await this.#loop;
  }
}

/** Reads one request's head, and what came with it; rejects at the end. */
export async function readRequest(conn: Deno.Conn): Promise<string> {
  const buf = new Uint8Array(65536);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const n = await conn.read(buf);
    if (n === null) throw new Error("end");
    text += new TextDecoder().decode(buf.subarray(0, n));
  }
  return text;
}

/** Reads until the peer ends; resolves to how much that was. */
export async function readToEnd(conn: Deno.Conn): Promise<number> {
  const buf = new Uint8Array(65536);
  let length = 0;
  for (let n = await conn.read(buf); n !== null; n = await conn.read(buf)) length += n;
  return length;
}

/** Writes all of it. */
export async function send(conn: Deno.Conn, text: string | Uint8Array): Promise<void> {
  const bytes = typeof text === "string" ? Uint8Array.from(text, (c) => c.charCodeAt(0)) : text;
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

/** Answers every request on every connection with `answer`. */
export const always = (answer: string | Uint8Array, close = false): Script => async (conn) => {
  for (;;) {
    await readRequest(conn);
    await send(conn, answer);
    if (close) return;
  }
};

/** Runs a server and a client of it, which goes by `clock`, if it is given. */
export async function using(
  script: Script,
  run: (client: Client, server: RawServer) => Promise<void>,
  options: ClientOptions = {},
  clock: FakeClock | null = null,
): Promise<void> {
  await using server = new RawServer(script);
  const client = newClientAt(clock?.time ?? SYSTEM_TIME, options);
  try {
    await run(client, server);
  } finally {
    if (clock === null) await client.close();
    else await clock.until(client.close());
  }
}

/** The status line most answers begin with. */
export const OK = "HTTP/1.1 200 OK\r\n";

/** Waits. */
export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Waits until something holds; fails after two seconds. */
export async function until(what: () => boolean): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (what()) return;
    await pause(5);
  }
  throw new Error(`It never came about: ${what}`);
}

/** One frame as it came. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Uint8Array;
}

/** The server's side of an HTTP/2 connection, frame by frame. */
export class FrameConn {
  readonly conn: Deno.TcpConn;
  #have: Uint8Array = new Uint8Array(0);

  constructor(conn: Deno.TcpConn) {
    this.conn = conn;
  }

  async #bytes(n: number): Promise<Uint8Array> {
    const buf = new Uint8Array(65536);
    while (this.#have.length < n) {
      const got = await this.conn.read(buf);
      if (got === null) throw new Error("end");
      const more = new Uint8Array(this.#have.length + got);
      more.set(this.#have);
      more.set(buf.subarray(0, got), this.#have.length);
      this.#have = more;
    }
    const taken = this.#have.slice(0, n);
    this.#have = this.#have.slice(n);
    return taken;
  }

  /** Reads the preface, sends SETTINGS and the acknowledgement. */
  async start(...entries: [number, number][]): Promise<void> {
    await this.#bytes(PREFACE.length);
    await send(this.conn, settings(...entries));
    await send(this.conn, settingsAck());
  }

  /** The next frame. */
  async frame(): Promise<Frame> {
    const head = await this.#bytes(FRAME_HEADER_SIZE);
    const length = (head[0]! << 16) | (head[1]! << 8) | head[2]!;
    const payload = await this.#bytes(length);
    return { type: head[3]!, flags: head[4]!, id: readUint32(head, 5) & 0x7fff_ffff, payload };
  }

  /** The next frame of a type. */
  async next(type: number): Promise<Frame> {
    for (;;) {
      const frame = await this.frame();
      if (frame.type === type) return frame;
    }
  }

  /** The id of the next request. */
  async request(): Promise<number> {
    return (await this.next(FrameType.HEADERS)).id;
  }

  /** Sends frames. */
  send(...frames: Uint8Array[]): Promise<void> {
    const whole = new Uint8Array(frames.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of frames) {
      whole.set(part, at);
      at += part.length;
    }
    return send(this.conn, whole);
  }

  /** Answers 200 with a short text. */
  answer(id: number, text = "ok"): Promise<void> {
    return this.send(headers(id, [":status", "200"]), data(id, text, true));
  }
}

/** A script of frames for each connection. */
export const frames =
  (script: (conn: FrameConn, nth: number) => Promise<void>): Script => (conn, nth) =>
    script(new FrameConn(conn), nth);
