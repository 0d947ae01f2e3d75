/**
 * One exchange on a client's HTTP/2 connection.
 *
 * @module
 */
import { ConnectionLostError, StreamResetError, TimeoutError } from "../error.ts";
import type { ClientExchange, ExchangeTimeouts, RequestStart, ResponseStart } from "../exchange.ts";
import type { FlatHeaders } from "../headers.ts";
import type { FieldBlock } from "../hpack/mod.ts";
import type { SocketAddress } from "../socket.ts";
import { Watchdog } from "../watchdog.ts";
import { ErrorCode } from "./code.ts";
import { responseHead } from "./head.ts";
import type { Session } from "./session.ts";
import { Stream } from "./stream.ts";

/** Informational responses before the final one. */
const MAX_INFORMATIONAL = 32;

/** See the module. */
export class H2Exchange extends Stream implements ClientExchange {
  readonly version = "HTTP/2";
  readonly reused: boolean;
  answered = false;
  trailers: FlatHeaders = [];
  readonly #session: Session;
  readonly #start: RequestStart;
  readonly #timeouts: ExchangeTimeouts;
  #sent = 0;
  #informational = 0;
  #head: ResponseStart | null = null;
  #pieces: Uint8Array[] = [];
  /** The body, if it is read whole, and how much of it is here. */
  #whole: Uint8Array | null = null;
  #filled = 0;
  #ended = false;
  #reason: Error | null = null;
  #wake: (() => void) | null = null;
  #onContinue: (() => void) | null = null;
  #watchdog: Watchdog | null = null;

  constructor(
    session: Session,
    start: RequestStart,
    timeouts: ExchangeTimeouts,
    reused: boolean,
  ) {
    super();
    this.#session = session;
    this.#start = start;
    this.#timeouts = timeouts;
    this.reused = reused;
  }

  /** Sends the head. False if the connection has no room for one more stream. */
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
    return this.#session.connection.open(this, block, length === 0);
  }

  get remoteAddr(): SocketAddress {
    return this.#session.socket.remoteAddr;
  }

  // ---- from the engine -------------------------------------------------------------------------

  onHeaders(block: FieldBlock, end: boolean): void {
    this.answered = true;
    if (this.#head !== null) {
      this.trailers = block.fields;
      this.#ended = end;
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
      const none = end || this.#start.method === "HEAD" || head.status === 304;
      // The length told is that of the body there would have been.
      if (this.#start.method === "HEAD") this.expected = -1;
      this.#head = {
        status: head.status,
        fields: block.fields.slice(2),
        length: none ? 0 : head.contentLength,
      };
      this.#ended = end;
    }
    this.#notify();
  }

  onData(buf: Uint8Array, start: number, end: number): void {
    const whole = this.#whole;
    if (whole !== null) {
      whole.set(buf.subarray(start, end), this.#filled);
      this.#filled += end - start;
      this.consumed(end - start);
      this.#watchdog?.set("bodyTimeout", this.#timeouts.bodyTimeout, performance.now());
      return;
    }
    this.#pieces.push(buf.slice(start, end));
    this.#notify();
  }

  onEnd(): void {
    this.#ended = true;
    this.#watchdog?.stop();
    this.#notify();
    // A server that has answered does not want the rest of the request.
    if (this.sendable) this.reset(ErrorCode.NO_ERROR);
  }

  onReset(error: Error): void {
    this.#watchdog?.stop();
    // RFC 9113 §8.1: a complete response stands, even if the stream was reset after it.
    if (this.#ended) return;
    this.#reason ??= error;
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  async #wait(phase: "headTimeout" | "bodyTimeout"): Promise<void> {
    const ms = this.#timeouts[phase];
    if (ms > 0) {
      this.#watchdog ??= new Watchdog((name, limit) => this.abort(new TimeoutError(name, limit)));
      this.#watchdog.set(phase, ms, performance.now());
    }
    await new Promise<void>((resolve) => {
      const before = this.#wake;
      this.#wake = before === null ? resolve : () => (before(), resolve());
    });
    this.#watchdog?.clear();
  }

  // ---- request ---------------------------------------------------------------------------------

  write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#reason !== null) throw this.#reason;
    const { length } = this.#start;
    this.#sent += piece.length;
    if (length >= 0 && this.#sent > length) {
      throw new RangeError(`Cannot send more than content-length says: ${length} octets`);
    }
    if (!this.sendable || piece.length === 0) return undefined;
    return this.sendData(piece);
  }

  finish(piece: Uint8Array | null = null, trailers: FlatHeaders | null = null): void {
    const { length } = this.#start;
    if (length === 0 || this.#reason !== null || !this.sendable) return;
    if (length > 0 && this.#sent + (piece?.length ?? 0) !== length) {
      throw new RangeError(
        `Cannot end the request as content-length says ${length} octets: sent were ${
          this.#sent + (piece?.length ?? 0)
        }`,
      );
    }
    const trailing = trailers !== null && trailers.length > 0;
    if (piece !== null && piece.length > 0) {
      this.sendData(piece, !trailing);
      if (trailing) this.end(trailers);
    } else {
      this.end(trailing ? trailers : true);
    }
  }

  async continued(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([
      new Promise<void>((resolve) => this.#onContinue = resolve),
      new Promise<void>((resolve) => timer = setTimeout(() => resolve(), ms)),
      this.head().then(() => {}),
    ]).finally(() => clearTimeout(timer));
  }

  // ---- response --------------------------------------------------------------------------------

  async head(): Promise<ResponseStart> {
    while (this.#head === null) {
      if (this.#reason !== null) throw this.#reason;
      await this.#wait("headTimeout");
    }
    return this.#head;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#head === null) await this.head();
    while (this.#pieces.length === 0) {
      if (this.#ended) return null;
      if (this.#reason !== null) throw this.#reason;
      await this.#wait("bodyTimeout");
    }
    const piece = this.#pieces.shift()!;
    this.consumed(piece.length);
    return piece;
  }

  async whole(): Promise<Uint8Array> {
    const whole = new Uint8Array(this.#head!.length);
    for (const piece of this.#pieces) {
      whole.set(piece, this.#filled);
      this.#filled += piece.length;
      this.consumed(piece.length);
    }
    this.#pieces = [];
    this.#whole = whole;
    while (!this.#ended) {
      if (this.#reason !== null) throw this.#reason;
      await this.#wait("bodyTimeout");
    }
    return whole;
  }

  takeText(): null {
    return null;
  }

  abort(reason: Error): void {
    if (this.#ended) {
      for (const piece of this.#pieces) this.consumed(piece.length);
      this.#pieces = [];
      return;
    }
    this.#reason ??= reason ?? new ConnectionLostError("Exchange was given up", "maybe");
    this.#watchdog?.stop();
    if (!this.closed) this.reset(ErrorCode.CANCEL);
    this.#notify();
  }
}
