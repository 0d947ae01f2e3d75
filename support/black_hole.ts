/**
 * An address that lets connections vanish: SYNs get no answer, as behind a firewall that drops them.
 *
 * @module
 */

/** Milliseconds after which an attempt to connect over loopback is taken for unanswered. */
const UNANSWERED_MS = 300;

/** A listener whose queue is full and that never accepts. Linux then drops SYNs. */
export class BlackHole implements AsyncDisposable {
  readonly #listener: Deno.TcpListener;
  readonly #queued: Deno.Conn[] = [];

  private constructor(listener: Deno.TcpListener) {
    this.#listener = listener;
  }

  /** Fills the queue of a new listener. */
  static async open(): Promise<BlackHole> {
    const hole = new BlackHole(
      Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 }),
    );
    for (;;) {
      const unanswered = new AbortController();
      const timer = setTimeout(() => unanswered.abort(), UNANSWERED_MS);
      try {
        const { signal } = unanswered;
        hole.#queued.push(await Deno.connect({ ...hole.#listener.addr, signal } as never));
      } catch {
        return hole;
      } finally {
        clearTimeout(timer);
      }
    }
  }

  /** Where to connect, `127.0.0.1:port`. */
  get endpoint(): string {
    return `127.0.0.1:${this.#listener.addr.port}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const conn of this.#queued) conn.close();
    this.#listener.close();
    return Promise.resolve();
  }
}
