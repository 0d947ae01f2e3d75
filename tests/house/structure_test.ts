/** The structure of the published code: who may import whom, and what stands in the pictures. */
import { assert, assertEquals } from "@std/assert";
import { exportsOf, unusedExports } from "./exports.ts";
import { textsOf } from "./texts.ts";
import { floorsOf, pictureFaults } from "./picture.ts";
import { areaOf, AREAS, circles, entries, type Import, importsFrom, structureOf } from "./graph.ts";

/** What each area may import of others; the root is the area "". */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  "": ["http/mod.ts", "grpc/mod.ts", "kv/mod.ts", "protoc/mod.ts"],
  http: [],
  grpc: ["http/mod.ts", "http/engine.ts"],
  // The command reads proto files.
  "grpc/cli": ["http/mod.ts", "http/engine.ts", "protoc/mod.ts"],
  kv: ["http/engine.ts", "grpc/mod.ts"],
  // Serves JSON beside gRPC.
  "kv/server": ["http/mod.ts", "http/engine.ts", "grpc/mod.ts"],
  // A leaf that imports nothing: the one checker of options.
  protoc: ["http/message/options.ts"],
};

/** Packages each area may import. `node:` is open to all. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "": [],
  http: ["@std/async"],
  grpc: ["@std/async", "@bufbuild/protobuf", "@bufbuild/protovalidate", "@connectrpc/connect"],
  kv: [
    "@std/async",
    "@bufbuild/protobuf",
    "@connectrpc/connect",
    "bcryptjs",
  ],
  protoc: ["@bufbuild/protobuf"],
};

/** Rooms of each area, and the rooms of the same area that each may import. */
const ARROWS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  http: {
    "mod.ts": "workers debug client server h2 websocket telemetry net message attempt.ts",
    "engine.ts": "workers client server h2 hpack telemetry coding net message time",
    workers: "server net message time",
    debug: "server message",
    // Neither knows the other.
    client: "h1 h2 hpack telemetry coding net message time",
    server: "h1 h2 websocket hpack telemetry coding net message time",
    h1: "net message time",
    h2: "hpack net message time",
    websocket: "message time",
    telemetry: "message",
    hpack: "",
    coding: "message",
    net: "message time",
    message: "",
    time: "",
    "attempt.ts": "",
  },
  grpc: {
    "mod.ts":
      "cli reflect openapi in_process.ts client server interceptors transcoding balancing resolve config web telemetry wire",
    cli: "reflect client server resolve wire",
    reflect: "client server wire",
    "in_process.ts": "client server",
    interceptors: "wire",
    client: "web_client balancing resolve config telemetry wire codec",
    web_client: "balancing resolve wire codec",
    balancing: "resolve config wire",
    resolve: "",
    config: "wire",
    openapi: "server transcoding",
    server: "transcoding web telemetry wire codec",
    transcoding: "web telemetry wire",
    web: "telemetry wire",
    telemetry: "wire",
    wire: "codec",
    codec: "",
  },
  kv: {
    "mod.ts":
      "cli naming.ts client.ts namespace.ts keyspace_client.ts concurrency cache values scan.ts keyspace.ts auth cluster maintenance telemetry watch wait.ts endpoints.ts credentials.ts observer.ts errors.ts types.ts server_errors.ts key_value.ts",
    "naming.ts": "cache concurrency keyspace.ts",
    server: "schema.ts clock.ts server_errors.ts wire.ts",
    cli:
      "client.ts auth cluster maintenance endpoints.ts errors.ts clock.ts types.ts key_value.ts range.ts",
    "client.ts":
      "namespace.ts range_stream.ts keyspace_client.ts scan.ts auth cluster maintenance telemetry watch lease txn.ts calls.ts endpoints.ts ops.ts schema.ts credentials.ts observer.ts clock.ts types.ts key_value.ts",
    "namespace.ts":
      "keyspace_client.ts scan.ts keyspace.ts watch fields.ts errors.ts clock.ts types.ts key_value.ts range.ts json.ts",
    "range_stream.ts":
      "scan.ts keyspace.ts calls.ts retry.ts ops.ts errors.ts types.ts key_value.ts range.ts wire.ts",
    "keyspace_client.ts":
      "concurrency cache values scan.ts keyspace.ts watch types.ts key_value.ts",
    concurrency:
      "keyspace.ts wait.ts errors.ts backoff.ts clock.ts binary.ts types.ts key_value.ts",
    cache:
      "scan.ts keyspace.ts watch wait.ts errors.ts backoff.ts clock.ts binary.ts types.ts key_value.ts range.ts",
    values:
      "scan.ts keyspace.ts watch wait.ts calls.ts fields.ts errors.ts clock.ts types.ts key_value.ts",
    "scan.ts": "keyspace.ts fields.ts errors.ts types.ts key_value.ts range.ts",
    "keyspace.ts": "watch types.ts",
    auth:
      "calls.ts wait.ts ops.ts schema.ts credentials.ts fields.ts errors.ts clock.ts types.ts server_errors.ts wire.ts json.ts",
    cluster: "calls.ts ops.ts schema.ts fields.ts errors.ts clock.ts types.ts wire.ts json.ts",
    maintenance:
      "calls.ts endpoints.ts ops.ts schema.ts credentials.ts observer.ts fields.ts errors.ts types.ts wire.ts json.ts",
    telemetry: "observer.ts errors.ts clock.ts",
    watch:
      "endless_stream.ts calls.ts wait.ts retry.ts endpoints.ts ops.ts schema.ts credentials.ts errors.ts clock.ts types.ts wire.ts",
    lease: "endless_stream.ts calls.ts retry.ts ops.ts schema.ts errors.ts types.ts wire.ts",
    "txn.ts": "ops.ts fields.ts errors.ts types.ts wire.ts",
    "endless_stream.ts": "calls.ts errors.ts backoff.ts",
    "calls.ts":
      "wait.ts retry.ts endpoints.ts schema.ts credentials.ts observer.ts errors.ts clock.ts explain.ts types.ts",
    "wait.ts": "errors.ts backoff.ts clock.ts",
    "retry.ts": "errors.ts server_errors.ts",
    "endpoints.ts": "credentials.ts observer.ts errors.ts",
    "ops.ts": "fields.ts errors.ts types.ts key_value.ts wire.ts json.ts",
    "schema.ts": "proto wire.ts",
    "credentials.ts": "server_errors.ts",
    "observer.ts": "errors.ts",
    "fields.ts": "types.ts range.ts",
    "errors.ts": "explain.ts server_errors.ts json.ts",
    "clock.ts": "",
    "explain.ts": "server_errors.ts",
    "binary.ts": "types.ts",
    "types.ts": "key_value.ts",
    "server_errors.ts": "",
    "key_value.ts": "wire.ts json.ts",
    "backoff.ts": "",
    "range.ts": "",
    "wire.ts": "",
    "json.ts": "",
    proto: "",
  },
  protoc: {
    "mod.ts": "cli loader.ts schema.ts infer types lex limits.ts attempt.ts",
    cli: "loader.ts types compile text_format value import_roots.ts syntax lex disk.ts",
    "loader.ts": "infer types compile import_roots.ts import_names.ts well_known syntax lex",
    compile:
      "option descriptor validate link value syntax lex import_names.ts well_known limits.ts",
    option: "link text_format value syntax",
    validate: "link value syntax",
    text_format: "value syntax lex",
    descriptor: "value syntax lex",
    link: "syntax lex",
    value: "syntax",
    syntax: "lex limits.ts",
    "import_roots.ts": "disk.ts import_names.ts lex limits.ts",
    "import_names.ts": "",
    "disk.ts": "",
    lex: "limits.ts",
    "limits.ts": "",
    well_known: "",
    types: "",
    infer: "",
    "schema.ts": "infer",
    "attempt.ts": "",
  },
};

