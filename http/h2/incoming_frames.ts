import { ConnectionLostError, ProtocolError, StreamResetError } from "../message/error.ts";
import { ErrorCode, errorCodeName } from "../message/error_code.ts";
import { isOver, step } from "../message/exchange_state.ts";
import { Decoder, type FieldBlock } from "../hpack/mod.ts";
import { MIN_MEAN_BYTES } from "./abuse.ts";
import type { ConnectionEvents, ConnectionOptions, RequestEvents } from "./connection_options.ts";
import { MAX_WINDOW } from "./flow.ts";
import { MIN_MAX_FRAME_SIZE, readUint32 } from "./frame.ts";
import type { FrameSink } from "./frame_reader.ts";
import { requestHead, responseHead, trailersFault } from "./head.ts";
import { isAlive, type Life } from "./lifecycle.ts";
import { readSettings } from "./settings.ts";
import type { EngineRecord, StreamRecord } from "./stream_record.ts";
import type { Streams } from "./streams.ts";

/** Opaque data of the PING between the two GOAWAY frames of a graceful end. */
export const GOAWAY_PING = 0x676f_6177;

/**
 * Acts on the frames of a peer (RFC 9113 §5, §6, §8). Throws
 * `ProtocolError` or `HpackError` where a frame ends the connection.
 */
export class IncomingFrames implements FrameSink {
  readonly #role: "client" | "server";
  readonly #life: Life;
  readonly #streams: Streams;
  readonly #events: ConnectionEvents;
  readonly #requests: RequestEvents;
  readonly #maxFields: number;
  readonly #maxHeaderListSize: number;
  readonly #decoder: Decoder;
  readonly #onAnnounced: () => void;
  /** Bytes of DATA and of header blocks received. */
  #received = 0;

  /** `onAnnounced` is called when the peer has seen our announcement of the end. */
  constructor(
    role: "client" | "server",
    life: Life,
    streams: Streams,
    events: ConnectionEvents,
    requests: RequestEvents,
    { maxHeaderListSize, maxFields }: Required<ConnectionOptions>,
    onAnnounced: () => void,
  ) {
    this.#role = role;
    this.#life = life;
    this.#streams = streams;
    this.#events = events;
    this.#requests = requests;
    this.#maxHeaderListSize = maxHeaderListSize;
    this.#maxFields = maxFields;
    this.#decoder = new Decoder({ maxHeaderListSize, maxFields });
    this.#onAnnounced = onAnnounced;
  }

  // ---- HEADERS ---------------------------------------------------------------------------------

