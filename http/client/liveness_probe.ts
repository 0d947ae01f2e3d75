/**
 * Asks a connection that has gone quiet whether it is still there.
 *
 * @module
 */
import { ConnectionLostError } from "../message/error.ts";
import type { Session } from "../h2/mod.ts";
import type { Time } from "../time/time.ts";
import { Timer } from "../time/timer_wheel.ts";

/** One PING to a connection that takes no new requests any more, and what its answer decides. */
export class LivenessProbe extends Timer {
  readonly #session: Session;
  readonly #ms: number;
  readonly #asked: number;

  /** With anything from the peer within `ms` the session ends when its streams do, else at once. */
  constructor(session: Session, ms: number, { clock, timers }: Time) {
    super();
    this.#session = session;
    this.#ms = ms;
    this.#asked = clock.now();
    session.ping();
    timers.add(this, ms);
    session.closed.then(() => timers.remove(this));
  }

  /** The connection holds the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  onTimeout(): void {
    if (this.#session.lastInputAt >= this.#asked) {
      this.#session.close();
      return;
    }
    this.#session.destroy(
      new ConnectionLostError(`Server did not answer a PING within ${this.#ms} ms`, "maybe"),
    );
  }
}
