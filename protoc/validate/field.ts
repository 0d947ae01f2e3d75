import type { FieldNode, MessageNode } from "../syntax/ast.ts";
import { FieldType, isMessageType, Label } from "../syntax/kinds.ts";
import { Edition, Feature, FeatureNumber } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { jsonName } from "../syntax/naming.ts";
import { hasPresence, isPackable, readFlag, readMessage, readNumber } from "../value/message.ts";
import { FieldOption } from "../value/numbers.ts";
import { validateDeclared } from "./extension.ts";
import { fieldSupportFault } from "./feature_support.ts";
import { isLite } from "./file.ts";
import { validateMapField } from "./map.ts";

/** `FieldOptions.JSType`: what 64-bit integers become in JavaScript. */
const JsType = { normal: 0, string: 1, number: 2 } as const;

/** Rules about one field or extension, its options interpreted and its features resolved. */
export function validateField(context: LinkContext, field: FieldNode): void {
  const options = field.options?.value;
  if (options) {
    const fault = fieldSupportFault(field);
    if (fault !== undefined) context.error(field.jsonNameOffset, fault);
  }
  if (field.file.edition >= Edition.edition2023) validateFeatures(context, field);
  if (options) validateOptions(context, field);
  const container = containerOf(field);
  if (container.isMessageSet) validateMessageSetItem(context, field);
  if (field.isExtension && isLite(field.file) && !isLite(container.file)) {
    context.error(
      field.extendeeOffset,
      "Extensions to non-lite types can only be declared in non-lite files.  Note that you cannot " +
        "extend a non-lite type to contain a lite type, but the reverse is allowed.",
    );
  }
  if (field.message?.mapEntry) validateMapField(context, field, field.message);
  if (options) validateJsType(context, field);
  if (field.jsonName !== undefined) {
    if (field.isExtension && field.jsonName !== jsonName(field.name)) {
      context.error(
        field.jsonNameOffset,
        "option json_name is not allowed on extension fields.",
      );
    }
    if (field.jsonName.includes("\0")) {
      context.error(field.jsonNameOffset, "json_name cannot have embedded null characters.");
    }
  }
  if (field.isExtension) validateDeclared(context, field);
}

/** The message a field belongs to: for extensions, the one they extend. */
function containerOf(field: FieldNode): MessageNode {
  return field.isExtension ? field.extendeeNode! : field.parent!;
}

function validateOptions(context: LinkContext, field: FieldNode): void {
  const options = field.options!.value!;
  if (field.file.edition >= Edition.edition2024 && options.fields.has(FieldOption.ctype)) {
    context.error(
      field.typeOffset,
      "ctype option is not allowed under edition 2024 and beyond. Use the feature string_type = " +
        "VIEW|CORD|STRING|... instead.",
    );
  }
  const isUnverified = readFlag(options, FieldOption.unverifiedLazy);
  if (readFlag(options, FieldOption.lazy) || isUnverified) {
    if (field.type !== FieldType.message) {
      context.error(
        field.typeOffset,
        "[lazy = true] can only be specified for submessage fields.",
      );
    }
    if (isUnverified && field.isExtension) {
      context.error(field.typeOffset, "Extensions cannot be marked as unverified_lazy.");
    }
  }
  if (readFlag(options, FieldOption.packed) && !isRepeatedPrimitive(field)) {
    context.error(
      field.typeOffset,
      "[packed = true] can only be specified for repeated primitive fields.",
    );
  }
}

function isRepeatedPrimitive(field: FieldNode): boolean {
  return field.label === Label.repeated && isPackable(field.type);
}

function validateMessageSetItem(context: LinkContext, field: FieldNode): void {
  if (!field.isExtension) {
    context.error(field.nameOffset, "MessageSets cannot have fields, only extensions.");
  } else if (field.label !== Label.optional || field.type !== FieldType.message) {
    context.error(field.typeOffset, "Extensions of MessageSets must be optional messages.");
  }
}

function validateJsType(context: LinkContext, field: FieldNode): void {
  const type = readNumber(field.options!.value!, FieldOption.jstype, JsType.normal);
  if (type === JsType.normal) return;
  switch (field.type) {
    case FieldType.int64:
    case FieldType.uint64:
    case FieldType.sint64:
    case FieldType.fixed64:
    case FieldType.sfixed64:
      return;
  }
  context.error(
    field.typeOffset,
    "jstype is only allowed on int64, uint64, sint64, fixed64 or sfixed64 fields.",
  );
}

/** Rules of editions: which features a field may set, and what the resolved ones exclude. */
function validateFeatures(context: LinkContext, field: FieldNode): void {
  const fail = (message: string): void => context.error(field.nameOffset, message);
  const features = field.features!;
  const isRepeated = field.label === Label.repeated;
  const options = field.options?.value;
  if (options?.fields.has(FieldOption.packed)) {
    fail(
      "Field option packed is not allowed under editions.  Use the repeated_field_encoding feature " +
        "to control this behavior.",
    );
  }
  if (!isRepeated && !hasPresence(field)) {
    if (field.defaultValue !== undefined) {
      fail("Implicit presence fields can't specify defaults.");
    }
    if (field.enum?.features?.enumType === Feature.closed) {
      fail("Implicit presence enum fields must always be open.");
    }
  }
  if (field.isExtension && features.fieldPresence === Feature.legacyRequired) {
    fail("Extensions can't be required.");
  }
  const own = options && readMessage(options, FieldOption.features);
  // The fields of map entries carry what was said about the map.
  if (!own || containerOf(field).mapEntry) return;
  if (own.fields.has(FeatureNumber.fieldPresence)) {
    const presence = readNumber(own, FeatureNumber.fieldPresence, 0);
    if (field.oneofIndex >= 0) {
      fail("Oneof fields can't specify field presence.");
    } else if (isRepeated) {
      fail("Repeated fields can't specify field presence.");
    } else if (field.isExtension && presence !== Feature.legacyRequired) {
      fail("Extensions can't specify field presence.");
    } else if (field.message && presence === Feature.implicit) {
      fail("Message fields can't specify implicit presence.");
    }
  }
  const encoding = readNumber(own, FeatureNumber.repeatedFieldEncoding, 0);
  if (!isRepeated && own.fields.has(FeatureNumber.repeatedFieldEncoding)) {
    fail("Only repeated fields can specify repeated field encoding.");
  }
  if (own.fields.has(FeatureNumber.utf8Validation) && !hasText(field)) {
    fail("Only string fields can specify utf8 validation.");
  }
  if (encoding === Feature.packed && !isRepeatedPrimitive(field)) {
    fail("Only repeated primitive fields can specify PACKED repeated field encoding.");
  }
  if (
    own.fields.has(FeatureNumber.messageEncoding) &&
    (!isMessageType(field.type) || field.message!.mapEntry)
  ) {
    fail("Only message fields can specify message encoding.");
  }
}

/** True for strings and for maps from or to strings. */
function hasText(field: FieldNode): boolean {
  if (field.type === FieldType.string) return true;
  return field.type === FieldType.message && field.message!.mapEntry &&
    field.message!.fields.some((part) => part.type === FieldType.string);
}
