import { code } from "../grpc/mod.ts";
import { checkTime, ready, SYSTEM_TIME, Timer } from "../http/engine.ts";
import { KvError } from "./errors.ts";
import { readEvent, readHeader } from "./ops.ts";
import type { WatchResponse } from "./types.ts";
import { sizeOf, type Step, type WatchState } from "./watch_state.ts";
import type { WatchCreateMessage } from "./wire.ts";

/**
 * Bytes of events that may wait for the reader of one watch. A response that comes while less than
 * this waits is taken whatever its size.
 *
 * @internal
 */
export const MAX_QUEUED_BYTES = 16 << 20;

/** What a response without events counts for. */
const PROGRESS_SIZE = 256;

/** Where watches are carried out. */
export interface WatchHost {
  /** Starts the watch, or starts it again at the revision its state names. */
  attach(watcher: Watcher): void;
  /** Ends it on the server. */
  detach(watcher: Watcher): void;
}

/** A response that waits for its reader. */
interface Entry {
  readonly response: WatchResponse;
  readonly size: number;
  next: Entry | null;
}

/** A read that waits. */
class Read extends Timer {
  readonly promise: Promise<WatchResponse | null>;
  resolve!: (response: WatchResponse | null) => void;
  reject!: (error: Error) => void;
  readonly #giveUp: (read: Read) => void;

  constructor(giveUp: (read: Read) => void) {
    super();
    this.#giveUp = giveUp;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  onTimeout(): void {
    this.#giveUp(this);
  }
}

/** One watch: what it asks for, what it has seen, and what its reader has not read yet. */
export class Watcher {
  /** What the create request says, but for the revision. */
  readonly request: WatchCreateMessage;
  /** What was seen. */
  readonly state: WatchState;
  /** Resolves when the server has accepted the watch. */
  readonly created: Promise<void>;
  /** Attempts that failed before the server accepted it. */
  attempts = 0;
  /** Called once when the watch is over. */
  onFinish: (() => void) | undefined;

  readonly #host: WatchHost;
  #settle: { resolve: () => void; reject: (error: Error) => void } | null;
  /** Responses that wait, in order. */
  #first: Entry | null = null;
  #last: Entry | null = null;
  /** What they count for. */
  #queued = 0;
  /** Reads that wait, in order. */
  readonly #reads = new Set<Read>();
  #suspended = false;
  /** Set when it is over: null if well. */
  #end: { error: Error | null } | null = null;

  constructor(host: WatchHost, request: WatchCreateMessage, state: WatchState) {
    this.#host = host;
    this.request = request;
    this.state = state;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.created = promise;
    // Whoever opened the watch may have stopped waiting.
    promise.catch(() => {});
    this.#settle = { resolve, reject };
  }

  /** Whether the server has accepted it. */
  get established(): boolean {
    return this.#settle === null;
  }

  /** See {@linkcode Watch.read}. */
  async read(timeout = Infinity): Promise<WatchResponse | null> {
    checkTime("read a watch", "timeout", timeout);
    const entry = this.#first;
    if (entry !== null) {
      this.#first = entry.next;
      if (entry.next === null) this.#last = null;
      this.#queued -= entry.size;
      this.#resume();
      await ready();
      return entry.response;
    }
    if (this.#end !== null) {
      if (this.#end.error !== null) throw this.#end.error;
      return null;
    }
    if (timeout === 0) throw late(0);
    const read = new Read((read) => {
      this.#reads.delete(read);
      read.reject(late(timeout));
    });
    this.#reads.add(read);
    if (timeout !== Infinity) SYSTEM_TIME.timers.add(read, timeout);
    return await read.promise;
  }

  /** See {@linkcode Watch.close}. */
  close(): void {
    this.#first = this.#last = null;
    this.#queued = 0;
    this.finish(null);
    this.#host.detach(this);
  }

  // ---- from the stream -------------------------------------------------------------------------

  /** Takes what a response means. */
  take(step: Step): void {
    switch (step.kind) {
      case "none":
        return;
      case "created":
      case "behind":
        this.attempts = 0;
        this.#settle?.resolve();
        this.#settle = null;
        return;
      case "progress":
        if (!this.request.progressNotify) return;
        return this.#give(
          { header: readHeader(step.result), events: [], progressNotify: true },
          PROGRESS_SIZE,
        );
      case "events": {
        const { result, events } = step;
        let size = 0;
        for (const event of events) size += sizeOf(event);
        return this.#give({
          header: readHeader(result),
          events: events.map(readEvent),
          progressNotify: false,
        }, size);
      }
      case "failed":
        return this.finish(step.error);
      default:
        step satisfies never;
    }
  }

  #give(response: WatchResponse, size: number): void {
    if (this.#end !== null) return;
    for (const read of this.#reads) {
      this.#reads.delete(read);
      SYSTEM_TIME.timers.remove(read);
      return read.resolve(response);
    }
    const entry: Entry = { response, size, next: null };
    if (this.#last === null) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    this.#queued += size;
    if (this.#queued > MAX_QUEUED_BYTES && !this.#suspended) {
      this.#suspended = true;
      this.#host.detach(this);
    }
  }

  #resume(): void {
    if (!this.#suspended || this.#queued > MAX_QUEUED_BYTES / 2 || this.#end !== null) return;
    this.#suspended = false;
    this.#host.attach(this);
  }

  /** Ends the watch; what waits can still be read. */
  finish(error: Error | null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    this.onFinish?.();
    this.#settle?.reject(
      error ?? new KvError("the watch was closed before the server accepted it", code.CANCELLED),
    );
    this.#settle = null;
    for (const read of this.#reads) {
      SYSTEM_TIME.timers.remove(read);
      if (error === null) read.resolve(null);
      else read.reject(error);
    }
    this.#reads.clear();
  }
}

function late(timeout: number): KvError {
  return new KvError(`no event came within ${timeout} ms`, code.DEADLINE_EXCEEDED);
}
