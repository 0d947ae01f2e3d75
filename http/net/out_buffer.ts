/** Capacity of a fresh buffer: an idle connection holds no more than this for writing. */
const INITIAL_CAPACITY = 1 << 10;

/** A drained buffer larger than this is let go instead of kept for the next batch. */
const MAX_KEPT_CAPACITY = 1 << 20;

/**
 * Bytes on their way out. Frames are written in place; {@linkcode OutBuffer.take} hands over the
 * batch and swaps buffers, so that writing goes on while the socket still holds the last batch.
 */
export class OutBuffer {
  /** Where to write, from `length` on, after `reserve`. */
  bytes: Uint8Array;
  /** Octets written so far. */
  length = 0;
  #spare: Uint8Array | null = null;
  #taken: Uint8Array | null = null;

  constructor() {
    this.bytes = new Uint8Array(INITIAL_CAPACITY);
  }

  /** Makes room for `n` more octets. `bytes` may be another array afterwards. */
  reserve(n: number): void {
    const need = this.length + n;
    if (need <= this.bytes.length) return;
    let capacity = this.bytes.length * 2;
    while (capacity < need) capacity *= 2;
    const grown = new Uint8Array(capacity);
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Hands over what was written. The view stays valid until {@linkcode OutBuffer.release}. */
  take(): Uint8Array {
    const batch = this.bytes.subarray(0, this.length);
    this.#taken = this.bytes;
    this.bytes = this.#spare ?? new Uint8Array(INITIAL_CAPACITY);
    this.#spare = null;
    this.length = 0;
    return batch;
  }

  /** The batch is on the wire: its buffer serves again. */
  release(): void {
    const taken = this.#taken;
    this.#taken = null;
    if (taken === null || taken.length > MAX_KEPT_CAPACITY) return;
    this.#spare = taken;
  }
}
