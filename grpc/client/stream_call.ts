import { Code, ConnectError } from "@connectrpc/connect";
import type { Attempt } from "../wire/attempt.ts";
import { MessageQueue } from "../wire/message_queue.ts";
import { readMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import { ClientCall } from "./call.ts";
import type { CallHost } from "./call_host.ts";
import type { CallOptions } from "./call_options.ts";
import { handled, rejectSoon } from "./handled.ts";
import { RequestLog } from "./request_log.ts";

const DONE = Promise.resolve();

/**
 * Refuses reads, until the request side is ended, of a call on a connection that carries one direction
 * after the other: one who waits for a response before the next request would wait for ever.
 */
export function refuseEarlyReads({ messages }: StreamHandle, path: string): void {
  messages.refuse(
    new ConnectError(
      `Cannot read responses of ${path} before closeWrite() as the connection is HTTP/1.1, where servers and proxies answer when the request has ended: use HTTP/2, or close the request side first`,
      Code.FailedPrecondition,
    ),
  );
}

/** A streaming call as those who write and read by hand see it. */
export interface StreamHandle {
  /** Sends one request; resolves when there is room for the next. */
  write(message: object): Promise<void>;
  /** Ends the request side. */
  closeWrite(): void;
  /** Responses, in order. */
  readonly messages: MessageQueue<object>;
  /** Resolves with the response's metadata; rejects if the call fails before they come. */
  header(): Promise<Headers>;
  /** Metadata that came with the status; filled when the call is over. */
  readonly trailer: Headers;
  /** Gives the call up. */
  cancel(): void;
}

/** A call whose messages are written and read one by one. */
export class StreamCall extends ClientCall implements StreamHandle {
  readonly messages: MessageQueue<object>;
  readonly #log: RequestLog;
  /** The only request, if it is sent along with the header. */
  #request: object | null;
  /** Whether the request side is ended. */
  #writeClosed = false;
  /** Whether the one request of methods that take one was written. */
  #written = false;
  /** The one response of methods that give one: it counts only with its status. */
  #message: object | null = null;
  /** Settled when an attempt has begun; those wait for it who open the call, and write between two. */
  #begun: PromiseWithResolvers<void> | null = null;
  #header: PromiseWithResolvers<Headers> | null = null;
  #trailer: Headers | null = null;

  constructor(
    host: CallHost,
    method: Method,
    options: CallOptions,
    request: object | null = null,
  ) {
    super(host, method, options);
    this.#request = request;
    this.#log = new RequestLog(host.maxKept);
    this.messages = new MessageQueue<object>(
      (size) => this.#took(size),
      () => this.cancel(),
      host.time.timers,
    );
  }

  /** Resolves when the call is on its way. */
  open(): Promise<void> {
    const begun = this.#awaitBegin();
    this.start();
    return begun;
  }

  #awaitBegin(): Promise<void> {
    this.#begun ??= Promise.withResolvers();
    return handled(this.#begun.promise);
  }

  /** Whether responses can be counted on only when the request side has ended. */
  get halfDuplex(): boolean {
    return this.attempt?.halfDuplex ?? this.hedge?.halfDuplex ?? false;
  }

  // ---- requests --------------------------------------------------------------------------------

  protected override prepare(): void {
    if (this.#request === null) return;
    this.#log.add(this.encode(this.#request));
    this.#request = null;
    this.#written = this.#writeClosed = true;
  }

  protected override get repeatable(): boolean {
    return this.#log.complete;
  }

  override get kept(): boolean {
    return this.#log.complete;
  }

  protected override onBegun(attempt: Attempt): void {
    let room: Promise<void> | undefined;
    for (const bytes of this.#log.requests) room = this.send(attempt, bytes);
    this.#log.sent();
    if (this.#writeClosed) attempt.end();
    const begun = this.#begun;
    this.#begun = null;
    begun?.resolve(room ?? attempt.ready);
  }

  write(message: object): Promise<void> {
    if (this.finished) {
      return rejectSoon(this.error ?? new ConnectError("the call is over", Code.Canceled));
    }
    const { path, clientStreams } = this.method;
    try {
      if (!clientStreams && this.#written) {
        throw new TypeError(`Cannot write to ${path} twice: it takes one request`);
      }
      if (this.#writeClosed) {
        throw new TypeError(`Cannot write to ${path} as its request side was closed`);
      }
      const room = this.#send(this.encode(message));
      this.#written = true;
      return room === undefined ? DONE : handled(room.then(() => this.#check()));
    } catch (error) {
      return rejectSoon(error);
    }
  }

  #send(bytes: Uint8Array): Promise<void> | undefined {
    this.#log.add(bytes);
    if (this.attempt === null && this.hedge?.running === true) {
      if (this.#log.fits) return this.hedge.send(bytes);
      this.hedge.chooseOne();
    }
    // Between two attempts it waits for the next, which sends all there is.
    if (this.attempt === null) return this.#awaitBegin();
    const room = this.send(this.attempt, bytes);
    this.#log.sent();
    return room;
  }

  #check(): void {
    if (this.error !== null) throw this.error;
  }

  closeWrite(): void {
    if (this.#writeClosed) return;
    this.#writeClosed = true;
    this.messages.refuse(null);
    if (this.attempt === null) this.hedge?.endRequests();
    else this.attempt.end();
  }

  // ---- responses -------------------------------------------------------------------------------

  header(): Promise<Headers> {
    if (this.#header === null) {
      this.#header = Promise.withResolvers();
      handled(this.#header.promise);
      if (this.headerFields !== null) this.#header.resolve(readMetadata(this.headerFields));
      else if (this.error !== null) this.#header.reject(this.error);
      else if (this.finished) this.#header.resolve(new Headers());
    }
    return this.#header.promise;
  }

  get trailer(): Headers {
    return this.#trailer ??= readMetadata(this.trailerFields);
  }

  override onHeader(fields: readonly string[]): void {
    this.#log.forget();
    super.onHeader(fields);
    this.#header?.resolve(readMetadata(fields));
  }

  override onMessage(message: object, size: number): void {
    if (this.method.serverStreams) return this.messages.push(message, size);
    this.attempt!.took(size);
    if (this.#message === null) {
      this.#message = message;
      return;
    }
    this.abort(
      new ConnectError("the server sent more than one response message", Code.Unimplemented),
    );
  }

  #took(size: number): void {
    if (this.method.serverStreams) this.attempt?.took(size);
    if (!this.messages.pending) this.onRead();
  }

  // ---- the end ---------------------------------------------------------------------------------

  protected override onEnd(): ConnectError | null {
    if (!this.method.serverStreams) {
      if (this.#message === null) {
        return new ConnectError("the server sent no response message", Code.Unimplemented);
      }
      this.messages.push(this.#message, 0);
    }
    this.#fillTrailer();
    this.#header?.resolve(new Headers());
    this.messages.end();
    return null;
  }

  protected override onFailed(error: Error): void {
    this.#fillTrailer();
    this.#header?.reject(error);
    this.#begun?.reject(error);
    this.messages.fail(error);
  }

  #fillTrailer(): void {
    if (this.#trailer !== null) readMetadata(this.trailerFields, this.#trailer);
    this.#log.forget();
  }

  protected override get unread(): boolean {
    return this.messages.pending;
  }

  protected override discard(error: Error): void {
    this.messages.discard(error);
  }
}
