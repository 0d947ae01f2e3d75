/**
 * Services as a page needs them to make forms of their methods.
 *
 * @module
 */
import { type DescField, type DescMessage, type DescService, ScalarType } from "@bufbuild/protobuf";

/** Messages within messages that get fields of their own; deeper ones are typed in as JSON. */
const MAX_DEPTH = 3;

/** `FeatureSet.FieldPresence` of fields that have to be there. */
const LEGACY_REQUIRED = 3;

/** A field of a form. */
interface FormField {
  /** Name in the JSON of the message. */
  readonly name: string;
  /** Name in the proto text. */
  readonly label: string;
  /** Type, as the proto text has it. */
  readonly type: string;
  readonly input: "text" | "number" | "boolean" | "choice" | "fields" | "json";
  /** One value a line. */
  readonly repeated: boolean;
  readonly initial: string | boolean;
  /** Sent even if nothing was typed in. */
  readonly required: boolean;
  /** Bounds of whole numbers; null for others. */
  readonly range: readonly [string, string] | null;
  readonly choices: readonly string[];
  readonly fields: readonly FormField[];
}

/** A method as its form needs it. */
interface FormMethod {
  readonly service: string;
  readonly name: string;
  /** Where Connect's protocol calls it. */
  readonly path: string;
  readonly kind: "unary" | "server_streaming" | "client_streaming" | "bidi_streaming";
  readonly input: string;
  readonly output: string;
  readonly fields: readonly FormField[];
}

/** The methods of services. */
export function formsOf(services: readonly DescService[]): FormMethod[] {
  return services.flatMap((service) =>
    service.methods.map((method): FormMethod => ({
      service: service.typeName,
      name: method.name,
      path: `/${service.typeName}/${method.name}`,
      kind: method.methodKind,
      input: method.input.name,
      output: method.output.name,
      fields: fieldsOf(method.input, 1),
    }))
  );
}

function fieldsOf(message: DescMessage, depth: number): FormField[] {
  return message.fields.map((field): FormField => {
    const { scalar, enum: values, message: inner } = field;
    const common = {
      name: field.jsonName,
      label: field.name,
      type: typeName(field),
      repeated: field.fieldKind === "list",
      initial: initial(field),
      required: field.presence === LEGACY_REQUIRED,
      range: scalar === undefined ? null : RANGES[scalar] ?? null,
      choices: [],
      fields: [],
    };
    if (field.fieldKind === "map") return { ...common, input: "json" };
    if (values !== undefined) {
      const choices = values.values.map(({ name }) => name);
      return { ...common, input: common.repeated ? "text" : "choice", choices };
    }
    if (inner !== undefined) {
      // Messages with a JSON form of their own, such as Timestamp, are written in it.
      const deep = depth >= MAX_DEPTH || inner.typeName.startsWith("google.protobuf.");
      if (deep || common.repeated) return { ...common, input: "json", repeated: false };
      return { ...common, input: "fields", fields: fieldsOf(inner, depth + 1) };
    }
    if (scalar === ScalarType.BOOL && !common.repeated) return { ...common, input: "boolean" };
    const number = scalar !== ScalarType.STRING && scalar !== ScalarType.BYTES &&
      scalar !== ScalarType.BOOL;
    return { ...common, input: number ? "number" : "text" };
  });
}

const INT32 = ["-2147483648", "2147483647"] as const;
const UINT32 = ["0", "4294967295"] as const;
const INT64 = ["-9223372036854775808", "9223372036854775807"] as const;
const UINT64 = ["0", "18446744073709551615"] as const;
const RANGES: { readonly [scalar: number]: readonly [string, string] } = {
  [ScalarType.INT32]: INT32,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.UINT32]: UINT32,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.INT64]: INT64,
  [ScalarType.SINT64]: INT64,
  [ScalarType.SFIXED64]: INT64,
  [ScalarType.UINT64]: UINT64,
  [ScalarType.FIXED64]: UINT64,
};

function typeName(field: DescField): string {
  if (field.fieldKind === "map") return "map";
  const type = field.scalar === undefined
    ? field.enum?.name ?? field.message?.name ?? "group"
    : ScalarType[field.scalar].toLowerCase();
  return field.fieldKind === "list" ? `repeated ${type}` : type;
}

/** Stands in the form at first: the default of the proto text. */
function initial(field: DescField): string | boolean {
  if (field.fieldKind === "enum") {
    const number = field.getDefaultValue() ?? field.enum.values[0]?.number;
    return field.enum.values.find((value) => value.number === number)?.name ?? "";
  }
  if (field.fieldKind !== "scalar") return "";
  const value = field.getDefaultValue();
  if (field.scalar === ScalarType.BOOL) return value === true;
  return value === undefined || value instanceof Uint8Array ? "" : String(value);
}
