/**
 * Limits of a server on its clients, each with a name and a default that is safe on the open
 * internet, and what a client gets that goes beyond.
 *
 * @module
 */
import {
  checkCount,
  checkNumber,
  checkOptions,
  checkTime,
  givenOptions,
} from "../message/options.ts";

/** Limits of a server. Times are milliseconds; 0 switches a time limit off. */
export interface ServerLimits {
  /** Bytes of a request head. HTTP/1.1: 431, closed. HTTP/2: 431 or RST_STREAM. @default {32768} */
  readonly maxHeaderBytes?: number;
  /** Header fields of a request: 431. @default {128} */
  readonly maxHeaderFields?: number;
  /** Bytes of a request target: 414; HTTP/1.1: closed. @default {8192} */
  readonly maxTargetBytes?: number;
  /** Bytes of a request body: 413, HTTP/1.1 closed. 0: no limit. @default {16777216} */
  readonly maxBodyBytes?: number;
  /** From a request's first byte to the end of its head: 408, closed. @default {15000} */
  readonly headerTimeout?: number;
  /** Between two pieces of a body: 408, HTTP/1.1 closed, HTTP/2 RST_STREAM. @default {30000} */
  readonly bodyTimeout?: number;
  /**
   * Bytes a second a body must bring on average, with 5 seconds to spare: 408. Only time that the
   * handler waits for it counts. 0: no limit. @default {240}
   */
  readonly minBodyRate?: number;
  /**
   * During which a client takes nothing of what waits for it. HTTP/1.1: closed. HTTP/2: RST_STREAM
   * if the stream's own window is shut, gRPC calls included; else GOAWAY, and closed. A stream with
   * nothing to send waits for nobody. 0: `minWriteRate` does not hold either. @default {30000}
   */
  readonly writeTimeout?: number;
  /**
   * Bytes a second a client must take on average of what waits for it, with `writeTimeout` to spare:
   * ended likewise. 0: no limit. @default {1024}
   */
  readonly minWriteRate?: number;
  /** A connection without a request: closed; HTTP/2: GOAWAY. @default {60000} */
  readonly idleTimeout?: number;
  /** A TLS handshake: closed. @default {10000} */
  readonly handshakeTimeout?: number;
  /** An HTTP/2 client's preface and SETTINGS: GOAWAY. @default {10000} */
  readonly prefaceTimeout?: number;
  /** Its acknowledgement of our SETTINGS: GOAWAY. @default {10000} */
  readonly settingsTimeout?: number;
  /**
   * Silence on an HTTP/2 connection, with streams or without, after which a PING asks whether the
   * client is still there; cheap, and gRPC's two hours would keep the calls of the vanished as long.
   * HTTP/1.1 has only TCP's own probes. 0: never. @default {60000}
   */
  readonly keepaliveInterval?: number;
  /** For its answer, or anything else: closed. 0: no PING is sent. @default {20000} */
  readonly keepaliveTimeout?: number;
  /**
   * Age of a connection, give or take a tenth, at which clients are sent to connect anew, so that
   * they find servers that were added: HTTP/2: GOAWAY; HTTP/1.1: `connection: close` with the next
   * response. WebSockets stay. 0: no limit. @default {0}
   */
  readonly maxConnectionAge?: number;
  /** For what still runs then: cut. 0: no limit. @default {0} */
  readonly maxConnectionAgeGrace?: number;
  /**
   * Open connections; more are closed at once. Each is a file descriptor, of which `ulimit -n` must
   * allow more than that. @default {10000}
   */
  readonly maxConnections?: number;
  /**
   * Open connections of one client, which is an IPv4 address or the /64 network of an IPv6 address;
   * more are closed at once, before a TLS handshake. Off by default: behind a proxy or NAT many
   * clients have one address. 0: no limit. @default {0}
   */
  readonly maxConnectionsPerAddress?: number;
  /** HTTP/2 streams of one connection, those included whose handler still runs after a reset:
   * REFUSED_STREAM. @default {250} */
  readonly maxStreams?: number;
  /** Handlers at work at once, over all connections: 503. @default {10000} */
  readonly maxHandlers?: number;
  /** Requests on one HTTP/1.1 connection, which closes after the last. 0: no limit. @default {0} */
  readonly maxRequestsPerConnection?: number;
  /** For running handlers after `close()`: then they are cut. @default {30000} */
  readonly drainTimeout?: number;
}

/** The limits of a server that sets none. */
export const DEFAULT_SERVER_LIMITS: Required<ServerLimits> = {
  maxHeaderBytes: 32 << 10,
  maxHeaderFields: 128,
  maxTargetBytes: 8 << 10,
  maxBodyBytes: 16 << 20,
  headerTimeout: 15_000,
  bodyTimeout: 30_000,
  minBodyRate: 240,
  writeTimeout: 30_000,
  minWriteRate: 1024,
  idleTimeout: 60_000,
  handshakeTimeout: 10_000,
  prefaceTimeout: 10_000,
  settingsTimeout: 10_000,
  keepaliveInterval: 60_000,
  keepaliveTimeout: 20_000,
  maxConnectionAge: 0,
  maxConnectionAgeGrace: 0,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 0,
  maxStreams: 250,
  maxHandlers: 10_000,
  maxRequestsPerConnection: 0,
  drainTimeout: 30_000,
};

const NAMES = Object.keys(DEFAULT_SERVER_LIMITS) as (keyof ServerLimits)[];

/** Limits in milliseconds. */
const TIME = /(?:Timeout|Interval|Age|Grace)$/;

/**
 * Fills in the defaults. What `before` sets goes before.
 *
 * @throws {TypeError} If a limit is not a number >= 0, or has a name that is none.
 */
export function serverLimits(
  given: ServerLimits = {},
  before: { readonly [K in keyof ServerLimits]?: number | undefined } = {},
): Required<ServerLimits> {
  checkOptions("listen with limits", NAMES, given);
  const limits = { ...given, ...givenOptions(before) };
  const merged: { -readonly [K in keyof ServerLimits]-?: number } = { ...DEFAULT_SERVER_LIMITS };
  for (const name of NAMES) {
    const value = limits[name];
    if (value === undefined) continue;
    const path = `limits.${name}`;
    if (TIME.test(name)) checkTime("listen", path, value);
    else if (name.endsWith("Rate")) checkNumber("listen", path, value);
    else checkCount("listen", path, value, 0, Infinity);
    merged[name] = value;
  }
  return merged;
}
