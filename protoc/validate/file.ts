import type { FieldNode, FileNode, MessageNode } from "../syntax/ast.ts";
import { FieldType } from "../syntax/kinds.ts";
import { Edition, Feature, isLegacyEdition } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { readFlag, readNumber } from "../value/message.ts";
import { FileOption } from "../value/numbers.ts";

/** `optimize_for = LITE_RUNTIME`. */
const LITE_RUNTIME = 3;

/** The options messages that proto3 files may extend. */
const customOptionExtendees = new Set(
  [
    "File",
    "Message",
    "Field",
    "Enum",
    "EnumValue",
    "Service",
    "Method",
    "Oneof",
    "ExtensionRange",
  ].map((name) => `google.protobuf.${name}Options`),
);

/** True for files whose generated code leaves reflection out. */
export function isLite(file: FileNode): boolean {
  const value = file.options?.value;
  return value !== undefined && readNumber(value, FileOption.optimizeFor, 1) === LITE_RUNTIME;
}

/** Rules about a file as a whole, proto3's among them. */
export function validateFile(context: LinkContext): void {
  const { file } = context;
  if (!isLegacyEdition(file.edition)) {
    if (file.features!.fieldPresence === Feature.legacyRequired) {
      context.error(file.syntaxOffset, "Required presence can't be specified by default.");
    }
    if (readFlag(file.options?.value, FileOption.javaStringCheckUtf8)) {
      context.error(
        file.syntaxOffset,
        "File option java_string_check_utf8 is not allowed under editions. Use the " +
          "(pb.java).utf8_validation feature to control this behavior.",
      );
    }
  }
  if (!isLite(file)) {
    const lite = file.dependencies.find((dependency) => dependency && isLite(dependency));
    if (lite) {
      context.error(
        file.importOffset(lite.name),
        "Files that do not use optimize_for = LITE_RUNTIME cannot import files which do use this " +
          `option.  This file is not lite, but it imports "${lite.name}" which is.`,
      );
    }
  }
  if (file.edition === Edition.proto3) validateProto3(context);
  if (file.edition < Edition.edition2024) {
    if (file.optionImports.length > 0) {
      context.error(
        file.importOffset("option"),
        "option imports are not supported before edition 2024.",
      );
    }
  } else if (file.weakDependency.length > 0) {
    context.error(
      file.importOffset("weak"),
      "weak imports are not allowed under edition 2024 and beyond.",
    );
  }
}

/** Services of lite files could not be compiled with the old generic interfaces. */
export function validateLiteServices(context: LinkContext): void {
  const { file } = context;
  const options = file.options?.value;
  if (!isLite(file)) return;
  const isGeneric = readFlag(options, FileOption.ccGenericServices) ||
    readFlag(options, FileOption.javaGenericServices);
  if (!isGeneric) return;
  for (const service of file.services) {
    context.error(
      service.nameOffset,
      "Files with optimize_for = LITE_RUNTIME cannot define services unless you set both options " +
        "cc_generic_services and java_generic_services to false.",
    );
  }
}

function validateProto3(context: LinkContext): void {
  const { file } = context;
  for (const extension of file.extensions) validateProto3Field(context, extension);
  for (const message of file.messages) validateProto3Message(context, message);
}

function validateProto3Message(context: LinkContext, message: MessageNode): void {
  for (const nested of message.messages) validateProto3Message(context, nested);
  for (const field of message.fields) validateProto3Field(context, field);
  for (const extension of message.extensions) validateProto3Field(context, extension);
  if (message.extensionRanges.length > 0) {
    context.error(
      message.extensionRanges[0]!.offset,
      "Extension ranges are not allowed in proto3.",
    );
  }
  if (message.isMessageSet) {
    context.error(message.nameOffset, "MessageSet is not supported in proto3.");
  }
}

function validateProto3Field(context: LinkContext, field: FieldNode): void {
  if (field.isExtension && !customOptionExtendees.has(field.extendeeNode!.fullName)) {
    context.error(
      field.extendeeOffset,
      "Extensions in proto3 are only allowed for defining options.",
    );
  }
  if (field.features!.fieldPresence === Feature.legacyRequired) {
    context.error(field.typeOffset, "Required fields are not allowed in proto3.");
  }
  if (field.defaultValue !== undefined) {
    context.error(field.defaultOffset, "Explicit default values are not allowed in proto3.");
  }
  if (field.enum?.features?.enumType === Feature.closed) {
    const container = field.isExtension ? field.extendeeNode! : field.parent!;
    context.error(
      field.typeOffset,
      `Enum type "${field.enum.fullName}" is not an open enum, but is used in ` +
        `"${container.fullName}" which is a proto3 message type.`,
    );
  }
  if (field.type === FieldType.group) {
    context.error(field.typeOffset, "Groups are not supported in proto3 syntax.");
  }
}
