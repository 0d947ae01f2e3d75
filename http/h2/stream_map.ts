import type { StreamRecord } from "./stream_record.ts";

/** Slots of a fresh map. */
const INITIAL_SLOTS = 16;

/** The open streams, as users of a connection see them. */
export interface OpenStreams {
  /** How many there are. */
  readonly size: number;
  /** The stream of that id, if it is open. */
  get(id: number): StreamRecord | undefined;
  /** A copy of the list, in no particular order. */
  list(): StreamRecord[];
}

/**
 * Streams by id, with linear probing. A `Map` would do, but for the garbage collector: a `Map` that
 * many entries pass through is copied again and again, and each old copy, once it is in the old
 * generation, keeps the streams it held alive until the next full collection. Measured: at 100 streams
 * at once, a stream costs both engines together 450 ns, and 550 with a `Map`.
 */
export class StreamMap implements OpenStreams {
  #ids = new Int32Array(INITIAL_SLOTS);
  #streams: (StreamRecord | undefined)[] = new Array(INITIAL_SLOTS).fill(undefined);
  #mask = INITIAL_SLOTS - 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): StreamRecord | undefined {
    const ids = this.#ids;
    const mask = this.#mask;
    for (let slot = (id >>> 1) & mask;; slot = (slot + 1) & mask) {
      const found = ids[slot]!;
      if (found === id) return this.#streams[slot];
      if (found === 0) return undefined;
    }
  }

  /** Adds a stream under an id that is not there yet. Ids are > 0. */
  add(id: number, stream: StreamRecord): void {
    // At most half full, so that probing stays short.
    if (this.#size * 2 >= this.#ids.length) this.#grow();
    this.#insert(id, stream);
    this.#size++;
  }

  #insert(id: number, stream: StreamRecord): void {
    const mask = this.#mask;
    let slot = (id >>> 1) & mask;
    while (this.#ids[slot] !== 0) slot = (slot + 1) & mask;
    this.#ids[slot] = id;
    this.#streams[slot] = stream;
  }

  /** Removes a stream; false if it was not there. */
  delete(id: number): boolean {
    const ids = this.#ids;
    const mask = this.#mask;
    let hole = (id >>> 1) & mask;
    while (ids[hole] !== id) {
      if (ids[hole] === 0) return false;
      hole = (hole + 1) & mask;
    }
    // Entries behind the hole move up where that brings them nearer to their own slot, so that no
    // search stops early.
    for (let slot = (hole + 1) & mask; ids[slot] !== 0; slot = (slot + 1) & mask) {
      const home = (ids[slot]! >>> 1) & mask;
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
      ids[hole] = ids[slot]!;
      this.#streams[hole] = this.#streams[slot];
      hole = slot;
    }
    ids[hole] = 0;
    this.#streams[hole] = undefined;
    this.#size--;
    return true;
  }

  #grow(): void {
    const old = this.list();
    const slots = this.#ids.length * 2;
    this.#ids = new Int32Array(slots);
    this.#streams.fill(undefined);
    for (let i = this.#streams.length; i < slots; i++) this.#streams.push(undefined);
    this.#mask = slots - 1;
    for (const stream of old) this.#insert(stream.id, stream);
  }

  list(): StreamRecord[] {
    return this.#streams.filter((stream) => stream !== undefined);
  }
}
