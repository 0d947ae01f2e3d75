/**
 * Connections that live for ever hold clients to the servers they once found: behind a balancer, new
 * servers get no work. So a connection may be given an age (gRPC proposal A9).
 *
 * @module
 */
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";
import type { ServerLimits } from "./limits.ts";

/** How far ages differ, up and down, so that connections made at once do not end at once. */
const JITTER = 0.1;

/**
 * Milliseconds a connection may live.
 *
 * @internal
 */
export function jittered(age: number, random: () => number = Math.random): number {
  return age * (1 + JITTER * (2 * random() - 1));
}

/** The age of one connection. */
export class ConnectionAge {
  readonly #deadline: Deadline;

  /** Counts from now on: `retire` is called at the age, `cut` when the grace after it is over. */
  constructor(
    limits: Required<ServerLimits>,
    time: Time,
    retire: () => void,
    cut: () => void,
  ) {
    const { maxConnectionAge, maxConnectionAgeGrace } = limits;
    this.#deadline = new Deadline(time, (phase) => {
      if (phase !== "maxConnectionAge") return cut();
      this.#deadline.set("maxConnectionAgeGrace", maxConnectionAgeGrace);
      retire();
    });
    this.#deadline.set("maxConnectionAge", jittered(maxConnectionAge));
  }

  /** The connection is gone, or is not HTTP any more. */
  stop(): void {
    this.#deadline.stop();
  }
}
