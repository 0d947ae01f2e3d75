/**
 * Connections passed on as they are, between kinds of listeners this module's servers do not have:
 * Unix sockets, TLS inside TLS, proxies.
 *
 * @module
 */

/** A connection that can be read and written. */
export type Duplex = Pick<Deno.Conn, "read" | "write" | "close">;

async function copy(from: Duplex, to: Duplex): Promise<void> {
  const buf = new Uint8Array(64 << 10);
  try {
    for (let n = await from.read(buf); n !== null; n = await from.read(buf)) {
      for (let at = 0; at < n;) at += await to.write(buf.subarray(at, n));
    }
  } catch {
    // One side is gone; the other learns it below.
  }
  close(from);
  close(to);
}

/** Closes a connection that may be closed. */
export function close(conn: Duplex): void {
  try {
    conn.close();
  } catch {
    // Closed already.
  }
}

/** Joins two connections until both are closed. */
export async function join(a: Duplex, b: Duplex): Promise<void> {
  await Promise.all([copy(a, b), copy(b, a)]);
}

/** Where connections come from. */
export interface Listener<C> {
  /** The next one. */
  accept(): Promise<C>;
  /** Ends it. */
  close(): void;
  /** Where it listens. */
  readonly addr: Deno.Addr;
}

/** Serves every connection of a listener. Dispose of it to close the listener and all of them. */
export class Relay<C extends Duplex> implements AsyncDisposable {
  readonly #listener: Listener<C>;
  readonly #conns = new Set<Duplex>();
  readonly #loop: Promise<void>;
  /** Connections accepted. */
  accepted = 0;

  /** Its port, if it has one. */
  get port(): number {
    return this.#listener.addr.transport === "tcp" ? this.#listener.addr.port : 0;
  }

  /** `serve` gets each connection, and a function that keeps one more for the end. */
  constructor(
    listener: Listener<C>,
    serve: (conn: C, keep: <D extends Duplex>(conn: D) => D) => Promise<void>,
  ) {
    this.#listener = listener;
    const keep = <D extends Duplex>(conn: D): D => {
      this.#conns.add(conn);
      return conn;
    };
    this.#loop = (async () => {
      const running: Promise<void>[] = [];
      for (;;) {
        let conn: C;
        try {
          conn = await listener.accept();
        } catch (error) {
          if (error instanceof Deno.errors.BadResource) break;
          // A TLS handshake that failed is no end of the listener.
          continue;
        }
        this.accepted++;
        running.push(serve(keep(conn), keep).catch(() => {}).finally(() => close(conn)));
      }
      await Promise.all(running);
    })();
  }

  /** Passes connections on to a port of this machine. */
  static to<C extends Duplex>(
    listener: Listener<C>,
    port: number,
  ): Relay<C> {
    return new Relay(listener, async (conn, keep) => {
      await join(conn, keep(await Deno.connect({ hostname: "127.0.0.1", port })));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#conns) close(conn);
    await this.#loop;
  }
}
