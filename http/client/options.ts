/**
 * What a client and its requests may be told.
 *
 * @module
 */
import type { BodyInput } from "../message/body.ts";
import type { SessionOptions } from "../h2/mod.ts";
import type { PoolOptions } from "./pool.ts";
import { DEFAULT_MAX_PER_HOST } from "./pool.ts";
import type { Lookup } from "../net/dial.ts";
import { checkTls } from "../net/handshake.ts";
import { checkProxy, type ProxyConfig } from "./proxy.ts";
import { DEFAULT_MAX_REDIRECTS } from "./redirect.ts";
import type { Progress } from "./stream.ts";
import type { RetryOptions } from "./retry.ts";

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
   * Octets of a response, after decoding. 0: no limit.
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
  /** Told of sent octets of the body. */
  readonly onUpload?: (progress: Progress) => void;
  /** Told of received octets of the body, before decoding. */
  readonly onDownload?: (progress: Progress) => void;
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
  /** HTTP/2 settings: windows, keep-alive. */
  readonly http2?: SessionOptions;
  /** Header fields sent with every request that does not give them. */
  readonly headers?: { readonly [name: string]: string };
}

/** A request for {@linkcode Client.send}. */
export interface SendOptions extends RequestOptions {
  /** Header fields. */
  readonly headers?: import("../message/headers.ts").HeadersInput;
  /** Body. */
  readonly body?: BodyInput | null;
}

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
  alpnProtos: ["http/1.1", "h2"] as readonly string[],
};

const REQUEST_COUNTS = [
  "timeout",
  "queueTimeout",
  "writeTimeout",
  "headTimeout",
  "bodyTimeout",
  "maxResponseBytes",
  "maxRedirects",
] as const;

const CLIENT_COUNTS = [
  "maxIdlePerHost",
  "maxPerHost",
  "idleTimeout",
  "connectTimeout",
] as const;

function checkCount(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value >= 0)) return;
  throw new TypeError(`Option ${name} must be a number >= 0: current value is ${String(value)}`);
}

/**
 * Checks what may be told for one request.
 *
 * @throws {TypeError} If a setting cannot be used.
 */
export function checkRequestOptions(options: RequestOptions): void {
  for (const name of REQUEST_COUNTS) checkCount(name, options[name]);
  const { redirect, retry } = options;
  if (
    redirect !== undefined && redirect !== "follow" && redirect !== "manual" &&
    redirect !== "error"
  ) {
    throw new TypeError(
      `Option redirect must be "follow", "manual" or "error": current value is ${
        JSON.stringify(redirect)
      }`,
    );
  }
  if (retry === undefined) return;
  if (typeof retry !== "object" || retry === null) return checkCount("retry", retry);
  checkCount("retry.limit", retry.limit);
  checkCount("retry.backoff", retry.backoff);
  checkCount("retry.maxBackoff", retry.maxBackoff);
}

/**
 * Checks a client's settings.
 *
 * @throws {TypeError} If one cannot be used.
 */
export function poolOptions(options: ClientOptions): PoolOptions {
  checkRequestOptions(options);
  for (const name of CLIENT_COUNTS) checkCount(name, options[name]);
  const alpnProtos = options.alpnProtos ?? CLIENT_DEFAULTS.alpnProtos;
  if (alpnProtos.length === 0 || alpnProtos.some((p) => p !== "h2" && p !== "http/1.1")) {
    throw new TypeError(
      `Cannot make client as alpnProtos must be among "http/1.1" and "h2": current value is ${
        JSON.stringify(alpnProtos)
      }`,
    );
  }
  checkTls(options, "make client");
  if (options.lookup !== undefined && typeof options.lookup !== "function") {
    throw new TypeError(
      `Cannot make client as lookup must be a function: got ${typeof options.lookup}`,
    );
  }
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
    http2: options.http2 ?? {},
    tls: {
      alpnProtos,
      ...(options.serverName === undefined ? {} : { serverName: options.serverName }),
      ...(options.caCerts === undefined ? {} : { caCerts: options.caCerts }),
      ...(options.cert === undefined ? {} : { cert: options.cert }),
      ...(options.key === undefined ? {} : { key: options.key }),
    },
  };
}
