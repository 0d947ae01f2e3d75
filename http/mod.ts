/**
 * HTTP/1.1 and HTTP/2, server and client, on an engine of its own over Deno's sockets.
 *
 * @module
 */
export { type Attempt, attempt } from "./attempt.ts";
export {
  ConnectionLostError,
  DialError,
  type DialPhase,
  type ErrorScope,
  ProtocolError,
  StreamResetError,
  TimeoutError,
} from "./error.ts";
export { Client, newClient } from "./client.ts";
export { defaultClient, del, get, head, patch, post, put, request } from "./default_client.ts";
export { type ClientOptions, type RequestOptions, type SendOptions } from "./client_options.ts";
export { type BodyInput } from "./body.ts";
export { ClientStream, type Progress } from "./request.ts";
export { HttpResponse } from "./response.ts";
export { type ProxyConfig, proxyFromEnv } from "./proxy.ts";
export { RedirectError, type RedirectFault } from "./redirect.ts";
export { type RetryOptions } from "./retry.ts";
export { type ErrorListener, type Handler } from "./handler.ts";
export {
  type FlatHeaders,
  type HeaderObject,
  type HeadersInput,
  type HeaderValue,
} from "./headers.ts";
export { BodyTooLargeError, DEFAULT_SERVER_LIMITS, type ServerLimits } from "./limits.ts";
export { type HttpServer, listen, type ServerOptions } from "./listen.ts";
export { MessageError } from "./h1/error.ts";
export { type Query } from "./query.ts";
export { type FetchHandler, fetchHandler, type FetchHandlerOptions } from "./serve_deno.ts";
export { type BodyPiece, ServerStream } from "./stream.ts";
export {
  type WebSocketConnection,
  type WebSocketOptions,
  type WebSocketServerLike,
} from "./websocket.ts";
export { dial, type DialOptions, type Lookup } from "./dial.ts";
export { checkTls, type DialTlsOptions } from "./handshake.ts";
export { FieldBlock, type Fields, Template } from "./hpack/mod.ts";
export * as h2 from "./h2/mod.ts";
export { type Certificate } from "./certificate.ts";
export {
  type Admission,
  type Listener,
  type ListenOptions,
  openListener,
  parseAddr,
} from "./listener.ts";
export { type ExchangeTaker, serve, type ServeOptions, Server } from "./server.ts";
export {
  memorySocketPair,
  type PeerCertificate,
  type Socket,
  type SocketAddress,
  type TlsInfo,
} from "./socket.ts";
export { type TimerNode, timers, TimerWheel } from "./timer_wheel.ts";
