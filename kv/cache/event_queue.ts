import type { KeyValue } from "../key_value.ts";

/** Why a reader of events has to look at the cache anew. */
export type ResyncReason = "compacted" | "history-lost" | "overflow";

/** One change of a cache. */
export type CacheEvent =
  /** A key is there that was not. */
  | { readonly type: "add"; readonly kv: KeyValue; readonly revision: bigint }
  /** A key changed; `previous` is what it was. */
  | {
    readonly type: "update";
    readonly kv: KeyValue;
    readonly previous: KeyValue;
    readonly revision: bigint;
  }
  /** A key is gone; `kv` is what it was. */
  | { readonly type: "delete"; readonly kv: KeyValue; readonly revision: bigint }
  /**
   * Changes are missing:
   * - `compacted`, `history-lost`: the cache had to be read anew. What is different from before follows,
   *   as if it had happened at `revision`.
   * - `overflow`: the reader was too slow. What it holds is to be read from the cache anew, which is at
   *   `revision` now; what happens from there on follows.
   */
  | { readonly type: "resync"; readonly reason: ResyncReason; readonly revision: bigint };

/** Events that wait for one reader, up to a limit. No I/O. */
export class EventQueue {
  readonly #limit: number;
  readonly #revision: () => bigint;
  #events: CacheEvent[] = [];
  /** Where the next one to be read stands. */
  #head = 0;
  /** Whether there were too many: then none waits, and the reader is told of it first. */
  #overflown = false;
  #waiting: PromiseWithResolvers<void> | null = null;
  #end: { readonly error: unknown } | null = null;

  /** `revision` tells where the cache is. */
  constructor(limit: number, revision: () => bigint) {
    this.#limit = limit;
    this.#revision = revision;
  }

  push(event: CacheEvent): void {
    if (this.#overflown) return;
    if (this.#events.length - this.#head >= this.#limit) {
      this.#events = [];
      this.#head = 0;
      this.#overflown = true;
    } else this.#events.push(event);
    this.#wake();
  }

  /** No more events come; without an error their reader ends well. */
  finish(error?: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** The next event, or null at the end. */
  async read(): Promise<CacheEvent | null> {
    for (;;) {
      if (this.#overflown) {
        this.#overflown = false;
        return { type: "resync", reason: "overflow", revision: this.#revision() };
      }
      const event = this.#events[this.#head];
      if (event !== undefined) {
        this.#head++;
        // The front is cut off once it is half of what there is: at a constant cost for each.
        if (this.#head * 2 >= this.#events.length) {
          this.#events.splice(0, this.#head);
          this.#head = 0;
        }
        return event;
      }
      if (this.#end !== null) {
        if (this.#end.error !== undefined) throw this.#end.error;
        return null;
      }
      this.#waiting ??= Promise.withResolvers();
      await this.#waiting.promise;
    }
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = null;
  }
}
