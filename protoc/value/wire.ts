const encoder = new TextEncoder();

/** Characters from which on the platform's encoder is faster than a loop. */
const ENCODE_FROM = 64;

/** Bytes a fresh buffer starts with; most option messages are shorter. */
const INITIAL_BYTES = 256;

/** Appends protobuf wire format to one growing buffer. */
export class WireWriter {
  #buffer = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** A copy of the bytes from `start` on, and forgets them. */
  take(start = 0): Uint8Array {
    const out = this.#buffer.slice(start, this.#length);
    this.#length = start;
    return out;
  }

  tag(number: number, wireType: number): void {
    // Field numbers reach 2^29-1, and 2^31-1 in message sets: past 32 bits once shifted.
    this.varint(number * 8 + wireType);
  }

  /** Any non-negative integer up to 2^53. */
  varint(value: number): void {
    this.#reserve(10);
    while (value >= 0x80) {
      this.#buffer[this.#length++] = value % 0x80 | 0x80;
      value = Math.floor(value / 0x80);
    }
    this.#buffer[this.#length++] = value;
  }

  /** A signed 32-bit integer, sign-extended to 64 bits as protobuf does. */
  int32(value: number): void {
    if (value >= 0) this.varint(value);
    else this.varint64(BigInt(value));
  }

  /** The low 64 bits of `value`. */
  varint64(value: bigint): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#buffer[this.#length++] = Number(rest);
  }

  fixed32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value >>> 0, true);
    this.#length += 4;
  }

  fixed64(value: bigint): void {
    this.#reserve(8);
    this.#view.setBigUint64(this.#length, BigInt.asUintN(64, value), true);
    this.#length += 8;
  }

  float(value: number): void {
    this.#reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** Length-prefixed bytes; text goes out as UTF-8. */
  bytes(value: Uint8Array | string): void {
    if (typeof value !== "string") {
      this.varint(value.length);
      this.raw(value);
      return;
    }
    const { length } = value;
    this.#reserve(length * 3 + 10);
    const start = this.begin();
    if (length > ENCODE_FROM) {
      this.#length += encoder.encodeInto(value, this.#buffer.subarray(this.#length)).written;
      return this.end(start);
    }
    // Names are short ASCII: a loop beats the call into the encoder.
    const buffer = this.#buffer;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) {
        this.#length = start + encoder.encodeInto(value, buffer.subarray(start)).written;
        return this.end(start);
      }
      buffer[start + i] = code;
    }
    this.#length = start + length;
    this.end(start);
  }

  /** Length-prefixed bytes, given as one character a byte. */
  byteString(value: string): void {
    const { length } = value;
    this.#reserve(length + 10);
    this.varint(length);
    const buffer = this.#buffer;
    const start = this.#length;
    for (let i = 0; i < length; i++) buffer[start + i] = value.charCodeAt(i);
    this.#length = start + length;
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  /** Opens a length-prefixed part: give the result to {@linkcode end}. */
  begin(): number {
    this.#reserve(1);
    return ++this.#length;
  }

  /** Closes a length-prefixed part, moving it when its length needs more than the byte kept free. */
  end(start: number): void {
    const size = this.#length - start;
    if (size < 0x80) {
      this.#buffer[start - 1] = size;
      return;
    }
    const extra = size < 0x4000 ? 1 : size < 0x200000 ? 2 : size < 0x10000000 ? 3 : 4;
    this.#reserve(extra);
    this.#buffer.copyWithin(start + extra, start, this.#length);
    this.#length = start - 1;
    this.varint(size);
    this.#length = start + extra + size;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const grown = new Uint8Array(Math.max(this.#buffer.length * 2, this.#length + count));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
    this.#view = new DataView(grown.buffer);
  }
}
