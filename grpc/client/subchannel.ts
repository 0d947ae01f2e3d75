import { ConnectError } from "@connectrpc/connect";
import { dial, h2, type Socket, Template, type TimerNode, timers } from "../../http/engine.ts";
import { type DialTlsOptions, ProtocolError } from "../../http/mod.ts";
import { backoffDelay, type BackoffOptions } from "./backoff.ts";
import type { ClientCall } from "./call.ts";
import { code, toConnectCode } from "../wire/code.ts";
import { ACCEPT_ENCODING } from "../wire/compression.ts";
import { GRPC_CONTENT_TYPE } from "../wire/content_type.ts";
import type { Method } from "../wire/method.ts";
import type { Address } from "./resolver.ts";
import { formatTimeout } from "../wire/timeout.ts";

/** Calls that may wait for one connection, or for room on it. */
export const MAX_WAITING_CALLS = 100_000;

/** Timeouts for which a method's request header is kept ready. */
const MAX_TEMPLATES_PER_METHOD = 64;

/** What all connections of a client share. */
export interface SubchannelOptions {
  readonly tls: DialTlsOptions | null;
  /** Whether requests may be compressed: the header names the encoding. */
  readonly compress: boolean;
  readonly connectTimeout: number;
  readonly userAgent: string;
  readonly backoff: BackoffOptions;
  readonly session: h2.SessionOptions;
}

/** Connectivity, as gRPC names it. */
export type ConnectivityState =
  | "IDLE"
  | "CONNECTING"
  | "READY"
  | "TRANSIENT_FAILURE"
  | "SHUTDOWN";

