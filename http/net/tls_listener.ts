/**
 * Accepts TLS connections by `node:tls`, which alone on this platform sets TCP_NODELAY on TLS
 * sockets, chooses certificates by server name, reloads them, and asks clients for theirs.
 *
 * Connections come one of two ways:
 *
 * - The platform accepts them and moves their bytes beneath JavaScript. That needs two things that
 *   are not documented (node_internals.ts): to bind at once, and to stop reading from a client that
 *   sends faster than a handler reads.
 * - Where a release of the platform lacks one of them, connections are accepted by `Deno.listen`, or
 *   wrapped once they came, and their bytes pass through JavaScript: all of it documented, at some 10
 *   to 25 % of the throughput.
 *
 * @module
 */
import type { Socket as NodeSocket } from "node:net";
import { createServer, type Server as TlsServer, type TLSSocket } from "node:tls";
import { CertificateStore, peerCertificate } from "./certificate.ts";
import {
  type AcceptErrorHandler,
  type Admission,
  joinAddr,
  type Listener,
  type ListenOptions,
} from "./listen_options.ts";
import { NodeDuplex } from "./node_duplex.ts";
import { nodeInternals } from "./node_internals.ts";
import { denoSocket } from "./deno_socket.ts";
import { nodeSocket } from "./node_socket.ts";
import type { Socket, TlsInfo } from "./socket.ts";
import type { Clock } from "../time/clock.ts";
import { bindNow } from "./node_listener.ts";
import { acceptConns, listenTcp, type Place, tcpPlace } from "./tcp_listener.ts";
import { hostOf } from "./address.ts";

/** Opens a port for TLS. Throws at once if the certificates or the port cannot be had. */
export function tlsListener(
  options: ListenOptions,
  clock: Clock,
  hostname: string,
  port: number,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
  admission: Admission,
): Listener {
  const acceptor = new TlsAcceptor(options, onSocket, onError, admission);
  const { server } = acceptor;
  const bound = bindNow(server, hostname, port, options);
  if (bound === null) {
    return throughScript(acceptor, clock, tcpPlace(listenTcp(hostname, port, options)), onError);
  }
  server.on("error", (error) => onError(error, true));
  let closing: Promise<void> | null = null;
  return {
    addr: joinAddr(bound.hostname, bound.port),
    port: bound.port,
    setCerts: (certs) => acceptor.setCerts(certs),
    close() {
      return closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        acceptor.giveUp();
      });
    },
  };
}

/** Serves TLS where connections come in already. */
export function tlsListenerOn(
  place: Place,
  options: ListenOptions,
  clock: Clock,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
  admission: Admission,
): Listener {
  try {
    const acceptor = new TlsAcceptor(options, onSocket, onError, admission);
    return throughScript(acceptor, clock, place, onError);
  } catch (error) {
    place.close();
    throw error;
  }
}

/** The way without anything undocumented. */
function throughScript(
  acceptor: TlsAcceptor,
  clock: Clock,
  place: Place,
  onError: AcceptErrorHandler,
): Listener {
  const accepting = acceptConns(
    place,
    (conn) => acceptor.wrap(denoSocket(conn, null, undefined, place.clientOf(conn))),
    onError,
    clock,
  );
  return {
    addr: place.addr,
    port: place.port,
    setCerts: (certs) => acceptor.setCerts(certs),
    close() {
      acceptor.giveUp();
      return accepting.close();
    },
  };
}

/** Makes handshakes, and keeps count of them. */
class TlsAcceptor {
  readonly #options: ListenOptions;
  readonly #store: CertificateStore;
  readonly #onSocket: (socket: Socket) => void;
  readonly #onError: AcceptErrorHandler;
  readonly #admission: Admission;
  /** Connections whose handshake is not over, by what they are known by then. */
  readonly #handshaking = new Map<unknown, { destroy(): unknown }>();
  /** Takes what the platform accepts. */
  readonly server: TlsServer;

