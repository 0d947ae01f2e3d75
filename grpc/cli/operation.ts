import type { Given } from "./arguments.ts";
import type { Setup } from "./setup.ts";
import type { Timing } from "./timing.ts";
import type { World } from "./world.ts";

/** Everything a verb works on. */
export interface Operation {
  readonly setup: Setup;
  readonly given: Given;
  readonly world: World;
  /** Address of the server. */
  readonly target: string | undefined;
  /** Listed, described or called. */
  readonly symbol: string | undefined;
  /** Runs since the command began. */
  readonly started: Timing;
  /** Milliseconds that are left of `-max-time`; Infinity without it. */
  readonly timeLeft: () => number;
}
