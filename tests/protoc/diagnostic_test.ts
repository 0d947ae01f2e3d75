import { assertEquals, assertThrows } from "@std/assert";
import { join } from "node:path";
import {
  type Diagnostic,
  formatDiagnostic,
  type FormatOptions,
  Loader,
  ProtoError,
} from "../../protoc/mod.ts";

/** The errors of `a.proto`, whose imports are among `files`. */
function errorsOf(files: Record<string, string>): readonly Diagnostic[] {
  const loader = new Loader({ resolve: (name) => files[name] });
  return assertThrows(() => loader.load(files["a.proto"]!, "a.proto"), ProtoError).diagnostics;
}

function shown(files: Record<string, string>, form: FormatOptions["form"]): string[] {
  return errorsOf(files).map((one) => formatDiagnostic(one, form ? { form } : {}));
}

/** The hint about the first error of `a.proto`. */
function hintOf(text: string, imports: Record<string, string> = {}): string | undefined {
  return errorsOf({ ...imports, "a.proto": text })[0]!.detail?.hint;
}

const WRONG = { "a.proto": 'syntax = "proto3";\nmessage A {\n\t/* 中 */ strng s = 1;\n}\n' };

Deno.test("formatDiagnostic() writes each form", () => {
  assertEquals(shown(WRONG, undefined), ['a.proto:3:19: "strng" is not defined.']);
  assertEquals(shown(WRONG, "protoc"), shown(WRONG, undefined));
  assertEquals(shown(WRONG, "msvs"), [
    'a.proto(3) : error in column=19: "strng" is not defined.',
  ]);
  assertEquals(shown(WRONG, "line"), [
    'a.proto:3:19: error: "strng" is not defined. (did you mean "string"?)',
  ]);
  assertEquals(shown(WRONG, "text")[0]!.split("\n"), [
    'error: "strng" is not defined.',
    " --> a.proto:3:19",
    "  |",
    "3 | \t/* 中 */ strng s = 1;",
    "  | \t         ^^^^^",
    '  = did you mean "string"?',
  ]);
  assertEquals(JSON.parse(shown(WRONG, "json")[0]!), {
    file: "a.proto",
    line: 3,
    column: 19,
    severity: "error",
    message: '"strng" is not defined.',
    sourceLine: "\t/* 中 */ strng s = 1;",
    start: 9,
    length: 5,
    hint: 'did you mean "string"?',
  });
  assertEquals(shown(WRONG, "github"), [
    '::error file=a.proto,line=3,col=19::"strng" is not defined. (did you mean "string"?)',
  ]);
  const [error] = errorsOf(WRONG);
  assertEquals(
    formatDiagnostic(error!, { file: "protos/a.proto" }),
    'protos/a.proto:3:19: "strng" is not defined.',
  );
});

Deno.test("formatDiagnostic() refuses forms and options it does not know", () => {
  const [error] = errorsOf(WRONG);
  assertThrows(() => formatDiagnostic(error!, { form: "xml" as "json" }), TypeError, '"github"');
  assertThrows(
    () => formatDiagnostic(error!, { from: "json" } as FormatOptions),
    TypeError,
    'did you mean "form"?',
  );
});

Deno.test("diagnostics show which imports lead to them, and where a file was looked for", () => {
  const files = {
    "a.proto": 'import "b.proto";',
    "b.proto": 'import "c.proto";',
    "c.proto": 'mesage M {}\nimport "google/protobuf/timestmp.proto";',
  };
  const [word, missing, inB] = errorsOf(files);
  assertEquals(word!.detail!.hint, 'did you mean "message"?');
  assertEquals(word!.detail!.importedBy, ["a.proto", "b.proto"]);
  assertEquals(missing!.file, "b.proto");
  assertEquals(inB!.detail!.importedBy, []);
  const [lost] = errorsOf({ ...files, "c.proto": 'import "google/protobuf/timestmp.proto";' });
  assertEquals(formatDiagnostic(lost!, { form: "text" }).split("\n"), [
    "error: File not found.",
    " --> google/protobuf/timestmp.proto",
    '  = did you mean "google/protobuf/timestamp.proto"?',
    "  = imported by c.proto, which is imported by b.proto, which is imported by a.proto",
    "  = searched: resolve(), the files loaded before, the built-in files",
  ]);
});

Deno.test("diagnostics of files on disk name the roots that were searched", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(directory, "a.proto"), 'import "none.proto";');
    const errors: Diagnostic[] = [];
    for (const path of ["a.proto", "nowhere.proto"]) {
      try {
        await new Loader().loadFile(path, { roots: [directory] });
      } catch (error) {
        if (!(error instanceof ProtoError)) throw error;
        errors.push(error.diagnostics[0]!);
      }
    }
    assertEquals(errors.map(({ file }) => file), ["none.proto", "nowhere.proto"]);
    for (const { detail } of errors) assertEquals(detail!.searched.includes(directory), true);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("hints name what is near: types, fields of options, extensions, values", () => {
  const head = `syntax = "proto2"; import "google/protobuf/descriptor.proto";
    extend google.protobuf.FieldOptions { optional Color my_color = 50000; }
    enum Color { RED = 0; GREEN = 1; } message Person { message Address {} }\n`;
  const field = (rest: string) => hintOf(`${head}message M { optional ${rest} }`);
  assertEquals(field("Preson p = 1;"), 'did you mean "Person"?');
  assertEquals(field("Person.Adress p = 1;"), 'did you mean "Person.Address"?');
  assertEquals(field("Color c = 1 [default = GREN];"), 'did you mean "GREEN"?');
  assertEquals(field("Color c = 1 [(my_color) = REDD];"), 'did you mean "RED"?');
  assertEquals(field("Color c = 1 [(my_colour) = RED];"), 'did you mean "(my_color)"?');
  assertEquals(field("Color c = 1 [depricated = true];"), 'did you mean "deprecated"?');
  assertEquals(
    field("Timestamp t = 1;"),
    'did you mean "google.protobuf.Timestamp"? It needs import "google/protobuf/timestamp.proto"',
  );
  assertEquals(field("google.protobuf.Any a = 1;"), 'import "google/protobuf/any.proto"');
  assertEquals(field("X x = 1;"), undefined);
  assertEquals(
    hintOf('import "b.proto"; message M { optional Oher o = 1; }', {
      "b.proto": "message Other {}",
    }),
    'did you mean "Other"?',
  );
});

Deno.test("a source line is shown in part when it is long, and gives a terminal no commands", () => {
  const text = `/*${"é".repeat(200_000)}\u001b[2J\u202e*/ message M { X x = 1; } //${
    "é".repeat(1000)
  }`;
  const [error] = errorsOf({ "a.proto": text });
  const { sourceLine, start, length } = error!.detail!;
  assertEquals(sourceLine.slice(start, start + length), "X");
  assertEquals(sourceLine.length <= 160, true);
  // deno-lint-ignore no-control-regex
  assertEquals(/[\u001b\u202e]/.test(formatDiagnostic(error!, { form: "text" })), false);
});

Deno.test("ten thousand diagnostics of one long line cost no more than their text", () => {
  const text = `message M { ${"X x = 1; ".repeat(50_000)} }`;
  const errors = errorsOf({ "a.proto": text });
  assertEquals(errors.every(({ detail }) => detail!.sourceLine.length <= 160), true);
});
