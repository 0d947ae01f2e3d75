import { quiet, quietIterator } from "../../http/engine.ts";
import { bag } from "../calls.ts";
import type { CallOptions, WatchResponse } from "../types.ts";
import { waiting } from "../wait.ts";
import type { Watcher } from "./watcher.ts";

/** Makes another response of a response. */
type Change = (response: WatchResponse) => WatchResponse;

/** Gives a watch to its reader. */
let watchOf: (watcher: Watcher) => Watch;
/** The same watch for one who sees other keys: reads give what `change` makes of responses. */
let changed: (watch: Watch, change: Change) => Watch;
export { changed, watchOf };

/**
 * A watch as its reader holds it.
 *
 * Guarantees: events come in the order of their revisions, each once, none left out, whatever happens
 * to connections meanwhile; the events of one revision come in one response. When that cannot be held
 * any longer, `read` rejects with the reason: {@linkcode CompactedError} if history went away,
 * {@linkcode HistoryLostError} if the store is another one, {@linkcode WatchCanceledError} if the
 * server ended the watch.
 *
 * A slow reader holds up nobody: when 16 MiB of events wait, or its share of 256 MiB for all watches of
 * the client, the watch is suspended on the server and goes on at the same revision once half of them
 * are read. (What a suspended watch has not seen yet may be compacted meanwhile.) One response more may
 * be held, whose size is bounded by `maxReceiveSize`; with that option, or `fragment`, by one revision.
 */
export class Watch implements AsyncIterable<WatchResponse>, Disposable, AsyncDisposable {
  readonly #watcher: Watcher;
  readonly #change: Change | undefined;

  private constructor(watcher: Watcher, change?: Change) {
    this.#watcher = watcher;
    this.#change = change;
  }

  static {
    watchOf = (watcher) => new Watch(watcher);
    changed = (watch, change) => {
      const before = watch.#change;
      return new Watch(
        watch.#watcher,
        before === undefined ? change : (response) => change(before(response)),
      );
    };
  }

  /**
   * The revision the watch goes on at: events before it were given or wait to be read. A new watch from
   * here gets what this one would get next.
   */
  get revision(): bigint {
    return this.#watcher.state.next;
  }

  /** The first revision whose events are seen: all there were from it on are given. */
  get startRevision(): bigint {
    return this.#watcher.state.start;
  }

  /**
   * Asks the server how far the watch is, and resolves with the revision: everything up to it was read
   * or waits to be read. With `progressNotify` a response says so too. Rejects with code
   * DEADLINE_EXCEEDED when there is no answer in time, as while the watch is suspended.
   *
   * etcd before 3.4.25 and 3.5.8 answers at once, also while a watch still catches up with history.
   */
  requestProgress(options?: number | Pick<CallOptions, "timeout" | "signal">): Promise<bigint> {
    return quiet(this.#progress(options));
  }

  async #progress(options: number | CallOptions | undefined): Promise<bigint> {
    const { timeout, signal } = bag(options, undefined);
    const watcher = this.#watcher;
    return await waiting(
      "requestProgress",
      { timeout, signal },
      watcher.clock,
      (ended) => watcher.progress(ended),
    );
  }

  /**
   * The next response, or null once the watch was closed on this side. Rejects when the watch ended
   * otherwise. With `timeout` milliseconds, rejects with code DEADLINE_EXCEEDED when none came in
   * time, with 0 if none waits; the watch goes on. Rejects with `TypeError` if `timeout` is not a
   * number >= 0.
   */
  read(timeout?: number): Promise<WatchResponse | null> {
    const change = this.#change;
    const read = this.#watcher.read(timeout);
    if (change === undefined) return quiet(read);
    return quiet(read.then((response) => response === null ? null : change(response)));
  }

  /** Ends the watch. What waits is dropped; reads give null. May be called again. */
  close(): void {
    this.#watcher.close();
  }

  /** Reads to the end. Leaving the loop early closes the watch. */
  [Symbol.asyncIterator](): AsyncIterator<WatchResponse, undefined> {
    return quietIterator(this.#responses());
  }

  async *#responses(): AsyncGenerator<WatchResponse, undefined> {
    try {
      for (let response = await this.read(); response !== null; response = await this.read()) {
        yield response;
      }
    } finally {
      this.close();
    }
  }

  /** The same as `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}
