/**
 * Asks a connection that has gone quiet whether it is still there.
 *
 * @module
 */
import { ConnectionLostError } from "../message/error.ts";
import type { Session } from "../h2/mod.ts";
import { type TimerNode, timers } from "../time/timer_wheel.ts";

/** Opaque data of the PING. */
const PROBE_PING = 0x7072_6f62;

/** One PING to a connection that takes no new requests any more, and what its answer decides. */
export class LivenessProbe implements TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  readonly background = true;
  readonly #session: Session;
  readonly #ms: number;
  readonly #asked = performance.now();

  /** With anything from the peer within `ms` the session ends when its streams do, else at once. */
  constructor(session: Session, ms: number) {
    this.#session = session;
    this.#ms = ms;
    session.connection.ping(PROBE_PING);
    timers.add(this, ms);
    session.closed.then(() => timers.remove(this));
  }

  onTimeout(): void {
    if (this.#session.connection.now >= this.#asked) {
      this.#session.close();
      return;
    }
    this.#session.destroy(
      new ConnectionLostError(`Server did not answer a PING within ${this.#ms} ms`, "maybe"),
    );
  }
}
