/**
 * Connections to one origin by one route: an HTTP/2 connection is shared, those of HTTP/1.1 are
 * reused, and a burst on a cold origin dials once until it is known which of the two it speaks.
 *
 * @module
 */
import { ConnectionLostError } from "../message/error.ts";
import { Session } from "../h2/mod.ts";
import type { Socket } from "../net/socket.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import { connect, type Route } from "./connect.ts";
import type { ClientExchange, ExchangeTimeouts, OutgoingHead } from "./exchange.ts";
import { H1Exchange } from "./h1_exchange.ts";
import { ClientSession, MAX_RESPONSE_FIELDS } from "./h1_session.ts";
import { H2Exchange } from "./h2_exchange.ts";
import { LinkedList } from "./linked_list.ts";
import { LivenessProbe } from "./liveness_probe.ts";
import type { PoolOptions } from "./pool_options.ts";
import { QueuedRequest } from "./queued_request.ts";

/** Milliseconds `close()` leaves to exchanges under way. */
const CLOSE_GRACE_MS = 5000;
/**
 * Milliseconds that connections beyond `maxIdlePerHost` stay. Requests that come one behind the other,
 * many at a time, would else dial anew again and again: measured, 64 at a time, 15,000 requests a second
 * instead of 100,000.
 */
const SURPLUS_MS = 1000;
/** Milliseconds a connection has to answer a PING once a request on it got no answer. */
const PROBE_TIMEOUT_MS = 5000;

/** See the module. */
export class Origin {
  readonly #time: Time;
  readonly #options: PoolOptions;
  readonly #route: Route;
  readonly #onUnused: (origin: Origin) => void;
  readonly #idle = new LinkedList<ClientSession>();
  readonly #all = new Set<ClientSession>();
  readonly #sessions = new Set<Session>();
  /** HTTP/2 connections that take new streams, and how many each carried. */
  #shared: { session: Session; count: number } | null = null;
  #speaks: "unknown" | "h1" | "h2";
  #dialing = 0;
  readonly #dials = new Set<AbortController>();
  readonly #queue = new LinkedList<QueuedRequest>();
  #closed = false;
  #closing: Promise<void> | null = null;
  #onDrained: (() => void) | null = null;

  /** `onUnused` is called when nothing is left of it: no connection, and no request that waits. */
  constructor(
    options: PoolOptions,
    route: Route,
    time: Time,
    onUnused: (origin: Origin) => void,
  ) {
    this.#time = time;
    this.#options = options;
    this.#route = route;
    this.#onUnused = onUnused;
    const protocols = options.alpnProtos;
    const secure = route.target.scheme === "https";
    this.#speaks = secure && protocols.includes("h2")
      ? "unknown"
      : !secure && !protocols.includes("http/1.1") && route.proxy === null
      ? "h2" // Prior knowledge (RFC 9113 §3.3).
      : "h1";
  }

