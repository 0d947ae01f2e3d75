import { SYSTEM_TIME } from "../../http/engine.ts";

/** A time that runs, in milliseconds. */
export class Timing {
  readonly #start: number = SYSTEM_TIME.clock.now();

  /** Since the start. */
  get taken(): number {
    return SYSTEM_TIME.clock.now() - this.#start;
  }
}

/** A time as Go writes it: `1.234ms`. */
export function durationText(ms: number): string {
  const micros = Math.round(ms * 1000);
  if (micros < 1000) return `${micros}µs`;
  return micros < 1_000_000 ? `${micros / 1000}ms` : `${micros / 1_000_000}s`;
}
