import { quiet, quietIterator } from "../../http/engine.ts";
import { raced } from "../wait.ts";
import { EVERYTHING } from "./differences.ts";
import { type CacheEvent, EventQueue } from "./event_queue.ts";
import type { Replica } from "./replica.ts";
import type { Entry } from "./store.ts";

/** Readers of a cache's events. */
export class Readers {
  readonly #replica: Replica;
  readonly #maxEvents: number;

  /** `maxEvents` may wait for each. */
  constructor(replica: Replica, maxEvents: number) {
    this.#replica = replica;
    this.#maxEvents = maxEvents;
  }

  /** One that gets the events from now on, with `initial` behind an `add` for each key there is. */
  open(
    initial: boolean,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<CacheEvent, void, undefined> {
    const replica = this.#replica;
    const queue = new EventQueue(this.#maxEvents, () => replica.revision);
    replica.readers.add(queue);
    if (replica.error !== undefined) {
      queue.finish(replica.state === "failed" ? replica.error : undefined);
    }
    // At one moment with the first event that is queued.
    const look = () => initial ? [...replica.store.range(EVERYTHING)] : [];
    const present = replica.state === "loading"
      ? replica.ready.then(look)
      : Promise.resolve(look());
    const events = this.#read(queue, quiet(present), signal);
    const end = events.return.bind(events);
    // A generator that was not begun does not clean up.
    events.return = (value) => {
      replica.readers.delete(queue);
      return end(value);
    };
    return quietIterator(events);
  }

  async *#read(
    queue: EventQueue,
    present: Promise<readonly Entry[]>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<CacheEvent, void, undefined> {
    const given = new AbortController();
    const onAbort = () => {
      given.abort();
      queue.finish();
    };
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for (const entry of await raced(present, given.signal)) {
        if (given.signal.aborted || this.#replica.error !== undefined) break;
        yield { type: "add", kv: entry.toKeyValue(), revision: entry.modRevision };
      }
      for (let event = await queue.read(); event !== null; event = await queue.read()) yield event;
    } catch (error) {
      if (!given.signal.aborted && this.#replica.state !== "closed") throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#replica.readers.delete(queue);
    }
  }
}
