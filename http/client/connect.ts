/**
 * Opens connections: directly or by a proxy, with TLS or without.
 *
 * @module
 */
import { DialError } from "../message/error.ts";
import type { Target } from "../message/url.ts";
import { dial, type DialOptions } from "../net/dial.ts";
import type { Socket } from "../net/socket.ts";
import type { Time } from "../time/time.ts";
import type { PoolOptions } from "./pool_options.ts";
import { dialProxy, dialThrough } from "./tunnel.ts";

/** Where connections for a request go. */
export interface Route {
  readonly target: Target;
  /** The proxy to go through, or null. */
  readonly proxy: Target | null;
}

/** Opens a connection for `route`, up to the protocols that are spoken on it. */
export async function connect(
  { target, proxy }: Route,
  settings: PoolOptions,
  time: Time,
  signal: AbortSignal,
): Promise<Socket> {
  const { unixSocket, connectTimeout, tls, alpnProtos, lookup, engine } = settings;
  const secure = target.scheme === "https";
  const options: DialOptions = {
    hostname: target.hostname,
    port: target.port,
    timeout: connectTimeout,
    signal,
    engine,
    time,
    ...(unixSocket === null ? {} : { path: unixSocket }),
    ...(lookup === null ? {} : { lookup }),
    ...(secure ? { tls } : {}),
  };
  if (proxy !== null && !secure) return dialProxy(proxy, { ...options, tls });
  const socket = await (proxy === null ? dial(options) : dialThrough(proxy, options));
  // A server that knows nothing of ALPN speaks HTTP/1.1 (RFC 9113 §3.2).
  if (secure && socket.tls?.alpnProtocol === null && !alpnProtos.includes("http/1.1")) {
    socket.close();
    throw new DialError(
      target.authority,
      "alpn",
      `server must choose "h2": it chose no protocol, and alpnProtos has no "http/1.1"`,
    );
  }
  return socket;
}
