/**
 * Reads a range of any size a page at a time, all of it at one revision. Memory is that of two pages,
 * whatever the range holds: while one is looked at the next is fetched.
 *
 * @module
 */
import { compareKeys, isWithin } from "./range.ts";
import {
  checkBoolean,
  checkCount,
  checkOptions,
  optionNames,
  quietIterator,
} from "../http/engine.ts";
import { CompactedError, misfit } from "./errors.ts";
import { bytes, natural, range } from "./fields.ts";
import type { KeyValue } from "./key_value.ts";
import type { Keyspace } from "./keyspace.ts";
import type { Bytes, CallOptions, GetRequest, GetResponse, Int64 } from "./types.ts";

/** Keys of a page at most. */
const PAGE_SIZE = 1_000;

/** Keys of the first page at most: how large they are is not known yet. */
const FIRST_PAGE_SIZE = 100;

/** Bytes of keys and values a page is meant to have. */
const PAGE_BYTES = 4 << 20;

/** Request of {@linkcode KeyspaceClient.scan}. */
export interface ScanRequest {
  /** All keys that begin with this; or, with `key`, whether all are meant that begin with it. */
  readonly prefix?: Bytes | boolean;
  /** The first key. */
  readonly key?: Bytes;
  /** All keys from `key` on. @default {false} */
  readonly fromKey?: boolean;
  /** Keys from `key` up to and without this one. */
  readonly rangeEnd?: Bytes;
  /** Read the store as it was at this revision; 0 means as it is when the first page is read. @default {0n} */
  readonly revision?: Int64;
  /** Leave the values out. @default {false} */
  readonly keysOnly?: boolean;
  /** Let members answer from what they have, which may be old. @default {false} */
  readonly serializable?: boolean;
  /**
   * Keys of a page at most. Pages of large values have fewer, so that they stay near 4 MiB.
   * @default {1000}
   */
  readonly pageSize?: number;
  /**
   * Read all pages at one revision: what is given was there at one moment. A scan whose revision is
   * compacted before it came to its end then fails with {@linkcode CompactedError}. With `false` it
   * goes on at the present revision, and each page is of a moment of its own.
   * @default {true}
   */
  readonly consistent?: boolean;
}

const NAMES = optionNames<ScanRequest>({
  prefix: true,
  key: true,
  fromKey: true,
  rangeEnd: true,
  revision: true,
  keysOnly: true,
  serializable: true,
  pageSize: true,
  consistent: true,
});

/** One page of a scan. */
interface Page {
  readonly kvs: readonly KeyValue[];
  /** The keys behind it; null if there are none. */
  readonly rest: GetRequest | null;
}

/**
 * A scan: an async iterable of key values, in the order of their keys. Each iteration reads anew, at
 * the same revision. Leaving a loop early ends what is being fetched.
 */
export class Scan implements AsyncIterable<KeyValue> {
  readonly #keys: Keyspace;
  readonly #first: GetRequest;
  readonly #pageSize: number;
  readonly #consistent: boolean;
  readonly #options: number | CallOptions | undefined;
  #revision: bigint;

  /**
   * A scan of `keys`, as {@linkcode KeyspaceClient.scan} gives it. `options` are of each page.
   *
   * @throws {TypeError} If the request is not one.
   */
  constructor(keys: Keyspace, request: ScanRequest, options?: number | CallOptions) {
    const { pageSize = PAGE_SIZE, consistent = true } = checked(request);
    this.#keys = keys;
    this.#first = rangeOf(request);
    this.#pageSize = pageSize;
    this.#consistent = consistent;
    this.#options = options;
    this.#revision = natural("scan", "revision", request.revision);
  }

  /** The revision that is read; 0n until the first page has come. A watch goes on at the next one. */
  get revision(): bigint {
    return this.#revision;
  }

