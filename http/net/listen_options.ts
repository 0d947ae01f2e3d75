/**
 * Where and how to listen: options, checked before a port is opened, and what an open port can.
 *
 * @module
 */
import { type Certificate, checkAuthorities } from "./certificate.ts";
import { checkBoolean, checkCount, checkTime } from "../message/options.ts";
import { maskUserinfo } from "../message/url.ts";

/** Where and how to listen. */
export interface ListenOptions {
  /**
   * `host:port`, `:port` (every IPv4 interface), `[::1]:port`, `[::]:port` (every interface, of both
   * families where the system has it so); port 0 lets the system choose.
   *
   * `unix:/path` listens on a Unix socket, `unix-abstract:name` on a name of Linux without a file. A
   * socket's file that nobody listens on any more is replaced, any other refused; `close()` removes
   * it. Needs permission to read and write the path beside that for the network.
   *
   * `memory:` listens on an address of its own, `memory:/1`, that gRPC clients of this process can
   * dial, and nobody else: no port, no permission, no TLS.
   */
  readonly addr: string;
  /**
   * Permission bits of a Unix socket's file: who may write to it may connect. With `--allow-sys=umask`
   * they hold from the first moment; without, a moment after the process's umask did.
   *
   * @default by the process's umask
   */
  readonly socketMode?: number;
  /** Serve TLS. @default {false} */
  readonly tls?: boolean;
  /**
   * Certificates; the client's server name (SNI) chooses, exact names before wildcards; the first is
   * for clients that send none, or one that none is for.
   */
  readonly certs?: readonly Certificate[];
  /**
   * ALPN protocols (RFC 7301), most wanted first. A client that offers only others is refused with
   * the alert no_application_protocol; one that offers none is served as its first bytes say.
   */
  readonly alpnProtos?: readonly string[];
  /**
   * Colon-separated TLS cipher suites, IANA or OpenSSL names. Of those in the list the client's
   * preference decides. The platform's TLS cannot leave single suites out, only versions of TLS: a
   * list must have all or none of the suites of TLS 1.3, and all or none of those of TLS 1.2 that
   * the certificates' keys can use; others throw. Clients that share none get a handshake alert.
   *
   * @default every suite of the platform
   */
  readonly ciphers?: string;
  /**
   * Let other listeners with this option, of this user, have the same port (SO_REUSEPORT): the system
   * spreads connections over them. Linux alone does; elsewhere it is refused.
   *
   * @default {false}
   */
  readonly reusePort?: boolean;
  /** Connections that may wait to be accepted; the system may have a limit of its own. @default {511} */
  readonly backlog?: number;
  /**
   * PEM of the authorities client certificates must come from. Clients are then asked for one; one
   * that verifies is `stream.peerCertificate`.
   */
  readonly clientCa?: string;
  /** Refuse clients without a certificate that verifies. Needs `clientCa`. @default {false} */
  readonly requireClientCert?: boolean;
  /** Milliseconds a TLS handshake may take. @default {10000} */
  readonly handshakeTimeout?: number;
}

/** An open port. */
export interface Listener {
  /** `host:port` it is bound to, `unix:path`, or in memory the name it was given. */
  readonly addr: string;
  /** The bound port; 0 of Unix sockets and in memory. */
  readonly port: number;
  /**
   * Replaces the certificates for handshakes from now on; connections that are open stay. Throws on a
   * plain listener, and if a certificate cannot be used: then none is replaced.
   */
  setCerts(certs: readonly Certificate[]): void;
  /** Stops accepting. Accepted sockets live on. */
  close(): Promise<void>;
}

/** `setCerts` of a listener without TLS. */
export function refuseCerts(): never {
  throw new TypeError("Cannot set certificates as the server does not use TLS: set tls to true");
}

