/**
 * Errors of the HTTP engine. The class says whose fault it is and how far it reaches, so that the
 * layers above decide by type and never by reading a message.
 *
 * | class | fault | reach |
 * |---|---|---|
 * | `TypeError`, `RangeError` | the caller's | the one call |
 * | {@linkcode ProtocolError} | the peer broke the protocol | its `scope` |
 * | {@linkcode StreamResetError} | one side gave up one stream | the stream |
 * | {@linkcode ConnectionLostError} | the transport went away | the connection |
 * | {@linkcode HeadersTooLargeError} | the caller's | the one message |
 * | {@linkcode DialError} | no connection came about | the attempt |
 * | {@linkcode TimeoutError} | a wait reached its limit | what waited |
 *
 * @module
 */
import { errorCodeName } from "./error_code.ts";

/** The peer sent what the protocol forbids. */
export class ProtocolError extends Error {
  /** `"ProtocolError"`. */
  override readonly name: string = "ProtocolError";
  /** Error code as of RFC 9113 §7, sent in RST_STREAM or GOAWAY. */
  readonly code: number;
  /** Whether one stream or the whole connection is affected. */
  readonly scope: "stream" | "connection";

  /** `code` is one of {@linkcode ErrorCode}. */
  constructor(message: string, code: number, scope: "stream" | "connection" = "connection") {
    super(`${message} (${errorCodeName(code)})`);
    this.code = code;
    this.scope = scope;
  }
}

/** A request, response or trailer section has more header fields than the peer takes. Nothing was sent. */
export class HeadersTooLargeError extends Error {
  /** `"HeadersTooLargeError"`. */
  override readonly name: string = "HeadersTooLargeError";
  /** The peer's SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2) in bytes. */
  readonly limit: number;

  /** `size` is that of the fields: names, values and 32 bytes for each. */
  constructor(size: number, limit: number) {
    super(
      `Cannot send header fields as their size must be <= ${limit}, the peer's MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2): current value is ${size}`,
    );
    this.limit = limit;
  }
}

/** A stream was ended by RST_STREAM (RFC 9113 §6.4), or an HTTP/1.1 exchange was cut. */
export class StreamResetError extends Error {
  /** `"StreamResetError"`. */
  override readonly name: string = "StreamResetError";
  /** Error code as of RFC 9113 §7. */
  readonly code: number;
  /** Which side gave the stream up. */
  readonly by: "peer" | "local";

  /** `code` is one of {@linkcode ErrorCode}. */
  constructor(code: number, by: "peer" | "local", reason?: string) {
    super(
      `Stream was reset by ${by === "peer" ? "the peer" : "this side"}: ${errorCodeName(code)}${
        reason ? `: ${reason}` : ""
      }`,
    );
    this.code = code;
    this.by = by;
  }
}

/** The connection ended while an exchange was under way or about to begin. */
export class ConnectionLostError extends Error {
  /** `"ConnectionLostError"`. */
  override readonly name: string = "ConnectionLostError";
  /**
   * `"no"` if the peer cannot have acted on the request: nothing of it left this machine, or the
   * peer said so (GOAWAY with a lower stream id, REFUSED_STREAM; RFC 9113 §8.7). Then it may be sent
   * again whatever it does.
   */
  readonly requestSent: "no" | "maybe";

  /** `cause`, where known, is the transport's own error. */
  constructor(message: string, requestSent: "no" | "maybe", options?: ErrorOptions) {
    super(message, options);
    this.requestSent = requestSent;
  }
}

/** No connection could be opened. `cause` keeps the system's error. */
export class DialError extends Error {
  /** `"DialError"`. */
  override readonly name: string = "DialError";
  /** `host:port`, or the path of a Unix socket. */
  readonly address: string;
  /** The step that failed. */
  readonly phase: "dns" | "connect" | "tls" | "alpn" | "proxy";

  /** The message names the address, the step and the reason. */
  constructor(address: string, phase: DialError["phase"], reason: string, options?: ErrorOptions) {
    super(`Cannot connect to ${address}: ${phase} failed: ${reason}`, options);
    this.address = address;
    this.phase = phase;
  }
}

/** A wait reached its limit. */
export class TimeoutError extends Error {
  /** `"TimeoutError"`. */
  override readonly name: string = "TimeoutError";
  /** The wait that took too long, by the name of the option that limits it. */
  readonly phase: string;
  /** The limit in milliseconds. */
  readonly ms: number;

  /** The message names the phase, the limit, and whom was waited for, if given. */
  constructor(phase: string, ms: number, where?: string) {
    super(
      `Timed out in phase "${phase}": the limit is ${ms} ms${
        where === undefined ? "" : `: ${where}`
      }`,
    );
    this.phase = phase;
    this.ms = ms;
  }
}

/** A message body is longer than its reader allows. */
export class BodyTooLargeError extends Error {
  /** `"BodyTooLargeError"`. */
  override readonly name: string = "BodyTooLargeError";
  /** The limit in bytes. */
  readonly limit: number;

  /** The message names the limit and its option. */
  constructor(limit: number, option: string) {
    super(`Body must be <= ${limit} bytes: raise ${option} to allow more`);
    this.limit = limit;
  }
}
