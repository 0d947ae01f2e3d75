/**
 * One HTTP/1.1 connection of a server: reads heads, hands exchanges to the host one at a time,
 * keeps the connection or ends it.
 *
 * @module
 */
import { ConnectionLostError, TimeoutError } from "../message/error.ts";
import type { ExchangeHost } from "./exchange_host.ts";
import { bodyRate, type ServerLimits } from "./limits.ts";
import { ConnectionAge } from "./connection_age.ts";
import { LingeringClose } from "../net/lingering_close.ts";
import type { Socket } from "../net/socket.ts";
import type { MinRate } from "../time/min_rate.ts";
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";
import type { Carrier } from "../websocket/connection.ts";
import type { Upgraded } from "./websocket.ts";
import { MessageError } from "../message/message_error.ts";
import { Input } from "../h1/input.ts";
import { SocketWriter } from "../net/socket_writer.ts";
import { checkFirstByte, type HeadLimits, HeadSearch, readRequestHead } from "../h1/read.ts";
import { type ConnectionHost, H1ServerStream } from "./h1_stream.ts";
import {
  writeContentLength,
  writeDate,
  writeEndOfHead,
  writeField,
  writeStatusLine,
} from "../h1/write.ts";

/** Octets of an unread request body that are read and dropped to keep a connection. */
const MAX_DRAIN_BYTES = 256 << 10;
/**
 * The same where the length was not given in advance: the answer has gone out by now and promised to
 * keep the connection, which clients take at its word and send their next request.
 */
const MAX_CHUNKED_DRAIN_BYTES = 4 << 20;
/** Octets read ahead while a handler runs. */
const MAX_AHEAD_BYTES = 16 << 10;
/** Output gathered from pipelined requests before it is sent. */
const PIPELINE_FLUSH_BYTES = 32 << 10;
/** Work of a request, in small chunks: see {@linkcode Input.work}. */
const REQUEST_WORK = 8;
/** Times the microtask queue may run before a head without body leaves alone. */
const DEFER_HOPS = 4;

/** See the module. */
export class ServerSession implements ConnectionHost {
  readonly socket: Socket;
  readonly limits: Required<ServerLimits>;
  readonly input: Input;
  readonly output: SocketWriter;
  readonly maxDrainBytes: number = MAX_DRAIN_BYTES;
  readonly maxChunkedDrainBytes: number = MAX_CHUNKED_DRAIN_BYTES;
  /** The connection ends with the exchange under way. */
  closing = false;
  /** The connection is old: the next response ends it. */
  aged = false;
  readonly #time: Time;
  readonly #age: ConnectionAge | null;
  readonly #host: ExchangeHost;
  readonly #headLimits: HeadLimits;
  readonly #deadline: Deadline;
  readonly #search = new HeadSearch();
  /** Whether an empty line before the next request was skipped. */
  #skipped = false;
  #current: H1ServerStream | null = null;
  #deferred: H1ServerStream | null = null;
  #hops = 0;
  #scheduled = false;
  #requests = 0;
  /** Set once the last answer was given: what comes in is dropped. */
  #lingering: LingeringClose | null = null;
  /** What the connection became, if it left HTTP. */
  #upgraded: Upgraded | null = null;
  #destroyed = false;
  #rejectBody: ((error: Error) => void) | null = null;
  /** How long the body under way was waited for, how far it was counted, and the rule it has to keep. */
  #waited = 0;
  #counted = 0;
  #bodyRate: MinRate | null = null;
  /** Set while a refusal is on its way that the read loop did not cause. */
  #refusal: Promise<void> | null = null;

