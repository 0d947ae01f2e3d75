/**
 * Sockets of `node:net` and `node:tls`.
 *
 * @module
 */
import type { Socket as NodeSocket } from "node:net";
import type { TLSSocket } from "node:tls";
import { BodyBuffer } from "../message/body_buffer.ts";
import { nodeInternals, type ReadHandle } from "./node_internals.ts";
import type { Socket, SocketAddress, TlsInfo } from "./socket.ts";

/** Bytes that may wait unread in a Node socket before it is told to stop reading. */
const NODE_READ_HIGH_WATER = 256 << 10;

/** Bytes given to a Node socket at once: with 64 KiB, a peer at 2.2 KB/s shows itself every 30 s. */
const NODE_WRITE_BYTES = 64 << 10;

/** The TCP socket under a TLS socket that this module opened. */
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
  /** Bytes received and not read; a peer may send TLS records of one byte each. */
  readonly #kept = new BodyBuffer();
  /** The piece taken out of them and not read to its end, and how much of it was. */
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
   * The handle under a TLS socket: that one's `pause()` stops only what it hands on, while
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