  /** Connections of HTTP/1.1 nothing runs on. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Whether idle connections are kept at all. */
  get #kept(): boolean {
    return this.#options.maxIdlePerHost > 0 && this.#options.idleTimeout > 0;
  }

  /** Connections. */
  get open(): number {
    return this.#all.size + this.#sessions.size;
  }

  /** An exchange if a connection is at hand, else a place in the queue for one. */
  acquire(start: OutgoingHead, timeouts: ExchangeTimeouts): ClientExchange | QueuedRequest {
    if (this.#queue.length === 0) {
      const exchange = this.#take(start, timeouts);
      if (exchange !== null) return exchange;
    }
    const request = new QueuedRequest(start, timeouts, this.#leave, this.#time.timers);
    this.#queue.push(request);
    this.#dialIfNeeded();
    return request;
  }

  readonly #leave = (request: QueuedRequest, reason: Error): void => {
    if (!this.#queue.delete(request)) return;
    if (this.#queue.length === 0) this.#abandonDials(reason);
    request.reject(reason);
  };

  #take(start: OutgoingHead, timeouts: ExchangeTimeouts): ClientExchange | null {
    const shared = this.#shared;
    if (shared !== null) {
      const { session } = shared;
      if (session.exhausted) {
        this.#shared = null;
      } else if (session.available) {
        const exchange = new H2Exchange(
          session,
          start,
          timeouts,
          shared.count > 0,
          this.#suspect,
          this.#time,
        );
        if (exchange.begin()) {
          shared.count++;
          return exchange;
        }
      }
      if (this.#shared !== null) return null;
    }
    // The last one in is the least likely to have been closed by the server.
    const session = this.#idle.pop();
    if (session === null) return null;
    session.deadline.clear();
    return new H1Exchange(session, start, timeouts);
  }

  #serve(): void {
    for (let request = this.#queue.first; request !== null; request = this.#queue.first) {
      let exchange: ClientExchange | null;
      try {
        exchange = this.#take(request.start, request.timeouts);
      } catch (error) {
        this.#queue.delete(request);
        request.reject(error as Error);
        continue;
      }
      if (exchange === null) break;
      this.#queue.delete(request);
      request.resolve(exchange);
    }
    this.#dialIfNeeded();
  }

  #dialIfNeeded(): void {
    if (this.#closed) return;
    const wanted = this.#queue.length - this.#dialing;
    if (this.#speaks === "h1") {
      const room = this.#options.maxPerHost - this.#all.size - this.#dialing;
      for (let n = Math.min(wanted, room); n > 0; n--) this.#dial();
    } else if (wanted > 0 && this.#dialing === 0 && this.#shared === null) {
      this.#dial();
    }
  }

  #dial(): void {
    this.#dialing++;
    const controller = new AbortController();
    this.#dials.add(controller);
    /** Whether this attempt still counts. */
    const ended = () => {
      if (!this.#dials.delete(controller)) return false;
      this.#dialing--;
      return true;
    };
    connect(this.#route, this.#options, this.#time, controller.signal).then((socket) => {
      if (ended()) this.#connected(socket);
      else socket.close();
    }, (error) => {
      if (!ended()) return;
      if (this.#speaks === "h1") this.#queue.shift()?.reject(error);
      else this.#rejectAll(error);
      this.#serve();
      this.#forgetIfUnused();
    });
  }

  #rejectAll(error: Error): void {
    for (let request = this.#queue.shift(); request !== null; request = this.#queue.shift()) {
      request.reject(error);
    }
  }

  /** No request waits any more: the next one begins anew, and gets no error of others. */
  #abandonDials(reason: Error): void {
    const dials = [...this.#dials];
    this.#dials.clear();
    this.#dialing = 0;
    for (const controller of dials) controller.abort(reason);
    this.#forgetIfUnused();
  }

  #connected(socket: Socket): void {
    if (this.#closed) {
      socket.close();
      return;
    }
    const alpn = socket.tls?.alpnProtocol ?? null;
    const h2 = alpn === "h2" || (socket.tls === null && this.#speaks === "h2");
    this.#speaks = h2 ? "h2" : "h1";
    if (h2) {
      this.#share(socket);
    } else {
      const session = new ClientSession(socket, this, this.#options, this.#time);
      this.#all.add(session);
      this.#idle.push(session);
      if (this.#queue.length === 0) {
        // The request it was dialled for has been served or cancelled.
        this.#idle.pop();
        session.done(true);
      }
    }
    this.#serve();
  }

  #share(socket: Socket): void {
    const session: Session = new Session("client", socket, {
      onSettings: () => this.#serve(),
      onStreamClosed: () => {
        if (this.#queue.length > 0) queueMicrotask(() => this.#serve());
      },
      onGoAway: () => this.#drop(session),
      onClosed: () => {
        this.#drop(session);
        this.#sessions.delete(session);
        this.#forgetIfUnused();
      },
    }, {
      idleTimeout: this.#kept ? this.#options.idleTimeout : 1,
      maxHeaderListSize: this.#options.maxHeaderBytes,
      maxFields: MAX_RESPONSE_FIELDS,
      ...this.#options.http2,
    }, this.#time);
    this.#sessions.add(session);
    this.#shared = { session, count: 0 };
    session.start();
  }

  /** A request got no answer, nor did anything else come: new ones go elsewhere. */
  readonly #suspect = (session: Session): void => {
    if (this.#shared?.session !== session) return;
    this.#drop(session);
    // It never said a word, and nobody waits for one any more.
    if (!session.peerSettingsReceived && session.idle) return session.destroy();
    const { keepalive } = this.#options.http2;
    new LivenessProbe(session, keepalive?.timeout ?? PROBE_TIMEOUT_MS, this.#time);
  };

  #drop(session: Session): void {
    if (this.#shared?.session !== session) return;
    this.#shared = null;
    if (this.#queue.length > 0) queueMicrotask(() => this.#serve());
  }

  /** A connection is free: for the next in the queue, or to be kept. */
  onIdle(session: ClientSession): void {
    if (this.#closed) return session.close();
    const { maxIdlePerHost } = this.#options;
    const surplus = this.#queue.length === 0 && this.#idle.length >= maxIdlePerHost;
    if (surplus && maxIdlePerHost === 0) return session.close();
    this.#idle.push(session);
    if (this.#queue.length > 0) {
      this.#serve();
      if (this.#idle.last !== session) return;
    }
    const kept = surplus ? SURPLUS_MS : Infinity;
    const ms = Math.min(this.#options.idleTimeout, session.keepAlive, kept);
    if (ms <= 0) return session.close();
    session.deadline.set("idleTimeout", ms, session.idleSince);
  }

  onClosed(session: ClientSession): void {
    this.#all.delete(session);
    this.#idle.delete(session);
    if (this.#all.size === 0) this.#onDrained?.();
    this.#dialIfNeeded();
    this.#forgetIfUnused();
  }

  #forgetIfUnused(): void {
    if (this.open === 0 && this.#queue.length === 0 && this.#dialing === 0) {
      this.#onUnused(this);
    }
  }

  closeIdle(): void {
    for (const session of this.#idle.items()) session.close();
    for (const session of [...this.#sessions]) {
      if (session.idle) session.close();
    }
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#closed = true;
    const error = new ConnectionLostError("Client was closed", "no");
    this.#rejectAll(error);
    this.#abandonDials(error);
    for (const session of this.#idle.items()) session.close();
    await Promise.all([
      this.#drained(),
      ...[...this.#sessions].map((session) => session.close(CLOSE_GRACE_MS)),
    ]);
  }

  /** Resolves when the connections of HTTP/1.1 are gone, by force after a while. */
  async #drained(): Promise<void> {
    if (this.#all.size === 0) return;
    const countdown = new Countdown(this.#time, CLOSE_GRACE_MS, () => {
      const error = new ConnectionLostError("Client was closed", "maybe");
      for (const session of [...this.#all]) session.abort(error);
    });
    await new Promise<void>((resolve) => this.#onDrained = resolve);
    countdown.stop();
  }
}
