/**
 * Opens connections: TCP (both address families are raced by the platform), TLS with ALPN, Unix
 * sockets, and those in memory.
 *
 * @module
 */
import { isIP } from "node:net";
import { setImmediate } from "node:timers";
import { abortable } from "@std/async";
import { DialError, TimeoutError } from "../message/error.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import { handshake } from "./handshake.ts";
import { race } from "./happy_eyeballs.ts";
import { checkPlatformWays, connectPlatformTls } from "./platform_tls.ts";
import type { ClientEngine, DialTlsOptions, Opening } from "./tls_options.ts";
import { denoSocket } from "./deno_socket.ts";
import { connectMemory, isMemory } from "./memory_listener.ts";
import type { Socket } from "./socket.ts";
import { unixAddress } from "./unix_address.ts";

/**
 * The addresses of a host: IPv4 or IPv6, tried as RFC 8305 says, the first first. Called with IP
 * addresses too, so that it can refuse them by throwing.
 */
export type Lookup = (hostname: string) => readonly string[] | Promise<readonly string[]>;

/** Where and how to connect. */
export interface DialOptions {
  /** Host name or IP address; unused with `path`. */
  readonly hostname: string;
  /** TCP port; unused with `path`. */
  readonly port: number;
  /** Path of a Unix socket, abstract ones behind a zero byte, or an address in memory (`memory:/1`). */
  readonly path?: string;
  /** TLS, or plain if not given. */
  readonly tls?: DialTlsOptions;
  /** Milliseconds for everything, the handshake included. 0 means without limit. @default {20000} */
  readonly timeout?: number;
  /** Gives the attempt up. */
  readonly signal?: AbortSignal;
  /** Finds the addresses of `hostname`, instead of the system. */
  readonly lookup?: Lookup;
  /** `"deno"`: by the platform's own calls alone. @default {"own"} */
  readonly engine?: ClientEngine;
  /** The clock `timeout` goes by. */
  readonly time: Time;
}

/** The default of {@linkcode DialOptions.timeout}: the least gRPC gives a connection attempt. */
const DEFAULT_DIAL_TIMEOUT_MS = 20_000;

/**
 * Opens a connection. Rejects with {@linkcode DialError} naming address, phase and reason, with
 * `cause` a {@linkcode TimeoutError} when time ran out; or with the signal's reason.
 */
export function dial(options: DialOptions): Promise<Socket> {
  return new DialAttempt(options).run(async (attempt) => {
    const { path, tls, hostname } = options;
    if (path === undefined) {
      if (attempt.engine === "deno" && tls?.cert !== undefined) {
        return await attempt.connectTls(options, tls);
      }
      const conn = await attempt.connect(options);
      return tls === undefined ? denoSocket(conn) : await attempt.secure(conn, hostname, tls);
    }
    if (isMemory(path)) return attempt.hold(connectMemory(path));
    const socket = denoSocket(attempt.hold(await Deno.connect({ transport: "unix", path })));
    return tls === undefined ? socket : await attempt.secure(socket, hostname, tls);
  });
}

/** One attempt to open a connection: what it is at, what it holds, and when it is given up. */
export class DialAttempt implements Opening {
  readonly #options: DialOptions;
  readonly #controller = new AbortController();
  #held: { close(): void } | null = null;
  /** The step under way. */
  phase: DialError["phase"] = "connect";
  /** The proxy on the way, for messages. */
  proxy: string | null = null;

  /** Of `options` it takes the address, for messages, and `timeout` and `signal`. */
  constructor(options: DialOptions) {
    this.#options = options;
  }

  /** Aborted when the attempt is given up. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get engine(): ClientEngine {
    return this.#options.engine ?? "own";
  }

  hold<T extends { close(): void }>(held: T): T {
    this.#held = held;
    this.check();
    return held;
  }

  check(): void {
    this.signal.throwIfAborted();
  }

  /** A TCP connection, held. */
  async connect({ hostname, port }: { hostname: string; port: number }): Promise<Deno.TcpConn> {
    const { signal } = this;
    const { lookup } = this.#options;
    const conn = this.hold(
      lookup === undefined ? await connectTcp(hostname, port, signal) : await race(
        await this.#lookUp(lookup, hostname),
        (address, signal) => connectTcp(address, port, signal),
        signal,
        this.#options.time,
      ),
    );
    conn.setNoDelay(true);
    return conn;
  }

