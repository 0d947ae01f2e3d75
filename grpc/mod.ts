/**
 * gRPC over HTTP/2: server and client for services from generated code or from `.proto` text loaded
 * at run time. Types, errors and interceptors are Connect's.
 *
 * Run as a program it is a client of any gRPC server, with grpcurl's words (docs/grpc_command.md):
 *
 * ```sh
 * deno run -A jsr:@sluice/sluice/grpc -plaintext 127.0.0.1:50051 list
 * ```
 *
 * Rooms import downwards only:
 *
 * ```text
 * mod   the door
 * cli   the command
 * reflect   services learnt from their server
 * openapi   documents of what is served
 * in_process   a server and its client in one process
 * client  server  interceptors   from a target to an answer, from a request to its handler, around both
 * web_client   calls by gRPC-Web and Connect, over the HTTP client
 * balancing   connections, and which of them gets a call
 * resolve   from a target or a resolver to addresses
 * config   what a service config says
 * transcoding   HTTP and JSON as `google.api.http` says
 * web   gRPC-Web and Connect's protocol, and what browsers ask before
 * telemetry   spans and metrics of calls, by OpenTelemetry
 * wire   messages, status, metadata and compression, without a role
 * codec   messages to bytes and back
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
export { type KeepaliveOptions } from "../http/mod.ts";
export { type BackoffOptions } from "./resolve/backoff.ts";
export { Conn, newClient } from "./client/conn.ts";
export { type ClientOptions, type RetryLimits } from "./client/options.ts";
export { type ResolveOptions } from "./resolve/lookups.ts";
export { type Endpoint } from "./resolve/endpoint.ts";
export {
  type Resolution,
  type Resolutions,
  type Resolver,
  type ResolverContext,
} from "./resolve/resolver.ts";
export { type ReadyServer } from "./balancing/backend.ts";
export {
  type PickedCall,
  type Picker,
  type Policy,
  type PolicyOptions,
} from "./balancing/policy.ts";
export { type ConnState } from "./balancing/state.ts";
export { type ConnStats, type ServerStats } from "./balancing/stats.ts";
export { ServiceConfigError } from "./config/config_value.ts";
export type {
  ConnectionScaling,
  HealthCheckConfig,
  HedgingPolicy,
  LoadBalancingConfig,
  MethodConfig,
  MethodName,
  RetryPolicy,
  RetryThrottling,
  ServiceConfig,
  StatusCodeName,
} from "./config/service_config.ts";
export { type CallOptions, WAIT_FOR_READY } from "./client/call_options.ts";
export { code, codeName } from "./wire/code.ts";
export { CALL, type CallInfo } from "./wire/call_info.ts";
export { uncompressed, wasCompressed } from "./wire/compressed_messages.ts";
export { callOptions, detached } from "./wire/propagation.ts";
export { CallContext } from "./wire/call_context.ts";
export { bearerAuth } from "./interceptors/bearer_auth.ts";
export {
  callCredentials,
  type CredentialsCall,
  type CredentialsOptions,
} from "./interceptors/call_credentials.ts";
export {
  type InProcess,
  inProcess,
  type InProcessOptions,
  type ManualClock,
} from "./in_process.ts";
export { callLog, type CallRecord } from "./interceptors/call_log.ts";
export { deadlineBounds, type DeadlineOptions } from "./interceptors/deadline_bounds.ts";
export { validation, type ValidationOptions } from "./interceptors/validation.ts";
export { Health, type HealthStatus, MAX_LISTED_SERVICES } from "./server/health.ts";
export {
  type Closable,
  type ClosingOnSignals,
  type SignalOptions,
} from "./server/close_on_signals.ts";
export { reflection } from "./server/reflection.ts";
export { openapi, type OpenApiDocument, type OpenApiOptions } from "./openapi/document.ts";
export { HttpRuleError } from "./transcoding/http_rule.ts";
export { type TranscodingOptions } from "./transcoding/options.ts";
export { type ReflectLimits, type ReflectOptions } from "./reflect/options.ts";
export { reflect, type Reflected } from "./reflect/reflected.ts";
export {
  type Handlers,
  type HandlersFor,
  type MethodHandler,
  Registrar,
  type RegistrarOptions,
  type TypedHandlers,
} from "./server/registrar.ts";
export { serve } from "./server/pool.ts";
export {
  closeOnSignals,
  type GrpcServer,
  listen,
  mount,
  type MountOptions,
  type ServerOptions,
} from "./server/server.ts";
export { type TelemetryOptions } from "../http/mod.ts";
export { type RpcTelemetryOptions } from "./telemetry/options.ts";
export { type CallSettings, type WebSettings } from "./server/exchanges.ts";
export {
  type DynamicService,
  type LoadedClient,
  type MethodClient,
  newService,
  type ServerStreamingClient,
  type ServiceClient,
} from "./client/service.ts";
export type { ServiceIn, ServiceName } from "./wire/typed_file.ts";
export { CallStream } from "./client/call_stream.ts";

if (import.meta.main) {
  const { main } = await import("./cli/command.ts");
  await main();
}
