/**
 * Kinds of random programs.
 *
 * @module
 */
import type { Random } from "../../../support/random.ts";
import { ProgramMaker, type Step } from "../../kv/server/programs.ts";
import { UserProgramMaker } from "../../kv/server/user_programs.ts";
import { playContests } from "./contests.ts";
import { playOperators } from "./operator.ts";
import { Pair } from "./pair.ts";
import { playWatches } from "./watches.ts";

/** A kind of programs. */
interface Kind {
  readonly start: (etcd: string, version: number) => Promise<Pair>;
  readonly play: (pair: Pair, random: Random) => Promise<void>;
  /** The first minor version of etcd that is like the store here. */
  readonly from?: number;
}

const plain = (etcd: string, version: number): Promise<Pair> => Pair.start({ etcd, version });

/** Requests of a program. */
const STEPS = 2_000;

/** The revision an answer tells. */
export function revisionOf(answer: string, before: number): number {
  return Number(/"header":\{"revision":"(\d+)"/.exec(answer)?.[1] ?? before);
}

/** Has a program carried out, one request after the other. */
async function follow(
  pair: Pair,
  maker: { revision: number; step(): Step },
  steps: number,
): Promise<void> {
  for (let i = 0; i < steps; i++) {
    const answer = await pair.ask(maker.step());
    maker.revision = Math.max(maker.revision, revisionOf(answer, maker.revision));
  }
}

/** The kinds there are. */
export const KINDS: Readonly<Record<string, Kind>> = {
  keys: {
    start: plain,
    play: (pair, random) => follow(pair, new ProgramMaker(random), STEPS),
  },
  watches: { start: plain, play: playWatches },
  contests: { start: plain, play: playContests, from: 6 },
  operators: { start: plain, play: playOperators, from: 6 },
  users: {
    start: plain,
    play: async (pair, random) => {
      const maker = new UserProgramMaker(random);
      if (random.below(5) > 0) { for (const step of maker.setup()) await pair.ask(step); }
      await follow(pair, maker, STEPS);
    },
  },
};
