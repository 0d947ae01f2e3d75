import { Code, ConnectError } from "@connectrpc/connect";
import {
  abort,
  type FieldBlock,
  formatAddress,
  type h2,
  type HandlerHost,
  ready,
  type Time,
  Timer,
} from "../../http/engine.ts";
import type { Codec } from "../codec/mod.ts";
import { type BegunMessages, begunMessagesOf } from "../wire/begun_messages.ts";
import { type Call, type CallContext, callContext } from "../wire/call_context.ts";
import { tellHandlerError } from "../wire/handler_error.ts";
import { MessageQueue } from "../wire/message_queue.ts";
import { readMetadata } from "../wire/metadata.ts";
import { runFor } from "../wire/propagation.ts";
import type { Method } from "../wire/method.ts";
import { lastField, toStatusError } from "../wire/status.ts";
import { followCall, type FollowedServerCall } from "../telemetry/server_call.ts";
import type { CallHead } from "./call_head.ts";
import { isAbort, isThenable, iteratorOf } from "./handler_result.ts";
import { ReplyStream, type ServerCallSettings } from "./reply_stream.ts";
import { RequestWatch } from "./request_watch.ts";

/** Stands for the watch of a call in {@linkcode unwatched}. */
const SOON = new RequestWatch(0);

/**
 * Calls that began to wait for their client in this turn. Nearly all have their request when it ends,
 * and need neither a watch nor a timer.
 */
let unwatched: ServerCall[] = [];

function watchAll(): void {
  const calls = unwatched;
  unwatched = [];
  for (const call of calls) call.watch();
}

/** The timer of a call that has a deadline or has to be waited for. */
class CallTimer extends Timer {
  readonly #call: ServerCall;

  constructor(call: ServerCall) {
    super();
    this.#call = call;
  }

  onTimeout(): void {
    this.#call.onTimeout();
  }
}

/** One call on the server: its request, its deadline and its handler. */
export class ServerCall extends ReplyStream implements Call {
  readonly #session: h2.Session;
  readonly #head: CallHead;
  readonly #host: HandlerHost;
  #block!: FieldBlock;
  #deadline = Infinity;
  /** Made when first set. */
  #timer: CallTimer | null = null;
  /** The request of a method that takes one message. */
  #request: object | undefined = undefined;
  /** Requests of a method that takes many. */
  #requests: MessageQueue<object> | null = null;
  /** Holds the client to the pace of a message that has to come; null while none has to. */
  #watch: RequestWatch | null = null;
  #handling = false;
  /** Responses of the handler, while they are read; and whether it is being told to end them. */
  #responses: AsyncIterator<unknown> | null = null;
  #ending = false;
  /** Null where nobody follows calls. */
  #followed: FollowedServerCall | null = null;
  #abort: AbortController | null = null;
  #abortReason: ConnectError | null = null;

  constructor(
    settings: ServerCallSettings,
    session: h2.Session,
    head: CallHead,
    host: HandlerHost,
  ) {
    super(settings);
    this.#session = session;
    this.#head = head;
    this.#host = host;
  }

