/**
 * JSON Schemas of messages and enums, by the JSON mapping of protobuf.
 * {@link https://protobuf.dev/programming-guides/json/}
 *
 * @module
 */
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  ScalarType,
} from "@bufbuild/protobuf";
import { behaviorOf } from "./behavior.ts";
import { commentOf } from "./comments.ts";

/** A schema, or another object of a document. */
export type Json = { [name: string]: unknown };

/** How JSON is written, and what is refused. */
interface SchemaSettings {
  readonly enumAsInteger: boolean;
  readonly useProtoFieldName: boolean;
  readonly ignoreUnknownFields: boolean;
}

const INT64: Json = { type: "string", format: "int64", pattern: "^-?[0-9]{1,19}$" };
const UINT64: Json = { type: "string", format: "uint64", pattern: "^[0-9]{1,20}$" };
const INT32: Json = {
  type: "integer",
  format: "int32",
  minimum: -2147483648,
  maximum: 2147483647,
};
const UINT32: Json = { type: "integer", format: "uint32", minimum: 0, maximum: 4294967295 };

function numberOf(format: string): Json {
  return {
    anyOf: [
      { type: "number", format },
      { type: "string", enum: ["NaN", "Infinity", "-Infinity"] },
    ],
  };
}

const SCALARS: Readonly<Record<ScalarType, Json>> = {
  [ScalarType.DOUBLE]: numberOf("double"),
  [ScalarType.FLOAT]: numberOf("float"),
  [ScalarType.INT64]: INT64,
  [ScalarType.UINT64]: UINT64,
  [ScalarType.INT32]: INT32,
  [ScalarType.FIXED64]: UINT64,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BYTES]: { type: "string", format: "byte", contentEncoding: "base64" },
  [ScalarType.UINT32]: UINT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.SFIXED64]: INT64,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SINT64]: INT64,
};

/** The schema of a scalar. */
export function scalarSchema(type: ScalarType): Json {
  return { ...SCALARS[type] };
}

const ANY: Json = {
  type: "object",
  description: "A message of any type; {} if it is empty.",
  properties: { "@type": { type: "string", description: "URL of the message's type." } },
  additionalProperties: true,
};

/** Schemas of types that JSON has forms of its own for. */
const WELL_KNOWN: Readonly<Record<string, Json>> = {
  Any: ANY,
  Timestamp: { type: "string", format: "date-time" },
  // JSON Schema's format of that name is ISO 8601's.
  Duration: { type: "string", pattern: "^-?[0-9]{1,12}(\\.[0-9]{1,9})?s$" },
  FieldMask: { type: "string", format: "field-mask" },
  Struct: { type: "object", additionalProperties: true },
  Value: {},
  ListValue: { type: "array", items: {} },
  DoubleValue: SCALARS[ScalarType.DOUBLE],
  FloatValue: SCALARS[ScalarType.FLOAT],
  Int64Value: INT64,
  UInt64Value: UINT64,
  Int32Value: INT32,
  UInt32Value: UINT32,
  BoolValue: SCALARS[ScalarType.BOOL],
  StringValue: SCALARS[ScalarType.STRING],
  BytesValue: SCALARS[ScalarType.BYTES],
};

const GOOGLE = "google.protobuf.";

/** Name of the schema of errors. */
const STATUS = "google.rpc.Status";

const STATUS_SCHEMA: Json = {
  type: "object",
  description: "An error.",
  properties: {
    code: { ...INT32, description: "A value of google.rpc.Code." },
    message: { type: "string" },
    details: { type: "array", items: ANY },
  },
};

/** Schemas by the full names of their types, made as they are referred to. */
export class Schemas {
  readonly settings: SchemaSettings;
  readonly #made = new Map<string, Json>();

  constructor(settings: SchemaSettings) {
    this.settings = settings;
  }