  onHeaderBlock(
    id: number,
    buf: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
    dependsOn: number,
  ): void {
    this.#needSettings();
    this.#received += end - start;
    // Decoded whatever becomes of the stream: the table must follow the peer's (RFC 7541 §2.2).
    const block = this.#decoder.decode(buf, start, end);
    const { table } = this.#streams;
    const stream = table.open.get(id);
    if (stream !== undefined) return this.#onMoreHeaders(stream, block, endStream);
    if (this.#role === "client") {
      // Push is disabled, so nothing opens here: the stream is idle or closed.
      if (table.isIdle(id)) idleError("HEADERS", id);
      if (!table.wasReset(id)) closedError("HEADERS", id);
      return this.#idleFrame();
    }
    // "Streams initiated by a client MUST use odd-numbered stream identifiers" (§5.1.1).
    if ((id & 1) === 0) {
      throw new ProtocolError(
        `Cannot open stream as its id must be odd: current value is ${id}`,
        ErrorCode.PROTOCOL_ERROR,
      );
    }
    if (id <= table.lastPeerId) {
      if (!table.wasReset(id)) closedError("HEADERS", id);
      return this.#idleFrame();
    }
    table.lastPeerId = id;
    // The user of an earlier frame's stream may have ended the connection.
    if (id > table.lastTaken || !isAlive(this.#life.phase)) return;
    this.#open(id, block, endStream, dependsOn);
  }

  #open(id: number, block: FieldBlock, endStream: boolean, dependsOn: number): void {
    const streams = this.#streams;
    if (dependsOn === id) return streams.refuse(id, ErrorCode.PROTOCOL_ERROR);
    if (streams.full) return streams.refuse(id, ErrorCode.REFUSED_STREAM);
    let stream: EngineRecord | null;
    if (block.truncated) {
      stream = this.#requests.acceptOversize?.(block) ?? null;
      if (stream === null) return streams.refuse(id, ErrorCode.ENHANCE_YOUR_CALM);
    } else {
      const head = requestHead(block);
      if (head.malformed !== "" || (endStream && head.contentLength > 0)) {
        this.#requests.onMalformed?.(head.malformed || "content-length was not reached");
        return streams.refuse(id, ErrorCode.PROTOCOL_ERROR);
      }
      stream = this.#requests.accept?.(head, block, endStream) ?? null;
      if (stream === null) return streams.refuse(id, ErrorCode.REFUSED_STREAM);
      stream.bodyBytesLeft = head.contentLength;
    }
    streams.adopt(stream, id);
    stream.remote = step(stream.remote, "head");
    if (endStream) stream.remote = step(stream.remote, "end");
    stream.onHeaders(block, endStream);
    if (endStream) streams.remoteEnded(stream);
  }

  #onMoreHeaders(stream: EngineRecord, block: FieldBlock, end: boolean): void {
    const streams = this.#streams;
    if (isOver(stream.remote)) {
      return streams.fault(stream, ErrorCode.STREAM_CLOSED, "HEADERS after END_STREAM");
    }
    if (block.truncated) {
      return streams.fault(
        stream,
        ErrorCode.ENHANCE_YOUR_CALM,
        `header list must be <= ${this.#maxHeaderListSize} bytes in <= ${this.#maxFields} fields`,
      );
    }
    let fault = "";
    if (stream.remote === "body") {
      fault = trailersFault(block) || (end ? "" : "trailers without END_STREAM");
    } else {
      const head = responseHead(block);
      fault = head.malformed;
      if (fault === "" && head.status < 200) {
        // "…the final response: an interim response with END_STREAM is malformed" (§8.1).
        if (end || head.status === 101) fault = `response ${head.status} is not allowed here`;
        else return stream.onHeaders(block, false);
      }
      stream.remote = step(stream.remote, "head");
      // A body length is a promise of the body only where there is one; HEAD and 304 have none.
      if (!end) stream.bodyBytesLeft = head.contentLength;
    }
    if (fault !== "") return streams.fault(stream, ErrorCode.PROTOCOL_ERROR, fault);
    if (end && stream.bodyBytesLeft > 0) {
      return streams.fault(stream, ErrorCode.PROTOCOL_ERROR, "content-length was not reached");
    }
    if (end) stream.remote = step(stream.remote, "end");
    stream.onHeaders(block, end);
    if (end) streams.remoteEnded(stream);
  }

  // ---- DATA ------------------------------------------------------------------------------------

  onDataFrame(
    id: number,
    buf: Uint8Array,
    start: number,
    end: number,
    size: number,
    endStream: boolean,
  ): void {
    this.#needSettings();
    const { windows, table } = this.#streams;
    if (!windows.take(size)) {
      throw new ProtocolError(
        `Cannot read DATA as its size must be <= the connection window ${windows.window}: current value is ${size}`,
        ErrorCode.FLOW_CONTROL_ERROR,
      );
    }
    const stream: EngineRecord | undefined = table.open.get(id);
    if (stream === undefined) {
      if (table.isIdle(id)) idleError("DATA", id);
      if (id <= table.lastTaken && !table.wasReset(id)) closedError("DATA", id);
      // Dropped, but the window it took belongs to the connection (§5.1, "closed").
      windows.received(size);
      if (start === end) this.#idleFrame();
      return;
    }
    const length = end - start;
    if (this.#dataFault(stream, length, size, endStream)) return windows.received(size);
    stream.receive.left -= size;
    if (length > 0) this.#received += length;
    else if (!endStream) this.#idleFrame();
    windows.deliver(stream, length, size);
    if (length < MIN_MEAN_BYTES && !endStream) {
      this.#streams.guard.unread(windows.unreadFrames, windows.unreadBytes);
    }
    if (endStream) stream.remote = step(stream.remote, "end");
    if (length > 0) stream.onData(buf, start, end);
    if (endStream) this.#streams.remoteEnded(stream);
  }

  /** Counts the bytes of DATA against its content-length. True, with the stream ended, if it is not allowed. */
  #dataFault(stream: EngineRecord, length: number, size: number, endStream: boolean): boolean {
    let code: number = ErrorCode.PROTOCOL_ERROR;
    let fault = "";
    if (stream.remote !== "body") {
      if (stream.remote === "idle") fault = "DATA before HEADERS";
      else {
        fault = "DATA after END_STREAM";
        code = ErrorCode.STREAM_CLOSED;
      }
    } else if (size > stream.receive.left) {
      fault = `DATA must be <= the stream window ${stream.receive.left}: current value is ${size}`;
      code = ErrorCode.FLOW_CONTROL_ERROR;
    } else if (stream.bodyBytesLeft >= 0) {
      stream.bodyBytesLeft -= length;
      if (stream.bodyBytesLeft < 0 || (endStream && stream.bodyBytesLeft > 0)) {
        fault = "content-length differs from the body";
      }
    }
    if (fault === "") return false;
    this.#streams.fault(stream, code, fault);
    return true;
  }

