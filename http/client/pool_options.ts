/**
 * Settings of a client's connections, out of its options.
 *
 * @module
 */
import { checkSessionOptions, type SessionOptions } from "../h2/mod.ts";
import {
  checkCallback,
  checkChoice,
  checkCount,
  checkOptions,
  checkText,
  checkTime,
  givenOptions,
} from "../message/options.ts";
import type { Lookup } from "../net/dial.ts";
import { checkProtocols } from "../net/listen_options.ts";
import { checkPlatformWays } from "../net/platform_tls.ts";
import { unixPath } from "../net/unix_address.ts";
import { checkTls, type ClientEngine, type DialTlsOptions } from "../net/tls_options.ts";
import { checkTelemetry } from "../telemetry/telemetry.ts";
import { checkValues, CLIENT_NAMES } from "./check_options.ts";
import type { ClientOptions } from "./options.ts";
import { checkProxy } from "./proxy.ts";
import { REQUEST_DEFAULTS } from "./resolve.ts";

/** Settings of a pool. */
export interface PoolOptions {
  readonly maxIdlePerHost: number;
  readonly maxPerHost: number;
  readonly idleTimeout: number;
  readonly connectTimeout: number;
  /** Milliseconds during which a server may take nothing of a request, HTTP/1.1. */
  readonly writeTimeout: number;
  /** Bytes of a response's head. */
  readonly maxHeaderBytes: number;
  readonly alpnProtos: readonly string[];
  /** With `alpnProtos`. */
  readonly tls: DialTlsOptions;
  /** Whose TLS connections have. */
  readonly engine: ClientEngine;
  /** Path of a Unix socket every connection goes to. */
  readonly unixSocket: string | null;
  /** Finds addresses, or null for the system. */
  readonly lookup: Lookup | null;
  readonly http2: SessionOptions;
}

/** SETTINGS_MAX_HEADER_LIST_SIZE has 32 bits. */
const MAX_HEADER_BYTES = 2 ** 32 - 1;

const DEFAULTS = {
  maxIdlePerHost: 10,
  /** Those being opened included. */
  maxPerHost: 256,
  idleTimeout: 30_000,
  connectTimeout: 20_000,
  maxHeaderBytes: 256 << 10,
  alpnProtos: ["http/1.1", "h2"] as readonly string[],
};

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
  const alpnProtos = options.alpnProtos ?? DEFAULTS.alpnProtos;
  checkProtocols(what, alpnProtos);
  checkTls(options, what);
  checkTelemetry(what, options.telemetry);
  checkChoice(what, "engine", options.engine, ["own", "deno"]);
  if (options.engine === "deno") checkPlatform(what, options);
  if (options.proxy !== undefined) {
    checkProxy(options.proxy);
    if (options.unixSocket !== undefined) {
      throw new TypeError("Cannot make client as it must have either proxy or unixSocket");
    }
  }
  return {
    maxIdlePerHost: options.maxIdlePerHost ?? DEFAULTS.maxIdlePerHost,
    maxPerHost: Math.max(1, options.maxPerHost ?? DEFAULTS.maxPerHost),
    idleTimeout: options.idleTimeout ?? DEFAULTS.idleTimeout,
    connectTimeout: options.connectTimeout ?? DEFAULTS.connectTimeout,
    writeTimeout: options.writeTimeout ?? REQUEST_DEFAULTS.writeTimeout,
    alpnProtos,
    unixSocket: socketPath(options.unixSocket),
    lookup: options.lookup ?? null,
    maxHeaderBytes: options.maxHeaderBytes ?? DEFAULTS.maxHeaderBytes,
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

/** The path of a Unix socket, given as that or as an address. */
function socketPath(given: string | undefined): string | null {
  return given === undefined ? null : unixPath(given) ?? given;
}

/** Refuses the options that `Deno.connect`, `Deno.startTls` and `Deno.connectTls` cannot keep. */
function checkPlatform(what: string, options: ClientOptions): void {
  const { proxy, lookup } = options;
  checkPlatformWays(what, {
    tls: options,
    lookup: (lookup ?? null) !== null,
    tunnel: proxy?.https !== undefined,
    notTcp: proxy?.https?.startsWith("https:") ? "proxy.https cannot be an https: URL" : null,
  });
}
