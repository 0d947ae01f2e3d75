/** Values remembered; a power of two. */
const SLOTS = 64;

/**
 * Remembers the values it was last asked about, to tell those that come again. Of a value only a
 * 32-bit hash is kept, so that nothing of it stays in memory; two values with one hash are taken for
 * one, which does no more than to put a field into the dynamic table one message early.
 *
 * Measured: a path that comes once, beside a template, costs both sides 540 ns; 2400 if it goes into
 * the dynamic table, where it ends the life of templates and cached blocks.
 */
export class RepeatMemory {
  #hashes: number[] = [];

  /** Whether `value` was asked about lately. */
  repeats(name: string, value: string): boolean {
    if (this.#hashes.length === 0) this.#hashes = new Array<number>(SLOTS).fill(0);
    let hash = name.length;
    for (let i = 0; i < value.length; i++) hash = (Math.imul(hash, 31) + value.charCodeAt(i)) | 0;
    hash ^= hash >>> 15;
    const slot = hash & (SLOTS - 1);
    if (this.#hashes[slot] === hash) return true;
    this.#hashes[slot] = hash;
    return false;
  }
}
