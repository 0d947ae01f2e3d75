/*
 * Field numbers of the options messages of google/protobuf/descriptor.proto that rules look at.
 */

/** `google.protobuf.FileOptions`. */
export const FileOption = {
  optimizeFor: 9,
  ccGenericServices: 16,
  javaGenericServices: 17,
  pyGenericServices: 18,
  javaStringCheckUtf8: 27,
  features: 50,
} as const;

/** `google.protobuf.MessageOptions`. */
export const MessageOption = {
  messageSetWireFormat: 1,
  mapEntry: 7,
  legacyJsonConflicts: 11,
  features: 12,
} as const;

/** `google.protobuf.FieldOptions`. */
export const FieldOption = {
  ctype: 1,
  packed: 2,
  lazy: 5,
  jstype: 6,
  weak: 10,
  unverifiedLazy: 15,
  retention: 17,
  targets: 19,
  editionDefaults: 20,
  features: 21,
  featureSupport: 22,
} as const;

/** `google.protobuf.EnumOptions`. */
export const EnumOption = {
  allowAlias: 2,
  legacyJsonConflicts: 6,
  features: 7,
} as const;

/** `google.protobuf.EnumValueOptions`. */
export const EnumValueOption = {
  features: 2,
  debugRedact: 3,
  featureSupport: 4,
  json: 998,
} as const;

/** `google.protobuf.ExtensionRangeOptions` and its `Declaration`. */
export const RangeOption = {
  declaration: 2,
  verification: 3,
  features: 50,
  declarationNumber: 1,
  declarationFullName: 2,
  declarationType: 3,
  declarationReserved: 5,
  declarationRepeated: 6,
} as const;

/** `google.protobuf.FieldOptions.FeatureSupport`. */
export const Support = {
  introduced: 1,
  deprecated: 2,
  deprecationWarning: 3,
  removed: 4,
  removalError: 5,
} as const;
