// Compaction without being asked: of history that is older than someone wants it.

import { checkCount, checkOptions, checkTime } from "../../http/engine.ts";
import type { Now } from "./clock.ts";
import { ServerFault } from "./fault.ts";
import type { State } from "./state.ts";

/** How much history is kept: so many revisions, or those of so many milliseconds. */
export type KeptHistory =
  | { readonly revisions: number }
  | { readonly time: number };

/** Milliseconds of history that are kept at least, where less than all is. */
const MIN_TIME_MS = 100;

/**
 * Checks how much history is to be kept.
 *
 * @throws {TypeError} If it is no such thing.
 */
export function checkHistory(what: string, kept: KeptHistory): void {
  checkOptions(`${what} with history`, ["revisions", "time"], kept);
  const { revisions, time } = kept as { readonly revisions?: number; readonly time?: number };
  if ((revisions === undefined) === (time === undefined)) {
    throw new TypeError(`Cannot ${what} as history must be { revisions } or { time }`);
  }
  checkCount(what, "history.revisions", revisions, 1);
  checkTime(what, "history.time", time, MIN_TIME_MS);
}

/** Looks during the time that history is kept. */
const LOOKS = 10;

/** Milliseconds between two looks at most, as in etcd. */
const MAX_PAUSE_MS = 300_000;

/** Compacts from time to time. */
export class AutoCompaction {
  readonly #state: State;
  readonly #clock: Now;
  readonly #kept: KeptHistory;
  /** Where the store was when, old looks first. */
  readonly #seen: { readonly at: number; readonly revision: number }[] = [];

  constructor(state: State, clock: Now, kept: KeptHistory) {
    this.#state = state;
    this.#clock = clock;
    this.#kept = kept;
  }

  /** Milliseconds between two looks. */
  get pause(): number {
    return "time" in this.#kept ? Math.min(MAX_PAUSE_MS, this.#kept.time / LOOKS) : MAX_PAUSE_MS;
  }

  /** Looks whether there is history that is not kept, and compacts it. */
  look(): void {
    const revision = this.#due();
    if (revision <= Math.max(1, this.#state.mvcc.compacted)) return;
    try {
      this.#state.compact({ revision: BigInt(revision) });
    } catch (error) {
      // Somebody else has compacted further.
      if (!(error instanceof ServerFault)) throw error;
    }
  }

  /** The revision before which nothing is kept. */
  #due(): number {
    const { revision } = this.#state.mvcc;
    if ("revisions" in this.#kept) return revision - this.#kept.revisions;
    const now = this.#clock.now();
    this.#seen.push({ at: now, revision });
    let due = 0;
    while (this.#seen.length > 0 && this.#seen[0]!.at <= now - this.#kept.time) {
      due = this.#seen.shift()!.revision;
    }
    return due;
  }
}
