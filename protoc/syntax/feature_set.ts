/**
 * Resolved features of one element (google/protobuf/descriptor.proto, message `FeatureSet`), as enum
 * numbers. Elements that say nothing share their parent's object.
 */
export interface FeatureSet {
  /** 1 EXPLICIT, 2 IMPLICIT, 3 LEGACY_REQUIRED. */
  readonly fieldPresence: number;
  /** 1 OPEN, 2 CLOSED. */
  readonly enumType: number;
  /** 1 PACKED, 2 EXPANDED. */
  readonly repeatedFieldEncoding: number;
  /** 2 VERIFY, 3 NONE. */
  readonly utf8Validation: number;
  /** 1 LENGTH_PREFIXED, 2 DELIMITED. */
  readonly messageEncoding: number;
  /** 1 ALLOW, 2 LEGACY_BEST_EFFORT. */
  readonly jsonFormat: number;
  /** 1 STYLE2024, 2 STYLE_LEGACY, 3 STYLE2026. */
  readonly enforceNamingStyle: number;
  /** 1 EXPORT_ALL, 2 EXPORT_TOP_LEVEL, 3 LOCAL_ALL, 4 STRICT. */
  readonly defaultSymbolVisibility: number;
  /** 1 LEGACY_NO_EXPLICIT_LIMITS, 2 PROTO_LIMITS2026. */
  readonly enforceProtoLimits: number;
  /** `(pb.cpp).legacy_closed_enum`: the text format asks for it. */
  readonly legacyClosedEnum: boolean;
}
