import { HeadersTooLargeError, ProtocolError, StreamResetError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { isOver, step } from "../message/exchange_state.ts";
import { tellError } from "../message/tell.ts";
import { PIECE_CHANGED } from "../net/out_buffer.ts";
import { headerListSize, Template } from "../hpack/mod.ts";
import { AbuseGuard } from "./abuse.ts";
import type { ConnectionEvents, ConnectionOptions } from "./connection_options.ts";
import { FrameSender } from "./frame_sender.ts";
import { FrameWriter } from "./frame_writer.ts";
import { ReceiveWindows } from "./receive_windows.ts";
import { initialSettings, type Settings } from "./settings.ts";
import type { EngineRecord, StreamHost, StreamRecord } from "./stream_record.ts";
import { StreamTable } from "./stream_table.ts";

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

/** The streams of one connection: how they begin, what they send and take, how they end. */
export class Streams implements StreamHost {
  now = 0;
  readonly peer: Settings = initialSettings();
  readonly writer: FrameWriter = new FrameWriter();
  readonly sender: FrameSender;
  readonly windows: ReceiveWindows;
  readonly table: StreamTable;
  readonly guard: AbuseGuard;
  readonly #limit: number;
  readonly #events: ConnectionEvents;

  constructor(
    role: "client" | "server",
    events: ConnectionEvents,
    { streamWindow, connectionWindow, abuse, maxConcurrentStreams }: Required<ConnectionOptions>,
  ) {
    this.#events = events;
    this.#limit = maxConcurrentStreams;
    this.guard = new AbuseGuard(abuse, role);
    this.table = new StreamTable(role);
    const wantWrite = () => events.wantWrite();
    this.sender = new FrameSender(
      this.writer,
      wantWrite,
      (stream) => this.#localEnded(stream),
      (stream) => this.#outputLost(stream),
    );
    this.windows = new ReceiveWindows(
      streamWindow,
      connectionWindow,
      this.table.open,
      this.writer,
      wantWrite,
    );
  }

  // ---- how they begin --------------------------------------------------------------------------

  /** Whether the peer allows one more stream of ours now. */
  get available(): boolean {
    return this.table.open.size < this.peer.maxConcurrentStreams && this.table.hasIds;
  }

  /** Opens a stream of ours with its request. */
  open(stream: EngineRecord, fields: Template | readonly string[], end: boolean): void {
    this.checkFields(fields);
    this.adopt(stream, this.table.takeId());
    this.sender.headers(stream, fields, end);
  }

  /** Whether a stream of the peer's would be one too many. */
  get full(): boolean {
    return this.table.open.size + this.table.runningAfterReset >= this.#limit ||
      this.writer.out.length > MAX_UNSENT_OUTPUT || this.sender.holdsBeside(MAX_QUEUED_OUTPUT);
  }

  /** A stream begins. */
  adopt(stream: EngineRecord, id: number): void {
    stream.host = this;
    stream.id = id;
    stream.local = step(stream.local, "head");
    stream.sendWindow = this.peer.initialWindowSize;
    this.windows.adopt(stream);
    this.table.open.add(id, stream);
  }

  /** A new stream that is not taken: only its id is used up. */
  refuse(id: number, code: number): void {
    this.guard.error(this.now);
    this.table.rememberReset(id);
    this.sender.rstStream(id, code);
  }

  // ---- what users ask --------------------------------------------------------------------------

  /**
   * Checks that the peer takes so many fields, and `more` bytes besides. Call it before their message
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

  consumed(stream: StreamRecord, n: number): void {
    this.windows.consumed(stream, n);
  }

  expectNoBody(stream: EngineRecord): void {
    stream.bodyBytesLeft = 0;
  }

  handlerStarted(stream: EngineRecord): void {
    stream.handlerRunning = true;
  }

  handlerEnded(stream: StreamRecord): void {
    this.table.handlerEnded(stream);
  }

  /** RST_STREAM by the will of the stream's user. */
  reset(stream: StreamRecord, code: number): void {
    if (!this.table.has(stream)) return;
    if (!stream.closed) this.#rst(stream, code);
    this.retire(stream);
  }

  // ---- how they end ----------------------------------------------------------------------------

  #localEnded(stream: StreamRecord): void {
    if (isOver(stream.remote)) this.retire(stream);
  }

  /** The peer's side ended well; the user hears of it unless it gave the stream up meanwhile. */
  remoteEnded(stream: StreamRecord): void {
    if (!this.table.has(stream)) return;
    const { closed } = stream;
    this.windows.ended(stream);
    stream.onEnd();
    if (closed) this.retire(stream);
  }

  /** Bytes a stream was given to send were changed before they left. */
  #outputLost(stream: StreamRecord): void {
    const error = new StreamResetError(ErrorCode.INTERNAL_ERROR, "local", PIECE_CHANGED);
    tellError(undefined, "A body could not be sent", error);
    this.reset(stream, ErrorCode.INTERNAL_ERROR);
    stream.onReset(error);
  }

  /** The one place where a fault of the peer becomes RST_STREAM. */
  fault(stream: StreamRecord, code: number, reason: string): void {
    this.#rst(stream, code);
    this.retire(stream);
    stream.onReset(
      new ProtocolError(`Stream ${stream.id} broke the protocol: ${reason}`, code, "stream"),
    );
    this.guard.error(this.now);
  }

  /** The same for a stream that need not be open. */
  faultById(id: number, code: number, reason: string): void {
    const stream = this.table.open.get(id);
    if (stream !== undefined) this.fault(stream, code, reason);
    else this.refuse(id, code);
  }

  #rst(stream: StreamRecord, code: number): void {
    this.table.rememberReset(stream.id);
    this.sender.rstStream(stream.id, code);
  }

  /** Ends every stream. The peer is not told, and may go on sending on them for a while. */
  failAll(error: Error): void {
    for (const stream of this.table.open.list()) {
      if (!this.retire(stream)) continue;
      this.table.rememberReset(stream.id);
      stream.onReset(error);
    }
  }

  /** Forgets a stream: its queue, its place and its unconsumed bytes are given back. False if it was over. */
  retire(stream: StreamRecord): boolean {
    // The user of one stream may end others when it hears of this.
    if (!this.table.close(stream)) return false;
    this.sender.drop(stream);
    this.windows.drop(stream);
    stream.onClosed();
    this.#events.onStreamClosed?.();
    return true;
  }
}
