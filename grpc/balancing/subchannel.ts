import {
  Countdown,
  dial,
  type DialOptions,
  dialThrough,
  type DialTlsOptions,
  h2,
  isMemory,
  type Lookup,
  proxyFor,
  type Socket,
  type Template,
  type Time,
  Timer,
} from "../../http/engine.ts";
import { ProtocolError, type ProxyConfig, TimeoutError } from "../../http/mod.ts";
import type { Encoding } from "../wire/compression.ts";
import { backoffDelay, type BackoffOptions } from "../resolve/backoff.ts";
import type { Candidate, Readiness } from "./picker.ts";
import { RequestHeader } from "./request_header.ts";
import { type Address, isAsWritten } from "../resolve/address.ts";
import type { ConnState } from "./state.ts";

/**
 * Milliseconds after which an attempt to connect that no call waits for is given up, at first and at
 * most; they double with each failure. The platform has no other way to let a process end that is
 * connecting.
 */
const UNWANTED_DIAL_MS = 1000;
const MAX_UNWANTED_DIAL_MS = 4000;

/** Milliseconds a connection has to end in when the client is closed: a peer may not read. */
const CLOSE_GRACE_MS = 500;

/** Options of all connections of a client. */
export interface ConnectionSettings {
  readonly tls: DialTlsOptions | null;
  readonly engine: "own" | "deno";
  /** Milliseconds, or 0 for no limit. */
  readonly connectTimeout: number;
  readonly userAgent: string;
  /** Authority of all requests; null for each address's own. */
  readonly authority: string | null;
  readonly backoff: Required<BackoffOptions>;
  readonly lookup: Lookup | null;
  readonly proxy: ProxyConfig | undefined;
  readonly session: h2.SessionOptions;
}

/** Connectivity, as gRPC names it. */
type State =
  | { readonly kind: "IDLE" }
  | { readonly kind: "CONNECTING"; readonly dialing: AbortController }
  | { readonly kind: "READY"; readonly session: h2.Session }
  | { readonly kind: "TRANSIENT_FAILURE"; readonly error: Error }
  | { readonly kind: "SHUTDOWN" };

const IDLE: State = { kind: "IDLE" };
const SHUTDOWN: State = { kind: "SHUTDOWN" };

/** Told how calls end, where servers are judged by that. */
export interface Outcomes {
  /** A call ended, with status OK or otherwise. */
  settled(ok: boolean): void;
}

/** The stream of a call. */
type BalancedStream = h2.Stream & { outcomes: Outcomes | null };

/** Told of what happens to a subchannel. */
export interface SubchannelEvents {
  /** Whether there ever was a call. */
  readonly used: boolean;
  /** Whether calls wait for a connection. */
  readonly wanted: boolean;
  /** Whether it is connected again by itself when its connection ends, or a pause is over. */
  readonly eager: boolean;
  /** It became READY, or a stream on it ended. */
  onRoom(one: Subchannel): void;
  /** It left READY, or could not be connected. */
  onDown(one: Subchannel): void;
  /** One that is not eager may be connected again. */
  onIdle(one: Subchannel): void;
  /** It became READY, null, or ceased to be what it was last told to be, and why. */
  onChange(authority: string, error: Error | null): void;
}

/**
 * One address, and the connection to it that all its calls share. It connects at once, again when the
 * connection ends, and after a pause when it failed.
 */
export class Subchannel extends Timer implements Candidate, h2.SessionEvents {
  /** Where it connects to. */
  readonly address: Address;
  /** Request headers of its calls. */
  readonly requestHeader: RequestHeader;
  /** Encodings the server has said it does not understand. */
  readonly refusedEncodings: Set<Encoding> = new Set();
  /** Told how its calls end; null: nobody wants to know. */
  outcomes: Outcomes | null = null;

  readonly #settings: ConnectionSettings;
  readonly #tls: DialTlsOptions | null;
  readonly #time: Time;
  readonly #events: SubchannelEvents;
  #state: State = IDLE;
  /** The connection being opened or READY. */
  #session: h2.Session | null = null;
  /** Connections that take no new calls and finish those they have. */
  readonly #draining = new Set<h2.Session>();
  #failures = 0;
  /** Whether an attempt has ended. */
  #tried = false;
  #attemptAt = -Infinity;
  /** When the next attempt may be made. */
  #notBefore = -Infinity;
  /** Whether it was told to be READY; null: nothing was told. */
  #reported: boolean | null = null;
  /** Whether the connection has carried a call. */
  #useful = false;
  #opening: Promise<void> = Promise.resolve();

  constructor(
    address: Address,
    settings: ConnectionSettings,
    time: Time,
    events: SubchannelEvents,
  ) {
    super();
    this.#time = time;
    const { tls, userAgent, authority } = settings;
    this.address = address;
    this.#settings = settings;
    this.#events = events;
    this.#tls = tls === null ? null : { ...tls, serverName: tls.serverName ?? address.tlsName };
    const scheme = tls === null ? "http" : "https";
    this.requestHeader = new RequestHeader(scheme, authority ?? address.authority, userAgent);
  }

