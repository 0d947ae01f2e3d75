/**
 * Sockets in memory.
 *
 * @module
 */
import type { Socket, SocketAddress, TlsInfo } from "./socket.ts";

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
