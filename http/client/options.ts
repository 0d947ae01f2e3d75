/**
 * What a client and its requests may be told.
 *
 * @module
 */
import type { BodyInput } from "../message/body.ts";
import { checkSessionOptions, type SessionOptions } from "../h2/mod.ts";
import type { HeadersInput } from "../message/headers.ts";
import {
  checkBoolean,
  checkCallback,
  checkChoice,
  checkCount,
  checkOptions,
  checkSignal,
  checkText,
  checkTime,
  closestName,
  givenOptions,
  optionNames,
} from "../message/options.ts";
import type { PoolOptions } from "./pool.ts";
import { DEFAULT_MAX_PER_HOST } from "./pool.ts";
import type { Lookup } from "../net/dial.ts";
import { checkProtocols } from "../net/listen_options.ts";
import { checkPlatformWays } from "../net/platform_tls.ts";
import { checkTls } from "../net/tls_options.ts";
import { checkProxy, type ProxyConfig } from "./proxy.ts";
import { DEFAULT_MAX_REDIRECTS } from "./redirect.ts";
import type { Progress } from "./stream.ts";
import { checkRetry, type RetryOptions } from "./retry.ts";

/** Settings of one request. Those of the client are the defaults. */
export interface RequestOptions {
  /** Gives the request up; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Milliseconds for everything, to the end of the body. 0: no limit. @default {0} */
  readonly timeout?: number;
  /**
   * Milliseconds until a connection takes the request: one may have to be opened, or have room.
   *
   * @default {60000}
   */
  readonly queueTimeout?: number;
  /** Milliseconds during which the server takes nothing of the request. @default {60000} */
  readonly writeTimeout?: number;
  /** Milliseconds from the end of the request to the response's head. @default {300000} */
  readonly headTimeout?: number;
  /** Milliseconds between two pieces of the response's body. @default {300000} */
  readonly bodyTimeout?: number;
  /**
   * Bytes of a response, after decoding. 0: no limit.
   *
   * @default {67108864} where it is read whole; no limit where it is read as a stream
   */
  readonly maxResponseBytes?: number;
  /** `"follow"`, `"manual"` (the redirect is the response) or `"error"`. @default {"follow"} */
  readonly redirect?: "follow" | "manual" | "error";
  /** Redirects followed at most. @default {10} */
  readonly maxRedirects?: number;
  /** Follow redirects from https to http. @default {false} */
  readonly allowDowngrade?: boolean;
  /**
   * Called before a redirect is followed. False, or a promise of it, makes the redirect the response;
   * an error is the request's.
   */
  readonly onRedirect?: (
    url: string,
    status: number,
    from: string,
  ) => boolean | void | Promise<boolean | void>;
  /** Undo `content-encoding`, and ask for it. @default {true} */
  readonly decompress?: boolean;
  /** Send failed requests again. A number is the limit. @default {0} */
  readonly retry?: number | RetryOptions;
  /** Body as a JSON value, with its content-type. */
  readonly json?: unknown;
  /** Called with the bytes of the body sent so far. What it throws is the request's error. */
  readonly onUpload?: (progress: Progress) => unknown;
  /**
   * Called with the bytes of the body received so far, before decoding. What it throws is the
   * request's error.
   */
  readonly onDownload?: (progress: Progress) => unknown;
}

/** Settings of {@linkcode newClient}. */
export interface ClientOptions extends Omit<RequestOptions, "signal" | "json"> {
  /** Idle connections kept for each origin. @default {10} */
  readonly maxIdlePerHost?: number;
  /** Connections of HTTP/1.1 for each origin at once; HTTP/2 needs one. @default {256} */
  readonly maxPerHost?: number;
  /** Milliseconds an idle connection is kept. 0: not at all. @default {30000} */
  readonly idleTimeout?: number;
  /** Milliseconds for a connection, its TLS handshake included. @default {20000} */
  readonly connectTimeout?: number;
  /**
   * ALPN protocols (RFC 7301) offered. `["h2"]` alone also speaks HTTP/2 without TLS, by prior
   * knowledge. @default {["http/1.1", "h2"]}
   */
  readonly alpnProtos?: readonly string[];
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCerts?: readonly string[];
  /** Client certificate chain, PEM. Needs `key`. */
  readonly cert?: string;
  /** Private key of `cert`, PEM. */
  readonly key?: string;
  /** Name the server's certificate must be for. @default the URL's host */
  readonly serverName?: string;
  /**
   * Finds the addresses of hosts, the proxy's included, instead of the system: to keep answers, or to
   * refuse addresses by throwing, those of private networks say. The system is asked by
   * `Deno.resolveDns` or by `lookup` of `node:dns`.
   */
  readonly lookup?: Lookup;
  /** Proxies. See `proxyFromEnv` for those the environment names. */
  readonly proxy?: ProxyConfig;
  /** Path of a Unix socket all connections go to; URLs still give host and path. */
  readonly unixSocket?: string;
  /**
   * Bytes of a response's head, and of its trailers over HTTP/2: a longer one fails its request. Over
   * HTTP/2, as RFC 9113 §6.5.2 counts them: 32 more for each field. @default {262144}
   */
  readonly maxHeaderBytes?: number;
  /** HTTP/2 settings: windows, keep-alive. */
  readonly http2?: SessionOptions;
  /** Header fields sent with every request that does not give them. */
  readonly headers?: { readonly [name: string]: string };
  /**
   * `"own"`: connections by whatever suits. `"deno"`: by `Deno.connect`, `Deno.startTls` and
   * `Deno.connectTls` alone; options that these cannot keep are refused by name (docs/engines.md).
   *
   * @default {"own"}
   */
  readonly engine?: "own" | "deno";
}

