/**
 * The life of one exchange, as two small machines that know neither version nor role nor bytes.
 *
 * Each side of an exchange sends, in this order: any number of informational heads (responses
 * only), one head, any number of body pieces, one end. {@linkcode step} alone decides what is legal and is
 * the only way from one state to the next; it is asked before anything is done.
 *
 * ```text
 *   inform ┐
 *   idle ──┘── head ──▶ body ── data ┐
 *    │ ▲                │ │ ◀────────┘
 *    │ └──── retract ───┘ └── end ──▶ ended
 *    └─ switch ──▶ switched
 *
 *   idle, body, switched ── fail ──▶ failed
 * ```
 *
 * @module
 */

/** Where one side of an exchange stands. */
export type Half =
  /** Nothing of the message was given. */
  | "idle"
  /** The head was given, the body may follow. */
  | "body"
  /** The message is complete. */
  | "ended"
  /** The connection became something else (101). */
  | "switched"
  /** The message can never be completed. */
  | "failed";

/**
 * States of one side of an exchange.
 *
 * @internal
 */
export type Step =
  /** Gives an informational head, 1xx. */
  | "inform"
  /** Gives the final head. */
  | "head"
  /** Takes back a head that has not left. */
  | "retract"
  /** Gives a piece of the body. */
  | "data"
  /** Ends the message, with or without trailers. */
  | "end"
  /** Makes the connection something else. */
  | "switch"
  /** The connection broke or the message did; what is complete stays so. */
  | "fail";

/**
 * The state after `event`.
 *
 * @throws {TypeError} If the event may not happen there: the caller's mistake.
 */
export function step(half: Half, event: Step): Half {
  switch (event) {
    case "inform":
      if (half === "idle") return "idle";
      break;
    case "head":
      if (half === "idle") return "body";
      break;
    case "retract":
      if (half === "body") return "idle";
      break;
    case "data":
      if (half === "body") return "body";
      break;
    case "end":
      if (half === "body") return "ended";
      break;
    case "switch":
      if (half === "idle") return "switched";
      break;
    case "fail":
      return half === "ended" ? "ended" : "failed";
    default:
      event satisfies never;
  }
  throw new TypeError(`Cannot ${ACTS[event]} as the message ${STANDS[half]}`);
}

/** Whether nothing of the message can follow. */
export function isOver(half: Half): boolean {
  return half !== "idle" && half !== "body";
}

const ACTS: { readonly [event in Step]: string } = {
  inform: "send an informational head",
  head: "send a head",
  retract: "take the head back",
  data: "send a piece of the body",
  end: "end the message",
  switch: "switch protocols",
  fail: "fail",
};

const STANDS: { readonly [half in Half]: string } = {
  idle: "has not begun",
  body: "has begun",
  ended: "has ended",
  switched: "has given way to another protocol",
  failed: "was broken off",
};