  /** The same in arrays, as they come. */
  pages(): AsyncIterableIterator<readonly KeyValue[]> {
    return quietIterator(this.#pages());
  }

  async *#pages(): AsyncGenerator<readonly KeyValue[]> {
    const left = new AbortController();
    const options = withSignal(this.#options, left.signal);
    try {
      let page = await this.#page(this.#first, Math.min(FIRST_PAGE_SIZE, this.#pageSize), options);
      while (page.rest !== null) {
        const next = this.#page(page.rest, this.#sizeAfter(page.kvs), options);
        // A loop that was left does not hear of it.
        next.catch(() => {});
        yield page.kvs;
        page = await next;
      }
      if (page.kvs.length > 0) yield page.kvs;
    } finally {
      left.abort();
    }
  }

  /** Reads to the end. */
  [Symbol.asyncIterator](): AsyncIterator<KeyValue, undefined> {
    return quietIterator(this.#keyValues());
  }

  async *#keyValues(): AsyncGenerator<KeyValue, undefined> {
    for await (const kvs of this.#pages()) yield* kvs;
  }

  async #page(request: GetRequest, limit: number, options: CallOptions): Promise<Page> {
    const { header, kvs, more } = await this.#get({ ...request, limit }, options);
    this.#revision ||= header.revision;
    checkOrder(kvs, request);
    const last = kvs.at(-1);
    if (!more) return { kvs, rest: null };
    if (last === undefined) throw misfit("a page without keys that is not the last");
    return { kvs, rest: { ...request, key: keyBehind(last.keyBytes) } };
  }

  async #get(request: GetRequest, options: CallOptions): Promise<GetResponse> {
    try {
      return await this.#keys.get({ ...request, revision: this.#revision }, options);
    } catch (error) {
      if (this.#consistent || !(error instanceof CompactedError)) throw error;
      const response = await this.#keys.get({ ...request, revision: 0n }, options);
      this.#revision = response.header.revision;
      return response;
    }
  }

  #sizeAfter(kvs: readonly KeyValue[]): number {
    let size = 0;
    for (const { keyBytes, valueBytes } of kvs) size += keyBytes.length + valueBytes.length;
    const fitting = Math.floor(PAGE_BYTES * kvs.length / Math.max(1, size));
    return Math.max(1, Math.min(this.#pageSize, fitting));
  }
}

/** Checks that a page is of its range, in order: else a scan would have no end. */
function checkOrder(kvs: readonly KeyValue[], range: GetRequest): void {
  const { key, rangeEnd } = range as { readonly key: Uint8Array; readonly rangeEnd?: Uint8Array };
  let before: Uint8Array | undefined;
  for (const { keyBytes } of kvs) {
    const ascends = before === undefined || compareKeys(before, keyBytes) < 0;
    if (!ascends || !isWithin(keyBytes, key, rangeEnd)) {
      throw misfit("keys that are not of the range, or not in order");
    }
    before = keyBytes;
  }
}

function checked(request: ScanRequest): ScanRequest {
  checkOptions("scan", NAMES, request);
  checkCount("scan", "pageSize", request.pageSize, 1);
  checkBoolean("scan", "consistent", request.consistent);
  return request;
}

/** The range a request means, of which later pages keep the end. */
export function rangeOf(request: ScanRequest): GetRequest {
  const { prefix, key, fromKey, rangeEnd, keysOnly, serializable } = request;
  const named = typeof prefix === "string" || prefix instanceof Uint8Array;
  if (named && (key !== undefined || fromKey !== undefined || rangeEnd !== undefined)) {
    throw new TypeError(
      "Cannot scan with a prefix and a key: give { prefix } or { key, prefix: true }",
    );
  }
  const chosen = range("scan", {
    key: bytes("scan", named ? "prefix" : "key", named ? prefix : key),
    prefix: named || prefix as boolean,
    fromKey: fromKey as boolean,
    ...(rangeEnd === undefined ? {} : { rangeEnd }),
  });
  return {
    ...chosen,
    ...(keysOnly === undefined ? {} : { keysOnly }),
    ...(serializable === undefined ? {} : { serializable }),
  };
}

/** The least key behind this one. */
export function keyBehind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

function withSignal(options: number | CallOptions | undefined, signal: AbortSignal): CallOptions {
  if (typeof options === "number") return { timeout: options, signal };
  const given = options?.signal;
  return { ...options, signal: given === undefined ? signal : AbortSignal.any([given, signal]) };
}
