/**
 * Accepts connections, finds out which protocol each speaks, runs handlers, and ends gracefully.
 *
 * @module
 */
import { MessageError } from "../message/message_error.ts";
import type { ExchangeHost } from "./exchange_host.ts";
import { ServerSession } from "./h1_session.ts";
import { PREFACE, Session, type SessionOptions, StatusOnlyStream } from "../h2/mod.ts";
import { H2ServerStream } from "./h2_stream.ts";
import { followExchange } from "./followed_exchange.ts";
import { type ErrorListener, type Handler, runHandler } from "./handler.ts";
import { latin1 } from "../message/headers.ts";
import { type ServerLimits, serverLimits } from "./limits.ts";
import type { ExchangeRouter, HandlerHost } from "./mountable.ts";
import { givenOptions } from "../message/options.ts";
import type { Inspect } from "../message/inspect.ts";
import { printable, tell, tellError } from "../message/tell.ts";
import type { Certificate } from "../net/certificate.ts";
import type { Listener, ListenOptions } from "../net/listen_options.ts";
import { openListener } from "../net/listener.ts";
import { AddressCount } from "../net/address_count.ts";
import type { Socket } from "../net/socket.ts";
import { ConnectionAge } from "./connection_age.ts";
import { formatAddress } from "../net/address.ts";
import type { HttpServer } from "./options.ts";
import type { ServerStream } from "./stream.ts";
import type { ClientView, ServerView } from "./server_view.ts";
import { type ServerWatch, watchOf } from "./watch.ts";
import { telemetryOf, type TelemetryOptions } from "../telemetry/telemetry.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";

/** Told of requests that were refused before a handler saw them, with the client's `host:port`. */
type BadRequestListener = (error: MessageError, remoteAddr: string) => unknown;

/** Settings of {@linkcode startServer}. */
export interface ServeOptions extends ListenOptions {
  /** Answers requests. Without one they are answered with 404. */
  readonly handler?: Handler;
  /** Asked first for each exchange. */
  readonly router?: ExchangeRouter | undefined;
  /** Compress responses given whole, for clients that take it. @default {false} */
  readonly compress?: boolean;
  /** Limits and timeouts. */
  readonly limits?: ServerLimits;
  /** Connections open at once; more are closed when accepted. Overrides `limits`. */
  readonly maxConnections?: number;
  /** HTTP/2 limits and timeouts. Override `limits`. */
  readonly http2?: SessionOptions;
  /** Milliseconds `close()` waits for exchanges that run, before it cuts them. Overrides `limits`. */
  readonly drainTimeout?: number;
  /** See `onError` of {@linkcode listen}. */
  readonly onError?: ErrorListener | null;
  /** See `onBadRequest` of {@linkcode listen}. */
  readonly onBadRequest?: BadRequestListener | null;
  /** See `telemetry` of {@linkcode listen}. */
  readonly telemetry?: boolean | TelemetryOptions;
}

/** Milliseconds a new connection has to begin its first request when the server closes. */
const FIRST_REQUEST_MS = 250;

/** Answers when there is no handler. */
export const NOT_FOUND: Handler = (stream: ServerStream): void => {
  stream.respond(404);
  stream.closeWrite();
};

/** Ends the connections of a server at once, all or those of one client by its `host:port`. */
let cutConnections: (server: HttpServer, remoteAddr?: string) => void;
/** A server seen from the side; null if it is none of this engine. */
let viewOf: (server: unknown) => ServerView | null;
export { cutConnections, viewOf };

/** A running server. */
export class Server implements AsyncDisposable {
  readonly #options: ServeOptions;
  readonly #limits: Required<ServerLimits>;
  readonly #time: Time;
  readonly #addresses: AddressCount;
  readonly #listener: Listener;
  /** Connections that have not said anything, with what ends their wait. */
  readonly #sniffing = new Map<Socket, { readonly deadline: Deadline; readonly since: number }>();
  readonly #h1 = new Set<ServerSession>();
  readonly #h2 = new Set<Session>();
  readonly #host: ExchangeHost & Omit<HandlerHost, "watch"> & { watch: ServerWatch | null };
  #handlers = 0;
  #running = new Set<Promise<void>>();
  #closing: Promise<void> | null = null;
  /** Whether the last connection could not be accepted. */
  #acceptFailed = false;

  static {
    cutConnections = (server, remoteAddr) => {
      if (server instanceof Server) server.#cut(remoteAddr);
    };
    viewOf = (server) => server instanceof Server ? server.#view() : null;
  }

