import { byteString, decodeByteString } from "../lex/source.ts";
import type { FieldNode, MessageNode } from "../syntax/ast.ts";
import { valueNumbered } from "../syntax/enum_value.ts";
import { Feature } from "../syntax/features.ts";
import { FieldType, isMessageType, Label } from "../syntax/kinds.ts";
import { asciiLowerCase } from "../syntax/naming.ts";
import { hasPresence, isStrictText } from "../value/message.ts";
import type { Types } from "./message_types.ts";
import { joined, readFields, type WireField } from "./wire.ts";

/** Messages inside messages, as C++ readers have it. */
const MAX_DEPTH = 100;

/** How deep bytes of unknown fields are taken for messages, as C++ has it. */
const MAX_GUESS_DEPTH = 10;

/** A decoded message. */
interface Decoded {
  /** In text format. */
  readonly text: string;
  /** Required fields that are not set, as paths. */
  readonly missing: readonly string[];
}

/** The text format of a message whose type is not known; undefined when the bytes are none. */
export function decodeRaw(bytes: Uint8Array): string | undefined {
  const fields = readFields(bytes);
  return fields && fields.map((field) => printUnknown(field, "", MAX_GUESS_DEPTH)).join("");
}

/** The text format of a message; undefined when the bytes are none. */
export function decode(bytes: Uint8Array, type: MessageNode, types: Types): Decoded | undefined {
  const printer = new Printer(types);
  try {
    const text = printer.message(bytes, type, "", "", 1);
    return { text, missing: printer.missing };
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Malformed extends Error {}

/** A value as text, without its field. */
type Value =
  | { readonly scalar: string; readonly isZero: boolean; readonly key: bigint | string }
  | { readonly message: Uint8Array };

class Printer {
  readonly missing: string[] = [];
  readonly #types: Types;

  constructor(types: Types) {
    this.#types = types;
  }

  message(
    bytes: Uint8Array,
    type: MessageNode,
    indent: string,
    path: string,
    depth: number,
  ): string {
    const wire = readFields(bytes);
    if (!wire || depth > MAX_DEPTH) throw new Malformed();
    const known = this.#types.fields(type);
    const values = new Map<number, Value[]>();
    const unknown: WireField[] = [];
    for (const item of wire) {
      const field = known.get(item.number);
      const found = field && valuesOf(field, item, bytes);
      if (!found) {
        unknown.push(item);
        continue;
      }
      if (field.oneofIndex >= 0 && !field.isExtension) clearOthers(type, field, values);
      const list = values.get(item.number);
      if (!list) values.set(item.number, [...found]);
      else if (field.label === Label.repeated) list.push(...found);
      else list[0] = merged(list[0]!, found[0]!);
    }
    for (const field of type.fields) {
      if (field.features?.fieldPresence === Feature.legacyRequired && !values.has(field.number)) {
        this.missing.push(path + field.name);
      }
    }
    let text = "";
    for (const number of [...values.keys()].sort((a, b) => a - b)) {
      text += this.#field(known.get(number)!, values.get(number)!, indent, path, depth);
    }
    return text + unknown.map((item) => printUnknown(item, indent, MAX_GUESS_DEPTH)).join("");
  }

  #field(
    field: FieldNode,
    values: readonly Value[],
    indent: string,
    path: string,
    depth: number,
  ): string {
    const name = this.#nameOf(field);
    const isRepeated = field.label === Label.repeated;
    if (field.message?.mapEntry) return this.#map(field, values, indent, path, depth);
    let text = "";
    values.forEach((value, i) => {
      if ("message" in value) {
        const inner = `${path}${name}${isRepeated ? `[${i}]` : ""}.`;
        text += `${indent}${name} {\n${
          this.message(value.message, field.message!, `${indent}  `, inner, depth + 1)
        }${indent}}\n`;
      } else if (isRepeated || hasPresence(field) || !value.isZero) {
        text += `${indent}${name}: ${value.scalar}\n`;
      }
    });
    return text;
  }

  /** Entries in the order of their keys; equal keys stay, as C++ leaves them. */
  #map(
    field: FieldNode,
    values: readonly Value[],
    indent: string,
    path: string,
    depth: number,
  ): string {
    const [keyField, valueField] = field.message!.fields as [FieldNode, FieldNode];
    const entries: [key: bigint | string, text: string][] = [];
    for (const value of values) {
      if (!("message" in value)) continue;
      const wire = readFields(value.message);
      if (!wire) throw new Malformed();
      const last = (of: FieldNode): Value =>
        wire.flatMap((item) =>
          item.number === of.number ? valuesOf(of, item, value.message) ?? [] : []
        )
          .reduce<Value | undefined>((all, one) => all ? merged(all, one) : one, undefined) ??
          zeroOf(of);
      const key = last(keyField) as Extract<Value, { scalar: string }>;
      const shown = last(valueField);
      const inner = `${indent}  `;
      const text = "message" in shown
        ? `${inner}value {\n${
          this.message(shown.message, valueField.message!, `${inner}  `, path, depth + 2)
        }${inner}}\n`
        : `${inner}value: ${shown.scalar}\n`;
      entries.push([
        key.key,
        `${indent}${field.name} {\n${inner}key: ${key.scalar}\n${text}${indent}}\n`,
      ]);
    }
    return entries.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, text]) => text).join("");
  }

  #nameOf(field: FieldNode): string {
    if (field.isExtension) return `[${this.#types.nameOf(field)}]`;
    return isGroupLike(field) ? field.message!.name : field.name;
  }
}

