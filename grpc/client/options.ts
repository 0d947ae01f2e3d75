/**
 * Options of a client, checked, with their defaults.
 *
 * @module
 */
import type { Registry } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import {
  checkBoolean,
  checkCallback,
  checkChoice,
  checkCount,
  checkOptions,
  checkPlatformWays,
  checkProxy,
  checkText,
  checkTime,
  checkTls,
  type DialTlsOptions,
  givenOptions,
  h2,
  isMemory,
  type Lookup,
  MAX_TIMER_MS,
  optionNames,
  shownValue,
} from "../../http/engine.ts";
import { DEFAULT_STREAM_WINDOW } from "../wire/message_stream.ts";
import {
  checkRpcTelemetry,
  type RpcTelemetry,
  rpcTelemetryOf,
  type RpcTelemetryOptions,
} from "../telemetry/options.ts";
import type { ProxyConfig } from "../../http/mod.ts";
import { checkEncoding, type Encoding, MIN_COMPRESS_SIZE } from "../wire/compression.ts";
import { interceptorsOf } from "../wire/intercept.ts";
import { parseServiceConfig, type ServiceSettings } from "../config/parse.ts";
import type { ServiceConfig } from "../config/service_config.ts";
import type { BackoffOptions } from "../resolve/backoff.ts";
import type { ConnectionSettings } from "../balancing/subchannel.ts";
import { type Plan, type PolicyOptions, readPolicy } from "../balancing/policy.ts";
import type { ResolveOptions, Seek } from "../resolve/lookups.ts";
import { isAsyncIterable, type Resolver } from "../resolve/resolver.ts";
import { parseNamed, parseTarget, type Target } from "../resolve/target.ts";
import type { WebClientSettings } from "../web_client/channel.ts";
import { checkProtocol, webClientSettings, webTargets } from "../web_client/settings.ts";
import type { WebTarget } from "../web_client/target.ts";

/** Limits of sending calls again. */
export interface RetryLimits {
  /**
   * Attempts of one call at most, the first included, whatever its retry or hedging policy says. With
   * 1 policies send nothing again.
   * @default {5}
   */
  readonly maxAttempts?: number;
  /**
   * Bytes of the requests that are kept of one call so that they can be sent again, and 64 for each. A
   * call that has sent more is not sent again.
   * @default {262144}
   */
  readonly bufferSize?: number;
}

