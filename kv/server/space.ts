// The room a store may take.

import { ServerFault } from "./fault.ts";
import type { State } from "./state.ts";

/** Numbers of `AlarmType`. */
const NO_SPACE = 1;
const CORRUPT = 2;

/** Watches over the size of a store, and raises the alarm. */
export class Space {
  readonly #state: State;
  readonly #quota: number;

  /** `quota` in bytes of memory. */
  constructor(state: State, quota: number) {
    this.#state = state;
    this.#quota = quota;
  }

  /** Bytes of memory that are taken, about: by keys with their history, and by leases. */
  get bytes(): number {
    return this.#state.mvcc.bytes + this.#state.leases.bytes;
  }

  /** Checks that `bytes` more fit. Throws NO_SPACE, and raises the alarm. */
  check(bytes: number): void {
    if (this.bytes + bytes <= this.#quota) return;
    this.#state.setAlarm(NO_SPACE, true);
    throw new ServerFault("NO_SPACE");
  }

  /** Checks that nothing is known to be corrupt. Throws CORRUPT until the alarm is disarmed. */
  checkSound(): void {
    if (this.#state.alarms.has(CORRUPT)) throw new ServerFault("CORRUPT");
  }

  /** Checks that more may be stored. Throws CORRUPT, NO_SPACE until the alarm is disarmed. */
  checkOpen(): void {
    this.checkSound();
    if (this.#state.alarms.has(NO_SPACE)) throw new ServerFault("NO_SPACE");
  }
}
