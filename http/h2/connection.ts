/**
 * One HTTP/2 connection without its socket (RFC 9113): bytes in by {@linkcode Connection.receive},
 * bytes out through `writer.out`, time as an argument. Plays either role.
 */
import { ConnectionLostError, ProtocolError } from "../message/error.ts";
import { HpackError, type Template } from "../hpack/mod.ts";
import { CLIENT_ABUSE_LIMITS, DEFAULT_ABUSE_LIMITS } from "./abuse.ts";
import { ErrorCode } from "../message/error_code.ts";
import { tellError } from "../message/tell.ts";
import type { ConnectionEvents, ConnectionOptions, RequestEvents } from "./connection_options.ts";
import { type ConnectionView, streamViews } from "./connection_view.ts";
import { DEFAULT_CONNECTION_WINDOW, DEFAULT_STREAM_WINDOW } from "./flow.ts";
import { MAX_STREAM_ID, MIN_MAX_FRAME_SIZE, PREFACE } from "./frame.ts";
import { FrameReader } from "./frame_reader.ts";
import type { FrameSender } from "./frame_sender.ts";
import type { FrameWriter } from "./frame_writer.ts";
import { GOAWAY_PING, IncomingFrames } from "./incoming_frames.ts";
import { isAlive, Life, type Phase, takesStreams } from "./lifecycle.ts";
import { SettingId } from "./settings.ts";
import type { OpenStreams } from "./stream_map.ts";
import type { StreamRecord } from "./stream_record.ts";
import { Streams } from "./streams.ts";

/**
 * Fields of a header list. Peers are told its size only, in which a field counts 32 bytes: the default
 * size holds no more than these.
 */
const DEFAULT_MAX_FIELDS = 2048;

/**
 * Bytes of a compressed header block. Fields beyond `maxHeaderListSize` end their stream only; to be
 * decoded for the tables' sake (RFC 7541 §2.2) they have to be kept until the block is complete.
 */
const MAX_BLOCK_SIZE = { server: 512 << 10, client: 1 << 20 } as const;

/** Bytes of GOAWAY debug data sent. */
const MAX_DEBUG_DATA = 256;

const NO_DEBUG = new Uint8Array(0);

/** See the module. */
export class Connection {
  readonly role: "client" | "server";
  readonly #options: Required<ConnectionOptions>;
  readonly #events: ConnectionEvents;
  readonly #life = new Life();
  readonly #streams: Streams;
  readonly #reader: FrameReader;
  readonly #incoming: IncomingFrames;
  /** Bytes of the client's preface seen. */
  #preface: number;

