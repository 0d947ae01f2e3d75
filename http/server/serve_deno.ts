/**
 * The same handlers on `Deno.serve`: on a port, or in a program that another one serves.
 *
 * @module
 */
import { checkPair } from "../net/certificate.ts";
import { readFetchHead } from "./fetch_head.ts";
import { FetchStream } from "./fetch_stream.ts";
import { followExchange } from "./followed_exchange.ts";
import { type ErrorListener, type Handler, runHandler } from "./handler.ts";
import { type ServerLimits, serverLimits } from "./limits.ts";
import type { PlatformServer, ServerOptions } from "./options.ts";
import { checkBoolean, checkCallback, checkOptions, optionNames } from "../message/options.ts";
import { checkListenOptions, parseAddr } from "../net/listen_options.ts";
import { namingAddress } from "../net/tcp_listener.ts";
import { checkMountable, type ExchangeRouter, type Mountable } from "./mountable.ts";
import { NOT_FOUND } from "./server.ts";
import type { SocketAddress } from "../net/socket.ts";
import { formatAddress } from "../net/address.ts";
import { Countdown } from "../time/countdown.ts";
import { SYSTEM_TIME, type Time } from "../time/time.ts";
import type { ServerStream } from "./stream.ts";
import { checkTelemetry, telemetryOf, type TelemetryOptions } from "../telemetry/telemetry.ts";
import { type ServerWatch, watchOf } from "./watch.ts";

/** A handler of `Deno.serve`. */
type FetchHandler = (request: Request, info?: Deno.ServeHandlerInfo) => Promise<Response>;

/** Settings of {@linkcode fetchHandler}. */
export interface FetchHandlerOptions {
  /** Limits that hold whoever serves. Others throw: the platform's are beyond its reach. */
  readonly limits?: Pick<
    ServerLimits,
    "maxBodyBytes" | "bodyTimeout" | "minBodyRate" | "maxHandlers"
  >;
  /** Takes the exchanges that are its own before the handler: gRPC-Web and Connect calls. */
  readonly registrar?: Mountable;
  /** Compress responses given whole, for clients that take it. @default {false} */
  readonly compress?: boolean;
  /** Called with what handlers throw, and the stream; printed without it; null silences. */
  readonly onError?: ((error: unknown, stream?: ServerStream) => unknown) | null;
  /** See `telemetry` of {@linkcode listen}. What the platform's server shows itself is not shown twice. */
  readonly telemetry?: boolean | TelemetryOptions;
}

/** Limits this module keeps around the platform's server. */
const KEPT_LIMITS: readonly string[] = [
  "maxBodyBytes",
  "bodyTimeout",
  "minBodyRate",
  "maxHandlers",
];

/** `limits` with its defaults. Throws for those that the platform would not keep. */
function keptLimits(
  limits: ServerLimits | undefined,
  kept: readonly string[],
): Required<ServerLimits> {
  const merged = serverLimits(limits);
  for (const [name, value] of Object.entries(limits ?? {})) {
    if (value !== undefined && !kept.includes(name)) {
      throw new TypeError(
        `Cannot use limits.${name} on Deno.serve, which has no such thing: it keeps ${
          kept.join(", ")
        }; use the module's own engine for the others`,
      );
    }
  }
  return merged;
}

/** Runs handlers for web requests, and counts them. */
class Dispatcher {
  readonly #limits: Required<ServerLimits>;
  readonly #time: Time;
  readonly #handler: Handler;
  readonly #router: ExchangeRouter | undefined;
  readonly #compress: boolean;
  readonly #onError: ErrorListener | null | undefined;
  readonly #watch: ServerWatch | null;
  readonly #running = new Set<FetchStream>();
  #onIdle: (() => void) | null = null;
  /** Where the server listens, if that is one address. */
  localAddr: SocketAddress | null = null;

  constructor(
    handler: Handler | undefined,
    limits: Required<ServerLimits>,
    time: Time,
    { registrar, compress = false, onError, telemetry }: FetchHandlerOptions,
  ) {
    this.#handler = handler === undefined ? NOT_FOUND : withUpgrades(handler);
    this.#limits = limits;
    this.#time = time;
    this.#router = checkMountable("make a handler", registrar);
    this.#compress = compress;
    this.#onError = onError;
    this.#watch = watchOf(telemetryOf("make a handler", telemetry), null, true);
  }

