/**
 * One HTTP/1.1 connection of a server: reads heads, hands exchanges to the host one at a time,
 * keeps the connection or ends it.
 *
 * @module
 */
import { ConnectionLostError, TimeoutError } from "../message/error.ts";
import type { ExchangeHost } from "./exchange_host.ts";
import type { ServerLimits } from "./limits.ts";
import { ConnectionAge } from "./connection_age.ts";
import { LingeringClose } from "../net/lingering_close.ts";
import type { Socket } from "../net/socket.ts";
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";
import type { Carrier } from "../websocket/connection.ts";
import type { Upgraded } from "./websocket.ts";
import { MessageError } from "../message/message_error.ts";
import type { HeaderBlock } from "../h1/fields.ts";
import { Flush } from "../h1/flush.ts";
import { IncomingBody } from "../h1/incoming_body.ts";
import { Input } from "../h1/input.ts";
import { SocketWriter } from "../net/socket_writer.ts";
import { checkFirstByte, type HeadLimits, HeadSearch, readRequestHead } from "../h1/read.ts";
import { type ExchangeConnection, H1ServerStream } from "./h1_stream.ts";
import { writeRefusal } from "../h1/write.ts";

/** Bytes read ahead while a handler runs. */
const MAX_AHEAD_BYTES = 16 << 10;
/** Output gathered from pipelined requests before it is sent. */
const PIPELINE_FLUSH_BYTES = 32 << 10;
/** Work of a request, in small chunks: see {@linkcode Input.work}. */
const REQUEST_WORK = 8;

/** See the module. */
export class ServerSession implements ExchangeConnection {
  readonly socket: Socket;
  readonly limits: Required<ServerLimits>;
  readonly input: Input;
  readonly output: SocketWriter;
  readonly flush: Flush;
  readonly #age: ConnectionAge | null;
  readonly #host: ExchangeHost;
  readonly #time: Time;
  readonly #headLimits: HeadLimits;
  readonly #deadline: Deadline;
  readonly #search = new HeadSearch();
  /** Whether an empty line before the next request was skipped. */
  #skipped = false;
  #current: H1ServerStream | null = null;
  #requests = 0;
  /** When a handler that took its time ended: what limits the next request begins no earlier. */
  #freeSince = 0;
  /** The connection ends with the exchange under way. */
  #closing = false;
  /** The connection is old: the next response ends it. */
  #aged = false;
  /** Set once the last answer was given: what comes in is dropped. */
  #lingering: LingeringClose | null = null;
  /** The protocol that took the connection over, if it left HTTP. */
  #upgraded: Upgraded | null = null;
  /** The exchange whose handler is awaited. */
  #awaited: H1ServerStream | null = null;
  /** Whether it is read on meanwhile. */
  #watching = false;
  #destroyed = false;
  /** Set while a refusal is on its way that the read loop did not cause. */
  #refusal: Promise<void> | null = null;

