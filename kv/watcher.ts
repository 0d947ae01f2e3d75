import { code } from "../grpc/mod.ts";
import { KvError } from "./errors.ts";
import { readEvent, readHeader } from "./ops.ts";
import type { WatchResponse } from "./types.ts";
import { sizeOf, type Step, type WatchState } from "./watch_state.ts";
import type { WatchCreateMessage } from "./wire.ts";

/**
 * Octets of events that may wait for the reader of one watch. A response that comes while less than
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

/** A read that waits. */
interface Read {
  readonly resolve: (response: WatchResponse | null) => void;
  readonly reject: (error: Error) => void;
  timer: ReturnType<typeof setTimeout> | undefined;
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
  #queue: { response: WatchResponse; size: number }[] = [];
  #queued = 0;
  #reads: Read[] = [];
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
  read(timeout = 0): Promise<WatchResponse | null> {
    const next = this.#queue.shift();
    if (next !== undefined) {
      this.#queued -= next.size;
      this.#resume();
      return Promise.resolve(next.response);
    }
    if (this.#end !== null) {
      return this.#end.error === null ? Promise.resolve(null) : Promise.reject(this.#end.error);
    }
    return new Promise((resolve, reject) => {
      const read: Read = { resolve, reject, timer: undefined };
      if (timeout > 0) read.timer = setTimeout(() => this.#giveUp(read, timeout), timeout);
      this.#reads.push(read);
    });
  }

  #giveUp(read: Read, timeout: number): void {
    this.#reads.splice(this.#reads.indexOf(read), 1);
    read.reject(new KvError(`no event came within ${timeout} ms`, code.DEADLINE_EXCEEDED));
  }

  /** See {@linkcode Watch.close}. */
  close(): void {
    this.#queue = [];
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
    const read = this.#reads.shift();
    if (read !== undefined) {
      clearTimeout(read.timer);
      return read.resolve(response);
    }
    this.#queue.push({ response, size });
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
    for (const read of this.#reads.splice(0)) {
      clearTimeout(read.timer);
      if (error === null) read.resolve(null);
      else read.reject(error);
    }
  }
}
