/**
 * One gRPC stream for all watches of a client.
 *
 * Creates are answered in the order they were sent, and only the answer says which id a watch got: a
 * first-in first-out list of pending creates matches them. When the stream breaks another one is
 * opened and every watch is created anew where its state says.
 *
 * @module
 */
import { type CallOptions as GrpcCallOptions, type CallStream, code } from "../../grpc/mod.ts";
import type { Time } from "../../http/engine.ts";
import type { Calls } from "../calls.ts";
import { isTokenRefusal } from "../credentials.ts";
import { type Break, EndlessStream } from "../endless_stream.ts";
import { cancelError, HistoryLostError, isStatus, KvError } from "../errors.ts";
import { effectOf } from "../retry.ts";
import { type WatchService, withLeader } from "../schema.ts";
import type { Watcher, WatchHost } from "./watcher.ts";
import type { WatchMessage, WatchResult } from "../wire.ts";

/** The id in answers to creates that failed, and in progress asked for by hand. */
const NO_ID = -1n;

/** Milliseconds after which a server that did not say how far the watches are is asked again. */
const ASK_AGAIN_MS = 100;

/** A create that was sent. A watch may have had several, on one stream even. */
interface Creation {
  readonly watcher: Watcher;
  /** The start that was asked for. */
  readonly start: bigint;
  /** False once the watch was detached: then the id is cancelled as soon as it is known. */
  live: boolean;
  id: bigint;
}

/** Parts of a client that the stream needs. */
interface WatchStreamOptions {
  readonly service: WatchService;
  readonly calls: Calls;
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
  readonly #stream: EndlessStream<WatchMessage, WatchResult>;
  /** The break that is not mended yet. */
  #broken: { readonly at: number; readonly failures: number } | null = null;
  readonly #checks: Set<Promise<void>> = new Set();
  /** Watches that want to know how far they are. */
  readonly #asking: Set<Watcher> = new Set();
  #askingOn: Promise<void> | null = null;
  readonly #closing: AbortController = new AbortController();
  readonly time: Time;
  backlog = 0;

  constructor(options: WatchStreamOptions) {
    this.time = options.calls.time;
    this.#options = options;
    this.#stream = new EndlessStream(this, options.calls);
  }

  /** Watches that are open, but for those whose readers are behind. */
  get size(): number {
    return this.#watchers.size;
  }

