/**
 * The life of one HTTP/1.1 exchange, as two small machines that know neither role nor bytes.
 *
 * Each side of an exchange sends, in this order: any number of informational heads (responses
 * only), one head, any number of body pieces, one end. Whatever decides about legality stands in
 * the table below; whoever acts asks {@linkcode step} first.
 *
 * ```
 *            INFO ┐
 *   IDLE ─────────┘─ HEAD ──▶ BODY ─ DATA ┐
 *    │                         │ ◀────────┘
 *    │                        END ──▶ DONE ── RESET ──▶ IDLE
 *    └─ HEAD (switching protocols) ─ SWITCH ──▶ SWITCHED
 *   any ── FAIL ──▶ ERROR
 * ```
 *
 * @module
 */

/** Where one side of an exchange stands. */
export const State = {
  /** Nothing of the message was sent. */
  IDLE: 0,
  /** The head went out, the body may follow. */
  BODY: 1,
  /** The message is complete. */
  DONE: 2,
  /** The connection left HTTP/1.1 (101, or CONNECT). */
  SWITCHED: 3,
  /** The message can never be completed. */
  ERROR: 4,
} as const;

/** What one side of an exchange does. */
export const Event = {
  /** An informational head, 1xx. */
  INFO: 0,
  /** The final head. */
  HEAD: 1,
  /** A piece of the body. */
  DATA: 2,
  /** The end of the message, with or without trailers. */
  END: 3,
  /** The connection becomes something else. */
  SWITCH: 4,
  /** The next exchange begins on this connection. */
  RESET: 5,
  /** The connection broke or the message did. */
  FAIL: 6,
} as const;

const NO = 255;

// Columns: INFO HEAD DATA END SWITCH RESET FAIL.
// deno-fmt-ignore
const TABLE: Uint8Array = new Uint8Array([
  /* IDLE     */ 0,  1,  NO, NO, 3,  0,  4,
  /* BODY     */ NO, NO, 1,  2,  NO, NO, 4,
  /* DONE     */ NO, NO, NO, NO, NO, 0,  4,
  /* SWITCHED */ NO, NO, NO, NO, NO, NO, 4,
  /* ERROR    */ NO, NO, NO, NO, NO, NO, 4,
]);

const STATE_NAMES = ["IDLE", "BODY", "DONE", "SWITCHED", "ERROR"];
const EVENT_NAMES = ["INFO", "HEAD", "DATA", "END", "SWITCH", "RESET", "FAIL"];

/**
 * Whether `event` may happen in `state`.
 *
 * @internal
 */
export function may(state: number, event: number): boolean {
  return TABLE[state * 7 + event] !== NO;
}

/**
 * The state after `event`.
 *
 * @throws {TypeError} If the event may not happen there: the caller's mistake.
 */
export function step(state: number, event: number): number {
  const next = TABLE[state * 7 + event]!;
  if (next === NO) {
    throw new TypeError(
      `Cannot do ${EVENT_NAMES[event]} as the message is in state ${STATE_NAMES[state]}`,
    );
  }
  return next;
}