  constructor(
    options: ListenOptions,
    onSocket: (socket: Socket) => void,
    onError: AcceptErrorHandler,
    admission: Admission,
  ) {
    this.#options = options;
    this.#store = new CertificateStore(options.certs, options.clientCa, options.ciphers);
    this.#onSocket = onSocket;
    this.#onError = onError;
    this.#admission = admission;
    this.server = this.#makeServer((socket) => {
      this.#handshaking.delete(clientOf(socket));
      return null;
    });
    const [handshake] = this.server.listeners("connection") as ((raw: NodeSocket) => void)[];
    this.server.removeAllListeners("connection");
    this.server.on("connection", (raw: NodeSocket) => this.#onConnection(raw, handshake!));
  }

  #onConnection(raw: NodeSocket, handshake: (raw: NodeSocket) => void): void {
    // The TCP socket itself: on the TLS socket around it the setting does not always take.
    raw.setNoDelay(true);
    raw.setKeepAlive(true);
    if (nodeInternals.handleOf(raw) === null) return this.wrap(nodeSocket(raw));
    if (!this.#admit(clientOf(raw), raw)) return;
    handshake.call(this.server, raw);
  }

  /** Makes the handshake on a socket of this module, which is read no faster than it is wanted. */
  wrap(socket: Socket): void {
    const duplex = new NodeDuplex(socket);
    // The server tells of its errors.
    duplex.on("error", () => {});
    if (!this.#admit(duplex, duplex)) return;
    // A server of its own: the TLS socket does not tell what it is on.
    const server = this.#makeServer(() => {
      this.#handshaking.delete(duplex);
      return duplex;
    });
    server.emit("connection", duplex);
  }

  /** A connection costs from its handshake on, so it counts from there. */
  #admit(key: unknown, raw: NodeSocket | NodeDuplex): boolean {
    const hostname = raw instanceof NodeDuplex
      ? hostOf(raw.socket.remoteAddr)
      : raw.remoteAddress ?? "";
    if (!this.#admission.enter(hostname, this.#handshaking.size)) {
      raw.destroy();
      return false;
    }
    this.#handshaking.set(key, raw);
    raw.on("close", () => {
      this.#handshaking.delete(key);
      this.#admission.leave(hostname);
    });
    return true;
  }

  /** `established` ends the handshake's entry, and says what the TLS socket is on, if it is known. */
  #makeServer(established: (socket: TLSSocket) => NodeDuplex | null): TlsServer {
    const { alpnProtos, clientCa, handshakeTimeout, requireClientCert } = this.#options;
    const server = createServer({
      ...this.#store.defaultPair,
      ...this.#store.context,
      // deno-lint-ignore no-explicit-any
      SNICallback: (name: string, done: any) => done(null, this.#store.choose(name)),
      ALPNProtocols: [...(alpnProtos ?? [])],
      handshakeTimeout: handshakeTimeout ?? 10_000,
      ...(clientCa === undefined ? {} : {
        requestCert: true,
        rejectUnauthorized: requireClientCert === true,
      }),
    });
    server.on("secureConnection", (socket: TLSSocket) => {
      const base = established(socket);
      try {
        this.#onSocket(nodeSocket(socket, tlsInfo(socket), base));
      } catch (error) {
        socket.destroy();
        this.#onError(error, true);
      }
    });
    server.on("tlsClientError", (error: unknown, socket: TLSSocket) => {
      socket?.destroy();
      // The platform tells of a certificate it refuses as of a connection that was lost.
      const refused = socket?.authorizationError ?? null;
      this.#onError(
        refused === null ? error : new Error(
          `Cannot accept connection as the client's certificate was refused: ${refused}`,
          { cause: error },
        ),
        false,
      );
    });
    return server;
  }

  setCerts(certs: Parameters<Listener["setCerts"]>[0]): void {
    this.#store.set(certs);
    this.server.setSecureContext({ ...this.#store.defaultPair, ...this.#store.context });
  }

  /** Ends connections whose handshake is not over. */
  giveUp(): void {
    for (const raw of [...this.#handshaking.values()]) raw.destroy();
  }
}

/** The members that a TLS socket and the TCP socket under it have in common. */
function clientOf({ remoteAddress, remotePort }: NodeSocket): string {
  return `${remoteAddress}|${remotePort}`;
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
