/**
 * One HTTP/1.1 connection of a client: one exchange at a time, and a watch while there is none.
 *
 * @module
 */
import { AnnouncedBody } from "../message/announced_body.ts";
import { ConnectionLostError, StreamResetError, TimeoutError } from "../message/error.ts";
import {
  ANSWERED_EARLY,
  type ClientExchange,
  type ExchangeTimeouts,
  type IncomingHead,
  LENGTH_FROM_BODY,
  MAX_INFORMATIONAL,
  type OutgoingHead,
} from "./exchange.ts";
import { ErrorCode } from "../message/error_code.ts";
import { checkEnd, checkSent, isBodiless } from "../message/body_length.ts";
import { fieldOf, type FlatHeaders, latin1 } from "../message/headers.ts";
import type { LinkedList, ListItem } from "./linked_list.ts";
import type { Socket, SocketAddress } from "../net/socket.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";
import { BodyReader } from "../h1/body.ts";
import { nextPiece } from "../h1/next_piece.ts";
import { MessageError } from "../message/message_error.ts";
import { Input } from "../h1/input.ts";
import { SocketWriter } from "../net/socket_writer.ts";
import {
  checkFirstResponseByte,
  type HeadLimits,
  HeadSearch,
  readResponseHead,
} from "../h1/read.ts";
import { type Half, step } from "../message/exchange_state.ts";
import {
  writeChunk,
  writeContentLength,
  writeEndOfHead,
  writeField,
  writeFields,
  writeLastChunk,
  writeRequestLine,
} from "../h1/write.ts";

/** Header fields of a response: servers are chosen, clients are not, so it may have more than a request. */
export const MAX_RESPONSE_FIELDS = 512;

/** Octets of a status line. */
const MAX_STATUS_LINE = 64 << 10;

/** Settings of a client's connection. */
interface ClientSessionOptions {
  /** Milliseconds during which the server may take nothing of a request. */
  readonly writeTimeout: number;
  /** Octets of a response's head. */
  readonly maxHeaderBytes: number;
}

/** Texts up to this many octets are made without a byte array. */
const MAX_SHORT_TEXT = 1024;
/** Taken off a server's `keep-alive: timeout`, for what is on its way when it passes. */
const KEEP_ALIVE_MARGIN_MS = 1000;

/** Told when a connection becomes free, and when it is gone. */
interface ClientSessionOwner {
  /** The connection is free for the next exchange. */
  onIdle(session: ClientSession): void;
  /** The connection is gone. */
  onClosed(session: ClientSession): void;
}

/** Octets of a request that may wait for the socket when its answer ends; more, and it is cut. */
const MAX_UNSENT_BYTES = 64 << 10;

interface Refable {
  ref?(): void;
  unref?(): void;
}

/** See the module. */
export class ClientSession implements ListItem<ClientSession> {
  list: LinkedList<ClientSession> | null = null;
  nextItem: ClientSession | null = null;
  previousItem: ClientSession | null = null;
  readonly socket: Socket;
  readonly input: Input;
  readonly output: SocketWriter;
  /** Exchanges begun on it. */
  count = 0;
  /** The connection can carry nothing more. */
  closed = false;
  /** When it became idle, by the clock. */
  idleSince = 0;
  /** Milliseconds the server keeps an idle connection, as it said, or Infinity. */
  keepAlive = Infinity;
  readonly time: Time;
  readonly deadline: Deadline;
  readonly search: HeadSearch = new HeadSearch();
  readonly headLimits: HeadLimits;
  readonly #owner: ClientSessionOwner;
  #exchange: H1Exchange | null = null;

