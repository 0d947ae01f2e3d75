// Declarations of Protocol Buffers, which every implementation has to know; without their comments.
// Copyright 2008 Google Inc. All rights reserved. Use of them is governed by a BSD-style license that
// can be found at https://developers.google.com/open-source/licenses/bsd

/** The schema of schemas: what files, messages and options are. Text by import name. */
export const descriptorProto: Readonly<Record<string, string>> = {
  "google/protobuf/descriptor.proto": `syntax = "proto2";
package google.protobuf;
option go_package = "google.golang.org/protobuf/types/descriptorpb";
option java_package = "com.google.protobuf";
option java_outer_classname = "DescriptorProtos";
option csharp_namespace = "Google.Protobuf.Reflection";
option objc_class_prefix = "GPB";
option cc_enable_arenas = true;
option optimize_for = SPEED;
message FileDescriptorSet {
  repeated FileDescriptorProto file = 1;
  extensions 536000000 [declaration = {
    number: 536000000
    type: ".buf.descriptor.v1.FileDescriptorSetExtension"
    full_name: ".buf.descriptor.v1.buf_file_descriptor_set_extension"
  }];
}
enum Edition {
  EDITION_UNKNOWN = 0;
  EDITION_LEGACY = 900;
  EDITION_PROTO2 = 998;
  EDITION_PROTO3 = 999;
  EDITION_2023 = 1000;
  EDITION_2024 = 1001;
  EDITION_2026 = 1002;
  EDITION_UNSTABLE = 9999;
  EDITION_1_TEST_ONLY = 1;
  EDITION_2_TEST_ONLY = 2;
  EDITION_99997_TEST_ONLY = 99997;
  EDITION_99998_TEST_ONLY = 99998;
  EDITION_99999_TEST_ONLY = 99999;
  EDITION_MAX = 0x7FFFFFFF;
}
message FileDescriptorProto {
  optional string name = 1;
  optional string package = 2;
  repeated string dependency = 3;
  repeated int32 public_dependency = 10;
  repeated int32 weak_dependency = 11;
  repeated string option_dependency = 15;
  repeated DescriptorProto message_type = 4;
  repeated EnumDescriptorProto enum_type = 5;
  repeated ServiceDescriptorProto service = 6;
  repeated FieldDescriptorProto extension = 7;
  optional FileOptions options = 8;
  optional SourceCodeInfo source_code_info = 9;
  optional string syntax = 12;
  optional Edition edition = 14;
}
message DescriptorProto {
  optional string name = 1;
  repeated FieldDescriptorProto field = 2;
  repeated FieldDescriptorProto extension = 6;
  repeated DescriptorProto nested_type = 3;
  repeated EnumDescriptorProto enum_type = 4;
  message ExtensionRange {
    optional int32 start = 1;
    optional int32 end = 2;
    optional ExtensionRangeOptions options = 3;
  }
  repeated ExtensionRange extension_range = 5;
  repeated OneofDescriptorProto oneof_decl = 8;
  optional MessageOptions options = 7;
  message ReservedRange {
    optional int32 start = 1;
    optional int32 end = 2;
  }
  repeated ReservedRange reserved_range = 9;
  repeated string reserved_name = 10;
  optional SymbolVisibility visibility = 11;
}
message ExtensionRangeOptions {
  extensions 990 to 998;
  repeated UninterpretedOption uninterpreted_option = 999;
  message Declaration {
    optional int32 number = 1;
    optional string full_name = 2;
    optional string type = 3;
    optional bool reserved = 5;
    optional bool repeated = 6;
    reserved 4;
  }
  repeated Declaration declaration = 2 [retention = RETENTION_SOURCE];
  optional FeatureSet features = 50;
  enum VerificationState {
    DECLARATION = 0;
    UNVERIFIED = 1;
  }
  optional VerificationState verification = 3
      [default = UNVERIFIED, retention = RETENTION_SOURCE];
  extensions 1000 to max;
}
message FieldDescriptorProto {
  enum Type {
    TYPE_DOUBLE = 1;
    TYPE_FLOAT = 2;
    TYPE_INT64 = 3;
    TYPE_UINT64 = 4;
    TYPE_INT32 = 5;
    TYPE_FIXED64 = 6;
    TYPE_FIXED32 = 7;
    TYPE_BOOL = 8;
    TYPE_STRING = 9;
    TYPE_GROUP = 10;
    TYPE_MESSAGE = 11;
    TYPE_BYTES = 12;
    TYPE_UINT32 = 13;
    TYPE_ENUM = 14;
    TYPE_SFIXED32 = 15;
    TYPE_SFIXED64 = 16;
    TYPE_SINT32 = 17;
    TYPE_SINT64 = 18;
  }
  enum Label {
    LABEL_OPTIONAL = 1;
    LABEL_REPEATED = 3;
    LABEL_REQUIRED = 2;
  }
  optional string name = 1;
  optional int32 number = 3;
  optional Label label = 4;
  optional Type type = 5;
  optional string type_name = 6;
  optional string extendee = 2;
  optional string default_value = 7;
  optional int32 oneof_index = 9;
  optional string json_name = 10;
  optional FieldOptions options = 8;
  optional bool proto3_optional = 17;
}
message OneofDescriptorProto {
  optional string name = 1;
  optional OneofOptions options = 2;
}
message EnumDescriptorProto {
  optional string name = 1;
  repeated EnumValueDescriptorProto value = 2;
  optional EnumOptions options = 3;
  message EnumReservedRange {
    optional int32 start = 1;
    optional int32 end = 2;
  }
  repeated EnumReservedRange reserved_range = 4;
  repeated string reserved_name = 5;
  optional SymbolVisibility visibility = 6;
}
message EnumValueDescriptorProto {
  optional string name = 1;
  optional int32 number = 2;
  optional EnumValueOptions options = 3;
}
message ServiceDescriptorProto {
  optional string name = 1;
  repeated MethodDescriptorProto method = 2;
  optional ServiceOptions options = 3;
  reserved 4;
  reserved "stream";
}
message MethodDescriptorProto {
  optional string name = 1;
  optional string input_type = 2;
  optional string output_type = 3;
  optional MethodOptions options = 4;
  optional bool client_streaming = 5 [default = false];
  optional bool server_streaming = 6 [default = false];
}
message FileOptions {
  optional string java_package = 1;
  optional string java_outer_classname = 8;
  optional bool java_multiple_files = 10 [
    default = false,
    feature_support = {
      edition_introduced: EDITION_PROTO2
      edition_removed: EDITION_2024
      removal_error: "This behavior is enabled by default in editions 2024 and above. "
                     "To disable it, you can set \`features.(pb.java).nest_in_file_class = YES\` "
                     "on individual messages, enums, or services."
    }
  ];
  optional bool java_generate_equals_and_hash = 20 [deprecated=true];
  optional bool java_string_check_utf8 = 27 [default = false];
  enum OptimizeMode {
    SPEED = 1;
    CODE_SIZE = 2;
    LITE_RUNTIME = 3;
  }
  optional OptimizeMode optimize_for = 9 [default = SPEED];
  optional string go_package = 11;
  optional bool cc_generic_services = 16 [default = false];
  optional bool java_generic_services = 17 [default = false];
  optional bool py_generic_services = 18 [default = false];
  reserved 42;
  reserved "php_generic_services";
  optional bool deprecated = 23 [default = false];
  optional bool cc_enable_arenas = 31 [
    default = true,
    feature_support = {
      edition_removed: EDITION_2026
      removal_error: "cc_enable_arenas is enabled by default in every edition and overrides are ignored."
                     "This option is removed in editions 2026 and above."
    }
  ];
  optional string objc_class_prefix = 36;
  optional string csharp_namespace = 37;
  optional string swift_prefix = 39;
  optional string php_class_prefix = 40;
  optional string php_namespace = 41;
  optional string php_metadata_namespace = 44;
  optional string ruby_package = 45;
  optional FeatureSet features = 50;
  extensions 990 to 998 [declaration = {
    number: 990,
    full_name: ".pb.file.cpp",
    type: ".pb.file.CppFileOptions"
  }];
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
  reserved 38;
}
message MessageOptions {
  optional bool message_set_wire_format = 1 [default = false];
  optional bool no_standard_descriptor_accessor = 2 [default = false];
  optional bool deprecated = 3 [default = false];
  reserved 4, 5, 6;
  optional bool map_entry = 7;
  reserved 8;
  reserved 9;
  optional bool deprecated_legacy_json_field_conflicts = 11 [deprecated = true];
  optional FeatureSet features = 12;
  extensions 990 to 998;
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
}
message FieldOptions {
  optional CType ctype = 1 [ default = STRING];
  enum CType {
    STRING = 0;
    CORD = 1;
    STRING_PIECE = 2;
  }
  optional bool packed = 2;
  optional JSType jstype = 6 [default = JS_NORMAL];
  enum JSType {
    JS_NORMAL = 0;
    JS_STRING = 1;
    JS_NUMBER = 2;
  }
  optional bool lazy = 5 [default = false];
  optional bool unverified_lazy = 15 [default = false];
  optional bool deprecated = 3 [default = false];
  optional bool weak = 10 [default = false, deprecated = true];
  optional bool debug_redact = 16 [default = false];
  enum OptionRetention {
    RETENTION_UNKNOWN = 0;
    RETENTION_RUNTIME = 1;
    RETENTION_SOURCE = 2;
  }
  optional OptionRetention retention = 17;
  enum OptionTargetType {
    TARGET_TYPE_UNKNOWN = 0;
    TARGET_TYPE_FILE = 1;
    TARGET_TYPE_EXTENSION_RANGE = 2;
    TARGET_TYPE_MESSAGE = 3;
    TARGET_TYPE_FIELD = 4;
    TARGET_TYPE_ONEOF = 5;
    TARGET_TYPE_ENUM = 6;
    TARGET_TYPE_ENUM_ENTRY = 7;
    TARGET_TYPE_SERVICE = 8;
    TARGET_TYPE_METHOD = 9;
  }
  repeated OptionTargetType targets = 19;
  message EditionDefault {
    optional Edition edition = 3;
    optional string value = 2;
  }
  repeated EditionDefault edition_defaults = 20;
  optional FeatureSet features = 21;
  message FeatureSupport {
    optional Edition edition_introduced = 1;
    optional Edition edition_deprecated = 2;
    optional string deprecation_warning = 3;
    optional Edition edition_removed = 4;
    optional string removal_error = 5;
  }
  optional FeatureSupport feature_support = 22;
  extensions 990 to 998;
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
  reserved 4;
  reserved 18;
}
message OneofOptions {
  optional FeatureSet features = 1;
  extensions 990 to 998;
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
}
message EnumOptions {
  optional bool allow_alias = 2;
  optional bool deprecated = 3 [default = false];
  reserved 5;
  optional bool deprecated_legacy_json_field_conflicts = 6 [deprecated = true];
  optional FeatureSet features = 7;
  extensions 990 to 998;
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
}
message EnumValueOptions {
  optional bool deprecated = 1 [default = false];
  optional FeatureSet features = 2;
  optional bool debug_redact = 3 [default = false];
  optional FieldOptions.FeatureSupport feature_support = 4;
  extensions 990 to 998 [declaration = {
    number: 998,
    full_name: ".pb.enumvalue.json",
    type: ".pb.enumvalue.JsonEnumValueOptions"
  }];
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
}
message ServiceOptions {
  optional FeatureSet features = 34;
  optional bool deprecated = 33 [default = false];
  extensions 990 to 998;
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
}
message MethodOptions {
  optional bool deprecated = 33 [default = false];
  enum IdempotencyLevel {
    IDEMPOTENCY_UNKNOWN = 0;
    NO_SIDE_EFFECTS = 1;
    IDEMPOTENT = 2;
  }
  optional IdempotencyLevel idempotency_level = 34
      [default = IDEMPOTENCY_UNKNOWN];
  optional FeatureSet features = 35;
  extensions 990 to 998;
  repeated UninterpretedOption uninterpreted_option = 999;
  extensions 1000 to max;
}
message UninterpretedOption {
  message NamePart {
    required string name_part = 1;
    required bool is_extension = 2;
  }
  repeated NamePart name = 2;
  optional string identifier_value = 3;
  optional uint64 positive_int_value = 4;
  optional int64 negative_int_value = 5;
  optional double double_value = 6;
  optional bytes string_value = 7;
  optional string aggregate_value = 8;
}
message FeatureSet {
  enum FieldPresence {
    FIELD_PRESENCE_UNKNOWN = 0;
    EXPLICIT = 1;
    IMPLICIT = 2;
    LEGACY_REQUIRED = 3;
  }
  optional FieldPresence field_presence = 1 [
    retention = RETENTION_RUNTIME,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_FILE,
    feature_support = {
      edition_introduced: EDITION_2023,
    },
    edition_defaults = { edition: EDITION_LEGACY, value: "EXPLICIT" },
    edition_defaults = { edition: EDITION_PROTO3, value: "IMPLICIT" },
    edition_defaults = { edition: EDITION_2023, value: "EXPLICIT" }
  ];
  enum EnumType {
    ENUM_TYPE_UNKNOWN = 0;
    OPEN = 1;
    CLOSED = 2;
  }
  optional EnumType enum_type = 2 [
    retention = RETENTION_RUNTIME,
    targets = TARGET_TYPE_ENUM,
    targets = TARGET_TYPE_FILE,
    feature_support = {
      edition_introduced: EDITION_2023,
    },
    edition_defaults = { edition: EDITION_LEGACY, value: "CLOSED" },
    edition_defaults = { edition: EDITION_PROTO3, value: "OPEN" }
  ];
  enum RepeatedFieldEncoding {
    REPEATED_FIELD_ENCODING_UNKNOWN = 0;
    PACKED = 1;
    EXPANDED = 2;
  }
  optional RepeatedFieldEncoding repeated_field_encoding = 3 [
    retention = RETENTION_RUNTIME,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_FILE,
    feature_support = {
      edition_introduced: EDITION_2023,
    },
    edition_defaults = { edition: EDITION_LEGACY, value: "EXPANDED" },
    edition_defaults = { edition: EDITION_PROTO3, value: "PACKED" }
  ];
  enum Utf8Validation {
    UTF8_VALIDATION_UNKNOWN = 0;
    VERIFY = 2;
    NONE = 3;
    reserved 1;
  }
  optional Utf8Validation utf8_validation = 4 [
    retention = RETENTION_RUNTIME,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_FILE,
    feature_support = {
      edition_introduced: EDITION_2023,
    },
    edition_defaults = { edition: EDITION_LEGACY, value: "NONE" },
    edition_defaults = { edition: EDITION_PROTO3, value: "VERIFY" }
  ];
  enum MessageEncoding {
    MESSAGE_ENCODING_UNKNOWN = 0;
    LENGTH_PREFIXED = 1;
    DELIMITED = 2;
  }
  optional MessageEncoding message_encoding = 5 [
    retention = RETENTION_RUNTIME,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_FILE,
    feature_support = {
      edition_introduced: EDITION_2023,
    },
    edition_defaults = { edition: EDITION_LEGACY, value: "LENGTH_PREFIXED" }
  ];
  enum JsonFormat {
    JSON_FORMAT_UNKNOWN = 0;
    ALLOW = 1;
    LEGACY_BEST_EFFORT = 2;
  }
  optional JsonFormat json_format = 6 [
    retention = RETENTION_RUNTIME,
    targets = TARGET_TYPE_MESSAGE,
    targets = TARGET_TYPE_ENUM,
    targets = TARGET_TYPE_FILE,
    feature_support = {
      edition_introduced: EDITION_2023,
    },
    edition_defaults = { edition: EDITION_LEGACY, value: "LEGACY_BEST_EFFORT" },
    edition_defaults = { edition: EDITION_PROTO3, value: "ALLOW" }
  ];
  enum EnforceNamingStyle {
    ENFORCE_NAMING_STYLE_UNKNOWN = 0;
    STYLE2024 = 1;
    STYLE_LEGACY = 2;
    STYLE2026 = 3;
  }
  optional EnforceNamingStyle enforce_naming_style = 7 [
    retention = RETENTION_SOURCE,
    targets = TARGET_TYPE_FILE,
    targets = TARGET_TYPE_EXTENSION_RANGE,
    targets = TARGET_TYPE_MESSAGE,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_ONEOF,
    targets = TARGET_TYPE_ENUM,
    targets = TARGET_TYPE_ENUM_ENTRY,
    targets = TARGET_TYPE_SERVICE,
    targets = TARGET_TYPE_METHOD,
    feature_support = {
      edition_introduced: EDITION_2024,
    },
    edition_defaults = { edition: EDITION_LEGACY, value: "STYLE_LEGACY" },
    edition_defaults = { edition: EDITION_2024, value: "STYLE2024" },
    edition_defaults = { edition: EDITION_2026, value: "STYLE2026" }
  ];
  message VisibilityFeature {
    enum DefaultSymbolVisibility {
      DEFAULT_SYMBOL_VISIBILITY_UNKNOWN = 0;
      EXPORT_ALL = 1;
      EXPORT_TOP_LEVEL = 2;
      LOCAL_ALL = 3;
      STRICT = 4;
    }
    reserved 1 to max;
  }
  optional VisibilityFeature.DefaultSymbolVisibility default_symbol_visibility =
      8 [
        retention = RETENTION_SOURCE,
        targets = TARGET_TYPE_FILE,
        feature_support = {
          edition_introduced: EDITION_2024,
        },
        edition_defaults = { edition: EDITION_LEGACY, value: "EXPORT_ALL" },
        edition_defaults = { edition: EDITION_2024, value: "EXPORT_TOP_LEVEL" },
        edition_defaults = { edition: EDITION_2026, value: "STRICT" }
      ];
  message ProtoLimitsFeature {
    enum EnforceProtoLimits {
      PROTO_LIMITS_UNKNOWN = 0;
      LEGACY_NO_EXPLICIT_LIMITS = 1;
      PROTO_LIMITS2026 = 2;
    }
  }
  optional ProtoLimitsFeature.EnforceProtoLimits enforce_proto_limits = 9 [
    retention = RETENTION_SOURCE,
    targets = TARGET_TYPE_ENUM,
    targets = TARGET_TYPE_MESSAGE,
    targets = TARGET_TYPE_FIELD,
    targets = TARGET_TYPE_ONEOF,
    feature_support = {
      edition_introduced: EDITION_2026,
    },
    edition_defaults = {
      edition: EDITION_LEGACY,
      value: "LEGACY_NO_EXPLICIT_LIMITS"
    },
    edition_defaults = { edition: EDITION_2026, value: "PROTO_LIMITS2026" }
  ];
  reserved 999;
  extensions 1000 to 9994 [
    declaration = {
      number: 1000,
      full_name: ".pb.cpp",
      type: ".pb.CppFeatures"
    },
    declaration = {
      number: 1001,
      full_name: ".pb.java",
      type: ".pb.JavaFeatures"
    },
    declaration = { number: 1002, full_name: ".pb.go", type: ".pb.GoFeatures" },
    declaration = {
      number: 1003,
      full_name: ".pb.python",
      type: ".pb.PythonFeatures"
    },
    declaration = {
      number: 1004,
      full_name: ".pb.csharp",
      type: ".pb.CSharpFeatures"
    },
    declaration = {
      number: 1100,
      full_name: ".imp.impress_feature_set",
      type: ".imp.ImpressFeatureSet"
    },
    declaration = {
      number: 9989,
      full_name: ".pb.java_mutable",
      type: ".pb.JavaMutableFeatures"
    },
    declaration = {
      number: 9990,
      full_name: ".pb.proto1",
      type: ".pb.Proto1Features"
    }
  ];
  extensions 9995 to 9999;
  extensions 10000;
}
message FeatureSetDefaults {
  message FeatureSetEditionDefault {
    optional Edition edition = 3;
    optional FeatureSet overridable_features = 4;
    optional FeatureSet fixed_features = 5;
    reserved 1, 2;
    reserved "features";
  }
  repeated FeatureSetEditionDefault defaults = 1;
  optional Edition minimum_edition = 4;
  optional Edition maximum_edition = 5;
}
message SourceCodeInfo {
  repeated Location location = 1;
  message Location {
    repeated int32 path = 1 [packed = true];
    repeated int32 span = 2 [packed = true];
    optional string leading_comments = 3;
    optional string trailing_comments = 4;
    repeated string leading_detached_comments = 6;
  }
  extensions 536000000 [declaration = {
    number: 536000000
    type: ".buf.descriptor.v1.SourceCodeInfoExtension"
    full_name: ".buf.descriptor.v1.buf_source_code_info_extension"
  }];
}
message GeneratedCodeInfo {
  repeated Annotation annotation = 1;
  message Annotation {
    repeated int32 path = 1 [packed = true];
    optional string source_file = 2;
    optional int32 begin = 3;
    optional int32 end = 4;
    enum Semantic {
      NONE = 0;
      SET = 1;
      ALIAS = 2;
    }
    optional Semantic semantic = 5;
  }
}
enum SymbolVisibility {
  VISIBILITY_UNSET = 0;
  VISIBILITY_LOCAL = 1;
  VISIBILITY_EXPORT = 2;
}
`,
};
