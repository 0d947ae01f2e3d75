/**
 * Accepts connections: TCP by `Deno.listen`, TLS by `node:tls`, which alone on this platform sets
 * TCP_NODELAY on TLS sockets, chooses certificates by server name, reloads them, and asks clients
 * for theirs.
 *
 * @module
 */
import type { Socket as NodeSocket } from "node:net";
import { createServer, type Server as TlsServer, type TLSSocket } from "node:tls";
import { delay } from "@std/async";
import {
  type Certificate,
  CertificateStore,
  checkAuthorities,
  peerCertificate,
} from "./certificate.ts";
import { checkBoolean, checkCount, checkTime } from "../message/options.ts";
import { denoSocket, nodeSocket, type Socket, type TlsInfo } from "./socket.ts";

/** Where and how to listen. */
export interface ListenOptions {
  /**
   * `host:port`, `:port` (every IPv4 interface), `[::1]:port`, `[::]:port` (every interface, of both
   * families where the system has it so); port 0 lets the system choose.
   */
  readonly addr: string;
  /** Serve TLS. @default {false} */
  readonly tls?: boolean;
  /**
   * Certificates; the client's server name (SNI) chooses, exact names before wildcards; the first is
   * for clients that send none, or one that none is for.
   */
  readonly certs?: readonly Certificate[];
  /**
   * ALPN protocols (RFC 7301), most wanted first. A client that offers only others is refused with
   * the alert no_application_protocol; one that offers none is served as its first octets say.
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
  /** `host:port` it is bound to. */
  readonly addr: string;
  /** The bound port. */
  readonly port: number;
  /**
   * Replaces the certificates for handshakes from now on; connections that are open stay. Throws on a
   * plain listener, and if a certificate cannot be used: then none is replaced.
   */
  setCerts(certs: readonly Certificate[]): void;
  /** Stops accepting. Accepted sockets live on. */
  close(): Promise<void>;
}

/** Splits an address. Throws `TypeError` if it is none. */
export function parseAddr(addr: string): { hostname: string; port: number } {
  const match = typeof addr === "string"
    ? /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(addr)
    : null;
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new TypeError(
      `Cannot use address as it must be "host:port", ":port" or "[ipv6]:port" with a port <= 65535: current value is ${
        JSON.stringify(addr)
      }`,
    );
  }
  return { hostname: match[1] ?? match[2]!, port };
}

function joinAddr(hostname: string, port: number): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/**
 * Called with errors of connections that failed before they were handed over; `accepting` if the
 * fault is of this side, which could not accept, and not of one client. Must not throw.
 */
export type AcceptErrorHandler = (error: unknown, accepting: boolean) => void;

/** Asked before a TLS handshake begins, with how many are under way; false closes the connection. */
export type Admission = (handshaking: number) => boolean;

/** What `listen(2)` takes; the system cuts it to its own limit. */
const MAX_BACKLOG = 2 ** 31 - 1;

