/**
 * Options of a cache and its reads: types, names, checks.
 *
 * @module
 */
import { checkBoolean, checkOptions, optionNames, shownValue } from "../../http/engine.ts";
import { binaryOf, bytesOf } from "../binary.ts";
import { NO_END, prefixRange } from "../range.ts";
import type { Bytes, Int64 } from "../types.ts";
import type { WaitOptions } from "../wait.ts";
import type { KeyStoreRange } from "./store.ts";

/** Options of a cache. */
export interface CacheOptions {
  /** Keys that begin with this; empty: all there are. */
  readonly prefix: Bytes;
  /**
   * Bytes that keys and values may take, with some 125 bytes a key for what holds them. With more the
   * cache ends, with code RESOURCE_EXHAUSTED. While it is read anew, both copies are there.
   * @default {1073741824}
   */
  readonly maxBytes?: number | undefined;
  /**
   * Events that wait for one reader. With more they are dropped, and the reader is told by `resync`.
   * @default {10000}
   */
  readonly maxEvents?: number | undefined;
}

/** Names of {@linkcode CacheOptions}. */
export const CACHE_NAMES: readonly string[] = optionNames<CacheOptions>({
  prefix: true,
  maxBytes: true,
  maxEvents: true,
});

/** How a read of the cache is made. */
export interface CacheGetOptions extends WaitOptions {
  /**
   * Give what the cluster has now, not what it had a moment ago: at the cost of a call that counts or
   * looks at one key.
   * @default {false}
   */
  readonly linearizable?: boolean | undefined;
  /** Milliseconds that a linearizable read may take. @default {3000} */
  readonly timeout?: number | undefined;
}

/** Names of {@linkcode CacheGetOptions}. */
export const GET_NAMES: readonly string[] = optionNames<CacheGetOptions>({
  linearizable: true,
  signal: true,
  timeout: true,
});

/** Which keys of the cache to give, in which order. Without anything: all. */
export interface CacheRange {
  /** Keys that begin with this. */
  readonly prefix?: Bytes | undefined;
  /** Keys from this one on. */
  readonly from?: Bytes | undefined;
  /** Keys up to and without this one. */
  readonly end?: Bytes | undefined;
  /** From the last to the first. @default {false} */
  readonly reverse?: boolean | undefined;
}

const RANGE_NAMES = optionNames<CacheRange>({
  prefix: true,
  from: true,
  end: true,
  reverse: true,
});

/** How events are read. */
export interface CacheEventsOptions {
  /** Begin with an `add` for each key there is. @default {false} */
  readonly initial?: boolean | undefined;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
}

/** Names of {@linkcode CacheEventsOptions}. */
export const EVENTS_NAMES: readonly string[] = optionNames<CacheEventsOptions>({
  initial: true,
  signal: true,
});

/** The range as the store takes it. */
export function storeRangeOf(range: CacheRange): KeyStoreRange {
  checkOptions("read a range", RANGE_NAMES, range);
  const { prefix, from, end, reverse = false } = range;
  checkBoolean("read a range", "reverse", reverse);
  for (const [name, value] of Object.entries({ prefix, from, end })) {
    if (value !== undefined) checkBytes("read a range", name, value);
  }
  if (prefix === undefined) {
    return {
      from: from === undefined ? "" : binaryOf(from),
      end: end === undefined ? null : binaryOf(end),
      reverse,
    };
  }
  if (from !== undefined || end !== undefined) {
    throw new TypeError("Cannot read a range with prefix and from or end: they exclude each other");
  }
  const first = binaryOf(prefix);
  const { rangeEnd } = prefixRange(bytesOf(first));
  return { from: first, end: rangeEnd === NO_END ? null : binaryOf(rangeEnd), reverse };
}

/** Checks a key or a prefix. */
export function checkBytes(what: string, name: string, value: unknown): void {
  if (typeof value === "string" || value instanceof Uint8Array) return;
  throw new TypeError(
    `Cannot ${what} as ${name} must be a string or a Uint8Array: current value is ${
      shownValue(value)
    }`,
  );
}

/** Checks a revision. */
export function revisionOf(revision: Int64): bigint {
  if (typeof revision === "bigint" || Number.isSafeInteger(revision)) return BigInt(revision);
  throw new TypeError(
    `Cannot wait for a revision as it must be an integer: current value is ${shownValue(revision)}`,
  );
}
