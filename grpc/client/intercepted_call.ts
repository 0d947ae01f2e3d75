/**
 * Calls that go through Connect's interceptors: those of Connect's clients, and those of service
 * clients if the client has interceptors.
 *
 * @module
 */
import type {
  DescMessage,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  type Interceptor,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { abortable } from "@std/async";
import { tell, type Time, Timer } from "../../http/engine.ts";
import { methodFor } from "../wire/method.ts";
import type { CallHost } from "./call.ts";
import { type CallOptions, WAIT_FOR_READY } from "./call_options.ts";
import { StreamCall } from "./stream_call.ts";
import { UnaryCall } from "./unary_call.ts";

/** Parts and settings that all calls with interceptors share. */
export interface InterceptedHost extends CallHost {
  readonly interceptors: Interceptor[];
  /** URL of a path, as interceptors see it. */
  url(path: string): string;
}

/** Signal and deadline of a call. */
interface CallLimits {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds that are left. */
  readonly left: number;
  limit<T>(run: () => Promise<T>): Promise<T>;
}

function limitsOf(host: InterceptedHost, options: CallOptions): CallLimits {
  if (host.interceptors.length > 0) return new CallDeadline(options, host.time);
  // Without interceptors the call itself keeps to them.
  return { signal: options.signal, left: options.timeout ?? Infinity, limit: (run) => run() };
}

/** The deadline of a call with all its interceptors do: they may wait, and call several times. */
class CallDeadline extends Timer implements CallLimits {
  readonly #time: Time;
  readonly #timeout: number;
  readonly #end: number;
  readonly #controller = new AbortController();
  readonly #signal: AbortSignal;

  constructor({ timeout = Infinity, signal }: CallOptions, time: Time) {
    super();
    this.#time = time;
    this.#timeout = timeout;
    this.#end = time.clock.now() + timeout;
    this.#signal = signal === undefined
      ? this.#controller.signal
      : AbortSignal.any([signal, this.#controller.signal]);
  }

  /** Aborted when the call is over time, or given up. */
  get signal(): AbortSignal {
    return this.#signal;
  }

  get left(): number {
    return Math.max(0, Math.ceil(this.#end - this.#time.clock.now()));
  }

  onTimeout(): void {
    this.#controller.abort(new ConnectError("the deadline passed", Code.DeadlineExceeded));
  }

  /** The result of `run`, unless the time is over before: interceptors may hang. */
  async limit<T>(run: () => Promise<T>): Promise<T> {
    if (this.#timeout !== Infinity) this.#time.timers.add(this, this.#timeout);
    try {
      return await abortable(run(), this.#signal);
    } catch (error) {
      throw ConnectError.from(error, this.#signal.aborted ? Code.Canceled : Code.Unknown);
    } finally {
      this.#time.timers.remove(this);
    }
  }
}

function valuesOf(options: CallOptions, given: ContextValues | undefined): ContextValues {
  const values = given ?? createContextValues();
  return options.waitForReady === undefined
    ? values
    : values.set(WAIT_FOR_READY, options.waitForReady);
}

/** Runs a call with one request and one response. */
export async function interceptUnary<I extends DescMessage, O extends DescMessage>(
  host: InterceptedHost,
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  options: CallOptions,
  contextValues?: ContextValues,
): Promise<UnaryResponse<I, O>> {
  const limits = limitsOf(host, options);
  // The answer to the last call behind the interceptors.
  let header: Headers | null = null;
  let trailer: Headers | null = null;
  const next = async (req: UnaryRequest<I, O>): Promise<UnaryResponse<I, O>> => {
    header = trailer = null;
    const call = new UnaryCall(host, methodFor(method), {
      signal: req.signal,
      headers: req.header,
      timeout: limits.left,
      waitForReady: req.contextValues.get(WAIT_FOR_READY),
      onHeader: (headers) => header = headers,
      onTrailer: (headers) => trailer = headers,
    }, req.message);
    const message = await call.run() as MessageShape<O>;
    return {
      stream: false,
      service: method.parent,
      method,
      header: header ?? new Headers(),
      trailer: trailer ?? new Headers(),
      message,
    };
  };
  const { onHeader, onTrailer } = options;
  try {
    const response = await limits.limit(() =>
      runUnaryCall<I, O>({
        interceptors: host.interceptors,
        ...(limits.signal === undefined ? {} : { signal: limits.signal }),
        req: {
          stream: false,
          service: method.parent,
          method,
          requestMethod: "POST",
          url: host.url(methodFor(method).path),
          header: new Headers(options.headers),
          contextValues: valuesOf(options, contextValues),
          message: input,
        },
        next,
      })
    );
    ({ header, trailer } = response);
    return response;
  } finally {
    if (header !== null) tell(onHeader, header);
    if (trailer !== null) tell(onTrailer, trailer);
  }
}

/** Starts a call of any other kind; resolves when the response begins. */
export async function interceptStream<I extends DescMessage, O extends DescMessage>(
  host: InterceptedHost,
  method: DescMethodStreaming<I, O>,
  input: AsyncIterable<MessageInitShape<I>>,
  options: CallOptions,
  contextValues?: ContextValues,
  events: { onOpen?(): void; onRequestsEnd?(error: unknown): void } = {},
): Promise<StreamResponse<I, O>> {
  const limits = limitsOf(host, options);
  const { path } = methodFor(method);
  return await limits.limit(() =>
    runStreamingCall<I, O>({
      interceptors: host.interceptors,
      ...(limits.signal === undefined ? {} : { signal: limits.signal }),
      req: {
        stream: true,
        service: method.parent,
        method,
        requestMethod: "POST",
        url: host.url(path),
        header: new Headers(options.headers),
        contextValues: valuesOf(options, contextValues),
        message: input,
      },
      next: async (req) => {
        const call = new StreamCall(host, methodFor(method), {
          ...options,
          signal: req.signal,
          headers: req.header,
          timeout: limits.left,
          waitForReady: req.contextValues.get(WAIT_FOR_READY),
        });
        await call.open();
        events.onOpen?.();
        pump(req.message, call).catch((error) => events.onRequestsEnd?.(error));
        return {
          stream: true,
          service: method.parent,
          method,
          header: await call.header(),
          trailer: call.trailer,
          message: call.messages as AsyncIterable<object> as AsyncIterable<MessageShape<O>>,
        };
      },
    })
  );
}

/** Sends what an iterable gives. Its failure cancels the call; a failed call ends the iterable. */
async function pump(messages: AsyncIterable<unknown>, call: StreamCall): Promise<void> {
  try {
    for await (const message of messages) await call.write(message as object);
    call.closeWrite();
  } catch (error) {
    call.abort(error);
    throw error;
  }
}
