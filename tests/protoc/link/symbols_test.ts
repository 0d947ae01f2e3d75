import { assertEquals } from "@std/assert";
import type { FileNode } from "../../../protoc/syntax/ast.ts";
import { NodeKind } from "../../../protoc/syntax/kinds.ts";
import { SymbolTable } from "../../../protoc/link/symbols.ts";
import { fullNameOf } from "../../../protoc/syntax/names.ts";
import { compiled } from "../compiled.ts";

Deno.test("declareFile() refuses a name twice in one scope", () => {
  const { errors } = compiled('syntax = "proto3"; message A {} enum A { X = 0; }');
  assertEquals(errors, ['a.proto:1:38: "A" is already defined.']);
});

Deno.test("declareFile() names the scope a name is taken in", () => {
  const { errors } = compiled(
    'syntax = "proto3"; package p; message A { int32 x = 1; oneof x { int32 y = 2; } }',
  );
  assertEquals(errors[0], 'a.proto:1:49: "x" is already defined in "p.A".');
});

Deno.test("declareFile() tells members of a message declared twice before the message", () => {
  const { errors } = compiled(
    'syntax = "proto3";\nmessage A { int32 x = 1; }\nmessage A { int32 x = 1; int32 y = 2; }',
  );
  assertEquals(errors, [
    'a.proto:3:19: "x" is already defined in "A".',
    'a.proto:3:9: "A" is already defined.',
  ]);
});

Deno.test("declareFile() explains that enum values are siblings of their enum", () => {
  const { errors } = compiled(
    'syntax = "proto3";\npackage p;\nenum A { X = 0; }\nenum B { X = 0; }',
  );
  assertEquals(errors, [
    'a.proto:4:10: "X" is already defined in "p".',
    "a.proto:4:10: Note that enum values use C++ scoping rules, meaning that enum values are " +
    'siblings of their type, not children of it.  Therefore, "X" must be unique within "p", not ' +
    'just within "B".',
  ]);
});

Deno.test("declareFile() gives no such explanation for a value twice in one enum", () => {
  const { errors } = compiled('syntax = "proto3"; enum A { X = 0; X = 1; }');
  assertEquals(errors, ['a.proto:1:36: "X" is already defined.']);
});

Deno.test("declareFile() refuses what another file has defined", () => {
  const { errors } = compiled('syntax = "proto3"; import "b.proto"; message A {}', {
    "b.proto": 'syntax = "proto3"; message A {}',
  });
  assertEquals(errors, ['a.proto:1:46: "A" is already defined in file "b.proto".']);
});

Deno.test("declareFile() refuses a package where another file has a message", () => {
  const { errors } = compiled('syntax = "proto3"; package p.A; import "b.proto";', {
    "b.proto": 'syntax = "proto3"; package p; message A {}',
  });
  assertEquals(errors, [
    'a.proto:1:20: "p.A" is already defined (as something other than a package) in file "b.proto".',
  ]);
});

Deno.test("declareFile() limits the length and the depth of packages", () => {
  const long = "a".repeat(512);
  assertEquals(compiled(`package ${long};`).errors, ["a.proto:1:1: Package name is too long"]);
  const deep = new Array(102).fill("a").join(".");
  assertEquals(compiled(`package ${deep};`).errors, [
    "a.proto:1:1: Exceeds Maximum Package Depth",
  ]);
  assertEquals(compiled(`syntax = "proto2"; package ${"a".repeat(511)};`).errors, []);
});

Deno.test("SymbolTable.rollback() forgets what a failed file has declared", () => {
  const table = new SymbolTable();
  const file = { name: "a.proto", package: "p.q" } as FileNode;
  table.begin(file);
  table.declarePackage("p.q", file, () => {});
  assertEquals(table.find("p.q")?.kind, NodeKind.package);
  table.rollback();
  assertEquals(table.find("p"), undefined);
});

Deno.test("SymbolTable.declarePackage() shares packages among files", () => {
  const table = new SymbolTable();
  const file = { name: "a.proto", package: "p" } as FileNode;
  table.begin(file);
  const first = table.declarePackage("p", file, () => {});
  table.begin(file);
  assertEquals(table.declarePackage("p", file, () => {}), first);
  table.rollback();
  assertEquals(table.find("p"), first);
});

Deno.test("fullNameOf() gives enum values the scope of their enum", () => {
  const { file } = compiled('syntax = "proto3"; package p; message A { enum E { X = 0; } }');
  const [message] = file!.messages;
  assertEquals(fullNameOf(message!.enums[0]!), "p.A.E");
  assertEquals(fullNameOf(message!.enums[0]!.values[0]!), "p.A.X");
});

Deno.test("declareFile() takes a field number for a hint of free ones", () => {
  const { errors } = compiled('syntax = "proto3"; message A { reserved 1; int32 x = 1; }');
  assertEquals(errors, [
    'a.proto:1:41: Field "x" uses reserved number 1.',
    "a.proto:1:41: Suggested field numbers for A: 2",
  ]);
});