/** The names of {@linkcode ListenOptions}, for checks of options that extend them. */
export const LISTEN_NAMES = {
  addr: true,
  tls: true,
  certs: true,
  alpnProtos: true,
  ciphers: true,
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
  const { backlog, tls, alpnProtos, clientCa, requireClientCert, handshakeTimeout } = options;
  checkCount("listen", "backlog", backlog, 1, MAX_BACKLOG);
  checkBoolean("listen", "tls", tls);
  checkBoolean("listen", "requireClientCert", requireClientCert);
  checkTime("listen", "handshakeTimeout", handshakeTimeout);
  // None at all is a choice too: then ALPN is not spoken.
  if (!Array.isArray(alpnProtos) || alpnProtos.length > 0) checkProtocols("listen", alpnProtos);
  const wrong = (rule: string, value: unknown) => {
    throw new TypeError(`Cannot listen as ${rule}: current value is ${value}`);
  };
  // Who asks for certificates and gets a server that takes anyone must hear of it.
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

/**
 * Opens a port and hands every connection, TLS handshake done, to `onSocket`. Throws at once if the
 * configuration is wrong or the port cannot be had.
 */
export function openListener(
  options: ListenOptions,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler = () => {},
  admits: Admission = () => true,
): Listener {
  const { hostname, port } = parseAddr(options.addr);
  checkListenOptions(options);
  const { backlog } = options;
  if (options.tls === true) return tlsListener(options, hostname, port, onSocket, onError, admits);
  return plainListener(hostname, port, backlog, onSocket, onError);
}

function listenTcp(hostname: string, port: number, backlog: number | undefined): Deno.TcpListener {
  return Deno.listen({
    port,
    ...(hostname === "" ? {} : { hostname }),
    ...(backlog === undefined ? {} : { tcpBacklog: backlog }),
  });
}

/** Pause after a failing accept: out of file descriptors, say. */
const ACCEPT_RETRY_MS = 50;

function plainListener(
  hostname: string,
  port: number,
  backlog: number | undefined,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
): Listener {
  const listener = listenTcp(hostname, port, backlog);
  let open = true;
  const loop = (async () => {
    while (open) {
      let conn: Deno.TcpConn;
      try {
        conn = await listener.accept();
      } catch (error) {
        if (!open) return;
        onError(error, true);
        await delay(ACCEPT_RETRY_MS);
        continue;
      }
      try {
        onSocket(denoSocket(conn));
      } catch (error) {
        onError(error, true);
        try {
          conn.close();
        } catch {
          // Closed meanwhile.
        }
      }
    }
  })();
  return {
    addr: joinAddr(listener.addr.hostname, listener.addr.port),
    port: listener.addr.port,
    setCerts() {
      throw new TypeError(
        "Cannot set certificates as the server does not use TLS: set tls to true",
      );
    },
    async close() {
      if (!open) return;
      open = false;
      listener.close();
      await loop;
    },
  };
}

function tlsListener(
  options: ListenOptions,
  hostname: string,
  port: number,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
  admits: Admission,
): Listener {
  const store = new CertificateStore(options.certs, options.clientCa, options.ciphers);
  // node:tls reports a port in use only later, by an event: ask the system first, synchronously.
  const probe = listenTcp(hostname, port, options.backlog);
  const bound = probe.addr;
  probe.close();
  const server = createServer({
    ...defaultPair(options.certs!),
    ...store.context,
    // deno-lint-ignore no-explicit-any
    SNICallback: (name: string, done: any) => done(null, store.choose(name)),
    ALPNProtocols: [...(options.alpnProtos ?? [])],
    handshakeTimeout: options.handshakeTimeout ?? 10_000,
    ...(options.clientCa === undefined ? {} : {
      requestCert: true,
      rejectUnauthorized: options.requireClientCert === true,
    }),
  });
  /** Connections whose handshake is not over, by the client's address. */
  const handshaking = new Map<string, NodeSocket>();
  const [handshake] = server.listeners("connection") as ((raw: NodeSocket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (raw: NodeSocket) => {
    // A connection costs from its handshake on, so it counts from there.
    if (!admits(handshaking.size)) {
      raw.destroy();
      return;
    }
    // The TCP socket itself: on the TLS socket around it the setting does not always take.
    raw.setNoDelay(true);
    const client = `${raw.remoteAddress}|${raw.remotePort}`;
    handshaking.set(client, raw);
    raw.on("close", () => handshaking.delete(client));
    handshake!.call(server, raw);
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    handshaking.delete(`${socket.remoteAddress}|${socket.remotePort}`);
    try {
      onSocket(nodeSocket(socket, tlsInfo(socket)));
    } catch (error) {
      socket.destroy();
      onError(error, true);
    }
  });
  server.on("tlsClientError", (error: unknown, socket: TLSSocket) => {
    socket?.destroy();
    // The platform tells of a certificate it refuses as of a connection that was lost.
    const refused = socket?.authorizationError ?? null;
    onError(
      refused === null ? error : new Error(
        `Cannot accept connection as the client's certificate was refused: ${refused}`,
        { cause: error },
      ),
      false,
    );
  });
  server.on("error", (error) => onError(error, true));
  bind(server, bound, options.backlog);
  let closing: Promise<void> | null = null;
  return {
    addr: joinAddr(bound.hostname, bound.port),
    port: bound.port,
    setCerts(certs) {
      store.set(certs);
      server.setSecureContext({ ...defaultPair(certs), ...store.context });
    },
    close() {
      return closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        for (const raw of handshaking.values()) raw.destroy();
      });
    },
  };
}

/** The default of the platform. */
const DEFAULT_BACKLOG = 511;

/**
 * Binds at once. `server.listen()` with an address would look that up first and bind a turn later,
 * when whoever connects right after has been refused already.
 */
function bind(server: TlsServer, addr: Deno.NetAddr, backlog: number = DEFAULT_BACKLOG): void {
  const family = addr.hostname.includes(":") ? 6 : 4;
  (server as unknown as {
    _listen2(address: string, port: number, family: 4 | 6, backlog: number): void;
  })._listen2(addr.hostname, addr.port, family, backlog);
  if (server.address() === null) {
    throw new Deno.errors.AddrInUse(`Cannot listen on ${joinAddr(addr.hostname, addr.port)}`);
  }
}

function defaultPair(certs: readonly Certificate[]): { cert: string; key: string } {
  return { cert: certs[0]!.cert, key: certs[0]!.key };
}

function tlsInfo(socket: TLSSocket): TlsInfo {
  const alpn = socket.alpnProtocol;
  const cipher = socket.getCipher?.() as { name?: string; standardName?: string } | undefined;
  const serverName = (socket as unknown as { servername?: string | false }).servername;
  const certificate = socket.authorized ? peerCertificate(socket) : undefined;
  return {
    alpnProtocol: typeof alpn === "string" && alpn !== "" ? alpn : null,
    ...(typeof serverName === "string" && serverName !== "" ? { serverName } : {}),
    ...(cipher?.standardName ?? cipher?.name
      ? { cipher: (cipher!.standardName ?? cipher!.name)! }
      : {}),
    ...(certificate === undefined ? {} : { peerCertificate: certificate }),
  };
}
