/**
 * One gRPC stream for all watches of a client.
 *
 * Creates are answered in the order they were sent, and only the answer says which id a watch got: a
 * first-in first-out list of pending creates matches them. When the stream breaks another one is
 * opened and every watch is created anew where its state says.
 *
 * @module
 */
import { delay } from "@std/async";
import { type CallStream, code } from "../grpc/mod.ts";
import { reopenDelay } from "./backoff.ts";
import { HistoryLostError, isStatus, KvError, toKvError } from "./errors.ts";
import { effectOf } from "./retry.ts";
import { REQUIRE_LEADER, type WatchService } from "./schema.ts";
import type { Watcher, WatchHost } from "./watcher.ts";
import type { WatchMessage, WatchResult } from "./wire.ts";

/**
 * Milliseconds a stream that brought no events has to hold for its end to count as the first failure
 * in a row.
 */
const STABLE_MS = 5_000;

/** The id in answers to creates that failed, and in progress asked for by hand. */
const NO_ID = -1n;

/** A create that was sent. A watch may have had several, on one stream even. */
interface Creation {
  readonly watcher: Watcher;
  /** The start that was asked for. */
  readonly start: bigint;
  /** False once the watch was detached: then the id is cancelled as soon as it is known. */
  live: boolean;
  id: bigint;
}

/** What the stream needs of its client. */
interface WatchStreamOptions {
  readonly service: WatchService;
  /** How often opening the stream may fail for a watch that the server has not yet accepted. */
  readonly retry: number;
  readonly retrySleep: number;
  /** The store's revision, from the whole cluster. */
  readonly currentRevision: (key: Uint8Array) => Promise<bigint>;
}

