/**
 * The waiting half of HTTP/2: reads the socket into one buffer, gives the bytes to a
 * {@linkcode Connection}, and writes what comes out in one batch per turn.
 */
import { setImmediate } from "node:timers";
import { ConnectionLostError, ProtocolError, TimeoutError } from "../message/error.ts";
import type { FieldBlock } from "../hpack/mod.ts";
import { LingeringClose } from "../net/lingering_close.ts";
import type { Socket } from "../net/socket.ts";
import { SocketWriter, type WriterEvents } from "../net/socket_writer.ts";
import type { Time } from "../time/time.ts";
import { worked } from "../time/turn.ts";
import { Deadline } from "../time/deadline.ts";
import { ErrorCode } from "../message/error_code.ts";
import { Connection } from "./connection.ts";
import type { ConnectionOptions, ConnectionOwner } from "./connection_options.ts";
import type { RequestHead } from "./head.ts";
import {
  advance,
  isAlive,
  isEnding,
  type LifeEvent,
  type LifeLimits,
  limitOf,
  OPENING,
  type Phase,
} from "./lifecycle.ts";
import { Keepalive, type KeepaliveOptions } from "./keepalive.ts";
import { OutputWatch } from "./output_watch.ts";
import type { StreamRecord } from "./stream_record.ts";

/** Read buffer of a fresh or idle connection: what ten thousand idle ones cost is mostly this. */
const MIN_READ_BUFFER = 2 << 10;
/** Read buffer of a connection that moves bulk data. */
const MAX_READ_BUFFER = 256 << 10;
/** Input given to the connection at once: more than any frame, and not too many small ones. */
const SLICE_BYTES = 32 << 10;
/** So many bytes of input, as a power of two, are the work of a small frame. */
const WORK_SHIFT = 12;
/** Small reads in a row after which the buffer shrinks again. */
const SHRINK_AFTER = 32;

/** Waits of one HTTP/2 connection, in milliseconds. 0 means without limit. */
export interface SessionOptions extends ConnectionOptions {
  /** Until the peer's preface and SETTINGS have come. @default {10000} */
  readonly prefaceTimeout?: number;
  /** Until our SETTINGS are acknowledged. @default {10000} */
  readonly settingsTimeout?: number;
  /** During which the peer takes nothing of what is sent to it. @default {30000} */
  readonly writeTimeout?: number;
  /** Bytes a second it must take on average, with `writeTimeout` to spare. @default {0} */
  readonly minWriteRate?: number;
  /** Without any stream open. @default {0} */
  readonly idleTimeout?: number;
  /** PING to find dead peers. Off unless given. */
  readonly keepalive?: KeepaliveOptions;
}

/** Who uses a session. */
export interface SessionOwner extends
  Pick<
    ConnectionOwner,
    "accept" | "acceptOversize" | "onMalformed" | "onSettings" | "onStreamClosed" | "onGoAway"
  > {
  /** The connection is gone, for whatever reason; last call. */
  onClosed(error: Error): void;
}

/** One HTTP/2 connection on a socket. */
export class Session implements ConnectionOwner, WriterEvents {
  readonly connection: Connection;
  readonly socket: Socket;
  /** Resolves when the connection is gone; never rejects. */
  readonly closed: Promise<void>;

  readonly #owner: SessionOwner;
  readonly #time: Time;
  readonly #writer: SocketWriter;
  /** Looks after output that waits for the peer's windows. A client has chosen its server. */
  readonly #watch: OutputWatch | null;
  readonly #keepalive: Keepalive | null;
  readonly #limits: LifeLimits;
  #phase: Phase = OPENING;
  /** The one limit on what is waited for now. */
  readonly #deadline: Deadline;
  /** When what still runs is cut. */
  #cutAt = Infinity;
  /** Limits what is dropped while the connection lingers. */
  #lingering: LingeringClose | null = null;
  #inputEnded = false;
  readonly #unrefTimer: Deadline;
  #resolveClosed!: () => void;
  #scheduled = false;
  /** Flushes asked for since the last read: the first goes out at once, later ones gather. */
  #turn = 0;
  /** Whether the socket keeps the process alive. */
  #refed = true;

