import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { create, fromBinary, getOption, toBinary, toJson } from "@bufbuild/protobuf";
import {
  AnySchema,
  file_google_protobuf_timestamp,
  FileDescriptorProtoSchema,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { LIMITS, Loader, ProtoError } from "../../protoc/mod.ts";

/** A loader whose imports come from an object. */
function loaderOf(files: Record<string, string>): Loader {
  return new Loader({ resolve: (name) => files[name] });
}

function errorsOf(run: () => unknown): string[] {
  return assertThrows(run, ProtoError).message.split("\n");
}

Deno.test("Loader.load() gives a linked file and keeps it in loaded", () => {
  const loader = new Loader();
  const file = loader.load(
    'syntax = "proto3"; package a; message A { B b = 1; } message B { int32 x = 1; }',
    "a.proto",
  );
  assertStrictEquals(loader.loaded["a.proto"], file);
  const [a, b] = file.messages;
  assertStrictEquals(a!.fields[0]!.message, b);
  assertStrictEquals(loader.registry.getMessage("a.B"), b);
  const bytes = toBinary(a!, create(a!, { b: create(b!, { x: 5 }) }));
  assertEquals(toJson(a!, fromBinary(a!, bytes)), { b: { x: 5 } });
});

Deno.test("Loader.load() is none the worse for a resolve() that throws", () => {
  let failures = 1;
  const files: Record<string, string> = {
    "b.proto":
      'syntax = "proto3"; import "c.proto"; import "d.proto"; message B { C c = 1; D d = 2; }',
    "c.proto": 'syntax = "proto3"; message C {}',
    "d.proto": 'syntax = "proto3"; message D {}',
  };
  const loader = new Loader({
    resolve(name) {
      if (name === "d.proto" && failures-- > 0) throw new Error("no network");
      return files[name];
    },
  });
  const load = () =>
    loader.load('syntax = "proto3"; import "b.proto"; message A { B b = 1; }', "a.proto");
  assertThrows(load, Error, "no network");
  assertEquals(load().dependencies[0]!.dependencies.map(({ name }) => name), ["c", "d"]);
  assertEquals(Object.keys(loader.loaded), ["c.proto", "d.proto", "b.proto", "a.proto"]);
});

Deno.test("Loader.load() links to files loaded before and to those of resolve", () => {
  const loader = loaderOf({ "b.proto": 'syntax = "proto3"; message B {}' });
  loader.load('syntax = "proto3"; message C {}', "c.proto");
  const file = loader.load(
    'syntax = "proto3"; import "b.proto"; import "c.proto"; message A { B b = 1; C c = 2; }',
    "a.proto",
  );
  assertEquals(Object.keys(loader.loaded), ["c.proto", "b.proto", "a.proto"]);
  assertStrictEquals(file.dependencies[0], loader.loaded["b.proto"]);
  assertStrictEquals(file.messages[0]!.fields[1]!.message, loader.loaded["c.proto"]!.messages[0]);
});

Deno.test("Loader.load() uses the well-known types of protobuf-es", () => {
  const loader = new Loader();
  const file = loader.load(
    'syntax = "proto3"; import "google/protobuf/timestamp.proto"; ' +
      'import "google/protobuf/any.proto"; ' +
      "message A { google.protobuf.Timestamp at = 1; google.protobuf.Any any = 2; }",
    "a.proto",
  );
  assertStrictEquals(file.messages[0]!.fields[0]!.message, TimestampSchema);
  assertStrictEquals(file.messages[0]!.fields[1]!.message, AnySchema);
  assertStrictEquals(file.dependencies[0], file_google_protobuf_timestamp);
  assertStrictEquals(loader.registry.getMessage("google.protobuf.Any"), AnySchema);
  assertEquals(Object.keys(loader.loaded), ["a.proto"]);
});

Deno.test("Loader.load() prefers a well-known file that resolve has, sharing its types still", () => {
  const asked: string[] = [];
  const loader = new Loader({
    resolve(name) {
      asked.push(name);
      return name === "google/protobuf/any.proto"
        ? 'syntax = "proto3"; package google.protobuf; message Any { string type_url = 1; }'
        : undefined;
    },
  });
  const file = loader.load(
    'syntax = "proto3"; import "google/protobuf/any.proto"; import "google/protobuf/empty.proto"; ' +
      "message A { google.protobuf.Any a = 1; google.protobuf.Empty b = 2; }",
    "a.proto",
  );
  assertEquals(asked, ["google/protobuf/any.proto", "google/protobuf/empty.proto"]);
  assertStrictEquals(file.messages[0]!.fields[0]!.message, AnySchema);
});

Deno.test("Loader.load() does not take just anything under a well-known name for a well-known file", () => {
  const loader = loaderOf({ "google/protobuf/any.proto": 'syntax = "proto3"; message Mine {}' });
  const file = loader.load(
    'syntax = "proto3"; import "google/protobuf/any.proto"; message A { Mine m = 1; }',
    "a.proto",
  );
  assertEquals(file.messages[0]!.fields[0]!.message!.typeName, "Mine");
});

Deno.test("Loader.load() gives the same file for the same text, an error for another", () => {
  const loader = new Loader();
  const text = 'syntax = "proto3"; message A {}';
  const file = loader.load(text, "a.proto");
  assertStrictEquals(loader.load(text, "a.proto"), file);
  assertStrictEquals(loader.load(new TextEncoder().encode(text), "a.proto"), file);
  assertEquals(errorsOf(() => loader.load(text + "\n", "a.proto")), [
    "a.proto: A file with this name is already loaded, with other text. Use another name or a new " +
    "loader.",
  ]);
  assertStrictEquals(loader.loaded["a.proto"], file);
});

Deno.test("Loader.load() reports all errors with their places", () => {
  const loader = loaderOf({ "b.proto": 'syntax = "proto3"; message B { X x = 1; }' });
  const error = assertThrows(
    () =>
      loader.load(
        'syntax = "proto3";\nimport "b.proto";\nimport "c.proto";\nmessage A {\n\tY y = 1;\n}\n',
        "a.proto",
      ),
    ProtoError,
  );
  assertEquals(error.message.split("\n"), [
    'b.proto:1:32: "X" is not defined.',
    "c.proto: File not found.",
    'a.proto:2:1: Import "b.proto" was not found or had errors.',
    'a.proto:3:1: Import "c.proto" was not found or had errors.',
    'a.proto:5:9: "Y" is not defined.',
  ]);
  assertEquals(error.diagnostics[4], {
    file: "a.proto",
    line: 5,
    column: 9,
    message: '"Y" is not defined.',
    severity: "error",
  });
});

Deno.test("Loader.load() leaves nothing of a file with errors behind", () => {
  const loader = new Loader();
  errorsOf(() => loader.load('syntax = "proto3"; message A {} message B { X x = 1; }', "a.proto"));
  assertEquals(Object.keys(loader.loaded), []);
  loader.load('syntax = "proto3"; message A {} message B { A a = 1; }', "a.proto");
  loader.load('syntax = "proto3"; import "a.proto"; message C { B b = 1; }', "c.proto");
  assertEquals(errorsOf(() => loader.load('syntax = "proto3"; message A {}', "d.proto")), [
    'd.proto:1:28: "A" is already defined in file "a.proto".',
  ]);
});

Deno.test("Loader.load() finds a missing import once it is there", () => {
  const files: Record<string, string> = {};
  const loader = loaderOf(files);
  const text = 'syntax = "proto3"; import "b.proto"; message A { B b = 1; }';
  errorsOf(() => loader.load(text, "a.proto"));
  files["b.proto"] = 'syntax = "proto3"; message B {}';
  assertEquals(loader.load(text, "a.proto").messages.length, 1);
});

Deno.test("Loader.load() reports imports that go in a circle", () => {
  const loader = loaderOf({
    "a.proto": 'syntax = "proto3"; import "b.proto";',
    "b.proto": 'syntax = "proto3"; import "a.proto";',
  });
  assertEquals(errorsOf(() => loader.load('syntax = "proto3"; import "b.proto";', "a.proto")), [
    "a.proto:1:20: File recursively imports itself: a.proto -> b.proto -> a.proto",
    'b.proto:1:20: Import "a.proto" was not found or had errors.',
    'a.proto:1:20: Import "b.proto" was not found or had errors.',
  ]);
  assertEquals(errorsOf(() => loader.load('syntax = "proto3"; import "c.proto";', "c.proto")), [
    "c.proto:1:20: File recursively imports itself: c.proto -> c.proto",
  ]);
});

Deno.test("Loader.load() refuses import names that could spell one file in two ways", () => {
  const [error] = errorsOf(() =>
    loaderOf({}).load('syntax = "proto3"; import "a/../b.proto";', "a.proto")
  );
  assertEquals(
    error,
    'a/../b.proto: Backslashes, consecutive slashes, ".", or ".." are not allowed in the virtual path',
  );
});

Deno.test("Loader.load() limits how deep imports go", () => {
  const loader = new Loader({
    resolve: (name) => `syntax = "proto3"; import "${Number.parseInt(name) + 1}.proto";`,
  });
  const errors = errorsOf(() => loader.load('syntax = "proto3"; import "1.proto";', "0.proto"));
  assertEquals(errors, [
    `${LIMITS.maxImportDepth}.proto: Imports are nested deeper than ${LIMITS.maxImportDepth} files.`,
  ]);
});

Deno.test("Loader.load() follows chains of imports that are longer than the call stack", async () => {
  const LENGTH = LIMITS.maxImportDepth - 1;
  const textOf = (name: string) => {
    const i = Number.parseInt(name);
    return i === LENGTH
      ? `syntax = "proto3"; message M${i} {}`
      : `syntax = "proto3"; import public "${i + 1}.proto"; message M${i} { M${i + 1} m = 1; }`;
  };
  const loader = new Loader({ resolve: textOf });
  loader.load(textOf("0"), "0.proto");
  assertEquals(Object.keys(loader.loaded).length, LENGTH + 1);
  assertEquals(loader.registry.getMessage("M9")!.fields[0]!.message!.typeName, "M10");
  const awaited = new Loader({
    resolve: async (name) => `import "${(await Number.parseInt(name)) + 1}.proto";`,
  });
  await assertRejects(
    () => awaited.loadAsync('import "1.proto";', "0.proto"),
    ProtoError,
    `Imports lead to more than ${LIMITS.maxFiles} files.`,
  );
});

Deno.test("Loader.load() says once that a cycle far down is one", () => {
  const loader = new Loader({
    resolve: (name) => `syntax = "proto3"; import "${(Number.parseInt(name) + 1) % 300}.proto";`,
  });
  const errors = errorsOf(() => loader.load('syntax = "proto3"; import "1.proto";', "0.proto"));
  assertEquals(errors.filter((line) => line.includes("recursively")).length, 1);
  assertEquals(errors.length, 301);
});

Deno.test("Loader.load() refuses a file that is too large unread", () => {
  const bytes = new Uint8Array(LIMITS.maxFileBytes + 1);
  assertEquals(errorsOf(() => new Loader().load(bytes, "a.proto")), [
    "a.proto: File has 67108865 bytes, more than the limit of 67108864.",
  ]);
});

Deno.test("Loader.load() gives up on a file after its ten thousandth error", () => {
  const text = "\té".repeat(500_000);
  const error = assertThrows(() => new Loader().load(text, "a.proto"), ProtoError);
  assertEquals(error.diagnostics.length, LIMITS.maxDiagnostics);
  assertEquals(error.diagnostics[1]!.column, 9);
});

Deno.test("Loader.load() takes time in proportion to comments between empty statements", () => {
  const text = 'syntax = "proto3";\n' + "// a\n\n;\n".repeat(100_000);
  const file = new Loader({ sourceInfo: true }).load(text, "a.proto");
  assertEquals(file.proto.sourceCodeInfo!.location.length, 2);
});

Deno.test("Loader.load() takes time in proportion to a lattice of imports", () => {
  const loader = new Loader();
  loader.load('syntax = "proto3"; message M0 {}', "0.proto");
  loader.load('syntax = "proto3"; message M1 {}', "1.proto");
  for (let i = 2; i < 60; i++) {
    loader.load(
      `syntax = "proto3"; import "${i - 1}.proto"; import "${i - 2}.proto"; ` +
        `message M${i} { M${i - 1} a = 1; M${i - 2} b = 2; }`,
      `${i}.proto`,
    );
  }
  const file = loader.loaded["59.proto"]!;
  assertStrictEquals(file.dependencies[1], loader.loaded["57.proto"]);
});

Deno.test("Loader.warnings names unused imports", () => {
  const loader = loaderOf({ "b.proto": 'syntax = "proto3"; message B {}' });
  loader.load('syntax = "proto3";\nimport "b.proto";\n', "a.proto");
  assertEquals(loader.warnings.map(({ line, message }) => `${line}: ${message}`), [
    "2: Import b.proto is unused.",
  ]);
});

Deno.test("Loader.load() needs a name, and a resolve that answers at once", () => {
  assertThrows(() => new Loader().load("", ""), TypeError, "Cannot load a file without a name");
  const loader = new Loader({ resolve: () => Promise.resolve("") });
  assertThrows(
    () => loader.load('syntax = "proto3"; import "b.proto";', "a.proto"),
    TypeError,
    'Cannot wait for the promise that resolve() gave for "b.proto": use loadAsync()',
  );
});

Deno.test("Loader.loadAsync() waits for resolve", async () => {
  const files: Record<string, string> = {
    "b.proto": 'syntax = "proto3"; import "c.proto"; message B { C c = 1; }',
    "c.proto": 'syntax = "proto3"; message C {}',
  };
  const loader = new Loader({
    resolve: async (name) => {
      await Promise.resolve();
      return files[name];
    },
  });
  const file = await loader.loadAsync(
    'syntax = "proto3"; import "b.proto"; message A { B b = 1; }',
    "a.proto",
  );
  assertEquals(file.messages[0]!.fields[0]!.message!.fields[0]!.message!.typeName, "C");
  await assertRejects(
    () => loader.loadAsync('syntax = "proto3"; import "d.proto";', "e.proto"),
    ProtoError,
    "d.proto: File not found.",
  );
});

Deno.test("Loader.loadAsync() keeps loads at the same time apart", async () => {
  const loader = new Loader({
    resolve: async (name) => {
      await Promise.resolve();
      return `syntax = "proto3"; message ${name[0]!.toUpperCase()} {}`;
    },
  });
  const load = (text: string) =>
    loader.loadAsync(`syntax = "proto3"; import "b.proto"; ${text}`, "a.proto");
  const [first, second] = await Promise.allSettled([
    load("message X { B b = 1; }"),
    load("message Y { B b = 1; }"),
  ]);
  assertEquals(first.status, "fulfilled");
  assertEquals(second.status, "rejected");
  assertEquals(loader.loaded["a.proto"]!.messages[0]!.name, "X");
});

Deno.test("Loader.bytes() are those protoc writes", () => {
  const loader = new Loader();
  loader.load('syntax = "proto3"; package p; message A { int32 x_y = 1; }', "a.proto");
  assertEquals(
    loader.bytes("a.proto").toHex(),
    "0a07612e70726f746f12017022140a0141120f0a03785f7918012001280552027859620670726f746f33",
  );
  assertThrows(() => loader.bytes("b.proto"), RangeError, "not loaded: b.proto");
});

Deno.test("Loader keeps comments and places when asked to", () => {
  const text = 'syntax = "proto3";\n\n// A thing.\nmessage A {} // behind\n';
  const loader = new Loader({ sourceInfo: true });
  const { proto } = loader.load(text, "a.proto");
  const message = proto.sourceCodeInfo!.location.find(({ path }) => path.join() === "4,0")!;
  assertEquals([message.leadingComments, message.span], [" A thing.\n", [3, 0, 12]]);
  assertEquals(new Loader().load(text, "a.proto").proto.sourceCodeInfo, undefined);
});

Deno.test("Loader gives custom options their values", () => {
  const loader = new Loader();
  const file = loader.load(
    `syntax = "proto3";
     import "google/protobuf/descriptor.proto";
     message Note { string text = 1; repeated int32 numbers = 2; }
     extend google.protobuf.MessageOptions { Note note = 50000; }
     message A { option (note) = { text: "x" numbers: [1, 2] }; }`,
    "a.proto",
  );
  const note = getOption(file.messages[1]!, file.extensions[0]!);
  assertEquals(toJson(file.messages[0]!, note as never), { text: "x", numbers: [1, 2] });
});

Deno.test("Loader drops options for the source only, unless told to keep them", () => {
  const text = `syntax = "proto3";
    import "google/protobuf/descriptor.proto";
    extend google.protobuf.MessageOptions {
      optional int32 hint = 50000 [retention = RETENTION_SOURCE];
    }
    message A { option (hint) = 5; }`;
  const optionsOf = (loader: Loader) =>
    fromBinary(FileDescriptorProtoSchema, (loader.load(text, "a.proto"), loader.bytes("a.proto")))
      .messageType[0]!.options;
  assertEquals(optionsOf(new Loader()), undefined);
  assert(optionsOf(new Loader({ retainOptions: true }))?.$unknown?.length === 1);
});

async function withFiles(
  files: Record<string, string>,
  run: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(join(directory, name, ".."), { recursive: true });
      await Deno.writeTextFile(join(directory, name), text);
    }
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const tree = {
  "one/a.proto": 'syntax = "proto3"; import "sub/b.proto"; message A { B b = 1; }',
  "one/sub/b.proto": 'syntax = "proto3"; import "c.proto"; message B { C c = 1; }',
  "one/sub/notes.txt": "not a proto file",
  "two/c.proto": 'syntax = "proto3"; message C {}',
};

Deno.test("Loader.loadFile() reads a file and its imports from the roots", async () => {
  await withFiles(tree, async (directory) => {
    const roots = [join(directory, "one"), join(directory, "two")];
    for (const path of [join(directory, "one/a.proto"), "a.proto"]) {
      const loader = new Loader();
      const file = await loader.loadFile(path, { roots });
      assertEquals(file.proto.name, "a.proto");
      assertEquals(Object.keys(loader.loaded), ["c.proto", "sub/b.proto", "a.proto"]);
    }
  });
});

Deno.test("Loader.loadAll() loads directories", async () => {
  await withFiles(tree, async (directory) => {
    const roots = [join(directory, "one"), join(directory, "two")];
    const files = await new Loader().loadAll([roots[0]!], { roots });
    assertEquals(files.map(({ proto }) => proto.name), ["a.proto", "sub/b.proto"]);
  });
});

Deno.test("Loader.loadAll() reports the errors of all files and keeps the good ones", async () => {
  const files = { "a.proto": "message", "b.proto": 'syntax = "proto3";', "c.proto": "enum" };
  await withFiles(files, async (directory) => {
    const loader = new Loader();
    const error = await assertRejects(
      () => loader.loadAll([directory], { roots: [directory] }),
      ProtoError,
    );
    assertEquals(error.message.split("\n"), [
      "a.proto:1:8: Expected message name.",
      "c.proto:1:5: Expected enum name.",
    ]);
    assertEquals(Object.keys(loader.loaded), ["b.proto"]);
  });
});

Deno.test("Loader.loadFile() says what is wrong with a path", async () => {
  await withFiles(tree, async (directory) => {
    const roots = [join(directory, "two")];
    const loader = new Loader();
    await assertRejects(
      () => loader.loadFile("nowhere.proto", { roots }),
      ProtoError,
      "nowhere.proto: File not found.",
    );
    await assertRejects(
      () => loader.loadFile(join(directory, "one/a.proto"), { roots }),
      ProtoError,
      "File does not reside within any of the import roots",
    );
  });
});

Deno.test("load() names the argument that is no text", () => {
  for (const [text, kind] of [[undefined, "undefined"], [5, "number"], [null, "object"]]) {
    assertThrows(
      () => new Loader().load(text as string, "a.proto"),
      TypeError,
      `Cannot load "a.proto" as its text must be a string or Uint8Array: got ${kind}`,
    );
  }
  assertThrows(
    () =>
      new Loader({ resolve: () => 5 as unknown as string }).load(`import "b.proto";`, "a.proto"),
    TypeError,
    'Cannot load "b.proto" as resolve() must give a string, Uint8Array, null or undefined: got number',
  );
});

Deno.test("load() gives the descriptor of the text that was given, also under a built-in name", () => {
  const name = "google/protobuf/timestamp.proto";
  const own = new Loader().load(
    `syntax = "proto3"; package google.protobuf; message Timestamp { string s = 1; }`,
    name,
  );
  assertEquals(own.messages[0]!.fields.map((field) => field.name), ["s"]);
  const older = new Loader().load(
    `syntax = "proto3"; package google.protobuf; message Timestamp { int64 seconds = 1; }`,
    name,
  );
  assertEquals(older.messages[0]!.fields.length, 1);
  // A copy that declares the same is no other file: its types stay everyone's.
  const copy = new Loader({ sourceInfo: true }).load(
    `syntax = "proto3"; package google.protobuf; option go_package = "mine";
     // Mine.
     message Timestamp { int64 seconds = 1; int32 nanos = 2; }`,
    name,
  );
  assertStrictEquals(copy.messages[0], TimestampSchema);
});

Deno.test("what a loader holds cannot be changed from outside", () => {
  const loader = new Loader();
  const file = loader.load(`syntax = "proto3"; message M {}`, "a.proto");
  assertThrows(() => {
    (loader.loaded as Record<string, unknown>)["a.proto"] = null;
  }, TypeError);
  const expected = loader.bytes("a.proto");
  loader.bytes("a.proto").fill(0);
  assertEquals(loader.bytes("a.proto"), expected);
  assertEquals(loader.loaded["a.proto"], file);
});

Deno.test("tens of thousands of missing imports take no longer than as many found ones would", () => {
  const text = Array.from({ length: 40_000 }, (_, i) => `import "m${i}.proto";`).join("\n");
  const begun = performance.now();
  assertThrows(() => new Loader().load(text, "a.proto"), ProtoError);
  // Quadratic work took 15 s.
  assert(performance.now() - begun < 6000);
});

Deno.test("edition UNSTABLE is for protobuf's own folders, and for those who ask", () => {
  const text = 'edition = "UNSTABLE"; message M {}';
  for (
    const name of ["google/protobuf/x.proto", "upb/x.proto", "conformance/test_protos/x.proto"]
  ) {
    const loader = new Loader();
    assertEquals(loader.load(text, name).messages.length, 1);
    assert(loader.bytes(name).toHex().endsWith("708f4e"));
  }
  for (const name of ["a.proto", "conformance/x.proto", "x/google/protobuf/x.proto"]) {
    assertThrows(() => new Loader().load(text, name), ProtoError, "a file using edition UNSTABLE");
  }
  new Loader({ experimentalEditions: true }).load(text, "a.proto");
});

Deno.test("Loader.loadAll() says when a directory has nothing to load", async () => {
  await withFiles(tree, async (directory) => {
    const empty = join(directory, "empty");
    await Deno.mkdir(empty);
    await assertRejects(
      () => new Loader().loadAll([empty], { roots: [directory] }),
      ProtoError,
      "empty: Directory has no .proto files.",
    );
  });
});

Deno.test("custom options are read with a descriptor.proto of one's own", () => {
  const loader = loaderOf({
    "google/protobuf/descriptor.proto": `syntax = "proto2"; package google.protobuf;
      message FileDescriptorProto { optional string own = 1; }
      message MessageOptions { optional bool deprecated = 3; extensions 1000 to max; }`,
  });
  const file = loader.load(
    `syntax = "proto2"; import "google/protobuf/descriptor.proto";
     extend google.protobuf.MessageOptions { optional string note = 50000; }
     message M { option (note) = "é"; option deprecated = true; }`,
    "a.proto",
  );
  assertEquals(getOption(file.messages[0]!, file.extensions[0]!), "é");
  assertEquals(file.messages[0]!.deprecated, true);
  assertEquals(loader.registry.getMessage("google.protobuf.FileDescriptorProto")!.fields.length, 1);
});