  /** Calls that wait hold the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  get readiness(): Readiness {
    const state = this.#state;
    if (state.kind === "READY") return state.session.available ? "ready" : "full";
    if (state.kind === "CONNECTING" || state.kind === "IDLE") {
      return this.#tried ? "opening" : "starting";
    }
    return "down";
  }

  /** Connectivity, now. */
  get state(): ConnState {
    return this.#state.kind;
  }

  /** The connection that takes calls; null while there is none. */
  get session(): h2.Session | null {
    return this.#state.kind === "READY" ? this.#state.session : null;
  }

  /** Calls on its connections. */
  get activeCalls(): number {
    let count = this.#session?.calls ?? 0;
    for (const { calls } of this.#draining) count += calls;
    return count;
  }

  /** Why the last attempt failed, while that is what keeps calls away. */
  get error(): Error | null {
    return this.#state.kind === "TRANSIENT_FAILURE" ? this.#state.error : null;
  }

  /** Opens a call's stream. False, with nothing sent, if there is no room. */
  open(stream: BalancedStream, header: Template | readonly string[]): boolean {
    if (this.#state.kind !== "READY") return false;
    this.#useful = true;
    if (!this.#state.session.open(stream, header, false)) return false;
    if (this.outcomes !== null) stream.outcomes = this.outcomes;
    return true;
  }

  /**
   * Opens a stream that is no call: it keeps no process from ending. Returns its connection, or null if
   * there is no room.
   */
  openAside(stream: h2.Stream, header: Template | readonly string[]): h2.Session | null {
    if (this.#state.kind !== "READY") return null;
    const { session } = this.#state;
    if (!session.available) return null;
    session.setAside(1);
    if (session.open(stream, header, false)) return session;
    session.setAside(-1);
    return null;
  }

  // ---- connecting ------------------------------------------------------------------------------

  /** Opens a connection unless there is one, or a pause after a failure is not over. */
  connect(): void {
    if (this.#state.kind === "READY") {
      // Its stream ids are used up.
      if (!this.#state.session.exhausted) return;
      this.#retire(this.#state.session);
    }
    const state = this.#state.kind;
    if (state !== "IDLE" && state !== "TRANSIENT_FAILURE") return;
    const pause = this.#notBefore - this.#time.clock.now();
    if (pause > 0) {
      if (this.dueTick === 0) this.#time.timers.add(this, pause);
      return;
    }
    this.#time.timers.remove(this);
    this.#attemptAt = this.#time.clock.now();
    const dialing = new AbortController();
    this.#state = { kind: "CONNECTING", dialing };
    this.#opening = this.#open(dialing);
  }

  onTimeout(): void {
    if (this.#events.eager) this.connect();
    else this.#events.onIdle(this);
  }

  /** Gives up what it is at, and rests until it is told to connect. Its calls may finish. */
  rest(): void {
    const state = this.#state;
    if (state.kind === "SHUTDOWN" || state.kind === "IDLE") return;
    const session = this.#session;
    this.#state = IDLE;
    this.#session = null;
    this.#time.timers.remove(this);
    if (state.kind === "CONNECTING") {
      state.dialing.abort(new Error("another address of the server is used"));
      session?.destroy();
    } else if (session !== null) {
      this.#draining.add(session);
      session.close();
    }
  }

  async #open(dialing: AbortController): Promise<void> {
    const { connectTimeout, session } = this.#settings;
    const patience = Math.min(UNWANTED_DIAL_MS * 2 ** this.#failures, MAX_UNWANTED_DIAL_MS);
    const lookIn = (): Countdown =>
      new Countdown(this.#time, patience, () => {
        if (!this.#events.wanted) dialing.abort(new TimeoutError("connectTimeout", patience));
        unwanted = lookIn();
      });
    let unwanted = lookIn();
    let socket: Socket;
    try {
      if (this.#tls !== null && isMemory(this.address.path ?? "")) {
        throw new Error(`${this.address.path} is in memory and has no TLS`);
      }
      const proxy = this.#proxy();
      const options = this.#dialOptions(connectTimeout, dialing.signal);
      socket = await (proxy === null ? dial(options) : dialThrough(proxy, options));
    } catch (error) {
      if (this.#isAt(dialing)) this.#failed(error as Error);
      return;
    } finally {
      unwanted.stop();
    }
    if (!this.#isAt(dialing)) return socket.close();
    // RFC 9113 §3.3: HTTP/2 over TLS is negotiated by ALPN. Servers without ALPN are given the
    // benefit of the doubt: they show by their SETTINGS whether they speak it.
    if (socket.tls !== null && (socket.tls.alpnProtocol ?? "h2") !== "h2") {
      socket.close();
      return this.#failed(new Error(`${this.address.authority} does not offer HTTP/2 by ALPN`));
    }
    // Until it is READY, calls that wait hold the process, and nothing else does.
    socket.unref?.();
    this.#session = new h2.Session("client", socket, this, session, this.#time);
    this.#session.start();
  }

  /** Whether this attempt is still what it is at. */
  #isAt(dialing: AbortController): boolean {
    return this.#state.kind === "CONNECTING" && this.#state.dialing === dialing;
  }

  #dialOptions(timeout: number, signal: AbortSignal): DialOptions {
    const { hostname, port, path } = this.address;
    // A name that was looked up before stands here as an address.
    const lookup = isAsWritten(this.address) ? this.#settings.lookup : null;
    return {
      hostname,
      port,
      timeout,
      signal,
      engine: this.#settings.engine,
      time: this.#time,
      ...(path === undefined ? {} : { path }),
      ...(this.#tls === null ? {} : { tls: this.#tls }),
      ...(lookup === null ? {} : { lookup }),
    };
  }

  /** The proxy on the way; null if the name the user wrote, or its address, is asked directly. */
  #proxy(): ReturnType<typeof proxyFor> {
    const { hostname, port, path, tlsName } = this.address;
    const { proxy } = this.#settings;
    if (path !== undefined || proxy === undefined) return null;
    const scheme = this.#tls === null ? "http" : "https";
    const found = proxyFor({ scheme, hostname: tlsName.toLowerCase(), port }, proxy);
    return found === null ? null : proxyFor({ scheme, hostname, port }, proxy);
  }

  #failed(error: Error): void {
    if (!this.#events.used) {
      // A client nobody uses tries once; its first call finds things as if it never had.
      this.#state = IDLE;
      this.#events.onIdle(this);
      return;
    }
    this.#tried = true;
    this.#failures++;
    this.#state = { kind: "TRANSIENT_FAILURE", error };
    this.#notBefore = this.#time.clock.now() + backoffDelay(this.#failures, this.#settings.backoff);
    this.#pauseOver();
    this.#report(error);
    this.#events.onDown(this);
  }

  /** Sets the timer for the end of the pause. */
  #pauseOver(): void {
    const pause = this.#notBefore - this.#time.clock.now();
    if (this.dueTick === 0) this.#time.timers.add(this, Math.max(0, pause));
  }

  #report(error: Error | null): void {
    const up = error === null;
    if (up === this.#reported) return;
    this.#reported = up;
    this.#events.onChange(this.address.authority, error);
  }

  // ---- the session's events --------------------------------------------------------------------

  /** The peer's SETTINGS show that it speaks HTTP/2: only now is it READY. */
  onSettings(session: h2.Session): void {
    if (this.#state.kind === "CONNECTING" && session === this.#session) {
      this.#state = { kind: "READY", session };
      this.#tried = true;
      this.#failures = 0;
      this.#useful = false;
      session.socket.ref?.();
      this.#report(null);
    }
    this.#events.onRoom(this);
  }

  onStreamClosed(): void {
    if (!this.#events.wanted) return;
    this.connect();
    this.#events.onRoom(this);
  }

  onGoAway(session: h2.Session): void {
    // One that drains says so again when it names its last stream.
    if (this.#state.kind === "READY" && session === this.#session) this.#retire(session);
  }

  onClosed(session: h2.Session, error: Error): void {
    this.#draining.delete(session);
    if (session !== this.#session) return;
    this.#session = null;
    if (this.#state.kind === "CONNECTING") {
      const { authority } = this.address;
      const what = error instanceof ProtocolError
        ? `${authority} does not speak HTTP/2`
        : `Cannot connect to ${authority}`;
      this.#failed(new Error(`${what}: ${error.message}`, { cause: error }));
    } else if (this.#state.kind === "READY") this.#left(error);
  }

  /** The connection takes no new calls: the next ones need another. */
  #retire(session: h2.Session): void {
    this.#draining.add(session);
    this.#session = null;
    this.#left(new Error(`${this.address.authority} takes no more calls on this connection`));
  }

  /** The connection is gone or going: another is opened, even if no call waits. */
  #left(error: Error): void {
    this.#state = IDLE;
    // A server that takes connections and drops them is asked with pauses.
    if (!this.#useful) this.#notBefore = this.#attemptAt + this.#settings.backoff.initial;
    if (this.#events.eager) this.connect();
    this.#report(error);
    this.#events.onDown(this);
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** Takes no new calls; those that run may finish. Resolves when its connections are gone. */
  async drain(): Promise<void> {
    const sessions = this.#shutDown(new Error("the address is no longer used"));
    await Promise.all([this.#opening, ...sessions.map((session) => session.close())]);
  }

  /** Ends everything: its calls fail with `error`. Resolves when its connections are gone. */
  async close(error: Error): Promise<void> {
    const sessions = this.#shutDown(error);
    const closed = sessions.map((session) => session.close());
    for (const session of sessions) session.failStreams(error);
    const countdown = new Countdown(this.#time, CLOSE_GRACE_MS, () => {
      for (const session of sessions) session.destroy();
    });
    await Promise.all([this.#opening, ...closed]);
    countdown.stop();
  }

  /** No connection is opened any more. Returns those there are. */
  #shutDown(reason: Error): h2.Session[] {
    const state = this.#state;
    this.#state = SHUTDOWN;
    this.#time.timers.remove(this);
    if (state.kind === "CONNECTING") state.dialing.abort(reason);
    return [...this.#draining, ...(this.#session === null ? [] : [this.#session])];
  }
}
