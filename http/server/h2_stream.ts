/**
 * One exchange on a server's HTTP/2 connection, as handlers see it.
 *
 * @module
 */
import { BodyBuffer } from "../message/body_buffer.ts";
import { ConnectionLostError, StreamResetError, TimeoutError } from "../message/error.ts";
import { fieldOf, type FlatHeaders, type HeaderObject, headerObject } from "../message/headers.ts";
import type { FieldBlock } from "../hpack/mod.ts";
import { checkEnd, checkSent, isBodiless, responseFraming } from "../message/body_length.ts";
import { isConnectionField, keepTrailers } from "../message/connection_fields.ts";
import { httpDate } from "../message/date.ts";
import { BodyTooLargeError } from "../message/error.ts";
import type { ExchangeHost } from "./exchange_host.ts";
import type { Socket } from "../net/socket.ts";
import { ServerStream } from "./stream.ts";
import { ready } from "../time/turn.ts";
import { bodyRate, type MinRate } from "../time/min_rate.ts";
import { Deadline } from "../time/deadline.ts";
import type { WebSocketConnection } from "../websocket/front.ts";
import { HandshakeError } from "../websocket/handshake.ts";
import { ErrorCode } from "../message/error_code.ts";
import { RequestDrain, type RequestHead, Stream } from "../h2/mod.ts";

const objects = new WeakMap<FieldBlock, HeaderObject>();

const encoder = new TextEncoder();
/** Text is encoded into slabs, which live as long as a piece of them waits to be sent. */
const SLAB_BYTES = 64 << 10;
let slab = new Uint8Array(SLAB_BYTES);
let slabUsed = 0;

function bytesOf(piece: string | Uint8Array): Uint8Array {
  if (typeof piece !== "string") {
    if (piece instanceof Uint8Array) return piece;
    throw new TypeError(
      `Cannot send body as it must be a string or Uint8Array: got ${typeof piece}`,
    );
  }
  const most = piece.length * 3;
  if (most > SLAB_BYTES >> 2) return encoder.encode(piece);
  if (slabUsed + most > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES);
    slabUsed = 0;
  }
  const room = slab.subarray(slabUsed, slabUsed + most);
  const { written } = encoder.encodeInto(piece, room);
  slabUsed += written;
  return room.subarray(0, written);
}

/** Streams whose head was given and waits for what follows, so that both leave in one write. */
let deferred: H2ServerStream[] = [];

function sendDeferred(): void {
  const streams = deferred;
  deferred = [];
  for (const stream of streams) stream.commit(false);
}

/** The engine's side of an exchange. */
class Wire extends Stream {
  readonly exchange: H2ServerStream;

  constructor(exchange: H2ServerStream) {
    super();
    this.exchange = exchange;
  }

  onHeaders(block: FieldBlock, end: boolean): void {
    this.exchange.receiveHeaders(block, end);
  }

  onData(buf: Uint8Array, start: number, end: number): void {
    this.exchange.receiveData(buf, start, end);
  }

  onEnd(): void {
    this.exchange.receiveEnd();
  }

  onReset(error: Error): void {
    this.exchange.receiveReset(error);
  }

  override onClosed(): void {
    this.exchange.onClosed();
  }
}

/** Size of the content-length a head gets when its body turns out to be whole. */
const LENGTH_ROOM = 14 + 15 + 32;

/** See the module. */
export class H2ServerStream extends ServerStream {
  readonly version = "HTTP/2";
  readonly head: RequestHead;
  readonly wire: Stream;
  protected readonly socket: Socket;
  protected trailerFields: FlatHeaders = [];
  readonly #block: FieldBlock;
  readonly #host: ExchangeHost;
  #started = false;
  #ended = false;
  #handled = false;

  /** Octets received and not read, once there were any. */
  #body: BodyBuffer | null = null;
  #received = 0;
  #drain: RequestDrain | null = null;
  #dropping = false;
  #continued = false;
  #reader: { resolve(): void; reject(error: Error): void } | null = null;
  #reading = false;
  #waited = 0;
  /** What the rule on slow bodies has counted of `#received`, and the rule. */
  #counted = 0;
  #bodyRate: MinRate | null = null;
  #deadline: Deadline | null = null;

  #head: string[] | null = null;
  #bodiless = false;
  #declared = -1;
  #sent = 0;

  constructor(head: RequestHead, block: FieldBlock, socket: Socket, host: ExchangeHost) {
    super();
    this.head = head;
    this.#block = block;
    this.socket = socket;
    this.#host = host;
    this.wire = new Wire(this);
  }

