/**
 * Where two serialized descriptors first differ, as a path a person can follow.
 *
 * Works on the wire, not on decoded messages: order, presence and packing are part of what is
 * compared. The schema only lends names.
 *
 * @module
 */

import type { DescMessage } from "@bufbuild/protobuf";

/** One field as it lies on the wire. */
interface Field {
  readonly number: number;
  readonly wire: number;
  readonly value: bigint;
  readonly bytes: Uint8Array;
}

/** How much of a value is shown. */
const SHOWN = 160;

/**
 * Describes the first difference of `ours` from `theirs`, both read as `schema`; undefined when
 * the bytes are equal.
 */
export function firstDifference(
  schema: DescMessage | undefined,
  ours: Uint8Array,
  theirs: Uint8Array,
): string | undefined {
  if (equal(ours, theirs)) return undefined;
  return walk(schema, ours, theirs, schema?.name ?? "message");
}

function walk(
  schema: DescMessage | undefined,
  ours: Uint8Array,
  theirs: Uint8Array,
  path: string,
): string {
  const a = fields(ours);
  const b = fields(theirs);
  if (a === undefined || b === undefined) {
    return `${path}: ours ${show(ours)}, protoc ${show(theirs)}`;
  }
  const seen = new Map<number, number>();
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const x = a[i];
    const y = b[i];
    const number = (y ?? x)!.number;
    const index = seen.get(number) ?? 0;
    seen.set(number, index + 1);
    const field = schema?.fields.find((f) => f.number === number);
    const at = `${path}.${field?.name ?? number}` +
      (field?.fieldKind === "list" ? `[${index}]` : "");
    if (x === undefined) return `${at}: ours lacks it, protoc ${showField(y!)}`;
    if (y === undefined) return `${at}: protoc lacks it, ours ${showField(x)}`;
    if (x.number !== y.number || x.wire !== y.wire) {
      const name = schema?.fields.find((f) => f.number === x.number)?.name ?? x.number;
      return `${at}: protoc ${showField(y)}, ours has ${name} ${showField(x)} here`;
    }
    if (x.value === y.value && equal(x.bytes, y.bytes)) continue;
    const inner = field?.message;
    if (x.wire === 2 && (inner !== undefined || field === undefined)) {
      return walk(inner, x.bytes, y.bytes, at);
    }
    return `${at}: ours ${showField(x)}, protoc ${showField(y)}`;
  }
  return `${path}: the same fields, encoded differently`;
}

/** The fields of a message, or undefined when the bytes are none. */
function fields(bytes: Uint8Array): Field[] | undefined {
  const out: Field[] = [];
  let at = 0;
  const varint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === undefined || tag >> 3n === 0n || tag >> 3n > 536870911n) return undefined;
    const wire = Number(tag & 7n);
    let value = 0n;
    let length = 0;
    if (wire === 0) {
      const read = varint();
      if (read === undefined) return undefined;
      value = read;
    } else if (wire === 1) length = 8;
    else if (wire === 5) length = 4;
    else if (wire === 2) {
      const read = varint();
      if (read === undefined) return undefined;
      length = Number(read);
    } else if (wire !== 3 && wire !== 4) return undefined;
    if (at + length > bytes.length) return undefined;
    out.push({ number: Number(tag >> 3n), wire, value, bytes: bytes.subarray(at, at + length) });
    at += length;
  }
  return out;
}

function showField(field: Field): string {
  return field.wire === 0 ? String(field.value) : show(field.bytes);
}

function show(bytes: Uint8Array): string {
  const printable = bytes.every((byte) => byte >= 0x20 && byte < 0x7f || byte === 10);
  const text = printable
    ? JSON.stringify(new TextDecoder().decode(bytes))
    : "0x" + Array.from(bytes.subarray(0, SHOWN), (b) => b.toString(16).padStart(2, "0")).join("");
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${bytes.length} bytes)` : text;
}

/** Whether two byte strings are the same. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