/** Options of {@linkcode newClient}. */
export interface ClientOptions {
  /**
   * Servers: `host:port`, `dns:///host:port` (every address of the name; `dns://8.8.8.8/host:port` asks
   * that name server), `dns+srv:///name`, `ipv4:address:port,…`, `ipv6:[address]:port,…`, `file:path`,
   * `unix:path`, `unix-abstract:name`, or the address of a server of this process that listens in
   * memory, `memory:/1`. Calls go to them as `policy` says. With gRPC-Web and Connect base
   * URLs, `https://host/prefix`, `host:port`, Unix sockets and addresses in memory. Give this, `target`
   * or `resolver`.
   */
  readonly targets?: readonly string[];
  /**
   * How calls are made: gRPC over HTTP/2, or what goes through proxies and load balancers that know no
   * trailers or only HTTP/1.1: gRPC-Web and Connect (docs/grpc_protocols.md).
   *
   * @default {"grpc"}
   */
  readonly protocol?: "grpc" | "grpc-web" | "connect";
  /**
   * How messages are written: `"json"` with gRPC-Web and Connect; `"text"` with gRPC-Web, whose bodies
   * then are base64.
   *
   * @default {"binary"}
   */
  readonly format?: "binary" | "json" | "text";
  /**
   * The version of HTTP that gRPC-Web and Connect go by; gRPC needs `"2"`. Without TLS `"2"` is spoken
   * by prior knowledge. Not given: with TLS what the server chooses, without `"1.1"`.
   */
  readonly httpVersion?: "1.1" | "2";
  /**
   * Make Connect's unary calls of methods with `idempotency_level = NO_SIDE_EFFECTS` by GET, whose
   * responses proxies may keep. The request stands in the URL; one that makes it longer than 7000 bytes
   * goes by POST.
   *
   * @default {false}
   */
  readonly httpGet?: boolean;
  /** With format `"json"`: types of `google.protobuf.Any` besides those a service's file knows. */
  readonly registry?: Registry;
  /** One of `targets`. With `resolver` it says what servers are called by: `scheme:///name`. */
  readonly target?: string;
  /** Finds the servers, instead of `targets`. */
  readonly resolver?: Resolver;
  /** Which server gets a call. @default {"round_robin"} */
  readonly policy?: PolicyOptions;
  /**
   * Connections to one server at most: a further one is opened when calls wait because the server allows
   * no more on those there are. One carries what its limit allows, often 100 calls at a time; whether
   * more are welcome only the server's owner knows (gRPC A105).
   * @default {1}
   */
  readonly maxConnectionsPerServer?: number;
  /** Use TLS; an object adds trusted authorities or a client certificate. @default {false} */
  readonly tls?: boolean | DialTlsOptions;
  /** Bytes a received message may have. @default {4194304} */
  readonly maxReceiveSize?: number;
  /** Bytes a sent message may have. @default {Infinity} */
  readonly maxSendSize?: number;
  /**
   * Compress requests of `compressMinSize` bytes and more. A server that says it does not understand
   * the encoding gets them uncompressed from then on.
   * @default {false}
   */
  readonly compress?: boolean;
  /** Bytes from which on requests are compressed. @default {1024} */
  readonly compressMinSize?: number;
  /** Encoding of compressed requests. @default {"gzip"} */
  readonly encoding?: "gzip" | "deflate" | "zstd";
  /**
   * Milliseconds for opening a connection, HTTP/2 SETTINGS included. Attempts that no call waits for
   * are given up after 1 to 4 seconds, and made again.
   * @default {20000}
   */
  readonly connectTimeout?: number;
  /** PING to find dead connections. Off unless given. */
  readonly keepalive?: h2.KeepaliveOptions;
  /** Pauses between connection attempts. */
  readonly backoff?: BackoffOptions;
  /** When names are looked up again. */
  readonly resolve?: ResolveOptions;
  /**
   * Proxy that connections go through, by CONNECT: `https` for a client with `tls`, `http` for one
   * without. The names of `host:port` targets are left to the proxy. Unix sockets and addresses in
   * memory go past it. `http.proxyFromEnv()` gives what the environment names, which nobody else reads.
   */
  readonly proxy?: ProxyConfig;
  /** Finds the addresses of host names, instead of the system. */
  readonly lookup?: Lookup;
  /** Deadline of calls that give none, in milliseconds. @default {Infinity} */
  readonly defaultTimeout?: number;
  /**
   * gRPC's service config: an object, or its JSON as text. Deadlines, sizes, retries and hedging of
   * methods, balancing, health (docs/grpc_service_config.md).
   */
  readonly serviceConfig?: string | ServiceConfig;
  /** Limits of sending calls again. */
  readonly retry?: RetryLimits;
  /** Put before this library's name in `user-agent`. */
  readonly userAgent?: string;
  /**
   * Authority of the requests, `:authority`, instead of the target's: for servers that are reached by
   * another name than theirs. `tls.serverName` says whom the certificate must be for. For gRPC alone.
   */
  readonly authority?: string;
  /** Connect interceptors; the first is outermost. They see every call. */
  readonly interceptors?: readonly Interceptor[];
  /**
   * Called with a server's `host:port` when a connection to it is ready, `error` being null, and when
   * it ended or could not be made. What it throws is printed.
   */
  readonly onConnection?: ((server: string, error: Error | null) => unknown) | null | undefined;
  /** Flow-control windows in bytes, and other HTTP/2 settings. */
  readonly http2?: h2.ConnectionOptions;
  /**
   * Spans and metrics of the calls, by OpenTelemetry: true, false, or makers of one's own. Not given,
   * they are made if a provider is registered when the client is made, as with `OTEL_DENO=true`; true
   * also takes one that is registered later (docs/telemetry.md).
   */
  readonly telemetry?: boolean | RpcTelemetryOptions;
  /**
   * `"own"`: connections by whatever suits. `"deno"`: by `Deno.connect`, `Deno.startTls` and
   * `Deno.connectTls` alone; options that these cannot keep are refused by name (docs/engines.md).
   *
   * @default {"own"}
   */
  readonly engine?: "own" | "deno";
}

