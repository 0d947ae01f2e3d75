/**
 * One exchange on a server's HTTP/1.1 connection, as handlers see it.
 *
 * @module
 */
import { StreamResetError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import type { FlatHeaders, HeaderObject } from "../message/headers.ts";
import type { Flush } from "../h1/flush.ts";
import type { BodyEvents, IncomingBody } from "../h1/incoming_body.ts";
import type { RequestHead } from "../h1/read.ts";
import { ResponseWriter } from "../h1/response_writer.ts";
import { writeInformational } from "../h1/write.ts";
import type { Socket } from "../net/socket.ts";
import type { SocketWriter } from "../net/socket_writer.ts";
import type { Carrier } from "../websocket/connection.ts";
import type { WebSocketConnection } from "../websocket/front.ts";
import type { WebSocketOptions } from "../websocket/options.ts";
import { ServerStream } from "./stream.ts";
import { acceptWebSocket, remember, type Upgraded } from "./websocket.ts";

/** Bytes of an unread request body that are read and dropped to keep a connection. */
const MAX_DRAIN_BYTES = 256 << 10;
/**
 * The same where the length was not given in advance: the answer has gone out by now and promised to
 * keep the connection, which clients take at its word and send their next request.
 */
const MAX_CHUNKED_DRAIN_BYTES = 4 << 20;

/** The connection of an exchange, as far as the exchange knows it. */
export interface ExchangeConnection {
  readonly socket: Socket;
  readonly output: SocketWriter;
  readonly flush: Flush;
  /** Whether it may serve another exchange after this one. */
  readonly lasting: boolean;
  /** Called when the request was read to its end, more than once. */
  onRequestEnd(stream: H1ServerStream): void;
  /** Called when the response is complete in the output. */
  onResponse(stream: H1ServerStream): void;
  /** Called when this side broke the exchange off. */
  abortExchange(stream: H1ServerStream): void;
  /** Takes the connection out of HTTP: `make` gets it with what was read already. */
  upgrade(make: (carrier: Carrier) => Upgraded): void;
}

/** See the module. */
export class H1ServerStream extends ServerStream implements BodyEvents {
  readonly method: string;
  readonly target: string;
  readonly version = "HTTP/1.1";
  readonly head: RequestHead;
  readonly writer: ResponseWriter;
  /** The request's body, or null. */
  readonly body: IncomingBody | null;
  readonly #connection: ExchangeConnection;
  /** Whether the client waits to be asked for the body (RFC 9110 §10.1.1). */
  #mustAsk: boolean;

  constructor(head: RequestHead, body: IncomingBody | null, connection: ExchangeConnection) {
    super();
    this.head = head;
    this.method = head.method;
    this.target = head.target;
    this.body = body;
    this.#connection = connection;
    const close = head.block.close || head.minor === 0;
    this.writer = new ResponseWriter(connection.output.out, head, close, this);
    this.#mustAsk = body !== null && head.block.expect !== null && head.minor === 1;
  }

  get fields(): FlatHeaders {
    return this.head.block.fields;
  }

  override get header(): HeaderObject {
    return this.head.block.object;
  }

  get authority(): string {
    return this.head.authority;
  }

  get hasBody(): boolean {
    return this.body !== null;
  }

  protected get socket(): Socket {
    return this.#connection.socket;
  }

  protected get trailerFields(): FlatHeaders {
    return this.body === null ? [] : this.body.trailers;
  }

  // ---- request body ----------------------------------------------------------------------------

  /** Whether the request was read to its end. */
  get bodyDone(): boolean {
    return this.body === null || this.body.done;
  }

  /** For the response's head: whether the connection may be kept after it. */
  get lasting(): boolean {
    return this.#connection.lasting && (this.bodyDone ||
      // The rest of the body has to be read, only to keep the connection.
      (this.requestFault === null && !this.#mustAsk && this.body!.remaining <= MAX_DRAIN_BYTES));
  }

  protected readPiece(): Promise<Uint8Array | null> {
    if (this.bodyDone) return Promise.resolve(null);
    if (this.requestFault !== null) return Promise.reject(this.requestFault);
    return this.body!.read(this);
  }

  protected override readWhole(): Promise<Uint8Array> {
    const { body } = this;
    if (body === null || body.remaining <= 0 || body.reading || this.requestFault !== null) {
      return super.readWhole();
    }
    return body.readWhole(this);
  }

  onBodyWait(): void {
    if (!this.#mustAsk) return;
    this.#mustAsk = false;
    if (!this.responded) this.#inform(100, []);
  }

  onBodyEnd(): void {
    this.#connection.onRequestEnd(this);
  }

  onBodyFault(error: unknown): Error {
    this.writer.close = true;
    return this.requestFault ??= error instanceof Error ? error : new Error(String(error));
  }

  /** Reads the rest of the body and drops it. False if the connection cannot be kept. */
  async drain(): Promise<boolean> {
    const body = this.body!;
    const most = this.writer.close || body.remaining >= 0
      ? MAX_DRAIN_BYTES
      : MAX_CHUNKED_DRAIN_BYTES;
    let dropped = 0;
    try {
      // The handler may have left a read behind: what that brings is dropped too.
      if (body.reading) await body.idle();
      for (let piece = await this.read(); piece !== null; piece = await this.read()) {
        dropped += piece.length;
        if (dropped > most) return false;
      }
      return true;
    } catch {
      return false;
    }
  }

  // ---- response --------------------------------------------------------------------------------

  protected sendHead(status: number, fields: string[], close: boolean): void {
    this.writer.giveHead(status, fields);
    if (close) this.writer.close = true;
    else this.#connection.flush.defer(this.writer);
  }

  protected dropHead(): boolean {
    return this.writer.drop();
  }

  protected get headHeld(): boolean {
    return this.writer.headAlone;
  }

  protected sendInfo(status: number, fields: string[]): void {
    if (this.head.minor === 1) this.#inform(status, fields);
  }

  #inform(status: number, fields: readonly string[]): void {
    const { output } = this.#connection;
    writeInformational(output.out, status, fields);
    output.flush();
  }

  protected sendPiece(piece: string | Uint8Array): Promise<void> | undefined {
    const { output, flush } = this.#connection;
    if (output.error !== null) throw output.error;
    if (!this.writer.write(piece)) {
      flush.defer(this.writer);
      return undefined;
    }
    if (output.pending > 0) flush.soon();
    return output.room();
  }

  protected sendEnd(piece: string | Uint8Array | null, trailers: string[] | null): void {
    this.writer.end(piece, trailers);
  }

  protected cut(): void {
    this.writer.close = true;
    this.#connection.abortExchange(this);
    this.onAbort(new StreamResetError(ErrorCode.CANCEL, "local"), true);
  }

  protected onFinish(): void {
    this.#connection.onResponse(this);
  }

  /** For its session: the client is gone; `lost` if nothing can be sent to it either. */
  override onAbort(reason: unknown, lost: boolean): void {
    super.onAbort(reason, lost);
  }

  protected openWebSocket(options: WebSocketOptions): Promise<WebSocketConnection> {
    const { method, header, head: { minor } } = this;
    const upgrading = acceptWebSocket({ method, minor, header }, options, (fields, upgraded) => {
      if (this.responded) throw new TypeError("Cannot upgrade as the request was answered");
      this.switched();
      this.#inform(101, fields);
      this.#connection.upgrade(upgraded);
    });
    return upgrading.then((socket) => remember(this, socket));
  }
}
