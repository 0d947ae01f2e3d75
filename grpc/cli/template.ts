/**
 * A message in which everything there is is set: what to type in.
 *
 * @module
 */
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import {
  AnySchema,
  ListValueSchema,
  type Struct,
  StructSchema,
  type Value,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";

/** Messages in messages: wide types would grow without end. */
const MAX_DEPTH = 12;

/** A message with an element in each list and map, and a message in each field that takes one. */
export function templateOf(desc: DescMessage): Message {
  return filled(desc, new Set()).message;
}

function filled(desc: DescMessage, within: ReadonlySet<string>): ReflectMessage {
  const message = reflect(desc, special(desc) ?? create(desc));
  const { typeName } = desc;
  if (special(desc) !== undefined || within.has(typeName) || within.size >= MAX_DEPTH) {
    return message;
  }
  const inside = new Set(within).add(typeName);
  for (const field of desc.fields) {
    if (field.fieldKind === "list") {
      const list = message.get(field);
      list.add(field.listKind === "message" ? filled(field.message, inside) : zero(field));
    } else if (field.fieldKind === "map") {
      const key = field.mapKey === 9
        ? ""
        : field.mapKey === 8
        ? false
        : zero({ scalar: field.mapKey });
      message.get(field).set(
        key as never,
        field.mapKind === "message" ? filled(field.message, inside) : zero(field),
      );
    } else if (field.fieldKind === "message") {
      message.set(field, filled(field.message, inside));
    }
  }
  return message;
}

function zero(
  { scalar }: { readonly scalar?: number | undefined },
): string | number | bigint | boolean | Uint8Array {
  switch (scalar) {
    case 9:
      return "";
    case 12:
      return new Uint8Array();
    case 8:
      return false;
    case 3:
    case 4:
    case 6:
    case 16:
    case 18:
      return 0n;
    default:
      return 0;
  }
}

/** Types whose JSON says nothing while they are empty. */
function special({ typeName }: DescMessage): Message | undefined {
  const struct = (text: string): Struct =>
    create(StructSchema, {
      fields: { [typeName]: { kind: { case: "stringValue", value: text } } },
    });
  const value = (text: string): Value =>
    create(ValueSchema, { kind: { case: "structValue", value: struct(text) } });
  switch (typeName) {
    case "google.protobuf.Any":
      return create(AnySchema, { typeUrl: "type.googleapis.com/google.protobuf.Empty" });
    case "google.protobuf.Value":
      return value("supports arbitrary JSON");
    case "google.protobuf.ListValue":
      return create(ListValueSchema, {
        values: [value("is an array of arbitrary JSON values")],
      });
    case "google.protobuf.Struct":
      return struct("supports arbitrary JSON objects");
    default:
      return undefined;
  }
}
