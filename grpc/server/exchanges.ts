import type { Registry } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import {
  checkBoolean,
  checkCallback,
  checkCount,
  checkTime,
  type ExchangeRouter,
  type FieldBlock,
  h2,
  type HandlerHost,
  type ServerWatch,
  type Time,
} from "../../http/engine.ts";
import type { ServerStream } from "../../http/mod.ts";
import { callHead } from "./call_head.ts";
import { code } from "../wire/code.ts";
import { checkEncoding } from "../wire/compression.ts";
import { GRPC_CONTENT_TYPE, grpcCodec } from "../wire/content_type.ts";
import { checkOrigins } from "../web/cors.ts";
import type { ServerErrorListener } from "../wire/handler_error.ts";
import { DEFAULT_MAX_RECEIVE_SIZE } from "../wire/message_stream.ts";
import type { Routes } from "../wire/route.ts";
import { ServerCall } from "./call.ts";
import { interceptorsOf } from "../wire/intercept.ts";
import { InterceptedRoutes } from "./intercepted_route.ts";
import type { ServerCallSettings } from "./reply_stream.ts";
import {
  checkRpcTelemetry,
  rpcTelemetryOf,
  type RpcTelemetryOptions,
} from "../telemetry/options.ts";
import type { Bindings } from "../transcoding/bindings.ts";
import { type TranscodingOptions, transcodingSettings } from "../transcoding/options.ts";
import { TranscodingRouter } from "../transcoding/router.ts";
import { WebRouter } from "../web/router.ts";

/** How calls are served, on whatever server. */
export interface CallSettings {
  /** Bytes a received message may have. @default {4194304} */
  readonly maxReceiveSize?: number;
  /** Bytes a sent message may have. @default unlimited */
  readonly maxSendSize?: number;
  /**
   * Compress responses of 1 KiB and more for clients that accept it. Off by default: lengths then tell
   * about secrets beside text that others chose. Handlers may switch it for their call
   * (`context.compress`) and leave single messages out ({@linkcode uncompressed}).
   *
   * @default {false}
   */
  readonly compress?: boolean;
  /**
   * Encoding of compressed responses, if the client accepts it; otherwise the first of gzip, deflate and
   * zstd that it does. @default {"gzip"}
   */
  readonly encoding?: "gzip" | "deflate" | "zstd";
  /**
   * Told of exceptions of handlers that are no `ConnectError` (clients see UNKNOWN, never the text)
   * and of metadata that cannot be sent, with the method's path; and of connections that failed, with
   * "". Without it errors of handlers go to the server's `onError`, or are printed if that has none;
   * null silences them. @default the server's
   */
  readonly onError?: ((error: unknown, method: string) => void) | null;
  /**
   * Connect interceptors around every call of a registered service, whatever its protocol; the first
   * is outermost, and those of the registrar and of the service come behind them.
   */
  readonly interceptors?: readonly Interceptor[];
  /** Milliseconds of calls that bring no deadline. @default {maxTimeout} */
  readonly defaultTimeout?: number;
  /**
   * Milliseconds any call may take: a later deadline becomes this one. A call that is still at work then
   * ends with DEADLINE_EXCEEDED. @default {Infinity}
   */
  readonly maxTimeout?: number;
  /**
   * Calls that a handler makes by clients of this library, at once or later, keep to the deadline of the
   * call it serves, and are cancelled with it. {@linkcode detached} makes one that does not.
   * @default {false}
   */
  readonly propagate?: boolean;
  /**
   * Spans and metrics of the calls, by OpenTelemetry: true, false, or makers of one's own. Not given,
   * calls are shown if their server's requests are: without an option there, if a provider is
   * registered when the server is made, as with `OTEL_DENO=true` (docs/telemetry.md).
   */
  readonly telemetry?: boolean | RpcTelemetryOptions;
}

/** Names of {@linkcode CallSettings}. */
export const CALL_SETTING_NAMES = {
  maxReceiveSize: true,
  maxSendSize: true,
  compress: true,
  encoding: true,
  onError: true,
  interceptors: true,
  defaultTimeout: true,
  maxTimeout: true,
  propagate: true,
  telemetry: true,
} as const satisfies { readonly [K in keyof Required<CallSettings>]: true };