  constructor(
    socket: Socket,
    owner: ClientSessionOwner,
    options: ClientSessionOptions,
    time: Time,
  ) {
    const { writeTimeout, maxHeaderBytes } = options;
    this.headLimits = {
      maxHeaderBytes,
      maxHeaderFields: MAX_RESPONSE_FIELDS,
      maxTargetBytes: Math.min(maxHeaderBytes, MAX_STATUS_LINE),
    };
    this.socket = socket;
    this.#owner = owner;
    this.input = new Input(socket, time.clock);
    this.output = new SocketWriter(socket, { writeTimeout, minWriteRate: 0 }, {
      onWriteError: (error) => this.#onWriteError(error),
    }, time);
    this.time = time;
    this.deadline = new Deadline(time, (phase, ms) => {
      if (this.#exchange === null) this.close();
      else this.#exchange.onTimeout(phase, ms);
    });
    time.timers.retain();
  }

  /** Begins an exchange. The session must be idle. */
  open(start: OutgoingHead, timeouts: ExchangeTimeouts): ClientExchange {
    if (this.count > 0) (this.socket as Refable).ref?.();
    this.count++;
    return this.#exchange = new H1Exchange(this, start, timeouts);
  }

  /** The exchange under way is over; `keep` if the connection may serve another. */
  done(keep: boolean): void {
    this.#exchange = null;
    this.deadline.clear();
    // RFC 9112 §9.2: what comes after the last response belongs to no request.
    if (
      !keep || !this.input.empty || this.input.ended || this.output.error !== null ||
      this.output.pending > MAX_UNSENT_BYTES
    ) {
      return this.close();
    }
    this.input.shrink();
    this.idleSince = this.input.now;
    (this.socket as Refable).unref?.();
    this.input.fill().then(this.#onInput, this.#onInput);
    this.#owner.onIdle(this);
  }

  /** Octets or the end came. While no exchange is under way either ends the connection. */
  readonly #onInput = (): void => {
    if (this.#exchange === null) this.close();
  };

  #onWriteError(error: Error): void {
    // A server may answer and close before it read the whole request: its answer counts.
    if (this.#exchange === null) this.close();
    else this.#exchange.onWriteError(error);
  }

  /** Ends the connection and the exchange on it. */
  abort(reason: Error): void {
    if (this.#exchange === null) this.close();
    else this.#exchange.abort(reason);
  }

  /** Ends the connection. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.deadline.stop();
    this.output.stop();
    this.socket.close();
    this.time.timers.release();
    this.#owner.onClosed(this);
  }
}

class H1Exchange implements ClientExchange {
  readonly version = "HTTP/1.1";
  readonly reused: boolean;
  onOver: ((reason: Error) => void) | null = null;
  readonly #session: ClientSession;
  readonly #start: OutgoingHead;
  readonly #timeouts: ExchangeTimeouts;
  readonly #before: number;
  #length: number;
  #out: Half = "idle";
  #sent = 0;
  #head: IncomingHead | null = null;
  #body: BodyReader | null = null;
  #heading: Promise<IncomingHead> | null = null;
  #keep = true;
  /** Room given to the next piece that is read directly: as much as the last ones filled. */
  #pieceBytes = MIN_PIECE_BYTES;
  #over = false;
  #reason: Error | null = null;
  #onContinue: (() => void) | null = null;

  constructor(session: ClientSession, start: OutgoingHead, timeouts: ExchangeTimeouts) {
    this.#session = session;
    this.#start = start;
    this.#timeouts = timeouts;
    this.reused = session.count > 1;
    this.#before = session.input.total;
    this.#length = start.length;
    if (start.close) this.#keep = false;
    if (start.length !== LENGTH_FROM_BODY) this.#begin();
  }

  /** Writes the head. It leaves with the body's first piece, or when the answer is waited for. */
  #begin(): void {
    const { out } = this.#session.output;
    const start = this.#start;
    const length = this.#length;
    writeRequestLine(out, start.method, start.target);
    writeField(out, "host", start.authority);
    writeFields(out, start.fields);
    if (length > 0) writeContentLength(out, length);
    else if (length < 0) writeField(out, "transfer-encoding", "chunked");
    // RFC 9110 §8.6: a method that means a body says so even if it is empty.
    else if (start.method === "POST" || start.method === "PUT" || start.method === "PATCH") {
      writeContentLength(out, 0);
    }
    if (start.close) writeField(out, "connection", "close");
    writeEndOfHead(out);
    this.#out = step(this.#out, "head");
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
    if (this.#out === "idle") {
      this.#length = -1;
      this.#begin();
    }
    this.#out = step(this.#out, "data");
    this.#append(piece);
    const { output } = this.#session;
    output.flush();
    return output.room()?.catch(() => {});
  }

  #append(piece: Uint8Array): void {
    const { out } = this.#session.output;
    checkSent(this.#length, this.#sent + piece.length);
    this.#sent += piece.length;
    if (this.#length < 0) writeChunk(out, piece);
    else out.append(piece);
  }

  finish(piece: Uint8Array | null = null, trailers: FlatHeaders | null = null): void {
    if (this.#reason !== null || this.#over || this.#out === "failed") return;
    if (this.#out === "idle") {
      this.#length = trailers !== null && trailers.length > 0 ? -1 : piece?.length ?? 0;
      this.#begin();
    }
    checkEnd("request", this.#length, this.#sent + (piece?.length ?? 0));
    if (piece !== null && piece.length > 0) this.#append(piece);
    this.#out = step(this.#out, "end");
    if (this.#length < 0) writeLastChunk(this.#session.output.out, trailers);
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
    this.onOver?.(error);
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
          this.#length = -1;
          this.#begin();
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
        if (block.close || (minor === 0 && !block.keepAlive)) this.#keep = false;
        this.#readKeepAlive(block.fields);
        // RFC 9112 §6.3: how long the body is, in this order.
        const none = isBodiless(this.#start.method, status);
        // RFC 9110 §8.6, RFC 9112 §6.1: 204 tells of no body. A server that does may send one, which
        // must not be taken for the next response.
        if (status === 204 && (block.chunked || block.contentLength > 0)) this.#keep = false;
        const length = none ? 0 : block.chunked ? -1 : block.contentLength;
        this.#body = new BodyReader(length >= 0 ? length : block.chunked ? "chunked" : "eof");
        if (length < 0 && !block.chunked) this.#keep = false;
        this.#head = { status, fields: block.fields, length };
        if (this.#body.done) this.#finish();
        return this.#head;
      }
    } catch (error) {
      throw this.#fail(error);
    }
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
    const { input } = this.#session;
    const left = body.remaining;
    if (left < 0 || left > MAX_SHORT_TEXT || input.end - input.start < left) return null;
    const { buf, start } = input;
    for (let i = start + left; i-- > start;) if (buf[i]! >= 0x80) return null;
    input.start += left;
    body.skip(left);
    const text = latin1(buf, start, start + left);
    this.#finish();
    return text;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#head === null) await this.head();
    if (this.#over) {
      if (this.#reason !== null) throw this.#reason;
      return null;
    }
    const body = this.#body!;
    const { input, deadline } = this.#session;
    const { bodyTimeout } = this.#timeouts;
    try {
      for (;;) {
        const piece = nextPiece(body, input);
        if (body.done) this.#finish();
        if (piece !== null) {
          if (!input.empty) {
            const turn = input.turn();
            if (turn !== undefined) await turn;
          }
          return piece;
        }
        if (body.done) return null;
        if (input.ended) {
          body.eof();
          this.#finish();
          return null;
        }
        if (bodyTimeout > 0) deadline.set("bodyTimeout", bodyTimeout);
        if (body.contiguous >= DIRECT_BYTES && !input.reading) {
          const piece = new Uint8Array(Math.min(body.contiguous, this.#pieceBytes));
          const n = await input.readInto(piece);
          if (n === 0) continue;
          deadline.clear();
          if (n === this.#pieceBytes) this.#pieceBytes = Math.min(n * 4, MAX_PIECE_BYTES);
          else if (n * 4 < this.#pieceBytes) this.#pieceBytes = MIN_PIECE_BYTES;
          body.skip(n);
          if (body.done) this.#finish();
          return n * 2 < piece.length ? piece.slice(0, n) : piece.subarray(0, n);
        }
        await input.fill();
        deadline.clear();
      }
    } catch (error) {
      throw this.#fail(error);
    }
  }

  async whole(): Promise<Uint8Array> {
    const { input, deadline } = this.#session;
    const { bodyTimeout } = this.#timeouts;
    const body = this.#body!;
    const length = body.remaining;
    const whole = new AnnouncedBody(length, input.end - input.start);
    try {
      while (!this.#over) {
        if (!input.empty) {
          const n = Math.min(input.end - input.start, length - whole.length);
          whole.push(input.buf, input.start, input.start + n);
          input.start += n;
          body.skip(n);
        } else if (input.ended) {
          body.eof();
        } else {
          if (bodyTimeout > 0) deadline.set("bodyTimeout", bodyTimeout);
          const n = await input.readInto(whole.room());
          deadline.clear();
          if (n > 0) body.skip(n);
          whole.advance(n);
        }
        if (body.done) this.#finish();
      }
    } catch (error) {
      throw this.#fail(error);
    }
    if (this.#reason !== null) throw this.#reason;
    return whole.take();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.onOver?.(new ConnectionLostError(ANSWERED_EARLY, "maybe"));
    // A connection whose request is half sent cannot carry another.
    this.#session.done(this.#keep && this.#out === "ended");
  }

  #fail(error: unknown): Error {
    const fault = error instanceof MessageError ? MessageError.ofResponse(error) : error as Error;
    const reason = this.#reason ??
      (fault instanceof MessageError && this.#session.input.ended
        ? new ConnectionLostError(fault.message, "maybe", { cause: fault })
        : fault);
    this.#reason = reason;
    if (!this.#over) {
      this.#over = true;
      this.onOver?.(reason);
      this.#session.done(false);
    }
    return reason;
  }

  abort(reason: Error): void {
    if (this.#over) return;
    this.#reason = reason ?? new StreamResetError(ErrorCode.CANCEL, "local");
    this.#over = true;
    this.onOver?.(this.#reason);
    this.#session.output.fail(this.#reason);
    this.#session.done(false);
  }
}

/** From this many octets on, a body is read straight into what the caller gets. */
const DIRECT_BYTES = 32 << 10;
/** Room such a piece gets while little comes, and while much does. */
const MIN_PIECE_BYTES = 16 << 10;
const MAX_PIECE_BYTES = 256 << 10;
