/**
 * One exchange on a client's HTTP/2 connection.
 *
 * @module
 */
import { AnnouncedBody } from "../message/announced_body.ts";
import { BodyBuffer } from "../message/body_buffer.ts";
import {
  ConnectionLostError,
  ProtocolError,
  StreamResetError,
  TimeoutError,
} from "../message/error.ts";
import {
  ANSWERED_EARLY,
  type ClientExchange,
  type ExchangeTimeouts,
  type IncomingHead,
  LENGTH_FROM_BODY,
  type OutgoingHead,
} from "./exchange.ts";
import { checkEnd, checkSent, isBodiless } from "../message/body_length.ts";
import { keepTrailers } from "../message/connection_fields.ts";
import type { FlatHeaders } from "../message/headers.ts";
import type { FieldBlock } from "../hpack/mod.ts";
import type { SocketAddress } from "../net/socket.ts";
import { ready } from "../time/turn.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";
import { ErrorCode } from "../message/error_code.ts";
import { MAX_INFORMATIONAL } from "./exchange.ts";
import { responseHead, type Session, Stream } from "../h2/mod.ts";

/** Milliseconds waited for a server after which giving up makes its connection suspect. */
const QUIET_MS = 1000;
/** Share of the wait, at its end, during which nothing at all came. */
const QUIET_SHARE = 0.75;

/** The response was read to its end. No reason of a signal, which may be any value, is it. */
const READ = Symbol("read");

/** See the module. */
export class H2Exchange extends Stream implements ClientExchange {
  readonly version = "HTTP/2";
  readonly reused: boolean;
  answered = false;
  trailers: FlatHeaders = [];
  onRequestOver: ((reason: Error) => void) | null = null;
  readonly #session: Session;
  readonly #start: OutgoingHead;
  readonly #timeouts: ExchangeTimeouts;
  readonly #onQuiet: (session: Session) => void;
  readonly #time: Time;
  #sent = 0;
  #informational = 0;
  #head: IncomingHead | null = null;
  /** Bytes received and not read, once there were any. */
  #body: BodyBuffer | null = null;
  /** The body, if it is read whole. */
  #whole: AnnouncedBody | null = null;
  /** How the exchange ended for its user: the response was read to its end, or why it cannot be. */
  #outcome: typeof READ | Error | null = null;
  #wake: (() => void) | null = null;
  #onContinue: (() => void) | null = null;
  #deadline: Deadline | null = null;
  /** When the present wait began. */
  #since = Infinity;
  /** Watches over output that flow control holds back, and how much that was. */
  #writeDeadline: Deadline | null = null;
  #watched = 0;

  constructor(
    session: Session,
    start: OutgoingHead,
    timeouts: ExchangeTimeouts,
    reused: boolean,
    onQuiet: (session: Session) => void,
    time: Time,
  ) {
    super();
    this.#time = time;
    this.#onQuiet = onQuiet;
    this.#session = session;
    this.#start = start;
    this.#timeouts = timeouts;
    this.reused = reused;
  }

  /**
   * Sends the head. False if the connection has no room for one more stream.
   *
   * @throws {HeadersTooLargeError} If the server does not take so large a head.
   */
  begin(): boolean {
    const { method, scheme, authority, target, fields, length } = this.#start;
    const block = [
      ":method",
      method,
      ":scheme",
      scheme,
      ":authority",
      authority,
      ":path",
      target,
      ...fields,
    ];
    if (length > 0 || (length === 0 && /^P(?:OST|UT|ATCH)$/.test(method))) {
      block.push("content-length", String(length));
    }
    return this.#session.open(this, block, length === 0);
  }

  get remoteAddr(): SocketAddress {
    return this.#session.socket.remoteAddr;
  }

  // ---- from the engine -------------------------------------------------------------------------