  // ---- the end of a stream ---------------------------------------------------------------------

  onRstStreamFrame(id: number, code: number): void {
    this.#needSettings();
    const streams = this.#streams;
    const stream = streams.table.open.get(id);
    if (stream === undefined) {
      // "If a RST_STREAM frame identifying an idle stream is received, the recipient MUST treat
      // this as a connection error of type PROTOCOL_ERROR" (§6.4).
      if (streams.table.isIdle(id)) idleError("RST_STREAM", id);
      this.#idleFrame();
      return;
    }
    streams.guard.reset(streams.now);
    // "Clients MUST NOT discard responses as a result of receiving such a RST_STREAM" (§8.1): with
    // NO_ERROR after a complete response, the stream has ended well already.
    streams.retire(stream);
    stream.onReset(new StreamResetError(code, "peer"));
  }

  onPriorityFrame(id: number, dependsOn: number): void {
    this.#needSettings();
    this.#idleFrame();
    // RFC 7540 §5.3.1, where priorities still had a meaning, made this an error of the stream.
    if (dependsOn === id) {
      this.#streams.faultById(id, ErrorCode.PROTOCOL_ERROR, "stream depends on itself");
    }
  }

  onBadPrioritySize(id: number): void {
    this.#streams.faultById(id, ErrorCode.FRAME_SIZE_ERROR, "length of PRIORITY must be 5");
  }

  // ---- the connection --------------------------------------------------------------------------

