/**
 * Received bytes that wait for their reader.
 *
 * A peer chooses the size of the pieces it sends, so a piece must not cost more than its bytes: small
 * pieces are copied together, large ones are kept as they are, and taking one is O(1) however many
 * wait. Memory stays below twice the bytes held and a constant.
 *
 * @module
 */

/** Pieces from this size on are kept alone: what an array of their own costs is then small beside them. */
const LARGE_PIECE_BYTES = 8 << 10;

/** Bytes of the first array small pieces are copied into; each further one is as large as what waits. */
const MIN_SLAB_BYTES = 256;

/** Bytes of the largest array small pieces are copied into. */
const MAX_SLAB_BYTES = 64 << 10;

/** Taken slots at the front of the list before it is moved together. */
const MAX_TAKEN_SLOTS = 64;

/** A queue of bytes. See the module. */
export class BodyBuffer {
  /** Bytes that wait. */
  length = 0;

  #pieces: (Uint8Array<ArrayBuffer> | null)[] = [];
  /** Slots of `#pieces` before this one are taken. */
  #first = 0;
  /** Where small pieces go: behind all of `#pieces`. */
  #slab: Uint8Array<ArrayBuffer> | null = null;
  #slabUsed = 0;

  /** Keeps a copy of `buf[start, end)`. */
  push(buf: Uint8Array, start: number, end: number): void {
    const n = end - start;
    if (n === 0) return;
    const slab = this.#slab;
    if (slab !== null && n <= slab.length - this.#slabUsed) {
      this.#fill(slab, buf, start, end);
    } else if (this.length === 0 || n >= LARGE_PIECE_BYTES) {
      // Most pieces are read before the next one comes: they need no room behind them.
      this.#closeSlab();
      this.#pieces.push(buf.slice(start, end) as Uint8Array<ArrayBuffer>);
    } else {
      this.#closeSlab();
      const size = Math.min(MAX_SLAB_BYTES, Math.max(MIN_SLAB_BYTES, this.length, n));
      this.#slabUsed = 0;
      this.#fill(this.#slab = new Uint8Array(size), buf, start, end);
    }
    this.length += n;
  }

  /** Keeps `piece` itself, which nobody else may write to any more, or a copy of it if it is small. */
  add(piece: Uint8Array): void {
    const n = piece.length;
    if (this.length > 0 && n < LARGE_PIECE_BYTES) return this.push(piece, 0, n);
    if (n === 0) return;
    this.#closeSlab();
    this.#pieces.push(piece as Uint8Array<ArrayBuffer>);
    this.length += n;
  }

  /** Everything in one array. It belongs to the caller. */
  takeAll(): Uint8Array<ArrayBuffer> {
    this.#closeSlab();
    const { length } = this;
    if (this.#first + 1 === this.#pieces.length) return this.take()!;
    const whole = new Uint8Array(length);
    for (let at = 0; this.length > 0;) {
      const piece = this.take()!;
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  /** The piece that came first, or null. It belongs to the caller. */
  take(): Uint8Array<ArrayBuffer> | null {
    if (this.length === 0) return null;
    if (this.#first === this.#pieces.length) this.#closeSlab();
    const piece = this.#pieces[this.#first]!;
    this.#pieces[this.#first++] = null;
    if (this.#first === this.#pieces.length) {
      this.#pieces.length = this.#first = 0;
    } else if (this.#first >= MAX_TAKEN_SLOTS && this.#first * 2 >= this.#pieces.length) {
      this.#pieces.splice(0, this.#first);
      this.#first = 0;
    }
    this.length -= piece.length;
    return piece;
  }

  /** Drops everything. */
  clear(): void {
    this.#pieces = [];
    this.#first = 0;
    this.#slab = null;
    this.length = 0;
  }

  #fill(slab: Uint8Array, buf: Uint8Array, start: number, end: number): void {
    let at = this.#slabUsed;
    // For a few bytes a loop is faster than `set` with a view of its own.
    if (end - start <= 16) { for (let i = start; i < end; i++) slab[at++] = buf[i]!; }
    else slab.set(buf.subarray(start, end), at);
    this.#slabUsed += end - start;
  }

  #closeSlab(): void {
    const slab = this.#slab;
    if (slab === null) return;
    this.#slab = null;
    this.#pieces.push(slab.subarray(0, this.#slabUsed));
  }
}