  onHeaders(block: FieldBlock, end: boolean): void {
    this.answered = true;
    if (this.#head !== null) {
      this.trailers = keepTrailers(block.fields);
    } else {
      const head = responseHead(block);
      if (head.status < 200) {
        if (++this.#informational > MAX_INFORMATIONAL) {
          return this.abort(
            new StreamResetError(
              ErrorCode.ENHANCE_YOUR_CALM,
              "local",
              `informational responses must be <= ${MAX_INFORMATIONAL}`,
            ),
          );
        }
        if (head.status === 100) this.#onContinue?.();
        return;
      }
      const bodiless = isBodiless(this.#start.method, head.status);
      if (end && head.contentLength > 0 && !bodiless) {
        return this.abort(
          new ProtocolError(
            `Response must have the ${head.contentLength} bytes its content-length says (RFC 9113 §8.1.1): it ended without`,
            ErrorCode.PROTOCOL_ERROR,
            "stream",
          ),
        );
      }
      // RFC 9113 §8.1.1: the length told is that of the body there would have been; DATA would break
      // the protocol.
      if (bodiless) this.expectNoBody();
      this.#head = {
        status: head.status,
        fields: block.fields.slice(2),
        length: end || bodiless ? 0 : head.contentLength,
      };
    }
    this.#notify();
  }

  onData(buf: Uint8Array, start: number, end: number): void {
    const whole = this.#whole;
    if (whole !== null) {
      whole.push(buf, start, end);
      this.consumed(end - start);
      this.#deadline?.set("bodyTimeout", this.#timeouts.bodyTimeout);
      return;
    }
    (this.#body ??= new BodyBuffer()).push(buf, start, end);
    this.#notify();
  }

  onEnd(): void {
    this.#stopWatching();
    this.#notify();
    // A server that has answered does not want the rest of the request.
    if (this.sendable || this.unsent > 0) this.reset(ErrorCode.NO_ERROR);
    this.onRequestOver?.(new ConnectionLostError(ANSWERED_EARLY, "maybe"));
  }

  onReset(error: Error): void {
    this.#stopWatching();
    this.onRequestOver?.(error);
    // RFC 9113 §8.1: a complete response stands, even if the stream was reset after it.
    if (this.#complete) return;
    this.#outcome ??= error;
    this.#notify();
  }

  #stopWatching(): void {
    this.#deadline?.stop();
    this.#writeDeadline?.stop();
  }

  /** Whether the response has come whole. */
  get #complete(): boolean {
    return this.remote === "ended";
  }