  constructor(
    role: "client" | "server",
    socket: Socket,
    owner: SessionOwner,
    options: SessionOptions,
    time: Time,
  ) {
    this.socket = socket;
    this.#owner = owner;
    this.#time = time;
    this.#limits = {
      prefaceTimeout: options.prefaceTimeout ?? 10_000,
      settingsTimeout: options.settingsTimeout ?? 10_000,
      idleTimeout: options.idleTimeout ?? 0,
    };
    this.closed = new Promise((resolve) => this.#resolveClosed = resolve);
    this.connection = new Connection(role, this, options);
    const limits = {
      writeTimeout: options.writeTimeout ?? 30_000,
      minWriteRate: options.minWriteRate ?? 0,
    };
    const { outbound, writer } = this.connection;
    this.#writer = new SocketWriter(socket, limits, this, time, writer.out);
    this.#watch = role === "client"
      ? null
      : new OutputWatch(outbound, this.#writer, limits, time, (error) => {
        this.#giveUp(error, ErrorCode.ENHANCE_YOUR_CALM);
      });
    this.#deadline = new Deadline(time, (name) => this.#onDeadline(name));
    this.#unrefTimer = new Deadline(time, () => {
      // Until the peer's SETTINGS come somebody waits for the connection itself.
      if (!this.connection.settled) return this.#unrefSoon();
      if (this.connection.streams.size > 0) return;
      this.#refed = false;
      this.socket.unref?.();
    });
    this.#keepalive = options.keepalive === undefined ? null : new Keepalive(
      options.keepalive,
      this.connection,
      time,
      (error) => this.#end(error),
    );
  }

  /** Starts the connection. `head` are bytes already read from the socket. */
  start(head?: Uint8Array): void {
    this.#time.timers.retain();
    this.connection.now = this.#time.clock.now();
    this.connection.start();
    this.#setDeadline();
    this.#onIdle();
    this.#keepalive?.start();
    this.#read(head);
  }

  /**
   * Ends the connection gracefully: GOAWAY, then what runs may finish. With `deadline`
   * milliseconds, what still runs then is cut. Resolves when the connection is gone.
   */
  close(deadline = 0): Promise<void> {
    this.#lingering?.hurry();
    if (this.connection.role === "client") {
      if (this.#move(DRAIN)) {
        this.connection.goAway(ErrorCode.NO_ERROR);
        this.#endIfDrained();
      }
    } else if (this.#move(ANNOUNCE)) {
      // RFC 9113 §6.8: announce first, name the last stream a round trip later, so that streams
      // on their way meanwhile are not lost.
      this.connection.goAway(ErrorCode.NO_ERROR, "", true);
      this.connection.ping(GOAWAY_PING);
    }
    if (deadline > 0 && this.#phase.kind !== "closed") {
      this.#cutAt = Math.min(this.#cutAt, this.#time.clock.now() + deadline);
      this.#setDeadline();
    }
    return this.closed;
  }

  /** Ends the connection now. Streams end with {@linkcode ConnectionLostError}. */
  destroy(error?: Error): void {
    this.#end(error ?? new ConnectionLostError("Connection was closed by this side", "maybe"));
  }

  // ---- ConnectionOwner -------------------------------------------------------------------------

  accept(head: RequestHead, block: FieldBlock, end: boolean): StreamRecord | null {
    return this.#owner.accept?.(head, block, end) ?? null;
  }

  acceptOversize(block: FieldBlock): StreamRecord | null {
    return this.#owner.acceptOversize?.(block) ?? null;
  }

  onMalformed(reason: string): void {
    this.#owner.onMalformed?.(reason);
  }

  onSettings(): void {
    this.#move(SETTINGS);
    this.#owner.onSettings?.();
  }

  onStreamClosed(): void {
    this.#owner.onStreamClosed?.();
    if (this.connection.streams.size > 0) return;
    if (this.connection.draining) this.#endIfDrained();
    else this.#onIdle();
  }

  onGoAway(code: number, debug: Uint8Array): void {
    this.#owner.onGoAway?.(code, debug);
    this.#endIfDrained();
  }

  onPong(opaque: number): void {
    if (opaque === GOAWAY_PING && this.#phase.kind === "announced") this.#nameLastStream();
  }

  onFatal(error: ProtocolError): void {
    this.#move({ kind: "fail", error });
  }

  wantWrite(): void {
    if (!this.#refed && this.connection.streams.size > 0) {
      this.#refed = true;
      this.socket.ref?.();
    }
    if (this.#scheduled || this.#writer.busy || this.#silent) return;
    this.#scheduled = true;
    // Everything a batch of input causes leaves in one write. Work that goes on in later turns, as
    // streams do, gathers until the event loop comes round: 3-4 times faster on their traffic.
    if (this.#turn++ === 0) queueMicrotask(this.#flush);
    else setImmediate(this.#flush);
  }

  /** Whether this side says nothing more. */
  get #silent(): boolean {
    const { kind } = this.#phase;
    return kind === "lingering" || kind === "closed";
  }

  // ---- writing ---------------------------------------------------------------------------------

  readonly #flush = (): void => {
    this.#scheduled = false;
    if (this.#writer.busy || this.#silent) return;
    this.#pump();
    if (this.#writer.pending > 0) this.#writer.flush();
    else this.#endIfDrained();
  };

  /** Moves what was held back into the output as far as it may leave. */
  #pump(): void {
    this.connection.outbound.pump();
    this.#watch?.begin();
  }

  onWritten(): void {
    this.#pump();
    if (this.#writer.pending > 0) this.wantWrite();
    else if (this.#phase.kind === "failed") this.#linger(this.#phase.error);
    else this.#endIfDrained();
  }

  onWriteError(error: Error): void {
    this.#end(error);
  }

  // ---- reading ---------------------------------------------------------------------------------

  async #read(head: Uint8Array | undefined): Promise<void> {
    const { connection, socket } = this;
    let buf = new Uint8Array(MIN_READ_BUFFER);
    let have = 0;
    let small = 0;
    if (head !== undefined && head.length > 0) {
      if (head.length > buf.length) buf = new Uint8Array(head.length + MIN_READ_BUFFER);
      buf.set(head);
      have = await this.#take(buf, 0, head.length);
    }
    try {
      while (this.#phase.kind !== "closed") {
        const need = connection.frameSize(buf, 0, have);
        if (need > buf.length || have === buf.length) {
          buf = resized(buf, have, Math.max(need, buf.length * 2));
        }
        const room = buf.length - have;
        const n = await socket.read(have === 0 ? buf : buf.subarray(have));
        if (n === null) return this.#onInputEnd();
        const phase = this.#phase as Phase;
        if (phase.kind === "closed") return;
        if (phase.kind === "lingering") {
          if (!this.#lingering!.dropped(n)) return this.#end(phase.error);
          have = 0;
          continue;
        }
        const left = this.#take(buf, 0, have + n);
        have = typeof left === "number" ? left : await left;
        if (n === room && buf.length < MAX_READ_BUFFER) {
          buf = resized(buf, have, Math.min(buf.length * 4, MAX_READ_BUFFER));
          small = 0;
        } else if (n > buf.length >> 2 || buf.length === MIN_READ_BUFFER) {
          small = 0;
        } else if (have === 0 && ++small === SHRINK_AFTER) {
          buf = new Uint8Array(MIN_READ_BUFFER);
          small = 0;
        }
      }
    } catch (error) {
      this.#end(lost("Connection was lost while reading", error));
    }
  }

  #onInputEnd(): void {
    this.#inputEnded = true;
    const phase = this.#phase;
    // What went wrong may still be on its way out.
    if (phase.kind === "failed" && this.#writer.pending > 0) return;
    this.#end(
      phase.kind === "failed" || phase.kind === "lingering"
        ? phase.error
        : new ConnectionLostError("Connection was closed by the peer", "maybe"),
    );
  }

  /**
   * Gives `buf[start, end)` to the connection, in slices between which the event loop may turn; returns
   * how much of it, moved to the front, is left.
   */
  #take(buf: Uint8Array, start: number, end: number): number | Promise<number> {
    const { connection } = this;
    this.#turn = 0;
    connection.now = this.#time.clock.now();
    let turn: Promise<void> | undefined;
    let done: boolean;
    do {
      const until = Math.min(end, start + SLICE_BYTES);
      done = until === end;
      turn = worked((until - start) >> WORK_SHIFT);
      start = connection.receive(buf, start, until);
      turn = worked(connection.takeWork()) ?? turn;
    } while (!done && turn === undefined);
    this.#keepalive?.onInput();
    if (connection.settingsAcked && this.#phase.kind !== "open") this.#move(ACKNOWLEDGED);
    if (!done) return turn!.then(() => this.#silent ? 0 : this.#take(buf, start, end));
    const left = end - start;
    if (left > 0) buf.copyWithin(0, start, end);
    return turn === undefined ? left : turn.then(() => left);
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** Goes on to another phase, with its own limit. False if the event changes nothing. */
  #move(event: LifeEvent): boolean {
    const next = advance(this.#phase, event);
    if (next === this.#phase) return false;
    this.#phase = next;
    this.#setDeadline();
    return true;
  }

  #setDeadline(): void {
    const now = this.#time.clock.now();
    const limit = limitOf(this.#phase, this.connection.streams.size === 0, this.#limits);
    const left = this.#cutAt - now;
    if (left < (limit?.ms ?? Infinity)) this.#deadline.set(CUT, Math.max(left, 1), now);
    else if (limit !== null) this.#deadline.set(limit.name, limit.ms, now);
    else this.#deadline.clear();
  }

  #onDeadline(name: string): void {
    switch (name) {
      case CUT:
        return this.destroy();
      case "announcement":
        return this.#nameLastStream();
      case "idleTimeout":
        if (this.connection.streams.size === 0) this.close();
        return;
      default: {
        const ms = this.#limits[name as keyof LifeLimits];
        this.#giveUp(new TimeoutError(name, ms), ErrorCode.SETTINGS_TIMEOUT);
      }
    }
  }

  /** The peer is kept no longer: GOAWAY says why, streams end with `error`. */
  #giveUp(error: Error, code: number): void {
    this.connection.goAway(code, error.message);
    this.#move({ kind: "fail", error });
    this.connection.lost(error);
    this.wantWrite();
  }

  #nameLastStream(): void {
    this.#move(DRAIN);
    this.connection.goAway(ErrorCode.NO_ERROR);
    this.#endIfDrained();
  }

  /** No stream is open. */
  #onIdle(): void {
    if (this.#phase.kind === "open") this.#setDeadline();
    // An idle connection of a client must not keep a finished program from ending.
    if (this.#refed && this.connection.role === "client" && this.#unrefTimer.phase === "") {
      this.#unrefSoon();
    }
  }

  #unrefSoon(): void {
    this.#unrefTimer.set("unref", UNREF_AFTER_MS);
  }

  #endIfDrained(): void {
    const { connection } = this;
    if (!connection.draining || connection.streams.size > 0 || this.#writer.pending > 0) return;
    if (!isAlive(this.#phase) || this.#phase.kind === "announced") return;
    const error = new ConnectionLostError("Connection was closed after GOAWAY", "no");
    // A client that is done has read all it wanted, and its own output asks for nothing.
    if (connection.role === "client") this.#end(error);
    else this.#linger(error);
  }

  /** Everything is said: ends the output, and the connection when the peer has ended its own. */
  #linger(error: Error): void {
    if (this.#inputEnded) return this.#end(error);
    // A peer that let a limit pass has been waited for already; a server loses no answer.
    const hurried = isEnding(this.#phase) || this.#cutAt < Infinity ||
      error instanceof TimeoutError || this.connection.role === "client";
    this.#move({ kind: "linger", error });
    this.#keepalive?.stop();
    this.#lingering = new LingeringClose(this.#time, () => this.#end(error));
    if (hurried) this.#lingering.hurry();
    this.#lingering.start();
    this.socket.closeWrite().catch(() => {});
  }

  #end(error: Error): void {
    if (!this.#move({ kind: "close", error })) return;
    this.#deadline.stop();
    this.#unrefTimer.stop();
    this.#writer.stop();
    this.#watch?.stop();
    this.#lingering?.stop();
    this.#keepalive?.stop();
    this.connection.lost(
      error instanceof ConnectionLostError || error instanceof ProtocolError
        ? error
        : new ConnectionLostError(error.message, "maybe", { cause: error }),
    );
    this.socket.close();
    this.#time.timers.release();
    this.#owner.onClosed(error);
    this.#resolveClosed();
  }
}

const SETTINGS: LifeEvent = { kind: "settings" };
const ACKNOWLEDGED: LifeEvent = { kind: "acknowledged" };
const ANNOUNCE: LifeEvent = { kind: "announce" };
const DRAIN: LifeEvent = { kind: "drain" };

/** The deadline after which what still runs is cut. */
const CUT = "cut";
/** Opaque data of the PING between the two GOAWAY frames of a graceful end. */
const GOAWAY_PING = 0x676f_6177;
/** How long a client's connection is idle before it lets the process end: not worth it in between calls. */
const UNREF_AFTER_MS = 20;

function resized(buf: Uint8Array, have: number, size: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(size);
  grown.set(buf.subarray(0, have));
  return grown;
}

function lost(what: string, cause: unknown): ConnectionLostError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ConnectionLostError(`${what}: ${reason}`, "maybe", { cause });
}
