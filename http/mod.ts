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
export { dial, type DialOptions, type DialTlsOptions } from "./dial.ts";
export { FieldBlock, type Fields, Template } from "./hpack/mod.ts";
export * as h2 from "./h2/mod.ts";
export {
  type Certificate,
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
