/**
 * Options of descriptors as proto source has them.
 *
 * @module
 */
import {
  createRegistry,
  type DescExtension,
  type DescField,
  type DescFile,
  type DescMessage,
  fromBinary,
  getExtension,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Any } from "@bufbuild/protobuf/wkt";
import { fixed, quotedBytes, quotedString } from "./go_text.ts";
import { extensionsOf } from "./message_json.ts";

/** Characters up to which a message or a list stands on one line. */
const LINE_LENGTH = 50;
/** Messages in messages. */
const MAX_DEPTH = 100;

/** One option; `null` as its indent writes it on one line. */
export interface OptionText {
  readonly name: string;
  readonly value: (indent: string | null) => string;
}

/** Types that a file sees: its own, those of its imports, and what these import publicly. */
export function typesSeenBy(file: DescFile): Registry {
  const seen = new Set([file, ...file.dependencies]);
  for (const one of seen) {
    if (one === file) continue;
    for (const index of one.proto.publicDependency) {
      const open = one.dependencies[index];
      if (open !== undefined) seen.add(open);
    }
  }
  return createRegistry(...seen);
}

/** The options that are set: the language's first, then custom ones, each by name. */
export function optionTexts(
  desc: DescMessage,
  options: Message | undefined,
  registry: Registry,
): readonly OptionText[] {
  if (options === undefined) return [];
  const message = reflect(desc, options);
  const fields: { name: string; field: DescField | DescExtension; value: unknown }[] = [];
  for (const field of message.fields) {
    if (message.isSet(field)) fields.push({ name: field.name, field, value: message.get(field) });
  }
  for (const field of extensionsOf(message, registry)) {
    fields.push({ name: `(.${field.typeName})`, field, value: getExtension(options, field) });
  }
  return fields.sort((a, b) => compareNames(a.name, b.name))
    .flatMap(({ name, field, value }) =>
      valuesOf(field, value, registry).map((value) => ({ name, value }))
    );
}

/** The language's names come before those in parentheses. */
export function compareNames(a: string, b: string): number {
  const [custom, other] = [a.startsWith("("), b.startsWith("(")];
  if (custom !== other) return custom ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Each value of an option; one for each entry of a list or a map. */
function valuesOf(
  field: DescField | DescExtension,
  value: unknown,
  registry: Registry,
): readonly OptionText["value"][] {
  const literal = new Literals(registry);
  const single = (one: unknown): OptionText["value"] => (indent) =>
    literal.value(field, one, indent, 1);
  if (field.fieldKind === "map") {
    return entriesOf(value).map((entry) => (indent) => literal.entry(field, entry, indent, 1));
  }
  const values = field.fieldKind === "list" ? [...value as Iterable<unknown>] : [value];
  // A number that is none of the enum's cannot be written.
  return values.filter((one) => field.enum === undefined || field.enum.value[one as number])
    .map(single);
}

type Entry = readonly [key: string | number | bigint | boolean, value: unknown];

function entriesOf(value: unknown): readonly Entry[] {
  return [...value as Iterable<Entry>].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
}

/** A scalar as proto source has it. */
export function scalarLiteral(scalar: ScalarType, value: unknown): string {
  switch (scalar) {
    case ScalarType.STRING:
      return quotedString(value as string);
    case ScalarType.BYTES:
      return quotedBytes(value as Uint8Array);
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return fixed(value as number);
    default:
      return String(value);
  }
}

class Literals {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  value(
    field: DescField | DescExtension,
    value: unknown,
    indent: string | null,
    depth: number,
  ): string {
    if (field.enum !== undefined) return field.enum.value[value as number]?.name ?? String(value);
    if (field.message === undefined) return scalarLiteral(field.scalar!, value);
    const message = isReflectMessage(value) ? value : reflect(field.message, value as Message);
    return this.#message(message, indent, depth);
  }

  entry(
    field: DescField & { fieldKind: "map" },
    [key, value]: Entry,
    indent: string | null,
    depth: number,
  ): string {
    const keyText = typeof key === "string" ? quotedString(key) : String(key);
    const parts = (inner: string | null): readonly string[] => [
      `key: ${keyText}`,
      `value: ${this.value(field, value, inner, depth + 1)}`,
    ];
    return fitted("{", "}", parts, indent, isSmallMessage);
  }

  #message(message: ReflectMessage, indent: string | null, depth: number): string {
    if (depth > MAX_DEPTH) return "{ }";
    const any = this.#any(message, depth);
    if (any !== null) {
      const parts = (inner: string | null) => [any(inner)];
      return fitted("{", "}", parts, indent, isSmallMessage);
    }
    const fields: { field: DescField | DescExtension; value: unknown }[] = message.fields
      .filter((field) => message.isSet(field))
      .map((field) => ({ field, value: message.get(field) }));
    for (const field of extensionsOf(message, this.#registry)) {
      fields.push({ field, value: getExtension(message.message, field) });
    }
    fields.sort((a, b) => a.field.number - b.field.number);
    const parts = (inner: string | null) =>
      fields.map(({ field, value }) => {
        const name = field.kind === "extension" ? `[.${field.typeName}]` : field.name;
        return `${name}: ${this.#field(field, value, inner, depth)}`;
      });
    return fitted("{", "}", parts, indent, isSmallMessage);
  }

  #field(
    field: DescField | DescExtension,
    value: unknown,
    indent: string | null,
    depth: number,
  ): string {
    if (field.fieldKind === "map") {
      const parts = (inner: string | null) =>
        entriesOf(value).map((entry) => this.entry(field, entry, inner, depth + 1));
      return fitted("[", "]", parts, indent, () => false);
    }
    if (field.fieldKind === "list") {
      const parts = (inner: string | null) =>
        [...value as Iterable<unknown>].map((one) => this.value(field, one, inner, depth + 1));
      return fitted("[", "]", parts, indent, isSmallMessage);
    }
    return this.value(field, value, indent, depth + 1);
  }

  /** An `Any` whose type is known is written with that type's fields. */
  #any(
    { desc, message }: ReflectMessage,
    depth: number,
  ): ((indent: string | null) => string) | null {
    if (desc.typeName !== "google.protobuf.Any") return null;
    const { typeUrl, value } = message as Any;
    const type = this.#registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
    if (type === undefined) return null;
    try {
      const inner = reflect(type, fromBinary(type, value));
      return (indent) => `[${typeUrl}]: ${this.#message(inner, indent, depth + 1)}`;
    } catch {
      return null;
    }
  }
}

/** Whether a message or list on one line has nothing that lines would show better. */
function isSmallMessage(line: string): boolean {
  return line.split(",").length <= 2 && line.split("{").length === 2;
}

/** Parts on one line if they are small or fit there, and on a line each if not. */
function fitted(
  open: string,
  close: string,
  parts: (indent: string | null) => readonly string[],
  indent: string | null,
  isSmall: (line: string) => boolean,
): string {
  const line = `${[open, parts(null).join(", ")].filter((part) => part !== "").join(" ")} ${close}`;
  if (indent === null || isSmall(line) || byteLength(line) <= LINE_LENGTH) return line;
  const inner = `${indent}  `;
  return `${open}\n${parts(inner).map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

/** Bytes of UTF-8: lines are as long as Go counts them. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
