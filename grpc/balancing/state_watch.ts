import type { ConnState } from "./state.ts";

/**
 * States that wait for one who follows them; of more the oldest are dropped.
 *
 * @internal
 */
export const MAX_WAITING_STATES = 16;

/** The state of a client, and those who follow it. */
export class StateWatch {
  #state: ConnState = "IDLE";
  readonly #followers = new Set<Follower>();

  /** The state now. */
  get state(): ConnState {
    return this.#state;
  }

  set state(state: ConnState) {
    if (state === this.#state || this.#state === "SHUTDOWN") return;
    this.#state = state;
    for (const follower of this.#followers) follower.put(state);
    if (state === "SHUTDOWN") this.#followers.clear();
  }

  /** The state now and each after it; ends behind `SHUTDOWN`. */
  follow(): AsyncIterableIterator<ConnState> {
    const follower = new Follower(() => this.#followers.delete(follower));
    follower.put(this.#state);
    if (this.#state !== "SHUTDOWN") this.#followers.add(follower);
    return follower;
  }
}

/** One who follows the states. */
class Follower implements AsyncIterableIterator<ConnState> {
  readonly #states: ConnState[] = [];
  readonly #waiting: ((result: IteratorResult<ConnState>) => void)[] = [];
  readonly #onLeft: () => void;
  #over = false;

  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  put(state: ConnState): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next({ done: false, value: state });
    else this.#states.push(state);
    if (this.#states.length > MAX_WAITING_STATES) this.#states.shift();
    if (state === "SHUTDOWN") this.#end();
  }

  #end(): void {
    this.#over = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<ConnState>> {
    const state = this.#states.shift();
    if (state !== undefined) return Promise.resolve({ done: false, value: state });
    if (this.#over) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<ConnState>> {
    this.#states.length = 0;
    this.#end();
    this.#onLeft();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
