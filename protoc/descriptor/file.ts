import type {
  EnumNode,
  ExtensionRangeNode,
  FieldNode,
  FileNode,
  MessageNode,
  OneofNode,
  OptionsNode,
  RangeNode,
  ServiceNode,
} from "../syntax/ast.ts";
import { FieldType, Label, Visibility } from "../syntax/kinds.ts";
import { type KnownFields, serializeRetained } from "./retained.ts";
import { serializeOptions } from "./retention.ts";
import { WireWriter } from "../value/wire.ts";
import type { SourceInfo } from "../syntax/source_info.ts";
import { StrippedPaths, writeSourceInfo } from "./source_info_writer.ts";

const VARINT = 0;
const BYTES = 2;

/** Options of {@linkcode writeFile}. */
interface DescriptorOptions {
  /** Locations and comments, for `source_code_info`. */
  readonly info?: SourceInfo | undefined;
  /** Keep options that are for the source only, and all as they were stated. */
  readonly known?: KnownFields | undefined;
}

/** Reused for all files; a file's bytes are copied out of it. */
const writer = new WireWriter();

/**
 * The `google.protobuf.FileDescriptorProto` of a linked file, byte for byte as protoc writes it: fields
 * in ascending order, names fully qualified, JSON names filled in.
 */
export function writeFile(
  file: FileNode,
  options: DescriptorOptions = {},
): Uint8Array<ArrayBuffer> {
  const start = writer.length;
  try {
    new FileWriter(file, options).write();
    return writer.take(start) as Uint8Array<ArrayBuffer>;
  } finally {
    // Also when writing failed half-way.
    writer.take(start);
  }
}

class FileWriter {
  readonly #file: FileNode;
  readonly #info: SourceInfo | undefined;
  readonly #known: KnownFields | undefined;
  readonly #stripped: StrippedPaths | undefined;
  readonly #isEditions: boolean;

  constructor(file: FileNode, options: DescriptorOptions) {
    this.#file = file;
    this.#info = options.info;
    this.#known = options.known;
    this.#stripped = options.info && !this.#known ? new StrippedPaths() : undefined;
    this.#isEditions = file.syntax === "editions";
  }

