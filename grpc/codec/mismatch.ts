import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  ScalarType,
} from "@bufbuild/protobuf";
import { isJsonObject } from "./json.ts";
import { isMessageInit } from "./message_init.ts";
import { isJson, isUnwrapped, type MessageField } from "./field_traits.ts";
import { closestFieldName } from "./closest_name.ts";
import { isUnknownField, toBigInt } from "./writer.ts";

/**
 * Most levels of messages within messages that are encoded. Most peers read 100. The limit is there so that a
 * message that contains itself is an error and not a stack overflow.
 */
export const ENCODE_DEPTH = 250;

/**
 * Finds the first value of a message, or of an object of its fields, that the message type has no place for.
 *
 * The generated encoder only notices that something does not fit. What and where is found out here, by a
 * second, slower walk over the same value, which keeps the path along. The rules of both must be the same.
 *
 * @returns The text of the error, or undefined if everything fits.
 */
export function explainMismatch(desc: DescMessage, message: unknown): string | undefined {
  const found = checkMessage(desc, message, desc.typeName, ENCODE_DEPTH);
  return found && `Cannot encode ${found}`;
}

function expected(path: string, what: string, value: unknown): string {
  return `${path}: expected ${what}, got ${describe(value)}`;
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function tooDeep(path: string): string {
  return `${
    shortened(path)
  }: messages are nested more than ${ENCODE_DEPTH} deep, does one contain itself?`;
}

/** A value in a few words: its type, and what it is if that is short. */
function describe(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `string ${JSON.stringify(shortened(value))}`;
    case "number":
      return `number ${Object.is(value, -0) ? "-0" : value}`;
    case "boolean":
      return `boolean ${value}`;
    case "bigint":
      return `bigint ${shortened(String(value))}`;
    case "object": {
      if (value === null) return "null";
      if (Array.isArray(value)) return `array of ${value.length}`;
      if (value instanceof Uint8Array) return `Uint8Array of ${value.length}`;
      const { $typeName: type } = value as { $typeName?: unknown };
      if (typeof type === "string") return `message ${type}`;
      const name = Object.getPrototypeOf(value)?.constructor?.name;
      return typeof name === "string" && name !== "" && name !== "Object" ? name : "object";
    }
    default:
      return typeof value;
  }
}

function checkMessage(
  desc: DescMessage,
  value: unknown,
  path: string,
  depth: number,
): string | undefined {
  if (depth < 0) return tooDeep(path);
  const what = path === desc.typeName
    ? "message or object of its fields"
    : `message ${desc.typeName} or object of its fields`;
  if (value === null || typeof value !== "object") return expected(path, what, value);
  const message = value as Record<string, unknown>;
  const type = message["$typeName"];
  if (type !== desc.typeName) {
    if (type !== undefined || !isMessageInit(message)) return expected(path, what, value);
    const stray = checkNames(desc, message, path);
    if (stray !== undefined) return stray;
  }
  const opened = new Set<DescOneof>();
  const defaults = Object.getPrototypeOf(create(desc));
  for (const field of desc.fields.toSorted((a, b) => a.number - b.number)) {
    let found: string | undefined;
    if (field.oneof) {
      if (opened.has(field.oneof)) continue;
      opened.add(field.oneof);
      found = checkOneof(field.oneof, message[field.oneof.localName], path, depth);
    } else {
      const inherited = type !== undefined && Object.hasOwn(defaults, field.localName) &&
        !Object.hasOwn(message, field.localName);
      found = checkField(field, inherited ? undefined : message[field.localName], path, depth);
    }
    if (found !== undefined) return found;
  }
  if (type === undefined) return undefined;
  const unknown = message["$unknown"];
  if (unknown === undefined || unknown === null) return undefined;
  if (!Array.isArray(unknown)) return expected(`${path}.$unknown`, "array", unknown);
  const i = unknown.findIndex((field) => !isUnknownField(field));
  return i === -1
    ? undefined
    : expected(`${path}.$unknown[${i}]`, "unknown field {no, wireType, data}", unknown[i]);
}

