import { assertEquals } from "@std/assert";
import { MAX_OVERLAP_ERRORS } from "../../../protoc/link/ranges.ts";
import { compiled } from "../compiled.ts";

/** The first error of a file, without its name. */
function fault(text: string): string | undefined {
  return compiled(text).errors[0]?.replace("a.proto:", "");
}

Deno.test("validateProto3() refuses what proto3 has not", () => {
  const cases: [string, string][] = [
    ["message A { extensions 10 to 20; }", "1:42: Extension ranges are not allowed in proto3."],
    [
      "message A { option message_set_wire_format = true; }",
      "1:28: MessageSet is not supported in proto3.",
    ],
    [
      "message A { int32 x = 1 [default = 1]; }",
      "1:55: Explicit default values are not allowed in proto3.",
    ],
    ["message A { required int32 x = 1; }", "1:32: Required fields are not allowed in proto3."],
    ["enum E { X = 1; }", "1:33: The first enum value must be zero for open enums."],
  ];
  for (const [text, message] of cases) {
    assertEquals(
      fault(`syntax = "proto3"; ${text}`)?.replace(/^\d+:\d+/, ""),
      message.replace(/^\d+:\d+/, ""),
    );
  }
});

Deno.test("validateEnum() finds names that differ by the prefix only", () => {
  assertEquals(
    fault('syntax = "proto3"; enum Foo { FOO_A = 0; A = 1; }'),
    "1:42: Enum name A has the same name as FOO_A if you ignore case and strip out the enum name " +
      "prefix (if any). (If you are using allow_alias, please assign the same number to each enum " +
      "value name.)",
  );
  assertEquals(fault('syntax = "proto3"; enum Foo { FOO_A = 0; FOO_B = 1; }'), undefined);
});

Deno.test("validateEnum() wants aliases to be allowed, and proposes a number", () => {
  assertEquals(
    fault('syntax = "proto3"; enum E { A = 0; B = 1; C = 0; }'),
    '1:47: "C" uses the same enum value as "A". If this is intended, set \'option allow_alias = ' +
      "true;' to the enum definition. The next available enum value is 2.",
  );
});

Deno.test("validateMessage() finds fields with one JSON name", () => {
  const text = (syntax: string) =>
    `syntax = "${syntax}"; message A { optional int32 foo_bar = 1; optional int32 fooBar = 2; }`;
  const message =
    'The default JSON name of field "fooBar" ("fooBar") conflicts with the default JSON ' +
    'name of field "foo_bar".';
  assertEquals(fault(text("proto3")), `1:75: ${message}`);
  assertEquals(compiled(text("proto2")).warnings, [`a.proto:1:75: warning: ${message}`]);
  assertEquals(
    fault(
      'syntax = "proto2"; message A { optional int32 a = 1 [json_name = "x"]; optional int32 b = 2 [json_name = "x"]; }',
    ),
    '1:87: The custom JSON name of field "b" ("x") conflicts with the custom JSON name of field "a".',
  );
  assertEquals(
    fault('syntax = "proto3"; message A { int32 a = 1 [json_name = "[x]"]; }'),
    '1:38: The custom JSON name of field "a" ("[x]") is invalid: JSON names may not start with ' +
      "'[' and end with ']'.",
  );
});

Deno.test("validateField() wants lazy, packed and jstype where they mean something", () => {
  const cases: [string, string][] = [
    [
      "optional int32 a = 1 [lazy = true];",
      "[lazy = true] can only be specified for submessage fields.",
    ],
    [
      "repeated string a = 1 [packed = true];",
      "[packed = true] can only be specified for repeated primitive fields.",
    ],
    [
      "optional int32 a = 1 [packed = true];",
      "[packed = true] can only be specified for repeated primitive fields.",
    ],
    [
      "optional int32 a = 1 [jstype = JS_STRING];",
      "jstype is only allowed on int64, uint64, sint64, fixed64 or sfixed64 fields.",
    ],
  ];
  for (const [field, message] of cases) {
    assertEquals(fault(`syntax = "proto2"; message A { ${field} }`), `1:41: ${message}`);
  }
  assertEquals(
    fault('syntax = "proto2"; message A { optional int64 a = 1 [jstype = JS_STRING]; }'),
    undefined,
  );
});

Deno.test("validateMapField() checks key types, and who uses the entry message", () => {
  assertEquals(
    fault('syntax = "proto3"; message A { map<float, int32> m = 1; }'),
    "1:32: Key in map fields cannot be float/double, bytes or message types.",
  );
  assertEquals(
    fault('syntax = "proto3"; enum E { X = 0; } message A { map<E, int32> m = 1; }'),
    "1:50: Key in map fields cannot be enum types.",
  );
  assertEquals(
    fault('syntax = "proto3"; message A { map<int32, int32> m = 1; MEntry e = 2; }'),
    "1:57: A.MEntry is a synthetic MapEntry message type, which is not allowed to be used as a field " +
      "type.",
  );
});