  write(): void {
    const file = this.#file;
    text(1, file.name);
    if (file.package !== "") text(2, file.package);
    for (const { name } of file.imports) text(3, name);
    file.messages.forEach((message, i) => this.#message(4, message, this.#path([], 4, i)));
    file.enums.forEach((node, i) => this.#enum(5, node, this.#path([], 5, i)));
    file.services.forEach((service, i) => this.#service(service, this.#path([], 6, i)));
    file.extensions.forEach((field, i) => this.#field(7, field, this.#path([], 7, i)));
    this.#options(8, file.options, []);
    const info = this.#info;
    if (info) {
      // Field 9, though it can be written only when it is known which options were taken out.
      writer.tag(9, BYTES);
      const start = writer.begin();
      writeSourceInfo(writer, info, file.source, this.#stripped);
      writer.end(start);
    }
    for (const index of file.publicDependency) integer(10, index);
    for (const index of file.weakDependency) integer(11, index);
    if (file.syntax !== "proto2") text(12, file.syntax);
    if (this.#isEditions) integer(14, file.edition);
    for (const { name } of file.optionImports) text(15, name);
  }

  /** Paths are needed only to drop locations of options that are taken out. */
  #path(parent: readonly number[], tag: number, index: number): readonly number[] {
    return this.#stripped ? [...parent, tag, index] : parent;
  }

  #options(tag: number, options: OptionsNode | undefined, path: readonly number[]): void {
    if (!options) return;
    if (this.#known) {
      writer.tag(tag, BYTES);
      writer.bytes(serializeRetained(options, this.#known));
      return;
    }
    const stripped: number[][] | undefined = this.#stripped && [];
    const { bytes, isDropped } = serializeOptions(options, stripped);
    if (stripped) this.#stripped?.add([...path, tag], stripped);
    if (isDropped) return;
    writer.tag(tag, BYTES);
    writer.bytes(bytes);
  }

  #message(tag: number, message: MessageNode, path: readonly number[]): void {
    writer.tag(tag, BYTES);
    const start = writer.begin();
    text(1, message.name);
    message.fields.forEach((field, i) => this.#field(2, field, this.#path(path, 2, i)));
    message.messages.forEach((nested, i) => this.#message(3, nested, this.#path(path, 3, i)));
    message.enums.forEach((node, i) => this.#enum(4, node, this.#path(path, 4, i)));
    message.extensionRanges.forEach((range, i) => {
      this.#extensionRange(range, this.#path(path, 5, i));
    });
    message.extensions.forEach((field, i) => this.#field(6, field, this.#path(path, 6, i)));
    if (message.mapEntry) this.#mapEntryOptions(message);
    else this.#options(7, message.options, path);
    message.oneofs.forEach((oneof, i) => this.#oneof(oneof, this.#path(path, 8, i)));
    for (const range of message.reservedRanges) writeRange(9, range);
    for (const name of message.reservedNames) text(10, name);
    if (message.visibility !== Visibility.unset) integer(11, message.visibility);
    writer.end(start);
  }

  /** `map_entry = true`, which is not an option that anyone wrote. */
  #mapEntryOptions(message: MessageNode): void {
    if (message.options?.value && message.options.value.fields.size > 0) {
      return this.#options(7, message.options, []);
    }
    writer.tag(7, BYTES);
    const start = writer.begin();
    integer(7, 1);
    writer.end(start);
  }

  #extensionRange(range: ExtensionRangeNode, path: readonly number[]): void {
    writer.tag(5, BYTES);
    const start = writer.begin();
    integer(1, range.start);
    integer(2, range.end);
    this.#options(3, range.options, path);
    writer.end(start);
  }

  #oneof(oneof: OneofNode, path: readonly number[]): void {
    writer.tag(8, BYTES);
    const start = writer.begin();
    text(1, oneof.name);
    this.#options(2, oneof.options, path);
    writer.end(start);
  }

  #field(tag: number, field: FieldNode, path: readonly number[]): void {
    writer.tag(tag, BYTES);
    const start = writer.begin();
    text(1, field.name);
    if (field.extendee !== "") text(2, field.extendee);
    integer(3, field.number);
    let { label, type } = field;
    if (this.#isEditions) {
      // Editions say both by features.
      if (label === Label.required) label = Label.optional;
      if (type === FieldType.group) type = FieldType.message;
    }
    integer(4, label);
    integer(5, type);
    if (field.typeName !== "") text(6, field.typeName);
    if (field.defaultValue !== undefined) text(7, field.defaultValue);
    this.#options(8, field.options, path);
    if (field.oneofIndex >= 0) integer(9, field.oneofIndex);
    if (field.jsonName !== undefined) text(10, field.jsonName);
    if (field.proto3Optional) integer(17, 1);
    writer.end(start);
  }

  #enum(tag: number, node: EnumNode, path: readonly number[]): void {
    writer.tag(tag, BYTES);
    const start = writer.begin();
    text(1, node.name);
    node.values.forEach((value, i) => {
      writer.tag(2, BYTES);
      const valueStart = writer.begin();
      text(1, value.name);
      integer(2, value.number);
      this.#options(3, value.options, this.#path(path, 2, i));
      writer.end(valueStart);
    });
    this.#options(3, node.options, path);
    for (const range of node.reservedRanges) writeRange(4, range);
    for (const name of node.reservedNames) text(5, name);
    if (node.visibility !== Visibility.unset) integer(6, node.visibility);
    writer.end(start);
  }

  #service(service: ServiceNode, path: readonly number[]): void {
    writer.tag(6, BYTES);
    const start = writer.begin();
    text(1, service.name);
    service.methods.forEach((method, i) => {
      writer.tag(2, BYTES);
      const methodStart = writer.begin();
      text(1, method.name);
      text(2, method.inputType);
      text(3, method.outputType);
      this.#options(4, method.options, this.#path(path, 2, i));
      if (method.clientStreaming) integer(5, 1);
      if (method.serverStreaming) integer(6, 1);
      writer.end(methodStart);
    });
    this.#options(3, service.options, path);
    writer.end(start);
  }
}

function writeRange(tag: number, range: RangeNode): void {
  writer.tag(tag, BYTES);
  const start = writer.begin();
  integer(1, range.start);
  integer(2, range.end);
  writer.end(start);
}

function text(tag: number, value: string | Uint8Array): void {
  writer.tag(tag, BYTES);
  writer.bytes(value);
}

function integer(tag: number, value: number): void {
  writer.tag(tag, VARINT);
  writer.int32(value);
}
