import { assertEquals } from "@std/assert";
import { FieldType } from "../../../protoc/syntax/kinds.ts";
import { compiled } from "../compiled.ts";

Deno.test("linkFile() searches the innermost scope first", () => {
  const { file } = compiled(`syntax = "proto3"; package p;
    message B {}
    message A { message B {} B inner = 1; .p.B outer = 2; p.B full = 3; }`);
  const fields = file!.messages[1]!.fields;
  assertEquals(fields.map((field) => field.typeName), [".p.A.B", ".p.B", ".p.B"]);
});

Deno.test("linkFile() binds the first part of a name and goes no further out", () => {
  const { errors } = compiled(`syntax = "proto3"; package p;
message Bar { message Baz {} }
message Foo { message Bar {} Bar.Baz x = 1; }`);
  assertEquals(errors, [
    'a.proto:3:30: "Bar.Baz" is resolved to "p.Foo.Bar.Baz", which is not defined. The innermost ' +
    "scope is searched first in name resolution. Consider using a leading '.'(i.e., \".Bar.Baz\") " +
    "to start from the outermost scope.",
  ]);
});

Deno.test("linkFile() skips what is no type", () => {
  const { file } = compiled(
    'syntax = "proto3"; message A {} message B { int32 A = 1; .A x = 2; A y = 3; }',
  );
  assertEquals(file!.messages[1]!.fields[2]!.typeName, ".A");
});

Deno.test("linkFile() says which file would have to be imported", () => {
  const { errors } = compiled(
    'syntax = "proto3"; package p; import "b.proto"; message A { C c = 1; }',
    {
      "b.proto": 'syntax = "proto3"; package p; import "c.proto"; message B { C c = 1; }',
      "c.proto": 'syntax = "proto3"; package p; message C {}',
    },
  );
  assertEquals(errors, [
    'a.proto:1:61: "p.C" seems to be defined in "c.proto", which is not imported by "a.proto".  To ' +
    "use it here, please add the necessary import.",
  ]);
});

Deno.test("linkFile() sees public imports of imports", () => {
  const { errors, warnings } = compiled(
    'syntax = "proto3"; import "b.proto"; message A { C c = 1; }',
    {
      "b.proto": 'syntax = "proto3"; import public "c.proto";',
      "c.proto": 'syntax = "proto3"; message C {}',
    },
  );
  assertEquals(errors, []);
  assertEquals(warnings, []);
});

Deno.test("linkFile() warns about imports nothing is taken from", () => {
  const { warnings } = compiled('syntax = "proto3";\nimport "b.proto";', {
    "b.proto": 'syntax = "proto3"; message B {}',
  });
  assertEquals(warnings, ["a.proto:2:1: warning: Import b.proto is unused."]);
});

Deno.test("linkFile() finds methods before messages of their name", () => {
  const { errors } = compiled(
    'syntax = "proto3"; message Get {} service S { rpc Get(Get) returns (.Get); }',
  );
  assertEquals(errors, ['a.proto:1:55: "Get" is not a message type.']);
});

Deno.test("linkFile() proposes a number for one that is used twice", () => {
  const { errors } = compiled(
    'syntax = "proto3"; message A { int32 a = 1; int32 b = 2; int32 c = 1; reserved 3; }',
  );
  assertEquals(errors, [
    'a.proto:1:68: Field number 1 has already been used in "A" by field "a". Next available field ' +
    "number is 4.",
  ]);
});

Deno.test("linkFile() tells messages and enums apart", () => {
  const { file } = compiled(
    'syntax = "proto3"; message A { B b = 1; C c = 2; } message B {} ' +
      "enum C { X = 0; }",
  );
  const [b, c] = file!.messages[0]!.fields;
  assertEquals([b!.type, c!.type], [FieldType.message, FieldType.enum]);
  assertEquals(c!.enum, file!.enums[0]);
});

Deno.test("linkFile() checks defaults of enum fields", () => {
  const text = (value: string) =>
    `syntax = "proto2"; enum E { X = 1; } message A { optional E e = 1 [default = ${value}]; }`;
  assertEquals(compiled(text("X")).errors, []);
  assertEquals(compiled(text("Y")).errors, ['a.proto:1:78: Enum type "E" has no value named "Y".']);
  assertEquals(compiled(text("1")).errors, [
    "a.proto:1:78: Default value for an enum field must be an identifier.",
  ]);
});

Deno.test("linkFile() writes floating-point defaults in the field's precision", () => {
  const { file } = compiled(`syntax = "proto2"; message A {
    optional float f = 1 [default = 0.1];
    optional double d = 2 [default = 0.1];
    optional float big = 3 [default = 1e300];
    optional double i = 4 [default = -inf];
    optional float e = 5 [default = 1e-7]; }`);
  const values = file!.messages[0]!.fields.map((field) => field.defaultValue);
  assertEquals(values, ["0.1", "0.1", "inf", "-inf", "1e-07"]);
});

Deno.test("linkFile() refuses extension numbers outside of ranges", () => {
  const { errors } = compiled(
    'syntax = "proto2"; message A { extensions 10 to 20; } extend A { optional int32 x = 9; }',
  );
  assertEquals(errors, ['a.proto:1:85: "A" does not declare 9 as an extension number.']);
});

Deno.test("linkFile() refuses an extension number twice in a file, and warns across files", () => {
  const base = 'syntax = "proto2"; message A { extensions 10 to 20; }';
  const one = compiled(`${base} extend A { optional int32 x = 10; optional int32 y = 10; }`);
  assertEquals(one.errors, [
    'a.proto:1:108: Extension number 10 has already been used in "A" by extension "x".',
  ]);
  const two = compiled(
    'syntax = "proto2"; import "b.proto"; import "c.proto"; extend A { optional int32 y = 10; }',
    {
      "b.proto": base,
      "c.proto": 'syntax = "proto2"; import "b.proto"; extend A { optional int32 x = 10; }',
    },
  );
  assertEquals(two.errors, []);
  assertEquals(
    two.warnings[0],
    'a.proto:1:86: warning: Extension number 10 has already been used in "A" by extension "x" ' +
      "defined in c.proto.",
  );
});

Deno.test("linkFile() respects local types of edition 2024", () => {
  const { errors } = compiled(
    'edition = "2024"; import "b.proto"; message A { B b = 1; C.D d = 2; }',
    {
      "b.proto": 'edition = "2024"; local message B {} message C { message D {} }',
    },
  );
  assertEquals(errors, [
    'a.proto:1:49: Symbol "B", defined in "b.proto"  is not visible from "a.proto". It is ' +
    "explicitly marked 'local' and cannot be accessed outside its own file",
    'a.proto:1:58: Symbol "C.D", defined in "b.proto"  is not visible from "a.proto". It defaulted ' +
    "to local from file-level 'option features.default_symbol_visibility = 'EXPORT_TOP_LEVEL'; and " +
    "cannot be accessed outside its own file",
  ]);
});

Deno.test("linkFile() refuses extensions of what is no message", () => {
  const { errors } = compiled(
    'syntax = "proto2"; enum E { X = 1; } extend E { optional int32 x = 1; }',
  );
  assertEquals(errors, ['a.proto:1:45: "E" is not a message type.']);
});

Deno.test("linkFile() gives every field a JSON name", () => {
  const { file } = compiled(
    'syntax = "proto3"; message A { int32 foo_bar_1 = 1; int32 _x = 2; int32 y = 3 [json_name = "Z"]; }',
  );
  assertEquals(file!.messages[0]!.fields.map((field) => field.jsonName), ["fooBar1", "X", "Z"]);
});
