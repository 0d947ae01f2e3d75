/** Bytes of the first array: what a length costs that is announced and never sent. */
const MIN_BYTES = 16 << 10;

/**
 * A body whose length was announced, in one array that the bytes are received into. The announcement
 * is only a promise: the array grows with what comes, and is never more than twice that and a constant.
 */
export class AnnouncedBody {
  /** Bytes received. */
  length = 0;
  readonly #total: number;
  #bytes: Uint8Array<ArrayBuffer>;

  /** `total` is the announced length, > 0; `ready` bytes of it are known to be here. */
  constructor(total: number, ready = 0) {
    this.#total = total;
    this.#bytes = new Uint8Array(Math.min(total, Math.max(MIN_BYTES, ready)));
  }

  /** Whether all of it is here. */
  get complete(): boolean {
    return this.length === this.#total;
  }

  /** Where the next bytes go: at least one, unless it is complete. Tell how many by `advance`. */
  room(): Uint8Array<ArrayBuffer> {
    if (this.length === this.#bytes.length && !this.complete) this.#grow(this.length + 1);
    return this.#bytes.subarray(this.length);
  }

  /** `n` bytes were written into `room()`. */
  advance(n: number): void {
    this.length += n;
  }

  /**
   * Takes a copy of `buf[start, end)`.
   *
   * @throws {RangeError} If that is more than was announced.
   */
  push(buf: Uint8Array, start: number, end: number): void {
    const need = this.length + end - start;
    if (need > this.#bytes.length) this.#grow(need);
    this.#bytes.set(buf.subarray(start, end), this.length);
    this.length = need;
  }

  /** The whole body, once it is complete. It belongs to the caller. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  #grow(need: number): void {
    const grown = new Uint8Array(
      Math.min(this.#total, Math.max(need, this.#bytes.length * 2)),
    );
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}