/** A client's options with their defaults. */
export interface Settings {
  /** Of gRPC; none with other protocols. */
  readonly targets: readonly Target[];
  /** Null: the client's protocol is gRPC. */
  readonly web: WebClientSettings | null;
  readonly seek: Seek;
  /** Whether a service config may come with the servers. */
  readonly configurable: boolean;
  /** Null: none was given. */
  readonly plan: Plan | null;
  /** Names of policies beside gRPC's. */
  readonly ownPolicies: ReadonlySet<string>;
  /** Null: none was given. */
  readonly maxConnections: number | null;
  readonly connection: ConnectionSettings;
  readonly resolve: Required<ResolveOptions>;
  readonly lookup: Lookup | null;
  /** Null: none was given. */
  readonly maxReceiveSize: number | null;
  readonly maxSendSize: number;
  readonly compress: boolean;
  readonly compressMinSize: number;
  readonly encoding: Encoding;
  readonly defaultTimeout: number;
  /** Null: none was given. */
  readonly serviceConfig: ServiceSettings | null;
  readonly retry: Required<RetryLimits>;
  readonly interceptors: readonly Interceptor[];
  readonly onConnection: ClientOptions["onConnection"];
  /** Null: calls are not shown. */
  readonly telemetry: RpcTelemetry | null;
}

const WHAT = "make a client";

/** Attempts of one call that a client may allow. */
const MAX_ATTEMPTS = 100;

/**
 * Names of {@linkcode ClientOptions}.
 *
 * @internal
 */
export const CLIENT_OPTIONS: readonly string[] = optionNames<ClientOptions>({
  targets: true,
  target: true,
  resolver: true,
  policy: true,
  maxConnectionsPerServer: true,
  tls: true,
  maxReceiveSize: true,
  maxSendSize: true,
  compress: true,
  compressMinSize: true,
  encoding: true,
  connectTimeout: true,
  keepalive: true,
  backoff: true,
  resolve: true,
  lookup: true,
  proxy: true,
  defaultTimeout: true,
  serviceConfig: true,
  retry: true,
  userAgent: true,
  authority: true,
  interceptors: true,
  onConnection: true,
  http2: true,
  telemetry: true,
  engine: true,
  protocol: true,
  format: true,
  httpVersion: true,
  httpGet: true,
  registry: true,
});

const TLS_OPTIONS = optionNames<DialTlsOptions>({
  serverName: true,
  caCerts: true,
  cert: true,
  key: true,
  alpnProtos: true,
});

/** Sent as `user-agent`, in the form gRPC asks for. */
const USER_AGENT = "grpc-typescript-sluice/0.1";

