import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { assert, assertEquals } from "@std/assert";
import { FAILURE, run, SUCCESS } from "../../../protoc/cli/command.ts";

const TESTDATA = new URL("./testdata", import.meta.url).pathname;

/** Parts of a process that these tests have no use for. */
const NOTHING = {
  read: () => Promise.resolve(new Uint8Array()),
  readText: () => Promise.resolve(undefined),
  runProgram: () => Promise.resolve(undefined),
  makeWay: () => Promise.resolve(),
  showProgress: () => {},
};

interface Result {
  code: number;
  out: Uint8Array | string | undefined;
  err: string[];
  files: Map<string, Uint8Array | string>;
}

async function command(...args: string[]): Promise<Result> {
  const result: Result = { code: -1, out: undefined, err: [], files: new Map() };
  result.code = await run(args, {
    print: (content) => {
      result.out = content;
      return Promise.resolve();
    },
    complain: (line) => result.err.push(line),
    write: (path, content) => {
      if (path.startsWith("/nowhere/")) return Promise.reject(new Error("no such directory"));
      result.files.set(path, content);
      return Promise.resolve();
    },
    ...NOTHING,
  });
  return result;
}

function namesIn(set: Uint8Array | string | undefined): string[] {
  assert(set instanceof Uint8Array);
  return fromBinary(FileDescriptorSetSchema, set).file.map((file) => file.name);
}

