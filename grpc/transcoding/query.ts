/**
 * Queries as fields of a request: `a.b=1&list=x&list=y&map[key]=z`.
 *
 * @module
 */
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { closestName } from "../../http/engine.ts";
import type { Binding } from "./binding.ts";
import { parseBoundedJson } from "./json.ts";
import type { TranscodingSettings } from "./options.ts";
import { badRequest } from "./refusal.ts";
import { type FieldValue, isTextMessage, readText, type TextType } from "./text_value.ts";

/** Characters of a name or a value that an error shows. */
const MAX_SHOWN = 60;
/** Messages within messages that a name may lead through. */
const MAX_PATH = 32;

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}

/** Where a parameter leads. */
interface Target {
  /** Messages on the way, from the request downwards. */
  readonly path: readonly DescField[];
  readonly field: DescField;
  /** Key of an entry, if it is a map. */
  readonly key: string | undefined;
}

/** Sets fields of a request by its query. Throws INVALID_ARGUMENT. */
export function readQuery(
  request: Message,
  binding: Binding,
  target: string,
  settings: TranscodingSettings,
): void {
  const start = target.indexOf("?") + 1;
  if (start === 0 || start === target.length) return;
  const { input } = binding.method.desc;
  const seen = new Set<string>();
  let count = 0;
  for (const [name, value] of parameters(target, start)) {
    if (++count > settings.maxQueryParameters) {
      throw badRequest(
        `the query must have <= ${settings.maxQueryParameters} parameters (maxQueryParameters)`,
      );
    }
    const found = targetOf(input, name);
    if (typeof found === "string") {
      if (settings.ignoreUnknownFields) continue;
      throw badRequest(`${shown(name)} is no parameter of the query: ${found}`);
    }
    const elsewhere = boundElsewhere(binding, found);
    if (elsewhere !== null) {
      if (settings.ignoreUnknownFields) continue;
      throw badRequest(`${shown(name)} is no parameter of the query: ${elsewhere}`);
    }
    setParameter(reflect(input, request), found, name, value, seen, settings.maxDepth);
  }
}

/** Parameters as forms have them (application/x-www-form-urlencoded), in their order. */
function* parameters(target: string, start: number): Generator<[name: string, value: string]> {
  for (let at = start; at < target.length;) {
    let end = target.indexOf("&", at);
    if (end < 0) end = target.length;
    if (end > at) {
      const pair = target.slice(at, end);
      const equals = pair.indexOf("=");
      yield equals < 0
        ? [decode(pair), ""]
        : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    }
    at = end + 1;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw badRequest(`the query must be percent-encoded UTF-8: current value is ${shown(text)}`);
  }
}

/** The field a parameter names, or why it names none. */
function targetOf(input: DescMessage, name: string): Target | string {
  const map = /^([^[\]]*)\[(.*)\]$/s.exec(name);
  const names = (map?.[1] ?? name).split(".", MAX_PATH + 1);
  if (names.length > MAX_PATH) return `it must lead through <= ${MAX_PATH} messages`;
  const path: DescField[] = [];
  let message = input;
  for (const [i, part] of names.entries()) {
    const field = message.fields.find((one) => one.name === part) ??
      message.fields.find((one) => one.jsonName === part);
    if (field === undefined) {
      const near = closestName(part, message.fields.map((one) => one.jsonName));
      return `${message.typeName} has no field ${shown(part)}${
        near === null ? "" : `, did you mean "${near}"?`
      }`;
    }
    if (i === names.length - 1) return leaf(path, field, map?.[2]);
    if (field.fieldKind !== "message" || isTextMessage(field.message)) {
      return `"${field.jsonName}" is no message`;
    }
    path.push(field);
    message = field.message;
  }
  return "it is empty";
}

function leaf(
  path: readonly DescField[],
  field: DescField,
  key: string | undefined,
): Target | string {
  if (key !== undefined && field.fieldKind !== "map") return `"${field.jsonName}" is no map`;
  if (field.fieldKind === "map" && key === undefined) {
    return `"${field.jsonName}" is a map: its entries are ${field.jsonName}[key]`;
  }
  const type = typeOf(field);
  if (type === null || "message" in type && !isTextMessage(type.message)) {
    return `"${field.jsonName}" is a message: its fields have parameters of their own, unless it is repeated`;
  }
  return { path, field, key };
}

