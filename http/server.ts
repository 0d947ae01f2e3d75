/**
 * Accepts connections, finds out which protocol each speaks, and ends them gracefully.
 *
 * @module
 */
import type { FieldBlock } from "./hpack/mod.ts";
import { PREFACE, type RequestHead, Session, type SessionOptions, type Stream } from "./h2/mod.ts";
import { type Certificate, type Listener, type ListenOptions, openListener } from "./listener.ts";
import type { Socket } from "./socket.ts";

/** Something that may take an exchange before the handler does, such as a gRPC service. */
export interface ExchangeTaker {
  /** The stream that serves this HTTP/2 request, or null to leave it to the handler. */
  takeStream(head: RequestHead, block: FieldBlock, session: Session): Stream | null;
}

/** Settings of {@linkcode serve}. */
export interface ServeOptions extends ListenOptions {
  /** Asked first for each exchange. */
  readonly taker?: ExchangeTaker;
  /** Connections open at once; more are closed when accepted. @default {10000} */
  readonly maxConnections?: number;
  /** HTTP/2 limits and timeouts. */
  readonly http2?: SessionOptions;
  /** Milliseconds `close()` waits for exchanges that run, before it cuts them. @default {10000} */
  readonly drainTimeout?: number;
  /** Told of connections that failed before they were served: handshakes, accept errors. */
  readonly onError?: (error: unknown) => void;
}

/** A running server. */
export class Server implements AsyncDisposable {
  readonly #options: ServeOptions;
  readonly #listener: Listener;
  readonly #sessions = new Set<Session>();
  #closing: Promise<void> | null = null;

  /** See {@linkcode serve}. */
  constructor(options: ServeOptions) {
    this.#options = options;
    this.#listener = openListener(
      options,
      (socket) => this.#onSocket(socket),
      (error) => options.onError?.(error),
    );
  }

  /** `host:port` it listens on. */
  get addr(): string {
    return this.#listener.addr;
  }

  /** The port it listens on. */
  get port(): number {
    return this.#listener.port;
  }

  /** Replaces the certificates for handshakes from now on. Throws on a server without TLS. */
  setCerts(certs: readonly Certificate[]): void {
    this.#listener.setCerts(certs);
  }

  #onSocket(socket: Socket): void {
    if (this.#closing !== null || this.#sessions.size >= (this.#options.maxConnections ?? 10_000)) {
      socket.close();
      return;
    }
    const alpn = socket.tls?.alpnProtocol;
    if (alpn === "h2") this.#serveH2(socket);
    else this.#sniff(socket);
  }

  /** Without ALPN the first octets tell: HTTP/2 by prior knowledge begins with its preface. */
  async #sniff(socket: Socket): Promise<void> {
    const head = new Uint8Array(PREFACE.length);
    let have = 0;
    try {
      while (have < head.length) {
        const n = await socket.read(head.subarray(have));
        if (n === null) return socket.close();
        have += n;
        for (let i = have - n; i < have; i++) {
          if (head[i] !== PREFACE[i]) return socket.close();
        }
      }
      this.#serveH2(socket, head);
    } catch (error) {
      socket.close();
      this.#options.onError?.(error);
    }
  }

  #serveH2(socket: Socket, head?: Uint8Array): void {
    const session: Session = new Session("server", socket, {
      accept: (requestHead, block) =>
        this.#options.taker?.takeStream(requestHead, block, session) ?? null,
      onClosed: () => this.#sessions.delete(session),
    }, this.#options.http2);
    this.#sessions.add(session);
    session.start(head);
  }

  /**
   * Stops accepting, lets what runs finish, and cuts what still runs after `drainTimeout`. Resolves
   * when everything is gone.
   */
  close(): Promise<void> {
    return this.#closing ??= (async () => {
      const accepting = this.#listener.close();
      const drain = this.#options.drainTimeout ?? 10_000;
      await Promise.all([...this.#sessions].map((session) => session.close(drain)));
      await accepting;
    })();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Starts a server. Throws at once if the configuration is wrong or the port cannot be had. */
export function serve(options: ServeOptions): Server {
  return new Server(options);
}
