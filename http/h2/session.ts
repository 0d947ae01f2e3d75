/**
 * The waiting half of HTTP/2: reads the socket into one buffer, gives the bytes to a
 * {@linkcode Connection}, and writes what comes out in one batch per turn.
 */
import { setImmediate } from "node:timers";
import { ConnectionLostError, TimeoutError } from "../message/error.ts";
import type { Template } from "../hpack/mod.ts";
import { LingeringClose } from "../net/lingering_close.ts";
import type { Socket } from "../net/socket.ts";
import { SocketWriter, type WriterEvents } from "../net/socket_writer.ts";
import type { Time } from "../time/time.ts";
import { worked } from "../time/turn.ts";
import { Deadline } from "../time/deadline.ts";
import { ErrorCode } from "../message/error_code.ts";
import { Connection } from "./connection.ts";
import type { ConnectionView } from "./connection_view.ts";
import type { ConnectionEvents, RequestEvents } from "./connection_options.ts";
import {
  endsWithStreams,
  isEnding,
  type LifeLimits,
  limitOf,
  type Phase,
  takesStreams,
} from "./lifecycle.ts";
import { Keepalive } from "./keepalive.ts";
import { OutputWatch } from "./output_watch.ts";
import { ProcessHold } from "./process_hold.ts";
import { ReadBuffer } from "./read_buffer.ts";
import type { SessionOptions } from "./session_options.ts";
import type { StreamRecord } from "./stream_record.ts";

/** Input given to the connection at once: more than any frame, and not too many small ones. */
const SLICE_BYTES = 32 << 10;
/** So many bytes of input, as a power of two, are the work of a small frame. */
const WORK_SHIFT = 12;

/** Called by a session, with itself where one user has several. */
export interface SessionEvents extends RequestEvents {
  /** The peer's SETTINGS came; how many streams may be open may have changed. */
  onSettings?(session: Session): void;
  /** A stream is gone and was told so: its place is free. */
  onStreamClosed?(session: Session): void;
  /** The peer wants no new streams. */
  onGoAway?(session: Session, code: number, debug: Uint8Array): void;
  /** The connection is gone, for whatever reason; last call. */
  onClosed(session: Session, error: Error): void;
}

/** A batch of input: none is taken, one is, one is in which no stream was open at some time. */
type Batch = "none" | "running" | "idle";

/** One HTTP/2 connection on a socket. */
export class Session implements ConnectionEvents, WriterEvents {
  readonly socket: Socket;
  /** Resolves when the connection is gone; never rejects. */
  readonly closed: Promise<void>;

  readonly #connection: Connection;
  readonly #events: SessionEvents;
  readonly #time: Time;
  readonly #writer: SocketWriter;
  /** Looks after output that waits for the peer's windows. A client has chosen its server. */
  readonly #watch: OutputWatch | null;
  readonly #keepalive: Keepalive | null;
  /** Of a client: servers hold the process as long as they listen. */
  readonly #hold: ProcessHold | null;
  readonly #limits: LifeLimits;
  /** The nearest limit of the present wait, and the phase it was set in. */
  readonly #deadline: Deadline;
  #batch: Batch = "none";
  #timed: Phase | null = null;
  /** When streams that still run are cut. */
  #cutAt = Infinity;
  /** The lingering close, once it has begun. */
  #lingeringClose: LingeringClose | null = null;
  #inputEnded = false;
  /** Streams that nobody waits for. */
  #aside = 0;
  #resolveClosed!: () => void;
  #scheduled = false;
  /** Flushes asked for since the last read: the first goes out at once, later ones gather. */
  #turn = 0;