  protected get time(): Time {
    return this.#host.time;
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
    return formatAddress(this.#session.socket.remoteAddr);
  }

  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController();
      if (this.#abortReason !== null) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  now(): number {
    return this.#host.time.clock.now();
  }

  remainingMs(): number | undefined {
    return this.#deadline === Infinity
      ? undefined
      : Math.max(0, Math.ceil(this.#deadline - this.#host.time.clock.now()));
  }

  limit(ms: number): void {
    const end = this.now() + ms;
    if (this.finished || end >= this.#deadline) return;
    this.#deadline = end;
    if (ms === 0) this.#failLate();
    else this.#wake(ms);
  }

  // ---- the engine's events ---------------------------------------------------------------------

  onHeaders(block: FieldBlock, end: boolean): void {
    // Trailers of a request carry nothing in gRPC.
    if (this.#block !== undefined) return;
    this.#block = block;
    const head = this.#head;
    if (this.#host.watch !== null || this.settings.telemetry) this.#follow();
    if (head.rejection !== null) {
      this.#rejected(head.rejection);
      return this.reject(head.rejection, end);
    }
    const { defaultTimeout, maxTimeout } = this.settings;
    const timeout = head.timeoutMs < 0 ? defaultTimeout : Math.min(head.timeoutMs, maxTimeout);
    if (timeout !== Infinity) {
      this.#deadline = this.#host.time.clock.now() + timeout;
      if (timeout === 0) return this.#failLate();
      this.#wake(timeout);
    }
    if (!this.method.clientStreams) {
      if (!end) this.#watchRequest(0);
      return;
    }
    this.#requests = new MessageQueue<object>(
      (size) => this.#requestTaken(size),
      () => this.ignoreInput(),
      this.#host.time.timers,
    );
    this.#start(this.#requests);
  }

  #follow(): void {
    const { authority } = this.#block.note as h2.RequestHead;
    this.#followed = followCall(this.#host.watch, this.settings.telemetry, this.#host.time.clock, {
      method: this.#head.route?.method,
      protocolName: "grpc",
      fields: this.#block.fields,
      authority,
      peer: this.peer,
    });
  }

  #rejected(fields: readonly string[]): void {
    const status = lastField(fields, "grpc-status");
    this.#followed?.ended(status === undefined ? Code.Internal : Number(status), null);
  }

  override onData(buf: Uint8Array, start: number, end: number): void {
    super.onData(buf, start, end);
    if (!this.finished) this.#watchRequest(end - start);
  }

  protected get codec(): Codec {
    return this.method.input;
  }

  protected get encoding(): string {
    return this.#head.encoding;
  }

  get requestEncoding(): string {
    return this.#head.encoding;
  }

  get acceptedEncodings(): readonly string[] {
    return this.#head.acceptedEncodings;
  }

  protected get noun(): string {
    return "request";
  }

  protected override get begunMessages(): BegunMessages {
    return begunMessagesOf(this.host);
  }

  protected onMessage(message: object, size: number): void {
    if (this.finished) return;
    if (this.#requests !== null) {
      this.queued(size);
      this.#requests.push(message, size);
    } else if (this.#request === undefined) this.#request = message;
    else this.#failCount("more");
  }

  protected onFault(error: ConnectError): void {
    if (error.code !== Code.ResourceExhausted) return this.fail(error);
    // In grpc-go's words: clients tell from them that the limit is not their own.
    this.fail(new ConnectError(`grpc: ${error.rawMessage}`, error.code));
  }

  protected onMessagesEnd(): void {
    if (this.finished) return;
    this.#watch = null;
    if (this.midMessage) {
      this.fail(new ConnectError("request ended inside a message", Code.Internal));
    } else if (this.#requests !== null) this.#requests.end();
    else if (this.#request === undefined) this.#failCount("none");
    else this.#start(this.#request);
  }

  #failCount(count: string): void {
    this.fail(
      new ConnectError(
        `${this.method.path} takes one request message, got ${count}`,
        Code.Unimplemented,
      ),
    );
  }

  #requestTaken(size: number): void {
    this.dequeued(size);
    // The kept input may end in the middle of a message, which the client has to complete now.
    if (this.midMessage && !this.finished) this.#watchRequest(0);
  }

  // ---- waits -----------------------------------------------------------------------------------

  /** Whether something has to come: the one request, or the rest of a message. */
  get #awaitsClient(): boolean {
    return this.#requests === null ? !this.#handling : this.midMessage;
  }

  /** `n` bytes came. A message that has to come must come as fast as bodies of requests must. */
  #watchRequest(n: number): void {
    const watch = this.#watch;
    if (!this.#awaitsClient) this.#watch = null;
    else if (watch === null) {
      this.#watch = SOON;
      if (unwatched.push(this) === 1) queueMicrotask(watchAll);
    } else if (watch !== SOON) {
      const { limits } = this.#host;
      if (watch.heard(n, this.host.now, limits, this.holdsBack)) return;
      this.#failSlow(
        `the request must come with ${limits.minBodyRate} bytes a second: limits.minBodyRate`,
      );
    }
  }

