/**
 * gRPC over HTTP/2: server and client for services from generated code or from `.proto` text loaded
 * at run time. Types, errors and interceptors are Connect's.
 *
 * Files import downwards only:
 *
 * ```text
 * health  reflection  proto/    service  call_stream  arguments
 * server  registrar             conn  intercepted_stream  intercepted_call
 * exchanges  web/               unary_call  stream_call  request_log
 * call  reply_stream  head      call  call_options  attempt
 *                               channel  picker  waiting_calls  lookups
 *                               subchannel  request_header  options  resolver  backoff
 * route  call_context  method
 * message_stream  message_queue  begun_messages
 * status  field_list  metadata  compression  percent
 * timeout  content_type  code  codec/
 * ```
 *
 * @module
 */
export { Code, ConnectError } from "@connectrpc/connect";
export {
  type Attempt,
  attempt,
  ConnectionLostError,
  DialError,
  ProtocolError,
  StreamResetError,
} from "../http/mod.ts";
export { type DialTlsOptions as TlsOptions } from "../http/engine.ts";
export {
  type AbuseLimits,
  type BudgetLimit,
  type ConnectionOptions,
  type Http2Options,
  type KeepaliveOptions,
  type Mountable,
} from "../http/mod.ts";
export { type BackoffOptions } from "./client/backoff.ts";
export { Conn, newClient } from "./client/conn.ts";
export { type ClientOptions, type ResolveOptions } from "./client/options.ts";
export { type CallOptions, WAIT_FOR_READY } from "./client/call_options.ts";
export { code, type CodeName, codeName } from "./wire/code.ts";
export { CallContext } from "./wire/call_context.ts";
export { type Origins } from "./web/cors.ts";
export { Health, type HealthStatus, MAX_LISTED_SERVICES } from "./server/health.ts";
export { reflection } from "./server/reflection.ts";
export {
  type Handlers,
  type MethodHandler,
  Registrar,
  type TypedHandlers,
} from "./server/registrar.ts";
export { type AnyHandler } from "./wire/route.ts";
export {
  type GrpcServer,
  listen,
  mount,
  type MountOptions,
  type ServerOptions,
} from "./server/server.ts";
export { type CallSettings, type WebSettings } from "./server/exchanges.ts";
export {
  type DynamicService,
  type MethodClient,
  newService,
  type ServerStreamingClient,
  type ServiceClient,
} from "./client/service.ts";
export { CallStream } from "./client/call_stream.ts";