/** Splits an address. Throws `TypeError` if it is none. */
export function parseAddr(addr: string): { hostname: string; port: number } {
  const match = typeof addr === "string"
    ? /^(?:\[([^\]@]+)\]|([^:@/?#[\]]*)):(\d{1,5})$/.exec(addr)
    : null;
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new TypeError(
      `Cannot use address as it must be "host:port", ":port" or "[ipv6]:port" with a port <= 65535: current value is ${
        JSON.stringify(maskUserinfo(addr))
      }`,
    );
  }
  return { hostname: match[1] ?? match[2]!, port };
}

/** An address with another port. */
export function withPort(addr: string, port: number): string {
  return joinAddr(parseAddr(addr).hostname, port);
}

/** `host:port`, an IPv6 address in brackets. */
export function joinAddr(hostname: string, port: number): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/**
 * Called with errors of connections that failed before they were handed over; `accepting` if the
 * fault is of this side, which could not accept, and not of one client. Must not throw.
 */
export type AcceptErrorHandler = (error: unknown, accepting: boolean) => void;

/** Decides which connections are let in. */
export interface Admission {
  /**
   * Asked for each connection with the client's address, before a TLS handshake; `handshaking` are
   * under way. False closes the connection.
   */
  enter(hostname: string, handshaking: number): boolean;
  /** A connection that was let in is closed. */
  leave(hostname: string): void;
}

/** Largest backlog `listen(2)` takes; the system cuts it to its own limit. */
const MAX_BACKLOG = 2 ** 31 - 1;

/** The names of {@linkcode ListenOptions}, for checks of options that extend them. */
export const LISTEN_NAMES = {
  addr: true,
  socketMode: true,
  tls: true,
  certs: true,
  alpnProtos: true,
  ciphers: true,
  reusePort: true,
  backlog: true,
  clientCa: true,
  requireClientCert: true,
  handshakeTimeout: true,
} as const satisfies { readonly [K in keyof Required<ListenOptions>]: true };

/** The protocols a server speaks, most wanted first. */
export const PROTOCOLS: readonly string[] = ["h2", "http/1.1"];

/**
 * Checks what can be checked before a port is opened.
 *
 * @throws {TypeError} If an option cannot be used.
 */
export function checkListenOptions(options: ListenOptions): void {
  const {
    addr,
    socketMode,
    reusePort,
    backlog,
    tls,
    alpnProtos,
    clientCa,
    requireClientCert,
    handshakeTimeout,
  } = options;
  checkCount("listen", "backlog", backlog, 1, MAX_BACKLOG);
  checkCount("listen", "socketMode", socketMode, 0, 0o777);
  checkBoolean("listen", "tls", tls);
  checkBoolean("listen", "reusePort", reusePort);
  checkBoolean("listen", "requireClientCert", requireClientCert);
  checkTime("listen", "handshakeTimeout", handshakeTimeout);
  // None at all is a choice too: then ALPN is not spoken.
  if (!Array.isArray(alpnProtos) || alpnProtos.length > 0) checkProtocols("listen", alpnProtos);
  const wrong = (rule: string, value: unknown) => {
    throw new TypeError(`Cannot listen as ${rule}: current value is ${value}`);
  };
  if (socketMode !== undefined && !/^unix:/.test(addr)) {
    wrong("socketMode is for the file of a Unix socket: set addr to unix:/path", socketMode);
  }
  if (reusePort === true && /^(?:unix|unix-abstract|memory):/.test(addr)) {
    wrong("reusePort is for ports: leave it out, or give addr as host:port", reusePort);
  }
  if (reusePort === true && Deno.build.os !== "linux") {
    throw new Deno.errors.NotSupported(
      "Cannot listen with reusePort as Linux alone spreads connections over listeners of one port",
    );
  }
  // A configuration that asks for certificates must not become a server that takes anyone.
  if (tls !== true && (requireClientCert === true || clientCa !== undefined)) {
    wrong("client certificates need TLS: set tls to true", tls);
  }
  if (requireClientCert === true && clientCa === undefined) {
    wrong("requireClientCert needs clientCa, the authorities they must come from", clientCa);
  }
  if (clientCa !== undefined) checkAuthorities(clientCa, "clientCa", "listen");
}

/**
 * Checks a list of ALPN protocols, if it is given.
 *
 * @throws {TypeError} If it is empty or has another than "h2" and "http/1.1".
 */
export function checkProtocols(what: string, protocols: unknown): void {
  if (
    protocols === undefined || (Array.isArray(protocols) && protocols.length > 0 &&
      protocols.every((protocol) => PROTOCOLS.includes(protocol)))
  ) return;
  throw new TypeError(
    `Cannot ${what} as alpnProtos must be among "h2" and "http/1.1": current value is ${
      JSON.stringify(protocols)
    }`,
  );
}
