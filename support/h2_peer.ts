/** A connection under test with everything its owner sees written down. */
import { Connection, type ConnectionOptions, ErrorCode, PREFACE, Stream } from "../http/h2/mod.ts";
import type { FieldBlock } from "../http/hpack/mod.ts";
import { concat, settings, settingsAck, Transcript } from "./frames.ts";

/** Writes its events into the log of its harness. */
export class LoggedStream extends Stream {
  readonly log: string[];
  /** Whether received data are consumed at once. */
  eager = true;
  /** How often the stream was told that it is over. */
  closings = 0;
  /** Called on the end of the peer's side. */
  respond: ((stream: LoggedStream) => void) | null = null;

  constructor(log: string[]) {
    super();
    this.log = log;
  }

  onHeaders(block: FieldBlock, end: boolean): void {
    const named = block.fields.findIndex((name) => name === ":path" || name === ":status");
    this.log.push(`headers ${this.id} ${block.fields[named + 1] ?? "-"}${end ? " end" : ""}`);
  }

  onData(buf: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.log.push(
      `data ${this.id} ${size > 40 ? size : new TextDecoder().decode(buf.subarray(start, end))}`,
    );
    if (this.eager) this.consumed(size);
  }

  onEnd(): void {
    this.log.push(`end ${this.id}`);
    this.respond?.(this);
  }

  onReset(error: Error): void {
    this.log.push(`reset ${this.id} ${error.name}`);
  }

  override onClosed(): void {
    this.closings++;
  }
}

/** A connection in a role, past its handshake unless asked otherwise. */
export class Harness {
  readonly log: string[] = [];
  readonly streams: LoggedStream[] = [];
  readonly connection: Connection;
  readonly transcript: Transcript = new Transcript();
  /** What new streams of a server do on the end of the request. */
  respond: ((stream: LoggedStream) => void) | null = null;

  constructor(
    role: "client" | "server" = "server",
    options: ConnectionOptions = {},
    handshake = true,
  ) {
    this.connection = new Connection(
      role,
      {
        wantWrite: () => {},
        onGoAway: (code) => this.log.push(`goaway ${code}`),
      },
      { accept: () => this.stream() },
      options,
    );
    this.connection.start();
    this.sent();
    if (!handshake) return;
    if (role === "server") this.receive(PREFACE);
    this.receive(settings(), settingsAck());
    this.sent();
  }

  /** Why the connection gave the peer up, or null. */
  get fatal(): string | null {
    const { phase } = this.connection;
    return phase.kind === "failed" ? phase.error.message : null;
  }

  /** A stream that writes into the log. */
  stream(): LoggedStream {
    const stream = new LoggedStream(this.log);
    stream.respond = this.respond;
    this.streams.push(stream);
    return stream;
  }

  /** Gives bytes to the connection, whole; returns how many it left. */
  receive(...parts: Uint8Array[]): number {
    const bytes = concat(...parts);
    return bytes.length - this.connection.receive(bytes, 0, bytes.length);
  }

  /** Frames sent since the last look, without WINDOW_UPDATE unless asked for. */
  sent(withUpdates = false): string[] {
    this.connection.sender.pump();
    const out = this.connection.writer.out;
    const bytes = out.take().slice();
    out.release();
    return this.transcript.lines(bytes)
      .filter((line) => withUpdates || !line.startsWith("WINDOW_UPDATE"));
  }

  /** The code of the GOAWAY sent, by name, or "none". */
  goAwayCode(): string {
    const line = this.sent().find((text) => text.startsWith("GOAWAY"));
    if (line === undefined) return "none";
    const code = Number(line.split(" ").at(-1));
    return Object.entries(ErrorCode).find(([, value]) => value === code)?.[0] ?? String(code);
  }
}
