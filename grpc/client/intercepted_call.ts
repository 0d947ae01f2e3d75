/**
 * Calls that go through Connect's interceptors: those of Connect's clients, and those of service
 * clients if the client has interceptors.
 *
 * @module
 */
import type {
  DescMessage,
  DescMethod,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextKey,
  type ContextValues,
  createContextValues,
  type Interceptor,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { abortable } from "@std/async";
import { checkTime, tell, type Time, Timer } from "../../http/engine.ts";
import { CALL, type CallInfo } from "../wire/call_info.ts";
import { intercept, InterceptedRequests, markedMessage, type Next } from "../wire/intercept.ts";
import type { Method } from "../wire/method.ts";
import type { CallHost } from "./call_host.ts";
import { type CallOptions, WAIT_FOR_READY } from "./call_options.ts";
import { StreamCall } from "./stream_call.ts";
import { UnaryCall } from "./unary_call.ts";

/** Parts and settings that all calls with interceptors share. */
export interface InterceptedHost extends CallHost {
  readonly interceptors: readonly Interceptor[];
  /** The method of a descriptor, with its codecs. */
  readonly methodOf: (desc: DescMethod) => Method;
  /** `grpc`, `grpc-web` or `connect`. */
  readonly protocolName: string;
  /** Host and port of the first target. */
  readonly authority: string;
  /** Where the first target has the method. */
  urlOf(method: Method): string;
}

/** Signal and deadline of a call. */
interface CallLimits {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds that are left. */
  readonly left: number;
  /** Moves the deadline nearer. */
  lower(ms: number): void;
  run<T>(run: () => Promise<T>): Promise<T>;
}

function limitsOf(host: InterceptedHost, options: CallOptions): CallLimits {
  if (host.interceptors.length > 0) return new CallDeadline(options, host.time);
  // Without interceptors the call itself keeps to them.
  const { signal, timeout = Infinity } = options;
  return { signal, left: timeout, lower() {}, run: (run) => run() };
}

/** The deadline of a call with all its interceptors do: they may wait, and call several times. */
class CallDeadline extends Timer implements CallLimits {
  readonly #time: Time;
  #end: number;
  /** Whether the interceptors are at work: until they give a response. */
  #running = false;
  readonly #controller = new AbortController();
  readonly #signal: AbortSignal;

  constructor({ timeout = Infinity, signal }: CallOptions, time: Time) {
    super();
    this.#time = time;
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

  lower(ms: number): void {
    const end = this.#time.clock.now() + ms;
    if (end >= this.#end) return;
    this.#end = end;
    if (this.#running) this.#start();
  }

  #start(): void {
    const { timers } = this.#time;
    if (this.dueTick !== 0) timers.remove(this);
    timers.add(this, this.left);
  }

  onTimeout(): void {
    this.#controller.abort(new ConnectError("the deadline passed", Code.DeadlineExceeded));
  }

  /** The result of `run`, unless the time is over before: interceptors may hang. */
  async run<T>(run: () => Promise<T>): Promise<T> {
    this.#running = true;
    this.#start();
    try {
      return await abortable(run(), this.#signal);
    } catch (error) {
      throw ConnectError.from(error, this.#signal.aborted ? Code.Canceled : Code.Unknown);
    } finally {
      this.#running = false;
      this.#time.timers.remove(this);
    }
  }
}

function valuesOf(
  host: InterceptedHost,
  method: Method,
  options: CallOptions,
  limits: CallLimits,
  given: ContextValues = createContextValues(),
): ContextValues {
  if (options.waitForReady !== undefined) given.set(WAIT_FOR_READY, options.waitForReady);
  if (host.interceptors.length === 0) return given;
  const { clock } = host.time;
  const started = clock.now();
  return new CallValues(given, {
    protocolName: host.protocolName,
    peer: host.authority,
    elapsedMs: () => clock.now() - started,
    timeoutMs: () => limits.left === Infinity ? undefined : limits.left,
    limitTimeout(ms) {
      checkTime(`limit ${method.path}`, "ms", ms);
      limits.lower(ms);
    },
  });
}

/** Values of a caller, who may use them for several calls, with the call beside them. */
class CallValues implements ContextValues {
  readonly #given: ContextValues;
  readonly #call: CallInfo;

  constructor(given: ContextValues, call: CallInfo) {
    this.#given = given;
    this.#call = call;
  }

  get<T>(key: ContextKey<T>): T {
    return key.id === CALL.id ? this.#call as T : this.#given.get(key);
  }

  set<T>(key: ContextKey<T>, value: T): this {
    this.#given.set(key, value);
    return this;
  }

  delete(key: ContextKey<unknown>): this {
    this.#given.delete(key);
    return this;
  }
}

/** Whether it is set at all: if not, the service config decides. */
const MAYBE_WAIT: ContextKey<boolean | undefined> = { ...WAIT_FOR_READY, defaultValue: undefined };

function waitForReadyOf(values: ContextValues): { waitForReady?: boolean } {
  const waitForReady = values.get(MAYBE_WAIT);
  return waitForReady === undefined ? {} : { waitForReady };
}

/** The interceptors of a client as Connect takes them: one, which holds them all. */
function chainOf(
  { interceptors }: InterceptedHost,
  method: Method,
): Interceptor[] {
  if (interceptors.length === 0) return [];
  return [(innermost) => async (request) => {
    if (!request.stream) return await intercept(method, interceptors, innermost)(request);
    const requests = new InterceptedRequests(method, request.message);
    const next: Next = (given) => {
      requests.called();
      return innermost(given);
    };
    const response = await intercept(method, interceptors, next)({ ...request, message: requests });
    // A stream's response is one: the chain has checked that.
    const { message } = response as StreamResponse;
    return { ...response as StreamResponse, message: endedBy(request.signal, message) };
  }];
}

/** Messages whose iterator is told when the call is over: Connect leaves it where it is. */
function endedBy<T>(signal: AbortSignal, messages: AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = messages[Symbol.asyncIterator]();
      const end = async (): Promise<void> => {
        try {
          await iterator.return?.();
        } catch {
          // The call has ended with an error of its own.
        }
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
      return iterator;
    },
  };
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
  const called = host.methodOf(method);
  // The answer to the last call behind the interceptors.
  let header: Headers | null = null;
  let trailer: Headers | null = null;
  const next = async (req: UnaryRequest<I, O>): Promise<UnaryResponse<I, O>> => {
    header = trailer = null;
    const call = new UnaryCall(host, called, {
      ...options,
      signal: req.signal,
      headers: req.header,
      timeout: limits.left,
      ...waitForReadyOf(req.contextValues),
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
    const response = await limits.run(() =>
      runUnaryCall<I, O>({
        interceptors: chainOf(host, called),
        ...(limits.signal === undefined ? {} : { signal: limits.signal }),
        req: {
          stream: false,
          service: method.parent,
          method,
          requestMethod: "POST",
          url: host.urlOf(called),
          header: new Headers(options.headers),
          contextValues: valuesOf(host, called, options, limits, contextValues),
          message: markedMessage(method.input, input),
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
  events: { onOpen?(halfDuplex: boolean): void; onRequestsEnd?(error: unknown): void } = {},
): Promise<StreamResponse<I, O>> {
  const limits = limitsOf(host, options);
  const called = host.methodOf(method);
  return await limits.run(() =>
    runStreamingCall<I, O>({
      interceptors: chainOf(host, called),
      ...(limits.signal === undefined ? {} : { signal: limits.signal }),
      req: {
        stream: true,
        service: method.parent,
        method,
        requestMethod: "POST",
        url: host.urlOf(called),
        header: new Headers(options.headers),
        contextValues: valuesOf(host, called, options, limits, contextValues),
        message: input,
      },
      next: async (req) => {
        const call = new StreamCall(host, called, {
          ...options,
          signal: req.signal,
          headers: req.header,
          timeout: limits.left,
          ...waitForReadyOf(req.contextValues),
        });
        await call.open();
        events.onOpen?.(call.halfDuplex);
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
