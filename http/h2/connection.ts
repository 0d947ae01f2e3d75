/**
 * One HTTP/2 connection without its socket (RFC 9113): bytes in by {@linkcode Connection.receive},
 * bytes out through `writer.out`, time as an argument. Plays either role.
 */
import {
  ConnectionLostError,
  HeadersTooLargeError,
  ProtocolError,
  StreamResetError,
} from "../message/error.ts";
import { Decoder, type FieldBlock, headerListSize, HpackError, Template } from "../hpack/mod.ts";
import { AbuseGuard, CLIENT_ABUSE_LIMITS, DEFAULT_ABUSE_LIMITS, MIN_MEAN_OCTETS } from "./abuse.ts";
import { ErrorCode, errorCodeName } from "../message/error_code.ts";
import { PIECE_CHANGED } from "../net/out_buffer.ts";
import { tellError } from "../message/tell.ts";
import type { ConnectionOptions, ConnectionOwner } from "./connection_options.ts";
import { DEFAULT_CONNECTION_WINDOW, DEFAULT_STREAM_WINDOW, MAX_WINDOW } from "./flow.ts";
import { MAX_STREAM_ID, MIN_MAX_FRAME_SIZE, PREFACE } from "./frame.ts";
import { FrameReader, type FrameSink } from "./frame_reader.ts";
import { FrameWriter } from "./frame_writer.ts";
import { requestHead, responseHead, trailersFault } from "./head.ts";
import { Inbound } from "./inbound.ts";
import { Outbound } from "./outbound.ts";
import { initialSettings, readSettings, SettingId, type Settings } from "./settings.ts";
import type { OpenStreams } from "./stream_map.ts";
import type { StreamHost, StreamRecord } from "./stream_record.ts";
import { StreamTable } from "./stream_table.ts";
import { afterLocalEnd, afterRemoteEnd, canReceive, State } from "./stream_state.ts";

/**
 * DATA a server may hold for one peer before it refuses that peer's new streams; the stream with the
 * most does not count, for a handler may give one large body whole.
 */
const MAX_QUEUED_OUTPUT = 32 << 20;

/**
 * The same for frames that wait for nothing but the socket: heads have no windows, and a peer that
 * reads none of its answers could ask on without end.
 */
const MAX_UNSENT_OUTPUT = 8 << 20;

/**
 * Fields of a header list. Peers are told its size only, in which a field counts 32 octets: the default
 * size holds no more than these.
 */
const DEFAULT_MAX_FIELDS = 2048;

/**
 * Octets of a compressed header block. Fields beyond `maxHeaderListSize` end their stream only; to be
 * decoded for the tables' sake (RFC 7541 §2.2) they have to be kept until the block is complete.
 */
const MAX_BLOCK_SIZE = { server: 512 << 10, client: 1 << 20 } as const;

/** A server without HTTP/2 answers the preface with text, which would make an odd frame. */
function checkNoText(buf: Uint8Array, start: number, end: number): void {
  if (end - start < 4) return;
  for (let i = 0; i < 4; i++) if (buf[start + i] !== "HTTP".charCodeAt(i)) return;
  throw new ProtocolError(
    "Server must speak HTTP/2 as the client does by prior knowledge (RFC 9113 §3.3): it answers in HTTP/1.1",
    ErrorCode.HTTP_1_1_REQUIRED,
  );
}

/** A fault of this side is printed here: what the peer gets of it says nothing. */
function ownFault(error: unknown): ProtocolError {
  tellError(undefined, "The HTTP/2 engine failed", error);
  return new ProtocolError("Cannot go on after a fault of this side", ErrorCode.INTERNAL_ERROR);
}

/** Octets of GOAWAY debug data sent. */
const MAX_DEBUG_DATA = 256;

const NO_DEBUG = new Uint8Array(0);