  async #lookUp(lookup: Lookup, hostname: string): Promise<readonly string[]> {
    const { phase } = this;
    if (phase === "connect") this.phase = "dns";
    const addresses = await abortable(Promise.resolve(lookup(hostname)), this.signal);
    if (!Array.isArray(addresses) || addresses.length === 0) {
      throw new TypeError(`lookup must give the addresses of ${hostname}: got ${addresses}`);
    }
    const wrong = addresses.find((address) => isIP(address) === 0);
    if (wrong !== undefined) {
      throw new TypeError(`lookup must give IP addresses: got ${JSON.stringify(wrong)}`);
    }
    this.phase = phase;
    return addresses;
  }

  /** A TLS connection that shows a certificate, by the platform's call for both. */
  async connectTls(options: DialOptions, tls: DialTlsOptions): Promise<Socket> {
    const { hostname, port, lookup } = options;
    // The name of the host it connects to is the one it checks.
    const { serverName, ...rest } = tls;
    checkPlatformWays("connect", {
      tls: serverName === undefined || serverName === hostname ? rest : tls,
      lookup: lookup !== undefined,
    });
    return await connectPlatformTls(hostname, port, rest, this, () => {
      this.phase = "tls";
    });
  }

  /** The TLS handshake on a connection. */
  secure(
    conn: Deno.TcpConn | Socket,
    hostname: string,
    tls: DialTlsOptions,
  ): Promise<Socket> {
    this.phase = "tls";
    return handshake(conn, hostname, tls, this);
  }

  /** Does `open` under the deadline and the signal; what it held is closed if it fails. */
  async run(open: (attempt: this) => Promise<Socket>): Promise<Socket> {
    const { signal, time, timeout = DEFAULT_DIAL_TIMEOUT_MS } = this.#options;
    signal?.throwIfAborted();
    const onAbort = () => this.#giveUp(signal!.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    const countdown = timeout > 0
      ? new Countdown(time, timeout, () => {
        this.#giveUp(new TimeoutError("connectTimeout", timeout));
      })
      : null;
    try {
      const socket = await open(this);
      if (!this.signal.aborted) return socket;
      socket.close();
      throw this.signal.reason;
    } catch (error) {
      this.#close();
      if (!this.signal.aborted) throw this.#error(error);
      const { reason } = this.signal;
      throw reason instanceof TimeoutError ? this.#error(reason) : reason;
    } finally {
      countdown?.stop();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #giveUp(reason: unknown): void {
    this.#controller.abort(reason);
    this.#close();
  }

  #close(): void {
    try {
      this.#held?.close();
    } catch {
      // Closed already, or handed on to the TLS connection on it.
    }
  }

  #error(cause: unknown): DialError {
    const { phase, proxy } = this;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = /CaUsedAsEndEntity/.test(reason) ? `${reason}: ${LEAF_HINT}` : reason;
    return new DialError(
      addressOf(this.#options),
      phase === "connect" && isLookupFailure(cause)
        ? "dns"
        : phase === "tls" && /NoApplicationProtocol/.test(message)
        ? "alpn"
        : phase,
      proxy !== null && phase === "proxy" ? `${proxy}: ${message}` : message,
      { cause },
    );
  }
}

/** Advice on the certificate that `openssl req -x509` makes unless told otherwise. */
const LEAF_HINT =
  "the server shows an authority's certificate (CA:TRUE): issue a leaf certificate, basicConstraints CA:FALSE";

function addressOf({ hostname, port, path }: DialOptions): string {
  if (path !== undefined) return isMemory(path) ? path : unixAddress(path);
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/**
 * `Deno.connect`, which forgets a connection that came about just before its signal aborted: so it
 * is told a turn later, if it has not settled by then.
 */
async function connectTcp(
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

/** The platform has no error class of its own for a name that does not resolve. */
function isLookupFailure(error: unknown): boolean {
  return error instanceof Error &&
    /lookup|resolve|name or service|nodename|no address/i.test(error.message);
}
