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
  type Transport,
  type UnaryResponse,
} from "@connectrpc/connect";
import { runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { checkTls, type h2 } from "../../http/engine.ts";
import { ConnectionLostError, DialError, type DialTlsOptions } from "../../http/mod.ts";
import type { BackoffOptions } from "./backoff.ts";
import { type CallOptions, type Channel, ClientCall } from "./call.ts";
import { DEFAULT_MAX_RECEIVE_SIZE, DEFAULT_STREAM_WINDOW } from "../wire/message_stream.ts";
import { methodFor } from "../wire/method.ts";
import { type Address, parseTarget, resolveTarget, type Target } from "./resolver.ts";
import { Subchannel, type SubchannelOptions } from "./subchannel.ts";

/** Settings of {@linkcode newClient}. */
export interface ClientOptions {
  /**
   * Servers: `host:port`, `dns://host:port` (every address of the name) or `unix:path`. Calls go to
   * them in turn.
   */
  readonly targets: readonly string[];
  /** Use TLS; an object adds trusted authorities or a client certificate. @default {false} */
  readonly tls?: boolean | DialTlsOptions;
  /** Octets a received message may have. @default {4194304} */
  readonly maxReceiveSize?: number;
  /** Octets a sent message may have. @default unlimited */
  readonly maxSendSize?: number;
  /** Compress requests of 1 KiB and more with gzip. Servers have to understand it. @default {false} */
  readonly compress?: boolean;
  /** Milliseconds for opening a connection. @default {20000} */
  readonly connectTimeout?: number;
  /** PING to find dead connections. Off unless given. */
  readonly keepalive?: h2.KeepaliveOptions;
  /** Pauses between connection attempts. */
  readonly backoff?: BackoffOptions;
  /** Deadline of calls that give none, in milliseconds. @default none */
  readonly defaultTimeout?: number;
  /** Put before this library's name in `user-agent`. */
  readonly userAgent?: string;
  /** Connect interceptors; the first is outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Flow-control windows in octets, and other HTTP/2 settings. */
  readonly http2?: h2.ConnectionOptions;
}

/** Sent as `user-agent`, in the form gRPC asks for. */
const USER_AGENT = "grpc-typescript-sluice/0.1";

/** Milliseconds between two look-ups of one name at least. */
const MIN_RESOLVE_INTERVAL_MS = 30_000;

/**
 * Connections to the targets of a client, and a Connect `Transport`. Calls run side by side on one
 * HTTP/2 connection a target; each new call goes to the next target in turn.
 */
export class Conn implements Transport, Channel, AsyncDisposable {
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  readonly compress: boolean;
  readonly #targets: readonly Target[];
  readonly #options: SubchannelOptions;
  readonly #defaultTimeout: number | undefined;
  readonly #interceptors: Interceptor[];
  #subchannels: Subchannel[] = [];
  #next = 0;
  /** Set while names are looked up for the first time: calls wait. */
  #resolving: Promise<void> | null = null;
  #resolvedAt = -Infinity;
  #closed = false;

  /** See {@linkcode newClient}. */
  constructor(options: ClientOptions) {
    const { targets } = options;
    if (!Array.isArray(targets) || targets.length === 0) {
      throw new TypeError(`Cannot make a client without targets: give targets: ["host:port", …]`);
    }
    this.#targets = targets.map(parseTarget);
    const tls = options.tls === true ? {} : options.tls ?? false;
    if (tls !== false) checkTls(tls, "make a client");
    this.maxReceiveSize = positive(
      "maxReceiveSize",
      options.maxReceiveSize,
      DEFAULT_MAX_RECEIVE_SIZE,
    );
    this.maxSendSize = positive("maxSendSize", options.maxSendSize, Infinity);
    this.compress = options.compress ?? false;
    this.#defaultTimeout = options.defaultTimeout;
    this.#interceptors = [...options.interceptors ?? []];
    this.#options = {
      tls: tls === false ? null : { ...tls, alpnProtos: ["h2"] },
      compress: this.compress,
      connectTimeout: positive("connectTimeout", options.connectTimeout, 20_000),
      userAgent: options.userAgent ? `${options.userAgent} ${USER_AGENT}` : USER_AGENT,
      backoff: options.backoff ?? {},
      session: {
        streamWindow: DEFAULT_STREAM_WINDOW,
        // A server that accepts and says nothing has not been connected to.
        prefaceTimeout: positive("connectTimeout", options.connectTimeout, 20_000),
        ...options.http2,
        ...(options.keepalive === undefined ? {} : { keepalive: options.keepalive }),
      },
    };
    if (this.#targets.every((target) => !target.dns)) {
      this.#subchannels = this.#targets.map((target) => this.#subchannel(target.address));
      this.#resolvedAt = Infinity;
    }
  }

  #subchannel(address: Address): Subchannel {
    return new Subchannel(address, this.#options);
  }

  // ---- Channel ---------------------------------------------------------------------------------

  /** Gives a call to the next connection in turn. For the calls of this client only. */
  assign(call: ClientCall, after?: Subchannel): void {
    if (this.#closed) {
      return call.fail(new ConnectError("the client was closed", Code.Canceled));
    }
    if (this.#subchannels.length === 0) {
      this.#resolve().then(
        () => this.assign(call),
        (cause) =>
          call.fail(unavailable("no target could be resolved", unsent("no address", cause))),
      );
      return;
    }
    const chosen = this.#pick(call.options.waitForReady === true, after);
    if (chosen === null) return call.fail(this.#failure());
    call.waitsFor = chosen;
    chosen.start(call);
  }

  /** The next one in turn that is not known to be unreachable; null if all are. */
  #pick(waitForReady: boolean, after: Subchannel | undefined): Subchannel | null {
    const all = this.#subchannels;
    const first = this.#next;
    this.#next = (first + 1) % all.length;
    let recovering: Subchannel | null = null;
    for (let i = 0; i < all.length; i++) {
      const candidate = all[(first + i) % all.length]!;
      if (candidate === after || candidate.backingOff) continue;
      if (!candidate.recovering) return candidate;
      // It has to show that it is back before calls are trusted to it, unless there is no other.
      candidate.connect();
      recovering ??= candidate;
    }
    if (recovering !== null) return recovering;
    if (!waitForReady) {
      this.#refresh();
      return null;
    }
    return this.#soonest();
  }

  #soonest(): Subchannel | null {
    let soonest = this.#subchannels[0]!;
    for (const one of this.#subchannels) if (one.retryIn < soonest.retryIn) soonest = one;
    return soonest;
  }

  #failure(): ConnectError {
    const errors = this.#subchannels.map((one) => one.lastError).filter((error) => error !== null);
    const last = errors[errors.length - 1];
    return unavailable(
      this.#subchannels.length === 1
        ? last?.message ?? "no connection"
        : `none of ${this.#subchannels.length} targets can be reached; the last error: ${last?.message}`,
      // Whatever the connection went through, nothing of the call was on it.
      last instanceof DialError ? last : unsent(last?.message ?? "no connection", last),
    );
  }

  /** Looks all names up; keeps the connections whose addresses are still there. */
  #resolve(): Promise<void> {
    return this.#resolving ??= (async () => {
      this.#resolvedAt = performance.now();
      const results = await Promise.allSettled(this.#targets.map(resolveTarget));
      this.#resolving = null;
      const addresses = results.flatMap((r) => r.status === "fulfilled" ? r.value : []);
      if (addresses.length === 0) throw (results[0] as PromiseRejectedResult).reason;
      if (this.#closed) return;
      const old = new Map(this.#subchannels.map((one) => [keyOf(one.address), one]));
      this.#subchannels = addresses.map((address) => {
        const kept = old.get(keyOf(address));
        old.delete(keyOf(address));
        return kept ?? this.#subchannel(address);
      });
      for (const gone of old.values()) gone.close();
    })();
  }

  /** Names may have moved: looks them up again, not too often, in the background. */
  #refresh(): void {
    if (performance.now() - this.#resolvedAt < MIN_RESOLVE_INTERVAL_MS) return;
    this.#resolve().catch(() => {});
  }

  // ---- Transport -------------------------------------------------------------------------------

  /** Runs a unary call without Connect's request and response objects. */
  call(
    method: DescMethodUnary,
    request: object,
    options: CallOptions,
  ): Promise<object> {
    if (this.#interceptors.length === 0) {
      return new ClientCall(this, methodFor(method), this.withDefaults(options)).unary(request);
    }
    return this.unary(method, options.signal, options.timeout, options.headers, request as never)
      .then((response) => {
        options.onHeader?.(response.header);
        options.onTrailer?.(response.trailer);
        return response.message;
      });
  }

  /** A streaming call for one who writes and reads by hand. Interceptors do not see it. */
  async openStream(method: DescMethodStreaming, options: CallOptions): Promise<ClientCall> {
    const call = new ClientCall(this, methodFor(method), this.withDefaults(options));
    await call.open();
    return call;
  }

  /** The options with this client's default deadline. */
  withDefaults(options: CallOptions): CallOptions {
    return options.timeout !== undefined || this.#defaultTimeout === undefined
      ? options
      : { ...options, timeout: this.#defaultTimeout };
  }

  /** Connect's way of making a unary call. */
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: MessageInitShape<I>,
    contextValues?: ContextValues,
  ): Promise<UnaryResponse<I, O>> {
    const timeout = timeoutOf(timeoutMs, this.#defaultTimeout);
    return runUnaryCall<I, O>({
      interceptors: this.#interceptors,
      ...(signal === undefined ? {} : { signal }),
      req: {
        stream: false,
        service: method.parent,
        method,
        requestMethod: "POST",
        url: this.#url(method),
        header: new Headers(header),
        contextValues: contextValues ?? createContextValues(),
        message: input,
      },
      next: async (req) => {
        let responseHeader = new Headers();
        let trailer = new Headers();
        const message = await new ClientCall(this, methodFor(method), {
          signal: req.signal,
          headers: req.header,
          ...(timeout === undefined ? {} : { timeout }),
          onHeader: (headers) => responseHeader = headers,
          onTrailer: (headers) => trailer = headers,
        }).unary(req.message);
        return {
          stream: false,
          service: method.parent,
          method,
          header: responseHeader,
          trailer,
          message: message as MessageShape<O>,
        };
      },
    });
  }

  /** Connect's way of making a streaming call. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    header: HeadersInit | undefined,
    input: AsyncIterable<MessageInitShape<I>>,
    contextValues?: ContextValues,
  ): Promise<StreamResponse<I, O>> {
    const timeout = timeoutOf(timeoutMs, this.#defaultTimeout);
    return runStreamingCall<I, O>({
      interceptors: this.#interceptors,
      ...(signal === undefined ? {} : { signal }),
      req: {
        stream: true,
        service: method.parent,
        method,
        requestMethod: "POST",
        url: this.#url(method),
        header: new Headers(header),
        contextValues: contextValues ?? createContextValues(),
        message: input,
      },
      next: async (req) => {
        const call = new ClientCall(this, methodFor(method), {
          signal: req.signal,
          headers: req.header,
          ...(timeout === undefined ? {} : { timeout }),
        });
        await call.open();
        pump(req.message, call);
        return {
          stream: true,
          service: method.parent,
          method,
          header: await call.header(),
          trailer: call.trailer,
          message: call.messages as AsyncIterable<object> as AsyncIterable<MessageShape<O>>,
        };
      },
    });
  }

  #url(method: DescMethodUnary | DescMethodStreaming): string {
    const scheme = this.#options.tls === null ? "http" : "https";
    return `${scheme}://${this.#targets[0]!.address.authority}${methodFor(method).path}`;
  }

  /** Ends all connections; calls that run end with CANCELLED. Later calls fail. May be called again. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#subchannels.map((one) => one.close()));
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Sends what an iterable gives. Its failure cancels the call; a failed call ends the iterable. */
async function pump(messages: AsyncIterable<unknown>, call: ClientCall): Promise<void> {
  try {
    for await (const message of messages) await call.write(message as object);
    call.closeWrite();
  } catch (error) {
    call.abort(error);
  }
}

function unsent(message: string, cause: unknown): ConnectionLostError {
  return new ConnectionLostError(message, "no", { cause });
}

function keyOf(address: Address): string {
  return `${address.path ?? ""}|${address.hostname}|${address.port}`;
}

function unavailable(message: string, cause: unknown): ConnectError {
  return new ConnectError(message, Code.Unavailable, undefined, undefined, cause);
}

/** Connect's rule: none given, the default; zero or less, none. */
function timeoutOf(
  timeoutMs: number | undefined,
  otherwise: number | undefined,
): number | undefined {
  if (timeoutMs === undefined) return otherwise;
  return timeoutMs <= 0 ? undefined : timeoutMs;
}

function positive(name: string, value: number | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === "number" && value > 0) return value;
  throw new TypeError(`Cannot use ${name} as it must be a number > 0: current value is ${value}`);
}

/**
 * Makes a client. Connections are opened by the first calls. Throws `TypeError` on a wrong
 * configuration.
 *
 * @example
 * ```ts
 * import { newClient } from "@sluice/sluice/grpc";
 *
 * await using conn = newClient({ targets: ["127.0.0.1:50051"] });
 * ```
 */
export function newClient(options: ClientOptions): Conn {
  return new Conn(options);
}
