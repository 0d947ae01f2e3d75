import { assertEquals } from "@std/assert";
import { FieldType } from "../../../protoc/syntax/kinds.ts";
import { Edition, editionDefaults, editionName, Feature } from "../../../protoc/syntax/features.ts";
import { compiled } from "../compiled.ts";

Deno.test("editionDefaults() follow the edition_defaults of descriptor.proto", () => {
  assertEquals(editionDefaults(Edition.proto2).fieldPresence, Feature.explicit);
  assertEquals(editionDefaults(Edition.proto2).enumType, Feature.closed);
  assertEquals(editionDefaults(Edition.proto3).fieldPresence, Feature.implicit);
  assertEquals(editionDefaults(Edition.proto3).repeatedFieldEncoding, Feature.packed);
  assertEquals(editionDefaults(Edition.edition2023).fieldPresence, Feature.explicit);
  assertEquals(editionDefaults(Edition.edition2023).enforceNamingStyle, Feature.styleLegacy);
  assertEquals(editionDefaults(Edition.edition2024).enforceNamingStyle, Feature.style2024);
  assertEquals(
    editionDefaults(Edition.edition2024).defaultSymbolVisibility,
    Feature.exportTopLevel,
  );
  assertEquals(editionDefaults(Edition.edition2026).defaultSymbolVisibility, Feature.strict);
  assertEquals(editionDefaults(Edition.unstable), editionDefaults(Edition.edition2026));
});

Deno.test("editionName() writes editions as protoc does", () => {
  assertEquals(
    [998, 999, 1000, 1001, 900, 9999, 99999, 7].map(editionName),
    ["PROTO2", "PROTO3", "2023", "2024", "LEGACY", "UNSTABLE", "99999_TEST_ONLY", "7"],
  );
});

Deno.test("resolveFeatures() passes features inwards, and lets elements change them", () => {
  const { file } = compiled(`edition = "2023";
    option features.field_presence = IMPLICIT;
    message A {
      option features.json_format = LEGACY_BEST_EFFORT;
      int32 a = 1;
      int32 b = 2 [features.field_presence = EXPLICIT];
      message B { int32 c = 1; }
    }`);
  const [message] = file!.messages;
  assertEquals(message!.fields.map((field) => field.features!.fieldPresence), [2, 1]);
  const nested = message!.messages[0]!.fields[0]!.features!;
  assertEquals(nested.fieldPresence, Feature.implicit);
  assertEquals(nested.jsonFormat, Feature.legacyBestEffort);
});

Deno.test("resolveFeatures() shares one object among elements that say nothing", () => {
  const { file } = compiled('syntax = "proto3"; message A { int32 a = 1; } enum E { X = 0; }');
  const [message] = file!.messages;
  assertEquals(message!.fields[0]!.features === file!.features, true);
  assertEquals(file!.enums[0]!.values[0]!.features === file!.features, true);
});

Deno.test("resolveFeatures() reads required, groups and packed of proto2", () => {
  const { file } = compiled(`syntax = "proto2"; message A {
    required int32 a = 1;
    repeated int32 b = 2 [packed = true];
    optional group C = 3 {} }`);
  const [a, b, c] = file!.messages[0]!.fields.map((field) => field.features!);
  assertEquals(a!.fieldPresence, Feature.legacyRequired);
  assertEquals(b!.repeatedFieldEncoding, Feature.packed);
  assertEquals(c!.messageEncoding, Feature.delimited);
});

Deno.test("resolveFeatures() makes delimited messages groups, but not maps", () => {
  const { file } = compiled(`edition = "2023";
    option features.message_encoding = DELIMITED;
    message A { A a = 1; map<int32, A> m = 2; }`);
  const [a, m] = file!.messages[0]!.fields;
  assertEquals([a!.type, m!.type], [FieldType.group, FieldType.message]);
});