  get method(): string {
    return this.head.method;
  }

  get target(): string {
    return this.head.path;
  }

  get authority(): string {
    return this.head.authority;
  }

  get fields(): FlatHeaders {
    return this.#block.fields;
  }

  override get header(): HeaderObject {
    let object = objects.get(this.#block);
    if (object === undefined) objects.set(this.#block, object = headerObject(this.#block.fields));
    return object;
  }

  get hasBody(): boolean {
    return !this.#ended || (this.#body !== null && this.#body.length > 0);
  }

  // ---- from the engine -------------------------------------------------------------------------

  receiveHeaders(block: FieldBlock, end: boolean): void {
    if (this.#started) {
      this.trailerFields = keepTrailers(block.fields);
      return;
    }
    this.#started = true;
    this.#ended = end;
    // A reset stream counts as open until its handler ended: else one client could start any number.
    this.wire.handlerStarted();
    const running = this.#host.handle(this);
    if (running === undefined) this.#afterHandler();
    else running.then(this.#afterHandler);
  }

  readonly #afterHandler = (): void => {
    this.#handled = true;
    this.wire.handlerEnded();
    this.#dropRest();
  };

  receiveData(buf: Uint8Array, start: number, end: number): void {
    const n = end - start;
    this.#received += n;
    if (this.#dropping) {
      this.wire.consumed(n);
      this.#drain?.drop(n);
      return;
    }
    const { maxBodyBytes } = this.#host.limits;
    if (maxBodyBytes > 0 && this.#received > maxBodyBytes) {
      this.wire.consumed(n);
      this.#fail(new BodyTooLargeError(maxBodyBytes, "limits.maxBodyBytes"));
      return;
    }
    (this.#body ??= new BodyBuffer()).push(buf, start, end);
    this.#wake();
  }

  receiveEnd(): void {
    this.#drain?.stop();
    this.#ended = true;
    this.#wake();
  }

  receiveReset(error: Error): void {
    this.#drain?.stop();
    this.#stopTimers();
    this.requestFault ??= error;
    this.onAbort(error, true);
    this.#reader?.reject(error);
    this.#reader = null;
  }

  #wake(): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.resolve();
  }

  // ---- request body ----------------------------------------------------------------------------

  protected async readPiece(): Promise<Uint8Array | null> {
    if (this.#reading) throw new TypeError("Cannot read the body as a read is under way");
    this.#reading = true;
    try {
      let piece: Uint8Array | null;
      while ((piece = this.#body?.take() ?? null) === null) {
        if (this.requestFault !== null) throw this.requestFault;
        if (this.#ended) return null;
        await this.#wait();
      }
      this.wire.consumed(piece.length);
      if (this.#body!.length > 0) {
        const turn = ready();
        if (turn !== undefined) await turn;
      }
      return piece;
    } finally {
      this.#reading = false;
    }
  }

  #wait(): Promise<void> {
    // RFC 9110 §10.1.1: the client waits for this before it sends the body.
    if (this.#received === 0 && !this.#continued && !this.responded) {
      this.#continued = true;
      if (fieldOf(this.fields, "expect")?.toLowerCase() === "100-continue") {
        this.sendInfo(100, []);
      }
    }
    const { limits, time } = this.#host;
    const begun = time.clock.now();
    this.#deadline ??= new Deadline(time, (phase, ms) => this.#fail(new TimeoutError(phase, ms)));
    this.#bodyRate ??= bodyRate(limits);
    this.#deadline.set("bodyTimeout", limits.bodyTimeout, begun);
    return new Promise<void>((resolve, reject) => {
      this.#reader = {
        resolve: () => {
          this.#deadline!.clear();
          const waited = time.clock.now() - begun;
          this.#waited += waited;
          const came = this.#received - this.#counted;
          this.#counted = this.#received;
          if (this.#bodyRate === null || this.#bodyRate.count(waited, came)) return resolve();
          this.#fail(new TimeoutError("minBodyRate", Math.round(this.#waited)));
          reject(this.requestFault);
        },
        reject,
      };
    });
  }

  /** Reading is over, before the body was. */
  #fail(error: Error): void {
    this.requestFault ??= error;
    this.#dropping = true;
    if (this.#body !== null) {
      this.wire.consumed(this.#body.length);
      this.#body.clear();
    }
    this.#deadline?.stop();
    this.#reader?.reject(this.requestFault);
    this.#reader = null;
  }

  /** What is left of the body when the exchange is over is of no use to anybody. */
  #dropRest(): void {
    if (!this.finished || !this.#handled) return;
    this.#deadline?.stop();
    if (this.#ended || this.wire.closed) return;
    this.#fail(new StreamResetError(ErrorCode.NO_ERROR, "local", "the response is complete"));
    this.#drain ??= new RequestDrain(this.wire, this.#host.time);
  }

  // ---- response --------------------------------------------------------------------------------

  protected sendHead(status: number, fields: string[], close: boolean): void {
    const { declared, dated } = responseFraming(fields);
    const block = [":status", String(status)];
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i]!;
      // RFC 9113 §8.2.2: what speaks of the connection has no place here.
      if (isConnectionField(name) || name === "content-length" || name === "te") continue;
      block.push(name, fields[i + 1]!);
    }
    if (declared >= 0 && status !== 204) block.push("content-length", String(declared));
    if (!dated) block.push("date", httpDate());
    this.wire.checkFields(block, declared < 0 ? LENGTH_ROOM : 0);
    this.#declared = declared;
    this.#bodiless = isBodiless(this.method, status);
    this.#head = block;
    if (!close && deferred.push(this) === 1) setImmediate(sendDeferred);
  }

  /** Sends the head, if it waits. */
  commit(end: boolean): void {
    const head = this.#head;
    if (head === null) return;
    this.#head = null;
    this.wire.sendHeaders(head, end);
  }

  protected dropHead(): boolean {
    if (this.#head === null) return false;
    this.#head = null;
    return true;
  }

  protected get headHeld(): boolean {
    return this.#head !== null;
  }

  protected sendInfo(status: number, fields: string[]): void {
    const block = [":status", String(status), ...fields];
    if (fields.length > 0) this.wire.checkFields(block);
    this.wire.sendHeaders(block, false);
  }

  protected sendPiece(piece: string | Uint8Array): Promise<void> | undefined {
    const bytes = bytesOf(piece);
    if (!this.#bodiless) checkSent(this.#declared, this.#sent + bytes.length);
    this.#sent += bytes.length;
    this.commit(false);
    if (this.#bodiless || bytes.length === 0) return undefined;
    const wait = this.wire.sendData(bytes);
    if (wait === undefined) return undefined;
    return wait.then(() => {
      if (this.aborted) {
        throw this.requestFault ?? new ConnectionLostError("Stream was ended", "maybe");
      }
    });
  }

  protected sendEnd(piece: string | Uint8Array | null, trailers: string[] | null): void {
    if (trailers !== null) trailers = this.#sendable(trailers);
    const bytes = piece === null ? null : bytesOf(piece);
    const sent = this.#sent + (bytes === null ? 0 : bytes.length);
    if (!this.#bodiless) checkEnd("response", this.#declared, sent);
    this.#sent = sent;
    const head = this.#head;
    if (head !== null && this.#declared < 0 && trailers === null && this.#status !== 204) {
      // The body is known whole: tell its length.
      if (!this.#bodiless || this.#sent > 0) head.push("content-length", String(this.#sent));
    }
    const body = bytes === null || bytes.length === 0 || this.#bodiless ? null : bytes;
    const last = body === null && (trailers === null || trailers.length === 0);
    if (head !== null) {
      this.commit(last);
      if (last) return;
    }
    if (body !== null) {
      this.wire.sendData(body, trailers === null || trailers.length === 0);
      if (trailers !== null && trailers.length > 0) this.wire.end(trailers);
    } else {
      this.wire.end(trailers !== null && trailers.length > 0 ? trailers : true);
    }
  }

  /** Trailers, or null and a word to the listener if the client does not take so many. */
  #sendable(trailers: string[]): string[] | null {
    try {
      this.wire.checkFields(trailers);
      return trailers;
    } catch (error) {
      this.#host.onDropped?.(error, this);
      return null;
    }
  }

  get #status(): number {
    return this.#head === null ? 0 : Number(this.#head[1]);
  }

  /** The stream is over in both directions: nothing is waited for any more. */
  onClosed(): void {
    this.#stopTimers();
  }

  #stopTimers(): void {
    this.#deadline?.stop();
  }

  protected cut(): void {
    const error = new StreamResetError(ErrorCode.INTERNAL_ERROR, "local");
    this.wire.reset(ErrorCode.INTERNAL_ERROR);
    this.receiveReset(error);
  }

  protected onFinish(): void {
    this.#dropRest();
  }

  protected openWebSocket(): Promise<WebSocketConnection> {
    return Promise.reject(
      new HandshakeError("the request came by HTTP/2: WebSockets need HTTP/1.1", 426),
    );
  }
}
