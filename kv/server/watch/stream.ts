/**
 * A stream of watches: requests in, responses out. One watch after the other is read, so that none
 * waits for another that has much to tell.
 *
 * @module
 */
import type { EventMessage, WatchCreateMessage, WatchMessage } from "../../wire.ts";
import type { ErrorReason } from "../../server_errors.ts";
import { serverError } from "../../server_errors.ts";
import { ready } from "../../../http/engine.ts";
import { intervalOf } from "../store/key_text.ts";
import type { Watcher, WatchHub } from "./hub.ts";

/** The id of answers that belong to no watch. */
const NO_WATCH = -1n;

/** Answers to requests that wait to be read before further requests are. */
const MAX_UNREAD_ANSWERS = 1_000;

/** Cost of a look at one watch, in items that are handed out: so many revisions may be looked at. */
const READ_COST = 8;

/** A response without the parts of the header that are the same in all. */
interface WatchAnswer {
  readonly revision: number;
  readonly watchId: bigint;
  readonly created?: boolean;
  readonly canceled?: boolean;
  readonly cancelReason?: string;
  readonly compactRevision?: bigint;
  readonly fragment?: boolean;
  readonly events?: readonly EventMessage[];
}

/** Options of a stream. */
interface WatchStreamOptions {
  readonly hub: WatchHub;
  /** Refuses a watch with the text of its reason. */
  readonly permit: (request: WatchCreateMessage) => string | undefined;
  /** Bytes of a response beyond which it is split, where the watch asks for that. */
  readonly fragmentSize: number;
  /** Watches a stream has at most. */
  readonly maxWatches: number;
  /** Whether requests for progress are not answered. */
  readonly progressFrozen: () => boolean;
}

interface Watch {
  readonly id: bigint;
  readonly watcher: Watcher;
  readonly fragment: boolean;
  readonly progressNotify: boolean;
  /** Whether it has told of an event since the last notice of progress. */
  told: boolean;
}

const TOO_MANY = "too many watches on one stream";

/** A stream of watches. */
export class ServerWatchStream {
  readonly #options: WatchStreamOptions;
  readonly #watches = new Map<bigint, Watch>();
  /** Ids of watches that a compaction has ended. Like in etcd they are taken until canceled. */
  readonly #compacted = new Set<bigint>();
  /** Watches that may have something to read, first come, first served. */
  readonly #ready = new Set<Watch>();
  /** Answers to requests, and pieces of a response that was split. They go first. */
  #answers: WatchAnswer[] = [];
  #nextId = 0n;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | null = null;
  #room: (() => void) | null = null;

  /** Makes a stream without watches. */
  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  /** Reads requests until they end. Responses go on: a client may have nothing more to ask for. */
  async follow(requests: AsyncIterable<WatchMessage>): Promise<void> {
    try {
      for await (const { requestUnion } of requests) {
        if (this.#ended) return;
        const kind: string | undefined = requestUnion.case;
        if (requestUnion.case === "createRequest") this.#create(requestUnion.value);
        else if (requestUnion.case === "cancelRequest") this.#cancel(requestUnion.value.watchId);
        else if (kind === "progressRequest") this.#progressOfAll();
        if (this.#answers.length > MAX_UNREAD_ANSWERS) {
          await new Promise<void>((resolve) => this.#room = resolve);
        }
      }
    } catch (error) {
      this.close(error as Error);
    }
  }

  /** The responses, read when the client is ready for them. */
  async *responses(): AsyncGenerator<WatchAnswer> {
    try {
      for (;;) {
        const answer = this.#take();
        if (answer !== undefined) yield answer;
        else if (this.#ready.size > 0) {
          // There may be many that are far behind, and have nothing to tell.
          const turns = ready(READ_COST);
          if (turns !== undefined) await turns;
        } else if (this.#ended) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else await new Promise<void>((resolve) => this.#wake = resolve);
      }
    } finally {
      this.close();
    }
  }

  /** Ends all watches; with an error the responses end with it. */
  close(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    for (const { watcher } of this.#watches.values()) watcher.close();
    this.#watches.clear();
    this.#ready.clear();
    this.#signal();
    this.#room?.();
  }

  /** Tells of progress on the watches that asked for it and told nothing since the last time. */
  notifyProgress(): void {
    for (const watch of this.#watches.values()) {
      if (!watch.progressNotify) continue;
      if (!watch.told && watch.watcher.synced) this.#answer({ watchId: watch.id });
      watch.told = false;
    }
  }

  #signal(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #answer(answer: Omit<WatchAnswer, "revision">): void {
    this.#answers.push({ revision: this.#options.hub.published, ...answer });
    this.#signal();
  }

  /** Answers a watch that is not made. */
  #refuse(cancelReason: string): void {
    this.#answer({ watchId: NO_WATCH, created: true, canceled: true, cancelReason });
  }

  #refuseAs(reason: ErrorReason): void {
    const { text } = serverError(reason);
    this.#refuse(text.replace(/^etcdserver: (?=mvcc: watcher|mvcc: duplicate)/, ""));
  }

  #create(request: WatchCreateMessage & { readonly watchId?: bigint }): void {
    if (request.startRevision < 0n) return this.#refuseAs("COMPACTED");
    const refused = this.#options.permit(request);
    if (refused !== undefined) return this.#refuse(refused);
    if (this.#watches.size + this.#compacted.size >= this.#options.maxWatches) {
      return this.#refuse(TOO_MANY);
    }
    // The empty key is before all others, and so is one zero byte.
    const first = request.key.length === 0 ? new Uint8Array(1) : request.key;
    const interval = intervalOf(first, request.rangeEnd);
    if (interval.end !== null && interval.end <= interval.key) {
      return this.#refuseAs("WATCH_RANGE_EMPTY");
    }
    let id = request.watchId ?? 0n;
    if (id === 0n) {
      while (this.#taken(this.#nextId)) this.#nextId++;
      id = this.#nextId++;
    } else if (this.#taken(id)) return this.#refuseAs("WATCH_ID_DUPLICATE");
    const watcher = this.#options.hub.watch({
      interval,
      startRevision: Number(request.startRevision),
      noPut: request.filters.includes(0),
      noDelete: request.filters.includes(1),
      prevKv: request.prevKv,
      onReady: () => this.#queue(watch),
    });
    const { fragment, progressNotify } = request;
    const watch: Watch = { id, watcher, fragment, progressNotify, told: false };
    this.#watches.set(id, watch);
    this.#answer({ watchId: id, created: true });
    if (watcher.behind) this.#queue(watch);
  }

