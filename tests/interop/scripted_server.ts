/** A server that answers UnaryCall of the interoperability service frame by frame, within the client's windows. */
import { create, toBinary } from "@bufbuild/protobuf";
import { concat, frame, headers, ping, windowUpdate } from "../../support/frames.ts";
import { type Frame, FrameConn, RawServer } from "../../support/raw_server.ts";
import { Flag, FrameType, readUint32, writeUint32 } from "../../http/h2/frame.ts";
import { testServiceFile } from "./test_service.ts";

/** Identifiers of settings, RFC 9113 §6.5.2. */
const INITIAL_WINDOW_SIZE = 4;

/** Window that holds whatever a test's requests send. */
const AMPLE = 64 << 20;

/** Most bytes of a DATA frame, padding included. */
const MAX_FRAME = 16_384;

/** The answer of `large_unary`, as one message of gRPC. */
export const LARGE: Uint8Array = (() => {
  const schema = testServiceFile.messages.find(({ name }) => name === "SimpleResponse")!;
  const response = create(schema, { payload: { body: new Uint8Array(314_159) } });
  const message = toBinary(schema, response);
  const prefix = new Uint8Array(5);
  writeUint32(prefix, 1, message.length);
  return concat(prefix, message);
})();

const RESPONSE = [":status", "200", "content-type", "application/grpc"];

/** One call: how its answer is written. */
export class Reply {
  readonly #session: Session;
  readonly id: number;
  /** Which request of the server this is, from 1. */
  readonly nth: number;

  constructor(session: Session, id: number, nth: number) {
    this.#session = session;
    this.id = id;
    this.nth = nth;
  }

  send(...frames: Uint8Array[]): Promise<void> {
    return this.#session.send(...frames);
  }

  header(): Promise<void> {
    return this.send(headers(this.id, RESPONSE));
  }

  /** Sends bytes in frames of `size`, each with `padding`, or none if it is null. */
  async data(bytes: Uint8Array, size = MAX_FRAME, padding: number | null = null): Promise<void> {
    const extra = padding === null ? 0 : padding + 1;
    for (let at = 0; at < bytes.length;) {
      // As many frames as the windows have room for.
      const room = await this.#session.room(this.id, size + extra);
      const batch: Uint8Array[] = [];
      for (let used = 0; used + size + extra <= room && at < bytes.length; used += size + extra) {
        const piece = bytes.subarray(at, at + size);
        at += piece.length;
        this.#session.spend(this.id, piece.length + extra);
        batch.push(
          padding === null ? frame(FrameType.DATA, 0, this.id, piece) : frame(
            FrameType.DATA,
            Flag.PADDED,
            this.id,
            concat(Uint8Array.of(padding), piece, new Uint8Array(padding)),
          ),
        );
      }
      await this.send(...batch);
    }
  }

  end(): Promise<void> {
    this.#session.over(this.id);
    return this.send(headers(this.id, ["grpc-status", "0"], { end: true }));
  }

  /** Sends a PING, whose acknowledgement the server counts. */
  ping(): Promise<void> {
    return this.#session.ping();
  }

  /** The whole answer. */
  async whole(): Promise<void> {
    await this.header();
    await this.data(LARGE);
    await this.end();
  }
}

/** How a request is answered. */
export type Script = (reply: Reply) => Promise<void>;

/** One connection of a client. */
class Session {
  readonly #conn: FrameConn;
  readonly #server: ScriptedServer;
  readonly #windows = new Map<number, number>();
  #window = 65_535;
  #initial = 65_535;
  #sent: Promise<void> = Promise.resolve();
  #wake: (() => void)[] = [];
  #over = false;

  constructor(conn: FrameConn, server: ScriptedServer) {
    this.#conn = conn;
    this.#server = server;
  }

  /** Sends frames behind those before. */
  send(...frames: Uint8Array[]): Promise<void> {
    return this.#sent = this.#sent.then(() => this.#conn.send(...frames));
  }

  async ping(): Promise<void> {
    this.#server.pings++;
    this.#server.outstandingPings++;
    await this.send(ping());
  }

  /** The stream ends with what is sent next: from then on the client may open another one. */
  over(id: number): void {
    this.#windows.delete(id);
  }

  spend(id: number, size: number): void {
    this.#window -= size;
    this.#windows.set(id, this.#windows.get(id)! - size);
  }

  /** Resolves to the bytes that may be sent on a stream, when they are `least` or more. */
  async room(id: number, least: number): Promise<number> {
    for (;;) {
      const room = Math.min(this.#window, this.#windows.get(id) ?? 0);
      if (room >= least) return room;
      if (this.#over) throw new Error("the connection has ended");
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async run(first: readonly [number, number][]): Promise<void> {
    await this.#conn.start([INITIAL_WINDOW_SIZE, AMPLE], ...first);
    await this.send(windowUpdate(0, AMPLE));
    try {
      for (;;) this.#take(await this.#conn.frame());
    } finally {
      this.#over = true;
      this.#notify();
    }
  }

  #take({ type, flags, id, payload }: Frame): void {
    switch (type) {
      case FrameType.SETTINGS:
        if ((flags & Flag.ACK) === 0) this.#settings(payload);
        break;
      case FrameType.PING:
        if ((flags & Flag.ACK) !== 0) this.#server.outstandingPings--;
        break;
      case FrameType.WINDOW_UPDATE:
        if (id === 0) this.#window += readUint32(payload, 0);
        else if (this.#windows.has(id)) {
          this.#windows.set(id, this.#windows.get(id)! + readUint32(payload, 0));
        }
        this.#notify();
        break;
      case FrameType.HEADERS:
        this.#windows.set(id, this.#initial);
        this.#server.most = Math.max(this.#server.most, this.#windows.size);
    }
    if (type <= FrameType.HEADERS && (flags & Flag.END_STREAM) !== 0) this.#answer(id);
  }

  #settings(payload: Uint8Array): void {
    for (let at = 0; at < payload.length; at += 6) {
      if (payload[at + 1] === INITIAL_WINDOW_SIZE) this.#initial = readUint32(payload, at + 2);
    }
  }

  async #answer(id: number): Promise<void> {
    try {
      await this.#server.script(new Reply(this, id, ++this.#server.requests));
    } catch {
      // The client has gone, which its side of the test sees.
    }
    this.over(id);
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }
}

/** The server. */
export class ScriptedServer implements AsyncDisposable {
  readonly script: Script;
  readonly #raw: RawServer;
  readonly #sessions: Promise<void>[] = [];
  /** Complete requests seen. */
  requests = 0;
  /** Most streams open at a time on one connection. */
  most = 0;
  /** PINGs sent. */
  pings = 0;
  /** PINGs without acknowledgement. */
  outstandingPings = 0;

  constructor(script: Script, ...settings: [number, number][]) {
    this.script = script;
    this.#raw = new RawServer((conn) => {
      const session = new Session(new FrameConn(conn), this).run(settings);
      this.#sessions.push(session);
      return session;
    });
  }

  get addr(): string {
    return `127.0.0.1:${this.#raw.port}`;
  }

  get connections(): number {
    return this.#raw.connections;
  }

  /** Resolves when the clients have closed their connections, and all that they sent is read. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#sessions);
    await this.#raw[Symbol.asyncDispose]();
  }
}