  attach(watcher: Watcher): void {
    if (this.#stream.closed) return watcher.finish(null);
    this.#watchers.set(watcher, null);
    if (this.#stream.isOpen) this.#create(watcher);
    this.#stream.start();
  }

  detach(watcher: Watcher): void {
    const creation = this.#watchers.get(watcher);
    if (!this.#watchers.delete(watcher)) return;
    watcher.state.interrupt();
    if (creation) this.#cancel(creation);
    // A stream without watches is nothing the server should keep.
    if (this.#watchers.size === 0) this.#stream.hangUp();
  }

  /** Ends all watches, well, and the stream. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    const closing = this.#stream.close();
    this.#closing.abort();
    for (const watcher of this.#watchers.keys()) watcher.finish(null);
    this.#watchers.clear();
    await closing;
    await Promise.all(this.#checks);
    await this.#askingOn;
  }

  // ---- sending ---------------------------------------------------------------------------------

  #create(watcher: Watcher, start: bigint = startOf(watcher)): void {
    const creation: Creation = { watcher, start, live: true, id: NO_ID };
    this.#watchers.set(watcher, creation);
    this.#pending.push(creation);
    this.#stream.send({
      requestUnion: {
        case: "createRequest",
        value: {
          ...watcher.request,
          startRevision: start,
          fragment: watcher.fragment,
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
    this.#stream.send({ requestUnion: { case: "cancelRequest", value: { watchId: creation.id } } });
  }

  /** A server whose watches are not all up to date does not answer: it is asked until it does. */
  askProgress(watcher: Watcher): void {
    this.#asking.add(watcher);
    this.#askingOn ??= this.#ask();
  }

  async #ask(): Promise<void> {
    const { clock } = this.#options.calls;
    try {
      while (this.#asking.size > 0 && !this.#closing.signal.aborted) {
        this.#stream.send({ requestUnion: { case: "progressRequest", value: {} } });
        await clock.sleep(ASK_AGAIN_MS, this.#closing.signal).catch(() => {});
        for (const watcher of this.#asking) if (!watcher.asked) this.#asking.delete(watcher);
      }
    } finally {
      this.#askingOn = null;
    }
  }

  // ---- the stream's life -----------------------------------------------------------------------

  get wanted(): boolean {
    return this.#watchers.size > 0;
  }

  open(options: GrpcCallOptions): Promise<CallStream<WatchMessage, WatchResult>> {
    return this.#options.service.Watch(withLeader(options));
  }

  onOpen(): void {
    this.#forget();
    for (const watcher of this.#watchers.keys()) this.#create(watcher);
  }

  onBroken({ error, failures, renewed }: Break): number | undefined {
    const { clock, observer } = this.#options.calls;
    this.#forget();
    this.#broken = { at: this.#broken?.at ?? clock.now(), failures };
    const known = this.#options.calls.explained(error);
    observer?.event({
      kind: "watch-disconnected",
      watches: this.#watchers.size,
      error: known,
      attempt: failures,
    });
    for (const watcher of this.#watchers.keys()) watcher.onCut(known, failures, clock.now());
    const hopeless = this.#options.calls.lasting(error);
    this.#interrupted(
      known,
      renewed ? "renewed" : isFinal(error) ? "final" : hopeless ? "hopeless" : "failed",
    );
    return this.#waitsForFirst() && !renewed ? this.#options.retrySleep : undefined;
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

  #interrupted(error: Error, how: "renewed" | "failed" | "hopeless" | "final"): void {
    const { retry } = this.#options;
    for (const watcher of [...this.#watchers.keys()]) {
      watcher.state.interrupt();
      this.#watchers.set(watcher, null);
      // A watch that was in place outlasts whatever may be mended.
      const failed = how !== "renewed" && !watcher.established &&
        (++watcher.attempts > retry || how === "hopeless");
      if (how === "final" || failed) {
        this.#watchers.delete(watcher);
        watcher.finish(error);
      }
    }
  }

  // ---- receiving -------------------------------------------------------------------------------

  onMessage(result: WatchResult): boolean {
    if (result.created) {
      this.#onCreated(result);
      return false;
    }
    if (result.watchId === NO_ID) {
      this.#onAnswer(result);
      return false;
    }
    const creation = this.#byId.get(result.watchId);
    // Events may be on their way to a watch that was just cancelled.
    if (creation === undefined) return false;
    return this.#deliver(creation, result);
  }

  /**
   * All watches of the stream have what there is up to a revision. etcd before 3.4.25 and 3.5.8 says so
   * also while one catches up with history: where a watch goes on is not made of it.
   */
  #onAnswer(result: WatchResult): void {
    if (result.created || result.canceled || result.events.length > 0) return;
    for (const watcher of this.#asking) {
      const creation = this.#watchers.get(watcher);
      // Not in place, or by a member that lags.
      if (!creation || creation.id === NO_ID) continue;
      if ((result.header?.revision ?? 0n) < watcher.state.seen) continue;
      this.#asking.delete(watcher);
      watcher.onAnswer(result);
    }
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
    else if (this.#options.calls.authenticated) {
      // The token is the stream's: it serves the watches it has, and takes no more.
      const refusal = cancelError(result.cancelReason);
      if (isTokenRefusal(refusal.reason)) throw refusal;
    }
    this.#deliver(creation, result);
    this.#mended();
  }

  /** Returns whether there were events. */
  #deliver({ watcher, start }: Creation, result: WatchResult): boolean {
    const { next } = watcher.state;
    if (result.canceled && start < result.compactRevision && result.compactRevision <= next) {
      // Compacted is only what this watch does not need.
      this.#create(watcher, next);
      return false;
    }
    const step = watcher.state.advance(result);
    if (step.kind === "behind") this.#verify(watcher);
    if (step.kind === "failed") this.detach(watcher);
    watcher.take(step, this.#options.calls.clock.now());
    return step.kind === "events";
  }

  /** The server has taken a watch: the stream is back. */
  #mended(): void {
    const broken = this.#broken;
    if (broken === null) return;
    this.#broken = null;
    const { clock, observer } = this.#options.calls;
    observer?.event({
      kind: "watch-reconnected",
      watches: this.#watchers.size,
      attempts: broken.failures,
      after: clock.now() - broken.at,
    });
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
  // The server's, of a login or of a watch it did not take.
  if (error instanceof KvError) {
    const { cause, reason } = error;
    return isStatus(cause) || cause instanceof KvError ? isFinal(cause) : isTokenRefusal(reason);
  }
  if (!isStatus(error)) return false;
  if (error.code === code.UNIMPLEMENTED) return true;
  // The same response would come again.
  if (error.rawMessage.startsWith("received message larger than max")) return true;
  return effectOf(error) === "rejected";
}