  constructor(
    role: "client" | "server",
    events: ConnectionEvents,
    requests: RequestEvents = {},
    options: ConnectionOptions = {},
  ) {
    this.role = role;
    this.#events = events;
    this.#options = {
      maxConcurrentStreams: options.maxConcurrentStreams ?? 250,
      streamWindow: options.streamWindow ?? DEFAULT_STREAM_WINDOW,
      connectionWindow: options.connectionWindow ?? DEFAULT_CONNECTION_WINDOW,
      maxHeaderListSize: options.maxHeaderListSize ?? 64 << 10,
      maxFields: options.maxFields ?? DEFAULT_MAX_FIELDS,
      abuse: options.abuse ?? (role === "server" ? DEFAULT_ABUSE_LIMITS : CLIENT_ABUSE_LIMITS),
    };
    this.#reader = new FrameReader(
      MIN_MAX_FRAME_SIZE,
      Math.max(MAX_BLOCK_SIZE[role], this.#options.maxHeaderListSize),
    );
    this.#preface = role === "server" ? 0 : PREFACE.length;
    this.#streams = new Streams(role, events, this.#options);
    this.#incoming = new IncomingFrames(
      role,
      this.#life,
      this.#streams,
      events,
      requests,
      this.#options,
      () => this.#onAnnounced(),
    );
  }

  /** Where the connection stands. */
  get phase(): Phase {
    return this.#life.phase;
  }

  /** Where frames are written. */
  get writer(): FrameWriter {
    return this.#streams.writer;
  }

  /** The sending half. */
  get sender(): FrameSender {
    return this.#streams.sender;
  }

  /** Streams not closed, by id. */
  get streams(): OpenStreams {
    return this.#streams.table.open;
  }

  /** The connection as it stands, with `mostStreams` of its streams at most. */
  view(mostStreams: number): ConnectionView {
    const { sender, windows, table } = this.#streams;
    return {
      sendWindow: sender.window,
      receiveWindow: windows.window,
      unread: windows.unreadBytes,
      open: table.open.size,
      streams: streamViews(table.open, mostStreams),
    };
  }

  /** Milliseconds; the session sets it once per batch of input. */
  get now(): number {
    return this.#streams.now;
  }

  set now(now: number) {
    this.#streams.now = now;
  }

  // ---- receiving -------------------------------------------------------------------------------

  /** Work done since the last look, in small frames. */
  takeWork(): number {
    const { work } = this.#reader;
    this.#reader.work = 0;
    return work;
  }

  /** Bytes needed for the frame that begins at `start`, or 0 if that is not known yet. */
  frameSize(buf: Uint8Array, start: number, end: number): number {
    return this.#preface < PREFACE.length ? 0 : this.#reader.frameSize(buf, start, end);
  }

  /**
   * Takes input; returns where the first incomplete frame begins: give those bytes again with more.
   * Never throws: faults of the peer end the stream or the connection as RFC 9113 §5.4 says.
   */
  receive(buf: Uint8Array, start: number, end: number): number {
    const { phase } = this.#life;
    if (!isAlive(phase)) return end;
    try {
      if (this.#preface < PREFACE.length) start = this.#readPreface(buf, start, end);
      if (phase.awaits === "preface" && this.role === "client") checkNoText(buf, start, end);
      return this.#reader.read(buf, start, end, this.#incoming);
    } catch (error) {
      const fault = peersFault(error) ?? ownFault(error);
      this.fail(fault, fault.code);
      return end;
    }
  }

  #readPreface(buf: Uint8Array, start: number, end: number): number {
    for (; start < end && this.#preface < PREFACE.length; start++, this.#preface++) {
      if (buf[start] !== PREFACE[this.#preface]) {
        throw new ProtocolError("Cannot read client preface", ErrorCode.PROTOCOL_ERROR);
      }
    }
    return start;
  }

  // ---- opening streams -------------------------------------------------------------------------

  /** Whether the connection can carry one more stream of ours now. */
  get available(): boolean {
    return takesStreams(this.phase) && this.#streams.available;
  }

  /** Whether nothing may be opened on it any more. */
  get exhausted(): boolean {
    return !takesStreams(this.phase) || !this.#streams.table.hasIds;
  }

  /**
   * Opens a stream with its request. False, with nothing sent, if there is no room for it.
   *
   * @throws {HeadersTooLargeError} If the peer does not take so many fields; nothing was sent.
   */
  open(stream: StreamRecord, fields: Template | readonly string[], end: boolean): boolean {
    if (!this.available) return false;
    this.#streams.open(stream, fields, end);
    return true;
  }

  /** Ends every stream. The peer is not told, and may go on sending on them for a while. */
  failStreams(error: Error): void {
    this.#streams.failAll(error);
  }

  // ---- beginning and ending --------------------------------------------------------------------

  /** Writes the preface and our SETTINGS. Call once, first. */
  start(): void {
    const { maxHeaderListSize, maxConcurrentStreams } = this.#options;
    const { writer, windows } = this.#streams;
    const entries: [number, number][] = [
      [SettingId.INITIAL_WINDOW_SIZE, windows.startWindow],
      [SettingId.MAX_HEADER_LIST_SIZE, maxHeaderListSize],
    ];
    if (this.role === "client") {
      writer.raw(PREFACE);
      entries.push([SettingId.ENABLE_PUSH, 0]);
    } else {
      entries.push([SettingId.MAX_CONCURRENT_STREAMS, maxConcurrentStreams]);
    }
    writer.settings(entries);
    windows.open();
    this.#events.wantWrite();
  }

  /** Sends a PING: its answer is input like any other. */
  ping(opaque = 0): void {
    const data = new Uint8Array(8);
    new DataView(data.buffer).setUint32(4, opaque);
    this.writer.ping(data, 0, false);
    this.#events.wantWrite();
  }

  /**
   * Announces the end (RFC 9113 §6.8): streams on their way are still taken, until
   * {@linkcode Connection.drain} names the last one a round trip later.
   */
  announce(): void {
    if (!this.#life.move({ kind: "announce" })) return;
    this.#goAway(ErrorCode.NO_ERROR, "");
    this.ping(GOAWAY_PING);
  }

  #onAnnounced(): void {
    if (this.phase.kind === "announced") this.drain();
  }

  /** Takes no new streams; those that run may finish. */
  drain(): void {
    if (this.#life.move({ kind: "drain" })) this.#goAway(ErrorCode.NO_ERROR, "");
  }

  /** Gives the peer up: GOAWAY says why, and every stream ends. */
  fail(error: Error, code: number): void {
    if (!this.#life.move({ kind: "fail", error })) return;
    this.#goAway(code, error.message);
    this.#streams.windows.close();
    this.#streams.failAll(error);
  }

  /** Everything is said: nothing more is read or written. */
  linger(error: Error): void {
    this.#life.move({ kind: "linger", error });
  }

  /** The transport is gone: every stream ends. */
  connectionLost(error: Error): void {
    if (!this.#life.move({ kind: "close", error })) return;
    this.#streams.windows.close();
    this.#streams.failAll(
      error instanceof ConnectionLostError || error instanceof ProtocolError
        ? error
        : new ConnectionLostError(error.message, "maybe", { cause: error }),
    );
  }

  #goAway(code: number, reason: string): void {
    const { table, writer } = this.#streams;
    const last = this.phase.kind === "announced" ? MAX_STREAM_ID : table.lastPeerId;
    table.lastTaken = Math.min(last, table.lastTaken);
    const debug = reason === ""
      ? NO_DEBUG
      : new TextEncoder().encode(reason.slice(0, MAX_DEBUG_DATA));
    writer.goAway(table.lastTaken, code, debug);
    this.#events.wantWrite();
  }
}

/** A server without HTTP/2 answers the preface with text, which would make an odd frame. */
function checkNoText(buf: Uint8Array, start: number, end: number): void {
  if (end - start < 4) return;
  for (let i = 0; i < 4; i++) if (buf[start + i] !== "HTTP".charCodeAt(i)) return;
  throw new ProtocolError(
    "Server must speak HTTP/2 as the client does by prior knowledge (RFC 9113 §3.3): it answers in HTTP/1.1",
    ErrorCode.HTTP_1_1_REQUIRED,
  );
}

function peersFault(error: unknown): ProtocolError | null {
  if (error instanceof ProtocolError) return error;
  return error instanceof HpackError
    ? new ProtocolError(error.message, ErrorCode.COMPRESSION_ERROR)
    : null;
}

/** A fault of this side is printed here: what the peer gets of it says nothing. */
function ownFault(error: unknown): ProtocolError {
  tellError(undefined, "The HTTP/2 engine failed", error);
  return new ProtocolError("Cannot go on after a fault of this side", ErrorCode.INTERNAL_ERROR);
}
