// Numbers, texts and bytes to bytes and back, for the journal.

const BITS_32 = 0x1_0000_0000;

/** Writes values one behind the other into a buffer that grows. */
export class Writer {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  /** Bytes written. */
  length = 0;

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + more));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** A whole number from 0 to 2^53, short if it is small. */
  number(value: number): void {
    this.#reserve(8);
    while (value >= 0x80) {
      this.#bytes[this.length++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    this.#bytes[this.length++] = value;
  }

  /** A number of 64 bits. */
  int64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigInt64(this.length, value);
    this.length += 8;
  }

  /** A number of 32 bits at a place that was written. */
  uint32At(at: number, value: number): void {
    this.#view.setUint32(at, value);
  }

  /** Leaves room that is filled later. */
  skip(length: number): void {
    this.#reserve(length);
    this.length += length;
  }

  /** Bytes with their number in front. */
  bytes(value: Uint8Array): void {
    this.number(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.length);
    this.length += value.length;
  }

  /** A text of one code unit a byte, with its length in front. */
  key(text: string): void {
    this.number(text.length);
    this.#reserve(text.length);
    for (let i = 0; i < text.length; i++) this.#bytes[this.length + i] = text.charCodeAt(i);
    this.length += text.length;
  }

  /** The bytes written between two places; valid until the next write. */
  view(from: number, to: number = this.length): Uint8Array {
    return this.#bytes.subarray(from, to);
  }

  /** Forgets what was written. A large buffer is given back. */
  clear(): void {
    this.length = 0;
    if (this.#bytes.length <= MAX_KEPT_BYTES) return;
    this.#bytes = new Uint8Array(4096);
    this.#view = new DataView(this.#bytes.buffer);
  }
}

/** A buffer larger than this is not kept for the next writes. */
const MAX_KEPT_BYTES = 1 << 20;

/** Reads what a {@linkcode Writer} wrote. Throws `RangeError` where something is missing. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Whether nothing is left. */
  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new RangeError("a record ends too early");
    this.#at = at + length;
    return at;
  }

  number(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#bytes[this.#take(1)]!;
      value += (byte % 0x80) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
      if (factor > BITS_32 * BITS_32) throw new RangeError("a number is too long");
    }
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#take(8));
  }

  /** A copy: records are read from large pieces that must not be kept. */
  bytes(): Uint8Array {
    const length = this.number();
    const at = this.#take(length);
    return this.#bytes.slice(at, at + length);
  }

  key(): string {
    const length = this.number();
    const at = this.#take(length);
    let text = "";
    for (let i = at; i < at + length; i++) text += String.fromCharCode(this.#bytes[i]!);
    return text;
  }
}
