import type { DescMessage, DescMethodStreaming, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse } from "@connectrpc/connect";
import type { Time } from "../../http/engine.ts";
import { markedMessage } from "../wire/intercept.ts";
import { MessageQueue } from "../wire/message_queue.ts";
import type { CallOptions } from "./call_options.ts";
import { handled, rejectSoon } from "./handled.ts";
import { type InterceptedHost, interceptStream } from "./intercepted_call.ts";
import { methodFor } from "../wire/method.ts";
import { refuseEarlyReads, type StreamHandle } from "./stream_call.ts";

/** A request on its way to the interceptors. */
interface Write extends PromiseWithResolvers<void> {
  readonly message: object;
}

/**
 * A streaming call that is written and read by hand and goes through interceptors: they see the
 * messages written, and give the messages read.
 */
export class InterceptedStream implements StreamHandle {
  readonly messages: MessageQueue<object>;
  readonly #writes: MessageQueue<Write>;
  /** Writes that have not been sent. */
  readonly #unsent = new Set<Write>();
  readonly #controller = new AbortController();
  readonly #opened = Promise.withResolvers<void>();
  #response: Promise<StreamResponse> | null = null;
  #trailer = new Headers();
  /** Resolves the wait for a reader. */
  #read: (() => void) | null = null;
  #writeClosed = false;
  /** Why nothing can be written any more. */
  #over: unknown = null;

  constructor({ timers }: Time) {
    this.messages = new MessageQueue<object>(
      () => this.#read?.(),
      () => this.cancel(),
      timers,
    );
    this.#writes = new MessageQueue<Write>(() => {}, () => {}, timers);
  }

  /** Starts the call; resolves when it is on its way. */
  open(
    host: InterceptedHost,
    method: DescMethodStreaming,
    options: CallOptions,
  ): Promise<void> {
    const { signal } = this.#controller;
    const response = interceptStream(
      host,
      method,
      this.#requests(method.input),
      {
        ...options,
        signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]),
      },
      undefined,
      {
        onOpen: (halfDuplex) => {
          if (halfDuplex && !this.#writeClosed) refuseEarlyReads(this, methodFor(method).path);
          this.#opened.resolve();
        },
        onRequestsEnd: (error) => this.#stopWriting(error),
      },
    );
    this.#response = handled(response);
    this.#receive(response);
    return handled(this.#opened.promise);
  }

  /** Requests for the interceptors, and behind them the call. */
  async *#requests(desc: DescMessage): AsyncGenerator<MessageInitShape<DescMessage>> {
    // An interceptor may want to see them before it goes on.
    this.#opened.resolve();
    for await (const write of this.#writes) {
      yield markedMessage(desc, write.message as MessageInitShape<DescMessage>);
      // The next is asked for: this one was sent.
      this.#unsent.delete(write);
      write.resolve();
    }
  }

  async #receive(opening: Promise<StreamResponse>): Promise<void> {
    try {
      const response = await opening;
      this.#trailer = response.trailer;
      this.#opened.resolve();
      for await (const message of response.message) {
        this.messages.push(message, 0);
        while (this.messages.pending) await new Promise<void>((resolve) => this.#read = resolve);
      }
      this.messages.end();
      this.#stopWriting(new ConnectError("the call is over", Code.Canceled));
    } catch (reason) {
      const error = ConnectError.from(reason);
      this.#opened.reject(error);
      this.messages.fail(error);
      this.#stopWriting(error);
    }
  }

  #stopWriting(error: unknown): void {
    this.#over ??= error;
    for (const write of this.#unsent) write.reject(this.#over);
    this.#unsent.clear();
  }

  write(message: object): Promise<void> {
    if (this.#over !== null) return rejectSoon(this.#over);
    if (this.#writeClosed) {
      return rejectSoon(new TypeError("Cannot write to a call as its request side was closed"));
    }
    const write = { message, ...Promise.withResolvers<void>() };
    this.#unsent.add(write);
    this.#writes.push(write, 0);
    return handled(write.promise);
  }

  closeWrite(): void {
    if (this.#writeClosed) return;
    this.#writeClosed = true;
    this.messages.refuse(null);
    this.#writes.end();
  }

  header(): Promise<Headers> {
    return handled(this.#response!.then((response) => response.header));
  }

  get trailer(): Headers {
    return this.#trailer;
  }

  cancel(): void {
    this.#controller.abort(new ConnectError("the call was cancelled", Code.Canceled));
    const { pending } = this.messages;
    if (pending) this.messages.discard(new ConnectError("the call was cancelled", Code.Canceled));
    this.#read?.();
  }
}