  /** Handlers at work now. */
  get handlers(): number {
    return this.#running.size;
  }

  /** Never rejects. */
  readonly fetch: FetchHandler = (request, info) => {
    const head = readFetchHead(request);
    if (typeof head === "number") return Promise.resolve(new Response(null, { status: head }));
    const { localAddr } = this;
    const stream = new FetchStream(
      request,
      head,
      info?.remoteAddr,
      localAddr,
      this.#limits,
      this.#time,
    );
    if (this.handlers >= this.#limits.maxHandlers) {
      stream.respond(503, { "retry-after": "1" }, true);
    } else if (stream.tooLarge) stream.respond(413, null, true);
    else this.#run(stream);
    return stream.response;
  };

  #run(stream: FetchStream): void {
    this.#running.add(stream);
    const running = this.#handle(stream);
    if (running === undefined) this.#ended(stream);
    else running.then(() => this.#ended(stream));
  }

  #handle(stream: FetchStream): Promise<void> | undefined {
    let routed: Promise<void> | null;
    try {
      routed = this.#router?.routeExchange(stream, this.#onError, this.#time, this.#watch) ?? null;
    } catch (error) {
      return runHandler(() => Promise.reject(error), stream, this.#onError);
    }
    if (routed !== null) return runHandler(() => routed, stream, this.#onError);
    if (this.#compress) stream.compress = true;
    const run = () => runHandler(this.#handler, stream, this.#onError);
    const followed = followExchange(this.#watch, stream, this.#time.clock);
    return followed === null ? run() : followed.run(run);
  }

  #ended(stream: FetchStream): void {
    this.#running.delete(stream);
    if (this.#running.size === 0) this.#onIdle?.();
  }

  /** Resolves when no handler is at work. */
  async idle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#onIdle = resolve);
  }

  /** Breaks off what runs. Its handlers are told, and no longer waited for. */
  cut(): void {
    for (const stream of [...this.#running]) {
      stream.abort();
      this.#ended(stream);
    }
  }
}

/** A handler may answer with what `Deno.upgradeWebSocket` gave it, which is no response to send. */
function withUpgrades(handler: Handler): Handler {
  return (stream) => {
    const result = handler(stream);
    if (result === undefined) return undefined;
    return Promise.resolve(result).then((value) => {
      if (!(value instanceof Response) || value.status !== 101) return value;
      (stream as FetchStream).upgraded(value);
      return undefined;
    });
  };
}

/**
 * Makes a handler for `Deno.serve` and `deno serve` from one for {@linkcode listen}. Header fields
 * are checked before they reach `Deno.serve`, where one control character would end the process.
 *
 * There `version` is `HTTP/2` for requests without `host` field, `close` has no effect on the
 * connection, and trailers and informational responses throw. Of `limits` only those are taken that
 * hold whoever serves.
 *
 * @throws {TypeError} If an option cannot be used.
 *
 * @example
 * ```ts
 * import { fetchHandler } from "@sluice/sluice/http";
 *
 * const handler = fetchHandler(async (stream) => {
 *   await stream.respond(200);
 *   stream.closeWrite("Hello");
 * });
 * const response = await handler(new Request("http://localhost/"));
 * await response.text(); // "Hello"
 * ```
 */
export function fetchHandler(
  handler: Handler,
  options: FetchHandlerOptions = {},
): (request: Request, info?: Deno.ServeHandlerInfo) => Promise<Response> {
  return fetchHandlerAt(SYSTEM_TIME, handler, options);
}

/**
 * {@linkcode fetchHandler} by another clock.
 *
 * @internal
 */
export function fetchHandlerAt(
  time: Time,
  handler: Handler,
  options: FetchHandlerOptions = {},
): FetchHandler {
  checkOptions("make a handler", FETCH_NAMES, options);
  checkBoolean("make a handler", "compress", options.compress);
  checkCallback("make a handler", "onError", options.onError);
  checkTelemetry("make a handler", options.telemetry);
  if (typeof handler !== "function") {
    throw new TypeError(`Cannot make a handler as it must be a function: got ${typeof handler}`);
  }
  return new Dispatcher(handler, keptLimits(options.limits, KEPT_LIMITS), time, options).fetch;
}

const FETCH_NAMES = optionNames<FetchHandlerOptions>({
  limits: true,
  registrar: true,
  compress: true,
  onError: true,
  telemetry: true,
});

/** Options of `listen` that `Deno.serve` can keep. */
const KEPT_OPTIONS: readonly string[] = [
  "addr",
  "alpnProtos",
  "backlog",
  "certs",
  "compress",
  "engine",
  "handler",
  "limits",
  "onError",
  "registrar",
  "telemetry",
  "tls",
];

/** Protocols that `Deno.serve` offers by ALPN, in its order. */
const PLATFORM_PROTOCOLS = "h2,http/1.1";

function checkKept(options: ServerOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !KEPT_OPTIONS.includes(name)) {
      throw new TypeError(`Cannot use ${name} with engine "deno": Deno.serve has no such thing`);
    }
  }
  const { alpnProtos, certs, tls } = options;
  if (alpnProtos !== undefined && String(alpnProtos) !== PLATFORM_PROTOCOLS) {
    throw new TypeError(
      `Cannot use alpnProtos with engine "deno" other than ["h2", "http/1.1"], which Deno.serve offers: current value is ${
        JSON.stringify(alpnProtos)
      }`,
    );
  }
  checkListenOptions(options);
  if (tls !== true) return;
  if (certs?.length !== 1) {
    throw new TypeError(
      `Cannot use TLS with engine "deno" as certs must be one: got ${certs?.length ?? 0}`,
    );
  }
  checkPair(certs[0]!.cert, certs[0]!.key, "use certs[0]");
}

/** `listen({ engine: "deno" })`. */
export function listenDeno(options: ServerOptions, time: Time): PlatformServer {
  checkKept(options);
  const limits = keptLimits(options.limits, [...KEPT_LIMITS, "drainTimeout"]);
  const { certs, handler, tls } = options;
  const { hostname, port } = parseAddr(options.addr);
  const dispatcher = new Dispatcher(handler, limits, time, options as FetchHandlerOptions);
  const serving = {
    port,
    ...(hostname === "" ? {} : { hostname }),
    ...(options.backlog === undefined ? {} : { tcpBacklog: options.backlog }),
    ...(tls === true ? { cert: certs![0]!.cert, key: certs![0]!.key } : {}),
    onListen: () => {},
  };
  const server = namingAddress(hostname, port, () => Deno.serve(serving, dispatcher.fetch));
  const addr: SocketAddress = { ...server.addr, transport: "tcp" };
  // On every interface there is no telling on which a connection came.
  if (addr.hostname !== "0.0.0.0" && addr.hostname !== "::") dispatcher.localAddr = addr;
  let closing: Promise<void> | undefined;
  const close = () => closing ??= drain(server, dispatcher, limits.drainTimeout, time);
  return {
    addr: formatAddress(addr),
    port: addr.port,
    get handlers() {
      return dispatcher.handlers;
    },
    setCerts() {
      throw new TypeError(
        `Cannot replace certificates with engine "deno": Deno.serve has no such thing`,
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Milliseconds that answers already given have to be taken, once the others were cut. */
const FLUSH_MS = 1000;

/**
 * Lets what runs finish for `ms`, then breaks it off. The platform has no way to cut a connection
 * once it shuts down (its `signal` then throws), so one that does not take its answer is left to it.
 */
async function drain(
  server: Deno.HttpServer,
  dispatcher: Dispatcher,
  ms: number,
  time: Time,
): Promise<void> {
  const drained = server.shutdown().then(() => dispatcher.idle());
  // As everywhere, 0 is no limit.
  if (ms === 0 || await within(drained, ms, time)) return await drained;
  dispatcher.cut();
  await within(drained, FLUSH_MS, time);
}

async function within(promise: Promise<void>, ms: number, time: Time): Promise<boolean> {
  let countdown: Countdown | undefined;
  const late = new Promise<boolean>((resolve) => {
    countdown = new Countdown(time, ms, () => resolve(false));
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    countdown?.stop();
  }
}