  /** All that were referred to, by name. */
  all(): Json {
    return Object.fromEntries([...this.#made].sort(([a], [b]) => a < b ? -1 : 1));
  }

  /** The name of a field in JSON. */
  nameOf(field: DescField): string {
    return this.settings.useProtoFieldName ? field.name : field.jsonName;
  }

  /** The schema of errors. */
  status(): Json {
    if (!this.#made.has(STATUS)) this.#made.set(STATUS, STATUS_SCHEMA);
    return refTo(STATUS);
  }

  /** The schema of a message: a reference, or that of a well-known type. */
  message(desc: DescMessage): Json {
    const { typeName } = desc;
    const known = typeName.startsWith(GOOGLE)
      ? WELL_KNOWN[typeName.slice(GOOGLE.length)]
      : undefined;
    if (known !== undefined) return { ...known };
    if (typeName === STATUS) return this.status();
    if (!this.#made.has(typeName)) {
      // Set before its fields are looked at, which may be of this type.
      this.#made.set(typeName, {});
      this.#made.set(typeName, this.object(desc));
    }
    return refTo(typeName);
  }

  /** The schema of a message's object, without some of its fields. */
  object(desc: DescMessage, without: ReadonlySet<DescField> = new Set()): Json {
    const fields = desc.fields.filter((field) => !without.has(field));
    const required = fields.filter((field) => behaviorOf(field).required)
      .map((field) => this.nameOf(field));
    const oneofs = desc.oneofs
      .map((oneof) => this.#oneof(oneof, without))
      .filter((schema) => schema !== null);
    return {
      type: "object",
      ...described(desc),
      properties: Object.fromEntries(
        fields.map((field) => [this.nameOf(field), this.property(field)]),
      ),
      ...(required.length > 0 ? { required } : {}),
      ...(oneofs.length > 0 ? { allOf: oneofs } : {}),
      ...(this.settings.ignoreUnknownFields ? {} : { additionalProperties: false }),
    };
  }

  /** One of the fields at most: each alone, or none. */
  #oneof({ fields }: DescOneof, without: ReadonlySet<DescField>): Json | null {
    const each = fields.filter((field) => !without.has(field))
      .map((field) => ({ required: [this.nameOf(field)] }));
    return each.length < 2 ? null : { oneOf: [...each, { not: { anyOf: each } }] };
  }

  /** The schema of a field, with what is said of it. */
  property(field: DescField): Json {
    const { readOnly, writeOnly } = behaviorOf(field);
    return {
      ...this.field(field),
      ...described(field),
      ...(readOnly ? { readOnly } : {}),
      ...(writeOnly ? { writeOnly } : {}),
    };
  }

  /** The schema of a field's value. */
  field(field: DescField): Json {
    switch (field.fieldKind) {
      case "scalar":
        return scalarSchema(field.scalar);
      case "enum":
        return this.enum(field.enum);
      case "message":
        return this.message(field.message);
      case "list":
        return { type: "array", items: this.#element(field) };
      case "map":
        return { type: "object", additionalProperties: this.#element(field) };
    }
  }

  #element(field: DescField & { fieldKind: "list" | "map" }): Json {
    if (field.message !== undefined) return this.message(field.message);
    if (field.enum !== undefined) return this.enum(field.enum);
    return scalarSchema(field.scalar!);
  }

  /** The schema of an enum. */
  enum(desc: DescEnum): Json {
    const { typeName } = desc;
    if (typeName === `${GOOGLE}NullValue`) return { type: "null" };
    if (!this.#made.has(typeName)) {
      const values = desc.values.map((value) => {
        const comment = commentOf(value);
        return comment === "" ? "" : `- ${value.name}: ${comment.replaceAll("\n", " ")}`;
      }).filter(Boolean).join("\n");
      const { description, ...rest } = described(desc);
      const text = [description, values].filter(Boolean).join("\n\n");
      this.#made.set(typeName, {
        ...(this.settings.enumAsInteger
          ? { type: "integer", enum: [...new Set(desc.values.map(({ number }) => number))] }
          : { type: "string", enum: desc.values.map(({ name }) => name) }),
        ...(text === "" ? {} : { description: text }),
        ...rest,
      });
    }
    return refTo(typeName);
  }
}

function refTo(typeName: string): Json {
  return { $ref: `#/components/schemas/${typeName}` };
}

/** Comment and deprecation of a declaration. */
export function described(desc: DescMessage | DescEnum | DescField): Json {
  const description = commentOf(desc);
  return {
    ...(description === "" ? {} : { description }),
    ...(desc.deprecated ? { deprecated: true } : {}),
  };
}