/** The type of a field's values. */
function typeOf(field: DescField): TextType | null {
  switch (field.fieldKind) {
    case "scalar":
      return { scalar: field.scalar };
    case "enum":
      return { enum: field.enum };
    case "message":
      return { message: field.message };
    case "list":
      return field.listKind === "scalar"
        ? { scalar: field.scalar }
        : field.listKind === "enum"
        ? { enum: field.enum }
        : { message: field.message };
    case "map":
      return field.mapKind === "scalar"
        ? { scalar: field.scalar }
        : field.mapKind === "enum"
        ? { enum: field.enum }
        : { message: field.message };
  }
}

/** Why the field is not the query's to set, or null. */
function boundElsewhere({ body, variables }: Binding, { path, field }: Target): string | null {
  if (body.kind === "message") return "all fields come in the body";
  const whole = [...path, field];
  if (body.kind === "field" && whole[0] === body.field) return "the body holds it";
  const inPath = variables.some(({ fields }) =>
    fields.length <= whole.length
      ? fields.every((one, i) => one === whole[i])
      : whole.every((one, i) => one === fields[i])
  );
  return inPath ? "the path holds it" : null;
}

function setParameter(
  request: ReflectMessage,
  { path, field, key }: Target,
  name: string,
  text: string,
  seen: Set<string>,
  maxDepth: number,
): void {
  const id = [...path, field].map((one) => one.number).join(".");
  const message = descend(request, path);
  const type = typeOf(field)!;
  const value = held(type, valueOf(type, text, `the query's parameter ${shown(name)}`, maxDepth));
  if (field.fieldKind === "list") {
    message.get(field).add(value);
  } else if (field.fieldKind === "map") {
    const mapKey = valueOf({ scalar: field.mapKey }, key!, `the key of ${shown(name)}`, maxDepth);
    const map = message.get(field);
    if (map.has(mapKey as string)) throw twice(name);
    map.set(mapKey as string, value);
  } else {
    if (seen.has(id)) throw twice(name);
    seen.add(id);
    const other = field.oneof && message.oneofCase(field.oneof);
    if (other !== undefined && other !== field) {
      throw badRequest(
        `the query must set one of ${field.oneof!.fields.map((one) => one.jsonName).join(", ")}`,
      );
    }
    message.set(field, value);
  }
}

/** A value as fields hold it in reflection, where messages are wrapped. */
function held(type: TextType, value: FieldValue): unknown {
  return "message" in type ? reflect(type.message, value as Message) : value;
}

function twice(name: string): Error {
  return badRequest(`the query must have ${shown(name)} once`);
}

/** The message at the end of a path, made on the way where there is none. */
function descend(message: ReflectMessage, path: readonly DescField[]): ReflectMessage {
  let at = message;
  for (const field of path) {
    if (field.fieldKind !== "message") throw new Error(`${field} is no message`);
    const inner: ReflectMessage = at.get(field);
    if (!at.isSet(field)) at.set(field, inner);
    at = inner;
  }
  return at;
}

/** Reads a value. Throws INVALID_ARGUMENT that names `what`. */
function valueOf(type: TextType, text: string, what: string, maxDepth: number): FieldValue {
  try {
    return readText(type, text, (json) => parseBoundedJson(json, maxDepth));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw badRequest(`${what} must be ${error.message}: current value is ${shown(text)}`);
  }
}

/** Sets the field at the end of a path that a rule's template names. */
export function setPath(
  request: ReflectMessage,
  fields: readonly DescField[],
  text: string,
  maxDepth: number,
): void {
  const field = fields.at(-1)!;
  const what = fields.map((one) => one.name).join(".");
  const type = typeOf(field)!;
  const value = held(type, valueOf(type, text, `"${what}" in the path`, maxDepth));
  descend(request, fields.slice(0, -1)).set(field, value);
}