/** One address and, when there is one, the connection to it, which all its calls share. */
export class Subchannel implements h2.SessionOwner, TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  readonly address: Address;
  state: ConnectivityState = "IDLE";
  /** Attempts that failed in a row. */
  failures = 0;

  readonly #options: SubchannelOptions;
  readonly #scheme: string;
  #session: h2.Session | null = null;
  /** Sessions that take no new calls and finish those they have. */
  readonly #draining = new Set<h2.Session>();
  #waiting: ClientCall[] = [];
  #retryAt = 0;
  #lastError: Error | null = null;
  #broken = false;
  #dialing: AbortController | null = null;
  #connecting: Promise<void> = Promise.resolve();
  #templates = new Map<Method, Map<number, Template>>();

  constructor(address: Address, options: SubchannelOptions) {
    this.address = address;
    this.#options = options;
    this.#scheme = options.tls === null ? "http" : "https";
  }

  /** Whether an attempt failed lately and the next has to wait. */
  get backingOff(): boolean {
    return this.state === "TRANSIENT_FAILURE" && performance.now() < this.#retryAt;
  }

  /** Milliseconds until the next attempt may be made. */
  get retryIn(): number {
    return Math.max(0, Math.ceil(this.#retryAt - performance.now()));
  }

  /** Whether its last connection broke, or could not be opened, and no other is ready yet. */
  get recovering(): boolean {
    return this.#broken && this.state !== "READY";
  }

  /** Why the last attempt failed. */
  get lastError(): Error | null {
    return this.#lastError;
  }

  /** Starts the call now if the connection has room, else when it has. */
  start(call: ClientCall): void {
    const session = this.#session;
    if (session !== null && this.state === "READY" && session.connection.available) {
      call.begin(session);
      return;
    }
    if (this.#waiting.length >= MAX_WAITING_CALLS) {
      call.fail(
        new ConnectError(
          `${MAX_WAITING_CALLS} calls wait for ${this.address.authority} already`,
          toConnectCode(code.RESOURCE_EXHAUSTED),
        ),
      );
      return;
    }
    this.#waiting.push(call);
    this.connect();
  }

  /** Forgets a call that waits. */
  forget(call: ClientCall): void {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** Opens a connection unless there is one or one is being opened. */
  connect(): void {
    if (this.state === "CONNECTING" || this.state === "READY" || this.state === "SHUTDOWN") return;
    if (this.backingOff) {
      // Only calls that wait for readiness get here; they wait for the next attempt.
      if (this.dueTick === 0) timers.add(this, this.retryIn);
      return;
    }
    timers.remove(this);
    this.state = "CONNECTING";
    this.#connecting = this.#connect();
  }

  /** The pause between two attempts is over. */
  onTimeout(): void {
    if (this.#waiting.length > 0) this.connect();
  }

  async #connect(): Promise<void> {
    this.#dialing = new AbortController();
    const { tls, connectTimeout, session } = this.#options;
    let socket: Socket;
    try {
      socket = await dial({
        ...this.address,
        timeout: connectTimeout,
        signal: this.#dialing.signal,
        ...(tls === null ? {} : { tls }),
      });
    } catch (error) {
      this.#failed(error as Error);
      return;
    } finally {
      this.#dialing = null;
    }
    if (this.state === "SHUTDOWN") return socket.close();
    // RFC 9113 §3.3: HTTP/2 over TLS is negotiated by ALPN. Servers without ALPN are given the
    // benefit of the doubt: they show by their SETTINGS whether they speak it.
    if (socket.tls !== null && (socket.tls.alpnProtocol ?? "h2") !== "h2") {
      socket.close();
      this.#failed(new Error(`${this.address.authority} does not offer HTTP/2 by ALPN`));
      return;
    }
    this.#session = new h2.Session("client", socket, this, session);
    this.#session.start();
  }

  // ---- the session's events --------------------------------------------------------------------

  /** The peer's SETTINGS show that it speaks HTTP/2: only now is it ready. */
  onSettings(): void {
    if (this.state === "CONNECTING") {
      this.state = "READY";
      this.failures = 0;
      this.#broken = false;
      this.#lastError = null;
    }
    this.#drain();
  }

  onStreamClosed(): void {
    if (this.#waiting.length > 0) this.#drain();
  }

  onGoAway(): void {
    if (this.#session !== null && this.state === "READY") this.#retire(this.#session);
  }

  onClosed(error: Error): void {
    for (const session of this.#draining) {
      if (session.connection.dead) this.#draining.delete(session);
    }
    const session = this.#session;
    if (session === null || !session.connection.dead) return;
    this.#session = null;
    if (this.state === "CONNECTING") {
      this.#failed(
        error instanceof ProtocolError
          ? new Error(`${this.address.authority} does not speak HTTP/2: ${error.message}`, {
            cause: error,
          })
          : error,
      );
    } else if (this.state === "READY") {
      this.state = "IDLE";
      this.#broken = true;
      if (this.#waiting.length > 0) this.connect();
    }
  }

  /** The connection takes no new calls: the next one opens another. */
  #retire(session: h2.Session): void {
    this.#draining.add(session);
    this.#session = null;
    this.state = "IDLE";
    if (this.#waiting.length > 0) this.connect();
  }

  #drain(): void {
    const session = this.#session;
    if (session === null || this.state !== "READY") return;
    if (session.connection.exhausted) return this.#retire(session);
    let started = 0;
    while (started < this.#waiting.length && session.connection.available) {
      this.#waiting[started++]!.begin(session);
    }
    if (started > 0) this.#waiting.splice(0, started);
  }

  #failed(error: Error): void {
    if (this.state === "SHUTDOWN") return;
    this.state = "TRANSIENT_FAILURE";
    this.#broken = true;
    this.failures++;
    this.#retryAt = performance.now() + backoffDelay(this.failures, this.#options.backoff);
    this.#lastError = error;
    for (const call of this.#waiting.splice(0)) call.unreachable();
  }

  /** Ends everything. Resolves when the connections are gone. */
  async close(): Promise<void> {
    this.state = "SHUTDOWN";
    timers.remove(this);
    this.#dialing?.abort(new Error("client was closed"));
    const error = new ConnectError("the client was closed", toConnectCode(code.CANCELLED));
    for (const call of this.#waiting.splice(0)) call.fail(error);
    await this.#connecting;
    const sessions = [...this.#draining, ...(this.#session === null ? [] : [this.#session])];
    for (const session of sessions) {
      session.connection.lost(error);
      session.close();
    }
    await Promise.all(sessions.map((session) => session.closed));
  }

  // ---- request headers -------------------------------------------------------------------------

  /** The request header of a call without metadata of its own, encoded once. `timeout` 0: none. */
  template(method: Method, timeout: number): Template {
    let byTimeout = this.#templates.get(method);
    if (byTimeout === undefined) this.#templates.set(method, byTimeout = new Map());
    let template = byTimeout.get(timeout);
    if (template === undefined) {
      template = new Template(this.fields(method, timeout));
      if (byTimeout.size < MAX_TEMPLATES_PER_METHOD) byTimeout.set(timeout, template);
    }
    return template;
  }

  /** The request header's fields; the user's metadata come behind them. */
  fields(method: Method, timeout: number): string[] {
    const fields = [
      ":method",
      "POST",
      ":scheme",
      this.#scheme,
      ":path",
      method.path,
      ":authority",
      this.address.authority,
    ];
    if (timeout > 0) fields.push("grpc-timeout", formatTimeout(timeout));
    fields.push(
      "te",
      "trailers",
      "content-type",
      GRPC_CONTENT_TYPE,
      "user-agent",
      this.#options.userAgent,
      "grpc-accept-encoding",
      ACCEPT_ENCODING,
    );
    if (this.#options.compress) fields.push("grpc-encoding", "gzip");
    return fields;
  }
}
