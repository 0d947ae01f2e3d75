/**
 * Keys in order, each with its value: what a cache holds. No I/O.
 *
 * Entries stand in chunks, and the chunks in one list. A key is found by two binary searches; it is put
 * in or taken out at the cost of moving half a chunk. Keys and values are texts of one character a byte
 * ({@linkcode binaryOf}): a million keys are a few million small strings, with no table beside them.
 *
 * @module
 */
import { type KeyValue, keyValueOf } from "../key_value.ts";
import { binaryOf, bytesOf } from "../binary.ts";

/** Entries of a chunk at most: what has more is cut in halves. */
const CHUNK = 512;

/** Bytes an entry takes besides its key and its value, as measured. */
const ENTRY_BYTES = 125;

/** A revision or a lease: as a number, which takes no memory of its own, while that is exact. */
type Compact = number | bigint;

/** One key. */
export class Entry {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly #createRevision: Compact;
  readonly #modRevision: Compact;
  readonly #lease: Compact;

  constructor(kv: KeyValue) {
    this.key = binaryOf(kv.keyBytes);
    this.value = binaryOf(kv.valueBytes);
    this.version = kv.version;
    this.#createRevision = compact(kv.createRevision);
    this.#modRevision = compact(kv.modRevision);
    this.#lease = compact(kv.lease);
  }

  get modRevision(): bigint {
    return BigInt(this.#modRevision);
  }

  /** Bytes it takes, more or less. */
  get bytes(): number {
    return this.key.length + this.value.length + ENTRY_BYTES;
  }

  /** The key as users see it. */
  toKeyValue(): KeyValue {
    return keyValueOf({
      key: bytesOf(this.key),
      value: bytesOf(this.value),
      version: BigInt(this.version),
      createRevision: BigInt(this.#createRevision),
      modRevision: this.modRevision,
      lease: BigInt(this.#lease),
    });
  }
}

function compact(value: bigint): Compact {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Which entries to give, and in which order. */
export interface KeyStoreRange {
  /** The first key, included. */
  readonly from: string;
  /** The key behind the last; null: no end. */
  readonly end: string | null;
  /** From the last to the first. */
  readonly reverse: boolean;
}

/** See the module. */
export class KeyStore {
  readonly #chunks: Entry[][] = [];
  #size = 0;
  #bytes = 0;
  /** Counts changes: who goes through the entries has to find its place again after one. */
  #changes = 0;

  /** How many keys there are. */
  get size(): number {
    return this.#size;
  }

  /** Bytes they take, more or less. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Entry | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    if (chunk === undefined) return undefined;
    const entry = chunk[placeOf(chunk, key)];
    return entry?.key === key ? entry : undefined;
  }

  /** Puts an entry in. Returns the one that was there. */
  put(entry: Entry): Entry | undefined {
    this.#changes++;
    this.#bytes += entry.bytes;
    const at = this.#chunkOf(entry.key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([entry]);
      this.#size++;
      return undefined;
    }
    const place = placeOf(chunk, entry.key);
    const before = chunk[place];
    if (before?.key === entry.key) {
      chunk[place] = entry;
      this.#bytes -= before.bytes;
      return before;
    }
    this.#size++;
    // Keys that come in order fill their chunks.
    if (chunk.length === CHUNK && place === CHUNK && at === this.#chunks.length - 1) {
      this.#chunks.push([entry]);
      return undefined;
    }
    if (place === chunk.length) chunk.push(entry);
    else chunk.splice(place, 0, entry);
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK >> 1));
    return undefined;
  }

  /** Takes an entry out. Returns it. */
  delete(key: string): Entry | undefined {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return undefined;
    const place = placeOf(chunk, key);
    const entry = chunk[place];
    if (entry?.key !== key) return undefined;
    this.#changes++;
    this.#size--;
    this.#bytes -= entry.bytes;
    chunk.splice(place, 1);
    this.#join(at);
    return entry;
  }

  /**
   * Entries of a range. Those that are changed while it is gone through come as they are when their
   * turn comes.
   */
  *range({ from, end, reverse }: KeyStoreRange): Generator<Entry, void, undefined> {
    const chunks = this.#chunks;
    const step = reverse ? -1 : 1;
    let changes = -1;
    let at = 0;
    let place = 0;
    let last: Entry | undefined;
    for (;;) {
      if (changes !== this.#changes) {
        changes = this.#changes;
        if (reverse) [at, place] = this.#before(last === undefined ? end : last.key);
        else {
          [at, place] = this.#from(last === undefined ? from : last.key);
          if (last !== undefined && chunks[at]?.[place]?.key === last.key) place++;
        }
      } else place += step;
      let chunk = chunks[at];
      if (chunk !== undefined && chunk[place] === undefined) {
        at += step;
        chunk = chunks[at];
        place = reverse ? (chunk?.length ?? 0) - 1 : 0;
      }
      const entry = chunk?.[place];
      if (entry === undefined) return;
      if (reverse ? entry.key < from : end !== null && entry.key >= end) return;
      last = entry;
      yield entry;
    }
  }

  /** Where the first entry stands whose key is not before this one. */
  #from(key: string): [chunk: number, place: number] {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    return [at, chunk === undefined ? 0 : placeOf(chunk, key)];
  }

  /** Where the last entry stands whose key is before this one; null: the last of all. */
  #before(key: string | null): [chunk: number, place: number] {
    if (key === null) {
      const last = this.#chunks.length - 1;
      return [last, (this.#chunks[last]?.length ?? 0) - 1];
    }
    const [at, place] = this.#from(key);
    return [at, place - 1];
  }

  /** The chunk a key belongs to: the last one that does not begin behind it. */
  #chunkOf(key: string): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (chunks[middle]![0]!.key <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Keeps small chunks from becoming many. */
  #join(at: number): void {
    const chunks = this.#chunks;
    const chunk = chunks[at]!;
    if (chunk.length === 0) {
      chunks.splice(at, 1);
      return;
    }
    const next = chunks[at + 1];
    if (next !== undefined && chunk.length + next.length <= CHUNK >> 1) {
      chunk.push(...next);
      chunks.splice(at + 1, 1);
    }
  }
}

/** Where a key stands in a chunk, or would. */
function placeOf(chunk: readonly Entry[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunk[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