/** A request for {@linkcode Client.send}. */
export interface SendOptions extends RequestOptions {
  /** Header fields. */
  readonly headers?: HeadersInput | null;
  /** Body. */
  readonly body?: BodyInput | null;
}

/** Options of {@linkcode Client.request}: no redirects and no retries, and the body is written. */
export interface StreamOptions extends
  Pick<
    RequestOptions,
    | "signal"
    | "timeout"
    | "queueTimeout"
    | "writeTimeout"
    | "headTimeout"
    | "bodyTimeout"
    | "maxResponseBytes"
    | "onDownload"
  > {
  /** Header fields. */
  readonly headers?: HeadersInput;
  /** Undo `content-encoding`. @default {false} */
  readonly decompress?: boolean;
}

/** SETTINGS_MAX_HEADER_LIST_SIZE has 32 bits. */
const MAX_HEADER_BYTES = 2 ** 32 - 1;

/** What is sent without the caller saying so, and how long things may take. */
export const CLIENT_DEFAULTS = {
  timeout: 0,
  queueTimeout: 60_000,
  writeTimeout: 60_000,
  headTimeout: 300_000,
  bodyTimeout: 300_000,
  maxResponseBytes: 64 << 20,
  maxRedirects: DEFAULT_MAX_REDIRECTS,
  maxIdlePerHost: 10,
  maxPerHost: DEFAULT_MAX_PER_HOST,
  idleTimeout: 30_000,
  connectTimeout: 20_000,
  maxHeaderBytes: 256 << 10,
  alpnProtos: ["http/1.1", "h2"] as readonly string[],
};

const REQUEST_FLAGS = {
  signal: true,
  timeout: true,
  queueTimeout: true,
  writeTimeout: true,
  headTimeout: true,
  bodyTimeout: true,
  maxResponseBytes: true,
  redirect: true,
  maxRedirects: true,
  allowDowngrade: true,
  onRedirect: true,
  decompress: true,
  retry: true,
  json: true,
  onUpload: true,
  onDownload: true,
} as const;
const { signal: _signal, json: _json, ...DEFAULT_FLAGS } = REQUEST_FLAGS;

/**
 * Names of {@linkcode RequestOptions}.
 *
 * @internal
 */
export const REQUEST_NAMES: readonly string[] = optionNames<RequestOptions>(REQUEST_FLAGS);
const SEND_NAMES = optionNames<SendOptions>({ ...REQUEST_FLAGS, headers: true, body: true });
/**
 * Names of {@linkcode StreamOptions}.
 *
 * @internal
 */
export const STREAM_NAMES: readonly string[] = optionNames<StreamOptions>({
  headers: true,
  signal: true,
  timeout: true,
  queueTimeout: true,
  writeTimeout: true,
  headTimeout: true,
  bodyTimeout: true,
  maxResponseBytes: true,
  decompress: true,
  onDownload: true,
});
/**
 * Names of {@linkcode ClientOptions}.
 *
 * @internal
 */
export const CLIENT_NAMES: readonly string[] = optionNames<ClientOptions>({
  ...DEFAULT_FLAGS,
  maxIdlePerHost: true,
  maxPerHost: true,
  idleTimeout: true,
  connectTimeout: true,
  alpnProtos: true,
  caCerts: true,
  cert: true,
  key: true,
  serverName: true,
  lookup: true,
  proxy: true,
  unixSocket: true,
  maxHeaderBytes: true,
  http2: true,
  headers: true,
  engine: true,
});

