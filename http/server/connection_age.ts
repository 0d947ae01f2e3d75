/**
 * Connections that live for ever hold clients to the servers they once found: behind a balancer, new
 * servers get no work. So a connection may be given an age (gRPC proposal A9).
 *
 * @module
 */
import { Watchdog } from "../time/watchdog.ts";
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
  readonly #watchdog: Watchdog;

  /** Counts from now on: `retire` is called at the age, `cut` when the grace after it is over. */
  constructor(limits: Required<ServerLimits>, retire: () => void, cut: () => void) {
    const { maxConnectionAge, maxConnectionAgeGrace } = limits;
    this.#watchdog = new Watchdog((phase) => {
      if (phase !== "maxConnectionAge") return cut();
      this.#watchdog.set("maxConnectionAgeGrace", maxConnectionAgeGrace, performance.now());
      retire();
    });
    this.#watchdog.set("maxConnectionAge", jittered(maxConnectionAge), performance.now());
  }

  /** The connection is gone, or is not HTTP any more. */
  stop(): void {
    this.#watchdog.stop();
  }
}
