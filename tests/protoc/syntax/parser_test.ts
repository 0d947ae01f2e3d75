import { assertEquals } from "@std/assert";
import type { FileNode } from "../../../protoc/syntax/ast.ts";
import { FieldType, Label, Visibility } from "../../../protoc/syntax/kinds.ts";
import { LIMITS } from "../../../protoc/limits.ts";
import { parseFile } from "../../../protoc/syntax/parse_file.ts";
import { Source } from "../../../protoc/lex/source.ts";

/** The parsed file, and its errors as `line:column: message`. */
function parse(text: string): { file: FileNode; errors: string[]; warnings: string[] } {
  const source = new Source(text);
  const errors: string[] = [];
  const warnings: string[] = [];
  const { file } = parseFile("a.proto", source, undefined, (offset, message, isWarning) => {
    const { line, column } = offset < 0 ? { line: -1, column: -1 } : source.position(offset);
    (isWarning ? warnings : errors).push(`${line + 1}:${column + 1}: ${message}`);
  });
  return { file, errors, warnings };
}

function valid(text: string): FileNode {
  const { file, errors } = parse(text);
  assertEquals(errors, []);
  return file;
}

Deno.test("parseFile() reads syntax, edition, package and imports", () => {
  const file = valid(
    'edition = "2024"; package a . b; import "x"; import public "y" "z"; import option "o";',
  );
  assertEquals([file.syntax, file.edition, file.package], ["editions", 1001, "a.b"]);
  assertEquals(file.imports.map(({ name }) => name), ["x", "yz"]);
  assertEquals(file.publicDependency, [1]);
  assertEquals(file.optionImports.map(({ name }) => name), ["o"]);
});

Deno.test("parseFile() takes a file without syntax for proto2", () => {
  assertEquals(valid("message A { required int32 x = 1; }").syntax, "proto2");
});

Deno.test("parseFile() lets keywords be names", () => {
  const file = valid(
    'syntax = "proto3"; message message { string string = 1; map map = 2; ' +
      "repeated repeated repeated = 4; x.reserved reserved = 5; }",
  );
  assertEquals(
    file.messages[0]!.fields.map(({ name, typeName }) => `${typeName} ${name}`),
    [" string", "map map", "repeated repeated", "x.reserved reserved"],
  );
});

Deno.test("parseFile() makes a message of each map field and copies features to its parts", () => {
  const [message] = valid(
    'edition = "2023"; message A { map<string, a.B> foo_bar = 1 [features.utf8_validation = NONE]; }',
  ).messages;
  const [field] = message!.fields;
  assertEquals([field!.typeName, field!.label], ["FooBarEntry", Label.repeated]);
  const [entry] = message!.messages;
  assertEquals(entry!.mapEntry, true);
  assertEquals(
    entry!.fields.map((part) => [part.name, part.type, part.options?.uninterpreted.length]),
    [["key", FieldType.string, 1], ["value", FieldType.unresolved, 1]],
  );
});

Deno.test("parseFile() makes a message of each group", () => {
  const [message] = valid(
    "message A { optional group Foo = 1 { optional int32 x = 1; } }",
  ).messages;
  const [field] = message!.fields;
  assertEquals([field!.name, field!.typeName, field!.type], ["foo", "Foo", FieldType.group]);
  assertEquals(message!.messages[0]!.fields[0]!.name, "x");
});

Deno.test("parseFile() puts the oneof of an optional field behind the others, with a free name", () => {
  const [message] = valid(
    'syntax = "proto3"; message A { optional int32 x = 1; int32 _x = 2; optional int32 _y = 3; ' +
      "oneof o { int32 z = 4; } }",
  ).messages;
  assertEquals(message!.oneofs.map(({ name }) => name), ["o", "X_x", "X_y"]);
  assertEquals(message!.fields.map(({ oneofIndex }) => oneofIndex), [1, -1, 2, 0]);
});

Deno.test("parseFile() normalises default values", () => {
  const [message] = valid(`message A {
    optional int32 a = 1 [default = -0x10]; optional double b = 2 [default = 1e3];
    optional bytes c = 3 [default = "\\377\\n" 'x']; optional bool d = 4 [default = true];
    optional float e = 5 [default = -inf]; optional string f = 6 [default = "\\303\\251"];
    optional uint64 g = 7 [default = 0777]; optional E h = 8 [default = FOO];
  }`).messages;
  assertEquals(
    message!.fields.map(({ defaultValue }) => defaultValue),
    ["-16", "1000", "\\377\\nx", "true", "-inf", "é", "511", "FOO"],
  );
});

Deno.test("parseFile() keeps option values by kind", () => {
  const { options } = valid(`
    option a = foo; option (b.c).d.(.e) = 5; option f = -5; option g = 1.5; option h = -inf;
    option i = "\\xff"; option j = { k: 1 /* { */ l { m: "}" } }; option n = 18446744073709551616;
  `);
  const values = options!.uninterpreted.map((option) =>
    option.identifier ?? option.positiveInt ?? option.negativeInt ?? option.double ??
      option.stringValue ?? option.aggregate
  );
  assertEquals(values, [
    "foo",
    5n,
    -5n,
    1.5,
    -Infinity,
    Uint8Array.of(0xff),
    ' k: 1         l { m: "}" } ',
    18446744073709552000,
  ]);
  assertEquals(options!.uninterpreted[1]!.name, [
    { part: "b.c", isExtension: true },
    { part: "d", isExtension: false },
    { part: ".e", isExtension: true },
  ]);
});

