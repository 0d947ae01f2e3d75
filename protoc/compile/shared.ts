import { create, type DescFile, type DescMessage, equals, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { FieldNode, FileNode, MessageNode } from "../syntax/ast.ts";
import { wellKnownDescriptor } from "../well_known/descriptors.ts";
import { Compiler } from "./compiler.ts";
import type { CompiledFile } from "./file.ts";

/**
 * The descriptor that protobuf-es has for a built-in file: its types are everyone's. Text that a user
 * loads under such a name gets it only where it declares the same; a copy that is merely imported may
 * be older, and lack some.
 */
export function sharedDescriptor(file: CompiledFile): DescFile | undefined {
  const known = wellKnownDescriptor(file.name);
  if (known === undefined || file.isWellKnown) return known;
  if (!file.isRequested) return holds(known, file.file) ? known : undefined;
  const builtIn = new Compiler();
  builtIn.run([{ name: file.name, text: undefined }], () => undefined);
  const same = equals(
    FileDescriptorProtoSchema,
    declarations(builtIn.get(file.name)!),
    declarations(file),
  );
  return same ? known : undefined;
}

/** Declarations of a file, apart from comments, imports and options of the file as a whole. */
function declarations({ bytes }: CompiledFile): FileDescriptorProto {
  const { messageType, enumType, extension, service, package: name } = fromBinary(
    FileDescriptorProtoSchema,
    bytes,
  );
  return create(FileDescriptorProtoSchema, {
    package: name,
    messageType,
    enumType,
    extension,
    service,
  });
}

/** True when all types and fields of `file` are in `known`. */
function holds(
  known: DescFile | DescMessage,
  file: Pick<FileNode | MessageNode, "messages" | "enums">,
): boolean {
  const messages = new Map(
    (known.kind === "file" ? known.messages : known.nestedMessages).map((m) => [m.name, m]),
  );
  const enums = new Map(
    (known.kind === "file" ? known.enums : known.nestedEnums).map((e) => [e.name, e]),
  );
  return file.messages.every((message) => {
    if (message.mapEntry) return true;
    const same = messages.get(message.name);
    return same !== undefined && message.fields.every((field) => hasField(same, field)) &&
      holds(same, message);
  }) && file.enums.every((node) => {
    const values = new Map(enums.get(node.name)?.values.map((v) => [v.name, v.number]));
    return node.values.every((value) => values.get(value.name) === value.number);
  });
}

function hasField(message: DescMessage, field: FieldNode): boolean {
  const proto = message.fields.find((known) => known.number === field.number)?.proto;
  return proto !== undefined && proto.name === field.name && Number(proto.type) === field.type &&
    Number(proto.label) === field.label;
}