  /** `head` are octets already read from the socket. */
  constructor(socket: Socket, host: ExchangeHost, head?: Uint8Array) {
    this.socket = socket;
    this.#host = host;
    this.limits = host.limits;
    const { time } = host;
    this.#time = time;
    this.#headLimits = {
      maxHeaderBytes: host.limits.maxHeaderBytes,
      maxHeaderFields: host.limits.maxHeaderFields,
      maxTargetBytes: host.limits.maxTargetBytes,
    };
    this.input = new Input(socket, time.clock, head);
    this.output = new SocketWriter(socket, host.limits, {
      onWriteError: (error) => this.#onLost(error),
    }, time);
    this.#deadline = new Deadline(time, (phase, ms) => this.#onTimeout(phase, ms));
    this.#age = host.limits.maxConnectionAge === 0 ? null : new ConnectionAge(
      host.limits,
      time,
      () => this.aged = true,
      () => this.destroy(),
    );
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
    this.closing = true;
    if (this.#upgraded !== null) this.#upgraded.close();
    else if (this.#lingering !== null) this.#lingering.hurry();
    else if (this.#current === null) {
      // The last answer may still be on its way, and a request may come while it is.
      this.output.flush();
      this.output.flushed().then(() => {
        if (this.#current === null && this.#lingering === null) this.destroy();
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
      input: this.input,
      output: this.output,
      time: this.#time,
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
          if (this.closing && input.empty) return await this.#lingeringClose();
          const phase = input.empty && !first ? "idleTimeout" : "headerTimeout";
          if (this.#deadline.phase !== phase) {
            this.#deadline.set(phase, this.limits[phase], input.now);
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
          throw new MessageError(`Body must be <= ${maxBodyBytes} octets`, 413);
        }
        stream = new H1ServerStream(this, head);
      } catch (error) {
        if (error instanceof MessageError) return await this.#refuse(error);
        throw error;
      }
      input.start = end;
      if (++this.#requests === this.limits.maxRequestsPerConnection) stream.closeAfter = true;
      this.#current = stream;
      this.#waited = 0;
      this.#counted = input.total - (input.end - input.start);
      this.#bodyRate = null;
      const running = this.#host.handle(stream);
      if (running !== undefined) {
        this.#watch(stream);
        await running;
      }
      this.#current = null;
      if (this.#upgraded !== null) return await this.#upgraded.gone;
      if (this.#destroyed) return;
      if (stream.aborted && stream.closeAfter) {
        // Broken off in the middle: the peer must not take it for whole.
        output.flush();
        await output.flushed().catch(() => {});
        return;
      }
      if (stream.closeAfter || this.closing) return await this.#lingeringClose();
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

  /** While a handler works, reading on tells whether its client is still there. */
  #watch(stream: H1ServerStream): void {
    const { input } = this;
    if (!stream.bodyDone || input.ended || input.end - input.start >= MAX_AHEAD_BYTES) return;
    input.fill().then(this.#onAhead, this.#onAheadError);
  }

  readonly #onAhead = (more: boolean): void => {
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
    this.#rejectBody?.(error);
    this.#upgraded?.onLost(error);
    this.#current?.onAbort(error, true);
    this.output.fail(error);
    this.socket.close();
  }

  /** Waits for a read of body octets, within the limits on slowness. */
  waitForBody<T>(read: Promise<T>): Promise<T> {
    const { limits } = this;
    const begun = this.#time.clock.now();
    this.#bodyRate ??= bodyRate(limits);
    this.#deadline.set("bodyTimeout", limits.bodyTimeout, begun);
    return new Promise<T>((resolve, reject) => {
      this.#rejectBody = reject;
      read.then((value) => {
        this.#endWait();
        const { now, total } = this.input;
        const waited = now - begun;
        this.#waited += waited;
        // What has just come counts as well.
        const came = total - this.#counted;
        this.#counted = total;
        if (this.#bodyRate === null || this.#bodyRate.count(waited, came)) resolve(value);
        else reject(new TimeoutError("minBodyRate", Math.round(this.#waited)));
      }, (error) => {
        this.#endWait();
        reject(error);
      });
    });
  }

  #endWait(): void {
    this.#rejectBody = null;
    this.#deadline.clear();
  }

  #onTimeout(phase: string, ms: number): void {
    const error = new TimeoutError(phase, ms);
    if (phase === "bodyTimeout") {
      const reject = this.#rejectBody;
      this.#rejectBody = null;
      reject?.(error);
      return;
    }
    if (phase === "headerTimeout" && !this.input.empty) {
      this.#refusal = this.#refuse(new MessageError(`Head must come within ${ms} ms`, 408))
        .finally(() => this.#onLost(error));
      this.#refusal.catch(() => {});
      return;
    }
    this.#onLost(error);
  }

  // ---- sending ---------------------------------------------------------------------------------

  /** Sends the stream's head by itself if nothing follows soon. */
  defer(stream: H1ServerStream): void {
    if (this.#deferred !== null) return;
    this.#deferred = stream;
    this.#hops = 0;
    queueMicrotask(this.#hop);
  }

  readonly #hop = (): void => {
    const stream = this.#deferred;
    if (stream === null) return;
    if (!stream.uncommitted) {
      this.#deferred = null;
    } else if (++this.#hops < DEFER_HOPS) {
      queueMicrotask(this.#hop);
    } else {
      setImmediate(this.#onImmediate);
    }
  };

  readonly #onImmediate = (): void => {
    this.#scheduled = false;
    const stream = this.#deferred;
    this.#deferred = null;
    if (stream !== null && stream.uncommitted && !stream.finished) stream.commit(-1);
    this.output.flush();
  };

  /** Sends what has gathered before the event loop goes round. */
  schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#onImmediate);
  }

  /** The response is complete in the output. */
  finished(stream: H1ServerStream): void {
    if (this.#deferred === stream) this.#deferred = null;
    // With more requests at hand their answers leave together.
    if (this.input.empty || stream.closeAfter) this.output.flush();
    else this.schedule();
  }

  /** The exchange is broken off. */
  abortExchange(stream: H1ServerStream): void {
    if (this.#deferred === stream) this.#deferred = null;
    this.#rejectBody?.(new ConnectionLostError("Exchange was broken off by this side", "maybe"));
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** Answers what cannot be read, and ends the connection: where the next message begins is unknown. */
  async #refuse(error: MessageError): Promise<void> {
    this.#deadline.clear();
    const { output } = this;
    this.#host.onBadRequest?.(error, this.socket);
    writeStatusLine(output.out, error.status ?? 400);
    writeDate(output.out);
    writeContentLength(output.out, 0);
    if (error.status === 405) {
      writeField(output.out, "allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    }
    writeField(output.out, "connection", "close");
    writeEndOfHead(output.out);
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
    if (this.closing) lingering.hurry();
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
