import { Code, ConnectError } from "@connectrpc/connect";
import { type h2, type Template, type TimerNode, timers } from "../../http/engine.ts";
import { ConnectionLostError } from "../../http/mod.ts";
import { ClientStream } from "./attempt.ts";
import { compress, MIN_COMPRESS_SIZE } from "../wire/compression.ts";
import { MessageQueue } from "../wire/message_queue.ts";
import { appendMetadata, readMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import { isUnprocessed, transportError } from "../wire/status.ts";
import type { Subchannel } from "./subchannel.ts";

/** Settings of one call. */
export interface CallOptions {
  /** Milliseconds until the call fails with DEADLINE_EXCEEDED. The server is told. @default none */
  readonly timeout?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Metadata to send. Values of names that end in `-bin` are base64. */
  readonly headers?: HeadersInit;
  /** Called with the metadata that came before the first message. */
  readonly onHeader?: (headers: Headers) => void;
  /** Called with the metadata that came with the status. */
  readonly onTrailer?: (headers: Headers) => void;
  /** Wait for a connection instead of failing while the server cannot be reached. @default {false} */
  readonly waitForReady?: boolean;
}

/** Who finds connections for calls. */
export interface Channel {
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  /** Whether large requests are compressed. */
  readonly compress: boolean;
  /** Gives the call to a connection, now or when there is one. `after` has just failed it. */
  assign(call: ClientCall, after?: Subchannel): void;
}

/**
 * How often a call is sent again because the server certainly did not process it. Such attempts are
 * safe whatever the call does; the limit ends games of refusal.
 */
const MAX_TRANSPARENT_RETRIES = 5;

/** How much earlier than ours the server's clock may find the deadline passed. */
const DEADLINE_SLACK_MS = 12;

/** One call of a client: its deadline, its attempts, its outcome. */
export class ClientCall implements TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;

  readonly method: Method;
  readonly options: CallOptions;
  readonly #channel: Channel;
  /** The connection it waits for. */
  #subchannel: Subchannel | null = null;
  #stream: ClientStream | null = null;
  /** The one request of methods that take one, kept to be sent again. */
  #request: object | null = null;
  #requestSent = false;
  #retries = 0;
  #finished = false;
  #error: ConnectError | null = null;
  #header: readonly string[] | null = null;
  /** Outcome of a unary call. */
  #resolve: ((message: object) => void) | null = null;
  #reject: ((error: ConnectError) => void) | null = null;
  #message: object | null = null;
  /** Responses of a streaming call. */
  #messages: MessageQueue<object> | null = null;
  #opened: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #headerWaits: { resolve: (h: Headers) => void; reject: (error: Error) => void } | null = null;
  #onAbort: (() => void) | null = null;
  /** Trailers, made into `Headers` for those who look. */
  #trailerFields: readonly string[] = [];
  #trailer: Headers | null = null;

  constructor(channel: Channel, method: Method, options: CallOptions) {
    this.#channel = channel;
    this.method = method;
    this.options = options;
  }

  // ---- starting --------------------------------------------------------------------------------

  /** Runs a call with one request and one response. */
  unary(request: object): Promise<object> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#request = request;
      this.#start();
    });
  }

  /** Opens a call whose messages are written and read one by one; resolves when it is on its way. */
  open(): Promise<void> {
    this.#messages = new MessageQueue<object>(
      (size) => this.#took(size),
      () => this.cancel(),
    );
    return new Promise((resolve, reject) => {
      this.#opened = { resolve, reject };
      this.#start();
    });
  }

  #start(): void {
    const { timeout, signal } = this.options;
    if (signal?.aborted) return this.cancel();
    if (timeout !== undefined) {
      if (!(timeout >= 0)) {
        return this.fail(
          new TypeError(
            `Cannot call ${this.method.path} as timeout must be >= 0 milliseconds: current value is ${timeout}`,
          ),
        );
      }
      if (timeout === 0) return this.onTimeout();
      if (timeout !== Infinity) timers.add(this, timeout);
    }
    if (signal !== undefined) {
      this.#onAbort = () => this.cancel();
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    this.#channel.assign(this);
  }

  /** The connection that will start the call when it can. */
  set waitsFor(subchannel: Subchannel) {
    this.#subchannel = subchannel;
  }

  /** A connection has room: send. */
  begin(session: h2.Session): void {
    if (this.#finished) return;
    const subchannel = this.#subchannel!;
    const { method, options } = this;
    const timeout = options.timeout === undefined || options.timeout === Infinity
      ? 0
      : options.timeout;
    let header: Template | string[];
    let body: Uint8Array | null = null;
    try {
      if (options.headers === undefined) header = subchannel.template(method, timeout);
      else {
        header = subchannel.fields(method, timeout);
        appendMetadata(header, options.headers);
      }
      // Encoded before anything is sent: a request that does not fit its type leaves no trace.
      if (this.#request !== null) body = this.#encode(this.#request);
    } catch (error) {
      return this.fail(error as Error);
    }
    const stream = new ClientStream(this, this.#channel.maxReceiveSize);
    this.#stream = stream;
    if (!session.connection.open(stream, header, false)) {
      this.#stream = null;
      this.#channel.assign(this, subchannel);
      return;
    }
    if (body !== null) {
      this.#requestSent = true;
      this.#send(stream, body);
    }
    const opened = this.#opened;
    this.#opened = null;
    opened?.resolve();
  }

  #encode(message: object): Uint8Array {
    if (typeof message !== "object" || message === null) {
      throw new TypeError(
        `Cannot encode request of ${this.method.path}: expected an object, got ${
          message === null ? "null" : typeof message
        }`,
      );
    }
    const bytes = this.method.input.encode(message);
    if (bytes.length > this.#channel.maxSendSize) {
      throw new ConnectError(
        `trying to send message larger than max (${bytes.length} vs. ${this.#channel.maxSendSize})`,
        Code.ResourceExhausted,
      );
    }
    return bytes;
  }

  /** Sends an encoded request; the only one of its method ends the request side. */
  #send(stream: ClientStream, bytes: Uint8Array): Promise<void> | undefined {
    const compressed = this.#channel.compress && bytes.length >= MIN_COMPRESS_SIZE;
    return stream.sendMessage(
      compressed ? compress(bytes) : bytes,
      compressed,
      !this.method.clientStreams,
    );
  }

  // ---- streaming -------------------------------------------------------------------------------

  /** Responses, in order. */
  get messages(): MessageQueue<object> {
    return this.#messages!;
  }

  /** Sends one request; resolves when there is room for the next. */
  async write(message: object): Promise<void> {
    const stream = this.#stream;
    if (this.#finished) throw this.#error ?? new ConnectError("the call is over", Code.Canceled);
    if (stream === null || !stream.sendable) {
      throw new TypeError(`Cannot write to ${this.method.path} as its request side was closed`);
    }
    const bytes = this.#encode(message);
    if (!this.method.clientStreams) {
      if (this.#requestSent) {
        throw new TypeError(`Cannot write to ${this.method.path} twice: it takes one request`);
      }
      this.#request = message;
    }
    this.#requestSent = true;
    const room = this.#send(stream, bytes);
    if (room !== undefined) await room;
    if (this.#error !== null) throw this.#error;
  }

  /** Ends the request side. */
  closeWrite(): void {
    this.#stream?.end();
  }

  /** Resolves with the response's metadata; rejects if the call fails before they come. */
  header(): Promise<Headers> {
    if (this.#header !== null) return Promise.resolve(readMetadata(this.#header));
    if (this.#finished) {
      return this.#error === null ? Promise.resolve(new Headers()) : Promise.reject(this.#error);
    }
    return new Promise((resolve, reject) => this.#headerWaits = { resolve, reject });
  }

  /** Metadata that came with the status; filled when the call is over. */
  get trailer(): Headers {
    return this.#trailer ??= readMetadata(this.#trailerFields);
  }

  // ---- the attempt's events --------------------------------------------------------------------

  onHeader(fields: readonly string[]): void {
    this.#header = fields;
    this.options.onHeader?.(readMetadata(fields));
    const waits = this.#headerWaits;
    this.#headerWaits = null;
    waits?.resolve(readMetadata(fields));
  }

  onMessage(message: object, size: number): void {
    if (this.method.serverStreams) return this.#messages!.push(message, size);
    this.#stream!.took(size);
    if (this.#message === null) {
      this.#message = message;
      return;
    }
    this.#stream!.abandon();
    this.fail(
      new ConnectError("the server sent more than one response message", Code.Unimplemented),
    );
  }

  onFinished(error: ConnectError | null, trailers: readonly string[]): void {
    if (this.#finished) return;
    if (trailers.length > 0) {
      this.#trailerFields = trailers;
      if (this.#trailer !== null) readMetadata(trailers, this.#trailer);
      this.options.onTrailer?.(this.trailer);
    }
    if (error !== null) return this.fail(this.#atDeadline(error));
    // A single response counts only with its status.
    if (!this.method.serverStreams) {
      if (this.#message === null) {
        return this.fail(
          new ConnectError("the server sent no response message", Code.Unimplemented),
        );
      }
      this.#messages?.push(this.#message, 0);
    }
    this.#finish();
    if (this.#messages === null) return this.#resolve!(this.#message!);
    this.#headerWaits?.resolve(new Headers());
    this.#messages.end();
  }

  /** A server may enforce our deadline a moment before we do, and then says CANCELLED. */
  #atDeadline(error: ConnectError): ConnectError {
    const { timeout } = this.options;
    if (error.code !== Code.Canceled || timeout === undefined || timeout === Infinity) return error;
    if (timers.remaining(this) > DEADLINE_SLACK_MS) return error;
    return new ConnectError("the deadline passed", Code.DeadlineExceeded, error.metadata);
  }

  #took(size: number): void {
    this.#stream?.took(size);
    if (this.#finished && !this.#messages!.pending) this.#unlisten();
  }

  /** The attempt ended without a status. */
  onLost(cause: Error, error: ConnectError): void {
    if (this.#finished) return;
    const mayResend = this.#header === null && (this.#request !== null || !this.#requestSent);
    if (isUnprocessed(cause) && mayResend && this.#retries < MAX_TRANSPARENT_RETRIES) {
      this.#retries++;
      this.#stream = null;
      this.#channel.assign(this);
      return;
    }
    this.fail(this.#atDeadline(error));
  }

  /** The connection it waited for could not be opened. */
  unreachable(): void {
    if (!this.#finished) this.#channel.assign(this, this.#subchannel!);
  }

  // ---- ending ----------------------------------------------------------------------------------

  onTimeout(): void {
    const unsent = this.#unsent(undefined);
    this.#abandon();
    this.fail(
      new ConnectError("the deadline passed", Code.DeadlineExceeded, undefined, undefined, unsent),
    );
  }

  /** Says as the cause of an error that nothing of the call left this machine, if so. */
  #unsent(cause: unknown): unknown {
    return this.#stream === null && !this.#requestSent
      ? new ConnectionLostError("the request was not sent", "no", { cause })
      : cause;
  }

  /** Gives the call up: the server is told. */
  cancel(): void {
    if (this.#finished && !this.#messages?.pending) return this.#unlisten();
    this.abort(
      new ConnectError(
        "the call was cancelled",
        Code.Canceled,
        undefined,
        undefined,
        this.#unsent(this.options.signal?.aborted ? this.options.signal.reason : undefined),
      ),
    );
  }

  /** Gives the call up because of `reason`. Responses nobody has read yet are dropped. */
  abort(reason: unknown): void {
    const error = reason instanceof TypeError ? reason : ConnectError.from(reason);
    if (!this.#finished) {
      this.#abandon();
      this.fail(error);
    }
    if (this.#messages?.pending) this.#messages.discard(error);
    this.#unlisten();
  }

  #abandon(): void {
    if (this.#stream !== null) this.#stream.abandon();
    else this.#subchannel?.forget(this);
  }

  /** Ends the call with an error: a `ConnectError`, or a `TypeError` for what the caller did. */
  fail(error: Error): void {
    if (this.#finished) return;
    const failure = error instanceof TypeError ? error : transportError(error);
    this.#error = failure as ConnectError;
    this.#finish();
    this.#headerWaits?.reject(failure);
    this.#opened?.reject(failure);
    if (this.#messages !== null) this.#messages.fail(failure);
    else this.#reject!(failure as ConnectError);
  }

  #finish(): void {
    this.#finished = true;
    timers.remove(this);
    // Until everything is read the call can still be given up.
    if (this.#messages === null || !this.#messages.pending) this.#unlisten();
  }

  #unlisten(): void {
    if (this.#onAbort === null) return;
    this.options.signal!.removeEventListener("abort", this.#onAbort);
    this.#onAbort = null;
  }
}
