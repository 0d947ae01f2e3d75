/**
 * Sockets in memory.
 *
 * @module
 */
import type { Socket, SocketAddress, TlsInfo } from "./socket.ts";

class MemorySocket implements Socket {
  readonly remoteAddr: SocketAddress;
  readonly localAddr: SocketAddress;
  readonly tls: TlsInfo | null;
  readonly #maxUnread: number;
  readonly #onClosed: (() => void) | undefined;
  peer!: MemorySocket;
  #inbox: Uint8Array[] = [];
  #unread = 0;
  #ended = false;
  #closed = false;
  /** Wakes a read that waits for bytes. */
  #wake: (() => void) | null = null;
  /** Wakes a write that waits for the peer to read. */
  #room: (() => void) | null = null;

  constructor(local: string, remote: string, options: PairOptions) {
    const { tls = null, maxUnread = Infinity, onClosed } = options;
    this.tls = tls;
    this.#maxUnread = maxUnread;
    this.localAddr = { hostname: local, port: 0, transport: "memory" };
    this.remoteAddr = { hostname: remote, port: 0, transport: "memory" };
    this.#onClosed = onClosed;
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #notifyRoom(): void {
    const room = this.#room;
    this.#room = null;
    room?.();
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
        this.#unread -= n;
        if (this.#unread < this.#maxUnread) this.peer.#notifyRoom();
        return n;
      }
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  async write(bytes: Uint8Array): Promise<number> {
    const { peer } = this;
    while (peer.#unread >= this.#maxUnread && !this.#closed && !peer.#closed) {
      await new Promise<void>((resolve) => this.#room = resolve);
    }
    if (this.#closed) throw new Deno.errors.BadResource("Socket is closed");
    if (peer.#closed) throw new Deno.errors.BrokenPipe("Peer is gone");
    const taken = bytes.slice(0, this.#maxUnread - peer.#unread);
    peer.#inbox.push(taken);
    peer.#unread += taken.length;
    peer.#notify();
    return taken.length;
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
    for (const end of [this, this.peer]) {
      end.#notify();
      end.#notifyRoom();
    }
    this.#inbox = [];
    this.#onClosed?.();
  }
}

/** Options of {@linkcode memorySocketPair}. */
interface PairOptions {
  /** What both say of their handshake. */
  readonly tls?: TlsInfo | null;
  /** Addresses of the two. */
  readonly names?: readonly [string, string];
  /** Bytes each may leave unread before the other's writes wait. @default {Infinity} */
  readonly maxUnread?: number;
  /** Called when the second one is closed on its side. */
  readonly onClosed?: () => void;
}

/** Two sockets joined in memory: what one writes the other reads. */
export function memorySocketPair(options: PairOptions = {}): [Socket, Socket] {
  const { names: [first, second] = ["memory", "memory"], onClosed: _, ...both } = options;
  const a = new MemorySocket(first, second, both);
  const b = new MemorySocket(second, first, options);
  a.peer = b;
  b.peer = a;
  return [a, b];
}