  #check(): void {
    if (this.#outcome !== null && this.#outcome !== READ) throw this.#outcome;
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** Limits the wait for the head, once the request is out, or for more of the body. */
  #watch(phase: "headTimeout" | "bodyTimeout"): void {
    const ms = this.#timeouts[phase];
    const now = this.#time.clock.now();
    this.#since = now;
    if (ms <= 0 || (phase === "headTimeout" && this.sendable)) return;
    this.#deadline ??= new Deadline(this.#time, (name, limit) => {
      // A request still on its way out has its own limit.
      if (name === "headTimeout" && this.unsent > 0) this.#watch(name);
      else this.#timeOut(name, limit);
    });
    this.#deadline.set(phase, ms, now);
  }

  #timeOut(phase: string, ms: number): void {
    this.abort(new TimeoutError(phase, ms, `${this.#start.scheme}://${this.#start.authority}`));
  }

  async #wait(phase: "headTimeout" | "bodyTimeout"): Promise<void> {
    this.#watch(phase);
    await new Promise<void>((resolve) => {
      const before = this.#wake;
      this.#wake = before === null ? resolve : () => (before(), resolve());
    });
    this.#deadline?.clear();
  }

  // ---- request ---------------------------------------------------------------------------------

  write(piece: Uint8Array): Promise<void> | undefined {
    this.#check();
    const { length } = this.#start;
    checkSent(length, this.#sent + piece.length);
    this.#sent += piece.length;
    if (this.#complete) throw new ConnectionLostError(ANSWERED_EARLY, "maybe");
    if (!this.sendable || piece.length === 0) return undefined;
    return this.#send(piece, false);
  }

  #send(piece: Uint8Array, end: boolean): Promise<void> | undefined {
    const wait = this.sendData(piece, end);
    if (this.unsent > 0) this.#watchOutput();
    return wait;
  }

  /** The server has to take some of what waits within each `writeTimeout`. */
  #watchOutput(): void {
    const ms = this.#timeouts.writeTimeout;
    if (ms <= 0 || (this.#writeDeadline !== null && this.#writeDeadline.phase !== "")) return;
    this.#watched = this.unsent;
    this.#writeDeadline ??= new Deadline(this.#time, (phase, limit) => {
      if (this.unsent === 0) return;
      if (this.unsent < this.#watched) this.#watchOutput();
      else this.#timeOut(phase, limit);
    });
    this.#writeDeadline.set("writeTimeout", ms);
  }

  finish(piece: Uint8Array | null = null, trailers: FlatHeaders | null = null): void {
    const { length } = this.#start;
    if (length === 0 || (this.#outcome !== null && this.#outcome !== READ) || !this.sendable) {
      return;
    }
    checkEnd("request", length, this.#sent + (piece?.length ?? 0));
    const trailing = trailers !== null && trailers.length > 0;
    if (trailing) this.checkFields(trailers);
    if (piece !== null && piece.length > 0) {
      this.#send(piece, !trailing);
      if (trailing) this.end(trailers);
    } else {
      this.end(trailing ? trailers : true);
    }
    if (this.#wake !== null && this.#head === null) this.#watch("headTimeout");
  }

  async continued(ms: number): Promise<boolean> {
    let countdown: Countdown | undefined;
    return await Promise.race([
      new Promise<boolean>((resolve) => this.#onContinue = () => resolve(true)),
      new Promise<boolean>((resolve) =>
        countdown = new Countdown(this.#time, ms, () => resolve(true))
      ),
      this.head().then(() => false),
    ]).finally(() => countdown?.stop());
  }

  // ---- response --------------------------------------------------------------------------------

  async head(): Promise<IncomingHead> {
    const { method, length } = this.#start;
    if (
      length === LENGTH_FROM_BODY && this.#sent === 0 &&
      /^(?:GET|HEAD|DELETE|OPTIONS)$/.test(method)
    ) {
      this.finish();
    }
    while (this.#head === null) {
      this.#check();
      await this.#wait("headTimeout");
    }
    return this.#head;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#head === null) await this.head();
    let piece: Uint8Array | null;
    while ((piece = this.#body?.take() ?? null) === null) {
      this.#check();
      if (this.#complete) {
        this.#outcome = READ;
        return null;
      }
      await this.#wait("bodyTimeout");
    }
    this.consumed(piece.length);
    if (this.#body!.length > 0) {
      const turn = ready();
      if (turn !== undefined) await turn;
    } else if (this.#complete) this.#outcome ??= READ;
    return piece;
  }

  async whole(): Promise<Uint8Array> {
    const whole = new AnnouncedBody(this.#head!.length, this.#body?.length);
    for (let piece = this.#body?.take(); piece; piece = this.#body!.take()) {
      whole.push(piece, 0, piece.length);
      this.consumed(piece.length);
    }
    this.#whole = whole;
    for (;;) {
      this.#check();
      if (this.#complete) break;
      await this.#wait("bodyTimeout");
    }
    this.#outcome = READ;
    return whole.take();
  }

  takeText(): null {
    return null;
  }

  abort(reason: Error): void {
    if (this.#outcome !== null) return;
    const error = reason ?? new ConnectionLostError("Exchange was given up", "maybe");
    this.#outcome = error;
    this.#stopWatching();
    // What came and was not read would look like the whole of it, or the end.
    if (this.#body !== null) {
      this.consumed(this.#body.length);
      this.#body.clear();
    }
    if (!this.closed) this.reset(ErrorCode.CANCEL);
    this.onRequestOver?.(error);
    this.#notify();
    this.#suspect(error);
  }

  /** An exchange that was given up for want of an answer may show that its connection is gone. */
  #suspect(error: Error): void {
    const now = this.#time.clock.now();
    const waited = now - this.#since;
    if (now - this.#session.lastInputAt < waited * QUIET_SHARE) return;
    if (waited >= QUIET_MS || error.name === "TimeoutError") this.#onQuiet(this.#session);
  }
}
