/**
 * States of a stream, RFC 9113 §5.1. There is no server push here, so "reserved" does not occur.
 *
 * ```text
 *                  ┌────────┐
 *                  │  IDLE  │
 *                  └───┬────┘
 *                      │ HEADERS, either side
 *                  ┌───▼────┐
 *   END_STREAM out │  OPEN  │ END_STREAM in
 *         ┌────────┤        ├────────┐
 *         │        └───┬────┘        │
 *  ┌──────▼──────┐     │      ┌──────▼──────┐
 *  │ HALF_CLOSED │     │      │ HALF_CLOSED │
 *  │   _LOCAL    │     │      │   _REMOTE   │
 *  └──────┬──────┘     │      └──────┬──────┘
 *         │ END in     │ RST_STREAM  │ END out
 *         │ or RST     │             │ or RST
 *         │        ┌───▼────┐        │
 *         └────────►  CLOSED◄────────┘
 *                  └────────┘
 * ```
 */
export const State = {
  IDLE: 0,
  OPEN: 1,
  HALF_CLOSED_LOCAL: 2,
  HALF_CLOSED_REMOTE: 3,
  CLOSED: 4,
} as const;

/** A value of {@linkcode State}. */
export type State = typeof State[keyof typeof State];

/** The state after END_STREAM went out. */
export function afterLocalEnd(state: State): State {
  return state === State.HALF_CLOSED_REMOTE || state === State.CLOSED
    ? State.CLOSED
    : State.HALF_CLOSED_LOCAL;
}

/** The state after END_STREAM came in. */
export function afterRemoteEnd(state: State): State {
  return state === State.HALF_CLOSED_LOCAL || state === State.CLOSED
    ? State.CLOSED
    : State.HALF_CLOSED_REMOTE;
}

/** Whether this side may still send HEADERS and DATA. */
export function canSend(state: State): boolean {
  return state === State.OPEN || state === State.HALF_CLOSED_REMOTE;
}

/** Whether the peer may still send HEADERS and DATA. */
export function canReceive(state: State): boolean {
  return state === State.OPEN || state === State.HALF_CLOSED_LOCAL;
}
