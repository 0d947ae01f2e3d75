/**
 * Why WebSockets end (RFC 6455 §7.4).
 *
 * @module
 */

/** Status codes of Close frames that this side sends or tells. */
export const CloseCode = {
  /** The purpose was fulfilled. */
  NORMAL: 1000,
  /** The server is closing. */
  GOING_AWAY: 1001,
  /** The peer broke the protocol. */
  PROTOCOL_ERROR: 1002,
  /** A Close frame came without a code. Never sent. */
  NO_STATUS: 1005,
  /** The connection ended without a Close frame. Never sent. */
  ABNORMAL: 1006,
  /** A text is not UTF-8, or a compressed message is damaged. */
  INVALID_DATA: 1007,
  /** A message is beyond the limit. */
  TOO_BIG: 1009,
  /** The server failed. */
  INTERNAL_ERROR: 1011,
} as const;

/** Bytes of the reason in a Close frame: a control frame has 125, the code takes two. */
export const MAX_REASON_BYTES = 123;

/** Whether a Close frame may carry `code`: registered by IANA, or for libraries and applications. */
export function mayBeSent(code: number): boolean {
  return (code >= 1000 && code <= 1014 && code !== 1004 && code !== CloseCode.NO_STATUS &&
    code !== CloseCode.ABNORMAL) || (code >= 3000 && code <= 4999);
}

/** The peer broke the protocol or a limit: the connection ends with `code`. */
export class WebSocketError extends Error {
  override readonly name: string = "WebSocketError";
  /** Code of the Close frame that answers it. */
  readonly code: number;

  /** `code` is one of {@linkcode CloseCode}. */
  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}
