/**
 * Descriptors of the few proto files this folder serves itself, put together in place: the loader of
 * `.proto` text is another module, which gRPC does without.
 *
 * @module
 */
import {
  create,
  createFileRegistry,
  type DescFile,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  type DescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  type MethodDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/** A message of a file. */
type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>;
/** A field of a message. */
export type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>;
/** A method of a service. */
type MethodInit = MessageInitShape<typeof MethodDescriptorProtoSchema>;

const SCALARS: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  int32: FieldDescriptorProto_Type.INT32,
};

/** Beyond a field's name, number and type. */
interface FieldOptions {
  readonly repeated?: boolean;
  /** Index of its oneof. */
  readonly oneof?: number;
  /** The type's name is an enum's. */
  readonly isEnum?: boolean;
}

/** A field; `type` is a scalar's name, or the full name of a message or an enum after a dot. */
export function field(
  name: string,
  number: number,
  type: string,
  { repeated = false, oneof, isEnum = false }: FieldOptions = {},
): FieldInit {
  const scalar = SCALARS[type];
  const kind = isEnum ? FieldDescriptorProto_Type.ENUM : FieldDescriptorProto_Type.MESSAGE;
  return {
    name,
    number,
    label: repeated ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
    type: scalar ?? kind,
    jsonName: name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    ...(scalar === undefined ? { typeName: type } : {}),
    ...(oneof === undefined ? {} : { oneofIndex: oneof }),
  };
}

/** A proto3 file with one service. */
export function serviceFile(
  name: string,
  packageName: string,
  messages: MessageInit[],
  service: string,
  methods: MethodInit[],
): DescFile {
  const proto = create(FileDescriptorProtoSchema, {
    name,
    package: packageName,
    messageType: messages,
    service: [{ name: service, method: methods }],
    syntax: "proto3",
  });
  return createFileRegistry(proto, () => undefined).getFile(name)!;
}
