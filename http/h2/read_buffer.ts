/** Bytes of a fresh or idle connection's buffer: what ten thousand idle ones cost is mostly this. */
const MIN_BYTES = 2 << 10;
/** Bytes of the buffer of a connection that moves bulk data. */
const MAX_BYTES = 256 << 10;
/** Small reads in a row after which the buffer shrinks again. */
const SHRINK_AFTER = 32;

/** Where a connection's input is read to: it grows while reads fill it, and shrinks behind them. */
export class ReadBuffer {
  /** Input, up to `end`. */
  bytes: Uint8Array<ArrayBuffer>;
  end: number;
  /** Bytes asked for and read last. */
  #room = 0;
  #read = 0;
  /** Small reads in a row. */
  #small = 0;

  /** `head` are bytes read already. */
  constructor(head: Uint8Array = NOTHING) {
    this.bytes = new Uint8Array(
      head.length > MIN_BYTES ? head.length + MIN_BYTES : MIN_BYTES,
    );
    this.bytes.set(head);
    this.end = head.length;
  }

  /** Where to read to, with room for a frame of `need` bytes, those that are here included. */
  target(need: number): Uint8Array {
    const { length } = this.bytes;
    if (need > length || this.end === length) this.#resize(Math.max(need, length * 2));
    this.#room = this.bytes.length - this.end;
    return this.end === 0 ? this.bytes : this.bytes.subarray(this.end);
  }

  /** `n` bytes were read to the target. */
  filled(n: number): void {
    this.#read = n;
    this.end += n;
  }

  /** Everything before `start` was used; the rest waits at the front for more. */
  keep(start: number): void {
    if (start < this.end) this.bytes.copyWithin(0, start, this.end);
    this.end -= start;
    const { length } = this.bytes;
    if (this.#read === this.#room && length < MAX_BYTES) {
      this.#resize(Math.min(length * 4, MAX_BYTES));
      this.#small = 0;
    } else if (this.#read > length >> 2 || length === MIN_BYTES) {
      this.#small = 0;
    } else if (this.end === 0 && ++this.#small === SHRINK_AFTER) {
      this.bytes = new Uint8Array(MIN_BYTES);
      this.#small = 0;
    }
  }

  #resize(size: number): void {
    const grown = new Uint8Array(size);
    grown.set(this.bytes.subarray(0, this.end));
    this.bytes = grown;
  }
}

const NOTHING = new Uint8Array(0);