Deno.test("resolveFeatures() refuses features outside of editions", () => {
  const { errors } = compiled(
    'syntax = "proto3";\nmessage A { int32 a = 1 [features.field_presence = EXPLICIT]; }',
  );
  assertEquals(errors, ["a.proto:2:19: Features are only valid under editions."]);
});

Deno.test("resolveFeatures() refuses values that stand for unknown", () => {
  const { errors } = compiled('edition = "2023"; option features.enum_type = ENUM_TYPE_UNKNOWN;');
  assertEquals(errors, [
    "a.proto:1:1: Feature field `enum_type` must resolve to a known value, found ENUM_TYPE_UNKNOWN",
  ]);
});

Deno.test("validateLifetimes() refuses what is not there yet, or not any more", () => {
  const early = compiled('edition = "2023"; option features.enforce_naming_style = STYLE2024;');
  assertEquals(early.errors, [
    "a.proto: google.protobuf.FeatureSet.enforce_naming_style wasn't introduced until edition 2024 " +
    "and can't be used in edition 2023",
  ]);
  const late = compiled('edition = "2024"; option java_multiple_files = true;');
  assertEquals(late.errors.length, 1);
  assertEquals(
    late.errors[0]!.startsWith(
      "a.proto: google.protobuf.FileOptions.java_multiple_files has been removed in edition 2024: ",
    ),
    true,
  );
});

Deno.test("validateLifetimes() warns of what will go", () => {
  const { warnings } = compiled(`edition = "2023";
package a;
import "google/protobuf/cpp_features.proto";
option features.(pb.cpp).legacy_closed_enum = true;`);
  assertEquals(warnings.length, 1);
  assertEquals(
    warnings[0]!.startsWith(
      "a.proto:2:1: warning: pb.CppFeatures.legacy_closed_enum has been deprecated in edition 2023: ",
    ),
    true,
  );
});

Deno.test("validateField() refuses features a field cannot have", () => {
  const text = (field: string) =>
    `edition = "2023"; message A { ${field} oneof o { int32 z = 99; } }`;
  const cases: [string, string][] = [
    [
      "repeated int32 a = 1 [features.field_presence = IMPLICIT];",
      "Repeated fields can't specify field presence.",
    ],
    [
      "A a = 1 [features.field_presence = IMPLICIT];",
      "Message fields can't specify implicit presence.",
    ],
    [
      "int32 a = 1 [features.repeated_field_encoding = PACKED];",
      "Only repeated fields can specify repeated field encoding.",
    ],
    [
      "int32 a = 1 [features.utf8_validation = NONE];",
      "Only string fields can specify utf8 validation.",
    ],
    [
      "int32 a = 1 [features.message_encoding = DELIMITED];",
      "Only message fields can specify message encoding.",
    ],
    [
      "repeated int32 a = 1 [packed = true];",
      "Field option packed is not allowed under editions.  Use the repeated_field_encoding feature to control this behavior.",
    ],
  ];
  for (const [field, message] of cases) {
    const { errors } = compiled(text(field));
    assertEquals(errors[0]?.replace(/^a\.proto:\d+:\d+: /, ""), message);
  }
});

Deno.test("validateNamingStyle() holds files of 2024 to the style guide", () => {
  const { errors } = compiled(
    'edition = "2024";\nmessage bad { int32 Bad = 1; }\nenum E { bad_value = 0; }\nenum f { X_1 = 0; }',
  );
  const optOut =
    " (features.enforce_naming_style = STYLE_LEGACY can be used to opt out of this check)";
  assertEquals(errors, [
    `a.proto:2:9: Message name bad should begin with a capital letter${optOut}`,
    `a.proto:2:21: Field name Bad should be lower_snake_case${optOut}`,
    `a.proto:3:10: Enum value name bad_value should be UPPER_SNAKE_CASE${optOut}`,
    `a.proto:4:6: Enum name f should begin with a capital letter${optOut}`,
    `a.proto:4:10: Enum value name X_1 contains style violating underscores${optOut}`,
  ]);
});