/** Folders with a picture in their `mod.ts`. */
const PICTURES = [
  "http",
  "http/h2",
  "http/hpack",
  "grpc",
  "grpc/codec",
  "kv",
  "kv/server",
  "protoc",
];

/** Files that others than published code enter by. */
const published = new Set([...Object.values(entries()), "http/engine.ts"]);

const imports = await importsFrom(Object.values(entries()));
const own = imports.filter((edge) => edge.own);

const code = textsOf(AREAS);

const shown = ({ from, to }: Import): string => `${from} -> ${to}`;

Deno.test("the published code is seen whole", () => {
  const reached = new Set([
    ...Object.values(entries()),
    ...own.flatMap(({ from, to }) => [from, to]),
  ]);
  assertEquals([...code.keys()].filter((file) => !reached.has(file)), [], "no entry leads there");
  assert(own.length > 1000, `the graph has only ${own.length} imports`);
});

Deno.test("files make no circle of imports, types included", () => {
  assertEquals(circles(own.map(({ from, to }) => [from, to])), []);
});

const doorsOf = (file: string): readonly string[] => {
  const room = ["kv/server", "grpc/cli"].find((room) => file.startsWith(`${room}/`));
  return DOORS[room ?? areaOf(file)] ?? [];
};

Deno.test("areas import each other through their doors only", () => {
  const wrong = own.filter(({ from, to }) =>
    areaOf(from) !== areaOf(to) && !doorsOf(from).includes(to)
  );
  assertEquals(wrong.map(shown), []);
});

