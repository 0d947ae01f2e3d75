/**
 * The front door of the server side.
 *
 * @module
 */
import type { SessionOptions } from "../h2/mod.ts";
import type { Handler } from "./handler.ts";
import type { ServerLimits } from "./limits.ts";
import type { Certificate } from "../net/certificate.ts";
import type { ListenOptions } from "../net/listener.ts";
import { type ExchangeTaker, serve } from "./server.ts";
import { listenDeno } from "./serve_deno.ts";
import type { ServerStream } from "./stream.ts";

/** Configuration of {@linkcode listen}. */
export interface ServerOptions extends ListenOptions {
  /** Called with a stream for each request. May return a web `Response` instead of using it. */
  readonly handler?: Handler;
  /** Takes the exchanges that are its own, gRPC calls, before the handler sees them. */
  readonly registrar?: ExchangeTaker;
  /** Limits and timeouts; every one has a default. */
  readonly limits?: ServerLimits;
  /**
   * Compress responses given whole (1 KiB to 4 MiB, types that gain) with br or gzip, for clients
   * that take it. Off by default: lengths then tell about secrets beside text an attacker chose.
   * @default {false}
   */
  readonly compress?: boolean;
  /** HTTP/2 settings beyond `limits`: windows, budgets against abuse, keep-alive. */
  readonly http2?: SessionOptions;
  /**
   * Told of what handlers throw (with the stream), and of connections that failed before a request
   * could be served (without). Nothing is printed otherwise.
   */
  readonly onError?: (error: unknown, stream?: ServerStream) => void;
  /**
   * `"own"`: this module's engine. `"deno"`: `Deno.serve`, for places where only that is to be had;
   * what it cannot do is refused with an error. @default {"own"}
   */
  readonly engine?: "own" | "deno";
}

/** A running server. */
export interface HttpServer extends AsyncDisposable {
  /** `host:port` it listens on. */
  readonly addr: string;
  /** The port it listens on. */
  readonly port: number;
  /** Connections open now. */
  readonly connections: number;
  /** Handlers at work now. */
  readonly handlers: number;
  /**
   * Replaces the certificates for handshakes from now on; connections that are open stay. Throws on a
   * server without TLS, and if a certificate cannot be used: then none is replaced.
   */
  setCerts(certs: readonly Certificate[]): void;
  /**
   * Stops accepting, lets what runs finish (`connection: close`, GOAWAY), and cuts what still runs
   * after `limits.drainTimeout`. Resolves when everything is gone. May be called again.
   */
  close(): Promise<void>;
}

const PROTOCOLS: readonly string[] = ["h2", "http/1.1"];

/**
 * Serves HTTP/1.1 and HTTP/2 on one port: over TLS as ALPN decides, without TLS HTTP/2 by prior
 * knowledge. Throws `TypeError` on a wrong configuration and the system's error if the port cannot
 * be had.
 *
 * @example
 * ```ts
 * import { get, listen } from "@sluice/sluice/http";
 *
 * await using server = listen({
 *   addr: "127.0.0.1:0",
 *   handler: async (stream) => {
 *     await stream.respond(200, { "content-type": "text/plain" });
 *     stream.closeWrite(`Hello ${stream.query.name}`);
 *   },
 * });
 * const response = await get(`http://${server.addr}/?name=Deno`, { connection: "close" });
 * response.body; // "Hello Deno"
 * ```
 */
export function listen(options: ServerOptions): HttpServer {
  if (options === null || typeof options !== "object") {
    throw new TypeError(`Cannot listen as the configuration must be an object: got ${options}`);
  }
  if (options.handler === undefined && options.registrar === undefined) {
    throw new TypeError("Cannot listen without a handler: give handler: (stream) => …");
  }
  if (options.handler !== undefined && typeof options.handler !== "function") {
    throw new TypeError(
      `Cannot listen as handler must be a function: got ${typeof options.handler}`,
    );
  }
  if (options.engine === "deno") return listenDeno(options);
  if (options.engine !== undefined && options.engine !== "own") {
    throw new TypeError(
      `Cannot listen as engine must be "own" or "deno": current value is ${
        JSON.stringify(options.engine)
      }`,
    );
  }
  const { onError, registrar, alpnProtos = PROTOCOLS, handler, limits, http2 } = options;
  for (const protocol of alpnProtos) {
    if (!PROTOCOLS.includes(protocol)) {
      throw new TypeError(
        `Cannot listen as alpnProtos must be among "h2" and "http/1.1": current value is ${
          JSON.stringify(protocol)
        }`,
      );
    }
  }
  return serve({
    ...options,
    alpnProtos,
    onError: (error) => onError?.(error),
    onHandlerError: (error, stream) => onError?.(error, stream),
    ...(handler === undefined ? {} : { handler }),
    ...(registrar === undefined ? {} : { taker: registrar }),
    ...(limits === undefined ? {} : { limits }),
    ...(http2 === undefined ? {} : { http2 }),
  });
}
