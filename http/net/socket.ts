/**
 * The byte pipe under every connection, so that the engine knows no platform: adapters for Deno's
 * and Node's sockets, and a pair in memory for tests.
 *
 * @module
 */
import { BodyBuffer } from "../message/body_buffer.ts";
import type { TLSSocket } from "node:tls";
import type { Socket as NodeSocket } from "node:net";
import { nodeInternals, type ReadHandle } from "./node_internals.ts";

/** Where a socket ends. For Unix sockets `hostname` is the path and `port` 0. */
export interface SocketAddress {
  /** IP address, or the path of a Unix socket. */
  readonly hostname: string;
  /** TCP port; 0 for a Unix socket. */
  readonly port: number;
  /** Kind of socket. */
  readonly transport: "tcp" | "unix";
}

/** The certificate a TLS peer presented. */
export interface PeerCertificate {
  /** Distinguished name, one `key=value` a line. */
  readonly subject: string;
  /** Distinguished name of the issuer. */
  readonly issuer: string;
  /** `DNS:…`, `IP Address:…` entries, comma separated; empty if none. */
  readonly subjectAltName: string;
  /** SHA-256 of the DER bytes, hex with colons. */
  readonly fingerprint256: string;
  /** End of validity, as the certificate writes it. */
  readonly validTo: string;
  /** The certificate itself, DER. */
  readonly raw: Uint8Array;
}

/** What the TLS handshake settled. */
export interface TlsInfo {
  /** The ALPN protocol (RFC 7301), or null if none was negotiated. */
  readonly alpnProtocol: string | null;
  /** Server name the client asked for (SNI), where known. */
  readonly serverName?: string;
  /** Cipher suite, where the platform tells. */
  readonly cipher?: string;
  /** The client's certificate, if it gave one that verified. */
  readonly peerCertificate?: PeerCertificate;
}

/** A byte pipe to one peer. */
export interface Socket {
  /** Reads at least one byte into `into` and returns how many, or null at the end. */
  read(into: Uint8Array): Promise<number | null>;
  /** Writes at least one byte and returns how many: the caller loops. */
  write(bytes: Uint8Array): Promise<number>;
  /** Tells the peer that nothing more will come; reading goes on. */
  closeWrite(): Promise<void>;
  /** Ends both directions at once. Pending reads and writes end. May be called again. */
  close(): void;
  /** A read that waits keeps the process alive, as it does from the start. */
  ref?(): void;
  /** A read that waits lets the process end, as that of an idle client connection should. */
  unref?(): void;
  /** The peer. */
  readonly remoteAddr: SocketAddress;
  /** This end. */
  readonly localAddr: SocketAddress;
  /** Null on a plain connection. */
  readonly tls: TlsInfo | null;
}

const NOWHERE: SocketAddress = { hostname: "", port: 0, transport: "tcp" };

function denoAddress(addr: Deno.Addr): SocketAddress {
  if (addr.transport === "unix" || addr.transport === "unixpacket") {
    return { hostname: addr.path, port: 0, transport: "unix" };
  }
  if (addr.transport === "tcp") {
    return { hostname: addr.hostname, port: addr.port, transport: "tcp" };
  }
  return NOWHERE;
}

class DenoSocket implements Socket {
  readonly #conn: Deno.Conn;
  readonly tls: TlsInfo | null;
  readonly #onClosed: (() => void) | undefined;
  #closed = false;

  constructor(conn: Deno.Conn, tls: TlsInfo | null, onClosed?: () => void) {
    this.#conn = conn;
    this.tls = tls;
    this.#onClosed = onClosed;
  }

  get remoteAddr(): SocketAddress {
    return denoAddress(this.#conn.remoteAddr);
  }

  get localAddr(): SocketAddress {
    return denoAddress(this.#conn.localAddr);
  }

  read(into: Uint8Array): Promise<number | null> {
    // rustls reports a peer that hangs up without close_notify as an error. The engine frames its
    // messages itself, so truncation cannot pass unseen and the end may count as an end.
    return this.tls === null
      ? this.#conn.read(into)
      : this.#conn.read(into).catch((error: unknown) => {
        if (error instanceof Deno.errors.UnexpectedEof) return null;
        throw error;
      });
  }

  write(bytes: Uint8Array): Promise<number> {
    return this.#conn.write(bytes);
  }

