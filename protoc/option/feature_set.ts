import {
  type EnumNode,
  type FieldNode,
  type MessageNode,
  NO_OFFSET,
  type OptionMessage,
  type OptionsNode,
} from "../syntax/ast.ts";
import { FieldType, Label } from "../syntax/kinds.ts";
import type { FeatureSet } from "../syntax/feature_set.ts";
import {
  Edition,
  editionDefaults,
  Feature,
  FeatureNumber,
  isLegacyEdition,
} from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { FieldOption, FileOption, MessageOption } from "../value/numbers.ts";
import { readFlag, readMessage, readNumber } from "../value/message.ts";

/**
 * Gives every element of the file its resolved features: those of what surrounds it, with its own
 * on top. Runs between the two passes over options, since extensions of options are read by them.
 */
export function resolveFeatures(context: LinkContext): void {
  new FeatureResolver(context).file();
}

class FeatureResolver {
  readonly #context: LinkContext;
  readonly #edition: number;
  readonly #isLegacy: boolean;

  constructor(context: LinkContext) {
    this.#context = context;
    this.#edition = context.file.edition;
    this.#isLegacy = isLegacyEdition(this.#edition);
  }

  file(): void {
    const { file } = this.#context;
    const features = this.#own(
      editionDefaults(this.#edition),
      file.options,
      FileOption.features,
      file.syntaxOffset,
    );
    file.features = features;
    for (const message of file.messages) this.#message(message, features);
    for (const node of file.enums) this.#enum(node, features);
    for (const extension of file.extensions) this.#field(extension, features);
    for (const service of file.services) {
      const own = this.#own(features, service.options, 34, service.nameOffset);
      service.features = own;
      for (const method of service.methods) {
        method.features = this.#own(own, method.options, 35, method.nameOffset);
      }
    }
  }

  #message(message: MessageNode, parent: FeatureSet): void {
    const features = this.#own(
      parent,
      message.options,
      MessageOption.features,
      message.nameOffset,
    );
    message.features = features;
    for (const node of message.enums) this.#enum(node, features);
    for (const oneof of message.oneofs) {
      oneof.features = this.#own(features, oneof.options, 1, NO_OFFSET);
    }
    for (const field of message.fields) {
      const around = field.oneofIndex >= 0 ? message.oneofs[field.oneofIndex]!.features : features;
      this.#field(field, around!);
    }
    for (const nested of message.messages) this.#message(nested, features);
    for (const extension of message.extensions) this.#field(extension, features);
    for (const range of message.extensionRanges) {
      range.features = this.#own(features, range.options, 50, NO_OFFSET);
    }
  }

  #enum(node: EnumNode, parent: FeatureSet): void {
    const features = this.#own(parent, node.options, 7, node.nameOffset);
    node.features = features;
    for (const value of node.values) {
      value.features = value.options
        ? this.#own(features, value.options, 2, value.nameOffset)
        : features;
    }
  }

  #field(field: FieldNode, parent: FeatureSet): void {
    const features = this.#own(parent, field.options, FieldOption.features, field.nameOffset);
    field.features = this.#isLegacy
      ? legacyFieldFeatures(features, field, this.#edition)
      : features;
    if (field.type !== FieldType.message || field.features.messageEncoding !== Feature.delimited) {
      return;
    }
    const container = field.isExtension ? field.extendeeNode : field.parent;
    if (!container!.mapEntry && !field.message!.mapEntry) field.type = FieldType.group;
  }

  #own(
    parent: FeatureSet,
    options: OptionsNode | undefined,
    number: number,
    offset: number,
  ): FeatureSet {
    const value = options?.value;
    const own = value && readMessage(value, number);
    if (!own) return parent;
    if (this.#isLegacy) {
      this.#context.error(offset, "Features are only valid under editions.");
    }
    const features = mergeFeatures(parent, own);
    const fault = unknownFeature(features);
    if (fault !== undefined) this.#context.error(offset, fault);
    return features;
  }
}

