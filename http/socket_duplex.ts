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
  readonly #socket: Socket;
  readonly #pull: Pull;
  #pulling = false;

  /** `pull` reads where octets of the socket were read ahead; otherwise the socket is read. */
  constructor(socket: Socket, pull: Pull = reader(socket)) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.#pull = pull;
  }

  /** Asked for by users of node sockets; the engine has its own timeouts. */
  setTimeout(): this {
    return this;
  }

  /** Asked for likewise; the engine's sockets have it set. */
  setNoDelay(): this {
    return this;
  }

  override _read(): void {
    if (this.#pulling) return;
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
    for (let at = 0; at < chunk.length;) at += await this.#socket.write(chunk.subarray(at));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.closeWrite().then(() => done(), () => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.close();
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