const TIMES = ["timeout", "queueTimeout", "writeTimeout", "headTimeout", "bodyTimeout"] as const;

/** Checks what requests and clients may both be told. */
function checkValues(what: string, options: RequestOptions): void {
  for (const name of TIMES) checkTime(what, name, options[name]);
  checkCount(what, "maxResponseBytes", options.maxResponseBytes, 0, Infinity);
  checkCount(what, "maxRedirects", options.maxRedirects, 0, Infinity);
  checkChoice(what, "redirect", options.redirect, ["follow", "manual", "error"]);
  checkBoolean(what, "allowDowngrade", options.allowDowngrade);
  checkBoolean(what, "decompress", options.decompress);
  checkCallback(what, "onRedirect", options.onRedirect);
  checkCallback(what, "onUpload", options.onUpload);
  checkCallback(what, "onDownload", options.onDownload);
  checkSignal(what, "signal", options.signal);
  checkRetry(what, options.retry);
}

/**
 * Checks what one request is told. `names` are those it may be told.
 *
 * @throws {TypeError} If a setting is unknown or cannot be used.
 */
function checkRequest(names: readonly string[], options: RequestOptions): void {
  checkOptions("request", names, options);
  checkValues("request", options);
}

/**
 * Checks the options of a raw stream.
 *
 * @throws {TypeError} If one is unknown or cannot be used.
 */
function checkStreamOptions(options: StreamOptions): void {
  checkOptions("request", SEND_NAMES, options);
  for (const name of Object.keys(options)) {
    if (STREAM_NAMES.includes(name) || !SEND_NAMES.includes(name)) continue;
    throw new TypeError(
      `Cannot request a raw stream with option ${name}: what it does is for send()`,
    );
  }
  checkRequest(STREAM_NAMES, options);
}

/**
 * Checks the options of `send`.
 *
 * @throws {TypeError} If one is unknown or cannot be used.
 */
export function checkSendOptions(options: SendOptions): void {
  checkRequest(SEND_NAMES, options);
}

/** The arguments behind the URL, sorted out. */
interface RequestArguments<T> {
  readonly headers: HeadersInput | null | undefined;
  readonly body: BodyInput | null | undefined;
  readonly options: T;
}

const NO_OPTIONS = {};

/**
 * Sorts out the arguments behind the URL: header fields, body and options, or one bag of options.
 * An object is a bag if one of its names is an option's: such a name is never sent as a header.
 *
 * @throws {TypeError} If it is not clear what is meant, or an option cannot be used.
 */
export function readArguments(
  second: HeadersInput | SendOptions | null | undefined,
  body: BodyInput | null | undefined,
  options: RequestOptions | undefined,
): RequestArguments<RequestOptions> {
  if (isBag(second)) {
    checkSendOptions(second);
    if (options !== undefined || (body !== undefined && body !== null)) {
      throw new TypeError(
        "Cannot request as options were given as the second argument: put what comes behind it into them, or header fields before it",
      );
    }
    return { headers: second.headers, body: second.body, options: second };
  }
  if (options === undefined) return { headers: second, body, options: NO_OPTIONS };
  checkPlaced(options);
  checkRequest(REQUEST_NAMES, options);
  return { headers: second, body, options };
}

/**
 * As {@linkcode readArguments}, for a raw stream, whose body is written to it.
 *
 * @throws {TypeError} As there.
 */
export function readStreamArguments(
  second: HeadersInput | StreamOptions | null | undefined,
  options: StreamOptions | undefined,
): RequestArguments<StreamOptions> {
  if (isBag(second)) {
    checkStreamOptions(second);
    if (options !== undefined) throw new TypeError("Cannot request as options were given twice");
    return { headers: second.headers, body: null, options: second };
  }
  if (options === undefined) return { headers: second, body: null, options: NO_OPTIONS };
  checkPlaced(options);
  checkStreamOptions(options);
  return { headers: second, body: null, options };
}

/** Header fields and body stand in one place: beside options that come last they have their own. */
function checkPlaced(options: SendOptions): void {
  for (const name of ["headers", "body"] as const) {
    if (options === null || typeof options !== "object" || options[name] === undefined) continue;
    throw new TypeError(
      `Cannot request with option ${name} as it has a place of its own before the options: give it there, or give the options alone, as in get(url, { ${name}, … })`,
    );
  }
}

