// The room a store may take.

import { ServerFault } from "./fault.ts";
import type { State } from "./state.ts";

/** Number of `AlarmType.NOSPACE`. */
const NO_SPACE = 1;

/** Watches over the size of a store, and raises the alarm. */
export class Space {
  readonly #state: State;
  readonly #quota: number;

  /** `quota` in bytes of keys and values, history included. */
  constructor(state: State, quota: number) {
    this.#state = state;
    this.#quota = quota;
  }

  /** Takes `bytes` more if there is room. Throws NO_SPACE; from then on until the alarm is disarmed. */
  check(bytes: number): void {
    if (this.#state.alarms.has(NO_SPACE)) throw new ServerFault("NO_SPACE");
    if (this.#state.mvcc.bytes + bytes <= this.#quota) return;
    this.#state.setAlarm(NO_SPACE, true);
    throw new ServerFault("NO_SPACE");
  }
}
