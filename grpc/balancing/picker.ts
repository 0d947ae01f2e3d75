/**
 * Round robin over connections: the first call goes to the first, the next to the second, and after
 * the last comes the first again. Only those that are READY are chosen (gRPC's load-balancing.md).
 *
 * @module
 */

/**
 * How ready a connection is for a call.
 * - `ready`: take it.
 * - `full`: take it when one of its streams ends.
 * - `starting`: it is being opened for the first time.
 * - `opening`: it is being opened again.
 * - `down`: nothing.
 */
export type Readiness = "ready" | "full" | "starting" | "opening" | "down";

/** One of the connections to choose from. */
export interface Candidate {
  /** How ready it is for a call. */
  readonly readiness: Readiness;
}

/** No connection is chosen: the call waits. */
export const NONE = -1;

/**
 * The index of the next ready candidate from `turn` on, or {@linkcode NONE}. While `patient`, one that
 * is starting keeps its turn, so that the first calls of a client come in order. `after` has just
 * refused the call: it is chosen if no other is ready.
 */
export function pick(
  candidates: readonly Candidate[],
  turn: number,
  patient: boolean,
  after: Candidate | null,
): number {
  let last = NONE;
  for (let i = 0; i < candidates.length; i++) {
    const at = (turn + i) % candidates.length;
    const candidate = candidates[at]!;
    const { readiness } = candidate;
    if (readiness === "ready") {
      if (candidate !== after) return at;
      last = at;
    } else if (patient && readiness === "starting") return NONE;
  }
  return last;
}

/** Whether a call may wait for one of them: otherwise all are down. */
export function hopeful(candidates: readonly Candidate[]): boolean {
  return candidates.some((candidate) => candidate.readiness !== "down");
}
