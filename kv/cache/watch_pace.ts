import { quiet } from "../../http/engine.ts";
import type { Clock } from "../clock.ts";
import type { Watch } from "../watch/watch.ts";

/** Milliseconds that a server may take to say how far a watch is, before it is asked again. */
const PROGRESS_MS = 1_000;

/** Milliseconds before it is asked again when it did not say. */
const PAUSE_MS = 50;

/** Tells how far the watch of a cache is. */
export class WatchPace {
  /** The watch, while there is one. */
  watch: Watch | null = null;
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  #asking: Promise<bigint> | null = null;

  /** `closing` ends the questions. */
  constructor(clock: Clock, closing: AbortSignal) {
    this.#clock = clock;
    this.#closing = closing;
  }

  /**
   * A revision that the watch has reached, 0n if nobody says. Those who ask at once share a question.
   */
  ask(): Promise<bigint> {
    return this.#asking ??= quiet(this.#ask().finally(() => this.#asking = null));
  }

  async #ask(): Promise<bigint> {
    const signal = this.#closing;
    try {
      if (this.watch !== null) {
        return await this.watch.requestProgress({ timeout: PROGRESS_MS, signal });
      }
    } catch {
      // It broke, or the server was busy.
    }
    await this.#clock.sleep(PAUSE_MS, signal);
    return 0n;
  }
}
