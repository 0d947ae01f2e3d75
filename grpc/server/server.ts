import {
  checkOptions,
  givenOptions,
  h2,
  LISTEN_NAMES,
  Mountable,
  mountRouter,
  optionNames,
  type ServeOptions,
  startServer,
  SYSTEM_TIME,
  type Time,
} from "../../http/engine.ts";
import type { Certificate, ListenOptions, ServerLimits } from "../../http/mod.ts";
import { DEFAULT_STREAM_WINDOW } from "../wire/message_stream.ts";
import {
  CALL_SETTING_NAMES,
  CallRouter,
  type CallSettings,
  checkCallSettings,
  type WebSettings,
} from "./exchanges.ts";
import { httpTelemetry } from "../telemetry/options.ts";
import {
  type Closable,
  closeBy,
  type ClosingOnSignals,
  type SignalOptions,
} from "./close_on_signals.ts";
import type { Routes } from "../wire/route.ts";
import { Bindings } from "../transcoding/bindings.ts";
import { transcodingSettings } from "../transcoding/options.ts";
import { checkRegistrar, type Registrar, routesOf, watchServices } from "./registrar.ts";

/** Settings of {@linkcode listen}. */
export interface ServerOptions extends ListenOptions, CallSettings {
  /** The services to serve. */
  readonly registrar: Registrar;
  /**
   * Limits and timeouts, those of `http.listen`. `bodyTimeout` and `minBodyRate` hold for the request
   * of a method that takes one and inside each message of the others: DEADLINE_EXCEEDED.
   * `maxHandlers` counts calls: UNAVAILABLE. `maxBodyBytes` and what speaks of HTTP/1.1 means nothing
   * here. Other defaults than there: `maxStreams` 1000, `drainTimeout` 10 seconds.
   */
  readonly limits?: ServerLimits;
  /** Connections open at once. Overrides `limits`. @default {10000} */
  readonly maxConnections?: number;
  /** HTTP/2 limits and timeouts. Override `limits`. */
  readonly http2?: h2.SessionOptions;
  /** Milliseconds `close()` waits for calls that run. Overrides `limits`. @default {10000} */
  readonly drainTimeout?: number;
}

/**
 * Cancelling is everyday in gRPC, where losers of a race and closed streams are reset by the
 * thousand: the budgets are wider than those of a web server.
 */
const GRPC_ABUSE_LIMITS: h2.AbuseLimits = {
  resets: { burst: 20_000, perSecond: 2_000 },
  errors: { burst: 1000, perSecond: 33 },
  idleFrames: { burst: 1000, perSecond: 20 },
};

/** Where a gRPC server is not as other servers of HTTP: calls are many and small. */
const GRPC_LIMITS: ServerLimits = { maxStreams: 1000, drainTimeout: 10_000 };

/**
 * Names of {@linkcode ServerOptions}.
 *
 * @internal
 */
export const OPTION_NAMES: readonly string[] = optionNames<ServerOptions>({
  ...LISTEN_NAMES,
  ...CALL_SETTING_NAMES,
  registrar: true,
  limits: true,
  maxConnections: true,
  http2: true,
  drainTimeout: true,
});

/** A running gRPC server. */
export interface GrpcServer extends AsyncDisposable {
  /** `host:port` it listens on, `unix:path`, or its address in memory; clients take it as a target. */
  readonly addr: string;
  /** The port it listens on; 0 of Unix sockets and in memory. */
  readonly port: number;
  /** Replaces the certificates for handshakes from now on. Throws on a server without TLS. */
  setCerts(certs: readonly Certificate[]): void;
  /**
   * Ends the server: no new calls are taken (GOAWAY), those that run may finish for `drainTimeout`.
   * Resolves when all is over. May be called again.
   */
  close(): Promise<void>;
}

/**
 * Serves gRPC. Throws `TypeError` on a wrong configuration, and the system's error if the port
 * cannot be had.
 *
 * @example
 * ```ts ignore
 * const registrar = new Registrar();
 * registrar.register(file, { SayHello: ({ name }) => ({ message: `Hello ${name}` }) });
 * const server = listen({ addr: ":50051", registrar });
 * ```
 */
export function listen(options: ServerOptions): GrpcServer {
  return listenAt(SYSTEM_TIME, options);
}

/** {@linkcode listen} by another clock. */
export function listenAt(time: Time, options: ServerOptions): GrpcServer {
  return startServer(serveOptions(options), time);
}

