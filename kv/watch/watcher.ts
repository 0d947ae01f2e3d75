import { code } from "../../grpc/mod.ts";
import { checkTime, ready, tell, type Time, Timer } from "../../http/engine.ts";
import type { Clock } from "../clock.ts";
import { KvError } from "../errors.ts";
import { readEvent, readHeader } from "../ops.ts";
import type { WatchNotice, WatchResponse } from "../types.ts";
import { raced } from "../wait.ts";
import { sizeOf, type Step, type WatchState } from "./watch_state.ts";
import type { Headed, WatchCreateMessage } from "../wire.ts";

/**
 * Bytes of events that may wait for the reader of one watch. A response that comes while less than
 * this waits is taken whatever its size.
 *
 * @internal
 */
export const MAX_QUEUED_BYTES = 16 << 20;

/** Bytes of events that may wait for the readers of all watches of a client: each has its share. */
const MAX_BACKLOG_BYTES = 256 << 20;

/**
 * Bytes from which events are so large that a watch that got too many asks for them in pieces: of
 * smaller ones servers are slow to make pieces.
 */
const LARGE_EVENT_BYTES = 4 << 10;

/** Bytes that a response without events counts for. */
const PROGRESS_SIZE = 256;

/** Where watches are carried out. */
export interface WatchHost {
  /** Starts the watch, or starts it again at the revision its state names. */
  attach(watcher: Watcher): void;
  /** Ends it on the server. */
  detach(watcher: Watcher): void;
  /** Asks the server how far the watch is, until it says so. */
  askProgress(watcher: Watcher): void;
  /** The time that reads go by. */
  readonly time: Time;
  /** Watches that have something waiting to be read. */
  backlog: number;
}

/** Parts of a watch. */
interface WatcherOptions {
  readonly request: WatchCreateMessage;
  readonly state: WatchState;
  readonly onNotice?: ((notice: WatchNotice) => unknown) | undefined;
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
  /** The create request, but for the revision. */
  readonly request: WatchCreateMessage;
  /** Revisions seen, and where it goes on. */
  readonly state: WatchState;
  /** Resolves when the server has accepted the watch. */
  readonly created: Promise<void>;
  /** Attempts that failed before the server accepted it. */
  attempts = 0;
  /** Whether responses are asked for in pieces. */
  fragment: boolean;
  /** Called once when the watch is over. */
  onFinish: (() => void) | undefined;

  readonly #host: WatchHost;
  #settle: { resolve: () => void; reject: (error: Error) => void } | null;
  /** Responses that wait, in order. */
  #first: Entry | null = null;
  #last: Entry | null = null;
  /** Bytes that they count for. */
  #queued = 0;
  /** Reads that wait, in order. */
  readonly #reads = new Set<Read>();
  /** Those who want to know how far the watch is. */
  readonly #asking = new Set<PromiseWithResolvers<bigint>>();
  readonly #onNotice: WatcherOptions["onNotice"];
  /** When it was cut off, by the clock; undefined while it is not. */
  #cutAt: number | undefined;
  #suspended = false;
  /** Whether it counts in the host's backlog. */
  #counted = false;
  /** Set when it is over: null if well. */
  #end: { error: Error | null } | null = null;

  constructor(host: WatchHost, { request, state, onNotice }: WatcherOptions) {
    this.#host = host;
    this.request = request;
    this.state = state;
    this.fragment = request.fragment;
    this.#onNotice = onNotice;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.created = promise;
    // Nobody may wait for it any more.
    promise.catch(() => {});
    this.#settle = { resolve, reject };
  }

  /** The clock that waits go by. */
  get clock(): Clock {
    return this.#host.time.clock;
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
      if (entry.next === null) {
        this.#last = null;
        this.#count(false);
      }
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
    if (timeout !== Infinity) this.#host.time.timers.add(read, timeout);
    return await read.promise;
  }

  /** See {@linkcode Watch.close}. */
  close(): void {
    this.#first = this.#last = null;
    this.#queued = 0;
    this.finish(null);
    this.#host.detach(this);
  }

