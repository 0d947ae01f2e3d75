/**
 * Opens connections: TCP (both address families are raced by the platform), TLS with ALPN, Unix
 * sockets.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import { DialError, type DialPhase, TimeoutError } from "./error.ts";
import { denoSocket, type Socket } from "./socket.ts";

/** TLS settings of a client. */
export interface DialTlsOptions {
  /** Name the certificate must be for, and the server name sent (SNI). @default the host */
  readonly serverName?: string;
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCerts?: readonly string[];
  /** Client certificate chain, PEM. Needs `key`. */
  readonly cert?: string;
  /** Private key of `cert`, PEM. */
  readonly key?: string;
  /** ALPN protocols (RFC 7301), most wanted first. */
  readonly alpnProtos?: readonly string[];
}

/** Where and how to connect. */
export interface DialOptions {
  /** Host name or IP address; unused with `path`. */
  readonly hostname: string;
  /** TCP port; unused with `path`. */
  readonly port: number;
  /** Path of a Unix socket. */
  readonly path?: string;
  /** TLS, or plain if not given. */
  readonly tls?: DialTlsOptions;
  /** Milliseconds for everything, the handshake included. 0 means without limit. @default {20000} */
  readonly timeout?: number;
  /** Gives the attempt up. */
  readonly signal?: AbortSignal;
}

/** The default of {@linkcode DialOptions.timeout}: the least gRPC gives a connection attempt. */
export const DEFAULT_DIAL_TIMEOUT_MS = 20_000;

/**
 * Opens a connection. Rejects with {@linkcode DialError} naming address, phase and reason, with
 * {@linkcode TimeoutError}, or with the signal's reason.
 */
export async function dial(options: DialOptions): Promise<Socket> {
  const timeout = options.timeout ?? DEFAULT_DIAL_TIMEOUT_MS;
  const controller = new AbortController();
  const onAbort = () => controller.abort(options.signal!.reason);
  options.signal?.throwIfAborted();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const timer = timeout > 0
    ? setTimeout(() => controller.abort(new TimeoutError("connectTimeout", timeout)), timeout)
    : undefined;
  try {
    const tls = options.tls;
    if (tls === undefined) {
      const conn = await connect(options, controller.signal);
      if (!controller.signal.aborted) return denoSocket(conn);
      close(conn);
      throw controller.signal.reason;
    }
    return await connectTls(options, tls, controller.signal);
  } catch (error) {
    if (controller.signal.aborted) {
      const reason = controller.signal.reason;
      throw reason instanceof TimeoutError
        ? new DialError(addressOf(options), "connect", reason.message, { cause: reason })
        : reason;
    }
    throw error;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

function addressOf({ hostname, port, path }: DialOptions): string {
  if (path !== undefined) return path;
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

async function connect(options: DialOptions, signal: AbortSignal): Promise<Deno.Conn> {
  const { hostname, port, path } = options;
  try {
    return path === undefined
      ? await connectTcp(hostname, port, signal)
      : await Deno.connect({ transport: "unix", path });
  } catch (error) {
    throw dialError(options, isLookupFailure(error) ? "dns" : "connect", error);
  }
}

/**
 * `Deno.connect`, which forgets a connection that came about just before its signal aborted: so it
 * is told a turn later, if it has not settled by then.
 */
export async function connectTcp(
  hostname: string,
  port: number,
  signal: AbortSignal,
): Promise<Deno.TcpConn> {
  const inner = new AbortController();
  let settled = false;
  const onAbort = () =>
    setImmediate(() => {
      if (!settled) inner.abort(signal.reason);
    });
  signal.throwIfAborted();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Deno.connect({ hostname, port, signal: inner.signal });
  } finally {
    settled = true;
    signal.removeEventListener("abort", onAbort);
  }
}

async function connectTls(
  options: DialOptions,
  tls: DialTlsOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const serverName = tls.serverName ?? options.hostname;
  const alpnProtocols = [...(tls.alpnProtos ?? [])];
  const caCerts = [...(tls.caCerts ?? [])];
  let conn: Deno.TlsConn;
  if (tls.cert !== undefined && tls.key !== undefined) {
    // Deno.startTls takes no client certificate; this path does without TCP_NODELAY.
    const { cert, key } = tls;
    const { hostname, port } = options;
    try {
      conn = await Deno.connectTls({ hostname, port, cert, key, caCerts, alpnProtocols });
    } catch (error) {
      throw dialError(options, isLookupFailure(error) ? "dns" : "connect", error);
    }
  } else {
    const tcp = await connect(options, signal);
    // Before the handshake, for a TLS connection has no such switch.
    if ("setNoDelay" in tcp) (tcp as Deno.TcpConn).setNoDelay(true);
    try {
      conn = await Deno.startTls(tcp as Deno.TcpConn, {
        hostname: serverName,
        caCerts,
        alpnProtocols,
      });
    } catch (error) {
      close(tcp);
      throw dialError(options, "tls", error);
    }
  }
  if (signal.aborted) {
    close(conn);
    throw signal.reason;
  }
  const abort = () => close(conn);
  signal.addEventListener("abort", abort, { once: true });
  try {
    const { alpnProtocol } = await conn.handshake();
    signal.throwIfAborted();
    return denoSocket(conn, { alpnProtocol, serverName });
  } catch (error) {
    close(conn);
    throw dialError(options, "tls", error);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function close(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // Closed already.
  }
}

function dialError(options: DialOptions, phase: DialPhase, cause: unknown): DialError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DialError(addressOf(options), phase, reason, { cause });
}

/** The platform has no error class of its own for a name that does not resolve. */
function isLookupFailure(error: unknown): boolean {
  return error instanceof Error &&
    /lookup|resolve|name or service|nodename|no address/i.test(error.message);
}
