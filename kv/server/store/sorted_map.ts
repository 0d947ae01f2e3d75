/**
 * An ordered map in blocks. A block that grows beyond its size is halved, so that an insertion moves a
 * few hundred entries however many there are.
 *
 * @module
 */

/** Entries of a block before it is halved. */
const BLOCK_SIZE = 512;

/** An entry knows its key; keys compare by code unit. */
interface Keyed {
  readonly key: string;
}

/** The position of the first entry of `sorted` whose key is `key` or behind it. */
function lowerBound(sorted: readonly Keyed[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Entries in the order of their keys. */
export class SortedMap<Entry extends Keyed> {
  /** Never empty blocks, but for the only one. */
  readonly #blocks: Entry[][] = [[]];
  #size = 0;

  /** How many entries there are. */
  get size(): number {
    return this.#size;
  }

  /** The block in which `key` stands or would stand. */
  #blockOf(key: string): number {
    const blocks = this.#blocks;
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (blocks[middle]![0]!.key <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The entry of a key. */
  get(key: string): Entry | undefined {
    const block = this.#blocks[this.#blockOf(key)]!;
    const entry = block[lowerBound(block, key)];
    return entry?.key === key ? entry : undefined;
  }

  /** Adds an entry whose key is not there yet. */
  add(entry: Entry): void {
    const at = this.#blockOf(entry.key);
    const block = this.#blocks[at]!;
    const last = block.length - 1;
    if (last < 0 || block[last]!.key < entry.key) block.push(entry);
    else block.splice(lowerBound(block, entry.key), 0, entry);
    this.#size++;
    if (block.length <= BLOCK_SIZE) return;
    // Keys that come in order fill their blocks: only what is behind the last one moves on.
    const cut = at === this.#blocks.length - 1 && last >= 0 && block[last + 1] === entry
      ? BLOCK_SIZE
      : block.length >>> 1;
    this.#blocks.splice(at + 1, 0, block.splice(cut));
  }

  /** Removes the entry of a key, if there is one. */
  delete(key: string): void {
    const at = this.#blockOf(key);
    const block = this.#blocks[at]!;
    const index = lowerBound(block, key);
    if (block[index]?.key !== key) return;
    block.splice(index, 1);
    this.#size--;
    if (block.length === 0 && this.#blocks.length > 1) this.#blocks.splice(at, 1);
  }

  /**
   * Calls `visit` with the entries from `from` on, up to and without `end` (`null`: to the last one), in
   * order, until it returns `false`. The map must not change meanwhile.
   */
  visit(from: string, end: string | null, visit: (entry: Entry) => boolean | void): void {
    const blocks = this.#blocks;
    let at = this.#blockOf(from);
    let index = lowerBound(blocks[at]!, from);
    for (; at < blocks.length; at++, index = 0) {
      const block = blocks[at]!;
      for (; index < block.length; index++) {
        const entry = block[index]!;
        if (end !== null && entry.key >= end) return;
        if (visit(entry) === false) return;
      }
    }
  }
}
