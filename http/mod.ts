/**
 * HTTP/1.1 and HTTP/2, server and client, on an engine of its own over Deno's sockets.
 *
 * Rooms import downwards only:
 *
 * ```text
 * mod  engine   the doors: names for users, and for grpc and kv
 * workers  debug   a server on every core; a page that shows one at work
 * client  server   a request from options to an answer; a connection from accept to drain
 * h1  h2  websocket   the protocols, without a role
 * telemetry   spans, metrics and carried contexts, by OpenTelemetry
 * net  coding  hpack   byte pipes, dialling and TLS; content codings; header compression
 * message  time  attempt   what both versions and both roles know; timers; errors as values
 * ```
 *
 * @module
 */
export { type Attempt, attempt } from "./attempt.ts";
export {
  BodyTooLargeError,
  ConnectionLostError,
  DialError,
  HeadersTooLargeError,
  ProtocolError,
  StreamResetError,
  TimeoutError,
} from "./message/error.ts";
export { ErrorCode } from "./message/error_code.ts";
export { Client, newClient } from "./client/client.ts";
export {
  defaultClient,
  del,
  get,
  head,
  patch,
  post,
  put,
  request,
} from "./client/default_client.ts";
export {
  type ClientOptions,
  type RequestOptions,
  type SendOptions,
  type StreamOptions,
} from "./client/options.ts";
export { type BodyInput } from "./message/body.ts";
export { ClientStream, type Progress } from "./client/stream.ts";
export { HttpResponse } from "./client/response.ts";
export { type ProxyConfig, proxyFromEnv } from "./client/proxy.ts";
export { RedirectError } from "./client/redirect.ts";
export { type RetryOptions } from "./client/retry.ts";
export { type Handler } from "./server/handler.ts";
export { type HeaderObject, type HeadersInput } from "./message/headers.ts";
export { DEFAULT_SERVER_LIMITS, type ServerLimits } from "./server/limits.ts";
export { listen } from "./server/listen.ts";
export { type HttpServer, type PlatformServer, type ServerOptions } from "./server/options.ts";
export { serve, WorkerPool, type WorkerStats } from "./workers/pool.ts";
export { type WorkersOptions } from "./workers/options.ts";
export { MessageError } from "./message/message_error.ts";
export { type Query } from "./message/query.ts";
export { debugPage, type DebugPageOptions } from "./debug/debug_page.ts";
export { fetchHandler, type FetchHandlerOptions } from "./server/serve_deno.ts";
export { ServerStream } from "./server/stream.ts";
export { type WebSocketConnection } from "./websocket/front.ts";
export { type WebSocketEvents, type WebSocketListener } from "./websocket/events.ts";
export { type WebSocketOptions } from "./websocket/options.ts";
export { type Lookup } from "./net/dial.ts";
export { type Certificate } from "./net/certificate.ts";
export { type ListenOptions } from "./net/listen_options.ts";
export {
  type AbuseLimits,
  type ConnectionOptions,
  type KeepaliveOptions,
  type SessionOptions as Http2Options,
} from "./h2/mod.ts";
export { Mountable } from "./server/mountable.ts";
export { type TelemetryOptions } from "./telemetry/telemetry.ts";
export { type PeerCertificate } from "./net/socket.ts";
