/**
 * Loads files in a worker that can be ended, so that one that never comes back is a finding and not
 * the end of the run.
 *
 * @module
 */

import type { Diagnostic } from "../../../protoc/mod.ts";

/** A file to load. */
export interface Trial {
  readonly id: number;
  readonly name: string;
  readonly text: Uint8Array;
  /** Directories that imports are read from. */
  readonly roots: readonly string[];
  /** Whether positions and comments are kept. */
  readonly sourceInfo: boolean;
  /** Imports that are not on disk. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** What became of it. */
export interface Finding {
  readonly id: number;
  /** Whether it was loaded; undefined when it hung or threw what it must not. */
  readonly accepted: boolean | undefined;
  readonly errors: readonly Diagnostic[];
  /** The serialized descriptor, when it was loaded. */
  readonly bytes: Uint8Array | undefined;
  /** What it threw, other than a `ProtoError`, or that it hung. */
  readonly defect: string | undefined;
  readonly milliseconds: number;
}

/** Milliseconds one file may take. */
export const TIME_LIMIT = 10_000;

/** Runs trials one after another; `report` is called once for each. */
export async function runTrials(
  trials: readonly Trial[],
  report: (finding: Finding) => void,
): Promise<void> {
  let rest = trials;
  while (rest.length > 0) rest = await runUntilHang(rest, report);
}

/** Gives back what is left after a file that hung. */
function runUntilHang(
  trials: readonly Trial[],
  report: (finding: Finding) => void,
): Promise<readonly Trial[]> {
  const worker = new Worker(new URL("./trial_worker.ts", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    let next = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (rest: readonly Trial[]) => {
      clearTimeout(timer);
      worker.terminate();
      resolve(rest);
    };
    const start = () => {
      const trial = trials[next];
      if (trial === undefined) return end([]);
      timer = setTimeout(() => {
        report({
          id: trial.id,
          accepted: undefined,
          errors: [],
          bytes: undefined,
          defect: `no end after ${TIME_LIMIT} ms`,
          milliseconds: TIME_LIMIT,
        });
        end(trials.slice(next + 1));
      }, TIME_LIMIT);
      worker.postMessage(trial);
    };
    worker.onmessage = ({ data }: MessageEvent<Finding | "ready">) => {
      clearTimeout(timer);
      if (data !== "ready") {
        report(data);
        next++;
      }
      start();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      clearTimeout(timer);
      worker.terminate();
      reject(new Error(`The worker ended: ${event.message}`));
    };
  });
}
