/**
 * Messages as JSON, byte for byte as grpcurl writes it: fields by number, maps by key, two spaces.
 *
 * @module
 */
import {
  type DescExtension,
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  getExtension,
  hasExtension,
  isMessage,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Any } from "@bufbuild/protobuf/wkt";
import { jsonNumber, jsonString, shortest } from "./go_text.ts";

/** Messages in messages, and lists in values. */
const MAX_DEPTH = 100;

/** How JSON is written. */
interface JsonOptions {
  /** Where types of `Any` and extensions are found. */
  readonly registry: Registry;
  /** Write fields that are not set, but for members of oneofs. */
  readonly emitDefaults: boolean;
}

/** JSON as a tree whose leaves are written already. */
type Json = string | readonly Json[] | ReadonlyMap<string, Json>;

/** The JSON of a message, on lines. */
export function messageJson(desc: DescMessage, message: Message, options: JsonOptions): string {
  return written(new JsonWriter(options).message(reflect(desc, message), 1), "");
}

function written(json: Json, indent: string): string {
  if (typeof json === "string") return json;
  const inner = `${indent}  `;
  if (json instanceof Map) {
    const entries = [...json].map(([key, value]) =>
      `${inner}${jsonString(key)}: ${written(value, inner)}`
    );
    return entries.length === 0 ? "{}" : `{\n${entries.join(",\n")}\n${indent}}`;
  }
  const items = [...json as readonly Json[]].map((item) => `${inner}${written(item, inner)}`);
  return items.length === 0 ? "[]" : `[\n${items.join(",\n")}\n${indent}]`;
}

/** Types whose JSON is not that of their fields. */
const SPECIAL = new Set(
  ["Any", "Duration", "Timestamp", "Struct", "Value", "ListValue", "FieldMask"].map((name) =>
    `google.protobuf.${name}`
  ),
);
const WRAPPER = /^google\.protobuf\.(?:Double|Float|U?Int(?:32|64)|Bool|String|Bytes)Value$/;

function isSpecial(typeName: string): boolean {
  return SPECIAL.has(typeName) || WRAPPER.test(typeName);
}

class JsonWriter {
  readonly #registry: Registry;
  readonly #emitDefaults: boolean;

  constructor({ registry, emitDefaults }: JsonOptions) {
    this.#registry = registry;
    this.#emitDefaults = emitDefaults;
  }