Deno.test("folders inside an area that have a mod.ts are entered through it", () => {
  const wrong = own.filter(({ from, to }) => {
    const folder = to.slice(0, to.lastIndexOf("/") + 1);
    return folder !== `${areaOf(to)}/` && code.has(`${folder}mod.ts`) &&
      to !== `${folder}mod.ts` && !from.startsWith(folder);
  });
  assertEquals(wrong.map(shown), []);
});

Deno.test("published code imports published code, and the packages its area may have", () => {
  const wrong = imports.filter(({ from, to, own }) =>
    own
      ? !code.has(to)
      : !/^node:/.test(to) && !PACKAGES[areaOf(from)]?.includes(to.split("/", 2).join("/"))
  );
  assertEquals(wrong.map(shown), []);
});

for (const [area, allowed] of Object.entries(ARROWS)) {
  Deno.test(`rooms of ${area}/ import those they may`, () => {
    const { rooms, arrows, up } = structureOf(area, imports);
    assertEquals(rooms, Object.keys(allowed).filter((room) => rooms.includes(room)).sort());
    const wrong = [...arrows.keys()].filter((arrow) => {
      const [from, to] = arrow.split(" ") as [string, string];
      return !allowed[from]!.split(" ").includes(to);
    });
    assertEquals(wrong, []);
    assertEquals(up, [], "arrows run up");
  });
}

for (const folder of PICTURES) {
  Deno.test(`the picture in ${folder}/mod.ts shows what there is`, () => {
    const nameOf = (path: string): string =>
      path.slice(folder.length + 1).split("/")[0]!.replace(/\.ts$/, "");
    const inside = (path: string): boolean => path.startsWith(`${folder}/`);
    const floors = floorsOf(code.get(`${folder}/mod.ts`)!);
    const arrows = own.filter(({ from, to }) => inside(from) && inside(to))
      .map(({ from, to }) => [nameOf(from), nameOf(to)] as const)
      .filter(([from, to]) => from !== to);
    assertEquals(pictureFaults(floors, [...code.keys()].filter(inside).map(nameOf), arrows), []);
  });
}

Deno.test("what files export is imported, by tests alone only where it is marked @internal", () => {
  const everything = textsOf([...AREAS, "tests", "support", "bench", "examples"]);
  const ours = ({ file }: { file: string }): boolean => code.has(file);
  const name = ({ file, name }: { file: string; name: string }): string => `${file} ${name}`;
  assertEquals(
    unusedExports(everything, published).filter(ours).map(name),
    [],
    "nobody imports these: drop `export`",
  );
  const forTests = unusedExports(code, published);
  assertEquals(
    forTests.filter(({ internal }) => !internal).map(name),
    [],
    "tests alone import these: mark them `@internal`",
  );
  const forTestsOnly = new Set(forTests.map(name));
  const marked = [...code].filter(([file]) => !published.has(file))
    .flatMap(([file, text]) => exportsOf(file, text)).filter(({ internal }) => internal);
  assertEquals(
    marked.map(name).filter((entry) => !forTestsOnly.has(entry)),
    [],
    "published code imports these: they are not `@internal`",
  );
});