/** Checks the values of settings. Throws `TypeError` on those that cannot be used. */
export function checkCallSettings(what: string, settings: CallSettings): void {
  checkCount(what, "maxReceiveSize", settings.maxReceiveSize, 0, Infinity);
  checkCount(what, "maxSendSize", settings.maxSendSize, 0, Infinity);
  checkBoolean(what, "compress", settings.compress);
  checkEncoding(what, settings.encoding);
  checkCallback(what, "onError", settings.onError);
  interceptorsOf(what, settings.interceptors);
  checkBoolean(what, "propagate", settings.propagate);
  const { maxTimeout = Infinity, defaultTimeout = maxTimeout } = settings;
  checkTime(what, "maxTimeout", maxTimeout, 1);
  checkTime(what, "defaultTimeout", defaultTimeout, 1);
  if (defaultTimeout > maxTimeout) {
    throw new TypeError(
      `Cannot ${what} as defaultTimeout must be at most maxTimeout, ${maxTimeout}: current value is ${defaultTimeout}`,
    );
  }
  checkRpcTelemetry(what, settings.telemetry);
}

/** How calls of browsers are served. */
export interface WebSettings {
  /**
   * Origins (`https://app.example`) whose scripts may call; `"*"` for all. Preflights of others go
   * to the server's handler. @default none
   */
  readonly cors?: readonly string[];
  /** Types that may come in an `Any` in JSON, besides those the service's file knows. */
  readonly registry?: Registry;
  /**
   * Serve methods by HTTP and JSON too, as their `google.api.http` options say; `true` for the
   * defaults. Connect's paths come first. @default {false}
   */
  readonly transcoding?: boolean | TranscodingOptions;
}

/** Serves calls wherever requests come in. */
export class CallRouter implements ExchangeRouter {
  readonly #routes: Routes;
  readonly #settings: ServerCallSettings;
  readonly #exclusive: boolean;
  readonly #web: WebRouter;
  readonly #transcoding: TranscodingRouter | null;

  /**
   * Serves gRPC, and gRPC-Web and Connect beside it. With `exclusive`, only gRPC: other requests get
   * 415; otherwise they are left to others. `bindings` are those that transcoding serves.
   */
  constructor(
    routes: Routes,
    settings: CallSettings & WebSettings = {},
    exclusive = false,
    bindings: Bindings | null = null,
  ) {
    const interceptors = interceptorsOf("serve calls", settings.interceptors);
    this.#routes = interceptors.length === 0 ? routes : new InterceptedRoutes(routes, interceptors);
    this.#settings = {
      maxReceiveSize: settings.maxReceiveSize ?? DEFAULT_MAX_RECEIVE_SIZE,
      maxSendSize: settings.maxSendSize ?? Infinity,
      compress: settings.compress ?? false,
      encoding: settings.encoding,
      onError: settings.onError,
      defaultTimeout: settings.defaultTimeout ?? settings.maxTimeout ?? Infinity,
      maxTimeout: settings.maxTimeout ?? Infinity,
      propagate: settings.propagate ?? false,
      telemetry: settings.telemetry === undefined
        ? undefined
        : rpcTelemetryOf("serve calls", settings.telemetry),
    };
    this.#exclusive = exclusive;
    const shared = {
      ...this.#settings,
      cors: checkOrigins(settings.cors ?? []),
      registry: settings.registry,
    };
    this.#web = new WebRouter(this.#routes, shared);
    const transcoding = transcodingSettings("serve calls", settings.transcoding);
    this.#transcoding = bindings === null || transcoding === null
      ? null
      : new TranscodingRouter(this.#routes, bindings, shared, transcoding);
  }

  /** The call this request makes, or null if it is not gRPC's. */
  routeStream(
    head: h2.RequestHead,
    block: FieldBlock,
    session: h2.Session,
    host: HandlerHost,
  ): h2.Stream | null {
    const call = callHead(head, block, this.#routes);
    if (call !== undefined) return new ServerCall(this.#settings, session, call, host);
    return this.#exclusive ? new h2.StatusOnlyStream(415, host.time) : null;
  }

  /** Serves a gRPC-Web, Connect or REST call, or null if the request is for no registered method. */
  routeExchange(
    stream: ServerStream,
    onError: ServerErrorListener,
    time: Time,
    watch: ServerWatch | null,
  ): Promise<void> | null {
    if (this.#exclusive) return null;
    // Where streams are not offered first there are no trailers either, as on `Deno.serve`.
    const native = stream.version === "HTTP/2" &&
      grpcCodec(stream.header["content-type"] ?? "") !== undefined;
    if (native) return refuseWithoutTrailers(stream);
    return this.#web.route(stream, onError, time, watch) ??
      this.#transcoding?.route(stream, onError, time, watch) ?? null;
  }
}

/** Answers a gRPC call whose status no trailers can bring: it stands in the head instead. */
async function refuseWithoutTrailers(stream: ServerStream): Promise<void> {
  await stream.respond(200, {
    "content-type": GRPC_CONTENT_TYPE,
    "grpc-status": String(code.UNIMPLEMENTED),
    "grpc-message":
      'gRPC needs trailers, which Deno.serve has not: call by gRPC-Web or Connect, or serve with engine "own"',
  });
  stream.closeWrite();
}
