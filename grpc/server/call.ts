import { Code, ConnectError } from "@connectrpc/connect";
import { type FieldBlock, h2, Template, type TimerNode, timers } from "../../http/engine.ts";
import type { Codec } from "../codec/mod.ts";
import { type BegunMessages, begunMessagesOf } from "../wire/begun_messages.ts";
import { ACCEPT_ENCODING, compress, MIN_COMPRESS_SIZE } from "../wire/compression.ts";
import { type CallHead, RESPONSE_HEADER } from "./call_head.ts";
import { type Call, CallContext } from "../wire/call_context.ts";
import { MessageQueue } from "../wire/message_queue.ts";
import { MessageStream } from "../wire/message_stream.ts";
import { appendMetadata, readMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import { errorTrailers, toStatusError } from "../wire/status.ts";

/** What all calls of a server share. */
export interface ServerSide {
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  /** Compress responses with gzip where the client accepts it. */
  readonly compress: boolean;
  /** Told of what a handler threw that is no ConnectError: clients get UNKNOWN without its text. */
  readonly onHandlerError: ((error: unknown, method: string) => void) | undefined;
}

const RESPONSE_TEMPLATE = new Template(RESPONSE_HEADER);
const OK_TRAILERS = ["grpc-status", "0"];
const OK_TEMPLATE = new Template(OK_TRAILERS);

/** One call on the server. */
export class ServerCall extends MessageStream implements TimerNode, Call {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;

  readonly #side: ServerSide;
  readonly #session: h2.Session;
  readonly #head: CallHead;
  #block!: FieldBlock;
  #deadline = 0;
  /** The request of a method that takes one message. */
  #request: object | undefined = undefined;
  /** Requests of a method that takes many. */
  #requests: MessageQueue<object> | null = null;
  #headerSent = false;
  #finished = false;
  #responses = 0;
  #linger: h2.UploadLinger | null = null;
  #abort: AbortController | null = null;
  #abortReason: ConnectError | null = null;
  #responseHeader: Headers | null = null;
  #responseTrailer: Headers | null = null;

  constructor(side: ServerSide, session: h2.Session, head: CallHead) {
    super();
    this.#side = side;
    this.#session = session;
    this.#head = head;
    this.maxReceiveSize = side.maxReceiveSize;
  }

  // ---- what the context shows ------------------------------------------------------------------

  get method(): Method {
    return this.#head.route!.method;
  }

  get protocolName(): string {
    return "grpc";
  }

  get requestMethod(): string {
    return "POST";
  }

  get requestHeader(): Headers {
    return readMetadata(this.#block.fields);
  }

  get url(): string {
    const head = this.#block.note as h2.RequestHead;
    return `${head.scheme}://${head.authority}${head.path}`;
  }

  get peer(): string {
    const { hostname, port } = this.#session.socket.remoteAddr;
    return `${hostname}:${port}`;
  }

  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.#abortReason !== null) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  remainingMs(): number | undefined {
    return this.#deadline === 0 ? undefined : Math.max(0, this.#deadline - performance.now());
  }

  get responseHeader(): Headers {
    return this.#responseHeader ??= new Headers();
  }

  get responseTrailer(): Headers {
    return this.#responseTrailer ??= new Headers();
  }

  // ---- the engine's events ---------------------------------------------------------------------

  onHeaders(block: FieldBlock, end: boolean): void {
    // Trailers of a request carry nothing in gRPC.
    if (this.#block !== undefined) return;
    this.#block = block;
    const head = this.#head;
    if (head.rejection !== null) {
      this.#reject(head.rejection, end);
      return;
    }
    if (head.timeoutMs >= 0) {
      this.#deadline = performance.now() + head.timeoutMs;
      if (head.timeoutMs === 0) return this.onTimeout();
      timers.add(this, head.timeoutMs);
    }
    if (this.method.clientStreams) {
      this.#requests = new MessageQueue<object>(
        (size) => this.dequeued(size),
        () => this.ignoreInput(),
      );
      this.#start(this.#requests);
    }
  }

  protected get codec(): Codec {
    return this.method.input;
  }

  protected get encoding(): string {
    return this.#head.encoding;
  }

  protected get noun(): string {
    return "request";
  }

  protected override get begunMessages(): BegunMessages {
    return begunMessagesOf(this.connection);
  }

  protected onMessage(message: object, size: number): void {
    if (this.#finished) return;
    if (this.#requests !== null) {
      this.queued(size);
      this.#requests.push(message, size);
    } else if (this.#request === undefined) this.#request = message;
    else {
      this.#fail(
        new ConnectError(
          `${this.method.path} takes one request message, got more`,
          Code.Unimplemented,
        ),
      );
    }
  }

  protected onFault(error: ConnectError): void {
    this.#fail(error);
  }

  override onData(buf: Uint8Array, start: number, end: number): void {
    super.onData(buf, start, end);
    this.#linger?.drop(end - start);
  }

  override onEnd(): void {
    this.#linger?.stop();
    super.onEnd();
  }

  protected onMessagesEnd(): void {
    if (this.#finished) return;
    if (this.midMessage) {
      return this.#fail(new ConnectError("request ended inside a message", Code.Internal));
    }
    if (this.#requests !== null) return this.#requests.end();
    if (this.#request === undefined) {
      return this.#fail(
        new ConnectError(
          `${this.method.path} takes one request message, got none`,
          Code.Unimplemented,
        ),
      );
    }
    this.#start(this.#request);
  }

  onReset(error: Error): void {
    this.#linger?.stop();
    this.#cancel(new ConnectError(error.message, Code.Canceled, undefined, undefined, error));
  }

  /** The deadline passed. */
  onTimeout(): void {
    this.#fail(new ConnectError("the deadline passed", Code.DeadlineExceeded));
  }

  // ---- the handler -----------------------------------------------------------------------------

  #start(request: object): void {
    this.hold();
    const { serverStreams } = this.method;
    let result: unknown;
    try {
      result = this.#head.route!.handler!(request, new CallContext(this));
    } catch (error) {
      this.release();
      return this.#failHandler(error);
    }
    if (serverStreams) {
      this.#sendAll(result);
    } else if (isThenable(result)) {
      result.then((message) => {
        this.release();
        this.#reply(message);
      }, (error) => {
        this.release();
        this.#failHandler(error);
      });
    } else {
      this.release();
      this.#reply(result);
    }
  }

  #reply(message: unknown): void {
    if (this.#finished) return;
    try {
      this.#send(message);
    } catch (error) {
      return this.#failHandler(error);
    }
    this.#finish();
  }

  async #sendAll(result: unknown): Promise<void> {
    try {
      if (result === null || typeof result !== "object" || !(Symbol.asyncIterator in result)) {
        throw new TypeError(
          `Cannot stream responses of ${this.method.path}: the handler must return an async iterable`,
        );
      }
      for await (const message of result as AsyncIterable<unknown>) {
        if (this.#finished) return;
        const room = this.#send(message);
        if (room !== undefined) await room;
      }
      this.#finish();
    } catch (error) {
      this.#failHandler(error);
    } finally {
      this.release();
    }
  }

  /** Sends one response. Throws `TypeError`, with nothing sent, if it does not fit its type. */
  #send(message: unknown): Promise<void> | undefined {
    if (typeof message !== "object" || message === null) {
      throw new TypeError(
        `Cannot encode response of ${this.method.path}: expected an object, got ${
          message === null ? "null" : typeof message
        }`,
      );
    }
    let bytes = this.method.output.encode(message);
    if (bytes.length > this.#side.maxSendSize) {
      throw new ConnectError(
        `trying to send message larger than max (${bytes.length} vs. ${this.#side.maxSendSize})`,
        Code.ResourceExhausted,
      );
    }
    const compressed = this.#compresses && bytes.length >= MIN_COMPRESS_SIZE;
    if (compressed) bytes = compress(bytes);
    if (!this.#headerSent) this.sendHeader();
    this.#responses++;
    return this.sendMessage(bytes, compressed);
  }

  get #compresses(): boolean {
    return this.#side.compress && this.#head.acceptsGzip;
  }

  /** Sends the response header, once. */
  sendHeader(): void {
    if (this.#headerSent || this.#finished) return;
    this.#headerSent = true;
    if (this.#responseHeader === null && !this.#compresses) {
      this.sendHeaders(RESPONSE_TEMPLATE);
      return;
    }
    const fields = [...RESPONSE_HEADER];
    if (this.#compresses) {
      fields.push("grpc-encoding", "gzip", "grpc-accept-encoding", ACCEPT_ENCODING);
    }
    if (this.#responseHeader !== null) appendMetadata(fields, this.#responseHeader);
    this.sendHeaders(fields);
  }

  #finish(): void {
    if (this.#finished) return;
    if (this.#responseTrailer === null) {
      this.sendHeader();
      this.#conclude();
      this.end(OK_TEMPLATE);
    } else {
      const fields = [...OK_TRAILERS];
      try {
        this.sendHeader();
        appendMetadata(fields, this.#responseTrailer);
      } catch (error) {
        return this.#failHandler(error);
      }
      this.#conclude();
      this.end(fields);
    }
    this.#stopUpload();
  }

  #failHandler(error: unknown): void {
    if (!(error instanceof ConnectError)) this.#side.onHandlerError?.(error, this.method.path);
    this.#fail(toStatusError(error));
  }

  /** Ends the call with an error, whether or not its handler still runs. */
  #fail(error: ConnectError): void {
    if (this.#finished) return;
    const trailers = errorTrailers(error);
    if (this.#responseTrailer !== null) appendMetadata(trailers, this.#responseTrailer);
    if (this.#headerSent) {
      this.#conclude(error);
      this.end(trailers);
    } else {
      const fields = [...RESPONSE_HEADER];
      if (this.#responseHeader !== null) appendMetadata(fields, this.#responseHeader);
      this.#conclude(error);
      this.sendHeaders([...fields, ...trailers], true);
    }
    this.#stopUpload();
  }

  #reject(fields: readonly string[], end: boolean): void {
    this.#finished = true;
    this.ignoreInput();
    this.sendHeaders(fields, true);
    if (!end) this.#stopUpload();
  }

  /** A client that still sends is listened to no more, and told so soon. */
  #stopUpload(): void {
    if (this.receivable) this.#linger = new h2.UploadLinger(this);
  }

  /** The client is gone: the handler learns of it, nothing is sent. */
  #cancel(reason: ConnectError): void {
    if (!this.#finished) this.#conclude(reason);
  }

  #conclude(reason?: ConnectError): void {
    this.#finished = true;
    this.ignoreInput();
    timers.remove(this);
    if (reason === undefined) {
      this.#requests?.end();
      return;
    }
    this.#abortReason = reason;
    this.#requests?.fail(reason);
    this.#abort?.abort(reason);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null)?.then === "function";
}
