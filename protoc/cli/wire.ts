/** The value of a field on the wire: a type for each wire type. */
type WireValue =
  | { readonly kind: "varint" | "fixed64"; readonly value: bigint }
  | { readonly kind: "fixed32"; readonly value: number }
  | { readonly kind: "bytes"; readonly value: Uint8Array }
  | { readonly kind: "group"; readonly value: readonly WireField[] };

/** A field as it stands on the wire. */
export type WireField = WireValue & {
  readonly number: number;
  /** Where it begins and ends, its tag included. */
  readonly start: number;
  readonly end: number;
};

/** Groups inside groups, as C++ readers have it. */
const MAX_GROUP_DEPTH = 100;

const MAX_FIELD_NUMBER = 0x1fff_ffff;

/** The fields of a serialized message in their order; undefined when the bytes are none. */
export function readFields(bytes: Uint8Array): WireField[] | undefined {
  const reader = new WireReader(bytes);
  try {
    return reader.fields(0, 0);
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Malformed extends Error {}

class WireReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Fields up to the end of the bytes, or of group `group` where that is not 0. */
  fields(group: number, depth: number): WireField[] {
    if (depth > MAX_GROUP_DEPTH) throw new Malformed();
    const fields: WireField[] = [];
    while (this.#at < this.#bytes.length) {
      const start = this.#at;
      const tag = Number(this.varint());
      const number = Math.floor(tag / 8);
      if (number === 0 || number > MAX_FIELD_NUMBER) throw new Malformed();
      if (tag % 8 === 4) {
        if (number !== group) throw new Malformed();
        return fields;
      }
      const value = this.#value(tag % 8, number, depth);
      fields.push({ ...value, number, start, end: this.#at });
    }
    if (group !== 0) throw new Malformed();
    return fields;
  }

  #value(wireType: number, number: number, depth: number): WireValue {
    switch (wireType) {
      case 0:
        return { kind: "varint", value: this.varint() };
      case 1:
        return { kind: "fixed64", value: this.#view.getBigUint64(this.#take(8), true) };
      case 2: {
        const length = Number(this.varint());
        const start = this.#take(length);
        return { kind: "bytes", value: this.#bytes.subarray(start, start + length) };
      }
      case 3:
        return { kind: "group", value: this.fields(number, depth + 1) };
      case 5:
        return { kind: "fixed32", value: this.#view.getUint32(this.#take(4), true) };
      default:
        throw new Malformed();
    }
  }

  /** Ten bytes at most; bits past the 64th are dropped. */
  varint(): bigint {
    let low = 0;
    let value = 0n;
    for (let i = 0; i < 10; i++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new Malformed();
      if (i < 4) low |= (byte & 0x7f) << (7 * i);
      else value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return BigInt.asUintN(64, value | BigInt(low));
    }
    throw new Malformed();
  }

  #take(count: number): number {
    const start = this.#at;
    if (count > this.#bytes.length - start) throw new Malformed();
    this.#at += count;
    return start;
  }
}

/** A length-delimited field. */
export function delimited(number: number, value: Uint8Array | string): Uint8Array[] {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return [varints(number * 8 + 2, bytes.length), bytes];
}

/** A field with a small number in it. */
export function numeric(number: number, value: number): Uint8Array {
  return varints(number * 8, value);
}

function varints(...values: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (let value of values) {
    for (; value > 0x7f; value = Math.floor(value / 0x80)) bytes.push(value % 0x80 | 0x80);
    bytes.push(value);
  }
  return Uint8Array.from(bytes);
}

/** Puts pieces into one array. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
