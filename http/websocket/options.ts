/**
 * Options of a server's WebSockets.
 *
 * @module
 */
import { isToken } from "../message/headers.ts";
import {
  checkBoolean,
  checkCount,
  checkOptions,
  checkTime,
  optionNames,
} from "../message/options.ts";

/** Options of `stream.upgradeWebSocket`. */
export interface WebSocketOptions {
  /**
   * Subprotocols this side speaks, most wanted first; the first that the client offers too is taken.
   * With none in common the socket opens without one.
   *
   * @default {[]}
   */
  readonly protocols?: readonly string[];
  /**
   * Bytes of one message at most, after decompression; a longer one closes with code 1009. 0: no
   * limit.
   *
   * @default {4194304}
   */
  readonly maxMessageBytes?: number;
  /**
   * Milliseconds after which a silent client is pinged, and once more after which it is cut: it may be
   * gone without a word. 0: no limit.
   *
   * @default {30000}
   */
  readonly idleTimeout?: number;
  /**
   * Milliseconds a client has for its part of the closing handshake; then it is cut. 0: no limit.
   *
   * @default {10000}
   */
  readonly closeTimeout?: number;
  /**
   * Bytes that may wait for a client that does not read: a message sent beyond that cuts the
   * connection. Look at `bufferedAmount` to send no faster than it reads.
   *
   * @default {16777216}
   */
  readonly maxBufferedBytes?: number;
  /**
   * Compress messages for clients that offer it (permessage-deflate, RFC 7692), each message by
   * itself, and take compressed ones.
   *
   * @default {false}
   */
  readonly compress?: boolean;
}

/** Options with their defaults; Infinity where there is no limit. */
export type WebSocketSettings = Required<WebSocketOptions>;

const NAMES = optionNames<WebSocketOptions>({
  protocols: true,
  maxMessageBytes: true,
  idleTimeout: true,
  closeTimeout: true,
  maxBufferedBytes: true,
  compress: true,
});

const WHAT = "upgrade";

/**
 * Checks options and fills in the defaults.
 *
 * @throws {TypeError} If one is wrong or not known.
 */
export function webSocketSettings(options: WebSocketOptions): WebSocketSettings {
  checkOptions(WHAT, NAMES, options);
  const {
    protocols = [],
    maxMessageBytes = 4 << 20,
    idleTimeout = 30_000,
    closeTimeout = 10_000,
    maxBufferedBytes = 16 << 20,
    compress = false,
  } = options;
  if (
    !Array.isArray(protocols) ||
    !protocols.every((name) => typeof name === "string" && isToken(name))
  ) {
    throw new TypeError(
      `Cannot upgrade as protocols must be an array of tokens (RFC 6455 §4.1): current value is ${
        JSON.stringify(protocols)
      }`,
    );
  }
  checkCount(WHAT, "maxMessageBytes", maxMessageBytes, 0, Infinity);
  checkTime(WHAT, "idleTimeout", idleTimeout);
  checkTime(WHAT, "closeTimeout", closeTimeout);
  if (typeof maxBufferedBytes !== "number" || !(maxBufferedBytes >= 0)) {
    throw new TypeError(
      `Cannot upgrade as maxBufferedBytes must be a number >= 0: current value is ${maxBufferedBytes}`,
    );
  }
  checkBoolean(WHAT, "compress", compress);
  return {
    protocols,
    maxMessageBytes: maxMessageBytes === 0 ? Infinity : maxMessageBytes,
    idleTimeout,
    closeTimeout,
    maxBufferedBytes,
    compress,
  };
}
