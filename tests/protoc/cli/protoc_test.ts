/** The command and protoc, given the same arguments: exit code, output, complaints and files are the same. */
import { assertEquals } from "@std/assert";
import { peerTest } from "../../../support/peers.ts";

const COMMAND = new URL("../../../protoc/cli/mod.ts", import.meta.url).pathname;
const PROTOC = Deno.env.get("PROTOC");
const NEEDS = [["protoc", PROTOC, "set PROTOC"]] as const;

const FILES: Readonly<Record<string, string>> = {
  "a.proto": `syntax = "proto3"; package p; message A { int32 x = 1; map<string, int32> m = 3;
    repeated double d = 4; bytes b = 5; oneof o { string s = 6; A a = 7; } E e = 8; float f = 9; }
    enum E { Z = 0; ONE = 1; }
    message B { int32 a = 1; int32 b = 5; message C { reserved 7 to 9; int32 q = 1; } }`,
  "unused.proto": `syntax = "proto3"; import "a.proto"; message W { W w = 1; }`,
  "bad.proto": `syntax = "proto3"; message A { Q w = 1; }`,
  "big.proto": `edition = "2023"; package q; import "google/protobuf/any.proto";
    message M { sint32 s = 1; fixed64 f = 2; repeated int32 r = 3; M g = 4 [features.message_encoding =
    DELIMITED]; C c = 5; google.protobuf.Any any = 6; int32 i = 7 [features.field_presence = IMPLICIT];
    extensions 100 to 200; map<int32, M> m = 8; repeated float fl = 9; string t = 10; }
    enum C { option features.enum_type = CLOSED; CZ = 0; CA = 1; }
    extend M { string x = 100; repeated M y = 101; }
    message S { int32 r = 1 [features.field_presence = LEGACY_REQUIRED]; }`,
  "args": "-oq.bin\na.proto\n",
};

const BIG = `# comment
  s: -7 f: 0xff r: [1, 2] r: 3 g { s: 1 } c: CA any { [type.googleapis.com/q.S] { r: 4 } } i: 0
  [q.x]: "\\u00e9\\001\\'" [q.y]: [{ s: 1 }, <s: 2>] m { key: 2 value { s: 1 } } m { key: 1 }
  fl: [0.1, 1e10, 3.14159265, -inf, nan, 16777216, 1e-7, 123456789] t: "a\\tb" 'c'`;

const CASES: readonly (readonly [args: string, input?: string])[] = [
  ["--version"],
  ["--bogus a.proto -oa"],
  ["--bogus=1 a.proto -oa"],
  ["a.proto"],
  ["-o a.bin"],
  ["-o"],
  ["missing.proto -oa.bin"],
  ["nowhere/x.proto -oa.bin"],
  ["-o nowhere/x a.proto"],
  ["--error_format=foo a.proto -oa"],
  ["--error_format=msvs unused.proto -oa.bin"],
  ["--error_format=msvs bad.proto -oa.bin"],
  ["bad.proto -oa.bin"],
  ["--fatal_warnings unused.proto -oa.bin"],
  ["-Ifoo:. a.proto -oa.bin"],
  ["--include_imports --include_imports a.proto -oa.bin"],
  ["-oa.bin -ob.bin a.proto"],
  ["--include_imports --include_source_info unused.proto -oa.bin"],
  ["--dependency_out=d -oa.bin unused.proto"],
  ["--dependency_out=d a.proto"],
  ["@args"],
  ["@nothing"],
  ["-- a.proto"],
  ["--nope"],
  ["--decode"],
  ["--decode=p.X a.proto"],
  ["--decode=p.A --encode=p.A a.proto"],
  ["--decode_raw a.proto"],
  ["--print_free_field_numbers a.proto"],
  ["--foo_opt=x a.proto -oa.bin"],
  ["--foo_out=. a.proto"],
  ["--encode=q.M big.proto", BIG],
  ["--encode=q.M --deterministic_output big.proto", BIG],
  ["--encode=q.S big.proto", ""],
  ["--decode=q.S big.proto", ""],
  ["--decode_raw", "\n\x02\b\x01\x12\x03abc\x18\x05"],
  ["--decode_raw", "syntax"],
  ["--decode=p.A a.proto", "\b\x01\x1a\x05\n\x01a\x10\x02B\x00H\x63"],
  ["--encode=q.M big.proto", "nope: 1"],
  ["--encode=q.M big.proto", 's:\n\t"x"'],
  ["--encode=q.M big.proto", "s: 99999999999"],
  ["--encode=q.M big.proto", 'c: 7 t: "abc\n'],
];

/** Lays out the files, runs a program with an input, and gives all that can be seen of it. */
async function outcome(program: string, prefix: readonly string[], args: string, input: string) {
  const cwd = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(FILES)) {
      await Deno.writeTextFile(`${cwd}/${name}`, text);
    }
    const child = new Deno.Command(program, {
      args: [...prefix, ...args.split(" ")],
      cwd,
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const fed = new Blob([input]).stream().pipeTo(child.stdin).catch(() => {
      // It ended without reading.
    });
    const [{ code, stdout, stderr }] = await Promise.all([child.output(), fed]);
    const files: Record<string, string> = {};
    for await (const { name } of Deno.readDir(cwd)) {
      if (!(name in FILES)) files[name] = (await Deno.readFile(`${cwd}/${name}`)).join();
    }
    return { code, out: stdout.join(), err: new TextDecoder().decode(stderr), files };
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

for (const [args, input = ""] of CASES) {
  const shown = input === "" ? "" : ` < ${JSON.stringify(input.slice(0, 24))}`;
  peerTest(`the command does as protoc does: ${args}${shown}`, { needs: NEEDS }, async () => {
    const expected = await outcome(PROTOC!, [], args, input);
    assertEquals(await outcome(Deno.execPath(), ["run", "-A", COMMAND], args, input), expected);
  });
}
