/**
 * One exchange on a server's HTTP/2 connection, as handlers see it.
 *
 * @module
 */
import { ConnectionLostError, StreamResetError } from "../message/error.ts";
import { fieldOf, type FlatHeaders, type HeaderObject, headerObject } from "../message/headers.ts";
import type { FieldBlock } from "../hpack/mod.ts";
import { checkEnd, checkSent, isBodiless, responseFraming } from "../message/body_length.ts";
import { isConnectionField, keepTrailers } from "../message/connection_fields.ts";
import { httpDate } from "../message/date.ts";
import type { ExchangeHost } from "./exchange_host.ts";
import type { Socket } from "../net/socket.ts";
import { ServerStream } from "./stream.ts";
import type { WebSocketConnection } from "../websocket/front.ts";
import { HandshakeError } from "../websocket/handshake.ts";
import { ErrorCode } from "../message/error_code.ts";
import type { RequestHead } from "../h2/mod.ts";
import { EngineStream, type EngineStreamEvents } from "./engine_stream.ts";
import { bytesOfPiece } from "./text_slab.ts";

const objects = new WeakMap<FieldBlock, HeaderObject>();

/** Streams whose head was given and waits for what follows, so that both leave in one write. */
let deferred: H2ServerStream[] = [];

function sendDeferred(): void {
  const streams = deferred;
  deferred = [];
  for (const stream of streams) stream.commit(false);
}

/** Size of the content-length a head gets when its body turns out to be whole. */
const LENGTH_ROOM = 14 + 15 + 32;

/** See the module. */
export class H2ServerStream extends ServerStream implements EngineStreamEvents {
  readonly version = "HTTP/2";
  readonly head: RequestHead;
  /** The engine's stream. */
  readonly stream: EngineStream;
  protected readonly socket: Socket;
  protected trailerFields: FlatHeaders = [];
  readonly #block: FieldBlock;
  readonly #host: ExchangeHost;
  #handled = false;
  #continued = false;

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
    this.stream = new EngineStream(this, host);
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
    return this.stream.hasBody;
  }

  protected readPiece(): Promise<Uint8Array | null> {
    return this.stream.read();
  }

  // ---- the request's events --------------------------------------------------------------------

  onRequest(): void {
    // A reset stream counts as open until its handler ended: else one client could start any number.
    this.stream.handlerStarted();
    const running = this.#host.handle(this);
    if (running === undefined) this.#afterHandler();
    else running.then(() => this.#afterHandler());
  }

  #afterHandler(): void {
    this.#handled = true;
    this.stream.handlerEnded();
    this.#dropRest();
  }

  onTrailers(block: FieldBlock): void {
    this.trailerFields = keepTrailers(block.fields);
  }

  onBodyAwaited(): void {
    // RFC 9110 §10.1.1: the client waits for this before it sends the body.
    if (this.#continued || this.responded) return;
    this.#continued = true;
    if (fieldOf(this.fields, "expect")?.toLowerCase() === "100-continue") this.sendInfo(100, []);
  }

  onRequestFault(error: Error): void {
    this.requestFault ??= error;
  }

  onBroken(error: Error): void {
    this.onAbort(error, true);
  }

  /** Once handler and response are over, the rest of the request is dropped. */
  #dropRest(): void {
    if (this.finished && this.#handled) this.stream.dropRest();
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
    this.stream.checkFields(block, declared < 0 ? LENGTH_ROOM : 0);
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
    this.stream.sendHeaders(head, end);
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
    if (fields.length > 0) this.stream.checkFields(block);
    this.stream.sendHeaders(block, false);
  }

  protected sendPiece(piece: string | Uint8Array): Promise<void> | undefined {
    const bytes = bytesOfPiece(piece);
    if (!this.#bodiless) checkSent(this.#declared, this.#sent + bytes.length);
    this.#sent += bytes.length;
    this.commit(false);
    if (this.#bodiless || bytes.length === 0) return undefined;
    const wait = this.stream.sendData(bytes);
    if (wait === undefined) return undefined;
    return wait.then(() => {
      if (this.aborted) {
        throw this.requestFault ?? new ConnectionLostError("Stream was ended", "maybe");
      }
    });
  }

  protected sendEnd(piece: string | Uint8Array | null, trailers: string[] | null): void {
    if (trailers !== null) trailers = this.#sendable(trailers);
    const bytes = piece === null ? null : bytesOfPiece(piece);
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
      this.stream.sendData(body, trailers === null || trailers.length === 0);
      if (trailers !== null && trailers.length > 0) this.stream.end(trailers);
    } else {
      this.stream.end(trailers !== null && trailers.length > 0 ? trailers : true);
    }
  }

  /** Trailers, or null and a word to the listener if the client does not take so many. */
  #sendable(trailers: string[]): string[] | null {
    try {
      this.stream.checkFields(trailers);
      return trailers;
    } catch (error) {
      this.#host.onDropped?.(error, this);
      return null;
    }
  }

  get #status(): number {
    return this.#head === null ? 0 : Number(this.#head[1]);
  }

  protected cut(): void {
    const error = new StreamResetError(ErrorCode.INTERNAL_ERROR, "local");
    this.stream.reset(ErrorCode.INTERNAL_ERROR);
    this.stream.onReset(error);
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