  message(message: ReflectMessage, depth: number): Json {
    if (depth > MAX_DEPTH) {
      throw new RangeError(
        `Cannot write a message as JSON that is nested more than ${MAX_DEPTH} deep`,
      );
    }
    const { typeName } = message.desc;
    if (isSpecial(typeName)) return this.#special(message, depth);
    return new Map(this.#fields(message, depth));
  }

  #fields(message: ReflectMessage, depth: number): [string, Json][] {
    const entries: { number: number; name: string; json: Json }[] = [];
    for (const field of message.fields) {
      const { number, jsonName: name } = field;
      if (message.isSet(field)) {
        entries.push({ number, name, json: this.#field(field, message.get(field), depth) });
      } else if (this.#emitDefaults && !inOneof(field)) {
        entries.push({ number, name, json: this.#unset(field) });
      }
    }
    for (const extension of extensionsOf(message, this.#registry)) {
      const { number, typeName } = extension;
      const value = getExtension(message.message, extension);
      entries.push({ number, name: `[${typeName}]`, json: this.#field(extension, value, depth) });
    }
    return entries.sort((a, b) => a.number - b.number).map(({ name, json }) => [name, json]);
  }

  #unset(field: DescField): Json {
    if (field.fieldKind === "list") return [];
    if (field.fieldKind === "map") return new Map();
    if (field.fieldKind === "message") return "null";
    const value = field.getDefaultValue();
    return field.fieldKind === "enum"
      ? this.#enum(field, (value ?? field.enum.values[0]?.number ?? 0) as number)
      : scalarJson(field.scalar, value ?? zeroOf(field.scalar));
  }

  #field(field: DescField | DescExtension, value: unknown, depth: number): Json {
    if (field.fieldKind === "map") {
      const entries = [...value as Iterable<[string | number | bigint, unknown]>]
        .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
      return new Map(entries.map(([key, one]) => [String(key), this.#value(field, one, depth)]));
    }
    if (field.fieldKind === "list") {
      return [...value as Iterable<unknown>].map((one) => this.#value(field, one, depth));
    }
    return this.#value(field, value, depth);
  }

  #value(field: DescField | DescExtension, value: unknown, depth: number): Json {
    const type = field.message;
    if (field.enum !== undefined) return this.#enum(field, value as number);
    if (type === undefined) return scalarJson(field.scalar!, value);
    if (isReflectMessage(value)) return this.message(value, depth + 1);
    if (isMessage(value)) return this.message(reflect(type, value), depth + 1);
    // Extensions of these types are plain values.
    return WRAPPER.test(type.typeName)
      ? scalarJson(type.fields[0]!.scalar!, value)
      : this.message(reflect(type, fromJson(type, value as JsonValue)), depth + 1);
  }

  #enum(field: DescField | DescExtension, value: number): Json {
    const named = field.enum!.value[value];
    if (field.enum!.typeName === "google.protobuf.NullValue") return "null";
    return named === undefined ? String(value) : jsonString(named.name);
  }

  #special(message: ReflectMessage, depth: number): Json {
    const { desc: { typeName }, fields } = message;
    const [first] = fields as [DescField];
    switch (typeName) {
      case "google.protobuf.Any":
        return this.#any(message.message as Any, depth);
      case "google.protobuf.Struct":
      case "google.protobuf.ListValue":
        return this.#field(first, message.get(first), depth);
      case "google.protobuf.Value": {
        const set = fields.find((field) => message.isSet(field));
        if (set === undefined) return "null";
        if (set.scalar === ScalarType.DOUBLE) return plainNumber(message.get(set) as number, false);
        return this.#field(set, message.get(set), depth);
      }
      case "google.protobuf.FloatValue":
      case "google.protobuf.DoubleValue":
        return plainNumber(message.get(first) as number, first.scalar === ScalarType.FLOAT);
      case "google.protobuf.Duration":
      case "google.protobuf.Timestamp":
      case "google.protobuf.FieldMask":
        return jsonString(toJson(message.desc, message.message) as string);
      default:
        return scalarJson(first.scalar!, message.get(first));
    }
  }

  #any({ typeUrl, value }: Any, depth: number): Json {
    if (typeUrl === "" && value.length === 0) return new Map();
    const name = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
    const type: Json = jsonString(typeUrl);
    const desc = this.#registry.getMessage(name);
    if (desc === undefined) {
      return new Map([
        ["@error", jsonString(`${name} is not recognized; see @value for raw binary message data`)],
        ["@type", type],
        ["@value", jsonString(value.toBase64())],
      ]);
    }
    const inner = reflect(desc, fromBinary(desc, value));
    if (isSpecial(name) || name === "google.protobuf.Empty") {
      return new Map([["@type", type], ["value", this.message(inner, depth + 1)]]);
    }
    // By name: grpcurl's writer goes through a map here.
    const fields = this.#fields(inner, depth + 1);
    return new Map(
      [["@type", type] as [string, Json], ...fields].sort(([a], [b]) => a < b ? -1 : 1),
    );
  }
}

/** Extensions that are set, by number. */
export function extensionsOf(
  { desc, message }: ReflectMessage,
  registry: Registry,
): readonly DescExtension[] {
  const numbers = new Set((message.$unknown ?? []).map(({ no }) => no));
  return [...numbers].sort((a, b) => a - b)
    .map((number) => registry.getExtensionFor(desc, number))
    .filter((extension) =>
      extension !== undefined && hasExtension(message, extension)
    ) as DescExtension[];
}

function inOneof(field: DescField): boolean {
  // Those that are `optional` have a oneof of their own.
  return Object.hasOwn(field.proto, "oneofIndex");
}

function plainNumber(value: number, isFloat: boolean): string {
  return Number.isFinite(value) ? jsonNumber(value, isFloat) : jsonString(String(value));
}

function scalarJson(scalar: ScalarType, value: unknown): string {
  switch (scalar) {
    case ScalarType.STRING:
      return jsonString(value as string);
    case ScalarType.BYTES:
      return jsonString((value as Uint8Array).toBase64());
    case ScalarType.BOOL:
      return String(value);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE: {
      const number = value as number;
      if (!Number.isFinite(number)) return jsonString(String(number));
      return shortest(number, scalar === ScalarType.FLOAT);
    }
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return jsonString(String(value));
    default:
      return String(value);
  }
}

function zeroOf(scalar: ScalarType): unknown {
  switch (scalar) {
    case ScalarType.STRING:
      return "";
    case ScalarType.BYTES:
      return new Uint8Array();
    case ScalarType.BOOL:
      return false;
    default:
      return 0;
  }
}
