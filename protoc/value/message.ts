import type {
  FieldNode,
  MessageNode,
  OptionField,
  OptionMessage,
  OptionScalar,
} from "../syntax/ast.ts";
import { FieldType, isMessageType, Label } from "../syntax/kinds.ts";
import { Feature } from "../syntax/features.ts";
import { WireWriter } from "./wire.ts";

/** An empty message of `type`. */
export function createOptionMessage(type: MessageNode): OptionMessage {
  return { type, fields: new Map() };
}

/** Sets a singular field, or adds to a repeated one. */
export function addOption(message: OptionMessage, field: FieldNode, value: OptionScalar): void {
  const { fields } = message;
  const existing = fields.get(field.number);
  if (field.label === Label.repeated) {
    if (existing) (existing.value as OptionScalar[]).push(value);
    else fields.set(field.number, { field, value: [value] });
  } else if (existing) {
    existing.value = value;
  } else {
    fields.set(field.number, { field, value });
  }
}

/** The number in the singular field `number`, or `fallback` when it is not set. */
export function readNumber(message: OptionMessage, number: number, fallback: number): number {
  const value = message.fields.get(number)?.value;
  return typeof value === "number" ? value : fallback;
}

/** The truth of the singular field `number`; not set is false. */
export function readFlag(message: OptionMessage | undefined, number: number): boolean {
  return message?.fields.get(number)?.value === true;
}

/** The text of the singular field `number`; undefined when it is not set. */
export function readText(message: OptionMessage, number: number): string | undefined {
  const value = message.fields.get(number)?.value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  return typeof value === "string" ? value : undefined;
}

/** The message in the singular field `number`; undefined when it is not set. */
export function readMessage(message: OptionMessage, number: number): OptionMessage | undefined {
  return message.fields.get(number)?.value as OptionMessage | undefined;
}

/** The values of the repeated field `number`; none when it is not set. */
export function readList(message: OptionMessage, number: number): readonly OptionScalar[] {
  const value = message.fields.get(number)?.value;
  return Array.isArray(value) ? value : [];
}

/** True for strings that readers refuse when they are not UTF-8. */
export function isStrictText(field: FieldNode): boolean {
  return field.type === FieldType.string && field.features?.utf8Validation === Feature.verifyUtf8;
}

/** True when a set field shows even with its default value. */
export function hasPresence(field: FieldNode): boolean {
  return field.isExtension || field.oneofIndex >= 0 || isMessageType(field.type) ||
    field.features?.fieldPresence !== Feature.implicit;
}

/** True when `value` is what a field without presence has when it is not set. */
export function isZero(value: OptionScalar): boolean {
  if (typeof value === "number") return value === 0 && !Object.is(value, -0);
  if (typeof value === "object") return (value as Uint8Array).length === 0;
  return value === 0n || value === false || value === "";
}

/** True when writing `message` gives no byte. */
export function isEmpty(message: OptionMessage): boolean {
  for (const { field, value } of message.fields.values()) {
    if (Array.isArray(value) ? value.length > 0 : hasPresence(field) || !isZero(value)) {
      return false;
    }
  }
  return true;
}

const shared = new WireWriter();

/** The wire bytes of `message` as protoc writes them: ascending field numbers, extensions too. */
export function serializeOptionMessage(message: OptionMessage): Uint8Array {
  const start = shared.length;
  writeOptionMessage(shared, message);
  return shared.take(start);
}

/** Appends the wire bytes of `message`: ascending field numbers, extensions among them. */
function writeOptionMessage(writer: WireWriter, message: OptionMessage): void {
  const { fields, type } = message;
  if (type.mapEntry) {
    // Map entries carry key and value even when they were not given.
    writeMapEntry(writer, message);
    return;
  }
  if (fields.size === 1) {
    for (const field of fields.values()) writeField(writer, message, field);
    return;
  }
  if (fields.size === 0) return;
  const sorted = [...fields.values()].sort((a, b) => a.field.number - b.field.number);
  const oneofs = type.oneofs.length > 0 ? lastOfOneofs(message) : undefined;
  for (const entry of sorted) {
    const index = entry.field.isExtension ? -1 : entry.field.oneofIndex;
    // Of the members of a oneof set by separate statements, the last is what a reader keeps.
    if (oneofs && index >= 0 && oneofs.get(index) !== entry.field.number) continue;
    writeField(writer, message, entry);
  }
}

function lastOfOneofs(message: OptionMessage): Map<number, number> {
  const last = new Map<number, number>();
  for (const { field } of message.fields.values()) {
    if (!field.isExtension && field.oneofIndex >= 0) last.set(field.oneofIndex, field.number);
  }
  return last;
}

