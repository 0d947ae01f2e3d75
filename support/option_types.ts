/**
 * The part of descriptor.proto that options are read by, as data, and the module that carries it: the
 * compiler need not parse the whole text to read one option.
 *
 * @module
 */
import { Compiler } from "../protoc/compile/compiler.ts";
import type {
  EnumNode,
  FieldNode,
  FileNode,
  MessageNode,
  OptionMessage,
  OptionScalar,
  OptionsNode,
} from "../protoc/syntax/ast.ts";
import { jsonName } from "../protoc/syntax/naming.ts";
import { DESCRIPTOR_PROTO } from "../protoc/well_known/files.ts";
import type {
  EnumData,
  FieldData,
  MessageData,
  OptionData,
  OptionsData,
} from "../protoc/well_known/option_data.ts";

/** Where the data is kept. */
export const MODULE: URL = new URL("../protoc/well_known/option_types.ts", import.meta.url);

/** `descriptor.proto`, compiled. */
export function compiledDescriptor(): FileNode {
  const compiler = new Compiler();
  compiler.run([{ name: DESCRIPTOR_PROTO, text: undefined }], () => undefined);
  return compiler.get(DESCRIPTOR_PROTO)!.file;
}

/** Top-level messages and enums that options messages lead to, these among them. */
export function reachedByOptions(file: FileNode): ReadonlySet<MessageNode | EnumNode> {
  const reached = new Set<MessageNode | EnumNode>(
    file.messages.filter(({ name }) => name.endsWith("Options")),
  );
  const add = (message: MessageNode): void => {
    for (const field of message.fields) {
      let type: MessageNode | EnumNode | undefined = field.message ?? field.enum;
      while (type?.parent) type = type.parent;
      if (type) reached.add(type);
    }
    message.messages.forEach(add);
  };
  for (const type of reached) if (type.kind === "message") add(type);
  return reached;
}

function messageData(node: MessageNode): MessageData {
  refuse(node.name, node.oneofs, node.extensions, node.visibility);
  return {
    name: node.name,
    options: optionsData(node.options),
    fields: some(node.fields.map(fieldData)),
    messages: some(node.messages.map(messageData)),
    enums: some(node.enums.map(enumData)),
    extensionRanges: some(
      node.extensionRanges.map(({ start, end, options }) =>
        options ? [start, end, optionsData(options)!] as const : [start, end] as const
      ),
    ),
    reservedRanges: some(node.reservedRanges.map(({ start, end }) => [start, end] as const)),
    reservedNames: some(node.reservedNames),
  } as MessageData;
}

function fieldData(node: FieldNode): FieldData {
  refuse(node.name, node.jsonName !== jsonName(node.name), node.proto3Optional);
  const data = [
    node.name,
    node.number,
    node.label,
    node.type,
    (node.message ?? node.enum)?.fullName ?? null,
    node.defaultValue as string ?? null,
    optionsData(node.options) ?? null,
  ];
  while (data.at(-1) === null) data.pop();
  return data as unknown as FieldData;
}

function enumData(node: EnumNode): EnumData {
  refuse(node.name, node.options, node.reservedNames, node.visibility);
  for (const { name, options } of node.values) refuse(name, options);
  return {
    name: node.name,
    values: node.values.map(({ name, number }) => [name, number] as const),
    reservedRanges: some(node.reservedRanges.map(({ start, end }) => [start, end] as const)),
  } as EnumData;
}

function optionsData(options: OptionsNode | undefined): OptionsData | undefined {
  // Defaults and JSON names are written like options, but are none.
  return options && options.value!.fields.size > 0 ? messageValue(options.value!) : undefined;
}

function messageValue(message: OptionMessage): OptionsData {
  return [...message.fields].map(([number, { value }]) => [
    number,
    Array.isArray(value) ? value.map(scalarData) : scalarData(value),
  ]);
}

function scalarData(value: OptionScalar): OptionData {
  if (typeof value === "bigint" || value instanceof Uint8Array) {
    throw new Error("Cannot write an option of 64 bits, or of bytes");
  }
  return typeof value === "object" ? messageValue(value) : value;
}

/** Data has no place for these parts. */
function refuse(name: string, ...parts: readonly unknown[]): void {
  if (parts.some((part) => Array.isArray(part) ? part.length > 0 : part)) {
    throw new Error(`Cannot write ${name} as it has a part that option_data.ts does not know`);
  }
}

function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** Text of the module. */
export function moduleText(): string {
  const file = compiledDescriptor();
  const reached = reachedByOptions(file);
  const data = {
    options: optionsData(file.options),
    messages: file.messages.filter((node) => reached.has(node)).map(messageData),
    enums: file.enums.filter((node) => reached.has(node)).map(enumData),
  };
  return `// Made by \`deno task option-types\` of descriptor.proto. Do not edit.
import type { EnumData, MessageData, OptionsData } from "./option_data.ts";

/** The part of descriptor.proto that options are read by. */
export const OPTION_TYPES: {
  readonly options: OptionsData;
  readonly messages: readonly MessageData[];
  readonly enums: readonly EnumData[];
} = ${JSON.stringify(data)};
`;
}

if (import.meta.main) await Deno.writeTextFile(MODULE, moduleText());
