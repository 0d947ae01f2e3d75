import { bodyRate, type HandlerHost, type MinRate } from "../../http/engine.ts";

type Limits = HandlerHost["limits"];

/** Holds a client to the pace of a request that has to come: `bodyTimeout` and `minBodyRate`. */
export class RequestWatch {
  /** When something of it came last. */
  #heardAt: number;
  /** Bytes the rate has not counted yet. */
  #received = 0;
  #rate: MinRate | null = null;

  constructor(now: number) {
    this.#heardAt = now;
  }

  /** `n` bytes came. Returns false if they come too slowly; a client held back is not to blame. */
  heard(n: number, now: number, limits: Limits, heldBack: boolean): boolean {
    this.#received += n;
    if (now > this.#heardAt && !heldBack) {
      this.#rate ??= bodyRate(limits);
      if (this.#rate !== null && !this.#rate.count(now - this.#heardAt, this.#received)) {
        return false;
      }
      this.#received = 0;
    }
    this.#heardAt = now;
    return true;
  }

  /** Milliseconds that silence may last from now on. A client held back cannot send. */
  left(now: number, limits: Limits, heldBack: boolean): number {
    if (heldBack) this.#heardAt = now;
    return this.#heardAt + limits.bodyTimeout - now;
  }
}