  /** See {@linkcode startServer}. */
  constructor(options: ServeOptions, time: Time) {
    this.#options = options;
    this.#time = time;
    const { maxConnections, drainTimeout } = options;
    this.#limits = serverLimits(options.limits, { maxConnections, drainTimeout });
    if (options.handler !== undefined && typeof options.handler !== "function") {
      throw new TypeError(
        `Cannot listen as handler must be a function: got ${typeof options.handler}`,
      );
    }
    this.#addresses = new AddressCount(this.#limits.maxConnectionsPerAddress);
    this.#host = {
      limits: this.#limits,
      time,
      handle: (stream: ServerStream) => this.#handle(stream),
      onBadRequest: (error: MessageError, socket: Socket) => this.#refused(error, socket),
      onDropped: (error: unknown, stream: ServerStream) =>
        tellError(
          options.onError,
          `Trailers of the answer to ${stream.method} ${printable(stream.path)} were left out`,
          error,
          stream,
        ),
      handlerStarted: () => {
        if (this.#handlers >= this.#limits.maxHandlers) return false;
        this.#handlers++;
        return true;
      },
      handlerEnded: this.#handled,
      onError: options.onError,
      watch: watchOf(telemetryOf("listen", options.telemetry), null, false),
    };
    this.#listener = openListener(
      { handshakeTimeout: this.#limits.handshakeTimeout, ...options },
      time.clock,
      (socket) => this.#onSocket(socket),
      (error, accepting) => this.#onConnectionError(error, accepting),
      {
        enter: (hostname, handshaking) =>
          this.connections + handshaking < this.#limits.maxConnections &&
          this.#addresses.enter(hostname),
        leave: (hostname) => this.#addresses.leave(hostname),
      },
    );
  }

  /** `host:port` it listens on, `unix:path`, or its address in memory. */
  get addr(): string {
    return this.#listener.addr;
  }

  /** The port it listens on. */
  get port(): number {
    return this.#listener.port;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#sniffing.size + this.#h1.size + this.#h2.size;
  }

  /** Handlers at work now. */
  get handlers(): number {
    return this.#handlers;
  }

  /** Replaces the certificates for handshakes from now on. Throws on a server without TLS. */
  setCerts(certs: readonly Certificate[]): void {
    this.#listener.setCerts(certs);
  }

  /**
   * Without a listener only what fails on this side is printed, and once in a row: strangers that
   * break off a handshake are everyday on an open port.
   */
  #onConnectionError(error: unknown, accepting: boolean): void {
    const { onError } = this.#options;
    if (onError === undefined && (!accepting || this.#acceptFailed)) return;
    this.#acceptFailed = accepting;
    tellError(onError, `Accepting connections on ${this.addr} failed`, error);
  }

  #refused(error: MessageError, socket: Socket): void {
    const { onBadRequest } = this.#options;
    if (onBadRequest) tell(onBadRequest, error, formatAddress(socket.remoteAddr));
  }

  #onSocket(socket: Socket): void {
    this.#acceptFailed = false;
    if (this.connections >= this.#limits.maxConnections) return socket.close();
    const alpn = socket.tls?.alpnProtocol;
    if (alpn === "h2") this.#serveH2(socket);
    else if (alpn === "http/1.1") this.#serveH1(socket);
    else this.#track(this.#sniff(socket));
  }

