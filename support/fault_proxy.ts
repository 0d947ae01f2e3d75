/**
 * A TCP proxy that harms the connections through it, so that tests see what a bad network does.
 *
 * @module
 */

/** Read size of each direction, bytes. */
const CHUNK = 64 * 1024;

/**
 * What happens to bytes from now on:
 * - `pass`: they go through.
 * - `hold`: they are neither read nor sent, and new connections are accepted and left alone: a
 *   black hole. Held bytes go through after a change to `pass`.
 * - `refuse`: new connections are closed at once; old ones pass.
 */
export type FaultMode = "pass" | "hold" | "refuse";

/** How the proxy starts. */
export interface FaultProxyOptions {
  /** Where connections are passed on to, `host:port`. */
  readonly target: string;
  /** Port to listen on; 0, the default, means any. */
  readonly port?: number;
}

/** One connection through the proxy. */
interface Passage {
  readonly near: Deno.TcpConn;
  far: Deno.TcpConn | undefined;
  /** Bytes that went from the client to the target. */
  up: number;
  /** Bytes that went from the target to the client. */
  down: number;
}

/** The proxy. Dispose of it with `await using`. */
export class FaultProxy implements AsyncDisposable {
  readonly #listener: Deno.TcpListener;
  readonly #passages = new Set<Passage>();
  readonly #work = new Set<Promise<void>>();
  readonly #timers = new Map<ReturnType<typeof setTimeout>, () => void>();
  #mode: FaultMode = "pass";
  #resume = Promise.withResolvers<void>();
  #closed = false;
  #accepted = 0;

  /** Where connections are passed on to, `host:port`; may be changed, for later connections. */
  target: string;
  /** Delay of every chunk in each direction, ms. Order is kept. */
  delay = 0;
  /** Closes a connection once the client has sent this many bytes through it. */
  cutAfterUp = Infinity;
  /** Closes a connection once the target has sent this many bytes through it. */
  cutAfterDown = Infinity;

  /** Starts listening on 127.0.0.1. */
  constructor(options: FaultProxyOptions) {
    this.target = options.target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: options.port ?? 0 });
    this.#resume.resolve();
    this.#track(this.#accept());
  }

  /** Where clients connect, `127.0.0.1:port`. */
  get endpoint(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The port clients connect to. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** Connections accepted so far, including refused ones. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Connections open now. */
  get open(): number {
    return this.#passages.size;
  }

  /** What happens to bytes. */
  get mode(): FaultMode {
    return this.#mode;
  }

  set mode(mode: FaultMode) {
    if (this.#mode === "hold") this.#resume.resolve();
    this.#mode = mode;
    if (mode === "hold") this.#resume = Promise.withResolvers<void>();
  }

  /** Closes every open connection on both sides; later ones are as {@linkcode mode} says. */
  drop(): void {
    for (const passage of [...this.#passages]) this.#end(passage);
  }

  /** Stops listening and closes every connection. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#listener.close();
      this.drop();
      this.#resume.resolve();
      for (const [timer, wake] of this.#timers) {
        clearTimeout(timer);
        wake();
      }
    }
    await Promise.all(this.#work);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    work.finally(() => this.#work.delete(work));
  }

  async #accept(): Promise<void> {
    while (!this.#closed) {
      const near = await this.#listener.accept().catch(() => undefined);
      if (near === undefined) return;
      this.#accepted++;
      if (this.#mode === "refuse") close(near);
      else this.#track(this.#serve(near));
    }
  }

  async #serve(near: Deno.TcpConn): Promise<void> {
    const passage: Passage = { near, far: undefined, up: 0, down: 0 };
    this.#passages.add(passage);
    await this.#resumed();
    if (!this.#passages.has(passage)) return;
    const { hostname, port } = split(this.target);
    const far = await Deno.connect({ hostname, port }).catch(() => undefined);
    if (far === undefined || !this.#passages.has(passage)) {
      if (far !== undefined) close(far);
      return this.#end(passage);
    }
    passage.far = far;
    near.setNoDelay(true);
    far.setNoDelay(true);
    await Promise.all([
      this.#pipe(passage, near, far, "up"),
      this.#pipe(passage, far, near, "down"),
    ]);
    this.#end(passage);
  }

  async #pipe(
    passage: Passage,
    from: Deno.TcpConn,
    to: Deno.TcpConn,
    direction: "up" | "down",
  ): Promise<void> {
    const buffer = new Uint8Array(CHUNK);
    try {
      for (;;) {
        const read = await from.read(buffer);
        if (this.delay > 0) await this.#sleep(this.delay);
        await this.#resumed();
        if (read === null) return await to.closeWrite();
        const limit = direction === "up" ? this.cutAfterUp : this.cutAfterDown;
        const allowed = Math.min(read, Math.max(0, limit - passage[direction]));
        for (let sent = 0; sent < allowed;) sent += await to.write(buffer.subarray(sent, allowed));
        passage[direction] += allowed;
        if (passage[direction] >= limit) return this.#end(passage);
      }
    } catch {
      // One side is gone; a proxy shows that to the other side the same way.
      this.#end(passage);
    }
  }

  async #resumed(): Promise<void> {
    while (this.#mode === "hold" && !this.#closed) await this.#resume.promise;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#timers.delete(timer);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#timers.set(timer, wake);
    });
  }

  #end(passage: Passage): void {
    if (!this.#passages.delete(passage)) return;
    close(passage.near);
    if (passage.far !== undefined) close(passage.far);
  }
}

function close(conn: Deno.TcpConn): void {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

function split(target: string): { hostname: string; port: number } {
  const colon = target.lastIndexOf(":");
  return { hostname: target.slice(0, colon), port: Number(target.slice(colon + 1)) };
}
