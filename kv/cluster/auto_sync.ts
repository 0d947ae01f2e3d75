import { MAX_TIMER_MS, type Time, Timer, type TimerWheel } from "../../http/engine.ts";
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
  readonly #timers: TimerWheel;
  #stopped = false;

  /** `interval` milliseconds between two looks. */
  constructor(cluster: Cluster, interval: number, time: Time) {
    super();
    this.#timers = time.timers;
    this.#cluster = cluster;
    this.#interval = Math.min(MAX_TIMER_MS, interval);
    this.#timers.add(this, this.#interval);
  }

  override get background(): boolean {
    return true;
  }

  onTimeout(): void {
    this.#cluster.sync(SYNC_TIMEOUT_MS).catch(() => {}).finally(() => {
      if (!this.#stopped) this.#timers.add(this, this.#interval);
    });
  }

  /** Ends it. */
  stop(): void {
    this.#stopped = true;
    this.#timers.remove(this);
  }
}
