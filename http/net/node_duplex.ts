/**
 * A socket as `node:` modules want it, for what only they can do: TLS with a client certificate, TLS
 * inside TLS, TLS over a Unix socket.
 *
 * @module
 */
import { Duplex } from "node:stream";
import type { Socket } from "./socket.ts";

/** Bytes read at once. */
const READ_BYTES = 64 << 10;

/** A `Duplex` over a socket. It owns the socket: what destroys the one closes the other. */
export class NodeDuplex extends Duplex {
  /** The socket it is over. */
  readonly socket: Socket;
  readonly #buf = new Uint8Array(READ_BYTES);
  #pulling = false;
  #stopped = false;
  #wanted = false;

  /** Reads and writes `socket`. */
  constructor(socket: Socket) {
    super({ allowHalfOpen: true });
    this.socket = socket;
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
    this.socket.read(this.#buf).then((n) => {
      this.#pulling = false;
      this.push(n === null ? null : this.#buf.slice(0, n));
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
