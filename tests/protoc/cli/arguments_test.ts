import { assertEquals, assertThrows } from "@std/assert";
import { parseArguments, UsageError } from "../../../protoc/cli/arguments.ts";

Deno.test("parseArguments() takes protoc's spellings of a root and of an output", () => {
  for (
    const args of [
      ["-Ia", "-I=b", "-oc.pb", "x.proto"],
      ["-I", "a:b", "-o", "c.pb", "x.proto"],
      ["--proto_path=a", "--proto_path", "b", "--descriptor_set_out=c.pb", "x.proto"],
    ]
  ) {
    const parsed = parseArguments(args);
    assertEquals(parsed.roots, ["a", "b"], args.join(" "));
    assertEquals(parsed.descriptorSetOut, "c.pb");
    assertEquals(parsed.inputs, ["x.proto"]);
  }
});

Deno.test("parseArguments() searches imports in the current directory when no root is given", () => {
  assertEquals(parseArguments(["--check", "x.proto"]).roots, ["."]);
});

Deno.test("parseArguments() takes --types_out for --types", () => {
  assertEquals(parseArguments(["--types_out=t.ts", "x.proto"]).types, true);
  assertEquals(parseArguments(["--types", "x.proto"]).typesOut, "-");
});

Deno.test("parseArguments() says what is missing or makes no sense", () => {
  const cases: [string[], string][] = [
    [["--check"], "Missing input file."],
    [["x.proto"], "Missing output directives."],
    [
      ["--check", "--include_imports", "x.proto"],
      "--include_imports only makes sense with --descriptor_set_out.",
    ],
  ];
  for (const [args, message] of cases) {
    assertThrows(() => parseArguments(args), UsageError, message);
  }
  assertThrows(() => parseArguments(["--nothing", "x.proto"]), UsageError, "--nothing");
  assertThrows(() => parseArguments(["x.proto", "-o"]), UsageError, "-o");
});

Deno.test("parseArguments() needs nothing else for --help", () => {
  assertEquals(parseArguments(["-h"]).help, true);
});

Deno.test("parseArguments() reads --NAME_out=OPTIONS:DIR and --NAME_opt in the order of the outputs", () => {
  const { outputs, plugins } = parseArguments([
    "--es_opt=a=b",
    "--go_out=gen",
    "--es_out=target=ts:src/gen",
    "--es_opt",
    "c",
    "--plugin=protoc-gen-es=./bin/es",
    "--plugin=bin/protoc-gen-go",
    "x.proto",
  ]);
  assertEquals(outputs, [
    { flag: "--go_out", plugin: "protoc-gen-go", parameter: "", directory: "gen" },
    {
      flag: "--es_out",
      plugin: "protoc-gen-es",
      parameter: "target=ts,a=b,c",
      directory: "src/gen",
    },
  ]);
  assertEquals([...plugins], [
    ["protoc-gen-es", "./bin/es"],
    ["protoc-gen-go", "bin/protoc-gen-go"],
  ]);
});

Deno.test("parseArguments() proposes a flag that is near on a second line", () => {
  assertThrows(
    () => parseArguments(["--include_import", "x.proto", "-oa"]),
    UsageError,
    "Unknown flag: --include_import\nDid you mean --include_imports?",
  );
});