/** Refuses properties that are no fields of the message, and says which one was probably meant. */
function checkNames(
  desc: DescMessage,
  message: Record<string, unknown>,
  path: string,
): string | undefined {
  const names = desc.members.map((member) => member.localName);
  const stray = Object.keys(message).find((name) => name !== "$typeName" && !names.includes(name));
  if (stray === undefined) return undefined;
  const problem = `${path}: it has no field ${JSON.stringify(stray)}`;
  const oneof = desc.oneofs.find((o) => o.fields.some((f) => f.localName === stray));
  if (oneof !== undefined) {
    return `${problem} (it is a case of a oneof: write ${oneof.localName}: ` +
      `{ case: ${JSON.stringify(stray)}, value: … })`;
  }
  const same = desc.members.find((member) =>
    member.name === stray || member.kind === "field" && member.jsonName === stray
  );
  const meant = same?.localName ?? closestFieldName(stray, names);
  return meant === undefined ? problem : `${problem} (did you mean ${JSON.stringify(meant)}?)`;
}

// google.protobuf.FeatureSet.FieldPresence
const LEGACY_REQUIRED = 3;

function checkField(
  field: DescField,
  value: unknown,
  parent: string,
  depth: number,
): string | undefined {
  const path = `${parent}.${field.localName}`;
  if (value === undefined || value === null) {
    return field.presence === LEGACY_REQUIRED
      ? `${path}: the required field is not set`
      : undefined;
  }
  switch (field.fieldKind) {
    case "list": {
      if (!Array.isArray(value)) return expected(path, "array", value);
      for (let i = 0; i < value.length; i++) {
        const found = checkValue(field, value[i], `${path}[${i}]`, depth);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    case "map": {
      if (typeof value !== "object" || "$typeName" in value || !isMessageInit(value)) {
        return expected(path, "object of map entries", value);
      }
      for (const key of Object.keys(value)) {
        const entry = `${path}[${JSON.stringify(key)}]`;
        const found = checkKey(field.mapKey, key, entry) ??
          checkValue(field, (value as Record<string, unknown>)[key], entry, depth);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    default:
      return checkValue(field, value, path, depth);
  }
}

function checkOneof(
  oneof: DescOneof,
  value: unknown,
  parent: string,
  depth: number,
): string | undefined {
  const path = `${parent}.${oneof.localName}`;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") return expected(path, "oneof { case, value }", value);
  const { case: name, value: inner } = value as { case?: unknown; value?: unknown };
  if (name === undefined || name === null) {
    if (inner === undefined || inner === null) return undefined;
    return `${path}: the oneof has a value but no case`;
  }
  const field = oneof.fields.find((field) => field.localName === name);
  if (field === undefined) {
    const cases = oneof.fields.map((field) => field.localName);
    const meant = typeof name === "string" ? closestFieldName(name, cases) : undefined;
    const hint = meant === undefined
      ? `the cases are ${cases.map((name) => JSON.stringify(name)).join(", ")}`
      : `did you mean ${JSON.stringify(meant)}?`;
    const named = typeof name === "string" ? JSON.stringify(name) : describe(name);
    return `${path}: the oneof has no case ${named} (${hint})`;
  }
  return checkValue(field, inner, `${parent}.${field.localName}`, depth);
}

/** Checks a value of a singular field, an element of a list, or a value of a map. */
function checkValue(
  field: DescField,
  value: unknown,
  path: string,
  depth: number,
): string | undefined {
  if (field.message !== undefined) return checkMessageValue(field, value, path, depth);
  if (field.enum !== undefined) return checkEnum(field.enum, value, path);
  return checkScalar(field.scalar, value, path);
}

function checkMessageValue(
  field: MessageField,
  value: unknown,
  path: string,
  depth: number,
): string | undefined {
  if (isJson(field)) return checkJson(value, path, depth - 1);
  if (isUnwrapped(field)) {
    if (depth < 1) return tooDeep(path);
    const inner = field.message.fields[0]!;
    return inner.fieldKind === "scalar" ? checkScalar(inner.scalar, value, path) : undefined;
  }
  return checkMessage(field.message, value, path, depth - 1);
}

/** JSON becomes messages: an object a Struct, an array a ListValue, and every value in them a Value. */
function checkJson(value: unknown, path: string, depth: number): string | undefined {
  if (!isJsonObject(value)) return expected(path, "JSON object", value);
  if (depth < 0) return tooDeep(path);
  for (const key of Object.keys(value)) {
    const found = checkJsonValue(value[key], `${path}[${JSON.stringify(key)}]`, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkJsonValue(value: unknown, path: string, depth: number): string | undefined {
  if (depth < 0) return tooDeep(path);
  switch (typeof value) {
    case "number":
    case "string":
    case "boolean":
      return undefined;
    case "object": {
      if (value === null) return undefined;
      if (!Array.isArray(value)) return checkJson(value, path, depth - 1);
      if (depth < 1) return tooDeep(path);
      for (let i = 0; i < value.length; i++) {
        const found = checkJsonValue(value[i], `${path}[${i}]`, depth - 2);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    default:
      return expected(path, "JSON value", value);
  }
}

function checkEnum(desc: DescEnum, value: unknown, path: string): string | undefined {
  if (typeof value === "number" && (value | 0) === value) return undefined;
  const named = desc.values.find((v) => v.name === value || v.localName === value);
  const hint = named === undefined ? "" : ` (its number is ${named.number})`;
  return expected(path, `enum ${desc.typeName} (int32)`, value) + hint;
}

const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

function checkScalar(scalar: ScalarType, value: unknown, path: string): string | undefined {
  switch (scalar) {
    case ScalarType.STRING:
      return typeof value === "string" ? undefined : expected(path, "string", value);
    case ScalarType.BYTES:
      return value instanceof Uint8Array ? undefined : expected(path, "Uint8Array", value);
    case ScalarType.BOOL:
      return typeof value === "boolean" ? undefined : expected(path, "boolean", value);
    case ScalarType.DOUBLE:
      return typeof value === "number" ? undefined : expected(path, "number", value);
    case ScalarType.FLOAT:
      if (typeof value !== "number") return expected(path, "number", value);
      return Number.isFinite(value) && !Number.isFinite(Math.fround(value))
        ? expected(path, "float of at most 3.4028234663852886e+38 in size", value)
        : undefined;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return check32("int32", value, path);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return check32("uint32", value, path);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return check64("int64", value, path);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return check64("uint64", value, path);
  }
}

function check32(type: string, value: unknown, path: string): string | undefined {
  if (typeof value !== "number") return expected(path, `number (${type})`, value);
  const [min, max] = RANGES[type]!;
  return Number.isInteger(value) && value >= min && value <= max
    ? undefined
    : expected(path, `${type} from ${min} to ${max}`, value);
}

function check64(type: string, value: unknown, path: string): string | undefined {
  const long = toBigInt(value);
  if (long === undefined) {
    return expected(path, `bigint, safe integer or decimal string (${type})`, value);
  }
  const [min, max] = RANGES[type]!;
  return long >= min && long <= max
    ? undefined
    : expected(path, `${type} from ${min} to ${max}`, value);
}

/** Keys are strings in JavaScript; they must read as what the map has for keys. */
function checkKey(scalar: ScalarType, key: string, path: string): string | undefined {
  switch (scalar) {
    case ScalarType.STRING:
      return undefined;
    case ScalarType.BOOL:
      return key === "true" || key === "false"
        ? undefined
        : `${path}: expected key "true" or "false"`;
    default: {
      const type = keyType(scalar);
      const [min, max] = RANGES[type]!;
      const long = toBigInt(key);
      return long !== undefined && long >= min && long <= max
        ? undefined
        : `${path}: expected key of ${type} from ${min} to ${max}`;
    }
  }
}

function keyType(scalar: ScalarType): string {
  switch (scalar) {
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return "uint32";
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return "uint64";
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return "int64";
    default:
      return "int32";
  }
}
