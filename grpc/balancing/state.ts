/**
 * Connectivity, as gRPC names it.
 * {@link https://github.com/grpc/grpc/blob/master/doc/connectivity-semantics-and-api.md}
 *
 * - `IDLE`: not connected, and not connecting until there is a call.
 * - `CONNECTING`: looking for servers, or connecting to them.
 * - `READY`: calls have somewhere to go.
 * - `TRANSIENT_FAILURE`: connecting failed; it is tried again with pauses, and this stays the state
 *   until it succeeds (gRPC A62).
 * - `SHUTDOWN`: closed.
 */
export type ConnState = "IDLE" | "CONNECTING" | "READY" | "TRANSIENT_FAILURE" | "SHUTDOWN";

const BEST_FIRST: readonly ConnState[] = ["READY", "CONNECTING", "IDLE", "TRANSIENT_FAILURE"];

/** The state of several together: READY if one is, and so on; null of none. */
export function bestState(states: Iterable<ConnState>): ConnState | null {
  let best = BEST_FIRST.length;
  for (const state of states) best = Math.min(best, BEST_FIRST.indexOf(state));
  return BEST_FIRST[best] ?? null;
}
