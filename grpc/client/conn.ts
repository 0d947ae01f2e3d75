import type {
  DescMessage,
  DescMethodStreaming,
  DescMethodUnary,
  MessageInitShape,
} from "@bufbuild/protobuf";
import type { ContextValues, StreamResponse, Transport, UnaryResponse } from "@connectrpc/connect";
import { checkTime, SYSTEM_TIME, type Time } from "../../http/engine.ts";
import { methodFor } from "../wire/method.ts";
import type { CallContext } from "../wire/call_context.ts";
import { callAround, callOptions } from "../wire/propagation.ts";
import type { CallOptions } from "./call_options.ts";
import { Channel, closedError } from "./channel.ts";
import { handled, rejectSoon } from "./handled.ts";
import { type InterceptedHost, interceptStream, interceptUnary } from "./intercepted_call.ts";
import { InterceptedStream } from "./intercepted_stream.ts";
import {
  type ClientOptions,
  type Settings,
  settingsOf,
  targetsOf,
  webTargetsOf,
} from "./options.ts";
import { WebChannel } from "../web_client/channel.ts";
import { Policies } from "./policies.ts";
import { refuseEarlyReads, StreamCall, type StreamHandle } from "./stream_call.ts";
import type { ConnState } from "../balancing/state.ts";
import type { ConnStats } from "../balancing/stats.ts";
import { UnaryCall } from "./unary_call.ts";
import { FollowedClientCall } from "../telemetry/client_call.ts";

/** Whether a value is a connection. */
let isConn: (value: unknown) => boolean;
/** Makes a unary call. */
let callUnary: (
  conn: Conn,
  method: DescMethodUnary,
  request: object,
  options: CallOptions,
) => Promise<object>;
/**
 * Opens a streaming call for one who writes and reads by hand; `request` is the only one, sent at once,
 * for a method that takes one.
 */
let openStream: (
  conn: Conn,
  method: DescMethodStreaming,
  options: CallOptions,
  request: object | null,
) => Promise<StreamHandle>;
export { callUnary, isConn, openStream };

/** The clocks of clients that do not go by the system's, by their options. */
const times = new WeakMap<ClientOptions, Time>();

/**
 * Connections to the targets of a client, and a Connect `Transport`. Calls run side by side on one
 * HTTP/2 connection a target; each new call goes to the next connected target in turn.
 */
export class Conn implements Transport, AsyncDisposable {
  readonly #settings: Settings;
  readonly #channel: Channel | WebChannel;
  readonly #host: InterceptedHost;
  #targets: readonly { readonly text: string }[];

