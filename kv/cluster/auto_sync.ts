import { MAX_TIMER_MS, SYSTEM_TIME, Timer } from "../../http/engine.ts";
import type { Cluster } from "./cluster.ts";

/** Milliseconds one look at the members may take. */
const SYNC_TIMEOUT_MS = 5_000;

/**
 * Syncs a client's endpoints with the members from time to time. A failure changes nothing: the next
 * one is as good. Keeps no process alive.
 */
export class AutoSync extends Timer {
  readonly #cluster: Cluster;
  readonly #interval: number;
  #stopped = false;

  /** `interval` milliseconds between two looks. */
  constructor(cluster: Cluster, interval: number) {
    super();
    this.#cluster = cluster;
    this.#interval = Math.min(MAX_TIMER_MS, interval);
    SYSTEM_TIME.timers.add(this, this.#interval);
  }

  override get background(): boolean {
    return true;
  }

  onTimeout(): void {
    this.#cluster.sync(SYNC_TIMEOUT_MS).catch(() => {}).finally(() => {
      if (!this.#stopped) SYSTEM_TIME.timers.add(this, this.#interval);
    });
  }

  /** Ends it. */
  stop(): void {
    this.#stopped = true;
    SYSTEM_TIME.timers.remove(this);
  }
}
