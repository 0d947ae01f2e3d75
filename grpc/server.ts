import {
  type Certificate,
  type ExchangeTaker,
  type FieldBlock,
  h2,
  type ListenOptions,
  serve,
  type Server,
} from "../http/mod.ts";
import { DEFAULT_MAX_RECEIVE_SIZE } from "./message_stream.ts";
import { Registrar } from "./registrar.ts";
import { callHead } from "./call_head.ts";
import { ServerCall, type ServerSide } from "./server_call.ts";

/** Settings of {@linkcode listen}. */
export interface ServerOptions extends ListenOptions {
  /** The services to serve. */
  readonly registrar: Registrar;
  /** Octets a received message may have. @default {4194304} */
  readonly maxReceiveSize?: number;
  /** Octets a sent message may have. @default unlimited */
  readonly maxSendSize?: number;
  /** Compress responses of 1 KiB and more with gzip for clients that accept it. @default {false} */
  readonly compress?: boolean;
  /** Connections open at once. @default {10000} */
  readonly maxConnections?: number;
  /** HTTP/2 limits and timeouts. */
  readonly http2?: h2.SessionOptions;
  /** Milliseconds `close()` waits for calls that run. @default {10000} */
  readonly drainTimeout?: number;
  /**
   * Told of exceptions of handlers that are no `ConnectError`, with the method's path, and of
   * connections that failed, with "". Clients see UNKNOWN, never the text.
   */
  readonly onError?: (error: unknown, method: string) => void;
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

/** Serves the calls of a registrar wherever HTTP/2 requests come in. */
export class GrpcTaker implements ExchangeTaker {
  readonly #registrar: Registrar;
  readonly #side: ServerSide;
  readonly #alone: boolean;

  /** With `alone`, what is not gRPC is answered with 415; otherwise it is left to others. */
  constructor(options: Omit<ServerOptions, "addr">, alone: boolean) {
    if (!(options.registrar instanceof Registrar)) {
      throw new TypeError(
        "Cannot serve gRPC without services: give registrar: a Registrar with services registered",
      );
    }
    this.#registrar = options.registrar;
    this.#side = {
      maxReceiveSize: options.maxReceiveSize ?? DEFAULT_MAX_RECEIVE_SIZE,
      maxSendSize: options.maxSendSize ?? Infinity,
      compress: options.compress ?? false,
      onHandlerError: options.onError,
    };
    this.#alone = alone;
  }

  /** The call this request makes, or null if it is not gRPC's. */
  takeStream(head: h2.RequestHead, block: FieldBlock, session: h2.Session): h2.Stream | null {
    const call = callHead(head, block, this.#registrar);
    if (call !== undefined) return new ServerCall(this.#side, session, call);
    return this.#alone ? new h2.RefusalStream(415) : null;
  }
}

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
  const taker = new GrpcTaker(options, true);
  const { onError, ...rest } = options;
  const server: Server = serve({
    ...rest,
    taker,
    alpnProtos: options.alpnProtos ?? ["h2"],
    http2: {
      maxConcurrentStreams: DEFAULT_MAX_CONCURRENT_STREAMS,
      abuse: GRPC_ABUSE_LIMITS,
      ...options.http2,
    },
    ...(onError === undefined ? {} : { onError: (error: unknown) => onError(error, "") }),
  });
  return server;
}