  closeWrite(): Promise<void> {
    return this.#conn.closeWrite();
  }

  ref(): void {
    if (!this.#closed) (this.#conn as Deno.TcpConn).ref?.();
  }

  unref(): void {
    if (!this.#closed) (this.#conn as Deno.TcpConn).unref?.();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      this.#conn.close();
    } catch {
      // The runtime had closed it already, which is what was asked for.
    }
    this.#onClosed?.();
  }
}

/**
 * Wraps a Deno connection. Nagle's algorithm is switched off: the engine batches its writes itself.
 * `onClosed` is called when the socket is closed.
 */
export function denoSocket(
  conn: Deno.Conn,
  tls: TlsInfo | null = null,
  onClosed?: () => void,
): Socket {
  if (tls === null && "setNoDelay" in conn) (conn as Deno.TcpConn).setNoDelay(true);
  return new DenoSocket(conn, tls, onClosed);
}

/** Bytes that may wait unread in a Node socket before it is told to stop reading. */
const NODE_READ_HIGH_WATER = 256 << 10;

/** Bytes given to a Node socket at once: with 64 KiB, a peer at 2.2 KB/s shows itself every 30 s. */
const NODE_WRITE_BYTES = 64 << 10;

/** What is under a TLS socket that this module opened. */
interface SocketBase extends ReadHandle {
  /** The socket it runs on. */
  readonly socket: Socket;
}

function readHandle(socket: NodeSocket): ReadHandle | null {
  const raw = nodeInternals.parentOf(socket);
  return raw === null ? null : nodeInternals.handleOf(raw);
}

class StreamSocket implements Socket {
  readonly #socket: NodeSocket;
  readonly tls: TlsInfo | null;
  readonly remoteAddr: SocketAddress;
  readonly localAddr: SocketAddress;
  /** What came and was not read; a peer may send TLS records of one byte each. */
  readonly #kept = new BodyBuffer();
  /** What was taken out of that and not read to its end, and how much of it was. */
  #piece: Uint8Array | null = null;
  #offset = 0;
  #buffered = 0;
  #paused = false;
  #ended = false;
  #error: unknown = undefined;
  #reader: { into: Uint8Array; resolve(n: number | null): void; reject(e: unknown): void } | null =
    null;
  #writeReject: ((error: unknown) => void) | null = null;
  readonly #base: Socket | null;
  /**
   * What is under a TLS socket: that one's `pause()` stops only what it hands on, while
   * the platform reads and decrypts whatever the peer sends, without end.
   */
  readonly #handle: ReadHandle | null;

  constructor(socket: NodeSocket, tls: TlsInfo | null, base: SocketBase | null) {
    this.#socket = socket;
    this.tls = tls;
    this.#base = base?.socket ?? null;
    this.#handle = base ?? (tls === null ? null : readHandle(socket));
    this.remoteAddr = base?.socket.remoteAddr ?? {
      hostname: socket.remoteAddress ?? "",
      port: socket.remotePort ?? 0,
      transport: "tcp",
    };
    this.localAddr = base?.socket.localAddr ?? {
      hostname: socket.localAddress ?? "",
      port: socket.localPort ?? 0,
      transport: "tcp",
    };
    socket.setNoDelay(true);
    socket.on("data", (chunk: Uint8Array) => this.#onData(chunk));
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error: unknown) => this.#onEnd(error));
    socket.on("close", () => this.#onEnd());
  }

  #onData(chunk: Uint8Array): void {
    const reader = this.#reader;
    if (reader !== null) {
      this.#reader = null;
      const n = Math.min(chunk.length, reader.into.length);
      reader.into.set(n === chunk.length ? chunk : chunk.subarray(0, n));
      if (n < chunk.length) this.#keep(chunk, n);
      reader.resolve(n);
      return;
    }
    this.#keep(chunk, 0);
  }

  #keep(chunk: Uint8Array, offset: number): void {
    if (offset === 0) this.#kept.add(chunk);
    else {
      // A read was waiting, so nothing else is here.
      this.#piece = chunk;
      this.#offset = offset;
    }
    this.#buffered += chunk.length - offset;
    if (this.#buffered >= NODE_READ_HIGH_WATER && !this.#paused) {
      this.#paused = true;
      this.#socket.pause();
      this.#handle?.readStop();
    }
  }

