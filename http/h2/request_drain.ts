import { ErrorCode } from "../message/error_code.ts";
import { LingeringClose } from "../net/lingering_close.ts";
import type { Time } from "../time/time.ts";
import type { Stream } from "./stream.ts";

/**
 * Drops the rest of a request that was answered before its end. RFC 9113 §8.1 lets a server reset the
 * stream at once, with NO_ERROR; but clients in wide use lose the answer then, or never come back
 * from the reset (curl 7.88). So the rest is read first, within the limits of any lingering close.
 */
export class RequestDrain {
  readonly #stream: Stream;
  readonly #limits: LingeringClose;
  #enough = false;

  constructor(stream: Stream, time: Time) {
    this.#stream = stream;
    this.#limits = new LingeringClose(time, () => this.#over());
    this.#limits.start();
  }

  /** Drops `n` more bytes the client sent. */
  drop(n: number): void {
    if (!this.#enough && this.#limits.dropped(n)) return;
    this.#enough = true;
    if (this.#stream.unsent === 0) this.#over();
  }

  /** The stream is over. */
  stop(): void {
    this.#limits.stop();
  }

  #over(): void {
    // The answer itself may still wait for the client's window.
    if (this.#stream.unsent > 0) return this.#limits.start();
    this.#limits.stop();
    this.#stream.reset(ErrorCode.NO_ERROR);
  }
}
