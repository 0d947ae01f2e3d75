import { type TimerNode, timers } from "../time/timer_wheel.ts";
import { ErrorCode } from "../message/error_code.ts";
import type { Stream } from "./stream.ts";

/** How long a request may go on after its answer. */
const LINGER_MS = 5000;

/** Octets of a request that are read and dropped after its answer. */
const MAX_DROPPED_OCTETS = 64 << 20;

/**
 * What follows an answer that came before its request's end. RFC 9113 §8.1 lets a server reset the
 * stream at once, with NO_ERROR; but clients in wide use lose the answer then, or never come back
 * from the reset (curl 7.88). So the rest of the request is dropped, up to a limit, first.
 */
export class UploadLinger implements TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  readonly background = true;
  readonly #stream: Stream;
  #dropped = 0;

  constructor(stream: Stream) {
    this.#stream = stream;
    timers.add(this, LINGER_MS);
  }

  /** The client sent `n` more octets, which nobody reads. */
  drop(n: number): void {
    this.#dropped += n;
    if (this.#dropped <= MAX_DROPPED_OCTETS || this.#stream.queue !== null) return;
    this.stop();
    this.#stream.reset(ErrorCode.NO_ERROR);
  }

  /** The stream is over. */
  stop(): void {
    timers.remove(this);
  }

  onTimeout(): void {
    // The answer itself may still wait for the client's window.
    if (this.#stream.queue !== null) timers.add(this, LINGER_MS);
    else this.#stream.reset(ErrorCode.NO_ERROR);
  }
}
