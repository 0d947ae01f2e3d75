/**
 * What `grpc/` and `kv/` need of the HTTP engine. No entry of the package: nothing here is promised to users,
 * whose door is `mod.ts`.
 *
 * @module
 */
export { FieldBlock, type Fields, Template } from "./hpack/mod.ts";
export {
  type Client as HttpClient,
  newClientAt as newHttpClientAt,
  openExchange,
} from "./client/client.ts";
export type { ClientExchange, ExchangeTimeouts, IncomingHead } from "./client/exchange.ts";
export { QueuedRequest } from "./client/queued_request.ts";
export { parseTarget as parseUrl, type Target as UrlTarget } from "./message/url.ts";
export * as h2 from "./h2/mod.ts";
export { BodyBuffer } from "./message/body_buffer.ts";
export {
  checkBoolean,
  checkCallback,
  checkChoice,
  checkCount,
  checkNumber,
  checkOptions,
  checkSignal,
  checkText,
  checkTime,
  closestName,
  editDistance,
  givenOptions,
  MAX_TIMER_MS,
  optionNames,
  shownValue,
} from "./message/options.ts";
export { quiet, quietIterator, quietMethods, refusePromise } from "./message/promise.ts";
export { abort, printable, tell, tellError } from "./message/tell.ts";
export { isConnectionField } from "./message/connection_fields.ts";
export { checkProxy, proxyFor } from "./client/proxy.ts";
export { dialThrough } from "./client/tunnel.ts";
export { dial, type DialOptions, type Lookup } from "./net/dial.ts";
export { checkPlatformWays } from "./net/platform_tls.ts";
export { checkTls, type DialTlsOptions } from "./net/tls_options.ts";
export {
  type Admission,
  LISTEN_NAMES,
  type Listener,
  type ListenOptions,
  parseAddr,
} from "./net/listen_options.ts";
export { openListener } from "./net/listener.ts";
export { isMemory } from "./net/memory_listener.ts";
export { ZstdFrames } from "./coding/zstd_frames.ts";
export { unixPath } from "./net/unix_address.ts";
export { memorySocketPair } from "./net/memory_socket.ts";
export type { Socket, SocketAddress, TlsInfo } from "./net/socket.ts";
export { type Context, SpanKind } from "./telemetry/api.ts";
export { addressAttributes, splitAuthority } from "./telemetry/http_attributes.ts";
export {
  checkTelemetry,
  DURATION_BUCKETS,
  type Failure,
  failureOf,
  type Operation,
  type Telemetry,
  telemetryOf,
  type TelemetryOptions,
  withFields,
} from "./telemetry/telemetry.ts";
export { type CallRecorder, type ServerWatch } from "./server/watch.ts";
export { type ErrorListener, type Handler } from "./server/handler.ts";
export { type ServerLimits } from "./server/limits.ts";
export { obey } from "./workers/program.ts";
export { startPool } from "./workers/pool.ts";
export { bodyRate } from "./time/min_rate.ts";
export { formatAddress } from "./net/address.ts";
export {
  type ExchangeRouter,
  type HandlerHost,
  Mountable,
  mountRouter,
} from "./server/mountable.ts";
export { cutConnections, type ServeOptions, Server, startServer } from "./server/server.ts";
export { type MinRate } from "./time/min_rate.ts";
export { Countdown } from "./time/countdown.ts";
export { type Clock } from "./time/clock.ts";
export { FakeClock } from "./time/fake_clock.ts";
export { SYSTEM_TIME, type Time } from "./time/time.ts";
export { Timer, type TimerWheel } from "./time/timer_wheel.ts";
export { fair, ready } from "./time/turn.ts";
export { Deadline } from "./time/deadline.ts";