  /** Begins to watch the client, if the turn has not brought what was waited for. */
  watch(): void {
    if (this.#watch !== SOON) return;
    this.#watch = null;
    if (this.finished || !this.#awaitsClient) return;
    this.#watch = new RequestWatch(this.host.now);
    const { bodyTimeout } = this.#host.limits;
    if (bodyTimeout > 0) this.#wake(bodyTimeout);
  }

  /** Sees to it that `onTimeout` is called in `ms` milliseconds at the latest. */
  #wake(ms: number): void {
    const timer = this.#timer ??= new CallTimer(this);
    const { timers } = this.#host.time;
    if (timer.dueTick !== 0) {
      if (timers.remaining(timer) <= ms) return;
      timers.remove(timer);
    }
    timers.add(timer, ms);
  }

  onTimeout(): void {
    const now = this.#host.time.clock.now();
    if (now >= this.#deadline) return this.#failLate();
    const { limits } = this.#host;
    if (!this.#awaitsClient) this.#watch = null;
    if (this.#watch !== null && this.#watch !== SOON && limits.bodyTimeout > 0) {
      const left = this.#watch.left(now, limits, this.holdsBack);
      if (left > 0) this.#wake(left);
      else {
        return this.#failSlow(
          `the request must come without pauses of ${limits.bodyTimeout} ms: limits.bodyTimeout`,
        );
      }
    }
    if (this.#deadline !== Infinity) this.#wake(this.#deadline - now);
  }

  #failLate(): void {
    this.fail(new ConnectError("the deadline passed", Code.DeadlineExceeded));
  }

  #failSlow(message: string): void {
    this.fail(new ConnectError(message, Code.DeadlineExceeded));
  }

  // ---- the handler -----------------------------------------------------------------------------

  #start(request: object): void {
    if (!this.#host.handlerStarted()) {
      return this.fail(new ConnectError("the server is busy", Code.Unavailable));
    }
    this.handlerStarted();
    this.#handling = true;
    if (this.#followed === null) this.#serve(request);
    else this.#followed.run(() => this.#serve(request));
  }

  #serve(request: object): void {
    const context = callContext(this);
    if (this.settings.propagate) runFor(context, () => this.#handle(request, context));
    else this.#handle(request, context);
  }

  #handle(request: object, context: CallContext): void {
    let result: unknown;
    try {
      result = this.#head.route!.handler!(request, context);
      if (!this.method.serverStreams && isThenable(result)) {
        result.then(
          (message) => this.#reply(message),
          (error) => this.#handlerFailed(error),
        );
        return;
      }
    } catch (error) {
      return this.#handlerFailed(error);
    }
    if (this.method.serverStreams) this.#replyAll(result);
    else this.#reply(result);
  }

  /** The handler's work is over. */
  #handled(): void {
    if (!this.#handling) return;
    this.#handling = false;
    this.handlerEnded();
    this.#host.handlerEnded();
  }

  #reply(message: unknown): void {
    // A thenable may call back as often as it likes.
    if (!this.#handling) return;
    this.#handled();
    if (this.finished) return;
    try {
      this.sendReply(message);
    } catch (error) {
      return this.#failHandler(error);
    }
    this.finish();
  }

  #handlerFailed(error: unknown): void {
    if (!this.#handling) return;
    this.#handled();
    this.#failHandler(error);
  }

  #failHandler(error: unknown): void {
    const status = toStatusError(error);
    if (status !== error && !(this.finished && isAbort(error))) this.tellError(error);
    this.fail(status);
  }

  async #replyAll(result: unknown): Promise<void> {
    try {
      const source = isThenable(result) ? await result : result;
      if (this.finished) return;
      const responses = this.#responses = iteratorOf(source, this.method);
      for (;;) {
        let next: IteratorResult<unknown>;
        try {
          next = await responses.next();
        } catch (error) {
          // A source that failed has ended itself.
          this.#responses = null;
          throw error;
        }
        if (this.finished) return;
        if (next.done) break;
        const room = this.sendReply(next.value) ?? ready();
        if (room !== undefined) await room;
        if (this.finished) return;
      }
      this.#responses = null;
      this.finish();
    } catch (error) {
      this.#failHandler(error);
    } finally {
      if (!this.#ending) this.#handled();
    }
  }

  /** Ends the responses of a handler whose call is over. It counts as long as that takes. */
  async #endResponses(responses: AsyncIterator<unknown>): Promise<void> {
    this.#ending = true;
    try {
      await responses.return?.();
    } catch (error) {
      if (toStatusError(error) !== error && !isAbort(error)) this.tellError(error);
    }
    this.#handled();
  }

  protected tellError(error: unknown): void {
    tellHandlerError(error, this.method.path, this.settings.onError, this.#host.onError);
  }

  protected onFinished(reason: ConnectError | null): void {
    if (this.#timer !== null) this.#host.time.timers.remove(this.#timer);
    if (this.#followed !== null) this.#followed.ended(reason?.code ?? 0, reason, this);
    if (reason === null) return this.#requests?.end();
    this.#abortReason = reason;
    this.#requests?.fail(reason);
    if (this.#abort !== null) abort(this.#abort, reason);
    const responses = this.#responses;
    this.#responses = null;
    if (responses === null) return;
    if (this.#followed === null) this.#endResponses(responses);
    else this.#followed.run(() => this.#endResponses(responses));
  }
}