  constructor(
    role: "client" | "server",
    socket: Socket,
    events: SessionEvents,
    options: SessionOptions,
    time: Time,
  ) {
    this.socket = socket;
    this.#events = events;
    this.#time = time;
    this.#limits = {
      prefaceTimeout: options.prefaceTimeout ?? 10_000,
      settingsTimeout: options.settingsTimeout ?? 10_000,
      idleTimeout: options.idleTimeout ?? 0,
    };
    this.closed = new Promise((resolve) => this.#resolveClosed = resolve);
    const connection = this.#connection = new Connection(role, this, events, options);
    const limits = {
      writeTimeout: options.writeTimeout ?? 30_000,
      minWriteRate: options.minWriteRate ?? 0,
    };
    this.#writer = new SocketWriter(socket, limits, this, time, connection.writer.out);
    this.#watch = role === "client"
      ? null
      : new OutputWatch(connection.sender, this.#writer, limits, time, (error) => {
        this.#giveUp(error, ErrorCode.ENHANCE_YOUR_CALM);
      });
    this.#deadline = new Deadline(time, (name) => this.#onDeadline(name));
    // Until the peer's SETTINGS come the connection itself is waited for.
    const needed = () => this.calls > 0 || !this.peerSettingsReceived;
    this.#hold = role === "client" ? new ProcessHold(socket, time, needed) : null;
    this.#keepalive = options.keepalive === undefined
      ? null
      : new Keepalive(options.keepalive, connection, time, (error) => this.#end(error));
  }

  /** Starts the connection. `head` are bytes already read from the socket. */
  start(head?: Uint8Array): void {
    this.#time.timers.retain();
    this.#connection.now = this.#time.clock.now();
    this.#connection.start();
    this.#setDeadline();
    this.#onIdle();
    this.#keepalive?.start();
    this.#read(head);
  }

  // ---- streams ---------------------------------------------------------------------------------

  /** Whether the connection can carry one more stream of ours now. */
  get available(): boolean {
    return this.#connection.available;
  }

  /** Whether nothing may be opened on it any more. */
  get exhausted(): boolean {
    return this.#connection.exhausted;
  }

  /** Whether no stream is open. */
  get idle(): boolean {
    return this.#connection.streams.size === 0;
  }

  /** How many streams are open that somebody waits for: these keep the process alive. */
  get calls(): number {
    return this.#connection.streams.size - this.#aside;
  }

  /** One more stream, or one less, is open that nobody waits for. */
  setAside(change: 1 | -1): void {
    this.#aside += change;
    if (this.calls === 0) this.#hold?.releaseSoon();
  }

  /**
   * Opens a stream with its request. False, with nothing sent, if there is no room for it.
   *
   * @throws {HeadersTooLargeError} If the peer does not take so many fields; nothing was sent.
   */
  open(stream: StreamRecord, fields: Template | readonly string[], end: boolean): boolean {
    return this.#connection.open(stream, fields, end);
  }

  /** Ends every stream. The peer is not told: end the connection as well. */
  failStreams(error: Error): void {
    this.#connection.failStreams(error);
  }

  /** The connection as it stands, with `mostStreams` of its streams at most. */
  view(mostStreams: number): ConnectionView {
    return this.#connection.view(mostStreams);
  }

  // ---- signs of life ---------------------------------------------------------------------------

  /** Whether the peer has shown that it speaks HTTP/2. */
  get peerSettingsReceived(): boolean {
    return this.#connection.phase.awaits !== "preface";
  }

  /** When the last input came, by the clock it was given. */
  get lastInputAt(): number {
    return this.#connection.now;
  }

  /** Asks the peer for a sign of life, which moves `lastInputAt`. */
  ping(): void {
    this.#connection.ping();
  }

  // ---- the connection's events -----------------------------------------------------------------

  onSettings(): void {
    if (this.idle) this.#hold?.releaseSoon();
    this.#events.onSettings?.(this);
  }

