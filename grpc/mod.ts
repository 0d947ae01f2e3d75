/**
 * gRPC over HTTP/2: server and client for services from generated code or from `.proto` text loaded
 * at run time. Types, errors and interceptors are Connect's.
 *
 * Files import downwards only:
 *
 * ```text
 * health  reflection  proto/
 * server  registrar         client  service  stream
 * taker  web  cors          client_call  subchannel
 * server_call  call_head    client_stream  resolver  backoff
 * route  context  method
 * message_stream  message_queue  status  metadata
 * compression  percent  timeout  content_type  code  codec/
 * ```
 *
 * @module
 */
export {
  type Attempt,
  attempt,
  ConnectionLostError,
  DialError,
  ProtocolError,
  StreamResetError,
} from "../http/mod.ts";
export { type BackoffOptions } from "./backoff.ts";
export { type ClientOptions, Conn, newClient } from "./client.ts";
export { type CallOptions } from "./client_call.ts";
export { code, type CodeName, codeName } from "./code.ts";
export { CallContext } from "./context.ts";
export { type Origins } from "./cors.ts";
export { Health, type HealthStatus, MAX_LISTED_SERVICES } from "./health.ts";
export { reflection } from "./reflection.ts";
export { type Handlers, Registrar, type TypedHandlers } from "./registrar.ts";
export { type AnyHandler } from "./route.ts";
export { type GrpcServer, listen, mount, type MountOptions, type ServerOptions } from "./server.ts";
export { type CallSettings, type WebSettings } from "./taker.ts";
export {
  type DynamicService,
  type MethodClient,
  newService,
  type ServiceClient,
} from "./service.ts";
export { CallStream } from "./stream.ts";