/** See the module. */
export class Connection implements FrameSink, StreamHost {
  readonly role: "client" | "server";
  /** Where frames are written. */
  readonly writer: FrameWriter = new FrameWriter();
  /** The sending half. */
  readonly outbound: Outbound;
  /** Streams not closed, by id. */
  readonly streams: OpenStreams;
  /** The peer's settings. */
  readonly peer: Settings = initialSettings();
  /** No new streams: GOAWAY was sent or received. */
  draining = false;
  /** Milliseconds; the session sets it once per batch of input. */
  now = 0;
  /** The peer's first SETTINGS came. */
  settled = false;
  /** Our SETTINGS were acknowledged. */
  settingsAcked = false;

  readonly #owner: ConnectionOwner;
  readonly #options: Required<ConnectionOptions>;
  readonly #reader: FrameReader;
  readonly #decoder: Decoder;
  readonly #inbound: Inbound;
  readonly #table: StreamTable;
  readonly #guard: AbuseGuard;
  #preface: number;
  #goAwaySent = MAX_STREAM_ID + 1;
  #dead = false;
  /** Octets of DATA and of header blocks received. */
  #octets = 0;

  constructor(
    role: "client" | "server",
    owner: ConnectionOwner,
    options: ConnectionOptions = {},
  ) {
    this.role = role;
    this.#owner = owner;
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
    this.#decoder = new Decoder({
      maxHeaderListSize: this.#options.maxHeaderListSize,
      maxFields: this.#options.maxFields,
    });
    this.#guard = new AbuseGuard(this.#options.abuse, role);
    this.#preface = role === "server" ? 0 : PREFACE.length;
    this.#table = new StreamTable(role);
    this.streams = this.#table.open;
    const wantWrite = () => owner.wantWrite();
    this.outbound = new Outbound(
      this.writer,
      wantWrite,
      (stream) => this.#localEnded(stream),
      (stream) => this.#outputLost(stream),
    );
    this.#inbound = new Inbound(
      this.#options.streamWindow,
      this.#options.connectionWindow,
      this.streams,
      this.writer,
      wantWrite,
    );
  }

  /** Whether the connection can carry one more stream of ours now. */
  get available(): boolean {
    return !this.draining && !this.#dead &&
      this.streams.size < this.peer.maxConcurrentStreams && this.#table.hasIds;
  }

  /** Whether nothing may be opened on it any more. */
  get exhausted(): boolean {
    return this.draining || this.#dead || !this.#table.hasIds;
  }

  /** Whether the connection has ended itself or was ended. */
  get dead(): boolean {
    return this.#dead;
  }

  /** Writes the preface and our SETTINGS. Call once, first. */
  start(): void {
    const { maxHeaderListSize, maxConcurrentStreams } = this.#options;
    const entries: [number, number][] = [
      [SettingId.INITIAL_WINDOW_SIZE, this.#inbound.startWindow],
      [SettingId.MAX_HEADER_LIST_SIZE, maxHeaderListSize],
    ];
    if (this.role === "client") {
      this.writer.raw(PREFACE);
      entries.push([SettingId.ENABLE_PUSH, 0]);
    } else {
      entries.push([SettingId.MAX_CONCURRENT_STREAMS, maxConcurrentStreams]);
    }
    this.writer.settings(entries);
    this.#inbound.open();
    this.#owner.wantWrite();
  }

  // ---- receiving -------------------------------------------------------------------------------

  /** Work done since the last look, in small frames. */
  takeWork(): number {
    const { work } = this.#reader;
    this.#reader.work = 0;
    return work;
  }

  /** Octets needed for the frame that begins at `start`, or 0 if that is not known yet. */
  frameSize(buf: Uint8Array, start: number, end: number): number {
    return this.#preface < PREFACE.length ? 0 : this.#reader.frameSize(buf, start, end);
  }

  /**
   * Takes input; returns where the first incomplete frame begins: give those octets again with more.
   * Never throws: faults of the peer end the stream or the connection as RFC 9113 §5.4 says.
   */
  receive(buf: Uint8Array, start: number, end: number): number {
    if (this.#dead) return end;
    try {
      if (this.#preface < PREFACE.length) {
        for (; start < end && this.#preface < PREFACE.length; start++, this.#preface++) {
          if (buf[start] !== PREFACE[this.#preface]) {
            throw new ProtocolError("Cannot read client preface", ErrorCode.PROTOCOL_ERROR);
          }
        }
      }
      if (!this.settled && this.role === "client") checkNoText(buf, start, end);
      return this.#reader.read(buf, start, end, this);
    } catch (error) {
      this.#fatal(
        error instanceof ProtocolError
          ? error
          : error instanceof HpackError
          ? new ProtocolError(error.message, ErrorCode.COMPRESSION_ERROR)
          : ownFault(error),
      );
      return end;
    }
  }

  onHeaderBlock(
    id: number,
    buf: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
    dependsOn: number,
  ): void {
    this.#needSettings();
    this.#octets += end - start;
    // Decoded whatever becomes of the stream: the table must follow the peer's (RFC 7541 §2.2).
    const block = this.#decoder.decode(buf, start, end);
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      this.#onMoreHeaders(stream, block, endStream);
      return;
    }
    if (this.role === "client") {
      // No push, so nothing opens here; what is not ours to know is an idle or a closed stream.
      if (this.#table.isIdle(id)) this.#idleError("HEADERS", id);
      if (!this.#table.wasReset(id)) this.#closedError("HEADERS", id);
      return this.#idleFrame();
    }
    // "Streams initiated by a client MUST use odd-numbered stream identifiers" (§5.1.1).
    if ((id & 1) === 0) {
      throw new ProtocolError(
        `Cannot open stream as its id must be odd: current value is ${id}`,
        ErrorCode.PROTOCOL_ERROR,
      );
    }
    if (id <= this.#table.lastPeerId) {
      if (!this.#table.wasReset(id)) this.#closedError("HEADERS", id);
      return this.#idleFrame();
    }
    this.#table.lastPeerId = id;
    if (id > this.#goAwaySent) return;
    this.#open(id, block, endStream, dependsOn);
  }

  #open(id: number, block: FieldBlock, endStream: boolean, dependsOn: number): void {
    if (dependsOn === id) return this.#refuse(id, ErrorCode.PROTOCOL_ERROR);
    if (
      this.streams.size + this.#table.lingering >= this.#options.maxConcurrentStreams ||
      this.writer.out.length > MAX_UNSENT_OUTPUT || this.outbound.holdsBeside(MAX_QUEUED_OUTPUT)
    ) {
      return this.#refuse(id, ErrorCode.REFUSED_STREAM);
    }
    let stream: StreamRecord | null;
    if (block.truncated) {
      stream = this.#owner.acceptOversize?.(block) ?? null;
      if (stream === null) return this.#refuse(id, ErrorCode.ENHANCE_YOUR_CALM);
    } else {
      const head = requestHead(block);
      if (head.malformed !== "" || (endStream && head.contentLength > 0)) {
        this.#owner.onMalformed?.(head.malformed || "content-length was not reached");
        return this.#refuse(id, ErrorCode.PROTOCOL_ERROR);
      }
      stream = this.#owner.accept!(head, block, endStream);
      if (stream === null) return this.#refuse(id, ErrorCode.REFUSED_STREAM);
      stream.expected = head.contentLength;
    }
    this.#adopt(stream, id);
    stream.headed = true;
    if (endStream) stream.state = State.HALF_CLOSED_REMOTE;
    stream.onHeaders(block, endStream);
    if (endStream) this.#remoteEnded(stream);
  }

  #adopt(stream: StreamRecord, id: number): void {
    stream.host = this;
    stream.id = id;
    stream.state = State.OPEN;
    stream.sendWindow = this.peer.initialWindowSize;
    this.#inbound.adopt(stream);
    this.#table.open.add(id, stream);
  }

  /** A new stream that is not taken: only its id is used up. */
  #refuse(id: number, code: number): void {
    this.#guard.error(this.now);
    this.#table.rememberReset(id);
    this.outbound.rstStream(id, code);
  }

  #onMoreHeaders(stream: StreamRecord, block: FieldBlock, end: boolean): void {
    if (!canReceive(stream.state)) {
      return this.#streamError(stream, ErrorCode.STREAM_CLOSED, "HEADERS after END_STREAM");
    }
    if (block.truncated) {
      return this.#streamError(
        stream,
        ErrorCode.ENHANCE_YOUR_CALM,
        `header list must be <= ${this.#options.maxHeaderListSize} octets in <= ${this.#options.maxFields} fields`,
      );
    }
    let fault = "";
    if (stream.headed) {
      fault = trailersFault(block) || (end ? "" : "trailers without END_STREAM");
    } else {
      const head = responseHead(block);
      fault = head.malformed;
      if (fault === "" && head.status < 200) {
        // "…the final response: an interim response with END_STREAM is malformed" (§8.1).
        if (end || head.status === 101) fault = `response ${head.status} is not allowed here`;
        else return stream.onHeaders(block, false);
      }
      stream.headed = true;
      // A body length is a promise of the body only where there is one; HEAD and 304 have none.
      if (!end) stream.expected = head.contentLength;
    }
    if (fault !== "") return this.#streamError(stream, ErrorCode.PROTOCOL_ERROR, fault);
    if (end && stream.expected > 0) {
      return this.#streamError(stream, ErrorCode.PROTOCOL_ERROR, "content-length was not reached");
    }
    if (end) stream.state = afterRemoteEnd(stream.state);
    stream.onHeaders(block, end);
    if (end) this.#remoteEnded(stream);
  }

  onDataFrame(
    id: number,
    buf: Uint8Array,
    start: number,
    end: number,
    size: number,
    endStream: boolean,
  ): void {
    this.#needSettings();
    if (!this.#inbound.take(size)) {
      throw new ProtocolError(
        `Cannot read DATA as its size must be <= the connection window ${this.#inbound.window}: current value is ${size}`,
        ErrorCode.FLOW_CONTROL_ERROR,
      );
    }
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (this.#table.isIdle(id)) this.#idleError("DATA", id);
      if (id <= this.#goAwaySent && !this.#table.wasReset(id)) this.#closedError("DATA", id);
      // Dropped, but the window it took belongs to the connection (§5.1, "closed").
      this.#inbound.received(size);
      if (start === end) this.#idleFrame();
      return;
    }
    if (!canReceive(stream.state)) {
      this.#inbound.received(size);
      return this.#streamError(stream, ErrorCode.STREAM_CLOSED, "DATA after END_STREAM");
    }
    if (!stream.headed) {
      this.#inbound.received(size);
      return this.#streamError(stream, ErrorCode.PROTOCOL_ERROR, "DATA before HEADERS");
    }
    if (size > stream.receiveWindow) {
      this.#inbound.received(size);
      return this.#streamError(
        stream,
        ErrorCode.FLOW_CONTROL_ERROR,
        `DATA must be <= the stream window ${stream.receiveWindow}: current value is ${size}`,
      );
    }
    stream.receiveWindow -= size;
    const length = end - start;
    if (stream.expected >= 0) {
      stream.expected -= length;
      if (stream.expected < 0 || (endStream && stream.expected > 0)) {
        this.#inbound.received(size);
        return this.#streamError(
          stream,
          ErrorCode.PROTOCOL_ERROR,
          "content-length differs from the body",
        );
      }
    }
    if (length > 0) this.#octets += length;
    else if (!endStream) this.#idleFrame();
    const inbound = this.#inbound;
    inbound.deliver(stream, length, size);
    if (length < MIN_MEAN_OCTETS && !endStream) {
      this.#guard.unread(inbound.unreadFrames, inbound.unreadOctets);
    }
    if (endStream) stream.state = afterRemoteEnd(stream.state);
    if (length > 0) stream.onData(buf, start, end);
    if (endStream) this.#remoteEnded(stream);
  }

  /** The peer's side is over; the owner hears of it unless it gave the stream up meanwhile. */
  #remoteEnded(stream: StreamRecord): void {
    if (!this.#table.has(stream)) return;
    const both = stream.state === State.CLOSED;
    this.#inbound.ended(stream);
    stream.onEnd();
    if (both) this.#retire(stream);
  }

  onPriorityFrame(id: number, dependsOn: number): void {
    this.#needSettings();
    this.#idleFrame();
    // RFC 7540 §5.3.1, where priorities still had a meaning, made this an error of the stream.
    if (dependsOn === id) this.#rstById(id, ErrorCode.PROTOCOL_ERROR, "stream depends on itself");
  }

  onBadPrioritySize(id: number): void {
    this.#rstById(id, ErrorCode.FRAME_SIZE_ERROR, "length of PRIORITY must be 5");
  }

  #rstById(id: number, code: number, reason: string): void {
    const stream = this.streams.get(id);
    if (stream !== undefined) this.#streamError(stream, code, reason);
    else this.#refuse(id, code);
  }

  onRstStreamFrame(id: number, code: number): void {
    this.#needSettings();
    const stream = this.streams.get(id);
    if (stream === undefined) {
      // "If a RST_STREAM frame identifying an idle stream is received, the recipient MUST treat
      // this as a connection error of type PROTOCOL_ERROR" (§6.4).
      if (this.#table.isIdle(id)) this.#idleError("RST_STREAM", id);
      this.#idleFrame();
      return;
    }
    this.#guard.reset(this.now);
    // "Clients MUST NOT discard responses as a result of receiving such a RST_STREAM" (§8.1): with
    // NO_ERROR after a complete response, the stream has ended well already.
    this.#retire(stream);
    stream.onReset(new StreamResetError(code, "peer"));
  }

  onSettingsFrame(buf: Uint8Array, start: number, end: number): void {
    // Each may change every stream's window.
    if (this.settled) this.#idleFrame(1 + (this.streams.size >> 4));
    const before = this.peer.initialWindowSize;
    readSettings(this.peer, buf, start, end);
    this.writer.encoder.setMaxTableSize(this.peer.headerTableSize);
    this.writer.maxFrameSize = Math.min(this.peer.maxFrameSize, MIN_MAX_FRAME_SIZE);
    const change = this.peer.initialWindowSize - before;
    if (change !== 0) {
      for (const stream of this.streams.list()) {
        // "An endpoint MUST treat a change that causes any flow-control window to exceed the maximum
        // size as a connection error of type FLOW_CONTROL_ERROR" (§6.9.2).
        if (!this.outbound.growStream(stream, change)) {
          throw new ProtocolError(
            `Cannot change window of stream ${stream.id} as it must be <= ${MAX_WINDOW}: current value is ${stream.sendWindow}`,
            ErrorCode.FLOW_CONTROL_ERROR,
          );
        }
      }
    }
    this.#guard.backlog(this.writer.out.length);
    this.writer.settingsAck();
    this.settled = true;
    this.#owner.wantWrite();
    this.#owner.onSettings?.();
  }

  onSettingsAck(): void {
    this.#needSettings();
    if (this.settingsAcked) this.#idleFrame();
    this.settingsAcked = true;
  }

  onPingFrame(buf: Uint8Array, start: number, ack: boolean): void {
    this.#needSettings();
    this.#idleFrame();
    if (ack) {
      this.#owner.onPong?.(
        (buf[start + 4]! << 24 | buf[start + 5]! << 16 | buf[start + 6]! << 8 | buf[start + 7]!) >>>
          0,
      );
      return;
    }
    this.#guard.backlog(this.writer.out.length);
    this.writer.ping(buf, start, true);
    this.#owner.wantWrite();
  }

  onGoAwayFrame(lastStreamId: number, code: number, debug: Uint8Array): void {
    this.#needSettings();
    this.#idleFrame();
    this.draining = true;
    if (this.role === "client") {
      for (const stream of this.streams.list()) {
        const { id } = stream;
        if (id <= lastStreamId) continue;
        if (!this.#retire(stream)) continue;
        stream.onReset(
          new ConnectionLostError(
            `Peer is going away and did not take stream ${id}: ${errorCodeName(code)}`,
            "no",
          ),
        );
      }
    }
    this.#owner.onGoAway?.(code, debug);
  }

  onWindowUpdateFrame(id: number, increment: number): void {
    this.#needSettings();
    const stream = id === 0 ? undefined : this.streams.get(id);
    if (id !== 0 && stream === undefined) {
      if (this.#table.isIdle(id)) this.#idleError("WINDOW_UPDATE", id);
      this.#idleFrame();
      return;
    }
    if (increment === 0) {
      // §6.9: "MUST treat the receipt of a WINDOW_UPDATE frame with a flow-control window increment
      // of 0 as a stream error of type PROTOCOL_ERROR; errors on the connection flow-control window
      // MUST be treated as a connection error".
      if (stream !== undefined) {
        return this.#streamError(
          stream,
          ErrorCode.PROTOCOL_ERROR,
          "window increment must not be 0",
        );
      }
      throw new ProtocolError("Cannot read WINDOW_UPDATE of 0", ErrorCode.PROTOCOL_ERROR);
    }
    // A window opens something only if output waits for it.
    if (stream === undefined ? this.outbound.queued === 0 : stream.queue === null) {
      this.#idleFrame();
    }
    if (stream === undefined) {
      if (this.outbound.grow(increment)) return;
      throw new ProtocolError(
        `Cannot grow connection window as it must be <= ${MAX_WINDOW}: current value is ${this.outbound.sendWindow}`,
        ErrorCode.FLOW_CONTROL_ERROR,
      );
    }
    if (this.outbound.growStream(stream, increment)) return;
    this.#streamError(
      stream,
      ErrorCode.FLOW_CONTROL_ERROR,
      `window must be <= ${MAX_WINDOW}: current value is ${stream.sendWindow}`,
    );
  }

  onUnknownFrame(): void {
    this.#needSettings();
    this.#idleFrame();
  }

  /** A frame that brings nothing forward: what came and went with it has to be worth it. */
  #idleFrame(cost = 1): void {
    this.#guard.idleFrame(this.now, this.#octets + this.outbound.sent, cost);
  }

  // ---- sending ---------------------------------------------------------------------------------

  /**
   * Checks that the peer takes so many fields, and `more` octets besides. Call it before their message
   * changes anything.
   *
   * @throws {HeadersTooLargeError} If it does not.
   */
  checkFields(fields: Template | readonly string[], more = 0): void {
    const { maxHeaderListSize } = this.peer;
    if (maxHeaderListSize === Infinity) return;
    const size = more + (fields instanceof Template ? fields.listSize : headerListSize(fields));
    if (size > maxHeaderListSize) throw new HeadersTooLargeError(size, maxHeaderListSize);
  }

  /**
   * Opens a stream with its request. False, with nothing sent, if there is no room for it.
   *
   * @throws {HeadersTooLargeError} If the peer does not take so many fields; nothing was sent.
   */
  open(stream: StreamRecord, fields: Template | readonly string[], end: boolean): boolean {
    if (!this.available) return false;
    this.checkFields(fields);
    const id = this.#table.takeId();
    this.#adopt(stream, id);
    this.writer.headers(id, fields, end);
    if (end) stream.state = State.HALF_CLOSED_LOCAL;
    this.#owner.wantWrite();
    return true;
  }

  #localEnded(stream: StreamRecord): void {
    stream.state = afterLocalEnd(stream.state);
    if (stream.state === State.CLOSED) this.#retire(stream);
  }

  #outputLost(stream: StreamRecord): void {
    const error = new StreamResetError(ErrorCode.INTERNAL_ERROR, "local", PIECE_CHANGED);
    tellError(undefined, "A body could not be sent", error);
    this.resetStream(stream, ErrorCode.INTERNAL_ERROR);
    stream.onReset(error);
  }

  /** The consumer of a stream took `n` octets. */
  consumed(stream: StreamRecord, n: number): void {
    this.#inbound.consumed(stream, n);
  }

  /** RST_STREAM by the owner's will. */
  resetStream(stream: StreamRecord, code: number): void {
    if (!this.#table.has(stream)) return;
    if (stream.state !== State.CLOSED) {
      this.#table.rememberReset(stream.id);
      this.outbound.rstStream(stream.id, code);
    }
    this.#retire(stream);
  }

  /** The handler of a stream ended. */
  releaseStream(stream: StreamRecord): void {
    this.#table.release(stream);
  }

  /** A PING whose answer comes through `onPong` with the same number (32 bits). */
  ping(opaque: number): void {
    const data = new Uint8Array(8);
    new DataView(data.buffer).setUint32(4, opaque);
    this.writer.ping(data, 0, false);
    this.#owner.wantWrite();
  }

  /**
   * GOAWAY, RFC 9113 §6.8. With `graceful`, the announcement only: streams on their way are still
   * taken until a second call names the last one.
   */
  goAway(code: number, debug = "", graceful = false): void {
    const last = graceful ? MAX_STREAM_ID : this.#table.lastPeerId;
    if (last < this.#goAwaySent) this.#goAwaySent = last;
    this.draining = true;
    const bytes = debug === ""
      ? NO_DEBUG
      : new TextEncoder().encode(debug.slice(0, MAX_DEBUG_DATA));
    this.writer.goAway(Math.min(last, this.#goAwaySent), code, bytes);
    this.#owner.wantWrite();
  }

  /** The transport is gone: every stream ends. */
  lost(error: Error): void {
    this.#dead = true;
    this.draining = true;
    this.#inbound.close();
    for (const stream of this.streams.list()) {
      if (this.#retire(stream)) stream.onReset(error);
    }
  }

  // ---- faults ----------------------------------------------------------------------------------

  /** The one place where a fault of the peer becomes RST_STREAM. */
  #streamError(stream: StreamRecord, code: number, reason: string): void {
    this.#table.rememberReset(stream.id);
    this.outbound.rstStream(stream.id, code);
    this.#retire(stream);
    stream.onReset(
      new ProtocolError(`Stream ${stream.id} broke the protocol: ${reason}`, code, "stream"),
    );
    this.#guard.error(this.now);
  }

  /** The one place where a fault of the peer becomes GOAWAY. */
  #fatal(error: ProtocolError): void {
    if (this.#dead) return;
    this.goAway(error.code, error.message);
    this.lost(error);
    this.#owner.onFatal(error);
  }

  /** The stream is over: its queue, its place and its unconsumed octets are given back. False if it was over. */
  #retire(stream: StreamRecord): boolean {
    // What one stream is told may make its owner end others.
    if (!this.#table.close(stream)) return false;
    this.outbound.drop(stream);
    this.#inbound.drop(stream);
    stream.onClosed();
    this.#owner.onStreamClosed?.();
    return true;
  }

  #idleError(frame: string, id: number): never {
    throw new ProtocolError(`Cannot read ${frame} on idle stream ${id}`, ErrorCode.PROTOCOL_ERROR);
  }

  #closedError(frame: string, id: number): never {
    throw new ProtocolError(`Cannot read ${frame} on closed stream ${id}`, ErrorCode.STREAM_CLOSED);
  }

  /** "[SETTINGS] MUST be the first frame [each side] sends" (§3.4). */
  #needSettings(): void {
    if (!this.settled) {
      throw new ProtocolError("Cannot read frame before SETTINGS", ErrorCode.PROTOCOL_ERROR);
    }
  }
}
