// Somebody who wants the lock.

import type { kv } from "@sluice/sluice";

/** Name of the lock all pages contend for. */
const LOCK = "printer";
/** Seconds after which others go on if this process dies. */
const TTL = 10;

/** Milliseconds a call to the store may take; the wait for the lock has no end. */
const CALL_TIMEOUT_MS = 5_000;

/** Where a contender stands. */
export type Standing =
  /** `fault`: why it no longer waits or holds, if it did not want to end that. */
  | { readonly is: "idle"; readonly fault: string }
  | { readonly is: "waiting"; readonly abort: AbortController }
  | { readonly is: "holding"; readonly lock: kv.Lock };

/** Takes, uses and releases the lock. */
export class Contender {
  readonly #locks: kv.Namespace;
  readonly #changed: () => void;
  #standing: Standing = { is: "idle", fault: "" };
  /** The lock as it was held last: what is written under it is refused once it is gone. */
  #last: kv.Lock | null = null;

  constructor(locks: kv.Namespace, changed: () => void) {
    this.#locks = locks;
    this.#changed = changed;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The fencing token of the lock held last. */
  get token(): bigint | null {
    return this.#last?.revision ?? null;
  }

  /** Asks for the lock; resolves at once, and holds it when its turn has come. */
  take(): void {
    if (this.#standing.is !== "idle") return;
    const abort = new AbortController();
    this.#stand({ is: "waiting", abort });
    this.#locks.lock(LOCK, { ttl: TTL, signal: abort.signal }).then(
      (lock) => this.#hold(lock, abort),
      (error) => this.#stand({ is: "idle", fault: abort.signal.aborted ? "" : error.message }),
    );
  }

  #hold(lock: kv.Lock, abort: AbortController): void {
    if (abort.signal.aborted) {
      lock.release().catch(() => {});
      return this.#stand({ is: "idle", fault: "" });
    }
    this.#last = lock;
    this.#stand({ is: "holding", lock });
    // Lost: the signal says so before anybody else can hold it.
    lock.signal.addEventListener("abort", () => {
      const now = this.#standing;
      if (now.is !== "holding" || now.lock !== lock) return;
      this.#stand({ is: "idle", fault: String(lock.signal.reason?.message) });
    }, { once: true });
  }

  /** Releases the lock, or no longer waits for it. */
  async release(): Promise<void> {
    const now = this.#standing;
    if (now.is === "waiting") now.abort.abort();
    if (now.is !== "holding") return;
    this.#stand({ is: "idle", fault: "" });
    await now.lock.release({ timeout: CALL_TIMEOUT_MS });
  }

  /** Writes under the lock held last. False if it is not held any more: nothing was written then. */
  async write(value: string): Promise<boolean> {
    if (this.#last === null) {
      throw new TypeError("Cannot write without a token: take the lock first");
    }
    const { succeeded } = await this.#locks.txn({
      compare: [this.#last.condition],
      success: [{ put: { key: "result", value } }],
    }, { timeout: CALL_TIMEOUT_MS });
    return succeeded;
  }

  #stand(standing: Standing): void {
    this.#standing = standing;
    this.#changed();
  }
}