  onStreamClosed(): void {
    this.#events.onStreamClosed?.(this);
    if (!this.idle) {
      if (this.calls === 0) this.#hold?.releaseSoon();
      return;
    }
    if (takesStreams(this.#connection.phase)) this.#onIdle();
    else this.#endIfDrained();
  }

  onGoAway(code: number, debug: Uint8Array): void {
    this.#events.onGoAway?.(this, code, debug);
    this.#endIfDrained();
  }

  wantWrite(): void {
    if (this.#hold !== null && !this.#hold.held && this.calls > 0) this.#hold.take();
    if (this.#scheduled || this.#writer.busy || this.#silent) return;
    this.#scheduled = true;
    // Everything a batch of input causes leaves in one write. Work that goes on in later turns, as
    // streams do, gathers until the event loop comes round. Measured: one stream with 100 messages
    // under way moves 580,000 to 700,000 a second, and 180,000 if each flush is a microtask.
    if (this.#turn++ === 0) queueMicrotask(this.#flush);
    else setImmediate(this.#flush);
  }

  /** Whether this side says nothing more. */
  get #silent(): boolean {
    const { kind } = this.#connection.phase;
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

  /** Moves blocked output on as far as windows allow. */
  #pump(): void {
    this.#connection.sender.pump();
    this.#watch?.begin();
  }

  onWritten(): void {
    this.#pump();
    const { phase } = this.#connection;
    if (this.#writer.pending > 0) this.wantWrite();
    else if (phase.kind === "failed") this.#linger(phase.error);
    else this.#endIfDrained();
  }

  onWriteError(error: Error): void {
    this.#end(error);
  }

  // ---- reading ---------------------------------------------------------------------------------

  async #read(head: Uint8Array | undefined): Promise<void> {
    const connection = this.#connection;
    const input = new ReadBuffer(head);
    if (input.end > 0) await this.#take(input, 0);
    try {
      for (;;) {
        if (connection.phase.kind === "closed") return;
        const need = connection.frameSize(input.bytes, 0, input.end);
        const n = await this.socket.read(input.target(need));
        if (n === null) return this.#onInputEnd();
        const phase = connection.phase as Phase;
        if (phase.kind === "closed") return;
        if (phase.kind === "lingering") {
          if (!this.#lingeringClose!.dropped(n)) return this.#end(phase.error);
          continue;
        }
        input.filled(n);
        const turn = this.#take(input, 0);
        if (turn !== undefined) await turn;
      }
    } catch (error) {
      this.#end(lost("Connection was lost while reading", error));
    }
  }

  #onInputEnd(): void {
    this.#inputEnded = true;
    const { phase } = this.#connection;
    // The GOAWAY that says what went wrong is still on its way out.
    if (phase.kind === "failed" && this.#writer.pending > 0) return;
    this.#end(
      "error" in phase
        ? phase.error
        : new ConnectionLostError("Connection was closed by the peer", "maybe"),
    );
  }

  /**
   * Gives the input from `start` on to the connection, in slices between which the event loop may turn:
   * then a promise, else undefined.
   */
  #take(input: ReadBuffer, start: number): Promise<void> | undefined {
    const connection = this.#connection;
    this.#turn = 0;
    connection.now = this.#time.clock.now();
    let turn: Promise<void> | undefined;
    let done: boolean;
    this.#batch = "running";
    do {
      const until = Math.min(input.end, start + SLICE_BYTES);
      done = until === input.end;
      turn = worked((until - start) >> WORK_SHIFT);
      start = connection.receive(input.bytes, start, until);
      turn = worked(connection.takeWork()) ?? turn;
    } while (!done && turn === undefined);
    this.#keepalive?.onInput();
    if (connection.phase !== this.#timed || (this.#batch as Batch) === "idle") {
      this.#setDeadline();
    }
    this.#batch = "none";
    if (!done) return turn!.then(() => this.#silent ? undefined : this.#take(input, start));
    input.keep(start);
    return turn;
  }

  // ---- limits on waiting -----------------------------------------------------------------------

  #setDeadline(): void {
    const now = this.#time.clock.now();
    const { phase } = this.#connection;
    this.#timed = phase;
    const limit = limitOf(phase, this.idle, this.#limits, this.#cutAt - now);
    if (limit === null) this.#deadline.clear();
    else this.#deadline.set(limit.name, limit.ms, now);
  }

  #onDeadline(name: string): void {
    switch (name) {
      case "cut":
        return this.destroy();
      case "announcement":
        return this.#drain();
      case "idleTimeout":
        if (this.idle) this.close();
        return;
      default: {
        const ms = this.#limits[name as keyof LifeLimits];
        this.#giveUp(new TimeoutError(name, ms), ErrorCode.SETTINGS_TIMEOUT);
      }
    }
  }

  /**
   * No stream is open. Within a batch of input that may happen with each call: one look at the clock at
   * its end does for all. Measured: 150 of 1,400 ns a call.
   */
  #onIdle(): void {
    if (this.#connection.phase.kind === "open") {
      if (this.#batch === "none") this.#setDeadline();
      else this.#batch = "idle";
    }
    this.#hold?.releaseSoon();
  }

  // ---- ending ----------------------------------------------------------------------------------

  /**
   * Ends the connection gracefully: GOAWAY, then streams that run may finish. Those that still run in
   * `deadline` milliseconds are cut; 0 sets no deadline. Resolves when the connection is gone.
   */
  close(deadline = 0): Promise<void> {
    this.#lingeringClose?.hurry();
    // RFC 9113 §6.8: a server announces first, and names the last stream a round trip later, so that
    // streams on their way meanwhile are not lost.
    if (this.#connection.role === "client") this.#drain();
    else this.#connection.announce();
    if (deadline > 0) this.#cutAt = Math.min(this.#cutAt, this.#time.clock.now() + deadline);
    if (this.#connection.phase.kind !== "closed") this.#setDeadline();
    return this.closed;
  }

  /** Ends the connection now. Streams end with {@linkcode ConnectionLostError}. */
  destroy(error?: Error): void {
    this.#end(error ?? new ConnectionLostError("Connection was closed by this side", "maybe"));
  }

  #drain(): void {
    this.#connection.drain();
    this.#setDeadline();
    this.#endIfDrained();
  }

  /** Gives the peer up: GOAWAY says why, streams end with `error`. */
  #giveUp(error: Error, code: number): void {
    this.#connection.fail(error, code);
    this.#setDeadline();
  }

  #endIfDrained(): void {
    const { phase, role } = this.#connection;
    if (!endsWithStreams(phase) || !this.idle || this.#writer.pending > 0) return;
    const error = new ConnectionLostError("Connection was closed after GOAWAY", "no");
    // A client that is done has read all it wanted, and its own output asks for nothing.
    if (role === "client") this.#end(error);
    else this.#linger(error);
  }

  /** Everything is said: ends the output, and the connection when the peer has ended its own. */
  #linger(error: Error): void {
    if (this.#inputEnded) return this.#end(error);
    const { phase, role } = this.#connection;
    // A peer that let a limit pass has been waited for already; a server loses no answer.
    const hurried = isEnding(phase) || this.#cutAt < Infinity || error instanceof TimeoutError ||
      role === "client";
    this.#connection.linger(error);
    this.#setDeadline();
    this.#keepalive?.stop();
    this.#lingeringClose = new LingeringClose(this.#time, () => this.#end(error));
    if (hurried) this.#lingeringClose.hurry();
    this.#lingeringClose.start();
    this.socket.closeWrite().catch(() => {});
  }

  #end(error: Error): void {
    if (this.#connection.phase.kind === "closed") return;
    this.#deadline.stop();
    this.#hold?.stop();
    this.#writer.stop();
    this.#watch?.stop();
    this.#lingeringClose?.stop();
    this.#keepalive?.stop();
    this.#connection.connectionLost(error);
    this.socket.close();
    this.#time.timers.release();
    this.#events.onClosed(this, error);
    this.#resolveClosed();
  }
}

function lost(what: string, cause: unknown): ConnectionLostError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ConnectionLostError(`${what}: ${reason}`, "maybe", { cause });
}