  onSettingsFrame(buf: Uint8Array, start: number, end: number): void {
    const { peer, table, writer, sender, guard } = this.#streams;
    // Each may change every stream's window.
    if (!this.#life.move(SETTINGS)) this.#idleFrame(1 + (table.open.size >> 4));
    const before = peer.initialWindowSize;
    readSettings(peer, buf, start, end);
    writer.encoder.setMaxTableSize(peer.headerTableSize);
    writer.maxFrameSize = Math.min(peer.maxFrameSize, MIN_MAX_FRAME_SIZE);
    const change = peer.initialWindowSize - before;
    if (change !== 0) {
      for (const stream of table.open.list()) {
        // "An endpoint MUST treat a change that causes any flow-control window to exceed the maximum
        // size as a connection error of type FLOW_CONTROL_ERROR" (§6.9.2).
        if (!sender.growStream(stream, change)) {
          throw new ProtocolError(
            `Cannot change window of stream ${stream.id} as it must be <= ${MAX_WINDOW}: current value is ${stream.sendWindow}`,
            ErrorCode.FLOW_CONTROL_ERROR,
          );
        }
      }
    }
    guard.backlog(writer.out.length);
    writer.settingsAck();
    this.#events.wantWrite();
    this.#events.onSettings?.();
  }

  onSettingsAck(): void {
    this.#needSettings();
    if (!this.#life.move(ACKNOWLEDGED)) this.#idleFrame();
  }

  onPingFrame(buf: Uint8Array, start: number, ack: boolean): void {
    this.#needSettings();
    this.#idleFrame();
    if (ack) {
      if (readUint32(buf, start + 4) === GOAWAY_PING) this.#onAnnounced();
      return;
    }
    const { guard, writer } = this.#streams;
    guard.backlog(writer.out.length);
    writer.ping(buf, start, true);
    this.#events.wantWrite();
  }

  onGoAwayFrame(lastStreamId: number, code: number, debug: Uint8Array): void {
    this.#needSettings();
    this.#idleFrame();
    this.#life.move(GOAWAY);
    if (this.#role === "client") this.#failUntaken(lastStreamId, code);
    this.#events.onGoAway?.(code, debug);
  }

  #failUntaken(lastStreamId: number, code: number): void {
    for (const stream of this.#streams.table.open.list()) {
      const { id } = stream;
      if (id <= lastStreamId || !this.#streams.retire(stream)) continue;
      stream.onReset(
        new ConnectionLostError(
          `Peer is going away and did not take stream ${id}: ${errorCodeName(code)}`,
          "no",
        ),
      );
    }
  }

  onWindowUpdateFrame(id: number, increment: number): void {
    this.#needSettings();
    const { table, sender } = this.#streams;
    const stream = id === 0 ? undefined : table.open.get(id);
    if (id !== 0 && stream === undefined) {
      if (table.isIdle(id)) idleError("WINDOW_UPDATE", id);
      this.#idleFrame();
      return;
    }
    if (increment === 0) return this.#zeroIncrement(stream);
    // A window opens something only if output waits for it.
    if ((stream === undefined ? sender.queued : stream.unsent) === 0) this.#idleFrame();
    if (stream === undefined) {
      if (sender.grow(increment)) return;
      throw new ProtocolError(
        `Cannot grow connection window as it must be <= ${MAX_WINDOW}: current value is ${sender.window}`,
        ErrorCode.FLOW_CONTROL_ERROR,
      );
    }
    if (sender.growStream(stream, increment)) return;
    this.#streams.fault(
      stream,
      ErrorCode.FLOW_CONTROL_ERROR,
      `window must be <= ${MAX_WINDOW}: current value is ${stream.sendWindow}`,
    );
  }

  /**
   * §6.9: "MUST treat the receipt of a WINDOW_UPDATE frame with a flow-control window increment of 0
   * as a stream error of type PROTOCOL_ERROR; errors on the connection flow-control window MUST be
   * treated as a connection error".
   */
  #zeroIncrement(stream: StreamRecord | undefined): void {
    if (stream === undefined) {
      throw new ProtocolError("Cannot read WINDOW_UPDATE of 0", ErrorCode.PROTOCOL_ERROR);
    }
    this.#streams.fault(stream, ErrorCode.PROTOCOL_ERROR, "window increment must not be 0");
  }

  onUnknownFrame(): void {
    this.#needSettings();
    this.#idleFrame();
  }

  // ---- faults ----------------------------------------------------------------------------------

  /** A frame that brings nothing forward: what came and went with it has to be worth it. */
  #idleFrame(cost = 1): void {
    const { guard, sender, now } = this.#streams;
    guard.idleFrame(now, this.#received + sender.sent, cost);
  }

  /** "[SETTINGS] MUST be the first frame [each side] sends" (§3.4). */
  #needSettings(): void {
    if (this.#life.phase.awaits === "preface") {
      throw new ProtocolError("Cannot read frame before SETTINGS", ErrorCode.PROTOCOL_ERROR);
    }
  }
}

const SETTINGS = { kind: "settings" } as const;
const ACKNOWLEDGED = { kind: "acknowledged" } as const;
const GOAWAY = { kind: "goaway" } as const;

function idleError(frame: string, id: number): never {
  throw new ProtocolError(`Cannot read ${frame} on idle stream ${id}`, ErrorCode.PROTOCOL_ERROR);
}

function closedError(frame: string, id: number): never {
  throw new ProtocolError(`Cannot read ${frame} on closed stream ${id}`, ErrorCode.STREAM_CLOSED);
}
