/**
 * The front door of the server side.
 *
 * @module
 */
import { PROTOCOLS } from "../net/listen_options.ts";
import { SYSTEM_TIME, type Time } from "../time/time.ts";
import {
  checkServerOptions,
  type HttpServer,
  type PlatformServer,
  type ServerOptions,
} from "./options.ts";
import { routerOf } from "./mountable.ts";
import { startServer } from "./server.ts";
import { listenDeno } from "./serve_deno.ts";

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
export function listen(options: ServerOptions & { readonly engine: "deno" }): PlatformServer;
/** With the module's own engine. */
export function listen(options: ServerOptions): HttpServer;
export function listen(options: ServerOptions): HttpServer | PlatformServer {
  if (options?.engine !== "deno") return listenAt(SYSTEM_TIME, options);
  checkServerOptions(options);
  return listenDeno(options, SYSTEM_TIME);
}

/**
 * {@linkcode listen} with the module's own engine, by another clock.
 *
 * @internal
 */
export function listenAt(time: Time, options: ServerOptions): HttpServer {
  checkServerOptions(options);
  const { registrar, alpnProtos = PROTOCOLS } = options;
  return startServer({
    ...options,
    alpnProtos,
    router: routerOf(registrar) ?? undefined,
  }, time);
}