/** Whether the second argument is options. Throws if it is half options, half header fields. */
function isBag<T extends object>(given: HeadersInput | T | null | undefined): given is T {
  if (given === null || typeof given !== "object" || Symbol.iterator in given) return false;
  let option: string | undefined;
  let field: string | undefined;
  for (const name of Object.keys(given)) {
    if (SEND_NAMES.includes(name)) option ??= name;
    else field ??= name;
  }
  if (option === undefined) {
    if (field !== undefined) checkFields(given as Readonly<Record<string, unknown>>);
    return false;
  }
  if (field === undefined) return true;
  const near = closestName(field, SEND_NAMES);
  throw new TypeError(
    `Cannot request with "${option}", which is an option, beside "${field}", which is none${
      near === null ? "" : ` (did you mean "${near}"?)`
    }: put header fields into headers: { … }, or a field of an option's name into new Headers()`,
  );
}

/** A misspelt option looks like a header field, but its value does not. */
function checkFields(fields: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value === "string" || Array.isArray(value) || value === undefined) continue;
    const near = closestName(name, SEND_NAMES);
    if (near === null || name.includes("-")) continue;
    throw new TypeError(
      `Cannot request with header "${name}" of type ${typeof value}: did you mean the option "${near}"?`,
    );
  }
}

/**
 * Checks a client's settings.
 *
 * @throws {TypeError} If one is unknown or cannot be used.
 */
export function poolOptions(options: ClientOptions): PoolOptions {
  const what = "make client";
  checkOptions(what, CLIENT_NAMES, options);
  checkValues(what, options);
  checkCount(what, "maxIdlePerHost", options.maxIdlePerHost, 0, Infinity);
  checkCount(what, "maxPerHost", options.maxPerHost, 0, Infinity);
  checkTime(what, "idleTimeout", options.idleTimeout);
  checkTime(what, "connectTimeout", options.connectTimeout);
  checkCount(what, "maxHeaderBytes", options.maxHeaderBytes, 1, MAX_HEADER_BYTES);
  checkCallback(what, "lookup", options.lookup);
  checkText(what, "unixSocket", options.unixSocket);
  if (options.unixSocket === "") {
    throw new TypeError("Cannot make client as unixSocket must be a path: it is empty");
  }
  checkSessionOptions(what, options.http2);
  const alpnProtos = options.alpnProtos ?? CLIENT_DEFAULTS.alpnProtos;
  checkProtocols(what, alpnProtos);
  checkTls(options, what);
  checkChoice(what, "engine", options.engine, ["own", "deno"]);
  if (options.engine === "deno") checkPlatform(what, options);
  if (options.proxy !== undefined) {
    checkProxy(options.proxy);
    if (options.unixSocket !== undefined) {
      throw new TypeError("Cannot make client as it must have either proxy or unixSocket");
    }
  }
  return {
    maxIdlePerHost: options.maxIdlePerHost ?? CLIENT_DEFAULTS.maxIdlePerHost,
    maxPerHost: Math.max(1, options.maxPerHost ?? CLIENT_DEFAULTS.maxPerHost),
    idleTimeout: options.idleTimeout ?? CLIENT_DEFAULTS.idleTimeout,
    connectTimeout: options.connectTimeout ?? CLIENT_DEFAULTS.connectTimeout,
    writeTimeout: options.writeTimeout ?? CLIENT_DEFAULTS.writeTimeout,
    alpnProtos,
    unixSocket: options.unixSocket ?? null,
    lookup: options.lookup ?? null,
    maxHeaderBytes: options.maxHeaderBytes ?? CLIENT_DEFAULTS.maxHeaderBytes,
    http2: givenOptions(options.http2),
    engine: options.engine ?? "own",
    tls: {
      alpnProtos,
      ...(options.serverName === undefined ? {} : { serverName: options.serverName }),
      ...(options.caCerts === undefined ? {} : { caCerts: options.caCerts }),
      ...(options.cert === undefined ? {} : { cert: options.cert }),
      ...(options.key === undefined ? {} : { key: options.key }),
    },
  };
}

/** What `Deno.connect`, `Deno.startTls` and `Deno.connectTls` cannot do is refused here. */
function checkPlatform(what: string, options: ClientOptions): void {
  const { proxy, lookup } = options;
  checkPlatformWays(what, {
    tls: options,
    lookup: (lookup ?? null) !== null,
    tunnel: proxy?.https !== undefined,
    notTcp: proxy?.https?.startsWith("https:") ? "proxy.https cannot be an https: URL" : null,
  });
}
