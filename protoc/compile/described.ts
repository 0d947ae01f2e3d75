import {
  type DescMessage,
  fromBinary,
  isFieldSet,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  ExtensionRangeOptionsSchema,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileOptionsSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  type ServiceDescriptorProto,
  ServiceOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { ProtoError } from "../lex/diagnostic.ts";
import { Source } from "../lex/source.ts";
import { LIMITS } from "../limits.ts";
import {
  EnumNode,
  EnumValueNode,
  ExtensionRangeNode,
  FieldNode,
  FileNode,
  MessageNode,
  MethodNode,
  NO_OFFSET,
  OneofNode,
  OptionsNode,
  RangeNode,
  ServiceNode,
} from "../syntax/ast.ts";
import { Label } from "../syntax/kinds.ts";
import { jsonName } from "../syntax/naming.ts";
import { readOptionMessage } from "../value/read.ts";
import { builtinType } from "./builtin.ts";
import { diagnosticAt, ParsedFile } from "./file.ts";

/**
 * A file from its serialized `google.protobuf.FileDescriptorProto`, as if it was parsed: the phases
 * behind the parser hold it to the same rules as text.
 *
 * @throws {ProtoError} If the bytes are no such message, or say what no text could.
 */
export function describedFile(bytes: Uint8Array): ParsedFile {
  let proto: FileDescriptorProto;
  try {
    proto = fromBinary(FileDescriptorProtoSchema, bytes);
  } catch {
    throw faultOf("", "File of the set is no serialized FileDescriptorProto.");
  }
  if (proto.name === "") throw faultOf("", "File of the set has no name.");
  const file = new DescribedFile(proto).file;
  return new ParsedFile({ file, bytes: new Uint8Array(bytes) });
}

/** The error about a file of a set. */
export function faultOf(name: string, message: string): ProtoError {
  return new ProtoError([diagnosticAt(undefined, name, NO_OFFSET, message, false)]);
}

/** Turns the parts of one file into nodes. */
class DescribedFile {
  readonly file: FileNode;

  constructor(proto: FileDescriptorProto) {
    const file = this.file = new FileNode(proto.name, new Source(""));
    file.isDescribed = true;
    const { syntax } = proto;
    if (syntax === "proto3" || syntax === "editions") file.syntax = syntax;
    else if (syntax !== "" && syntax !== "proto2") this.#fail(`Unrecognized syntax: ${syntax}`);
    file.edition = syntax === "editions" ? proto.edition : syntax === "proto3" ? 999 : 998;
    file.package = proto.package;
    if (proto.package !== "") proto.package.split(".").forEach((part) => this.#name(part));
    for (const name of proto.dependency) {
      file.imports.push({ name, modifier: "none", offset: NO_OFFSET });
    }
    for (const name of proto.optionDependency) {
      file.optionImports.push({ name, modifier: "option", offset: NO_OFFSET });
    }
    for (
      const [list, into] of [
        [proto.publicDependency, file.publicDependency],
        [proto.weakDependency, file.weakDependency],
      ] as const
    ) {
      for (const index of list) {
        if (proto.dependency[index] === undefined) this.#fail("Invalid public dependency index.");
        into.push(index);
      }
    }
    for (const one of proto.messageType) file.messages.push(this.#message(one, undefined, 1));
    for (const one of proto.enumType) file.enums.push(this.#enum(one, undefined));
    for (const one of proto.service) file.services.push(this.#service(one));
    for (const one of proto.extension) file.extensions.push(this.#field(one, undefined, true));
    file.options = optionsOf("FileOptions", FileOptionsSchema, proto.options);
  }

  #message(proto: DescriptorProto, parent: MessageNode | undefined, depth: number): MessageNode {
    if (depth > LIMITS.maxMessageDepth) {
      this.#fail("Reached maximum recursion limit for nested messages.");
    }
    const node = new MessageNode(this.file, parent);
    node.name = this.#name(proto.name);
    node.mapEntry = proto.options?.mapEntry ?? false;
    for (const one of proto.oneofDecl) {
      const oneof = new OneofNode(node);
      oneof.name = this.#name(one.name);
      oneof.options = optionsOf("OneofOptions", OneofOptionsSchema, one.options);
      node.oneofs.push(oneof);
    }
    for (const one of proto.field) {
      const field = this.#field(one, node, false);
      if (field.oneofIndex >= node.oneofs.length) {
        this.#fail(`Field "${proto.name}.${one.name}" is in a oneof that there is not.`);
      }
      node.fields.push(field);
    }
    markSynthetic(node);
    if (node.mapEntry && !isMapEntry(node)) {
      this.#fail("map_entry should not be set explicitly. Use map<KeyType, ValueType> instead.");
    }
    for (const one of proto.nestedType) node.messages.push(this.#message(one, node, depth + 1));
    for (const one of proto.enumType) node.enums.push(this.#enum(one, node));
    for (const one of proto.extension) node.extensions.push(this.#field(one, node, true));
    for (const one of proto.extensionRange) {
      const range = new ExtensionRangeNode();
      [range.start, range.end] = [one.start, one.end];
      range.options = optionsOf("ExtensionRangeOptions", ExtensionRangeOptionsSchema, one.options);
      node.extensionRanges.push(range);
    }
    for (const one of proto.reservedRange) node.reservedRanges.push(rangeOf(one));
    node.reservedNames.push(...proto.reservedName);
    node.visibility = proto.visibility;
    node.options = optionsOf("MessageOptions", MessageOptionsSchema, proto.options);
    return node;
  }

  #field(
    proto: FieldDescriptorProto,
    parent: MessageNode | undefined,
    isExtension: boolean,
  ): FieldNode {
    const node = new FieldNode(this.file, parent, isExtension);
    const has = (name: keyof typeof FieldDescriptorProtoSchema.field): boolean =>
      isFieldSet(proto, FieldDescriptorProtoSchema.field[name]);
    node.name = this.#name(proto.name);
    node.number = proto.number;
    node.label = has("label") ? proto.label : 1;
    node.type = has("type") ? proto.type : 0;
    node.typeName = proto.typeName;
    node.extendee = proto.extendee;
    if (node.type === 0 && node.typeName === "") this.#fail(`Field "${proto.name}" has no type.`);
    if (has("defaultValue")) node.defaultValue = proto.defaultValue;
    // Every descriptor has one: only another one was written.
    if (has("jsonName") && proto.jsonName !== jsonName(proto.name)) node.jsonName = proto.jsonName;
    if (has("oneofIndex")) {
      if (proto.oneofIndex < 0) this.#fail(`Field "${proto.name}" has a negative oneof_index.`);
      node.oneofIndex = proto.oneofIndex;
    }
    node.proto3Optional = proto.proto3Optional;
    node.options = optionsOf("FieldOptions", FieldOptionsSchema, proto.options);
    return node;
  }

  #enum(proto: EnumDescriptorProto, parent: MessageNode | undefined): EnumNode {
    const node = new EnumNode(this.file, parent);
    node.name = this.#name(proto.name);
    for (const one of proto.value) {
      const value = new EnumValueNode(node);
      value.name = this.#name(one.name);
      value.number = one.number;
      value.options = optionsOf("EnumValueOptions", EnumValueOptionsSchema, one.options);
      node.values.push(value);
    }
    for (const one of proto.reservedRange) node.reservedRanges.push(rangeOf(one));
    node.reservedNames.push(...proto.reservedName);
    node.visibility = proto.visibility;
    node.options = optionsOf("EnumOptions", EnumOptionsSchema, proto.options);
    return node;
  }

  #service(proto: ServiceDescriptorProto): ServiceNode {
    const node = new ServiceNode(this.file);
    node.name = this.#name(proto.name);
    for (const one of proto.method) {
      const method = new MethodNode(node);
      method.name = this.#name(one.name);
      [method.inputType, method.outputType] = [one.inputType, one.outputType];
      method.clientStreaming = one.clientStreaming;
      method.serverStreaming = one.serverStreaming;
      method.options = optionsOf("MethodOptions", MethodOptionsSchema, one.options);
      node.methods.push(method);
    }
    node.options = optionsOf("ServiceOptions", ServiceOptionsSchema, proto.options);
    return node;
  }

  #name(name: string): string {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      this.#fail(`${JSON.stringify(name.slice(0, 60))} is not a valid identifier.`);
    }
    return name;
  }

  #fail(message: string): never {
    throw faultOf(this.file.name, message);
  }
}

/** Marks the oneofs that stand for an `optional`: these have no other field. */
function markSynthetic({ oneofs, fields }: MessageNode): void {
  const counts = new Array<number>(oneofs.length).fill(0);
  for (const { oneofIndex } of fields) if (oneofIndex >= 0) counts[oneofIndex]!++;
  for (const { oneofIndex, proto3Optional } of fields) {
    if (proto3Optional && counts[oneofIndex] === 1) oneofs[oneofIndex]!.isSynthetic = true;
  }
}

function isMapEntry({ fields }: MessageNode): boolean {
  return fields.length === 2 &&
    fields.every(({ name, number, label }, i) =>
      name === ["key", "value"][i] && number === i + 1 && label === Label.optional
    );
}

function rangeOf({ start, end }: { start: number; end: number }): RangeNode {
  const range = new RangeNode();
  [range.start, range.end] = [start, end];
  return range;
}

/** Options as far as the compiler itself looks at them; others stay in the bytes of the file. */
function optionsOf<T extends DescMessage>(
  name: string,
  schema: T,
  options: MessageShape<T> | undefined,
): OptionsNode | undefined {
  if (!options) return undefined;
  const node = new OptionsNode();
  node.value = readOptionMessage(toBinary(schema, options), builtinType(`google.protobuf.${name}`));
  return node;
}
