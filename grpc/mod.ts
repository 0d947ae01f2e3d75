/**
 * gRPC over HTTP/2: server and client for services from generated code or from `.proto` text loaded
 * at run time. Types, errors and interceptors are Connect's.
 *
 * Files import downwards only:
 *
 * ```text
 * server              client  service  stream
 * server_call  context      client_call  subchannel
 * registrar  method         client_stream  resolver  backoff
 * message_stream  message_queue  status  metadata
 * compression  percent  timeout  content_type  code  codec/
 * ```
 *
 * @module
 */
export { type Attempt, attempt } from "../http/mod.ts";
export { type BackoffOptions } from "./backoff.ts";
export { type ClientOptions, Conn, newClient } from "./client.ts";
export { type CallOptions } from "./client_call.ts";
export { code, type CodeName, codeName } from "./code.ts";
export { CallContext } from "./context.ts";
export { type AnyHandler, type Handlers, Registrar, type TypedHandlers } from "./registrar.ts";
export { type GrpcServer, GrpcTaker, listen, type ServerOptions } from "./server.ts";
export {
  type DynamicService,
  type MethodClient,
  newService,
  type ServiceClient,
} from "./service.ts";
export { CallStream } from "./stream.ts";