Deno.test("explainMapConflicts() names the entry message nobody wrote", () => {
  const { errors } = compiled(
    'syntax = "proto3"; message A { map<int32, int32> m = 1; message MEntry {} }',
  );
  assertEquals(
    errors.at(-1),
    "a.proto:1:28: Expanded map entry type MEntry conflicts with an existing nested message type.",
  );
});

Deno.test("validateDeclared() compares extensions with what their range declares", () => {
  const text = (extension: string) =>
    'syntax = "proto2"; message A { extensions 10 to 20 [declaration = { number: 10, ' +
    `full_name: ".x", type: "int32" }]; } extend A { ${extension} }`;
  assertEquals(fault(text("optional int32 x = 10;")), undefined);
  assertEquals(
    fault(text("optional string x = 10;"))?.replace(/^\d+:\d+: /, ""),
    '"A" extension field 10 is expected to be type "int32", not "string".',
  );
  assertEquals(
    fault(text("optional int32 y = 10;"))?.replace(/^\d+:\d+: /, ""),
    '"A" extension field 10 is expected to have field name ".x", not ".y".',
  );
  assertEquals(
    fault(text("repeated int32 x = 10;"))?.replace(/^\d+:\d+: /, ""),
    '"A" extension field 10 is expected to be optional.',
  );
  assertEquals(
    fault(text("optional int32 z = 11;"))?.startsWith("1:"),
    true,
  );
});

Deno.test("checkMessageRanges() finds ranges that overlap", () => {
  assertEquals(
    fault('syntax = "proto3"; message A { reserved 1 to 5, 3; }'),
    "1:41: Reserved range 3 to 3 overlaps with already-defined range 1 to 5.",
  );
  assertEquals(
    fault('syntax = "proto2"; message A { extensions 1 to 5; reserved 3; }'),
    "1:43: Extension range 1 to 5 overlaps with reserved range 3 to 3.",
  );
  assertEquals(
    fault('syntax = "proto3"; message A { reserved "x", "x"; }'),
    '1:28: Field name "x" is reserved multiple times.',
  );
});

Deno.test("checkMessageRanges() keeps its pace and its patience with many ranges", () => {
  const ranges = Array.from({ length: 9_000 }, (_, i) => `${2 * i + 2}`).join(", ");
  const fields = Array.from({ length: 9_000 }, (_, i) => `int32 f${i} = ${2 * i + 1};`).join(" ");
  assertEquals(fault(`syntax = "proto3"; message A { reserved ${ranges}; ${fields} }`), undefined);
  const same = new Array(5_000).fill("7").join(", ");
  const { errors } = compiled(`syntax = "proto3"; message A { reserved ${same}; }`);
  assertEquals(errors.length, MAX_OVERLAP_ERRORS);
});

Deno.test("checkEnumRanges() counts the end of a range in", () => {
  assertEquals(
    fault('syntax = "proto3"; enum E { A = 0; B = 5; reserved 2 to 5; }'),
    '1:52: Enum value "B" uses reserved number 5.',
  );
  assertEquals(fault('syntax = "proto3"; enum E { A = 0; B = 6; reserved 2 to 5; }'), undefined);
});

Deno.test("validateRequested() keeps numbers for protobuf itself", () => {
  assertEquals(
    compiled('syntax = "proto3"; message A { int32 x = 19000; }').errors,
    [
      "a.proto: Field numbers 19000 through 19999 are reserved for the protocol buffer library " +
      "implementation.",
    ],
  );
});

Deno.test("validateField() wants items of message sets to be optional messages", () => {
  const head =
    'syntax = "proto2"; message S { option message_set_wire_format = true; extensions 4 to max; } ';
  assertEquals(fault(`${head}message A { extend S { optional A a = 2000000000; } }`), undefined);
  assertEquals(
    fault(`${head}extend S { optional int32 x = 5; }`)?.replace(/^\d+:\d+: /, ""),
    "Extensions of MessageSets must be optional messages.",
  );
});

Deno.test("checkNestedVisibility() keeps nested types in under STRICT", () => {
  const text = (body: string) =>
    `edition = "2024"; option features.default_symbol_visibility = STRICT; ${body}`;
  assertEquals(
    compiled(text("local message A { export enum E { X = 0; } reserved 1 to max; }")).errors,
    [],
  );
  assertEquals(
    compiled(text("message A { export message B {} }")).errors[0]?.startsWith(
      'a.proto: "A.B" is a nested message and cannot be `export` with STRICT',
    ),
    true,
  );
});