/** See the module. */
export class WatchStream implements WatchHost {
  readonly #options: WatchStreamOptions;
  /** The watches that want events, with what was sent for them on the present stream. */
  readonly #watchers: Map<Watcher, Creation | null> = new Map();
  #pending: Creation[] = [];
  #head = 0;
  readonly #byId: Map<bigint, Creation> = new Map();
  #call: CallStream<WatchMessage, WatchResult> | null = null;
  #loop: Promise<void> | null = null;
  /** Whether the present attempt has brought events. */
  #fruitful = false;
  readonly #closing: AbortController = new AbortController();
  readonly #checks: Set<Promise<void>> = new Set();

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  attach(watcher: Watcher): void {
    if (this.#closing.signal.aborted) return watcher.finish(null);
    this.#watchers.set(watcher, null);
    if (this.#call !== null) this.#create(watcher);
    this.#loop ??= this.#run();
  }

  detach(watcher: Watcher): void {
    const creation = this.#watchers.get(watcher);
    if (!this.#watchers.delete(watcher)) return;
    watcher.state.interrupt();
    if (creation) this.#cancel(creation);
    // A stream without watches is nothing the server should keep.
    if (this.#watchers.size === 0) this.#hangUp();
  }

  #hangUp(): void {
    const call = this.#call;
    this.#call = null;
    call?.close();
  }

  /** Ends all watches, well, and the stream. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#hangUp();
    for (const watcher of this.#watchers.keys()) watcher.finish(null);
    this.#watchers.clear();
    await this.#loop;
    await Promise.all(this.#checks);
  }

  // ---- sending ---------------------------------------------------------------------------------

  #create(watcher: Watcher, start: bigint = startOf(watcher)): void {
    const creation: Creation = { watcher, start, live: true, id: NO_ID };
    this.#watchers.set(watcher, creation);
    this.#pending.push(creation);
    this.#send({
      requestUnion: {
        case: "createRequest",
        value: {
          ...watcher.request,
          startRevision: start,
          // Also for those who do not want to see it: a quiet watch that knows how far the store is
          // need not go back to history that was compacted meanwhile.
          progressNotify: true,
        },
      },
    });
  }

  #cancel(creation: Creation): void {
    creation.live = false;
    if (creation.id === NO_ID) return;
    this.#byId.delete(creation.id);
    this.#send({ requestUnion: { case: "cancelRequest", value: { watchId: creation.id } } });
  }

  #send(message: WatchMessage): void {
    // If it cannot be sent the stream is over, and its reader will hear of it.
    this.#call?.write(message).catch(() => {});
  }

  // ---- the stream's life -----------------------------------------------------------------------

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    try {
      while (this.#watchers.size > 0 && !signal.aborted) {
        const opened = performance.now();
        let call: CallStream<WatchMessage, WatchResult> | null = null;
        this.#fruitful = false;
        try {
          call = await this.#options.service.Watch({ signal, headers: REQUIRE_LEADER });
          this.#call = call;
          for (const watcher of this.#watchers.keys()) this.#create(watcher);
          await this.#read(call);
        } catch (error) {
          // Ended from this side; a watch that came since wants another stream at once.
          if (signal.aborted || (call !== null && this.#call !== call)) continue;
          const held = this.#fruitful || performance.now() - opened > STABLE_MS;
          failures = held ? 1 : failures + 1;
          this.#interrupted(error);
          const pause = this.#waitsForFirst() ? this.#options.retrySleep : reopenDelay(failures);
          if (this.#watchers.size > 0) await delay(pause, { signal }).catch(() => {});
        } finally {
          if (this.#call === call) this.#hangUp();
          this.#forget();
        }
      }
    } finally {
      this.#loop = null;
    }
  }

  /** Reads until the stream breaks, or nobody is left to read for. */
  async #read(call: CallStream<WatchMessage, WatchResult>): Promise<void> {
    while (this.#call === call) {
      const result = await call.read();
      if (result === null) throw new KvError("the server ended the stream", code.UNAVAILABLE);
      if (this.#call === call) this.#dispatch(result);
    }
  }

  #forget(): void {
    this.#pending = [];
    this.#head = 0;
    this.#byId.clear();
  }

  /** Whether all that wait here have never been accepted: their pauses are the caller's choice. */
  #waitsForFirst(): boolean {
    for (const watcher of this.#watchers.keys()) if (watcher.established) return false;
    return true;
  }

  #interrupted(error: unknown): void {
    const final = isFinal(error);
    for (const watcher of [...this.#watchers.keys()]) {
      watcher.state.interrupt();
      this.#watchers.set(watcher, null);
      if (final || (!watcher.established && ++watcher.attempts > this.#options.retry)) {
        this.#watchers.delete(watcher);
        watcher.finish(toKvError(error));
      }
    }
  }

  // ---- receiving -------------------------------------------------------------------------------

  #dispatch(result: WatchResult): void {
    if (result.created) return this.#onCreated(result);
    // To nobody in particular: progress asked for by hand, which etcd before 3.4.25 gets wrong.
    if (result.watchId === NO_ID) return;
    const creation = this.#byId.get(result.watchId);
    // Events may be on their way to a watch that was just cancelled.
    if (creation === undefined) return;
    this.#deliver(creation, result);
  }

  #onCreated(result: WatchResult): void {
    const creation = this.#pending[this.#head++];
    if (this.#head === this.#pending.length) {
      this.#pending = [];
      this.#head = 0;
    }
    if (creation === undefined) return;
    if (!result.canceled) {
      creation.id = result.watchId;
      if (!creation.live) return this.#cancel(creation);
      this.#byId.set(creation.id, creation);
    } else if (!creation.live) return;
    this.#deliver(creation, result);
  }

  #deliver({ watcher, start }: Creation, result: WatchResult): void {
    const { next } = watcher.state;
    if (result.canceled && start < result.compactRevision && result.compactRevision <= next) {
      // Compacted is only what this watch does not need.
      return this.#create(watcher, next);
    }
    const step = watcher.state.advance(result);
    if (step.kind === "events") this.#fruitful = true;
    if (step.kind === "behind") this.#verify(watcher);
    if (step.kind === "failed") this.detach(watcher);
    watcher.take(step);
  }

  /**
   * A member is behind what the watch has seen. One that lags catches up by itself; if the whole
   * cluster is behind, its data were lost or restored from a backup.
   */
  #verify(watcher: Watcher): void {
    const { seen } = watcher.state;
    const check = this.#options.currentRevision(watcher.request.key).then(
      (revision) => {
        if (revision >= seen || !this.#watchers.has(watcher)) return;
        this.detach(watcher);
        watcher.finish(
          new HistoryLostError(
            `the watch has seen revision ${seen}, and now the store is at ${revision}`,
            "revision",
          ),
        );
      },
      // It cannot be found out now. The stream is no better off: it will ask again when it is back.
      () => {},
    ).finally(() => this.#checks.delete(check));
    this.#checks.add(check);
  }
}

/**
 * The revision a watch is created at. One that has seen all there is begins at the last revision,
 * whose events it drops: etcd since 3.5 tells no progress to watches that begin in the future.
 */
function startOf({ state }: Watcher): bigint {
  return state.next === state.seen + 1n && state.seen > 0n ? state.seen : state.next;
}

/** Whether another stream would end the same way: the server refuses, or is no etcd. */
function isFinal(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  if (!isStatus(error)) return false;
  if (error.code === code.UNIMPLEMENTED) return true;
  // The same response would come again.
  if (error.rawMessage.startsWith("received message larger than max")) return true;
  return effectOf(error) === "rejected";
}