  /** `close()` waits for it. It must not reject. */
  #track(running: Promise<void>): void {
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** Without ALPN the first bytes tell: HTTP/2 by prior knowledge begins with its preface. */
  async #sniff(socket: Socket): Promise<void> {
    const head = new Uint8Array(1024);
    let have = 0;
    const since = this.#time.clock.now();
    const deadline = new Deadline(this.#time, () => socket.close());
    const wait = { deadline, since };
    this.#sniffing.set(socket, wait);
    deadline.set("headerTimeout", this.#limits.headerTimeout, since);
    if (this.#closing !== null) this.#hurry(wait);
    try {
      for (;;) {
        const n = await socket.read(have === 0 ? head : head.subarray(have));
        if (n === null) return socket.close();
        const checked = have;
        have += n;
        let i = checked;
        while (i < have && i < PREFACE.length && head[i] === PREFACE[i]) i++;
        if (i === PREFACE.length) return this.#serveH2(socket, head.subarray(0, have));
        if (i < have) {
          const bytes = head.subarray(0, have);
          // Another protocol altogether: an answer in HTTP would mean nothing to it (RFC 9113 §3.4).
          return isForeign(bytes) ? socket.close() : this.#serveH1(socket, bytes);
        }
      }
    } catch {
      // Gone before it said anything.
      socket.close();
    } finally {
      deadline.stop();
      this.#sniffing.delete(socket);
    }
  }

  #serveH1(socket: Socket, head?: Uint8Array): void {
    const session = new ServerSession(socket, this.#host, head);
    this.#h1.add(session);
    this.#track(session.run().then(() => void this.#h1.delete(session)));
    if (this.#closing !== null) session.close();
  }

  #serveH2(socket: Socket, head?: Uint8Array): void {
    const limits = this.#limits;
    const refuse = (message: string, status: number) => {
      this.#refused(new MessageError(message, status), socket);
      return new StatusOnlyStream(status, this.#time);
    };
    const session: Session = new Session("server", socket, {
      accept: (requestHead, block) =>
        this.#options.router?.routeStream(requestHead, block, session, this.#host) ??
          (this.#handlers >= limits.maxHandlers
            ? new StatusOnlyStream(503, this.#time)
            : limits.maxBodyBytes > 0 && requestHead.contentLength > limits.maxBodyBytes
            ? refuse(`Body must be <= ${limits.maxBodyBytes} bytes`, 413)
            : requestHead.method === "CONNECT" || requestHead.method === "TRACE"
            ? refuse(`Method must be another than ${requestHead.method}`, 405)
            : requestHead.path.length > limits.maxTargetBytes
            ? refuse(`Request target must be <= ${limits.maxTargetBytes} bytes`, 414)
            : requestHead.oddExpectation
            ? refuse(`Expect must be "100-continue" (RFC 9110 §10.1.1)`, 417)
            : new H2ServerStream(requestHead, block, socket, this.#host).stream),
      acceptOversize: () =>
        refuse(
          `Head must be <= ${limits.maxHeaderBytes} bytes in <= ${limits.maxHeaderFields} fields`,
          431,
        ),
      onMalformed: (reason) =>
        this.#refused(new MessageError(`Request is malformed: ${reason}`), socket),
      onClosed: () => {
        age?.stop();
        this.#h2.delete(session);
      },
    }, {
      maxConcurrentStreams: limits.maxStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
      maxFields: limits.maxHeaderFields,
      prefaceTimeout: limits.prefaceTimeout,
      settingsTimeout: limits.settingsTimeout,
      writeTimeout: limits.writeTimeout,
      minWriteRate: limits.minWriteRate,
      idleTimeout: limits.idleTimeout,
      ...keepalive(limits),
      ...givenOptions(this.#options.http2),
    }, this.#time);
    const age = limits.maxConnectionAge === 0 ? null : new ConnectionAge(
      limits,
      this.#time,
      () => void session.close(),
      () => session.destroy(),
    );
    this.#h2.add(session);
    session.start(head);
    if (this.#closing !== null) this.#track(session.close(this.#limits.drainTimeout));
  }

  #handle(stream: ServerStream): Promise<void> | undefined {
    const { watch } = this.#host;
    if (this.#handlers >= this.#limits.maxHandlers) {
      if (watch !== null) followExchange(watch, stream, this.#time.clock);
      stream.respond(503, { "retry-after": "1" }, true);
      return undefined;
    }
    let routed: Promise<void> | null;
    try {
      const { router, onError } = this.#options;
      routed = router?.routeExchange(stream, onError, this.#time, watch) ?? null;
    } catch (error) {
      // Errors of a router are answered as those of a handler.
      return runHandler(() => Promise.reject(error), stream, this.#options.onError);
    }
    if (routed !== null) {
      return this.#counted(runHandler(() => routed, stream, this.#options.onError));
    }
    this.#handlers++;
    if (this.#options.compress === true) stream.compress = true;
    const running = watch === null ? this.#runHandler(stream) : this.#runFollowed(watch, stream);
    if (running === undefined) {
      this.#handlers--;
      return undefined;
    }
    return running.then(this.#handled);
  }

  #runHandler(stream: ServerStream): Promise<void> | undefined {
    return runHandler(this.#options.handler ?? NOT_FOUND, stream, this.#options.onError);
  }

  #runFollowed(watch: ServerWatch, stream: ServerStream): Promise<void> | undefined {
    const followed = followExchange(watch, stream, this.#time.clock);
    return followed === null
      ? this.#runHandler(stream)
      : followed.run(() => this.#runHandler(stream));
  }

  readonly #handled = (): void => {
    this.#handlers--;
  };

  #counted(running: Promise<void> | undefined): Promise<void> | undefined {
    if (running === undefined) return undefined;
    this.#handlers++;
    return running.then(this.#handled);
  }

  #view(): ServerView {
    const { addr } = this;
    const connections = (): number => this.connections;
    const handlers = (): number => this.handlers;
    return {
      addr,
      get connections() {
        return connections();
      },
      get handlers() {
        return handlers();
      },
      now: () => this.#time.clock.now(),
      recorder: (make) => {
        const { watch } = this.#host;
        const recorder = (watch?.recorder ?? null) as ReturnType<typeof make> | null;
        if (recorder !== null) return recorder;
        const made = make();
        this.#host.watch = watchOf(watch?.telemetry ?? null, made, false);
        return made;
      },
      clients: (mostClients, mostStreams) => this.#clients(mostClients, mostStreams),
    };
  }

  #clients(mostClients: number, mostStreams: number): ClientView[] {
    const views: ClientView[] = [];
    const add = ({ remoteAddr, tls }: Socket, carries: ClientView["carries"]): void => {
      views.push({ peer: formatAddress(remoteAddr), tls: tls !== null, carries });
    };
    for (const session of this.#h2) {
      if (views.length === mostClients) return views;
      add(session.socket, { version: "HTTP/2", ...session.view(mostStreams) });
    }
    for (const session of this.#h1) {
      if (views.length === mostClients) return views;
      add(session.socket, { version: "HTTP/1.1", ...session.view });
    }
    return views;
  }

  #cut(remoteAddr: string | undefined): void {
    const meant = (socket: Socket) =>
      remoteAddr === undefined || formatAddress(socket.remoteAddr) === remoteAddr;
    for (const socket of this.#sniffing.keys()) if (meant(socket)) socket.close();
    for (const session of [...this.#h1, ...this.#h2]) if (meant(session.socket)) session.destroy();
  }

  /**
   * Stops accepting, lets what runs finish (`connection: close`, GOAWAY), and cuts what still runs
   * after `drainTimeout`. Resolves when everything is gone. May be called again.
   */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    // Assigned before anything below can accept one more connection.
    await Promise.resolve();
    const accepting = this.#listener.close();
    for (const wait of this.#sniffing.values()) this.#hurry(wait);
    const drain = this.#limits.drainTimeout;
    for (const session of this.#h1) session.close();
    // A handler that never ends cannot be ended; its connection can.
    let cut!: () => void;
    const deadline = new Promise<void>((resolve) => cut = resolve);
    // It holds the process: nothing else may, once a waiting handler's client is gone.
    const countdown = drain === 0 ? null : new Countdown(this.#time, drain, () => {
      for (const socket of this.#sniffing.keys()) socket.close();
      for (const session of this.#h1) session.destroy();
      cut();
    });
    for (const session of this.#h2) this.#track(session.close(drain));
    // What was accepted last comes before the listener is closed.
    await Promise.race([accepting.then(() => this.#ended()), deadline]);
    await Promise.all([...this.#h2].map(({ closed }) => closed));
    countdown?.stop();
    await accepting;
  }

  /** Resolves when nothing runs; what has just come may become a connection first. */
  async #ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** A request that is on its way on a new connection is still taken. */
  #hurry({ deadline, since }: { readonly deadline: Deadline; readonly since: number }): void {
    deadline.set("headerTimeout", FIRST_REQUEST_MS, since);
  }

  /** Text for `console.log`. */
  [Symbol.for("Deno.customInspect")](inspect: Inspect, options: unknown): string {
    const { addr, connections, handlers } = this;
    return `Server ${inspect({ addr, connections, handlers }, options)}`;
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Starts a server. Throws at once if the configuration is wrong or the port cannot be had. */
export function startServer(options: ServeOptions, time: Time): Server {
  return new Server(options, time);
}

/** How HTTP/2 clients are asked whether they are still there, if they are. */
function keepalive(limits: Required<ServerLimits>): Pick<SessionOptions, "keepalive"> {
  const { keepaliveInterval: interval, keepaliveTimeout: timeout } = limits;
  if (interval === 0 || timeout === 0) return {};
  return { keepalive: { interval, timeout, withoutStreams: true } };
}

/** Whether a whole first line came and is neither HTTP/1 nor the `GET /path` of HTTP/0.9. */
function isForeign(bytes: Uint8Array): boolean {
  // An empty line may come first.
  const start = bytes[0] === 0x0d && bytes[1] === 0x0a ? 2 : 0;
  const end = bytes.indexOf(0x0a, start);
  if (end < 0) return false;
  const line = latin1(bytes, start, end);
  // One empty line too many, or one without CR, is a fault of a client of HTTP/1.
  return line !== "" && line !== "\r" && !line.includes("HTTP/") && !/^[A-Z]+ \//.test(line);
}
