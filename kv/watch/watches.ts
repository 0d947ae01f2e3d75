/**
 * All watches of a client. A watch begins in two steps: the revision it begins at is found, then the
 * server accepts it.
 *
 * @module
 */
import { code } from "../../grpc/mod.ts";
import { MAX_TIMER_MS } from "../../http/engine.ts";
import { bag, type Calls } from "../calls.ts";
import { after } from "../clock.ts";
import type { Settings } from "../endpoints.ts";
import { cancelled, ClientClosedError, KvError, misfit } from "../errors.ts";
import { noticeOf, probeMessage, readHeader, watchMessage } from "../ops.ts";
import type { KvService, WatchService } from "../schema.ts";
import type { CallOptions, ResponseHeader, WatchRequest } from "../types.ts";
import { type Watch, watchOf } from "./watch.ts";
import { WatchState } from "./watch_state.ts";
import { WatchStream } from "./watch_stream.ts";
import { Watcher } from "./watcher.ts";

/** Parts of a client that its watches need. */
interface WatchesOptions {
  readonly settings: Settings;
  readonly calls: Calls;
  readonly keys: KvService;
  readonly service: WatchService;
}

/** All watches of a client. */
export class Watches {
  readonly #calls: Calls;
  readonly #settings: Settings;
  readonly #keys: KvService;
  readonly #stream: WatchStream;

  constructor({ settings, calls, keys, service }: WatchesOptions) {
    this.#calls = calls;
    this.#settings = settings;
    this.#keys = keys;
    this.#stream = new WatchStream({
      service,
      calls,
      retry: settings.retry,
      retrySleep: settings.retrySleep,
      currentRevision: async (key) => (await this.#probe(key)).revision,
    });
  }

  /** Watches that are open, but for those whose readers are behind. */
  get size(): number {
    return this.#stream.size;
  }

  /** Ends all of them. Resolves when nothing runs any more. */
  close(): Promise<void> {
    return this.#stream.close();
  }

  /** See {@linkcode Client.watch}. */
  async begin(request: WatchRequest, options?: number | CallOptions): Promise<Watch> {
    const calls = this.#calls;
    const { clock } = calls;
    const message = watchMessage(request, this.#settings.fragment);
    const onNotice = noticeOf(request);
    if (calls.closed) throw new ClientClosedError("watch");
    const { signal, timeout = Infinity } = bag(options, this.#settings.timeout);
    const start = clock.now();
    const state = await this.#startState(message.startRevision, message.key, { signal, timeout });
    if (calls.closed) throw new ClientClosedError("watch");
    if (signal?.aborted) throw cancelled("watch", signal);

    const watcher = new Watcher(this.#stream, { request: message, state, onNotice });
    if (signal !== undefined) {
      const onAbort = () => watcher.close();
      signal.addEventListener("abort", onAbort, { once: true });
      watcher.onFinish = () => signal.removeEventListener("abort", onAbort);
    }
    const left = Math.min(MAX_TIMER_MS, Math.max(1, timeout - (clock.now() - start)));
    const disarm = timeout === Infinity ? undefined : after(clock, left, () => {
      watcher.finish(
        new KvError("the server did not accept the watch in time", code.DEADLINE_EXCEEDED),
      );
      watcher.close();
    });
    this.#stream.attach(watcher);
    try {
      await watcher.created;
      return watchOf(watcher);
    } catch (error) {
      if (calls.closed) throw new ClientClosedError("watch", { cause: error });
      if (signal?.aborted) throw cancelled("watch", signal);
      throw error;
    } finally {
      disarm?.();
    }
  }

  /**
   * A watch that begins "now" is pinned to a revision before it is made. Without, events from while
   * it was made could come or not come, and after a break nobody would know where to go on.
   */
  async #startState(
    startRevision: bigint,
    key: Uint8Array,
    options: CallOptions,
  ): Promise<WatchState> {
    if (startRevision !== 0n) return new WatchState(startRevision, 0n, 0n);
    const { revision, clusterId } = await this.#probe(key, options);
    if (revision === 0n) throw misfit("it has no revision");
    return new WatchState(revision + 1n, revision, clusterId);
  }

  async #probe(key: Uint8Array, options?: CallOptions): Promise<ResponseHeader> {
    return readHeader(
      await this.#calls.run("watch", "read", this.#keys.Range, probeMessage(key), options),
    );
  }
}