Deno.test("parseFile() ends ranges to max by the kind of message", () => {
  const [plain, set] = valid(`
    message A { extensions 1, 5 to max; reserved 3 to 4; }
    message B { option message_set_wire_format = true; extensions 4 to max; }
  `).messages;
  assertEquals(
    plain!.extensionRanges.map(({ start, end }) => [start, end]),
    [[1, 2], [5, 0x20000000]],
  );
  assertEquals(plain!.reservedRanges.map(({ start, end }) => [start, end]), [[3, 5]]);
  assertEquals(set!.extensionRanges[0]!.end, 0x7fffffff);
});

Deno.test("parseFile() reads export and local from edition 2024 on only", () => {
  const file = valid('edition = "2024"; export message A { local enum B { X = 0; } }');
  assertEquals(file.messages[0]!.visibility, Visibility.export);
  assertEquals(file.messages[0]!.enums[0]!.visibility, Visibility.local);
  const [old] = valid('edition = "2023"; message A { export export = 1; }').messages;
  assertEquals(old!.fields[0]!.typeName, "export");
});

Deno.test("parseFile() warns about reserved names that are none", () => {
  assertEquals(parse('message A { reserved "a b"; }').warnings, [
    '1:22: Reserved name "a b" is not a valid identifier.',
  ]);
});

/** Text, and what protoc 36.2 says about it. */
const faults: [string, string[]][] = [
  ["massage A {}", ['1:1: Expected top-level statement (e.g. "message").']],
  ["}", ['1:1: Expected top-level statement (e.g. "message").', '1:1: Unmatched "}".']],
  ["message A {", ["1:12: Reached end of input in message definition (missing '}')."]],
  ["message A { int32 x = 1; }", ['1:13: Expected "required", "optional", or "repeated".']],
  ["message A { optional int32 = 1; }", ["1:28: Expected field name."]],
  ["message A { optional int32 x; }", ["1:29: Missing field number."]],
  ["message A { optional int32 x = 4294967296; }", ["1:32: Integer out of range."]],
  ["message A { optional int32 x = 1 }", ['1:34: Expected ";".']],
  ["message A { optional group a = 1 {} }", [
    "1:28: Group names must start with a capital letter.",
  ]],
  ["message A { optional group A = 1; }", ["1:33: Missing group body."]],
  ["message A { oneof a { optional int32 b = 1; } }", [
    "1:23: Fields in oneofs must not have labels (required / optional / repeated).",
  ]],
  ["message A { oneof a { map<int32, int32> b = 1; } }", [
    "1:26: Map fields are not allowed in oneofs.",
  ]],
  ["message A { optional int32 x = 1 [default = 1, default = 2]; }", [
    '1:48: Already set option "default".',
  ]],
  ["message A { optional uint32 x = 1 [default = -1]; }", [
    "1:47: Unsigned field can't have negative default value.",
  ]],
  ["message A { option map_entry = true; }", [
    "1:20: map_entry should not be set explicitly. Use map<KeyType, ValueType> instead.",
  ]],
  ["enum A { option allow_alias = false; X = 0; }", [
    "1:46: \"A\" declares 'option allow_alias = false;' which has no effect. Please remove the " +
    "declaration.",
  ]],
  ['syntax = "proto4";', [
    '1:10: Unrecognized syntax identifier "proto4".  This parser only recognizes "proto2" and ' +
    '"proto3".',
  ]],
  ['edition = "1999";', ['1:11: Unknown edition "1999".']],
  ['edition = "2023"; message A { optional int32 x = 1; }', [
    '1:31: Label "optional" is not supported in editions. By default, all singular fields have ' +
    "presence unless features.field_presence is set.",
  ]],
  ["import 5; package a; package b;", [
    "1:8: Expected a string naming the file to import.",
    "1:22: Multiple package definitions.",
  ]],
  ["service A { rpc B(int32) returns (C); }", ["1:19: Expected message type."]],
  ["option a = {", ["1:13: Unexpected end of stream while parsing aggregate value."]],
  ["option a = - 'x';", ["1:14: Invalid '-' symbol before string."]],
];

for (const [text, expected] of faults) {
  Deno.test(`parseFile() reports ${JSON.stringify(text)} as protoc does`, () => {
    assertEquals(parse(text).errors, expected);
  });
}

Deno.test("parseFile() goes on behind an error and reports the next one", () => {
  const { errors } = parse("message A {\n  optional int32 = 1;\n  foo bar;\n}\nenum { }\n");
  assertEquals(errors, [
    "2:18: Expected field name.",
    '3:3: Expected "required", "optional", or "repeated".',
    "3:10: Missing field number.",
    "5:6: Expected enum name.",
  ]);
});

function nested(depth: number, open: string): string {
  return open.repeat(depth) + "}".repeat(depth);
}

Deno.test("parseFile() refuses messages and groups nested too deep, however deep", () => {
  assertEquals(parse(nested(LIMITS.maxMessageDepth, "message A {")).errors, []);
  const [error] = parse(nested(LIMITS.maxMessageDepth + 1, "message A {")).errors;
  assertEquals(error, "1:342: Reached maximum recursion limit for nested messages.");
  assertEquals(parse(nested(20_000, "message A {")).errors.length > 0, true);
  const group = "optional group A = 1 {";
  const groups = (depth: number) => `message A { ${nested(depth, group)} }`;
  assertEquals(parse(groups(LIMITS.maxGroupDepth)).errors, []);
  assertEquals(
    parse(groups(20_000)).errors[0],
    "0:0: Reached maximum recursion limit for nested messages.",
  );
});
