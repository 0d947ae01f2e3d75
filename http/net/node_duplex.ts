/**
 * A socket as `node:` modules want it, for what only they can do: TLS with a client certificate, TLS
 * inside TLS, TLS over a Unix socket, WebSockets.
 *
 * @module
 */
import { Duplex } from "node:stream";
import type { Socket } from "./socket.ts";

/** Octets read at once. */
const READ_BYTES = 64 << 10;

/** The next octets, which nobody else writes to, or null at the end. */
export type Pull = () => Promise<Uint8Array | null>;

/** A `Duplex` over a socket. It owns the socket: what destroys the one closes the other. */
export class SocketDuplex extends Duplex {
  /** The socket it is over. */
  readonly socket: Socket;
  readonly #pull: Pull;
  readonly #maxBufferedBytes: number;
  #pulling = false;
  #stopped = false;
  #wanted = false;

  /**
   * `pull` reads where octets of the socket were read ahead; otherwise the socket is read. It is
   * destroyed when more is written while more than `maxBufferedBytes` wait for the peer.
   */
  constructor(socket: Socket, pull: Pull = reader(socket), maxBufferedBytes = Infinity) {
    super({ allowHalfOpen: true });
    this.socket = socket;
    this.#pull = pull;
    this.#maxBufferedBytes = maxBufferedBytes;
  }

  // deno-lint-ignore no-explicit-any
  override write(...args: any[]): boolean {
    if (this.writableLength > this.#maxBufferedBytes && !this.destroyed) {
      const error = new Error(
        `Cannot send as at most ${this.#maxBufferedBytes} octets may wait for the peer: ${this.writableLength} do`,
      );
      this.destroy(error);
      const done = args.at(-1);
      if (typeof done === "function") queueMicrotask(() => done(error));
      return false;
    }
    return (super.write as (...args: unknown[]) => boolean)(...args);
  }

  /** Asked for by users of node sockets; the engine has its own timeouts. */
  setTimeout(): this {
    return this;
  }

  /** Asked for likewise; the engine's sockets have it set. */
  setNoDelay(): this {
    return this;
  }

  /** Reads no more for now, whoever listens: TLS sockets listen always. */
  readStop(): void {
    this.#stopped = true;
  }

  /** Reads on. */
  readStart(): void {
    this.#stopped = false;
    if (this.#wanted) this._read();
  }

  override _read(): void {
    this.#wanted = this.#stopped;
    if (this.#pulling || this.#stopped) return;
    this.#pulling = true;
    this.#pull().then((piece) => {
      this.#pulling = false;
      this.push(piece);
    }, (error) => this.destroy(error));
  }

  override _write(
    chunk: Uint8Array,
    _encoding: string,
    done: (error?: Error | null) => void,
  ): void {
    this.#send(chunk).then(() => done(), done);
  }

  async #send(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length;) at += await this.socket.write(chunk.subarray(at));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.socket.closeWrite().then(() => done(), () => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.socket.close();
    done(error);
  }
}

function reader(socket: Socket): Pull {
  const buf = new Uint8Array(READ_BYTES);
  return async () => {
    const n = await socket.read(buf);
    return n === null ? null : buf.slice(0, n);
  };
}
