import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** What can be said of an encoded message without decoding it. */
export interface Oddities {
  /** A value reaches past what holds it, or there is no reading it at all. */
  malformed: boolean;
  /** A known field has a wire type that it cannot have. */
  mismatched: boolean;
  /** A closed enum has a value it does not know. */
  strangeEnum: boolean;
}

/**
 * Walks over encoded bytes by the letter of the encoding guide, slowly and with bigints: a judge for cases
 * in which two decoders disagree.
 */
export function oddities(desc: DescMessage, bytes: Uint8Array): Oddities {
  const walk = new Walk(bytes);
  try {
    walk.message(desc, 0, bytes.length, 0);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    walk.found.malformed = true;
  }
  return walk.found;
}

class Walk {
  readonly found: Oddities = { malformed: false, mismatched: false, strangeEnum: false };
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Walks from `p` to `e`, or to the end of `group`, and returns where that is. */
  message(desc: DescMessage | undefined, p: number, e: number, group: number): number {
    while (p < e) {
      let key: bigint;
      [key, p] = this.#varint(p, e, 5);
      if (key >= 2n ** 32n) throw new SyntaxError("tag");
      const [no, wireType] = [Number(key >> 3n), Number(key & 7n)];
      if (no === 0) throw new SyntaxError("field 0");
      if (wireType === 4) {
        if (no !== group) throw new SyntaxError("end of another group");
        return p;
      }
      p = this.#field(desc?.fields.find((field) => field.number === no), no, wireType, p, e);
    }
    if (group !== 0) throw new SyntaxError("group without an end");
    return p;
  }

  #field(field: DescField | undefined, no: number, wireType: number, p: number, e: number): number {
    if (field === undefined) return this.#skip(no, wireType, p, e);
    const packed = field.fieldKind === "list" && wireType === 2 && isPackable(field);
    if (wireType !== wireTypeOf(field) && !packed) {
      this.found.mismatched = true;
      return this.#skip(no, wireType, p, e);
    }
    if (wireType === 3) return this.message(field.message, p, e, no);
    if (wireType !== 2) {
      if (field.fieldKind === "enum" && !field.enum.open) {
        const value = Number(BigInt.asIntN(32, this.#varint(p, e, 10)[0]));
        if (!field.enum.values.some(({ number }) => number === value)) {
          this.found.strangeEnum = true;
        }
      }
      return this.#skip(no, wireType, p, e);
    }
    const [start, end] = this.#span(p, e);
    if (packed) {
      for (let at = start; at < end;) at = this.#skip(no, wireTypeOf(field), at, end);
    } else if (field.fieldKind === "map") {
      this.#entry(field, start, end);
    } else if (field.message !== undefined) {
      this.message(field.message, start, end, 0);
    }
    return end;
  }

  #entry(field: DescField & { fieldKind: "map" }, p: number, e: number): void {
    while (p < e) {
      let key: bigint;
      [key, p] = this.#varint(p, e, 5);
      if (key >= 2n ** 32n || key < 8n) throw new SyntaxError("tag");
      const [no, wireType] = [Number(key >> 3n), Number(key & 7n)];
      const wanted = no === 1
        ? scalarWireType(field.mapKey)
        : no === 2
        ? (field.message !== undefined
          ? 2
          : field.enum !== undefined
          ? 0
          : scalarWireType(field.scalar))
        : wireType;
      if (wireType !== wanted) this.found.mismatched = true;
      if (wireType === wanted && no === 2 && field.message !== undefined) {
        const [start, end] = this.#span(p, e);
        this.message(field.message, start, end, 0);
        p = end;
      } else {
        p = this.#skip(no, wireType, p, e);
      }
    }
  }

  #skip(no: number, wireType: number, p: number, e: number): number {
    switch (wireType) {
      case 0:
        return this.#varint(p, e, 10)[1];
      case 1:
        return this.#within(p + 8, e);
      case 2:
        return this.#span(p, e)[1];
      case 3:
        return this.message(undefined, p, e, no);
      case 5:
        return this.#within(p + 4, e);
      default:
        throw new SyntaxError("wire type");
    }
  }

  #span(p: number, e: number): [start: number, end: number] {
    const [length, start] = this.#varint(p, e, 10);
    if (length > BigInt(e - start)) throw new SyntaxError("length");
    return [start, start + Number(length)];
  }

  #within(p: number, e: number): number {
    if (p > e) throw new SyntaxError("end");
    return p;
  }

  #varint(p: number, e: number, most: number): [value: bigint, next: number] {
    let value = 0n;
    for (let i = 0; i < most; i++) {
      this.#within(p + 1, e);
      const byte = this.#bytes[p++]!;
      value |= BigInt(byte & 127) << BigInt(7 * i);
      if (byte < 128) return [value, p];
    }
    throw new SyntaxError("varint");
  }
}

function isPackable(field: DescField): boolean {
  return field.message === undefined && field.scalar !== ScalarType.STRING &&
    field.scalar !== ScalarType.BYTES;
}

function wireTypeOf(field: DescField): number {
  if (field.fieldKind === "map") return 2;
  if (field.message !== undefined) return field.delimitedEncoding ? 3 : 2;
  return field.enum !== undefined ? 0 : scalarWireType(field.scalar);
}

function scalarWireType(scalar: ScalarType): number {
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return 2;
  const type = ScalarType[scalar]!;
  if (type === "DOUBLE" || type.endsWith("FIXED64")) return 1;
  return type === "FLOAT" || type.endsWith("FIXED32") ? 5 : 0;
}
