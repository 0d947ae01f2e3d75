/**
 * Options of a client and of a single request.
 *
 * @module
 */
import type { BodyInput } from "../message/body.ts";
import type { SessionOptions } from "../h2/mod.ts";
import type { HeadersInput } from "../message/headers.ts";
import type { Lookup } from "../net/dial.ts";
import type { ProxyConfig } from "./proxy.ts";
import type { RetryOptions } from "./retry.ts";
import type { Progress } from "./stream.ts";
import type { TelemetryOptions } from "../telemetry/telemetry.ts";

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
  /** Idle connections kept for each origin. What is beyond it is closed after a second. @default {10} */
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
  /**
   * Path of a Unix socket all connections go to, or its address, `unix:/path` or
   * `unix-abstract:name`; URLs still give host and path.
   */
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
   * Spans and metrics of the requests, by OpenTelemetry: true, false, or makers of one's own. Not given,
   * they are made if a provider is registered when the client is made, as with `OTEL_DENO=true`; true
   * also takes one that is registered later (docs/telemetry.md).
   */
  readonly telemetry?: boolean | TelemetryOptions;
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
