import { type ExchangeTaker, type h2, serve, type Server } from "../../http/engine.ts";
import type { Certificate, ListenOptions } from "../../http/mod.ts";
import { DEFAULT_STREAM_WINDOW } from "../wire/message_stream.ts";
import { Registrar } from "./registrar.ts";
import { type CallSettings, GrpcTaker, type WebSettings } from "./exchanges.ts";

/** Settings of {@linkcode listen}. */
export interface ServerOptions extends ListenOptions, CallSettings {
  /** The services to serve. */
  readonly registrar: Registrar;
  /** Connections open at once. @default {10000} */
  readonly maxConnections?: number;
  /** HTTP/2 limits and timeouts. */
  readonly http2?: h2.SessionOptions;
  /** Milliseconds `close()` waits for calls that run. @default {10000} */
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

/** Streams a client may have open on one connection. */
const DEFAULT_MAX_CONCURRENT_STREAMS = 1000;

/** A running gRPC server. */
export interface GrpcServer extends AsyncDisposable {
  /** `host:port` it listens on. */
  readonly addr: string;
  /** The port it listens on. */
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
  const taker = new GrpcTaker(checkRegistrar(options.registrar), options, true);
  const { onError, ...rest } = options;
  const server: Server = serve({
    ...rest,
    taker,
    alpnProtos: options.alpnProtos ?? ["h2"],
    http2: {
      maxConcurrentStreams: DEFAULT_MAX_CONCURRENT_STREAMS,
      streamWindow: DEFAULT_STREAM_WINDOW,
      abuse: GRPC_ABUSE_LIMITS,
      ...options.http2,
    },
    ...(onError === undefined ? {} : { onError: (error: unknown) => onError(error, "") }),
  });
  return server;
}

/** Settings of {@linkcode mount}. */
export interface MountOptions extends CallSettings, WebSettings {
  /** The services to serve. */
  readonly registrar: Registrar;
}

/**
 * Services with settings, for `http.listen`: gRPC, gRPC-Web (in bytes and in base64) and Connect on
 * one port with the handler of other requests. A `Registrar` may be given to `http.listen` as it is;
 * this is for those who want other settings. Throws `TypeError` on wrong ones.
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
export function mount(options: MountOptions): ExchangeTaker {
  return new GrpcTaker(checkRegistrar(options?.registrar), options);
}

function checkRegistrar(registrar: unknown): Registrar {
  if (registrar instanceof Registrar) return registrar;
  throw new TypeError(
    "Cannot serve gRPC without services: give registrar: a Registrar with services registered",
  );
}