  /** See {@linkcode newClient}. */
  constructor(options: ClientOptions) {
    const settings = settingsOf(options);
    const { maxReceiveSize, maxSendSize, compress, compressMinSize, encoding } = settings;
    const { interceptors, serviceConfig, retry, telemetry } = settings;
    const time = times.get(options) ?? SYSTEM_TIME;
    const { web } = settings;
    this.#settings = settings;
    this.#targets = web?.targets ?? settings.targets;
    const policies = serviceConfig === null && !settings.configurable
      ? null
      : new Policies(retry.maxAttempts, serviceConfig);
    if (policies !== null) policies.known = !settings.configurable;
    const channel = this.#channel = web === null
      ? new Channel(settings, time, (config) => policies?.use(config))
      : new WebChannel(web, time);
    const followed = {
      clock: time.clock,
      protocolName: channel.protocol,
      get authority() {
        return channel.authority;
      },
    };
    this.#host = {
      time,
      channel,
      policies,
      methodOf: channel instanceof WebChannel ? (desc) => channel.methodOf(desc) : methodFor,
      maxReceiveSize,
      maxSendSize,
      maxKept: retry.bufferSize,
      compress,
      compressMinSize,
      follow: telemetry === null
        ? undefined
        : (method) => new FollowedClientCall(telemetry, followed, method),
      encoding,
      interceptors,
      protocolName: channel.protocol,
      get authority() {
        return channel.authority;
      },
      urlOf: (method) => channel.urlOf(method),
    };
  }

  static {
    isConn = (value) => typeof value === "object" && value !== null && #host in value;
    callUnary = (conn, method, request, options) => conn.#callUnary(method, request, options);
    openStream = (conn, method, options, request) => conn.#openStream(method, options, request);
  }

  #callUnary(method: DescMethodUnary, request: object, options: CallOptions): Promise<object> {
    const given = this.#withDefaults(options);
    if (this.#host.interceptors.length === 0) {
      return new UnaryCall(this.#host, this.#host.methodOf(method), given, request).run();
    }
    return handled(
      interceptUnary(this.#host, method, request as never, given)
        .then((response) => response.message),
    );
  }

  async #openStream(
    method: DescMethodStreaming,
    options: CallOptions,
    request: object | null,
  ): Promise<StreamHandle> {
    const given = this.#withDefaults(options);
    if (this.#host.interceptors.length === 0) {
      const call = new StreamCall(this.#host, this.#host.methodOf(method), given, request);
      await call.open();
      if (call.halfDuplex) refuseEarlyReads(call, methodFor(method).path);
      return call;
    }
    const call = new InterceptedStream(this.#host.time);
    const opened = call.open(this.#host, method, given);
    if (request !== null) {
      call.write(request);
      call.closeWrite();
    }
    await opened;
    return call;
  }

  /** The options with this client's default deadline, and those of the call they are made for. */
  #withDefaults(options: CallOptions): CallOptions {
    const { defaultTimeout } = this.#settings;
    const given = options.timeout !== undefined || defaultTimeout === Infinity
      ? options
      : { ...options, timeout: defaultTimeout };
    const around = callAround();
    return around === undefined ? given : within(around, given);
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
    try {
      const options = this.#connectOptions(method, signal, timeoutMs, header);
      return interceptUnary(this.#host, method, input, options, contextValues);
    } catch (error) {
      return rejectSoon(error);
    }
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
    try {
      const options = this.#connectOptions(method, signal, timeoutMs, header);
      return interceptStream(this.#host, method, input, options, contextValues);
    } catch (error) {
      return rejectSoon(error);
    }
  }

  #connectOptions(
    method: DescMethodUnary | DescMethodStreaming,
    signal: AbortSignal | undefined,
    timeoutMs: number | undefined,
    headers: HeadersInit | undefined,
  ): CallOptions {
    checkTime(`call ${methodFor(method).path}`, "timeoutMs", timeoutMs);
    return this.#withDefaults({
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
      ...(signal === undefined ? {} : { signal }),
      ...(headers === undefined ? {} : { headers }),
    });
  }

  /** Whether there is a server for calls; `IDLE` with gRPC-Web and Connect until it is closed. */
  get state(): ConnState {
    return this.#channel.state;
  }

  /**
   * The state now, and each after it, for `for await`; ends with `SHUTDOWN`. One who reads slowly misses
   * the oldest of more than 16.
   */
  watchState(): AsyncIterableIterator<ConnState> {
    return this.#channel.states.follow();
  }

  /** The client at this moment: its servers, their connections and calls. */
  stats(): ConnStats {
    return this.#channel.stats;
  }

  /**
   * Takes other servers, as {@linkcode ClientOptions.targets}. Servers that stay keep their
   * connections; calls on the others end where they are; a resolver is asked no more. Throws `TypeError` on a wrong target, with
   * nothing changed.
   */
  setTargets(targets: readonly string[]): void {
    const { connection, lookup } = this.#settings;
    const channel = this.#channel;
    if (channel instanceof WebChannel) {
      const read = this.#targets = webTargetsOf(targets, connection);
      channel.retarget(read);
    } else {
      const read = this.#targets = targetsOf(targets, connection, lookup);
      channel.retarget(read);
    }
  }

  /**
   * Ends all connections; calls that run or wait end with CANCELLED. Later calls fail. Resolves when
   * the connections are gone, after half a second at most. May be called again.
   */
  close(): Promise<void> {
    this.#host.policies?.close(closedError());
    return this.#channel.close();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Shows the targets. */
  [Symbol.for("Deno.customInspect")](): string {
    return `Conn { targets: ${
      this.#targets.map(({ text }) => text).join(", ") || "by a resolver"
    } }`;
  }
}

/** Options of a call made for another: they end with it, and by its deadline. */
function within(around: CallContext, options: CallOptions): CallOptions {
  const { signal, timeout = Infinity } = callOptions(around);
  return {
    ...options,
    timeout: Math.min(options.timeout ?? Infinity, timeout),
    signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]),
  };
}

/**
 * Makes a client. It connects at once, in the background: a client that is never used keeps no
 * program from ending. Throws `TypeError` on a wrong configuration.
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

/** {@linkcode newClient} by another clock. */
export function newClientAt(time: Time, options: ClientOptions): Conn {
  const own = { ...options };
  times.set(own, time);
  return new Conn(own);
}