const derived: Map<FeatureSet, (FeatureSet | undefined)[]> = new Map();

/** `required`, groups and `packed` of proto2 and proto3 in terms of features. */
function legacyFieldFeatures(parent: FeatureSet, field: FieldNode, edition: number): FeatureSet {
  const isRequired = field.label === Label.required;
  const isGroup = field.type === FieldType.group;
  const packed = field.options?.value?.fields.get(FieldOption.packed)?.value as boolean | undefined;
  const isExpanded = packed === false && edition === Edition.proto3;
  if (!isRequired && !isGroup && packed !== true && !isExpanded) return parent;
  // Few combinations occur, on the defaults of two editions: they are made once.
  const index = Number(isRequired) + 2 * Number(isGroup) +
    4 * (packed === true ? 1 : isExpanded ? 2 : 0);
  let list = derived.get(parent);
  if (!list) {
    list = new Array(12).fill(undefined);
    if (parent === editionDefaults(edition)) derived.set(parent, list);
  }
  return list[index] ??= {
    ...parent,
    fieldPresence: isRequired ? Feature.legacyRequired : parent.fieldPresence,
    messageEncoding: isGroup ? Feature.delimited : parent.messageEncoding,
    repeatedFieldEncoding: packed === true
      ? Feature.packed
      : isExpanded
      ? Feature.expanded
      : parent.repeatedFieldEncoding,
  };
}

/** `parent` with what `own` sets put over it. */
function mergeFeatures(parent: FeatureSet, own: OptionMessage): FeatureSet {
  const read = (number: number, inherited: number): number => readNumber(own, number, inherited);
  const cpp = readMessage(own, 1000);
  return {
    fieldPresence: read(FeatureNumber.fieldPresence, parent.fieldPresence),
    enumType: read(FeatureNumber.enumType, parent.enumType),
    repeatedFieldEncoding: read(
      FeatureNumber.repeatedFieldEncoding,
      parent.repeatedFieldEncoding,
    ),
    utf8Validation: read(FeatureNumber.utf8Validation, parent.utf8Validation),
    messageEncoding: read(FeatureNumber.messageEncoding, parent.messageEncoding),
    jsonFormat: read(FeatureNumber.jsonFormat, parent.jsonFormat),
    enforceNamingStyle: read(FeatureNumber.enforceNamingStyle, parent.enforceNamingStyle),
    defaultSymbolVisibility: read(
      FeatureNumber.defaultSymbolVisibility,
      parent.defaultSymbolVisibility,
    ),
    enforceProtoLimits: read(FeatureNumber.enforceProtoLimits, parent.enforceProtoLimits),
    legacyClosedEnum: cpp?.fields.has(1) ? readFlag(cpp, 1) : parent.legacyClosedEnum,
  };
}

/**
 * The complaint about a feature that resolves to its `…_UNKNOWN` value, in the order of the fields
 * of `FeatureSet`; undefined when all are known.
 */
function unknownFeature(features: FeatureSet): string | undefined {
  if (!features.fieldPresence) return unknown("field_presence");
  if (!features.enumType) return unknown("enum_type");
  if (!features.repeatedFieldEncoding) return unknown("repeated_field_encoding");
  if (!features.utf8Validation) return unknown("utf8_validation");
  if (!features.messageEncoding) return unknown("message_encoding");
  if (!features.jsonFormat) return unknown("json_format");
  if (!features.enforceNamingStyle) return unknown("enforce_naming_style");
  if (!features.defaultSymbolVisibility) {
    return unknown(
      "default_symbol_visibility",
      "VisibilityFeature::DEFAULT_SYMBOL_VISIBILITY",
    );
  }
  if (!features.enforceProtoLimits) {
    return unknown("enforce_proto_limits", "ProtoLimitsFeature::PROTO_LIMITS");
  }
  return undefined;
}

function unknown(name: string, constant: string = name.toUpperCase()): string {
  return `Feature field \`${name}\` must resolve to a known value, found ${constant}_UNKNOWN`;
}