  #taken(id: bigint): boolean {
    return this.#watches.has(id) || this.#compacted.has(id);
  }

  #cancel(id: bigint): void {
    if (this.#remove(id) || this.#compacted.delete(id)) {
      this.#answer({ watchId: id, canceled: true });
    }
  }

  #remove(id: bigint): boolean {
    const watch = this.#watches.get(id);
    if (watch === undefined) return false;
    this.#watches.delete(id);
    watch.watcher.close();
    return true;
  }

  /** Answers once for all watches, if there are any and none is behind. */
  #progressOfAll(): void {
    if (this.#options.progressFrozen()) return;
    const watches = [...this.#watches.values()];
    if (watches.length === 0 || !watches.every(({ watcher }) => watcher.synced)) return;
    this.#answer({ watchId: NO_WATCH });
  }

  #queue(watch: Watch): void {
    this.#ready.add(watch);
    this.#signal();
  }

  #take(): WatchAnswer | undefined {
    const answer = this.#answers.shift();
    if (answer !== undefined) {
      if (this.#room !== null && this.#answers.length < MAX_UNREAD_ANSWERS / 2) {
        this.#room();
        this.#room = null;
      }
      return answer;
    }
    for (const watch of this.#ready) {
      this.#ready.delete(watch);
      return this.#read(watch);
    }
    return undefined;
  }

  #read(watch: Watch): WatchAnswer | undefined {
    const { id, watcher } = watch;
    if (this.#watches.get(id) !== watch) return undefined;
    const step = watcher.read();
    if (watcher.behind && step?.kind !== "compacted") this.#queue(watch);
    if (step === undefined) return undefined;
    if (step.kind === "compacted") {
      this.#remove(id);
      this.#compacted.add(id);
      return {
        revision: 0,
        watchId: id,
        canceled: true,
        compactRevision: BigInt(step.compacted),
      };
    }
    watch.told = true;
    const { revision, events } = step;
    if (!watch.fragment) return { revision, watchId: id, events };
    const pieces = fragments(events, this.#options.fragmentSize);
    const responses = pieces.map((events, i): WatchAnswer => ({
      revision,
      watchId: id,
      events,
      fragment: i < pieces.length - 1,
    }));
    this.#answers.unshift(...responses.slice(1));
    return responses[0];
  }
}

/** Bytes an event has about; keys and values make nearly all of it. */
function sizeOf({ kv, prevKv }: EventMessage): number {
  const size = (one: EventMessage["kv"]): number =>
    one === undefined ? 0 : one.key.length + one.value.length + 48;
  return size(kv) + size(prevKv) + 8;
}

/** Splits events into pieces that are smaller than `limit` where they have more than one. */
function fragments(events: readonly EventMessage[], limit: number): EventMessage[][] {
  const pieces: EventMessage[][] = [[]];
  let size = 0;
  for (const event of events) {
    const more = sizeOf(event);
    if (pieces.at(-1)!.length > 0 && size + more >= limit) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)!.push(event);
    size += more;
  }
  return pieces;
}
