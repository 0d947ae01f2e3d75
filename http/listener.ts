/**
 * Accepts connections: TCP by `Deno.listen`, TLS by `node:tls`, which alone on this platform sets
 * TCP_NODELAY on TLS sockets, chooses certificates by server name, reloads them, and asks clients
 * for theirs.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Socket as NodeSocket } from "node:net";
import {
  createSecureContext,
  createServer,
  type SecureContext,
  type Server as TlsServer,
  type TLSSocket,
} from "node:tls";
import { X509Certificate } from "node:crypto";
import { delay } from "@std/async";
import {
  denoSocket,
  nodeSocket,
  type PeerCertificate,
  type Socket,
  type TlsInfo,
} from "./socket.ts";

/** A certificate chain with its private key, both PEM. */
export interface Certificate {
  /** Leaf first, then intermediates. */
  readonly cert: string;
  /** PKCS#8, PKCS#1 or SEC1. */
  readonly key: string;
}

/** Where and how to listen. */
export interface ListenOptions {
  /** `host:port`, `:port` (every interface), `[::1]:port`; port 0 lets the system choose. */
  readonly addr: string;
  /** Serve TLS. @default {false} */
  readonly tls?: boolean;
  /** Certificates; the client's server name (SNI) chooses, the first is the default. */
  readonly certs?: readonly Certificate[];
  /** ALPN protocols (RFC 7301), most wanted first. */
  readonly alpnProtos?: readonly string[];
  /** Colon-separated TLS cipher suites, IANA or OpenSSL names. Connections with another suite are refused. */
  readonly ciphers?: string;
  /** Connections that may wait to be accepted. @default {511} */
  readonly backlog?: number;
  /** PEM of the authorities client certificates must come from. */
  readonly clientCa?: string;
  /** Refuse clients without a certificate. @default {false} */
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
  /** Replaces the certificates for handshakes from now on. Throws on a plain listener. */
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

/** Accepted sockets that failed before they were handed over are counted here, not thrown. */
export type AcceptErrorHandler = (error: unknown) => void;

/**
 * Opens a port and hands every connection, TLS handshake done, to `onSocket`. Throws at once if the
 * configuration is wrong or, without TLS, the port cannot be had; with TLS a port that cannot be had
 * throws too.
 */
export function openListener(
  options: ListenOptions,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler = () => {},
): Listener {
  const { hostname, port } = parseAddr(options.addr);
  const backlog = options.backlog;
  if (backlog !== undefined && (!Number.isInteger(backlog) || backlog < 1)) {
    throw new TypeError(
      `Cannot listen as backlog must be an integer >= 1: current value is ${backlog}`,
    );
  }
  if (options.tls === true) return tlsListener(options, hostname, port, onSocket, onError);
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
        onError(error);
        await delay(ACCEPT_RETRY_MS);
        continue;
      }
      try {
        onSocket(denoSocket(conn));
      } catch (error) {
        onError(error);
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

/** Names each certificate is for, with its TLS context. */
class CertificateStore {
  #entries: { names: string[]; context: SecureContext }[] = [];

  readonly #clientCa: { ca?: string };

  /** Client certificates are checked against the authorities of the context that SNI chose. */
  constructor(certs: readonly Certificate[] | undefined, clientCa: string | undefined) {
    this.#clientCa = clientCa === undefined ? {} : { ca: clientCa };
    this.set(certs);
  }

  set(certs: readonly Certificate[] | undefined): void {
    if (certs === undefined || certs.length === 0) {
      throw new TypeError("Cannot use TLS without certificates: give certs: [{ cert, key }]");
    }
    this.#entries = certs.map(({ cert, key }, i) => {
      try {
        const parsed = new X509Certificate(cert);
        const names = (parsed.subjectAltName ?? "").split(/,\s*/)
          .filter((name) => name.startsWith("DNS:"))
          .map((name) => name.slice(4).toLowerCase());
        return { names, context: createSecureContext({ cert, key, ...this.#clientCa }) };
      } catch (cause) {
        throw new TypeError(
          `Cannot use certs[${i}] as cert and key must be a PEM certificate and its PEM private key: ${
            cause instanceof Error ? cause.message : cause
          }`,
          { cause },
        );
      }
    });
  }

  /** The context whose names match, exact names before wildcards; the first if none does. */
  choose(serverName: string): SecureContext {
    const name = serverName.toLowerCase();
    const wildcard = "*" + name.slice(name.indexOf(".") < 0 ? name.length : name.indexOf("."));
    const found = this.#entries.find(({ names }) => names.includes(name)) ??
      this.#entries.find(({ names }) => names.includes(wildcard));
    return (found ?? this.#entries[0]!).context;
  }
}

/** Suites this platform's TLS offers, by IANA and by OpenSSL name. */
const SUITES: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: "TLS_AES_128_GCM_SHA256",
  TLS_AES_256_GCM_SHA384: "TLS_AES_256_GCM_SHA384",
  TLS_CHACHA20_POLY1305_SHA256: "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
};

/** The IANA names a cipher list allows, or null for all. Throws on suites that cannot be had. */
export function parseCiphers(ciphers: string | undefined): ReadonlySet<string> | null {
  if (ciphers === undefined) return null;
  const known = new Set(Object.values(SUITES));
  const allowed = new Set<string>();
  for (const name of ciphers.split(":").filter((part) => part !== "")) {
    const iana = SUITES[name] ?? (known.has(name) ? name : undefined);
    if (iana === undefined) {
      throw new TypeError(
        `Cannot use cipher ${JSON.stringify(name)} as it must be one of ${
          Object.keys(SUITES).join(", ")
        }`,
      );
    }
    allowed.add(iana);
  }
  if (allowed.size === 0) throw new TypeError("Cannot use ciphers as the list is empty");
  return allowed;
}

function tlsListener(
  options: ListenOptions,
  hostname: string,
  port: number,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
): Listener {
  const store = new CertificateStore(options.certs, options.clientCa);
  const ciphers = parseCiphers(options.ciphers);
  // node:tls reports a port in use only later, by an event: ask the system first, synchronously.
  const probe = listenTcp(hostname, port, options.backlog);
  const bound = probe.addr;
  probe.close();
  const server = createServer({
    ...defaultPair(options.certs!),
    // deno-lint-ignore no-explicit-any
    SNICallback: (name: string, done: any) => done(null, store.choose(name)),
    ALPNProtocols: [...(options.alpnProtos ?? [])],
    handshakeTimeout: options.handshakeTimeout ?? 10_000,
    ...(options.clientCa === undefined && options.requireClientCert !== true ? {} : {
      requestCert: true,
      rejectUnauthorized: options.requireClientCert === true,
      ...(options.clientCa === undefined ? {} : { ca: options.clientCa }),
    }),
  });
  /** Connections whose handshake is not over, by the client's address. */
  const handshaking = new Map<string, NodeSocket>();
  server.on("connection", (raw: NodeSocket) => {
    // The TCP socket itself: on the TLS socket around it the setting does not always take.
    raw.setNoDelay(true);
    const client = `${raw.remoteAddress}|${raw.remotePort}`;
    handshaking.set(client, raw);
    raw.on("close", () => handshaking.delete(client));
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    handshaking.delete(`${socket.remoteAddress}|${socket.remotePort}`);
    try {
      const tls = tlsInfo(socket);
      if (ciphers !== null && !ciphers.has(tls.cipher ?? "")) {
        socket.destroy();
        onError(new Error(`Cannot accept connection as its cipher is ${tls.cipher}`));
        return;
      }
      onSocket(nodeSocket(socket, tls));
    } catch (error) {
      socket.destroy();
      onError(error);
    }
  });
  server.on("tlsClientError", (error: unknown, socket: TLSSocket) => {
    socket?.destroy();
    onError(error);
  });
  server.on("error", onError);
  bind(server, bound, options.backlog);
  let closing: Promise<void> | null = null;
  return {
    addr: joinAddr(bound.hostname, bound.port),
    port: bound.port,
    setCerts(certs) {
      store.set(certs);
      server.setSecureContext(defaultPair(certs));
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

function peerCertificate(socket: TLSSocket): PeerCertificate | undefined {
  const raw = (socket.getPeerCertificate?.() as { raw?: Uint8Array } | null)?.raw;
  if (raw === undefined) return undefined;
  const parsed = new X509Certificate(Buffer.from(raw));
  return {
    subject: parsed.subject,
    issuer: parsed.issuer,
    subjectAltName: parsed.subjectAltName ?? "",
    fingerprint256: parsed.fingerprint256,
    validTo: parsed.validTo,
    raw: new Uint8Array(raw),
  };
}