function writeMapEntry(writer: WireWriter, message: OptionMessage): void {
  for (const field of message.type.fields) {
    const value = message.fields.get(field.number)?.value ?? zeroOf(field);
    writeSingle(writer, field, value as OptionScalar);
  }
}

function zeroOf(field: FieldNode): OptionScalar {
  switch (field.type) {
    case FieldType.message:
    case FieldType.group:
      return createOptionMessage(field.message!);
    case FieldType.string:
    case FieldType.bytes:
      return "";
    case FieldType.bool:
      return false;
    case FieldType.enum:
      return field.enum!.values[0]!.number;
    case FieldType.int64:
    case FieldType.uint64:
    case FieldType.sint64:
    case FieldType.fixed64:
    case FieldType.sfixed64:
      return 0n;
    default:
      return 0;
  }
}

function writeField(writer: WireWriter, parent: OptionMessage, entry: OptionField): void {
  const { field, value } = entry;
  if (!Array.isArray(value)) {
    if (!hasPresence(field) && isZero(value)) return;
    if (field.isExtension && parent.type.isMessageSet && field.type === FieldType.message) {
      writeMessageSetItem(writer, field, value as OptionMessage);
    } else {
      writeSingle(writer, field, value);
    }
  } else if (isPacked(field)) {
    if (value.length === 0) return;
    writer.tag(field.number, 2);
    const start = writer.begin();
    for (const item of value) writeScalar(writer, field.type, item);
    writer.end(start);
  } else {
    for (const item of value) writeSingle(writer, field, item);
  }
}

/** True when a repeated field is written as one length-prefixed run. */
function isPacked(field: FieldNode): boolean {
  return field.features?.repeatedFieldEncoding === Feature.packed && isPackable(field.type);
}

/** True for scalar types with a fixed wire form: all but text, bytes and messages. */
export function isPackable(type: number): boolean {
  return type !== FieldType.string && type !== FieldType.bytes && !isMessageType(type);
}

/** A message set item: group 1 of the extension's number (field 2) and its bytes (field 3). */
function writeMessageSetItem(writer: WireWriter, field: FieldNode, value: OptionMessage): void {
  writer.tag(1, 3);
  writer.tag(2, 0);
  writer.varint(field.number);
  writer.tag(3, 2);
  const start = writer.begin();
  writeOptionMessage(writer, value);
  writer.end(start);
  writer.tag(1, 4);
}

/** Appends one value of a field, whether it would be left out or not. */
export function writeSingle(writer: WireWriter, field: FieldNode, value: OptionScalar): void {
  switch (field.type) {
    case FieldType.message: {
      writer.tag(field.number, 2);
      const start = writer.begin();
      writeOptionMessage(writer, value as OptionMessage);
      writer.end(start);
      return;
    }
    case FieldType.group:
      writer.tag(field.number, 3);
      writeOptionMessage(writer, value as OptionMessage);
      writer.tag(field.number, 4);
      return;
    default:
      writer.tag(field.number, wireType(field.type));
      writeScalar(writer, field.type, value);
  }
}

/** How values of a type lie on the wire, one at a time. */
export function wireType(type: number): number {
  switch (type) {
    case FieldType.double:
    case FieldType.fixed64:
    case FieldType.sfixed64:
      return 1;
    case FieldType.string:
    case FieldType.bytes:
    case FieldType.message:
      return 2;
    case FieldType.group:
      return 3;
    case FieldType.float:
    case FieldType.fixed32:
    case FieldType.sfixed32:
      return 5;
    default:
      return 0;
  }
}

function writeScalar(writer: WireWriter, type: number, value: OptionScalar): void {
  switch (type) {
    case FieldType.double:
      return writer.double(value as number);
    case FieldType.float:
      return writer.float(value as number);
    case FieldType.int64:
    case FieldType.uint64:
      return writer.varint64(value as bigint);
    case FieldType.int32:
    case FieldType.enum:
      return writer.int32(value as number);
    case FieldType.fixed64:
    case FieldType.sfixed64:
      return writer.fixed64(value as bigint);
    case FieldType.fixed32:
    case FieldType.sfixed32:
      return writer.fixed32(value as number);
    case FieldType.bool:
      return writer.varint(value === true ? 1 : 0);
    case FieldType.string:
    case FieldType.bytes:
      return writer.bytes(value as string | Uint8Array);
    case FieldType.uint32:
      return writer.varint(value as number);
    case FieldType.sint32: {
      const number = value as number;
      return writer.varint(((number << 1) ^ (number >> 31)) >>> 0);
    }
    case FieldType.sint64: {
      const number = value as bigint;
      return writer.varint64((number << 1n) ^ (number >> 63n));
    }
  }
}
