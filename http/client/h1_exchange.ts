/**
 * One exchange on a client's HTTP/1.1 connection.
 *
 * @module
 */
import { ConnectionLostError, StreamResetError, TimeoutError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { isBodiless } from "../message/body_length.ts";
import { type Half, step } from "../message/exchange_state.ts";
import { fieldOf, type FlatHeaders } from "../message/headers.ts";
import { faultOfResponse, MessageError } from "../message/message_error.ts";
import type { BodyFraming } from "../h1/body.ts";
import type { HeaderBlock } from "../h1/fields.ts";
import { type BodyEvents, IncomingBody } from "../h1/incoming_body.ts";
import { checkFirstResponseByte, readResponseHead } from "../h1/read.ts";
import { RequestWriter } from "../h1/request_writer.ts";
import type { SocketAddress } from "../net/socket.ts";
import { Countdown } from "../time/countdown.ts";
import {
  ANSWERED_EARLY,
  type ClientExchange,
  type ExchangeTimeouts,
  type IncomingHead,
  LENGTH_FROM_BODY,
  MAX_INFORMATIONAL,
  type OutgoingHead,
} from "./exchange.ts";
import type { ClientSession } from "./h1_session.ts";

/** Texts up to this many bytes are made without a byte array. */
const MAX_SHORT_TEXT = 1024;
/** Taken off a server's `keep-alive: timeout`, for what is on its way when it passes. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/** See the module. */
export class H1Exchange implements ClientExchange, BodyEvents {
  readonly version = "HTTP/1.1";
  readonly reused: boolean;
  onRequestOver: ((reason: Error) => void) | null = null;
  readonly #session: ClientSession;
  readonly #start: OutgoingHead;
  readonly #timeouts: ExchangeTimeouts;
  readonly #before: number;
  readonly #writer: RequestWriter;
  #out: Half = "idle";
  #head: IncomingHead | null = null;
  #body: IncomingBody | null = null;
  #heading: Promise<IncomingHead> | null = null;
  #keep = true;
  #over = false;
  #reason: Error | null = null;
  #onContinue: (() => void) | null = null;

  /** Begins an exchange. The session must be idle. */
  constructor(session: ClientSession, start: OutgoingHead, timeouts: ExchangeTimeouts) {
    session.begin(this);
    this.#session = session;
    this.#start = start;
    this.#timeouts = timeouts;
    this.reused = session.count > 1;
    this.#before = session.input.total;
    const known = start.length !== LENGTH_FROM_BODY;
    this.#writer = new RequestWriter(session.output.out, start, known ? start.length : -1);
    if (start.close) this.#keep = false;
    // It leaves with the body's first piece, or when the answer is waited for.
    if (known) {
      this.#out = step(this.#out, "head");
      this.#writer.commit();
    }
  }

  get remoteAddr(): SocketAddress {
    return this.#session.socket.remoteAddr;
  }

  get answered(): boolean {
    return this.#session.input.total > this.#before;
  }

  get trailers(): FlatHeaders {
    return this.#body?.trailers ?? [];
  }

  // ---- request ---------------------------------------------------------------------------------

  write(piece: Uint8Array): Promise<void> | undefined {
    if (this.#reason !== null) throw this.#reason;
    if (this.#over) throw new ConnectionLostError(ANSWERED_EARLY, "maybe");
    if (this.#out === "failed") throw this.#session.output.error!;
    if (this.#out === "idle") this.#out = step(this.#out, "head");
    this.#out = step(this.#out, "data");
    this.#writer.write(piece);
    const { output } = this.#session;
    output.flush();
    return output.room()?.catch(() => {});
  }

  finish(piece: Uint8Array | null = null, trailers: FlatHeaders | null = null): void {
    if (this.#reason !== null || this.#over || this.#out === "failed") return;
    if (this.#out === "idle") this.#out = step(this.#out, "head");
    const ended = step(this.#out, "end");
    this.#writer.end(piece, trailers !== null && trailers.length > 0 ? trailers : null);
    this.#out = ended;
    this.#session.output.flush();
    this.#awaitHead();
  }

  async continued(ms: number): Promise<boolean> {
    this.#session.output.flush();
    let countdown: Countdown | undefined;
    return await Promise.race([
      new Promise<boolean>((resolve) => this.#onContinue = () => resolve(true)),
      new Promise<boolean>((resolve) =>
        countdown = new Countdown(this.#session.time, ms, () => resolve(true))
      ),
      this.head().then(() => false),
    ]).finally(() => countdown?.stop());
  }

  onWriteError(error: Error): void {
    this.#keep = false;
    this.#out = step(this.#out, "fail");
    // If an answer is there or on its way, it is read; a connection that is gone says so to readers.
    if (this.#session.input.ended || error instanceof TimeoutError) return this.abort(error);
    this.#awaitHead();
    this.onRequestOver?.(error);
  }

  /** The request is out, as far as it ever will be: from now on the answer is due. */
  #awaitHead(): void {
    const { headTimeout } = this.#timeouts;
    if (headTimeout > 0 && this.#heading !== null && this.#head === null && !this.#over) {
      this.#session.deadline.set("headTimeout", headTimeout);
    }
  }

  onTimeout(phase: string, ms: number): void {
    const { output } = this.#session;
    if (phase === "headTimeout" && output.pending > 0 && output.error === null) {
      // Still on its way out; should it stand still, the output's own limit ends it.
      output.flushed().then(() => this.#awaitHead(), () => {});
    } else {
      this.abort(new TimeoutError(phase, ms, `${this.#start.scheme}://${this.#start.authority}`));
    }
  }

  // ---- response --------------------------------------------------------------------------------

  head(): Promise<IncomingHead> {
    return this.#heading ??= this.#readHead();
  }

  async #readHead(): Promise<IncomingHead> {
    const { input, search, headLimits } = this.#session;
    const { headTimeout } = this.#timeouts;
    try {
      if (this.#out === "idle") {
        if (/^(?:GET|HEAD|DELETE|OPTIONS)$/.test(this.#start.method)) this.finish();
        else {
          this.#out = step(this.#out, "head");
          this.#writer.commit();
        }
      }
      this.#session.output.flush();
      if (headTimeout > 0 && this.#out !== "body") {
        this.#session.deadline.set("headTimeout", headTimeout);
      }
      for (let informational = 0;;) {
        if (this.#reason !== null) throw this.#reason;
        const end = input.empty ? -1 : search.find(input.buf, input.start, input.end, headLimits);
        if (end < 0) {
          if (!input.empty) checkFirstResponseByte(input.buf[input.start]!);
          if (input.ended || !await input.fill()) throw this.#endedEarly();
          continue;
        }
        const { status, minor, block } = readResponseHead(
          input.buf,
          input.start,
          end,
          headLimits,
        );
        input.start = end;
        if (block.chunked && (minor === 0 || status < 200)) {
          throw new MessageError(
            "Transfer-encoding must not come in HTTP/1.0 or an informational response (RFC 9112 §6.1)",
          );
        }
        if (status < 200) {
          if (block.contentLength > 0) {
            throw new MessageError(
              "Content-length must not come in an informational response (RFC 9110 §8.6)",
            );
          }
          if (status === 101) {
            throw new MessageError("Server switched protocols without being asked (RFC 9110 §7.8)");
          }
          if (++informational > MAX_INFORMATIONAL) {
            throw new MessageError(`Informational responses must be <= ${MAX_INFORMATIONAL}`);
          }
          if (status === 100) this.#onContinue?.();
          continue;
        }
        this.#session.deadline.clear();
        return this.#accept(status, minor, block);
      }
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Takes the final head. RFC 9112 §6.3: how long the body is, in this order. */
  #accept(status: number, minor: number, block: HeaderBlock): IncomingHead {
    if (block.close || (minor === 0 && !block.keepAlive)) this.#keep = false;
    this.#readKeepAlive(block.fields);
    // RFC 9110 §8.6, RFC 9112 §6.1: 204 tells of no body. A server that does may send one, which
    // must not be taken for the next response.
    if (status === 204 && (block.chunked || block.contentLength > 0)) this.#keep = false;
    const bodiless = isBodiless(this.#start.method, status);
    const framing: BodyFraming = bodiless
      ? 0
      : block.chunked
      ? "chunked"
      : block.contentLength >= 0
      ? block.contentLength
      : "eof";
    if (framing === "eof") this.#keep = false;
    const { input, deadline } = this.#session;
    this.#body = new IncomingBody(input, framing, deadline, this.#timeouts);
    const length = typeof framing === "number" ? framing : -1;
    this.#head = { status, fields: block.fields, length };
    if (this.#body.done) this.onBodyEnd();
    return this.#head;
  }

  #readKeepAlive(fields: FlatHeaders): void {
    const value = fieldOf(fields, "keep-alive");
    const match = value === undefined ? null : /(?:^|,)\s*timeout\s*=\s*(\d{1,7})/i.exec(value);
    if (match !== null) {
      this.#session.keepAlive = Math.max(0, Number(match[1]) * 1000 - KEEP_ALIVE_MARGIN_MS);
    }
  }

  #endedEarly(): Error {
    const connection = `Connection to ${this.#start.authority}`;
    return this.#session.output.error ?? new ConnectionLostError(
      this.answered
        ? `${connection} was closed by the peer in the middle of a response`
        : `${connection} was closed by the peer before it answered`,
      "maybe",
    );
  }

  takeText(): string | null {
    const body = this.#body;
    if (body === null || this.#over) return body !== null && body.done ? "" : null;
    const text = body.takeText(MAX_SHORT_TEXT);
    if (text !== null) this.onBodyEnd();
    return text;
  }

  read(): Promise<Uint8Array | null> {
    const body = this.#body;
    if (body === null) return this.head().then(() => this.read());
    if (!this.#over) return body.read(this);
    return this.#reason === null ? Promise.resolve(null) : Promise.reject(this.#reason);
  }

  async whole(): Promise<Uint8Array> {
    if (this.#reason !== null) throw this.#reason;
    return await this.#body!.readWhole(this);
  }

  onBodyWait(): void {}

  onBodyEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.onRequestOver?.(new ConnectionLostError(ANSWERED_EARLY, "maybe"));
    // A connection whose request is half sent cannot carry another.
    this.#session.done(this.#keep && this.#out === "ended");
  }

  onBodyFault(error: unknown): Error {
    return this.#fail(error);
  }

  #fail(error: unknown): Error {
    const fault = error instanceof MessageError ? faultOfResponse(error) : error as Error;
    const reason = this.#reason ??
      (fault instanceof MessageError && this.#session.input.ended
        ? new ConnectionLostError(fault.message, "maybe", { cause: fault })
        : fault);
    this.#reason = reason;
    if (!this.#over) {
      this.#over = true;
      this.onRequestOver?.(reason);
      this.#session.done(false);
    }
    return reason;
  }

  abort(reason: Error): void {
    if (this.#over) return;
    this.#reason = reason ?? new StreamResetError(ErrorCode.CANCEL, "local");
    this.#over = true;
    this.onRequestOver?.(this.#reason);
    this.#session.output.fail(this.#reason);
    this.#body?.fail(this.#reason);
    this.#session.done(false);
  }
}