  #onEnd(error?: unknown): void {
    if (error !== undefined) {
      this.#error ??= error;
      this.#writeReject?.(error);
    } else if (this.#socket.destroyed) {
      this.#writeReject?.(new Deno.errors.BrokenPipe("Socket was closed while writing"));
    }
    this.#ended = true;
    const reader = this.#reader;
    this.#reader = null;
    if (reader === null) return;
    if (this.#error === undefined) reader.resolve(null);
    else reader.reject(this.#error);
  }

  read(into: Uint8Array): Promise<number | null> {
    const piece = this.#piece ?? this.#kept.take();
    if (piece !== null) {
      const left = piece.length - this.#offset;
      const n = Math.min(left, into.length);
      into.set(piece.subarray(this.#offset, this.#offset + n));
      this.#piece = n === left ? null : piece;
      this.#offset = n === left ? 0 : this.#offset + n;
      this.#buffered -= n;
      if (this.#paused && this.#buffered < NODE_READ_HIGH_WATER / 2) {
        this.#paused = false;
        this.#handle?.readStart();
        this.#socket.resume();
      }
      return Promise.resolve(n);
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#reader = { into, resolve, reject };
    });
  }

  write(bytes: Uint8Array): Promise<number> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#socket.destroyed) {
      return Promise.reject(new Deno.errors.BrokenPipe("Socket is closed"));
    }
    // Only the end of a write is told, and who waits wants to see the peer take some of it.
    const piece = bytes.length > NODE_WRITE_BYTES ? bytes.subarray(0, NODE_WRITE_BYTES) : bytes;
    return new Promise((resolve, reject) => {
      this.#writeReject = reject;
      this.#socket.write(piece, (error) => {
        this.#writeReject = null;
        if (error) reject(error);
        else resolve(piece.length);
      });
    });
  }

  closeWrite(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) resolve();
      else this.#socket.end(() => resolve());
    });
  }

  ref(): void {
    this.#base?.ref?.();
  }

  unref(): void {
    this.#base?.unref?.();
  }

  close(): void {
    this.#socket.destroy();
    this.#base?.close();
    this.#onEnd();
  }
}

/**
 * Wraps a socket of `node:net` or `node:tls` whose handshake is over. `base` is what is under it,
 * where this module opened that.
 */
export function nodeSocket(
  socket: NodeSocket | TLSSocket,
  tls: TlsInfo | null = null,
  base: SocketBase | null = null,
): Socket {
  return new StreamSocket(socket as NodeSocket, tls, base);
}

class MemorySocket implements Socket {
  readonly remoteAddr: SocketAddress = { hostname: "memory", port: 0, transport: "tcp" };
  readonly localAddr: SocketAddress = { hostname: "memory", port: 0, transport: "tcp" };
  readonly tls: TlsInfo | null;
  peer!: MemorySocket;
  #inbox: Uint8Array[] = [];
  #ended = false;
  #closed = false;
  #wake: (() => void) | null = null;

  constructor(tls: TlsInfo | null) {
    this.tls = tls;
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  async read(into: Uint8Array): Promise<number | null> {
    for (;;) {
      if (this.#closed) throw new Deno.errors.BadResource("Socket is closed");
      const chunk = this.#inbox[0];
      if (chunk !== undefined) {
        const n = Math.min(chunk.length, into.length);
        into.set(chunk.subarray(0, n));
        if (n === chunk.length) this.#inbox.shift();
        else this.#inbox[0] = chunk.subarray(n);
        return n;
      }
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  write(bytes: Uint8Array): Promise<number> {
    if (this.#closed) return Promise.reject(new Deno.errors.BadResource("Socket is closed"));
    if (this.peer.#closed) return Promise.reject(new Deno.errors.BrokenPipe("Peer is gone"));
    this.peer.#inbox.push(bytes.slice());
    this.peer.#notify();
    return Promise.resolve(bytes.length);
  }

  closeWrite(): Promise<void> {
    this.peer.#ended = true;
    this.peer.#notify();
    return Promise.resolve();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.peer.#ended = true;
    this.#notify();
    this.peer.#notify();
  }
}

/** Two sockets joined in memory: what one writes the other reads. For tests, without ports. */
export function memorySocketPair(tls: TlsInfo | null = null): [Socket, Socket] {
  const a = new MemorySocket(tls);
  const b = new MemorySocket(tls);
  a.peer = b;
  b.peer = a;
  return [a, b];
}
