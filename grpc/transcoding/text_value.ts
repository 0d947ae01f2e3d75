/**
 * Values of fields from text, as it stands in paths and queries: the forms of JSON, without quotes.
 * {@link https://protobuf.dev/programming-guides/json/}
 *
 * @module
 */
import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";

/** Well-known types whose JSON is a string. */
const STRING_TYPES: ReadonlySet<string> = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
]);

/** Well-known types that have one field, `value`, and its JSON. */
const WRAPPERS: ReadonlySet<string> = new Set(
  [
    "Double",
    "Float",
    "Int64",
    "UInt64",
    "Int32",
    "UInt32",
    "Bool",
    "String",
    "Bytes",
  ].map((name) => `google.protobuf.${name}Value`),
);

const FIELD_MASK = "google.protobuf.FieldMask";
/** Types of which a text holds the JSON. */
const JSON_TYPES: ReadonlySet<string> = new Set([
  "google.protobuf.Value",
  "google.protobuf.Struct",
  "google.protobuf.ListValue",
]);

/** Whether a message has a text form. */
export function isTextMessage({ typeName }: DescMessage): boolean {
  return STRING_TYPES.has(typeName) || WRAPPERS.has(typeName) || typeName === FIELD_MASK ||
    JSON_TYPES.has(typeName);
}

/** Whether a field holds one value that has a text form. */
export function isTextField(field: DescField): boolean {
  return field.fieldKind === "scalar" || field.fieldKind === "enum" ||
    field.fieldKind === "message" && isTextMessage(field.message);
}

/** A value in the form in which protobuf-es's reflection takes it. */
export type FieldValue = string | number | bigint | boolean | Uint8Array | Message;

/** Types of values a text is read as. */
export type TextType =
  | { readonly scalar: ScalarType }
  | { readonly enum: DescEnum }
  | { readonly message: DescMessage };

/**
 * Reads a value.
 *
 * @param parseJson Reads JSON that comes from a client.
 * @throws {RangeError} If the text is none of that type: says what it must be.
 */
export function readText(
  type: TextType,
  text: string,
  parseJson: (text: string) => JsonValue,
): FieldValue {
  if ("scalar" in type) return readScalar(type.scalar, text);
  if ("enum" in type) return readEnum(type.enum, text);
  return readMessage(type.message, text, parseJson);
}

function readMessage(
  desc: DescMessage,
  text: string,
  parseJson: (text: string) => JsonValue,
): Message {
  const { typeName } = desc;
  if (WRAPPERS.has(typeName)) {
    const value = readScalar(desc.fields[0]!.scalar!, text);
    return create(desc, { value } as Record<string, unknown>);
  }
  if (typeName === FIELD_MASK) {
    const paths = text === "" ? [] : text.split(",").map(snakeCase);
    return create(desc, { paths } as Record<string, unknown>);
  }
  const json = JSON_TYPES.has(typeName) ? parseJson(text) : text;
  try {
    return fromJson(desc, json);
  } catch {
    throw new RangeError(
      typeName === "google.protobuf.Timestamp"
        ? "a time such as 2026-01-31T12:00:00Z"
        : typeName === "google.protobuf.Duration"
        ? "a duration in seconds such as 1.5s"
        : `JSON of a ${typeName}`,
    );
  }
}

/** Paths of a mask come in camel case, as in JSON, or as in proto files. */
function snakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function readEnum(desc: DescEnum, text: string): number {
  const named = desc.values.find(({ name }) => name === text);
  if (named !== undefined) return named.number;
  const number = /^-?\d{1,10}$/.test(text) ? Number(text) : NaN;
  // Open enums take numbers they have no name for.
  if (desc.value[number] !== undefined || desc.open && number === (number | 0)) return number;
  throw new RangeError(`a value of ${desc.typeName}`);
}

const INTEGER = /^-?\d{1,20}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}$/;

const TRUE: ReadonlySet<string> = new Set(["true", "1", "True", "TRUE", "t", "T"]);
const FALSE: ReadonlySet<string> = new Set(["false", "0", "False", "FALSE", "f", "F"]);

const RANGES: Readonly<Partial<Record<ScalarType, readonly [least: bigint, most: bigint]>>> = {
  [ScalarType.INT32]: [-(1n << 31n), (1n << 31n) - 1n],
  [ScalarType.SINT32]: [-(1n << 31n), (1n << 31n) - 1n],
  [ScalarType.SFIXED32]: [-(1n << 31n), (1n << 31n) - 1n],
  [ScalarType.UINT32]: [0n, (1n << 32n) - 1n],
  [ScalarType.FIXED32]: [0n, (1n << 32n) - 1n],
  [ScalarType.INT64]: [-(1n << 63n), (1n << 63n) - 1n],
  [ScalarType.SINT64]: [-(1n << 63n), (1n << 63n) - 1n],
  [ScalarType.SFIXED64]: [-(1n << 63n), (1n << 63n) - 1n],
  [ScalarType.UINT64]: [0n, (1n << 64n) - 1n],
  [ScalarType.FIXED64]: [0n, (1n << 64n) - 1n],
};

/** The largest finite number of type float. */
const MAX_FLOAT = 3.4028234663852886e38;

function readScalar(
  type: ScalarType,
  text: string,
): string | number | bigint | boolean | Uint8Array {
  switch (type) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      if (TRUE.has(text)) return true;
      if (FALSE.has(text)) return false;
      throw new RangeError("true or false");
    case ScalarType.BYTES:
      if (!BASE64.test(text)) throw new RangeError("base64");
      try {
        return base64Decode(text);
      } catch {
        throw new RangeError("base64");
      }
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return readFloat(type, text);
    default:
      return readInteger(type, text);
  }
}

function readInteger(type: ScalarType, text: string): number | bigint {
  const [least, most] = RANGES[type]!;
  const value = INTEGER.test(text) ? BigInt(text) : null;
  if (value === null || value < least || value > most) {
    throw new RangeError(`an integer from ${least} to ${most}`);
  }
  return most > 0xffffffffn ? value : Number(value);
}

function readFloat(type: ScalarType, text: string): number {
  if (text === "NaN" || text === "Infinity" || text === "-Infinity") return Number(text);
  const value = DECIMAL.test(text) ? Number(text) : NaN;
  const most = type === ScalarType.FLOAT ? MAX_FLOAT : Number.MAX_VALUE;
  if (!(Math.abs(value) <= most)) throw new RangeError("a number");
  return value;
}