  /** `head` are bytes already read from the socket. */
  constructor(socket: Socket, host: ExchangeHost, head?: Uint8Array) {
    this.socket = socket;
    const { time } = host;
    this.#host = host;
    this.#time = time;
    this.limits = host.limits;
    this.#headLimits = {
      maxHeaderBytes: host.limits.maxHeaderBytes,
      maxHeaderFields: host.limits.maxHeaderFields,
      maxTargetBytes: host.limits.maxTargetBytes,
    };
    this.input = new Input(socket, time.clock, head);
    this.output = new SocketWriter(socket, host.limits, {
      onWriteError: (error) => this.#onLost(error),
    }, time);
    this.flush = new Flush(this.output);
    this.#deadline = new Deadline(time, (phase, ms) => this.#onTimeout(phase, ms));
    this.#age = host.limits.maxConnectionAge === 0 ? null : new ConnectionAge(
      host.limits,
      time,
      () => this.#aged = true,
      () => this.destroy(),
    );
  }

  /** How many requests came, and whether one is at work. */
  get view(): { requests: number; state: string } {
    const state = this.#upgraded !== null
      ? "upgraded"
      : this.#current !== null
      ? "at work"
      : "idle";
    return { requests: this.#requests, state };
  }

  /** Serves the connection to its end. Never rejects. */
  async run(): Promise<void> {
    this.#time.timers.retain();
    try {
      await this.#serve();
    } catch (error) {
      this.#onLost(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#deadline.stop();
      this.#age?.stop();
      this.output.stop();
      this.socket.close();
      this.#time.timers.release();
    }
  }

  /** Ends the connection after the exchange under way, or now if there is none. */
  close(): void {
    this.#closing = true;
    if (this.#upgraded !== null) this.#upgraded.close();
    else if (this.#lingering !== null) this.#lingering.hurry();
    else if (this.#current === null) {
      // The last answer may still be on its way, and a request may come while it is.
      this.output.flush();
      this.output.flushed().then(() => {
        // What has begun to come may be a request yet.
        if (this.#current === null && this.#lingering === null && this.input.empty) this.destroy();
      }, () => {});
    }
  }

  /** Ends the connection now. */
  destroy(): void {
    if (this.#upgraded !== null) return this.#upgraded.destroy();
    this.#onLost(new ConnectionLostError("Connection was closed by this side", "maybe"));
  }

  /** Takes the connection out of HTTP: `make` gets it with what was read already. */
  upgrade(make: (carrier: Carrier) => Upgraded): void {
    this.#deadline.clear();
    this.#age?.stop();
    this.#upgraded = make({
      time: this.#time,
      input: this.input,
      output: this.output,
      finish: () => this.#finish(),
      cut: (error) => this.#onLost(error),
    });
  }

  async #finish(): Promise<void> {
    try {
      if (!this.#destroyed) await this.#lingeringClose();
    } catch {
      // Gone before it had everything.
    }
    this.#onLost(new ConnectionLostError("Connection was closed by this side", "maybe"));
  }

  async #serve(): Promise<void> {
    const { input, output } = this;
    let first = true;
    for (;;) {
      let end: number;
      try {
        while ((end = this.#findHead()) < 0) {
          output.flush();
          if (this.#closing && input.empty) return await this.#lingeringClose();
          const phase = input.empty && !first ? "idleTimeout" : "headerTimeout";
          if (this.#deadline.phase !== phase) {
            this.#deadline.set(phase, this.limits[phase], Math.max(input.now, this.#freeSince));
          }
          if (input.empty) input.shrink();
          const more = !input.ended && await input.fill();
          if (this.#refusal !== null) return await this.#refusal;
          if (!more) return await this.#lingeringClose();
        }
      } catch (error) {
        if (error instanceof MessageError) return await this.#refuse(error);
        throw error;
      }
      this.#deadline.clear();
      first = false;
      this.#skipped = false;
      let stream: H1ServerStream;
      try {
        const head = readRequestHead(input.buf, input.start, end, this.#headLimits);
        const { maxBodyBytes } = this.limits;
        if (maxBodyBytes > 0 && head.block.contentLength > maxBodyBytes) {
          throw new MessageError(`Body must be <= ${maxBodyBytes} bytes`, 413);
        }
        input.start = end;
        stream = new H1ServerStream(head, this.#bodyOf(head.block), this);
      } catch (error) {
        if (error instanceof MessageError) return await this.#refuse(error);
        throw error;
      }
      if (++this.#requests === this.limits.maxRequestsPerConnection) stream.writer.close = true;
      this.#current = stream;
      const running = this.#host.handle(stream);
      if (running !== undefined) {
        this.#awaited = stream;
        this.#watch(stream);
        await running;
        this.#awaited = null;
        this.#freeSince = this.#time.clock.now();
      }
      this.#current = null;
      if (this.#upgraded !== null) return await this.#upgraded.gone;
      if (this.#destroyed) return;
      if (stream.aborted && stream.writer.close) {
        // Broken off in the middle: the peer must not take it for whole.
        output.flush();
        await output.flushed().catch(() => {});
        return;
      }
      if (stream.writer.close || this.#closing) return await this.#lingeringClose();
      if (!stream.bodyDone) {
        output.flush();
        if (!await stream.drain()) return await this.#lingeringClose();
      }
      if (output.pending > PIPELINE_FLUSH_BYTES) {
        // A client that sends requests and reads no answers waits here, not in our memory.
        output.flush();
        await output.flushed();
      }
      input.work += REQUEST_WORK;
      const turn = input.turn();
      if (turn === undefined) continue;
      await turn;
      if (this.#destroyed) return;
    }
  }

  /** The body behind a head that was taken out of the input, or null. */
  #bodyOf({ chunked, contentLength }: HeaderBlock): IncomingBody | null {
    const framing = chunked ? "chunked" : contentLength;
    if (framing !== "chunked" && framing <= 0) return null;
    return new IncomingBody(this.input, framing, this.#deadline, this.limits);
  }

  #findHead(): number {
    const { input } = this;
    if (input.start === input.end) return -1;
    // RFC 9112 §2.2: old clients send an empty line behind a body. One is dropped.
    if (!this.#skipped && input.buf[input.start] === 0x0d) {
      if (input.end - input.start < 2) return -1;
      if (input.buf[input.start + 1] === 0x0a) {
        this.#skipped = true;
        input.start += 2;
        if (input.empty) return -1;
      }
    }
    checkFirstByte(input.buf[input.start]!);
    return this.#search.find(input.buf, input.start, input.end, this.#headLimits);
  }

  /** The handler may have begun long before: from now on reading on tells of its client. */
  onRequestEnd(stream: H1ServerStream): void {
    if (this.#awaited === stream) this.#watch(stream);
  }

  /** While a handler works, reading on tells whether its client is still there. */
  #watch(stream: H1ServerStream): void {
    const { input } = this;
    if (this.#watching || !stream.bodyDone || input.ended) return;
    if (input.end - input.start >= MAX_AHEAD_BYTES) return;
    this.#watching = true;
    input.fill().then(this.#onAhead, this.#onAheadError);
  }

  readonly #onAhead = (more: boolean): void => {
    this.#watching = false;
    const stream = this.#current;
    if (stream === null || this.#upgraded !== null) return;
    // A client may end its side and still wait for the answer; the signal tells, nothing is cut.
    if (!more) {
      stream.onAbort(new ConnectionLostError("Client closed its side", "maybe"), false);
    } else this.#watch(stream);
  };

  readonly #onAheadError = (error: unknown): void => {
    if (this.#upgraded !== null) return;
    this.#onLost(error as Error);
  };

  #onLost(error: Error): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#deadline.stop();
    this.#upgraded?.onLost(error);
    const stream = this.#current;
    if (stream !== null) {
      this.flush.forget(stream.writer);
      stream.body?.fail(error);
      stream.onAbort(error, true);
    }
    this.output.fail(error);
    this.socket.close();
  }

  #onTimeout(phase: string, ms: number): void {
    const error = new TimeoutError(phase, ms);
    if (phase === "bodyTimeout") return this.#current?.body?.fail(error);
    if (phase === "headerTimeout" && !this.input.empty) {
      this.#refusal = this.#refuse(new MessageError(`Head must come within ${ms} ms`, 408))
        .finally(() => this.#onLost(error));
      this.#refusal.catch(() => {});
      return;
    }
    this.#onLost(error);
  }

  // ---- sending ---------------------------------------------------------------------------------

  /** Whether another exchange may follow the one under way. */
  get lasting(): boolean {
    return !this.#closing && !this.#aged;
  }

  onResponse(stream: H1ServerStream): void {
    this.flush.forget(stream.writer);
    // With more requests at hand their answers leave together.
    if (this.input.empty || stream.writer.close) this.output.flush();
    else this.flush.soon();
  }

  abortExchange(stream: H1ServerStream): void {
    this.flush.forget(stream.writer);
    stream.body?.fail(
      new ConnectionLostError("Exchange was broken off by this side", "maybe"),
    );
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** Answers what cannot be read, and ends the connection: where the next message begins is unknown. */
  async #refuse(error: MessageError): Promise<void> {
    this.#deadline.clear();
    this.#host.onBadRequest?.(error, this.socket);
    writeRefusal(this.output.out, error.status ?? 400);
    await this.#lingeringClose();
  }

  /**
   * Ends the connection so that the last answer arrives: input is dropped from now on, even before
   * the answer is out, for there are clients that read nothing while they send.
   */
  async #lingeringClose(): Promise<void> {
    const { input, output, socket } = this;
    const lingering = this.#lingering = new LingeringClose(this.#time, () => {
      this.#onLost(new ConnectionLostError("Connection was closed by this side", "maybe"));
    });
    if (this.#closing) lingering.hurry();
    output.flush();
    const answered = output.flushed().then(() => socket.closeWrite().catch(() => {})).then(() => {
      if (!input.ended) lingering.start();
    });
    answered.catch(() => {});
    try {
      input.start = input.end;
      let before = input.total;
      while (!this.#destroyed && !input.ended && await input.fill()) {
        input.start = input.end;
        if (!lingering.dropped(input.total - before)) break;
        before = input.total;
      }
      await answered;
    } finally {
      lingering.stop();
    }
  }
}
