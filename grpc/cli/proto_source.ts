/**
 * Descriptors as proto source, as grpcurl describes them: members by number or name, names in full,
 * comments of what is described.
 *
 * @module
 */
import type {
  AnyDesc,
  DescEnum,
  DescEnumValue,
  DescExtension,
  DescField,
  DescFile,
  DescMessage,
  DescMethod,
  DescOneof,
  DescService,
  Message,
  Registry,
} from "@bufbuild/protobuf";
import { ScalarType, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto_ExtensionRange,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  ExtensionRangeOptionsSchema,
  FieldDescriptorProto_Label as Label,
  FieldOptionsSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  ServiceOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import {
  byteLength,
  compareNames,
  type OptionText,
  optionTexts,
  scalarLiteral,
  typesSeenBy,
} from "./option_text.ts";
import { Comments, type Path } from "./comments.ts";
import { quotedString } from "./go_text.ts";

/** Short options that stand on one line, and their bytes. */
const [SHORT_OPTIONS, SHORT_LENGTH] = [3, 50];

/** The greatest number of a field, and of an extension of a message set. */
const [MAX_NUMBER, MAX_SET_NUMBER] = [0x1fff_ffff, 0x7fff_fffe];
const MAX_ENUM_NUMBER = 0x7fff_ffff;
const EDITION_2023 = 1000;

/** The source of a descriptor, without a line's end behind it. */
export function protoSource(desc: Exclude<AnyDesc, DescFile>): string {
  const file = desc.kind === "field" || desc.kind === "oneof" || desc.kind === "rpc" ||
      desc.kind === "enum_value"
    ? desc.parent.file
    : desc.file;
  const writer = new SourceWriter(file);
  const path = pathOf(desc);
  switch (desc.kind) {
    case "message":
      return writer.message(desc, path, "").join("\n");
    case "field":
      return writer.field(desc, path, "").join("\n");
    case "extension":
      return [
        `extend .${desc.extendee.typeName} {`,
        ...writer.field(desc, path, "  "),
        "}",
      ].join("\n");
    case "oneof":
      return writer.oneof(desc, "").join("\n");
    case "enum":
      return writer.enum(desc, path, "").join("\n");
    case "enum_value":
      return writer.enumValue(desc, path, "").join("\n");
    case "service":
      return writer.service(desc, path, "").join("\n");
    case "rpc":
      return writer.method(desc, path, "").join("\n");
  }
}

/** Where a descriptor stands in its file: fields of `FileDescriptorProto` and indexes, in turn. */
function pathOf(desc: Exclude<AnyDesc, DescFile>): Path {
  switch (desc.kind) {
    case "message":
      return desc.parent === undefined
        ? [4, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...pathOf(desc.parent), 3, desc.parent.proto.nestedType.indexOf(desc.proto)];
    case "enum":
      return desc.parent === undefined
        ? [5, desc.file.proto.enumType.indexOf(desc.proto)]
        : [...pathOf(desc.parent), 4, desc.parent.proto.enumType.indexOf(desc.proto)];
    case "extension":
      return desc.parent === undefined
        ? [7, desc.file.proto.extension.indexOf(desc.proto)]
        : [...pathOf(desc.parent), 6, desc.parent.proto.extension.indexOf(desc.proto)];
    case "service":
      return [6, desc.file.proto.service.indexOf(desc.proto)];
    case "field":
      return [...pathOf(desc.parent), 2, desc.parent.proto.field.indexOf(desc.proto)];
    case "oneof":
      return [...pathOf(desc.parent), 8, desc.parent.proto.oneofDecl.indexOf(desc.proto)];
    case "enum_value":
      return [...pathOf(desc.parent), 2, desc.parent.proto.value.indexOf(desc.proto)];
    case "rpc":
      return [...pathOf(desc.parent), 2, desc.parent.proto.method.indexOf(desc.proto)];
  }
}

type Lines = readonly string[];

class SourceWriter {
  readonly #file: DescFile;
  readonly #registry: Registry;
  readonly #comments: Comments;

  constructor(file: DescFile) {
    this.#file = file;
    this.#registry = typesSeenBy(file);
    this.#comments = new Comments(file.proto.sourceCodeInfo);
  }

  message(desc: DescMessage, path: Path, indent: string): Lines {
    return [
      ...this.#comments.above(path, indent),
      `${indent}message ${desc.name} {`,
      ...this.#body(desc, path, `${indent}  `),
      `${indent}}`,
    ];
  }

  #body(desc: DescMessage, path: Path, indent: string): Lines {
    const { proto } = desc;
    const most = proto.options?.messageSetWireFormat === true ? MAX_SET_NUMBER : MAX_NUMBER;
    const lines = [...this.#longOptions(MessageOptionsSchema, proto.options, indent)];
    const groups = new Set<DescMessage>();
    const written = new Set<DescOneof>();
    for (const field of byNumber(desc.fields)) {
      if (isGroup(field)) groups.add(field.message!);
      // Those that are `optional` have a oneof of their own, which protobuf-es does not show.
      if (field.oneof === undefined) {
        lines.push(...this.field(field, pathOf(field), indent));
      } else if (!written.has(field.oneof)) {
        written.add(field.oneof);
        lines.push(...this.oneof(field.oneof, indent));
      }
    }
    for (const extension of desc.nestedExtensions) {
      if (isGroup(extension)) groups.add(extension.message!);
    }
    for (const nested of byName(desc.nestedMessages)) {
      if (groups.has(nested)) continue;
      lines.push(...this.message(nested, pathOf(nested), indent));
    }
    for (const nested of byName(desc.nestedEnums)) {
      lines.push(...this.enum(nested, pathOf(nested), indent));
    }
    lines.push(...this.#extensionRanges(proto.extensionRange, most, indent));
    lines.push(...this.#extensions(desc.nestedExtensions, [...path, 6], indent));
    const ranges = proto.reservedRange.map(({ start, end }) => ({ start, last: end - 1 }));
    lines.push(...this.#reserved(ranges, proto.reservedName, most, indent));
    return lines;
  }

  field(desc: DescField | DescExtension, path: Path, indent: string): Lines {
    const { proto } = desc;
    const group = isGroup(desc);
    const type = group ? `group ${desc.message!.name}` : `${typeText(desc)} ${desc.name}`;
    const head = `${indent}${this.#label(desc)}${type} = ${desc.number}`;
    const options: OptionText[] = [
      ...optionTexts(FieldOptionsSchema, proto.options, this.#registry),
    ];
    const initial = defaultText(desc);
    if (initial !== null) options.push({ name: "default", value: () => initial });
    if (proto.jsonName !== "" && proto.jsonName !== jsonNameOf(desc.name)) {
      options.push({ name: "json_name", value: () => quotedString(proto.jsonName) });
    }
    const short = shortOptions(options, indent);
    if (!group) return [...this.#comments.above(path, indent), `${head}${short};`];
    const { message } = desc;
    return [
      // The message of a group has its comments.
      ...this.#comments.above(pathOf(message!), indent),
      `${head}${short} {`,
      ...this.#body(message!, pathOf(message!), `${indent}  `),
      `${indent}}`,
    ];
  }

  #label({ proto, fieldKind, ...desc }: DescField | DescExtension): string {
    const inOneof = Object.hasOwn(proto, "oneofIndex");
    const { syntax } = this.#file.proto;
    const isProto2 = syntax === "" || syntax === "proto2";
    if (proto.proto3Optional) return "optional ";
    if (fieldKind === "map" || desc.kind === "field" && inOneof) return "";
    if (proto.label === Label.REPEATED) return "repeated ";
    if (proto.label === Label.REQUIRED) return "required ";
    return isProto2 ? "optional " : "";
  }

  oneof(desc: DescOneof, indent: string): Lines {
    const inner = `${indent}  `;
    return [
      ...this.#comments.above(pathOf(desc), indent),
      `${indent}oneof ${desc.name} {`,
      ...this.#longOptions(OneofOptionsSchema, desc.proto.options, inner),
      ...byNumber(desc.fields).flatMap((field) => this.field(field, pathOf(field), inner)),
      `${indent}}`,
    ];
  }

  #extensions(extensions: readonly DescExtension[], path: Path, indent: string): Lines {
    const sorted = [...extensions].sort((a, b) =>
      a.extendee.typeName < b.extendee.typeName
        ? -1
        : a.extendee.typeName > b.extendee.typeName
        ? 1
        : a.number - b.number
    );
    const groups = Map.groupBy(sorted, (extension) => {
      const block = this.#comments.blockOf(path, pathOf(extension));
      return `${extension.extendee.typeName} ${block}`;
    });
    return [...groups].flatMap(([key, group]) => [
      ...this.#comments.ofBlock(path, Number(key.split(" ")[1]), indent),
      `${indent}extend .${group[0]!.extendee.typeName} {`,
      ...group.flatMap((one) => this.field(one, pathOf(one), `${indent}  `)),
      `${indent}}`,
    ]);
  }

  #extensionRanges(
    ranges: readonly DescriptorProto_ExtensionRange[],
    most: number,
    indent: string,
  ): Lines {
    const sorted = [...ranges].sort((a, b) => a.start - b.start);
    const bytes = ({ options }: DescriptorProto_ExtensionRange): string =>
      options === undefined ? "" : toBinary(ExtensionRangeOptionsSchema, options).toHex();
    const lines: string[] = [];
    for (let at = 0; at < sorted.length;) {
      // Ranges with the same options stand together.
      let end = at + 1;
      while (end < sorted.length && bytes(sorted[end]!) === bytes(sorted[at]!)) end++;
      const texts = sorted.slice(at, end)
        .map(({ start, end }) => rangeText(start, end - 1, most));
      const options = optionTexts(
        ExtensionRangeOptionsSchema,
        sorted[at]!.options,
        this.#registry,
      );
      lines.push(`${indent}extensions ${texts.join(", ")}${shortOptions(options, indent)};`);
      at = end;
    }
    return lines;
  }

  #reserved(
    ranges: readonly { readonly start: number; readonly last: number }[],
    names: readonly string[],
    most: number,
    indent: string,
  ): Lines {
    const lines: string[] = [];
    if (ranges.length > 0) {
      const texts = [...ranges].sort((a, b) => a.start - b.start)
        .map(({ start, last }) => rangeText(start, last, most));
      lines.push(`${indent}reserved ${texts.join(", ")};`);
    }
    if (names.length > 0) {
      const isQuoted = this.#file.proto.edition < EDITION_2023;
      const texts = [...names].sort().map((name) => isQuoted ? quotedString(name) : name);
      lines.push(`${indent}reserved ${texts.join(", ")};`);
    }
    return lines;
  }

  enum(desc: DescEnum, path: Path, indent: string): Lines {
    const inner = `${indent}  `;
    const { proto } = desc;
    const values = [...desc.values].sort((a, b) =>
      // Open enums begin with 0.
      (desc.open ? Number(b.number === 0) - Number(a.number === 0) : 0) ||
      a.number - b.number || (a.name < b.name ? -1 : 1)
    );
    const ranges = proto.reservedRange.map(({ start, end }) => ({ start, last: end }));
    return [
      ...this.#comments.above(path, indent),
      `${indent}enum ${desc.name} {`,
      ...this.#longOptions(EnumOptionsSchema, proto.options, inner),
      ...values.flatMap((value) => this.enumValue(value, pathOf(value), inner)),
      ...this.#reserved(ranges, proto.reservedName, MAX_ENUM_NUMBER, inner),
      `${indent}}`,
    ];
  }

  enumValue(desc: DescEnumValue, path: Path, indent: string): Lines {
    const options = optionTexts(EnumValueOptionsSchema, desc.proto.options, this.#registry);
    return [
      ...this.#comments.above(path, indent),
      `${indent}${desc.name} = ${desc.number}${shortOptions(options, indent)};`,
    ];
  }

  service(desc: DescService, path: Path, indent: string): Lines {
    const inner = `${indent}  `;
    return [
      ...this.#comments.above(path, indent),
      `${indent}service ${desc.name} {`,
      ...this.#longOptions(ServiceOptionsSchema, desc.proto.options, inner),
      ...byName(desc.methods).flatMap((method) => this.method(method, pathOf(method), inner)),
      `${indent}}`,
    ];
  }

  method(desc: DescMethod, path: Path, indent: string): Lines {
    const { clientStreaming, serverStreaming, options } = desc.proto;
    const typeOf = (isStream: boolean, { typeName }: DescMessage): string =>
      `${isStream ? "stream " : ""}.${typeName}`;
    const head = `${indent}rpc ${desc.name} ( ${typeOf(clientStreaming, desc.input)} ) returns ( ${
      typeOf(serverStreaming, desc.output)
    } )`;
    const long = this.#longOptions(MethodOptionsSchema, options, `${indent}  `);
    return [
      ...this.#comments.above(path, indent),
      ...(long.length === 0 ? [`${head};`] : [`${head} {`, ...long, `${indent}}`]),
    ];
  }

  #longOptions(desc: DescMessage, options: Message | undefined, indent: string): Lines {
    return optionTexts(desc, options, this.#registry)
      .map(({ name, value }) => `${indent}option ${name} = ${value(indent)};`);
  }
}

/** Options in brackets: on one line, or on a line each if they are many or long. */
function shortOptions(options: readonly OptionText[], indent: string): string {
  if (options.length === 0) return "";
  const sorted = [...options].sort((a, b) => compareNames(a.name, b.name));
  const line = sorted.map(({ name, value }) => `${name} = ${value(null)}`).join(", ");
  if (sorted.length <= SHORT_OPTIONS && byteLength(line) <= SHORT_LENGTH) return ` [${line}]`;
  const inner = `${indent}  `;
  const lines = sorted.map(({ name, value }) => `${inner}${name} = ${value(inner)}`);
  return ` [\n${lines.join(",\n")}\n${indent}]`;
}

function rangeText(start: number, last: number, most: number): string {
  if (start === last) return String(start);
  return `${start} to ${last === most ? "max" : last}`;
}

function isGroup({ proto }: DescField | DescExtension): boolean {
  return proto.type === 10;
}

function typeText(field: DescField | DescExtension): string {
  if (field.fieldKind === "map") {
    const value = field.mapKind === "scalar"
      ? scalarName(field.scalar)
      : `.${(field.message ?? field.enum).typeName}`;
    return `map<${scalarName(field.mapKey)}, ${value}>`;
  }
  const type = field.message ?? field.enum;
  return type === undefined ? scalarName(field.scalar!) : `.${type.typeName}`;
}

function scalarName(scalar: ScalarType): string {
  return ScalarType[scalar].toLowerCase();
}

function defaultText(field: DescField | DescExtension): string | null {
  if (!Object.hasOwn(field.proto, "defaultValue")) return null;
  if (field.fieldKind !== "scalar" && field.fieldKind !== "enum") return null;
  const value = field.getDefaultValue();
  if (value === undefined) return null;
  return field.enum === undefined
    ? scalarLiteral(field.scalar, value)
    : field.enum.value[value as number]?.name ?? null;
}

/** The JSON name that a field has unless it says another. */
function jsonNameOf(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}

function byNumber<T extends { readonly number: number }>(fields: readonly T[]): readonly T[] {
  return [...fields].sort((a, b) => a.number - b.number);
}

function byName<T extends { readonly name: string }>(descs: readonly T[]): readonly T[] {
  return [...descs].sort((a, b) => a.name < b.name ? -1 : 1);
}
