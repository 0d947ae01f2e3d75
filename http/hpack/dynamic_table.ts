/** Size of the dynamic table until SETTINGS say otherwise (RFC 9113 §6.5.2), in octets. */
export const DEFAULT_TABLE_SIZE = 4096;

/** What RFC 7541 §4.1 counts for an entry besides the octets of its name and its value. */
export const ENTRY_OVERHEAD = 32;

/** Slots of a table that has just got its first entry; a power of two, doubled when full. */
const INITIAL_SLOTS = 16;

/** The size of an entry, as of RFC 7541 §4.1. */
export function entrySize(name: string, value: string): number {
  return name.length + value.length + ENTRY_OVERHEAD;
}

/**
 * The dynamic table (RFC 7541 §2.3.2): first in, first out, bounded by the size of its entries.
 *
 * A ring: entries go in at the head, which moves downwards, and leave at the tail, so that neither
 * moves the others, and the entry with index `i` lies `i` slots above the head.
 *
 *          tail            head
 *            │               │
 *     │ … │ i=2 │  … free  … │ i=0 │ i=1 │      grows on demand; at least 32 octets an entry, so
 *                                               that `maxSize` bounds the number of slots
 */
export class DynamicTable {
  /** Changes whenever an index may have got another meaning, or the bounds moved. */
  generation = 0;
  /** Number of entries. */
  length = 0;
  /** Sum of the sizes of the entries. */
  size = 0;
  /** What `size` may not exceed. */
  maxSize: number;

  #names: string[] = [];
  #values: string[] = [];
  /** Slot of the newest entry. */
  #head = 0;
  /** Number of slots less one. */
  #mask = -1;

  constructor(maxSize: number) {
    this.maxSize = maxSize;
  }

  /** The name of an entry; 0 is the newest, and the caller has checked that `index < length`. */
  name(index: number): string {
    return this.#names[(this.#head + index) & this.#mask]!;
  }

  /** The value of an entry; 0 is the newest, and the caller has checked that `index < length`. */
  value(index: number): string {
    return this.#values[(this.#head + index) & this.#mask]!;
  }

  /**
   * Adds an entry, after evicting as many as it takes. Returns whether it is in the table now:
   * RFC 7541 §4.4, "an attempt to add an entry larger than the maximum size causes the table to be
   * emptied of all existing entries and results in an empty table", and is no error.
   */
  insert(name: string, value: string): boolean {
    const size = entrySize(name, value);
    this.generation++;
    while (this.length > 0 && this.size + size > this.maxSize) this.evict();
    if (size > this.maxSize) return false;
    if (this.length > this.#mask) this.#grow();
    const head = (this.#head - 1) & this.#mask;
    this.#head = head;
    this.#names[head] = name;
    this.#values[head] = value;
    this.length++;
    this.size += size;
    return true;
  }

  /** Sets `maxSize`, and evicts what no longer fits (RFC 7541 §4.3). */
  resize(maxSize: number): void {
    this.generation++;
    this.maxSize = maxSize;
    while (this.size > maxSize) this.evict();
  }

  /** Drops the oldest entry. The caller has checked that there is one. */
  evict(): void {
    const tail = (this.#head + this.length - 1) & this.#mask;
    this.generation++;
    this.size -= entrySize(this.#names[tail]!, this.#values[tail]!);
    this.length--;
    // The strings would otherwise live until the ring comes round.
    this.#names[tail] = "";
    this.#values[tail] = "";
  }

  #grow(): void {
    const slots = Math.max(INITIAL_SLOTS, this.length * 2);
    const names = new Array<string>(slots).fill("");
    const values = new Array<string>(slots).fill("");
    for (let i = 0; i < this.length; i++) {
      names[i] = this.name(i);
      values[i] = this.value(i);
    }
    this.#names = names;
    this.#values = values;
    this.#head = 0;
    this.#mask = slots - 1;
  }
}