/** @throws {TypeError} If an option is not known or has a wrong value; says what to change. */
export function settingsOf(options: ClientOptions): Settings {
  checkOptions(WHAT, CLIENT_OPTIONS, options);
  const { tls, lookup = null } = options;
  checkCallback(WHAT, "lookup", lookup);
  checkCallback(WHAT, "onConnection", options.onConnection);
  checkBoolean(WHAT, "compress", options.compress);
  checkCount(WHAT, "compressMinSize", options.compressMinSize, 0, Infinity);
  checkEncoding(WHAT, options.encoding);
  checkText(WHAT, "userAgent", options.userAgent);
  checkAuthority(options.authority);
  checkCount(WHAT, "maxReceiveSize", options.maxReceiveSize, 1, Infinity);
  checkCount(WHAT, "maxSendSize", options.maxSendSize, 1, Infinity);
  const connectTimeout = limit("connectTimeout", options.connectTimeout) ?? 20_000;
  h2.checkSessionOptions(WHAT, options.http2);
  const { resolve = {}, engine = "own" } = options;
  checkOptions(WHAT, ["interval", "minInterval"], resolve);
  checkRpcTelemetry(WHAT, options.telemetry);
  checkChoice(WHAT, "engine", engine, ["own", "deno"]);
  checkProtocol(WHAT, options);
  const secure = tlsOf(tls);
  const { proxy } = options;
  if (proxy !== undefined) checkProxy(proxy);
  if (engine === "deno" && secure !== null && proxy?.https !== undefined) {
    checkPlatformWays(WHAT, { tls: secure, lookup: lookup !== null, tunnel: true });
  }
  checkCount(WHAT, "maxConnectionsPerServer", options.maxConnectionsPerServer, 1);
  const plan = options.policy === undefined ? null : readPolicy(WHAT, options.policy);
  const ownPolicies = new Set(plan?.choice.kind === "own" ? [plan.choice.policy.name] : []);
  const connection: ConnectionSettings = {
    tls: secure,
    engine,
    // A limit beyond the longest timer is none that anybody could see.
    connectTimeout: connectTimeout > MAX_TIMER_MS ? 0 : connectTimeout,
    authority: options.authority ?? null,
    userAgent: options.userAgent ? `${options.userAgent} ${USER_AGENT}` : USER_AGENT,
    backoff: backoffOf(options.backoff),
    lookup,
    proxy,
    session: {
      streamWindow: DEFAULT_STREAM_WINDOW,
      // A server that accepts and says nothing has not been connected to.
      prefaceTimeout: connectTimeout > MAX_TIMER_MS ? 0 : connectTimeout,
      ...givenOptions(options.http2),
      ...keepaliveOf(options.keepalive),
    },
  };
  const web = webClientSettings(WHAT, webOptions(options), connection);
  const seek = web === null ? seekOf(options, connection, lookup) : NOWHERE;
  return {
    targets: seek.targets,
    web,
    seek,
    configurable: seek.resolver !== null || seek.targets.some(({ kind }) => kind === "file"),
    plan,
    ownPolicies,
    maxConnections: options.maxConnectionsPerServer ?? null,
    connection,
    resolve: {
      interval: limit("resolve.interval", resolve.interval) ?? 30_000,
      minInterval: limit("resolve.minInterval", resolve.minInterval) ?? 30_000,
    },
    lookup,
    maxReceiveSize: options.maxReceiveSize ?? null,
    maxSendSize: options.maxSendSize ?? Infinity,
    compress: options.compress ?? false,
    compressMinSize: options.compressMinSize ?? MIN_COMPRESS_SIZE,
    encoding: options.encoding ?? "gzip",
    defaultTimeout: limit("defaultTimeout", options.defaultTimeout) ?? Infinity,
    serviceConfig: options.serviceConfig === undefined
      ? null
      : parseServiceConfig(options.serviceConfig, ownPolicies),
    retry: retryOf(options.retry),
    interceptors: interceptorsOf(WHAT, options.interceptors),
    onConnection: options.onConnection,
    telemetry: rpcTelemetryOf(WHAT, options.telemetry),
  };
}

/** Of a client whose connections are the HTTP client's. */
const NOWHERE: Seek = { targets: [], resolver: null };

/** Options that only connections of gRPC's own can keep. */
const GRPC_ALONE = [
  "resolver",
  "resolve",
  "policy",
  "maxConnectionsPerServer",
  "authority",
  "onConnection",
] as const;

/** The options of a client of gRPC-Web or Connect. */
function webOptions(
  options: ClientOptions,
): ClientOptions & { readonly targets: readonly string[] } {
  const { protocol = "grpc", target } = options;
  const targets = (target === undefined ? options.targets : [target]) as readonly string[];
  if (protocol === "grpc") return { ...options, targets };
  const name = GRPC_ALONE.find((name) => (options[name] ?? undefined) !== undefined);
  if (name !== undefined) {
    throw new TypeError(
      `Cannot ${WHAT} with protocol "${protocol}" as ${name} is for "grpc" alone`,
    );
  }
  if (target !== undefined && options.targets !== undefined) throw twoPlaces("a target");
  return { ...options, targets };
}

function twoPlaces(other: string): TypeError {
  return new TypeError(`Cannot ${WHAT} with targets and ${other}: give one`);
}

/** Reads where the servers of a client come from. */
function seekOf(
  { targets, target, resolver }: ClientOptions,
  connection: Pick<ConnectionSettings, "tls" | "engine">,
  lookup: Lookup | null,
): Seek {
  if (targets !== undefined && (target !== undefined || resolver !== undefined)) {
    throw twoPlaces(target === undefined ? "a resolver" : "a target");
  }
  if (resolver === undefined) {
    const given = target === undefined ? targets : [target];
    return { targets: targetsOf(given as readonly string[], connection, lookup), resolver: null };
  }
  if (typeof resolver !== "function" && !isAsyncIterable(resolver)) {
    throw new TypeError(
      `Cannot ${WHAT} as resolver must be an async iterable, or a function that gives one: current value is ${
        shownValue(resolver)
      }`,
    );
  }
  checkPlatform(connection, true, false);
  const named = target === undefined ? [] : [parseNamed(target)];
  return { targets: named, resolver: { resolve: resolver, target: target ?? "" } };
}

