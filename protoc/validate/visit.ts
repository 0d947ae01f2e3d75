import {
  type EnumNode,
  type FieldNode,
  type FileNode,
  type MessageNode,
  NO_OFFSET,
  type OptionsNode,
} from "../syntax/ast.ts";
import {
  EnumOption,
  EnumValueOption,
  FieldOption,
  FileOption,
  MessageOption,
  RangeOption,
} from "../value/numbers.ts";

/** Numbers of `FieldOptions.OptionTargetType`. */
const Target = {
  file: 1,
  extensionRange: 2,
  message: 3,
  field: 4,
  oneof: 5,
  enum: 6,
  enumEntry: 7,
  service: 8,
  method: 9,
} as const;

/** Field number of `features` in the options of each kind of element, by {@linkcode Target}. */
export const featuresNumber: readonly number[] = [
  0,
  FileOption.features,
  RangeOption.features,
  MessageOption.features,
  FieldOption.features,
  1,
  EnumOption.features,
  EnumValueOption.features,
  34,
  35,
];

/** Is told the options of an element, its kind, and where its name stands. */
type OptionsVisitor = (options: OptionsNode, target: number, offset: number) => void;

/** Visits the options of all elements of a file that have any, in protoc's order. */
export function visitOptions(file: FileNode, visit: OptionsVisitor): void {
  if (file.options) visit(file.options, Target.file, file.packageOffset);
  for (const message of file.messages) visitMessage(message, visit);
  for (const node of file.enums) visitEnum(node, visit);
  for (const extension of file.extensions) visitField(extension, visit);
  for (const service of file.services) {
    if (service.options) visit(service.options, Target.service, service.nameOffset);
    for (const method of service.methods) {
      if (method.options) visit(method.options, Target.method, method.nameOffset);
    }
  }
}

function visitMessage(message: MessageNode, visit: OptionsVisitor): void {
  if (message.options) visit(message.options, Target.message, message.nameOffset);
  for (const node of message.enums) visitEnum(node, visit);
  for (const oneof of message.oneofs) {
    if (oneof.options) visit(oneof.options, Target.oneof, NO_OFFSET);
  }
  for (const field of message.fields) visitField(field, visit);
  for (const nested of message.messages) visitMessage(nested, visit);
  for (const extension of message.extensions) visitField(extension, visit);
  for (const range of message.extensionRanges) {
    if (range.options) visit(range.options, Target.extensionRange, NO_OFFSET);
  }
}

function visitEnum(node: EnumNode, visit: OptionsVisitor): void {
  if (node.options) visit(node.options, Target.enum, node.nameOffset);
  for (const value of node.values) {
    if (value.options) visit(value.options, Target.enumEntry, value.nameOffset);
  }
}

function visitField(field: FieldNode, visit: OptionsVisitor): void {
  if (field.options) visit(field.options, Target.field, field.nameOffset);
}
