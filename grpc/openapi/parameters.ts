/**
 * Parameters of requests: the variables of their paths, and the fields that stand in their queries.
 *
 * @module
 */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Binding } from "../transcoding/binding.ts";
import { isTextMessage } from "../transcoding/text_value.ts";
import { behaviorOf } from "./behavior.ts";
import { described, type Json, scalarSchema, type Schemas } from "./schema.ts";

/** Parameters of one query that a document tells of. */
const MAX_PARAMETERS = 500;

/** A path as documents have it. */
interface DocumentPath {
  /** `/v1/shelves/{shelf}` */
  readonly path: string;
  readonly parameters: readonly Json[];
}

/**
 * The path of a binding. A variable of several segments becomes those segments, as parameters of
 * documents hold no slashes: `{name=shelves/*}` is `shelves/{shelf}`.
 */
export function pathOf({ template, variables }: Binding, schemas: Schemas): DocumentPath {
  const parameters: Json[] = [];
  const names = new Set<string>();
  const add = (wanted: string, schema: Json, description: string | undefined): string => {
    let name = wanted;
    for (let i = 2; names.has(name); i++) name = `${wanted}${i}`;
    names.add(name);
    parameters.push({
      name,
      in: "path",
      required: true,
      ...(description === undefined ? {} : { description }),
      schema,
    });
    return `{${name}}`;
  };
  let last = "";
  const parts = template.segments.map((segment, i) => {
    if (segment.kind === "literal") {
      last = segment.text;
      return encoded(segment.text);
    }
    const variable = variables.find(({ start, end }) => start <= i && i < end);
    const nested = variable?.fields.map((field) => schemas.nameOf(field)).join(".");
    // Tools take a dot in a name for more than a name.
    const own = nested?.replaceAll(".", "_");
    const field = variable?.fields.at(-1);
    const description = field && (described(field)["description"] as string | undefined);
    if (segment.kind === "many") {
      const text = "Segments of the path, with their slashes.";
      return add(
        own ?? "rest",
        { type: "string" },
        [description, text].filter(Boolean).join("\n\n"),
      );
    }
    if (variable !== undefined && variable.end - variable.start === 1) {
      return add(own!, nonEmpty(textSchema(field!, schemas)), description);
    }
    const name = last === "" ? own ?? "segment" : singular(last);
    last = "";
    return add(name, nonEmpty({ type: "string" }), nested && `Part of \`${nested}\`.`);
  });
  const verb = template.verb === "" ? "" : `:${encoded(template.verb)}`;
  return { path: `/${parts.join("/")}${verb}`, parameters };
}

function encoded(text: string): string {
  return text.replace(/[^A-Za-z0-9._~!$&'()*+,;=:@%-]/gu, encodeURIComponent);
}

/** `shelves` and `data-stores` as names of one of them. */
function singular(collection: string): string {
  const camel = collection.replace(/[^A-Za-z0-9]+(.)?/g, (_, letter = "") => letter.toUpperCase());
  if (/ies$/.test(camel)) return `${camel.slice(0, -3)}y`;
  if (/lves$/.test(camel)) return `${camel.slice(0, -3)}f`;
  if (/(?:ss|x|ch|sh)es$/.test(camel)) return camel.slice(0, -2);
  return /[^s]s$/.test(camel) ? camel.slice(0, -1) : camel || "segment";
}

function nonEmpty(schema: Json): Json {
  return schema["type"] === "string" && Object.keys(schema).length === 1
    ? { ...schema, minLength: 1 }
    : schema;
}

/** The schema of a value in text. */
function textSchema(field: DescField, schemas: Schemas): Json {
  if (field.fieldKind === "enum") return schemas.enum(field.enum);
  if (field.fieldKind === "scalar") return scalarText(field.scalar);
  const message = field.message!;
  return message.fields.length === 1 && !JSON_TEXT.has(message.typeName) &&
      message.fields[0]!.fieldKind === "scalar"
    ? scalarText(message.fields[0]!.scalar)
    : schemas.message(message);
}

const JSON_TEXT: ReadonlySet<string> = new Set([
  "google.protobuf.Value",
  "google.protobuf.Struct",
  "google.protobuf.ListValue",
]);

function scalarText(type: ScalarType): Json {
  return type === ScalarType.DOUBLE
    ? { type: "number", format: "double" }
    : type === ScalarType.FLOAT
    ? { type: "number", format: "float" }
    : scalarSchema(type);
}

/** Parameters of the query: every field that neither the path nor the body holds. */
export function queryOf({ method, body, variables }: Binding, schemas: Schemas): Json[] {
  if (body.kind === "message") return [];
  const parameters: Json[] = [];
  const waiting: (readonly [message: DescMessage, path: readonly DescField[]])[] = [
    [method.desc.input, []],
  ];
  for (const [message, path] of waiting) {
    for (const field of message.fields) {
      if (parameters.length >= MAX_PARAMETERS) return parameters;
      const whole = [...path, field];
      if (body.kind === "field" && whole[0] === body.field) continue;
      const inPath = variables.some(({ fields }) =>
        fields.length === whole.length && fields.every((one, i) => one === whole[i])
      );
      if (inPath) continue;
      if (field.fieldKind === "message" && !isTextMessage(field.message)) {
        // Parts of an `Any` say nothing by themselves.
        if (field.message.typeName.startsWith("google.protobuf.")) continue;
        // A type within itself would never end.
        const isRecursive = whole.slice(0, -1).some(({ parent }) => parent === field.message) ||
          field.message === message;
        if (!isRecursive) waiting.push([field.message, whole]);
        continue;
      }
      const schema = querySchema(field, schemas);
      if (schema !== null) parameters.push(parameter(whole, schema, schemas));
    }
  }
  return parameters;
}

function parameter(path: readonly DescField[], schema: Json, schemas: Schemas): Json {
  const field = path.at(-1)!;
  const required = path.length === 1 && behaviorOf(field).required;
  return {
    name: path.map((one) => schemas.nameOf(one)).join("."),
    in: "query",
    ...described(field),
    ...(required ? { required } : {}),
    ...(field.fieldKind === "map" ? { style: "deepObject", explode: true } : {}),
    ...(isJsonText(field) ? { content: { "application/json": { schema } } } : { schema }),
  };
}

/** Whether the text of a value is JSON. */
function isJsonText(field: DescField): boolean {
  return field.fieldKind === "message" && JSON_TEXT.has(field.message.typeName);
}

function querySchema(field: DescField, schemas: Schemas): Json | null {
  if (field.fieldKind !== "list" && field.fieldKind !== "map") return textSchema(field, schemas);
  if (field.message !== undefined && !isTextMessage(field.message)) return null;
  const element = field.message !== undefined
    ? schemas.message(field.message)
    : field.enum !== undefined
    ? schemas.enum(field.enum)
    : scalarText(field.scalar!);
  return field.fieldKind === "list"
    ? { type: "array", items: element }
    : { type: "object", additionalProperties: element };
}