/** Refuses what connections of the platform's own cannot keep. */
function checkPlatform(
  { tls, engine }: Pick<ConnectionSettings, "tls" | "engine">,
  lookup: boolean,
  unix: boolean,
): void {
  if (engine !== "deno" || tls === null) return;
  const notTcp = unix ? "targets cannot be Unix sockets with tls" : null;
  checkPlatformWays(WHAT, { tls, lookup, notTcp });
}

/**
 * Reads the targets of a client.
 *
 * @throws {TypeError} If there is none, or one is wrong, or not for these connections.
 */
export function targetsOf(
  targets: readonly string[],
  { tls, engine }: Pick<ConnectionSettings, "tls" | "engine">,
  lookup: Lookup | null,
): readonly Target[] {
  if (!Array.isArray(targets) || targets.length === 0) {
    throw new TypeError(`Cannot ${WHAT} without targets: give targets: ["host:port", …]`);
  }
  const parsed = targets.map(parseTarget);
  const inMemory = parsed.find(({ text }) => isMemory(text));
  if (inMemory !== undefined && tls !== null) {
    throw new TypeError(
      `Cannot ${WHAT} with tls and an address in memory: ${inMemory.text} has none`,
    );
  }
  checkPlatform(
    { tls, engine },
    lookup !== null || parsed.some(({ kind }) => kind !== "fixed"),
    parsed.some((target) => target.kind === "fixed" && target.address.path !== undefined),
  );
  return parsed;
}

/**
 * Reads the targets of a client of gRPC-Web or Connect.
 *
 * @throws {TypeError} If there is none, or one is wrong.
 */
export function webTargetsOf(
  targets: readonly string[],
  { tls }: Pick<ConnectionSettings, "tls">,
): readonly WebTarget[] {
  return webTargets(WHAT, targets, tls !== null);
}

/** A time that every call or connection gets: with 0 none could ever succeed. */
function limit(name: string, value: number | undefined): number | undefined {
  checkTime(WHAT, name, value, 1);
  return value;
}

function checkAuthority(authority: unknown): void {
  if (authority === undefined) return;
  if (typeof authority === "string" && /^[\w.~%:[\]-]+$/.test(authority)) return;
  throw new TypeError(
    `Cannot ${WHAT} as authority must be a host with or without a port: current value is ${
      JSON.stringify(authority)
    }`,
  );
}

function tlsOf(tls: ClientOptions["tls"]): DialTlsOptions | null {
  if (tls === undefined || tls === false) return null;
  const options = tls === true ? {} : tls;
  checkOptions(WHAT, TLS_OPTIONS, options);
  checkText(WHAT, "tls.serverName", options.serverName);
  checkTls(options, WHAT);
  return { ...options, alpnProtos: ["h2"] };
}

function retryOf(limits: RetryLimits = {}): Required<RetryLimits> {
  checkOptions(WHAT, ["maxAttempts", "bufferSize"], limits);
  const { maxAttempts = 5, bufferSize = 256 << 10 } = limits;
  checkCount(WHAT, "retry.maxAttempts", maxAttempts, 1, MAX_ATTEMPTS);
  checkCount(WHAT, "retry.bufferSize", bufferSize);
  return { maxAttempts, bufferSize };
}

function backoffOf(options: BackoffOptions = {}): Required<BackoffOptions> {
  checkOptions(WHAT, ["initial", "max"], options);
  return {
    initial: Math.min(limit("backoff.initial", options.initial) ?? 200, MAX_TIMER_MS),
    max: Math.min(limit("backoff.max", options.max) ?? 120_000, MAX_TIMER_MS),
  };
}

function keepaliveOf(
  keepalive: h2.KeepaliveOptions | undefined,
): { keepalive?: h2.KeepaliveOptions } {
  if (keepalive === undefined) return {};
  h2.checkKeepalive(WHAT, "keepalive", keepalive);
  const { interval, timeout } = keepalive;
  // Without end is later than the wheel counts.
  return {
    keepalive: {
      ...keepalive,
      interval: Math.min(interval, MAX_TIMER_MS),
      ...(timeout === undefined ? {} : { timeout: Math.min(timeout, MAX_TIMER_MS) }),
    },
  };
}
