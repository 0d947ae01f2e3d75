import type { FeatureSet } from "./feature_set.ts";
/** The edition numbers of `google.protobuf.Edition` that files can have. */
export const Edition = {
  unknown: 0,
  legacy: 900,
  proto2: 998,
  proto3: 999,
  edition2023: 1000,
  edition2024: 1001,
  edition2026: 1002,
  unstable: 9999,
} as const;

/** An edition as protoc's messages write it: `PROTO2`, `2023`, or the bare number. */
export function editionName(edition: number): string {
  switch (edition) {
    case Edition.unknown:
      return "UNKNOWN";
    case Edition.legacy:
      return "LEGACY";
    case Edition.proto2:
      return "PROTO2";
    case Edition.proto3:
      return "PROTO3";
    case Edition.edition2023:
      return "2023";
    case Edition.edition2024:
      return "2024";
    case Edition.edition2026:
      return "2026";
    case Edition.unstable:
      return "UNSTABLE";
    case 1:
    case 2:
    case 99997:
    case 99998:
    case 99999:
      return `${edition}_TEST_ONLY`;
    case 0x7fffffff:
      return "MAX";
    default:
      return String(edition);
  }
}

/** `FeatureSet` values that checks compare with. */
export const Feature = {
  explicit: 1,
  implicit: 2,
  legacyRequired: 3,
  open: 1,
  closed: 2,
  packed: 1,
  expanded: 2,
  verifyUtf8: 2,
  delimited: 2,
  legacyBestEffort: 2,
  style2024: 1,
  styleLegacy: 2,
  style2026: 3,
  exportAll: 1,
  exportTopLevel: 2,
  localAll: 3,
  strict: 4,
  noLimits: 1,
} as const;

/** Field numbers of `FeatureSet`. */
export const FeatureNumber = {
  fieldPresence: 1,
  enumType: 2,
  repeatedFieldEncoding: 3,
  utf8Validation: 4,
  messageEncoding: 5,
  jsonFormat: 6,
  enforceNamingStyle: 7,
  defaultSymbolVisibility: 8,
  enforceProtoLimits: 9,
} as const;

const proto2: FeatureSet = {
  fieldPresence: 1,
  enumType: 2,
  repeatedFieldEncoding: 2,
  utf8Validation: 3,
  messageEncoding: 1,
  jsonFormat: 2,
  enforceNamingStyle: 2,
  defaultSymbolVisibility: 1,
  enforceProtoLimits: 1,
  legacyClosedEnum: true,
};
const proto3: FeatureSet = {
  ...proto2,
  fieldPresence: 2,
  enumType: 1,
  repeatedFieldEncoding: 1,
  utf8Validation: 2,
  jsonFormat: 1,
  legacyClosedEnum: false,
};
const edition2023: FeatureSet = { ...proto3, fieldPresence: 1 };
const edition2024: FeatureSet = {
  ...edition2023,
  enforceNamingStyle: 1,
  defaultSymbolVisibility: 2,
};
const edition2026: FeatureSet = {
  ...edition2024,
  enforceNamingStyle: 3,
  defaultSymbolVisibility: 4,
  enforceProtoLimits: 2,
};

/** Features of a file of `edition` that sets none (the `edition_defaults` of descriptor.proto). */
export function editionDefaults(edition: number): FeatureSet {
  if (edition < Edition.proto3) return proto2;
  if (edition === Edition.proto3) return proto3;
  if (edition < Edition.edition2024) return edition2023;
  return edition < Edition.edition2026 ? edition2024 : edition2026;
}

/** Proto2 and proto3 files, which predate features. */
export function isLegacyEdition(edition: number): boolean {
  return edition < Edition.edition2023;
}
