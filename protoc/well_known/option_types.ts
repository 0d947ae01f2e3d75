// Made by `deno task option-types` of descriptor.proto. Do not edit.
import type { EnumData, MessageData, OptionsData } from "./option_data.ts";

/** The part of descriptor.proto that options are read by. */
export const OPTION_TYPES: {
  readonly options: OptionsData;
  readonly messages: readonly MessageData[];
  readonly enums: readonly EnumData[];
} = {
  "options": [
    [11, "google.golang.org/protobuf/types/descriptorpb"],
    [1, "com.google.protobuf"],
    [8, "DescriptorProtos"],
    [37, "Google.Protobuf.Reflection"],
    [36, "GPB"],
    [31, true],
    [9, 1],
  ],
  "messages": [{
    "name": "ExtensionRangeOptions",
    "fields": [
      ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"],
      ["declaration", 2, 3, 11, "google.protobuf.ExtensionRangeOptions.Declaration", null, [[
        17,
        2,
      ]]],
      ["features", 50, 1, 11, "google.protobuf.FeatureSet"],
      [
        "verification",
        3,
        1,
        14,
        "google.protobuf.ExtensionRangeOptions.VerificationState",
        "UNVERIFIED",
        [[17, 2]],
      ],
    ],
    "messages": [{
      "name": "Declaration",
      "fields": [["number", 1, 1, 5], ["full_name", 2, 1, 9], ["type", 3, 1, 9], [
        "reserved",
        5,
        1,
        8,
      ], ["repeated", 6, 1, 8]],
      "reservedRanges": [[4, 5]],
    }],
    "enums": [{ "name": "VerificationState", "values": [["DECLARATION", 0], ["UNVERIFIED", 1]] }],
    "extensionRanges": [[990, 999], [1000, 536870912]],
  }, {
    "name": "FileOptions",
    "fields": [
      ["java_package", 1, 1, 9],
      ["java_outer_classname", 8, 1, 9],
      ["java_multiple_files", 10, 1, 8, null, "false", [[22, [[1, 998], [4, 1001], [
        5,
        "This behavior is enabled by default in editions 2024 and above. To disable it, you can set `features.(pb.java).nest_in_file_class = YES` on individual messages, enums, or services.",
      ]]]]],
      ["java_generate_equals_and_hash", 20, 1, 8, null, null, [[3, true]]],
      ["java_string_check_utf8", 27, 1, 8, null, "false"],
      ["optimize_for", 9, 1, 14, "google.protobuf.FileOptions.OptimizeMode", "SPEED"],
      ["go_package", 11, 1, 9],
      ["cc_generic_services", 16, 1, 8, null, "false"],
      ["java_generic_services", 17, 1, 8, null, "false"],
      ["py_generic_services", 18, 1, 8, null, "false"],
      ["deprecated", 23, 1, 8, null, "false"],
      ["cc_enable_arenas", 31, 1, 8, null, "true", [[22, [[4, 1002], [
        5,
        "cc_enable_arenas is enabled by default in every edition and overrides are ignored.This option is removed in editions 2026 and above.",
      ]]]]],
      ["objc_class_prefix", 36, 1, 9],
      ["csharp_namespace", 37, 1, 9],
      ["swift_prefix", 39, 1, 9],
      ["php_class_prefix", 40, 1, 9],
      ["php_namespace", 41, 1, 9],
      ["php_metadata_namespace", 44, 1, 9],
      ["ruby_package", 45, 1, 9],
      ["features", 50, 1, 11, "google.protobuf.FeatureSet"],
      ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"],
    ],
    "enums": [{
      "name": "OptimizeMode",
      "values": [["SPEED", 1], ["CODE_SIZE", 2], ["LITE_RUNTIME", 3]],
    }],
    "extensionRanges": [[990, 999, [[2, [[[1, 990], [2, ".pb.file.cpp"], [
      3,
      ".pb.file.CppFileOptions",
    ]]]]]], [1000, 536870912]],
    "reservedRanges": [[42, 43], [38, 39]],
    "reservedNames": ["php_generic_services"],
  }, {
    "name": "MessageOptions",
    "fields": [
      ["message_set_wire_format", 1, 1, 8, null, "false"],
      ["no_standard_descriptor_accessor", 2, 1, 8, null, "false"],
      ["deprecated", 3, 1, 8, null, "false"],
      ["map_entry", 7, 1, 8],
      ["deprecated_legacy_json_field_conflicts", 11, 1, 8, null, null, [[3, true]]],
      ["features", 12, 1, 11, "google.protobuf.FeatureSet"],
      ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"],
    ],
    "extensionRanges": [[990, 999], [1000, 536870912]],
    "reservedRanges": [[4, 5], [5, 6], [6, 7], [8, 9], [9, 10]],
  }, {
    "name": "FieldOptions",
    "fields": [
      ["ctype", 1, 1, 14, "google.protobuf.FieldOptions.CType", "STRING"],
      ["packed", 2, 1, 8],
      ["jstype", 6, 1, 14, "google.protobuf.FieldOptions.JSType", "JS_NORMAL"],
      ["lazy", 5, 1, 8, null, "false"],
      ["unverified_lazy", 15, 1, 8, null, "false"],
      ["deprecated", 3, 1, 8, null, "false"],
      ["weak", 10, 1, 8, null, "false", [[3, true]]],
      ["debug_redact", 16, 1, 8, null, "false"],
      ["retention", 17, 1, 14, "google.protobuf.FieldOptions.OptionRetention"],
      ["targets", 19, 3, 14, "google.protobuf.FieldOptions.OptionTargetType"],
      ["edition_defaults", 20, 3, 11, "google.protobuf.FieldOptions.EditionDefault"],
      ["features", 21, 1, 11, "google.protobuf.FeatureSet"],
      ["feature_support", 22, 1, 11, "google.protobuf.FieldOptions.FeatureSupport"],
      ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"],
    ],
    "messages": [{
      "name": "EditionDefault",
      "fields": [["edition", 3, 1, 14, "google.protobuf.Edition"], ["value", 2, 1, 9]],
    }, {
      "name": "FeatureSupport",
      "fields": [
        ["edition_introduced", 1, 1, 14, "google.protobuf.Edition"],
        ["edition_deprecated", 2, 1, 14, "google.protobuf.Edition"],
        ["deprecation_warning", 3, 1, 9],
        ["edition_removed", 4, 1, 14, "google.protobuf.Edition"],
        ["removal_error", 5, 1, 9],
      ],
    }],
    "enums": [{ "name": "CType", "values": [["STRING", 0], ["CORD", 1], ["STRING_PIECE", 2]] }, {
      "name": "JSType",
      "values": [["JS_NORMAL", 0], ["JS_STRING", 1], ["JS_NUMBER", 2]],
    }, {
      "name": "OptionRetention",
      "values": [["RETENTION_UNKNOWN", 0], ["RETENTION_RUNTIME", 1], ["RETENTION_SOURCE", 2]],
    }, {
      "name": "OptionTargetType",
      "values": [
        ["TARGET_TYPE_UNKNOWN", 0],
        ["TARGET_TYPE_FILE", 1],
        ["TARGET_TYPE_EXTENSION_RANGE", 2],
        ["TARGET_TYPE_MESSAGE", 3],
        ["TARGET_TYPE_FIELD", 4],
        ["TARGET_TYPE_ONEOF", 5],
        ["TARGET_TYPE_ENUM", 6],
        ["TARGET_TYPE_ENUM_ENTRY", 7],
        ["TARGET_TYPE_SERVICE", 8],
        ["TARGET_TYPE_METHOD", 9],
      ],
    }],
    "extensionRanges": [[990, 999], [1000, 536870912]],
    "reservedRanges": [[4, 5], [18, 19]],
  }, {
    "name": "OneofOptions",
    "fields": [["features", 1, 1, 11, "google.protobuf.FeatureSet"], [
      "uninterpreted_option",
      999,
      3,
      11,
      "google.protobuf.UninterpretedOption",
    ]],
    "extensionRanges": [[990, 999], [1000, 536870912]],
  }, {
    "name": "EnumOptions",
    "fields": [
      ["allow_alias", 2, 1, 8],
      ["deprecated", 3, 1, 8, null, "false"],
      ["deprecated_legacy_json_field_conflicts", 6, 1, 8, null, null, [[3, true]]],
      ["features", 7, 1, 11, "google.protobuf.FeatureSet"],
      ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"],
    ],
    "extensionRanges": [[990, 999], [1000, 536870912]],
    "reservedRanges": [[5, 6]],
  }, {
    "name": "EnumValueOptions",
    "fields": [
      ["deprecated", 1, 1, 8, null, "false"],
      ["features", 2, 1, 11, "google.protobuf.FeatureSet"],
      ["debug_redact", 3, 1, 8, null, "false"],
      ["feature_support", 4, 1, 11, "google.protobuf.FieldOptions.FeatureSupport"],
      ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"],
    ],
    "extensionRanges": [[990, 999, [[2, [[[1, 998], [2, ".pb.enumvalue.json"], [
      3,
      ".pb.enumvalue.JsonEnumValueOptions",
    ]]]]]], [1000, 536870912]],
  }, {
    "name": "ServiceOptions",
    "fields": [["features", 34, 1, 11, "google.protobuf.FeatureSet"], [
      "deprecated",
      33,
      1,
      8,
      null,
      "false",
    ], ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"]],
    "extensionRanges": [[990, 999], [1000, 536870912]],
  }, {
    "name": "MethodOptions",
    "fields": [
      ["deprecated", 33, 1, 8, null, "false"],
      [
        "idempotency_level",
        34,
        1,
        14,
        "google.protobuf.MethodOptions.IdempotencyLevel",
        "IDEMPOTENCY_UNKNOWN",
      ],
      ["features", 35, 1, 11, "google.protobuf.FeatureSet"],
      ["uninterpreted_option", 999, 3, 11, "google.protobuf.UninterpretedOption"],
    ],
    "enums": [{
      "name": "IdempotencyLevel",
      "values": [["IDEMPOTENCY_UNKNOWN", 0], ["NO_SIDE_EFFECTS", 1], ["IDEMPOTENT", 2]],
    }],
    "extensionRanges": [[990, 999], [1000, 536870912]],
  }, {
    "name": "UninterpretedOption",
    "fields": [
      ["name", 2, 3, 11, "google.protobuf.UninterpretedOption.NamePart"],
      ["identifier_value", 3, 1, 9],
      ["positive_int_value", 4, 1, 4],
      ["negative_int_value", 5, 1, 3],
      ["double_value", 6, 1, 1],
      ["string_value", 7, 1, 12],
      ["aggregate_value", 8, 1, 9],
    ],
    "messages": [{
      "name": "NamePart",
      "fields": [["name_part", 1, 2, 9], ["is_extension", 2, 2, 8]],
    }],
  }, {
    "name": "FeatureSet",
    "fields": [["field_presence", 1, 1, 14, "google.protobuf.FeatureSet.FieldPresence", null, [
      [17, 1],
      [19, [4, 1]],
      [22, [[1, 1000]]],
      [20, [[[3, 900], [2, "EXPLICIT"]], [[3, 999], [2, "IMPLICIT"]], [[3, 1000], [
        2,
        "EXPLICIT",
      ]]]],
    ]], ["enum_type", 2, 1, 14, "google.protobuf.FeatureSet.EnumType", null, [
      [17, 1],
      [19, [6, 1]],
      [22, [[1, 1000]]],
      [20, [[[3, 900], [2, "CLOSED"]], [[3, 999], [2, "OPEN"]]]],
    ]], [
      "repeated_field_encoding",
      3,
      1,
      14,
      "google.protobuf.FeatureSet.RepeatedFieldEncoding",
      null,
      [[17, 1], [19, [4, 1]], [22, [[1, 1000]]], [20, [[[3, 900], [2, "EXPANDED"]], [[3, 999], [
        2,
        "PACKED",
      ]]]]],
    ], ["utf8_validation", 4, 1, 14, "google.protobuf.FeatureSet.Utf8Validation", null, [
      [17, 1],
      [19, [4, 1]],
      [22, [[1, 1000]]],
      [20, [[[3, 900], [2, "NONE"]], [[3, 999], [2, "VERIFY"]]]],
    ]], ["message_encoding", 5, 1, 14, "google.protobuf.FeatureSet.MessageEncoding", null, [
      [17, 1],
      [19, [4, 1]],
      [22, [[1, 1000]]],
      [20, [[[3, 900], [2, "LENGTH_PREFIXED"]]]],
    ]], ["json_format", 6, 1, 14, "google.protobuf.FeatureSet.JsonFormat", null, [
      [17, 1],
      [19, [3, 6, 1]],
      [22, [[1, 1000]]],
      [20, [[[3, 900], [2, "LEGACY_BEST_EFFORT"]], [[3, 999], [2, "ALLOW"]]]],
    ]], ["enforce_naming_style", 7, 1, 14, "google.protobuf.FeatureSet.EnforceNamingStyle", null, [
      [17, 2],
      [19, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
      [22, [[1, 1001]]],
      [20, [[[3, 900], [2, "STYLE_LEGACY"]], [[3, 1001], [2, "STYLE2024"]], [[3, 1002], [
        2,
        "STYLE2026",
      ]]]],
    ]], [
      "default_symbol_visibility",
      8,
      1,
      14,
      "google.protobuf.FeatureSet.VisibilityFeature.DefaultSymbolVisibility",
      null,
      [[17, 2], [19, [1]], [22, [[1, 1001]]], [20, [[[3, 900], [2, "EXPORT_ALL"]], [[3, 1001], [
        2,
        "EXPORT_TOP_LEVEL",
      ]], [[3, 1002], [2, "STRICT"]]]]],
    ], [
      "enforce_proto_limits",
      9,
      1,
      14,
      "google.protobuf.FeatureSet.ProtoLimitsFeature.EnforceProtoLimits",
      null,
      [[17, 2], [19, [6, 3, 4, 5]], [22, [[1, 1002]]], [20, [[[3, 900], [
        2,
        "LEGACY_NO_EXPLICIT_LIMITS",
      ]], [[3, 1002], [2, "PROTO_LIMITS2026"]]]]],
    ]],
    "messages": [{
      "name": "VisibilityFeature",
      "enums": [{
        "name": "DefaultSymbolVisibility",
        "values": [
          ["DEFAULT_SYMBOL_VISIBILITY_UNKNOWN", 0],
          ["EXPORT_ALL", 1],
          ["EXPORT_TOP_LEVEL", 2],
          ["LOCAL_ALL", 3],
          ["STRICT", 4],
        ],
      }],
      "reservedRanges": [[1, 536870912]],
    }, {
      "name": "ProtoLimitsFeature",
      "enums": [{
        "name": "EnforceProtoLimits",
        "values": [["PROTO_LIMITS_UNKNOWN", 0], ["LEGACY_NO_EXPLICIT_LIMITS", 1], [
          "PROTO_LIMITS2026",
          2,
        ]],
      }],
    }],
    "enums": [
      {
        "name": "FieldPresence",
        "values": [["FIELD_PRESENCE_UNKNOWN", 0], ["EXPLICIT", 1], ["IMPLICIT", 2], [
          "LEGACY_REQUIRED",
          3,
        ]],
      },
      { "name": "EnumType", "values": [["ENUM_TYPE_UNKNOWN", 0], ["OPEN", 1], ["CLOSED", 2]] },
      {
        "name": "RepeatedFieldEncoding",
        "values": [["REPEATED_FIELD_ENCODING_UNKNOWN", 0], ["PACKED", 1], ["EXPANDED", 2]],
      },
      {
        "name": "Utf8Validation",
        "values": [["UTF8_VALIDATION_UNKNOWN", 0], ["VERIFY", 2], ["NONE", 3]],
        "reservedRanges": [[1, 1]],
      },
      {
        "name": "MessageEncoding",
        "values": [["MESSAGE_ENCODING_UNKNOWN", 0], ["LENGTH_PREFIXED", 1], ["DELIMITED", 2]],
      },
      {
        "name": "JsonFormat",
        "values": [["JSON_FORMAT_UNKNOWN", 0], ["ALLOW", 1], ["LEGACY_BEST_EFFORT", 2]],
      },
      {
        "name": "EnforceNamingStyle",
        "values": [["ENFORCE_NAMING_STYLE_UNKNOWN", 0], ["STYLE2024", 1], ["STYLE_LEGACY", 2], [
          "STYLE2026",
          3,
        ]],
      },
    ],
    "extensionRanges": [
      [1000, 9995, [[2, [
        [[1, 1000], [2, ".pb.cpp"], [3, ".pb.CppFeatures"]],
        [[1, 1001], [2, ".pb.java"], [3, ".pb.JavaFeatures"]],
        [[1, 1002], [2, ".pb.go"], [3, ".pb.GoFeatures"]],
        [[1, 1003], [2, ".pb.python"], [3, ".pb.PythonFeatures"]],
        [[1, 1004], [2, ".pb.csharp"], [3, ".pb.CSharpFeatures"]],
        [[1, 1100], [2, ".imp.impress_feature_set"], [3, ".imp.ImpressFeatureSet"]],
        [[1, 9989], [2, ".pb.java_mutable"], [3, ".pb.JavaMutableFeatures"]],
        [[1, 9990], [2, ".pb.proto1"], [3, ".pb.Proto1Features"]],
      ]]]],
      [9995, 10000],
      [10000, 10001],
    ],
    "reservedRanges": [[999, 1000]],
  }],
  "enums": [{
    "name": "Edition",
    "values": [
      ["EDITION_UNKNOWN", 0],
      ["EDITION_LEGACY", 900],
      ["EDITION_PROTO2", 998],
      ["EDITION_PROTO3", 999],
      ["EDITION_2023", 1000],
      ["EDITION_2024", 1001],
      ["EDITION_2026", 1002],
      ["EDITION_UNSTABLE", 9999],
      ["EDITION_1_TEST_ONLY", 1],
      ["EDITION_2_TEST_ONLY", 2],
      ["EDITION_99997_TEST_ONLY", 99997],
      ["EDITION_99998_TEST_ONLY", 99998],
      ["EDITION_99999_TEST_ONLY", 99999],
      ["EDITION_MAX", 2147483647],
    ],
  }],
};
