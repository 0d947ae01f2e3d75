import { quiet } from "../../http/engine.ts";
import { bytesOf } from "../binary.ts";
import type { Clock } from "../clock.ts";
import { CompactedError } from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";

/**
 * Keys that the server may look through to find out what changed last. Of more the watch is asked how
 * far it is.
 */
const COMPARED_KEYS = 1_000;

/** Milliseconds before members are asked again for their versions when not all were new enough. */
const ASK_AGAIN_MS = 10_000;

/** How far the cluster was at a moment. */
interface Fence {
  /** The store's revision. */
  readonly revision: bigint;
  /** Keys of the prefix. */
  readonly count: number;
  /**
   * Revision of the last change of those of them that the cache had not seen; 0n if there is none, null
   * if there are too many to look at.
   */
  readonly last: bigint | null;
}

/** Parts of a cache that its fences need. */
interface FencesOptions {
  readonly keyspace: Keyspace;
  readonly prefix: string;
  readonly clock: Clock;
  /** Ends the reads. */
  readonly signal: AbortSignal;
  /** The revision that the cache shows. */
  readonly shown: () => bigint;
}

/** Reads by which those who sync find out how far to wait. */
export class Fences {
  readonly #options: FencesOptions;
  /** The read under way, and the one behind it. */
  #current: Promise<Fence> | null = null;
  #next: Promise<Fence> | null = null;
  /** Whether members say exactly how far watches are, and when that was found out. */
  #exact: { readonly yes: boolean; readonly at: number } | null = null;

  constructor(options: FencesOptions) {
    this.#options = options;
  }

  /** A read that began behind this call. One is under way at a time, and one behind it is shared. */
  take(): Promise<Fence> {
    if (this.#current === null) return this.#current = this.#behind(Promise.resolve());
    return this.#next ??= this.#behind(this.#current.catch(() => {}));
  }

  #behind(before: Promise<unknown>): Promise<Fence> {
    return quiet(
      before.then(() => this.#read()).catch((error) => {
        // The revision of the first of its two reads was compacted before the second.
        if (error instanceof CompactedError) return this.#read();
        throw error;
      }).finally(() => {
        this.#current = this.#next;
        this.#next = null;
      }),
    );
  }

  async #read(): Promise<Fence> {
    const { keyspace, prefix, signal, shown } = this.#options;
    const key = bytesOf(prefix);
    const { header: { revision }, count } = await keyspace.get(
      { key, prefix: true, countOnly: true },
      { signal },
    );
    if (shown() >= revision) return { revision, count, last: 0n };
    if (count > COMPARED_KEYS && await this.#tellsProgress()) {
      return { revision, count, last: null };
    }
    const { kvs: [last] } = await keyspace.get({
      key,
      prefix: true,
      keysOnly: true,
      revision,
      minModRevision: shown() + 1n,
      sortTarget: "MOD",
      sortOrder: "DESCEND",
      limit: 1,
    }, { signal });
    return { revision, count, last: last?.modRevision ?? 0n };
  }

  /** Whether members' word of watches can be relied on. Looked up again if it could not be found out. */
  async #tellsProgress(): Promise<boolean> {
    const { clock, keyspace } = this.#options;
    const now = clock.now();
    if (this.#exact === null || (!this.#exact.yes && now > this.#exact.at + ASK_AGAIN_MS)) {
      this.#exact = { yes: await keyspace.tellsProgress?.() ?? false, at: now };
    }
    return this.#exact.yes;
  }
}