/**
 * The settings of the HTTP server under a gRPC server.
 *
 * @internal
 */
export function serveOptions(options: ServerOptions): ServeOptions {
  checkOptions("serve gRPC", OPTION_NAMES, options);
  h2.checkSessionOptions("serve gRPC", options.http2);
  checkCallSettings("serve gRPC", options);
  const { onError, interceptors: _, telemetry, ...rest } = options;
  const shown = httpTelemetry(telemetry);
  return {
    ...rest,
    ...(shown === undefined ? {} : { telemetry: shown }),
    router: new CallRouter(servicesOf(options), options, true),
    alpnProtos: options.alpnProtos ?? ["h2"],
    limits: withDefaults(options.limits),
    http2: {
      streamWindow: DEFAULT_STREAM_WINDOW,
      abuse: GRPC_ABUSE_LIMITS,
      ...givenOptions(options.http2),
    },
    ...(onError === undefined
      ? {}
      : { onError: onError === null ? null : (error: unknown) => onError(error, "") }),
  };
}

function withDefaults(limits: ServerLimits | undefined): ServerLimits {
  if (limits !== undefined && (typeof limits !== "object" || limits === null)) {
    throw new TypeError("Cannot serve gRPC as limits must be an object");
  }
  return { ...GRPC_LIMITS, ...givenOptions(limits) };
}

/** Settings of {@linkcode mount}. */
export interface MountOptions extends CallSettings, WebSettings {
  /** The services to serve. */
  readonly registrar: Registrar;
}

/**
 * Services with settings, for `http.listen`: gRPC, gRPC-Web (in bytes and in base64) and Connect on
 * one port with the handler of other requests. A `Registrar` may be given to `http.listen` as it is;
 * this is for those who want other settings, and REST beside it (`transcoding`). Throws `TypeError` on
 * wrong ones, and `HttpRuleError` if HTTP rules cannot be served.
 *
 * @example
 * ```ts
 * import { listen } from "@sluice/sluice/http";
 * import { mount, Registrar } from "@sluice/sluice/grpc";
 *
 * await using server = listen({
 *   addr: "127.0.0.1:0",
 *   registrar: mount({ registrar: new Registrar(), cors: ["https://app.example"] }),
 *   handler: () => new Response("not a call"),
 * });
 * ```
 */
export function mount(options: MountOptions): Mountable {
  checkOptions("mount services", MOUNT_NAMES, options);
  checkCallSettings("mount services", options);
  const { registry } = options;
  if (registry !== undefined && typeof registry?.getMessage !== "function") {
    throw new TypeError("Cannot mount services as registry must be a registry of protobuf-es");
  }
  const routes = servicesOf(options);
  const transcoding = transcodingSettings("mount services", options.transcoding);
  const bindings = transcoding === null ? null : new Bindings(transcoding.maxRules);
  const router = new CallRouter(routes, options, false, bindings);
  if (bindings !== null) watchServices(options.registrar, (service) => bindings.check(service));
  return new Services(router);
}

/** Services with settings of their own. */
class Services extends Mountable {
  constructor(router: CallRouter) {
    super();
    mountRouter(this, router);
  }
}

function servicesOf({ registrar }: { readonly registrar: Registrar }): Routes {
  return routesOf(checkRegistrar("serve gRPC", registrar));
}

/**
 * Names of {@linkcode MountOptions}.
 *
 * @internal
 */
export const MOUNT_NAMES: readonly string[] = optionNames<MountOptions>({
  ...CALL_SETTING_NAMES,
  registrar: true,
  cors: true,
  registry: true,
  transcoding: true,
});

/**
 * Ends servers when the process is told to end: their health is turned off, they serve on for `delay`,
 * then take no new calls, finish those that run, and cut what is left after their `drainTimeout`. The
 * process ends when nothing else keeps it. A second signal ends it at once, with 128 and the signal's
 * number.
 *
 * @throws {TypeError} If an option is not known or has a wrong value.
 *
 * @example
 * ```ts ignore
 * const health = new Health().register(registrar);
 * const server = listen({ addr: ":50051", registrar });
 * closeOnSignals(server, { health, delay: 5000 });
 * ```
 */
export function closeOnSignals(
  servers: Closable | readonly Closable[],
  options?: SignalOptions,
): ClosingOnSignals {
  return closeBy(SYSTEM_TIME.clock, servers, options);
}