/** True for groups as proto2 declares them, and for what other editions write alike. */
function isGroupLike({ type, name, message, file, parent }: FieldNode): boolean {
  return type === FieldType.group && name === asciiLowerCase(message!.name) &&
    message!.file === file && message!.parent === parent;
}

/** A member of a oneof takes the place of the others. */
function clearOthers(type: MessageNode, field: FieldNode, values: Map<number, Value[]>): void {
  for (const other of type.fields) {
    if (other !== field && other.oneofIndex === field.oneofIndex) values.delete(other.number);
  }
}

/** Messages given twice are one message; of scalars the last counts. */
function merged(first: Value, second: Value): Value {
  return "message" in first && "message" in second
    ? { message: joined([first.message, second.message]) }
    : second;
}

function zeroOf(field: FieldNode): Value {
  if (isMessageType(field.type)) return { message: new Uint8Array() };
  if (field.type === FieldType.string || field.type === FieldType.bytes) {
    return { scalar: '""', isZero: true, key: "" };
  }
  return scalarOf(field, 0n)!;
}

/** The values in a field of the wire; undefined when it is not what the type has there. */
function valuesOf(field: FieldNode, item: WireField, whole: Uint8Array): Value[] | undefined {
  const { type } = field;
  if (type === FieldType.group || type === FieldType.message) {
    if (item.kind === "bytes") return [{ message: item.value }];
    if (item.kind !== "group") return undefined;
    const start = item.value[0]?.start;
    // Without the tags around it.
    return [{
      message: start === undefined
        ? new Uint8Array()
        : whole.subarray(start, item.value.at(-1)!.end),
    }];
  }
  if (type === FieldType.string || type === FieldType.bytes) {
    if (item.kind !== "bytes") return undefined;
    const key = byteString(item.value);
    if (isStrictText(field) && decodeByteString(key).includes("\ufffd") && !isUtf8(item.value)) {
      throw new Malformed();
    }
    return [{ scalar: `"${escaped(item.value)}"`, isZero: key === "", key }];
  }
  const kind = wireKind(type);
  if (item.kind === "bytes" && field.label === Label.repeated) {
    return unpacked(field, item.value, kind);
  }
  if (item.kind !== kind) return undefined;
  const value = scalarOf(field, BigInt(item.value as bigint | number));
  return value && [value];
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function wireKind(type: number): "varint" | "fixed32" | "fixed64" {
  switch (type) {
    case FieldType.float:
    case FieldType.fixed32:
    case FieldType.sfixed32:
      return "fixed32";
    case FieldType.double:
    case FieldType.fixed64:
    case FieldType.sfixed64:
      return "fixed64";
    default:
      return "varint";
  }
}

/** Tags of a field 1, put before each value of a packed field to read it. */
const TAG = { varint: 0x08, fixed64: 0x09, fixed32: 0x0d } as const;
const SIZE = { varint: 0, fixed64: 8, fixed32: 4 } as const;

function unpacked(field: FieldNode, bytes: Uint8Array, kind: keyof typeof TAG): Value[] {
  const values: Value[] = [];
  for (let at = 0; at < bytes.length;) {
    let end = at + SIZE[kind];
    if (kind === "varint") {
      while (end < bytes.length && bytes[end]! > 0x7f) end++;
      end++;
    }
    const [item] = readFields(joined([Uint8Array.of(TAG[kind]), bytes.subarray(at, end)])) ?? [];
    if (!item || end > bytes.length) throw new Malformed();
    const value = scalarOf(field, BigInt(item.value as bigint | number));
    if (value) values.push(value);
    at = end;
  }
  return values;
}

/** A number as text; undefined for a number that a closed enum has not. */
function scalarOf(field: FieldNode, bits: bigint): Value | undefined {
  const number = (value: bigint): Value => ({
    scalar: String(value),
    isZero: value === 0n,
    key: value,
  });
  const zigzag = (value: bigint): bigint => (value >> 1n) ^ -(value & 1n);
  switch (field.type) {
    case FieldType.int32:
    case FieldType.sfixed32:
      return number(BigInt.asIntN(32, bits));
    case FieldType.uint32:
    case FieldType.fixed32:
      return number(BigInt.asUintN(32, bits));
    case FieldType.sint32:
      return number(BigInt.asIntN(32, zigzag(BigInt.asUintN(32, bits))));
    case FieldType.int64:
    case FieldType.sfixed64:
      return number(BigInt.asIntN(64, bits));
    case FieldType.sint64:
      return number(BigInt.asIntN(64, zigzag(bits)));
    case FieldType.bool:
      return { scalar: String(bits !== 0n), isZero: bits === 0n, key: bits === 0n ? 0n : 1n };
    case FieldType.enum: {
      const value = BigInt.asIntN(32, bits);
      const named = valueNumbered(field.enum!, Number(value));
      if (!named && field.enum!.features?.enumType === Feature.closed) return undefined;
      return { ...number(value), scalar: named?.name ?? String(value) } as Value;
    }
    case FieldType.float:
      return floating(floatOf(bits), 6, 9, bits);
    case FieldType.double:
      return floating(doubleOf(bits), 15, 17, bits);
    default:
      return number(bits);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

function floatOf(bits: bigint): number {
  scratch.setUint32(0, Number(bits));
  return scratch.getFloat32(0);
}

function doubleOf(bits: bigint): number {
  scratch.setBigUint64(0, bits);
  return scratch.getFloat64(0);
}

/** As `%g` with few digits, or with more where few would be another number. */
function floating(value: number, digits: number, more: number, bits: bigint): Value {
  return { scalar: numberText(value, digits, more), isZero: bits === 0n, key: bits };
}

function numberText(value: number, digits: number, more: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const short = general(value, digits);
  const back = digits < 10 ? Math.fround(Number(short)) : Number(short);
  return back === value ? short : general(value, more);
}

/** C's `%.Ng`. */
function general(value: number, digits: number): string {
  const [mantissa, power] = value.toExponential(digits - 1).split("e") as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits) {
    const sign = exponent < 0 ? "-" : "+";
    return `${trimmed(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return trimmed(value.toFixed(Math.max(0, digits - 1 - exponent)));
}

function trimmed(number: string): string {
  return number.includes(".") ? number.replace(/\.?0+$/, "") : number;
}

function printUnknown(field: WireField, indent: string, guesses: number): string {
  const { number } = field;
  switch (field.kind) {
    case "varint":
      return `${indent}${number}: ${field.value}\n`;
    case "fixed32":
      return `${indent}${number}: 0x${field.value.toString(16).padStart(8, "0")}\n`;
    case "fixed64":
      return `${indent}${number}: 0x${field.value.toString(16).padStart(16, "0")}\n`;
    case "group":
      return block(number, field.value, indent, guesses);
    case "bytes": {
      const inner = field.value.length > 0 && guesses > 0 ? readFields(field.value) : undefined;
      return inner
        ? block(number, inner, indent, guesses - 1)
        : `${indent}${number}: "${escaped(field.value)}"\n`;
    }
  }
}

function block(
  number: number,
  fields: readonly WireField[],
  indent: string,
  guesses: number,
): string {
  const inner = fields.map((field) => printUnknown(field, `${indent}  `, guesses)).join("");
  return `${indent}${number} {\n${inner}${indent}}\n`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "'": "\\'",
  "\\": "\\\\",
};

/** Bytes as C writes them in a string literal. */
export function escaped(bytes: Uint8Array): string {
  // deno-lint-ignore no-control-regex
  const special = /[\x00-\x1f"'\\\x7f-\xff]/g;
  return byteString(bytes).replace(special, (character) => ESCAPES[character] ?? octal(character));
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
}