  /** See {@linkcode Watch.requestProgress}. */
  async progress(limit: AbortSignal): Promise<bigint> {
    if (this.#end !== null) throw this.#end.error ?? closedError();
    const asking = Promise.withResolvers<bigint>();
    this.#asking.add(asking);
    this.#host.askProgress(this);
    try {
      return await raced(asking.promise, limit);
    } finally {
      this.#asking.delete(asking);
    }
  }

  /** Whether somebody wants to know how far the watch is. */
  get asked(): boolean {
    return this.#asking.size > 0;
  }

  // ---- from the stream -------------------------------------------------------------------------

  /** Takes what a response means. */
  take(step: Step, now: number): void {
    switch (step.kind) {
      case "none":
        return;
      case "created":
      case "behind":
        return this.#onCreated(step.revision, now);
      case "progress":
        return this.#onProgress(step.result);
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

  #onCreated(revision: bigint, now: number): void {
    this.attempts = 0;
    const first = this.#settle;
    this.#settle = null;
    first?.resolve();
    const cutAt = this.#cutAt;
    this.#cutAt = undefined;
    if (first !== null) tell(this.#onNotice, { kind: "created", revision });
    else if (cutAt !== undefined) {
      tell(this.#onNotice, { kind: "reconnected", revision, after: now - cutAt });
    }
  }

  #onProgress(result: Headed): void {
    const header = readHeader(result);
    tell(this.#onNotice, { kind: "progress", revision: header.revision });
    if (!this.request.progressNotify) return;
    this.#give({ header, events: [], progressNotify: true }, PROGRESS_SIZE);
  }

  /** The server said how far the watch is, because it was asked. */
  onAnswer(result: Headed): void {
    this.#onProgress(result);
    for (const one of this.#asking) one.resolve(readHeader(result).revision);
    this.#asking.clear();
  }

  /** The watch is cut off, for the `attempt`th time in a row. */
  onCut(error: Error, attempt: number, now: number): void {
    this.#cutAt ??= now;
    tell(this.#onNotice, { kind: "disconnected", error, attempt });
  }

  #give(response: WatchResponse, size: number): void {
    if (this.#end !== null) return;
    for (const read of this.#reads) {
      this.#reads.delete(read);
      this.#host.time.timers.remove(read);
      return read.resolve(response);
    }
    const entry: Entry = { response, size, next: null };
    if (this.#last === null) {
      this.#first = entry;
      this.#count(true);
    } else this.#last.next = entry;
    this.#last = entry;
    this.#queued += size;
    if (this.#queued <= this.#share() || this.#suspended) return;
    this.#suspended = true;
    if (size >= LARGE_EVENT_BYTES * response.events.length) this.fragment = true;
    this.#host.detach(this);
    tell(this.#onNotice, { kind: "suspended" });
  }

  /** Counts the watch among those that have something waiting, or no longer. */
  #count(waiting: boolean): void {
    if (waiting === this.#counted) return;
    this.#counted = waiting;
    this.#host.backlog += waiting ? 1 : -1;
  }

  /** Bytes that may wait here. */
  #share(): number {
    return Math.min(MAX_QUEUED_BYTES, MAX_BACKLOG_BYTES / this.#host.backlog);
  }

  #resume(): void {
    if (!this.#suspended || this.#end !== null) return;
    if (this.#queued > 0 && this.#queued > this.#share() / 2) return;
    this.#suspended = false;
    this.#host.attach(this);
  }

  /** Ends the watch; what waits can still be read. */
  finish(error: Error | null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    // Nothing comes any more, and who reads the rest, if anybody, is not known.
    this.#count(false);
    this.onFinish?.();
    this.#settle?.reject(
      error ?? new KvError("the watch was closed before the server accepted it", code.CANCELLED),
    );
    this.#settle = null;
    for (const one of this.#asking) one.reject(error ?? closedError());
    this.#asking.clear();
    for (const read of this.#reads) {
      this.#host.time.timers.remove(read);
      if (error === null) read.resolve(null);
      else read.reject(error);
    }
    this.#reads.clear();
  }
}

function closedError(): KvError {
  return new KvError("the watch was closed", code.CANCELLED);
}

function late(timeout: number): KvError {
  return new KvError(`no event came within ${timeout} ms`, code.DEADLINE_EXCEEDED);
}
