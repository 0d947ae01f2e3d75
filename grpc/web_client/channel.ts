import { Code, ConnectError } from "@connectrpc/connect";
import type { DescMethod, Registry } from "@bufbuild/protobuf";
import { type HttpClient, newHttpClientAt, type Time } from "../../http/engine.ts";
import type { ClientOptions as HttpOptions } from "../../http/mod.ts";
import type { ConnState } from "../balancing/state.ts";
import { StateWatch } from "../balancing/state_watch.ts";
import type { ConnStats } from "../balancing/stats.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import type { Encoding } from "../wire/compression.ts";
import { type Method, methodFor } from "../wire/method.ts";
import type { BackoffOptions } from "../resolve/backoff.ts";
import type { AttemptHost, CallStart, WebAttempt } from "./attempt.ts";
import { ConnectStreamAttempt } from "./connect_stream.ts";
import { ConnectUnaryAttempt } from "./connect_unary.ts";
import { GrpcWebAttempt } from "./grpc_web.ts";
import { JsonMethod } from "./json_method.ts";
import { urlOf, type WebTarget } from "./target.ts";
import { Server, Targets } from "./targets.ts";

/** Calls of one client that may run or wait for a connection. */
const MAX_CALLS = 100_000;

/** Options of a call that its attempts go by. */
interface AttemptOptions {
  readonly headers?: HeadersInit;
  readonly waitForReady?: boolean;
}

/** Settings of a {@linkcode WebChannel}. */
export interface WebClientSettings {
  readonly protocol: "grpc-web" | "connect";
  /** How messages are written. */
  readonly format: "binary" | "json" | "text";
  /** Whether Connect's calls without side effects are made by GET. */
  readonly httpGet: boolean;
  /** Types of `Any` in JSON, besides those a service's file knows. */
  readonly registry: Registry | undefined;
  readonly targets: readonly WebTarget[];
  /** Of the HTTP client. */
  readonly http: HttpOptions;
  readonly userAgent: string;
  readonly backoff: Required<BackoffOptions>;
}

/** Calls by gRPC-Web or Connect, over the HTTP client. */
export class WebChannel {
  /** The state, for those who follow it. */
  readonly states: StateWatch = new StateWatch();
  /** Encodings that a server has said it does not understand. */
  readonly refusedEncodings: Set<Encoding> = new Set();
  readonly #settings: WebClientSettings;
  readonly #time: Time;
  readonly #targets: Targets;
  readonly #host: AttemptHost;
  /** Clients by the Unix socket or address in memory they connect to; null: by TCP. */
  readonly #clients = new Map<string | null, HttpClient>();
  readonly #running = new Set<WebAttempt>();
  readonly #methods = new WeakMap<DescMethod, Method>();
  #closing: Promise<void> | null = null;

  constructor(settings: WebClientSettings, time: Time) {
    const { backoff, targets, userAgent, format, httpGet } = settings;
    this.#settings = settings;
    this.#time = time;
    this.#targets = new Targets(time, backoff);
    this.#host = {
      targets: this.#targets,
      time,
      userAgent,
      format,
      httpGet,
      onOver: (attempt) => this.#running.delete(attempt),
    };
    this.retarget(targets);
  }

  /** `SHUTDOWN` once it is closed: the HTTP client has connections for all, and tells nothing of them. */
  get state(): ConnState {
    return this.states.state;
  }

  /** The client at this moment. */
  get stats(): ConnStats {
    const { state } = this;
    const activeCalls = this.#running.size;
    return {
      state,
      policy: "round_robin",
      activeCalls,
      waitingCalls: 0,
      servers: [],
      resolverError: null,
    };
  }

  /** `grpc-web` or `connect`. */
  get protocol(): WebClientSettings["protocol"] {
    return this.#settings.protocol;
  }

  /** Host and port of the first target. */
  get authority(): string {
    return this.#targets.first.url.authority;
  }

  /** Where the first target has a method. */
  urlOf(method: Method): string {
    return urlOf(this.#targets.first, method);
  }

  /** The method of a descriptor, with codecs of the client's format. */
  methodOf(desc: DescMethod): Method {
    if (this.#settings.format !== "json") return methodFor(desc);
    let method = this.#methods.get(desc);
    if (method === undefined) {
      this.#methods.set(desc, method = new JsonMethod(desc, this.#settings.registry));
    }
    return method;
  }

  /** The HTTP client has connections for all: calls find theirs when they begin. */
  acquire(): this {
    return this;
  }

  /**
   * Begins an attempt, see `Connections` of the client.
   *
   * @throws {TypeError} If the user's metadata cannot be sent.
   * @throws {ConnectError} RESOURCE_EXHAUSTED if too many calls run.
   */
  begin(
    _connected: unknown,
    method: Method,
    timeout: number,
    encoding: Encoding | null,
    previous: number,
    { headers, waitForReady = false }: AttemptOptions,
    maxReceiveSize: number,
    events: AttemptEvents,
  ): Attempt {
    if (this.#closing !== null) throw closedError();
    if (this.#running.size >= MAX_CALLS) {
      throw new ConnectError(`${MAX_CALLS} calls run already`, Code.ResourceExhausted);
    }
    const call = {
      method,
      timeout,
      encoding,
      previous,
      headers,
      waitForReady,
      maxReceiveSize,
      events,
    };
    const attempt = this.#attempt(call);
    this.#running.add(attempt);
    attempt.start();
    return attempt;
  }

  #attempt(call: CallStart): WebAttempt {
    if (this.protocol === "grpc-web") return new GrpcWebAttempt(this.#host, call);
    return call.method.desc.methodKind === "unary"
      ? new ConnectUnaryAttempt(this.#host, call)
      : new ConnectStreamAttempt(this.#host, call);
  }

  /** Takes other servers. Calls that run end where they are. */
  retarget(targets: readonly WebTarget[]): void {
    if (this.#closing !== null) return;
    this.#targets.set(targets.map((target) => new Server(target, this.#clientOf(target))));
  }

  #clientOf({ local }: WebTarget): HttpClient {
    let client = this.#clients.get(local);
    if (client === undefined) {
      const { http } = this.#settings;
      client = newHttpClientAt(this.#time, local === null ? http : { ...http, unixSocket: local });
      this.#clients.set(local, client);
    }
    return client;
  }

  /** Ends everything; calls that run or wait fail with CANCELLED. Resolves when all is gone. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const error = closedError();
    this.states.state = "SHUTDOWN";
    for (const attempt of [...this.#running]) attempt.fail(error);
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }
}

function closedError(): ConnectError {
  return new ConnectError("the client was closed", Code.Canceled);
}