async function withProto(text: string, test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${directory}/a.proto`, text);
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("run() compiles the files of a directory to a descriptor set", async () => {
  const { code, err, files } = await command("-I", TESTDATA, "-o", "set.pb", TESTDATA);
  assertEquals(err, []);
  assertEquals(code, SUCCESS);
  assertEquals(namesIn(files.get("set.pb")), ["shop/v1/money.proto", "shop/v1/shop.proto"]);
});

Deno.test("run() puts imports before what imports them", async () => {
  const file = `${TESTDATA}/shop/v1/shop.proto`;
  const { out } = await command("-I", TESTDATA, "-o-", "--include_imports", file);
  assertEquals(namesIn(out), [
    "google/protobuf/empty.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/wrappers.proto",
    "shop/v1/money.proto",
    "shop/v1/shop.proto",
  ]);
});

Deno.test("run() puts files after what they import, option imports included", async () => {
  const text = `edition = "2024"; import option "b.proto"; option (text) = "x";`;
  const other = `edition = "2023"; import "google/protobuf/descriptor.proto";
    extend google.protobuf.FileOptions { string text = 50000; }`;
  await withProto(text, async (directory) => {
    await Deno.writeTextFile(`${directory}/b.proto`, other);
    const paths = [`${directory}/a.proto`, `${directory}/b.proto`];
    const { out, err } = await command("-I", directory, "-o-", ...paths);
    assertEquals(err, []);
    assertEquals(namesIn(out), ["b.proto", "a.proto"]);
    const whole = await command("-I", directory, "-o-", "--include_imports", paths[0]!);
    assertEquals(namesIn(whole.out), ["google/protobuf/descriptor.proto", "b.proto", "a.proto"]);
  });
});

Deno.test("run() leaves positions and comments out unless they are asked for", async () => {
  const file = `${TESTDATA}/shop/v1/shop.proto`;
  for (const args of [[], ["--include_source_info"]]) {
    const { out } = await command("-I", TESTDATA, "-o", "-", ...args, file);
    assert(out instanceof Uint8Array);
    const [compiled] = fromBinary(FileDescriptorSetSchema, out).file;
    assertEquals(compiled?.sourceCodeInfo !== undefined, args.length > 0);
  }
});

Deno.test("run() drops options for the source only unless they are to be kept", async () => {
  const text = `syntax = "proto3";
    import "google/protobuf/descriptor.proto";
    extend google.protobuf.FileOptions { string note = 50000 [retention = RETENTION_SOURCE]; }
    option (note) = "for the source";`;
  await withProto(text, async (directory) => {
    for (const args of [[], ["--retain_options"]]) {
      const { out } = await command("-I", directory, "-o-", ...args, `${directory}/a.proto`);
      assert(out instanceof Uint8Array);
      const text = new TextDecoder().decode(out);
      assertEquals(text.includes("for the source"), args.length > 0);
    }
  });
});

Deno.test("run() prints every error with its position and fails", async () => {
  const text = 'syntax = "proto3";\nmessage A {\n  B b = 1;\n  C c = 2;\n}\n';
  await withProto(text, async (directory) => {
    const { code, out, err } = await command("-I", directory, "--check", directory);
    assertEquals(code, FAILURE);
    assertEquals(out, undefined);
    // As protoc does, with the path on disk and not the name.
    assertEquals(err, [
      `${directory}/a.proto:3:3: "B" is not defined.`,
      `${directory}/a.proto:4:3: "C" is not defined.`,
    ]);
  });
});

Deno.test("run() prints warnings and succeeds", async () => {
  const text = 'syntax = "proto3";\nimport "google/protobuf/any.proto";\n';
  await withProto(text, async (directory) => {
    const { code, err } = await command("-I", directory, "--check", `${directory}/a.proto`);
    assertEquals(code, SUCCESS);
    assertEquals(err, [
      `${directory}/a.proto:2:1: warning: Import google/protobuf/any.proto is unused.`,
    ]);
  });
});

Deno.test("run() names a file that is not there", async () => {
  const { code, err } = await command("-I", TESTDATA, "--check", "missing.proto");
  assertEquals(code, FAILURE);
  // In protoc's words.
  assertEquals(err, [
    "Could not make proto path relative: missing.proto: No such file or directory",
  ]);
});

Deno.test("run() names a file that it cannot write", async () => {
  const { code, err } = await command("-I", TESTDATA, "-o", "/nowhere/set.pb", TESTDATA);
  assertEquals(code, FAILURE);
  assertEquals(err, ["/nowhere/set.pb: no such directory"]);
});

Deno.test("run() says what is wrong with the command line", async () => {
  const { code, err } = await command("--chekc", TESTDATA);
  assertEquals(code, FAILURE);
  // The first line is protoc's.
  assertEquals(err, ["Unknown flag: --chekc\nDid you mean --check?"]);
});

Deno.test("run() explains itself", async () => {
  const { code, out } = await command("--help");
  assertEquals(code, SUCCESS);
  assert(typeof out === "string" && out.includes("--descriptor_set_out"));
});

Deno.test("run() writes types with comments, from where it is told, into one module or several", async () => {
  const file = `${TESTDATA}/shop/v1/shop.proto`;
  const one = await command(
    "-I",
    TESTDATA,
    "--types",
    "--types_import",
    "@bufbuild/protobuf",
    file,
  );
  assertEquals(one.err, []);
  assert(String(one.out).includes('from "@bufbuild/protobuf";'));
  assert(String(one.out).includes(" * Sells things."));
  const several = await command("-I", TESTDATA, "--types_out", "types/", "--types_schemas", file);
  assertEquals([...several.files.keys()], [
    "types/shop/v1/money_types.ts",
    "types/shop/v1/shop_types.ts",
  ]);
  assert(String(several.files.get("types/shop/v1/shop_types.ts")).includes("ItemSchema"));
  const alone = await command("-I", TESTDATA, "--check", "--types_schemas", file);
  assertEquals(alone.code, FAILURE);
  assertEquals(alone.err[0]?.startsWith("--types_schemas only makes sense with --types"), true);
});

Deno.test("run() with --watch writes again when a file changes, errors or not", async () => {
  await withProto('syntax = "proto3"; message Before {}', async (directory) => {
    const stop = new AbortController();
    const events = new Map<string, PromiseWithResolvers<void>>();
    const seen: string[] = [];
    const when = (text: string) => {
      if (seen.some((one) => one.includes(text))) return Promise.resolve();
      const waiting = Promise.withResolvers<void>();
      events.set(text, waiting);
      return waiting.promise;
    };
    const see = (text: string) => {
      seen.push(text);
      for (const [part, { resolve }] of events) if (text.includes(part)) resolve();
    };
    const running = run(["-I", directory, "--types", "--watch", `${directory}/a.proto`], {
      print: (content) => Promise.resolve(see(String(content))),
      complain: see,
      write: () => Promise.resolve(),
      ...NOTHING,
      signal: stop.signal,
    });
    await when("export type Before");
    // The watcher begins after the first output, and no event says when: write until it sees one.
    const write = async (text: string, until: Promise<void>) => {
      let done = false;
      const ended = until.finally(() => done = true);
      while (!done) {
        await Deno.writeTextFile(`${directory}/a.proto`, text);
        let timer: ReturnType<typeof setTimeout> | undefined;
        await Promise.race([ended, new Promise((resolve) => timer = setTimeout(resolve, 200))]);
        clearTimeout(timer);
      }
    };
    await write("message", when("a.proto:1:"));
    await write('syntax = "proto3"; message After {}', when("export type After"));
    stop.abort();
    assertEquals(await running, SUCCESS);
  });
});

Deno.test("run() fails for a directory without files", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const { code, err } = await command("-I", directory, "--check", directory);
    assertEquals(code, FAILURE);
    assertEquals(err, [`${directory}: Directory has no .proto files.`]);
  } finally {
    await Deno.remove(directory);
  }
});
