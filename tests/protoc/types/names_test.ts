import { assert, assertEquals } from "@std/assert";
import { Loader } from "../../../protoc/mod.ts";
import { writeTypeModules, writeTypes } from "../../../protoc/types/module.ts";
import { typeFaults } from "../../support/check_module.ts";

const HERE = { protobuf: "@bufbuild/protobuf" };

/** Every kind of declaration, so that the writer uses every name it ever uses. */
const EVERYTHING = `syntax = "proto3";
  import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto";
  enum Open { ZERO = 0; }
  message Empty {}
  message Full { google.protobuf.Struct s = 1; bytes b = 2; map<string, Open> m = 3; optional int64 i = 4;
    oneof o { string t = 5; google.protobuf.Timestamp at = 6; } repeated double d = 7; bool x = 8; }
  service Nothing {}
  service All { rpc Do(Empty) returns (stream Full); }`;

/** Identifiers of a module, but not those of properties, comments and strings. */
function identifiersIn(text: string): Set<string> {
  const code = text.replaceAll(/\/\*\*[^]*?\*\/|\/\/.*|"[^"]*"|`[^`]*`/g, "");
  const found = new Set<string>();
  for (const [, before, name, after] of code.matchAll(/(\.?)\b([A-Za-z_$][\w$]*)(\??:)?/g)) {
    const isProperty = before === "." ||
      (after !== undefined && name !== "registry" && name !== "name");
    if (!isProperty) found.add(name!);
  }
  return found;
}

Deno.test("writeTypes() keeps every name that it uses itself from the types of a file", async () => {
  const file = new Loader().load(EVERYTHING, "everything.proto");
  const used = identifiersIn(writeTypes([file], { ...HERE, schemas: true }));
  for (
    const name of ["Record", "Pick", "Message", "GenEnum", "fileDesc", "types", "as", "number"]
  ) {
    assert(used.has(name), `${name} is not among the names found`);
  }
  for (const schemas of [false, true]) {
    const names = [...used].filter((name) =>
      !/[$]/.test(name) && !file.messages.some((m) => m.name === name)
    );
    const text = EVERYTHING.replace("service All", "").split("{ rpc Do")[0]! +
      names.filter((name) => !["Open", "Nothing", "All"].includes(name))
        .map((name) => `message ${name} { ${name === "message" ? "" : "Open o = 1;"} }`).join(
          "\n",
        ) +
      "service All { rpc Do(Empty) returns (stream Full); }";
    const clashing = new Loader().load(text, "clashing.proto");
    assertEquals(
      await typeFaults([["types.ts", writeTypes([clashing], { ...HERE, schemas })]]),
      "",
    );
  }
});

Deno.test("writeTypes() gives every type a name of its own", async () => {
  const loader = new Loader();
  const files = [
    loader.load(
      `syntax = "proto3"; package pk; import "google/protobuf/empty.proto";
       message A { message B { int32 one = 1; } message B_C {} } message A_B { message C {} string two = 1; }
       message pk_A_B {} message A_B_ {} enum Record { R = 0; } service Pick {}
       message Empty { google.protobuf.Empty other = 1; } message A_BSchema {} enum A_BSchemaSchema { Z = 0; }`,
      "a.proto",
    ),
    loader.load('syntax = "proto3"; package other; message A { message B {} }', "b.proto"),
  ];
  for (const schemas of [false, true]) {
    const text = writeTypes(files, { ...HERE, schemas });
    const names = [...text.matchAll(/^export type ([\w$]+)/gm)].map((match) => match[1]!);
    assertEquals(names.length, new Set(names).size, names.join());
    const modules = [...writeTypeModules(files, { ...HERE, schemas })];
    assertEquals(modules.map(([path]) => path), ["a_types.ts", "b_types.ts"]);
    assertEquals(await typeFaults([["types.ts", text], ...modules]), "");
  }
});

Deno.test("writeTypes() writes values of enums that objects have other meanings for", async () => {
  const file = new Loader().load(
    'syntax = "proto3"; enum E { NONE = 0; __proto__ = 1; constructor = 2; toString = 3; }',
    "e.proto",
  );
  const text = writeTypes([file], HERE);
  const { E } = await import(`data:application/typescript,${encodeURIComponent(text)}`);
  assertEquals(Object.entries(E), [["NONE", 0], ["__proto__", 1], ["constructor$", 2], [
    "toString$",
    3,
  ]]);
});
