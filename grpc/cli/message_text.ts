/**
 * Messages in text format, byte for byte as grpcurl writes it: messages between `<` and `>`.
 *
 * @module
 */
import {
  type DescExtension,
  type DescField,
  type DescMessage,
  fromBinary,
  getExtension,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Any } from "@bufbuild/protobuf/wkt";
import { quotedBytes, shortest } from "./go_text.ts";
import { extensionsOf } from "./message_json.ts";

/** Messages in messages. */
const MAX_DEPTH = 100;

const encoder = new TextEncoder();

/** The text format of a message, on lines. */
export function messageText(desc: DescMessage, message: Message, registry: Registry): string {
  // Well-known types stand on lines where they are all there is.
  const layout = { registry, knownOnLines: desc.typeName.startsWith("google.protobuf.") };
  return linesOf(reflect(desc, message), layout, "", 1).join("\n");
}

/** How messages are laid out. */
interface Layout {
  readonly registry: Registry;
  /** Well-known types on lines as any other, and not on one. */
  readonly knownOnLines: boolean;
}

/** The line and the block of an `Any` whose type is known. */
function anyLines(
  message: Any,
  layout: Layout,
  indent: string,
  depth: number,
): readonly string[] | null {
  const { typeUrl, value } = message;
  const type = layout.registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  if (type === undefined || !layout.knownOnLines) return null;
  const inner = linesOf(reflect(type, fromBinary(type, value)), layout, `${indent}  `, depth + 1);
  return [`${indent}[${typeUrl}]: <`, ...inner, `${indent}>`];
}

function linesOf(
  message: ReflectMessage,
  layout: Layout,
  indent: string,
  depth: number,
): readonly string[] {
  if (message.desc.typeName === "google.protobuf.Any") {
    const lines = anyLines(message.message as Any, layout, indent, depth);
    if (lines !== null) return lines;
  }
  if (depth > MAX_DEPTH) {
    throw new RangeError(
      `Cannot write a message as text that is nested more than ${MAX_DEPTH} deep`,
    );
  }
  const values = message.fields.filter((field) => message.isSet(field))
    .map((field): { field: DescField | DescExtension; value: unknown } => ({
      field,
      value: message.get(field),
    }));
  for (const field of extensionsOf(message, layout.registry)) {
    values.push({ field, value: getExtension(message.message, field) });
  }
  values.sort((a, b) => a.field.number - b.field.number);
  return values.flatMap(({ field, value }) => fieldLines(field, value, layout, indent, depth));
}

function fieldLines(
  field: DescField | DescExtension,
  value: unknown,
  layout: Layout,
  indent: string,
  depth: number,
): readonly string[] {
  const isGroup = field.fieldKind === "message" && field.delimitedEncoding ||
    field.fieldKind === "list" && field.listKind === "message" && field.delimitedEncoding;
  const name = field.kind === "extension"
    ? `[${isGroup ? field.message!.typeName : field.typeName}]`
    : isGroup
    ? field.message!.name
    : field.name;
  const inner = `${indent}  `;
  const block = (lines: readonly string[]): readonly string[] => {
    const [open, close] = isGroup ? ["{", "}"] : [": <", ">"];
    return [
      `${indent}${name}${open}`,
      ...(lines.length === 0 ? [inner] : lines),
      `${indent}${close}`,
    ];
  };
  const messageLines = (one: unknown): readonly string[] => {
    const reflected = isReflectMessage(one) ? one : reflect(field.message!, one as Message);
    if (!layout.knownOnLines && GENERATED.test(reflected.desc.typeName)) {
      return [`${inner}${compact(reflected)}`];
    }
    return linesOf(reflected, layout, inner, depth + 1);
  };
  const single = (one: unknown): readonly string[] =>
    field.message !== undefined
      ? block(messageLines(one))
      : [`${indent}${name}: ${scalarText(field, one)}`];
  if (field.fieldKind === "map") {
    const entries = [...value as Iterable<[string | number | bigint | boolean, unknown]>]
      .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    return entries.flatMap(([key, one]) => {
      const shown = field.mapKind === "message"
        ? [`${inner}value: <`, ...deeper(messageLines(one), inner), `${inner}>`]
        : [`${inner}value: ${scalarText(field, one)}`];
      const keyText = field.mapKey === ScalarType.STRING
        ? quotedBytes(encoder.encode(key as string))
        : String(key);
      return block([`${inner}key: ${keyText}`, ...shown]);
    });
  }
  if (field.fieldKind === "list") return [...value as Iterable<unknown>].flatMap(single);
  return single(value);
}

/** Lines one step further in. */
function deeper(lines: readonly string[], empty: string): readonly string[] {
  return lines.length === 0 ? [`${empty}  `] : lines.map((line) => `  ${line}`);
}

const GENERATED =
  /^google\.protobuf\.(?:Any|Empty|Duration|Timestamp|Struct|Value|ListValue|(?:Double|Float|U?Int(?:32|64)|Bool|String|Bytes)Value)$/;

/** Well-known types stand on one line: `seconds:5 nanos:3 `. */
function compact(message: ReflectMessage): string {
  let text = "";
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const value: unknown = message.get(field);
    const values = field.fieldKind === "list" ? [...value as Iterable<unknown>] : [value];
    if (field.fieldKind === "map") {
      for (const [key, one] of value as Iterable<[string, unknown]>) {
        text += `${field.name}:<key:${quotedBytes(encoder.encode(key))} value:<${
          compact(one as ReflectMessage)
        }> > `;
      }
      continue;
    }
    for (const one of values) {
      text += field.message === undefined
        ? `${field.name}:${scalarText(field, one)} `
        : `${field.name}:<${compact(one as ReflectMessage)}> `;
    }
  }
  return text;
}

function scalarText(field: DescField | DescExtension, value: unknown): string {
  if (field.enum !== undefined) {
    return field.enum.value[value as number]?.name ?? String(value);
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return quotedBytes(encoder.encode(value as string));
    case ScalarType.BYTES:
      return quotedBytes(value as Uint8Array);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE: {
      const number = value as number;
      if (Number.isNaN(number)) return "nan";
      if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
      return shortest(number, field.scalar === ScalarType.FLOAT);
    }
    default:
      return String(value);
  }
}
