import {
  type ClientExchange,
  type ExchangeTimeouts,
  type HttpClient,
  openExchange,
  type QueuedRequest,
  type Time,
} from "../../http/engine.ts";
import { backoffDelay, type BackoffOptions } from "../resolve/backoff.ts";
import type { WebTarget } from "./target.ts";

/** Waits are the call's: its deadline bounds them all. */
const NO_LIMITS: ExchangeTimeouts = {
  queueTimeout: 0,
  headTimeout: 0,
  bodyTimeout: 0,
  writeTimeout: 0,
};

/** A request as it goes to whichever server is next. */
export interface WebRequest {
  /** `POST`, or `GET`. */
  readonly method: string;
  /** Path and query, behind the server's prefix. */
  readonly path: string;
  /** Bytes of the body, or -1 if not known. */
  readonly length: number;
  /** Header fields, as of now: the deadline is nearer than it was. */
  fields(): string[];
}

/** A server, and how it was found. */
export class Server {
  readonly target: WebTarget;
  readonly #client: HttpClient;
  /** Connections in a row that could not be opened. */
  failures = 0;
  /** When calls may go there although others are there. */
  notBefore = -Infinity;

  constructor(target: WebTarget, client: HttpClient) {
    this.target = target;
    this.#client = client;
  }

  /** Begins a request, or queues it for a connection. */
  open({ method, path, length, fields }: WebRequest): ClientExchange | QueuedRequest {
    const { url, prefix } = this.target;
    const hop = {
      method,
      target: { ...url, path: prefix + path },
      fields: fields(),
      body: true,
    };
    return openExchange(this.#client, hop, length, NO_LIMITS);
  }
}

/**
 * The servers of a client. Calls go to them in turn, past those to which no connection could be opened
 * a moment ago.
 */
export class Targets {
  #servers: readonly Server[] = [];
  #turn = 0;
  readonly #time: Time;
  readonly #backoff: Required<BackoffOptions>;

  constructor(time: Time, backoff: Required<BackoffOptions>) {
    this.#time = time;
    this.#backoff = backoff;
  }

  /** How many there are. */
  get count(): number {
    return this.#servers.length;
  }

  /** The first server as the user wrote it. */
  get first(): WebTarget {
    return this.#servers[0]!.target;
  }

  /** Takes other servers. */
  set(servers: readonly Server[]): void {
    const old = new Map(this.#servers.map((server) => [server.target.text, server]));
    this.#servers = servers.map((server) => old.get(server.target.text) ?? server);
    this.#turn = 0;
  }

  /** The next in turn; if all failed a moment ago, the one whose pause ends first. */
  next(): Server {
    const now = this.#time.clock.now();
    let chosen = 0;
    for (let i = 0; i < this.count; i++) {
      const at = (this.#turn + i) % this.count;
      if (this.#servers[at]!.notBefore <= now) {
        chosen = at;
        break;
      }
      if (this.#servers[at]!.notBefore < this.#servers[chosen]!.notBefore) chosen = at;
    }
    this.#turn = (chosen + 1) % this.count;
    return this.#servers[chosen]!;
  }

  /** Milliseconds until one may be tried again. */
  get pause(): number {
    const first = Math.min(...this.#servers.map(({ notBefore }) => notBefore));
    return Math.max(0, first - this.#time.clock.now());
  }

  /** No connection to it could be opened. */
  failed(server: Server): void {
    server.failures++;
    server.notBefore = this.#time.clock.now() + backoffDelay(server.failures, this.#backoff);
  }

  /** A connection to it was opened. */
  succeeded(server: Server): void {
    server.failures = 0;
    server.notBefore = -Infinity;
  }
}
