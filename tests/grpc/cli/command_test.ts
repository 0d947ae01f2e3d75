/** The command beside the real grpcurl: the same words, the same output, the same exit codes. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { grpc, http } from "@sluice/sluice";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";
import { peerTest } from "../../../support/peers.ts";
import {
  descriptorSet,
  FILE,
  GO_PEER,
  goServer,
  GRPCURL,
  ours,
  ownServer,
  PROTOS,
  type Ran,
  theirs,
} from "./support.ts";

const FULL = JSON.stringify({
  s: '<é>&\u2028 \u0001"\\',
  i32: -5,
  other: "9007199254740993",
  u32: 4294967295,
  u64: "18446744073709551615",
  s32: -1,
  s64: "-9223372036854775808",
  f32: 7,
  f64: "8",
  sf32: -9,
  sf64: "-10",
  fl: 1.1,
  d: 1234567.25,
  bOol: true,
  by: "AAH/",
  color: "RED",
  opt: 0,
  many: [1, 2, 3],
  texts: ["a", "b"],
  counts: { z: 1, 10: 2, 9: 3 },
  inners: { 10: { name: "x" }, 9: {} },
  right: { name: "r" },
  inner: {},
  list: [{}, { name: "q" }],
  at: "2020-01-02T03:04:05.006Z",
  took: "1.5s",
  any: { "@type": "type.googleapis.com/test.all.All.Inner", name: "in any" },
  struct: { b: 1, a: [null, true, "x", 1e21, 0.1] },
  value: [1, { k: "v" }],
  values: ["a"],
  sv: "",
  i64v: "7",
  dv: 1e-7,
  bv: "AQ==",
  boolv: false,
  empty: {},
  flags: { true: "NONE", false: "NEG" },
  flv: 0.1,
  all: {
    any: { "@type": "type.googleapis.com/google.protobuf.Duration", value: "3s" },
    color: 99,
    d: 1e-5,
    fl: 1e20,
  },
});

const FULL_TEXT = `s: "é\\001" i32: -5 fl: 1.1 d: 1e30 color: RED opt: 0 many: [1,2]
  counts { key: "b" value: 1 } counts { key: "a" value: 2 }
  inners { key: 3 value { name: "x" } } inners { key: 2 value { } }
  right { name: "r" } inner { } list { } list { name: "q" } at { seconds: 5 nanos: 3 }
  any { type_url: "type.googleapis.com/test.all.All.Inner" value: "\\n\\001x" }
  struct { fields { key: "a" value { number_value: 1 } } } sv { value: "x" } empty { }
  flags { key: true value: NEG } all { s: "in" all { b_ool: true } }`;

const OLD = '{"name":"x","ratio":2,"kind":"A","item":[{"n":1}],"raw":"AQ==",' +
  '"[opts.Old.nested]":"n","[opts.Old.numbers]":[1,2]}';

const SYMBOLS = [
  "test.all.Echo",
  ".test.all.All",
  "test.all.All.Inner",
  "test.all.All.Inner.Deep",
  "test.all.Color",
  "test.all.Echo.Unary",
  "test.all.Echo.Both",
  "test.all.All.choice",
  "test.all.All.left",
  "test.all.All.i64",
  "test.all.All.inners",
  "test.all.All.CountsEntry",
  "test.all.RED",
  "opts.Rule",
  "opts.rule",
  "opts.rule_ext",
  "opts.Old.nested",
  "opts.Old.Item",
  "opts.Old.item",
  "opts.Old.Kind",
  "google.protobuf.Timestamp",
  "google.protobuf.Any",
  "google.protobuf.Struct",
];

/** Arguments of calls, without the address. */
const CALLS: readonly (readonly string[])[] = [
  ["test.all.Echo/Unary"],
  ["test.all.Echo.Unary"],
  ["-d", FULL, "test.all.Echo/Unary"],
  ["-d", FULL_TEXT, "-format", "text", "test.all.Echo/Unary"],
  ["-d", FULL_TEXT, "-format", "text", "test.all.Echo/Down"],
  ["-d", "s: '1'\x1es: '2'\x1e", "-format=text", "test.all.Echo/Both"],
  ["-d", OLD, "test.all.Echo/Old"],
  ["-d", '{"name":"x"}', "-emit-defaults", "test.all.Echo/Old"],
  [
    "-d",
    'name:"x" ratio:2 Item { n: 1 } [opts.Old.nested]:"n" [opts.rule_ext] { get:"g"}',
    "-format",
    "text",
    "test.all.Echo/Old",
  ],
  ["test.all.Echo/Nothing"],
  ["-format", "text", "test.all.Echo/Nothing"],
  ["-d", '"2020-01-01T00:00:00Z"', "test.all.Echo/Time"],
  ["-format", "text", "-d", "seconds: 5 nanos: 1", "test.all.Echo/Time"],
  ["-d", '{"s":"1"}{"s":"2"} {"s":"}"}', "test.all.Echo/Both"],
  ["-d", '{"s":"1"} {"s":"2"}', "test.all.Echo/Up"],
  ["test.all.Echo/Up"],
  ["test.all.Echo/Both"],
  ["-d", '{"s":"1"}', "test.all.Echo/Down"],
  ["-d", '{"nope":1, "s":"x"}', "-allow-unknown-fields", "test.all.Echo/Up"],
  [
    "-v",
    "-d",
    '{"s":"x"}',
    "-H",
    "x-header: a",
    "-rpc-header",
    "X-Header-Bin: AAEC",
    "-H",
    "x-trailer:  t ",
    "test.all.Echo/Unary",
  ],
  ["-v", "-d", '{"s":"x"}', "-H", "x-trailer-bin: /w==", "test.all.Echo/Down"],
  [
    "-v",
    "-d",
    '{"s":"1"}{"s":"2"}',
    "-H",
    "b: 2",
    "-H",
    "a: 1",
    "-H",
    "b: 1",
    "test.all.Echo/Both",
  ],
  ["-v", "-H", "x-code: 5", "test.all.Echo/Unary"],
  ...Array.from({ length: 16 }, (_, i) => ["-H", `x-code: ${i + 1}`, "test.all.Echo/Unary"]),
  ["-d", '{"s":"x"}', "-H", "x-code: 3", "test.all.Echo/Down"],
  ["-d", '{"s":"x"}', "-H", "x-code: 3", "test.all.Echo/Up"],
  ["-d", '{"s":"x"}', "-H", "x-code: 3", "-format-error", "test.all.Echo/Both"],
];

/** Arguments that fail before any call, or in it; the error's text is ours. */
const FAILING: readonly (readonly string[])[] = [
  ["-d", '{"nope":1}', "test.all.Echo/Unary"],
  ["-d", '{"s":1}', "test.all.Echo/Both"],
  ["-d", '{"s":', "test.all.Echo/Up"],
  ["-d", '{"s":"a"} x', "test.all.Echo/Down"],
  ["-d", '{"s":"1"}{"s":"2"}', "test.all.Echo/Unary"],
  ["-d", '{"s":"1"}{"s":"2"}', "test.all.Echo/Down"],
  ["test.all.Echo/Missing"],
  ["test.all.Ech/Unary"],
  ["test.all.All/Unary"],
  ["nothing"],
  ["describe", "no.Such"],
  ["list", "no.Such"],
  ["list", "test.all.All"],
  ["list", "a", "b"],
  ["call", "b", "c"],
  ["-bogus", "list"],
  ["-format", "xml", "list"],
  ["-proto", "a", "-protoset", "b", "list"],
  ["-cert", "x", "list"],
  ["-max-time", "-1", "list"],
  ["-use-reflection=false", "list"],
  ["-proto", "none.proto", "list"],
  ["-protoset", "none.binpb", "list"],
];

/** grpc-go counts the content type among the metadata. */
function steady({ code, stdout, stderr }: Ran): Ran {
  return {
    code,
    stdout: stdout
      .replace(/(received:\n)content-type: application\/grpc\n(?!\S+: )/g, "$1(empty)\n")
      .replace(/^content-type: application\/grpc\n/gm, ""),
    // Of an error in the format of responses, grpcurl ends no line.
    stderr: stderr.replace(/\n$/, ""),
  };
}

for (const peer of ["grpc-go", "this library"]) {
  peerTest(`output on a server of ${peer} is grpcurl's, byte for byte`, {
    needs: [GRPCURL, GO_PEER],
  }, async () => {
    await using server = peer === "grpc-go" ? await goServer() : ownServer();
    const both = (args: readonly string[], stdin = ""): Promise<[Ran, Ran]> =>
      Promise.all([ours(args, { stdin }), theirs(args, stdin)]);
    const same = async (...args: string[]): Promise<void> => {
      const [own, other] = await both(args);
      assertEquals(steady(own), steady(other), args.join(" "));
    };
    await same("-plaintext", server.addr, "list");
    await same("--plaintext=true", server.addr, "list", "test.all.Echo");
    await same("-plaintext", server.addr, "describe", "test.all.Echo");
    for (const symbol of SYMBOLS) await same("-plaintext", server.addr, "describe", symbol);
    for (const args of CALLS) {
      await same("-plaintext", ...args.slice(0, -1), server.addr, args.at(-1)!);
    }
    const [own, other] = await both(
      ["-plaintext", "-d", "@", server.addr, "test.all.Echo/Both"],
      '{"s":"1"}\n{"s":\n"2"}',
    );
    assertEquals(own, other);
    for (const args of FAILING) {
      const flags = args.filter((_, i) => args[0]!.startsWith("-") && i < args.length - 1);
      const words = args.slice(flags.length);
      const all = ["-plaintext", ...flags, server.addr, ...words];
      const [own, other] = await both(all);
      assertEquals([own.code, own.stdout], [other.code, other.stdout], all.join(" "));
      assert(own.stderr.length > 20, own.stderr);
    }
  });
}

peerTest("files and sets are listed and described as grpcurl does, comments included", {
  needs: [GRPCURL],
}, async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeFile(`${folder}/set.binpb`, descriptorSet());
  const files = ["-import-path", PROTOS, "-proto", "test/all.proto"];
  const set = ["-protoset", `${folder}/set.binpb`];
  for (const source of [files, set]) {
    for (
      const words of [
        ["list"],
        ["list", "test.all.Echo"],
        ["describe"],
        ...SYMBOLS.map((s) => ["describe", s]),
      ]
    ) {
      // Of a one-of alone, grpcurl loses the comments.
      if (source === files && words[1] === "test.all.All.choice") continue;
      const args = [...source, ...words];
      assertEquals(await ours(args), await theirs(args), args.join(" "));
    }
  }
  const commented = await ours([...files, "describe", "test.all.Echo"]);
  assertStringIncludes(commented.stdout, "// Echoes.\n// In two lines.\nservice Echo {");
  // Both write the same files, with imports before what imports them.
  const written = async (run: (args: readonly string[]) => Promise<Ran>, name: string) => {
    const out = `${folder}/${name}`;
    assertEquals((await run([...files, "-protoset-out", out, "list"])).code, 0);
    return fromBinary(FileDescriptorSetSchema, await Deno.readFile(out)).file.map(({ name }) =>
      name
    );
  };
  const names = await written(ours, "ours");
  assertEquals(names.at(-1), "test/all.proto");
  assertEquals(names.toSorted(), (await written(theirs, "theirs")).toSorted());
  await Deno.remove(folder, { recursive: true });
});

peerTest("templates are grpcurl's, but for what it writes against protobuf's JSON", {
  needs: [GRPCURL],
}, async () => {
  const args = ["-import-path", PROTOS, "-proto", "test/all.proto", "-msg-template", "describe"];
  for (const symbol of ["test.all.All.Inner", "opts.Rule", "opts.FieldRule"]) {
    assertEquals(await ours([...args, symbol]), await theirs([...args, symbol]), symbol);
  }
  const { stdout } = await ours([...args, "test.all.All"]);
  const lines = (text: string) => text.split("\n");
  const other = lines((await theirs([...args, "test.all.All"])).stdout);
  const own = lines(stdout);
  // A mask is a string there, null is null, and bytes that are empty are not none.
  assertEquals(own.filter((line) => !other.includes(line)).map((line) => line.trim()), [
    '"bv": "",',
    '"mask": "",',
    '"null": null',
    '"null": null',
  ]);
  const template = stdout.slice(stdout.indexOf("Message template:\n") + 18);
  await using server = ownServer();
  const called = await ours(["-plaintext", "-d", template, server.addr, "test.all.Echo/Unary"]);
  assertEquals(called.code, 0, called.stderr);
});

Deno.test("verbs may stand first, flags anywhere, and one dash is as good as two", async () => {
  await using server = ownServer();
  for (
    const args of [
      ["list", server.addr, "-plaintext"],
      [server.addr, "list", "--plaintext"],
      ["-plaintext", "list", server.addr],
    ]
  ) {
    const { code, stdout } = await ours(args);
    assertEquals([code, stdout.includes("test.all.Echo\n")], [0, true], args.join(" "));
  }
  const described = await ours(["describe", server.addr, "test.all.Color", "-plaintext"]);
  assertStringIncludes(described.stdout, "test.all.Color is an enum:");
  const called = await ours([
    "call",
    server.addr,
    "test.all.Echo/Unary",
    "-plaintext",
    '-d={"s":"-x"}',
  ]);
  assertEquals([called.code, called.stdout], [0, '{\n  "s": "-x"\n}\n']);
});

Deno.test("responses are printed as they come, while requests are still typed in", async () => {
  await using server = ownServer();
  const typed = new TransformStream<string, string>();
  const writer = typed.writable.getWriter();
  const printed: string[] = [];
  let more = Promise.withResolvers<void>();
  const running = ours(["-plaintext", "-d", "@", server.addr, "test.all.Echo/Both"], {
    stdin: typed.readable,
    onPrint: (text) => {
      printed.push(text);
      more.resolve();
    },
  });
  for (const s of ["1", "2", "3"]) {
    await writer.write(`{"s":"${s}"}\n`);
    await more.promise;
    more = Promise.withResolvers();
    assertEquals(printed.at(-1), `{\n  "s": "${s}"\n}\n`);
  }
  await writer.close();
  assertEquals((await running).code, 0);
});

Deno.test("the user ends a command, and -max-time does", async () => {
  await using server = ownServer();
  const controller = new AbortController();
  const stdin = (async function* () {
    yield '{"s":"1"}';
    await new Promise(() => {});
  })();
  const ended = await ours(["-plaintext", "-d", "@", server.addr, "test.all.Echo/Both"], {
    stdin,
    interrupted: controller.signal,
    onPrint: () => controller.abort(),
  });
  assertEquals(ended.code, 130);
  const endless = (async function* () {
    yield '{"s":"1"}';
    await new Promise(() => {});
  })();
  const late = await ours(
    ["-plaintext", "-max-time", "0.3", "-d", "@", server.addr, "test.all.Echo/Both"],
    { stdin: endless },
  );
  assertEquals([late.code, late.stdout], [64 + grpc.Code.DeadlineExceeded, '{\n  "s": "1"\n}\n']);
  assertMatch(late.stderr, /Code: DeadlineExceeded/);
});

Deno.test("headers go to the call, to reflection, or to both, and take from the environment", async () => {
  const seen: [string, string | null][] = [];
  const registrar = new grpc.Registrar({
    interceptors: [(next) => (request) => {
      seen.push([request.method.name, request.header.get("x")]);
      return next(request);
    }],
  });
  grpc.reflection(registrar);
  // deno-lint-ignore no-explicit-any
  registrar.register(FILE.services[0]!, { Unary: (request: any) => request } as never);
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  const call = async (...flags: string[]) => {
    seen.length = 0;
    const ran = await ours(["-plaintext", ...flags, server.addr, "test.all.Echo/Unary"], {
      env: { TOKEN: "t" },
    });
    return [ran.code, ...new Set(seen.map(([method, x]) => `${method}=${x}`))];
  };
  assertEquals(await call("-H", "x: 1"), [0, "ServerReflectionInfo=1", "Unary=1"]);
  assertEquals(await call("-rpc-header", "X: 1"), [0, "ServerReflectionInfo=null", "Unary=1"]);
  assertEquals(await call("-reflect-header", "x:1"), [0, "ServerReflectionInfo=1", "Unary=null"]);
  assertEquals(await call("-expand-headers", "-rpc-header", "x: a${TOKEN}b"), [
    0,
    "ServerReflectionInfo=null",
    "Unary=atb",
  ]);
  assertEquals(await call("-expand-headers", "-H", "x: ${NONE}"), [2]);
  assertEquals(await call("-H", "x y: 1"), [2]);
});

peerTest("TLS: authorities, client certificates, other names, and no verification at all", {
  needs: [OPENSSL],
}, async () => {
  await using files = await makeCertificate();
  const { cert, key, caFile } = files;
  await using server = ownServer({ tls: true, certs: [{ cert, key }] });
  const port = server.addr.split(":").at(-1)!;
  const list = (...flags: string[]) => ours([...flags, `localhost:${port}`, "list"]);
  assertEquals((await list("-cacert", caFile)).code, 0);
  assertEquals((await list("-insecure")).code, 0);
  const unknown = await list();
  assertEquals(unknown.code, 1);
  assertStringIncludes(unknown.stderr, "-cacert FILE names authorities to trust");
  const other = await list("-cacert", caFile, "-authority", "other.example");
  assertEquals(other.code, 1);
  const called = await ours([
    "-insecure",
    "-d",
    '{"s":"x"}',
    "-authority",
    "a.example",
    `localhost:${port}`,
    "test.all.Echo/Unary",
  ]);
  assertEquals([called.code, called.stdout], [0, '{\n  "s": "x"\n}\n'], called.stderr);
  const plain = await ours(["-plaintext", "-max-time", "5", `localhost:${port}`, "list"]);
  assertEquals(plain.code, 1);
});

Deno.test("a server that cannot be reached, and one without reflection, are told apart", async () => {
  const dead = await ours(["-plaintext", "127.0.0.1:1", "list"]);
  assertEquals(dead.code, 1);
  assertStringIncludes(dead.stderr, 'Failed to dial target host "127.0.0.1:1": ');
  const registrar = new grpc.Registrar();
  registrar.register(FILE.services[0]!, {});
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  const silent = await ours(["-plaintext", server.addr, "list"]);
  assertEquals(silent.code, 1);
  assertStringIncludes(silent.stderr, "the server has no reflection");
  const files = ["-import-path", PROTOS, "-proto", "test/all.proto"];
  const called = await ours(["-plaintext", ...files, server.addr, "test.all.Echo/Unary"]);
  assertEquals(called.code, 64 + grpc.Code.Unimplemented);
  const dialled = await ours(["-plaintext", ...files, "127.0.0.1:1", "test.all.Echo/Unary"]);
  assertEquals(dialled.code, 1);
  assertStringIncludes(dialled.stderr, "Failed to dial target host");
});

Deno.test("errors say what there is instead", async () => {
  await using server = ownServer();
  const stderr = async (...args: string[]) =>
    (await ours(["-plaintext", server.addr, ...args])).stderr;
  assertStringIncludes(await stderr("test.all.Ecko/Unary"), 'did you mean "test.all.Echo"?');
  assertStringIncludes(await stderr("test.all.Echo/Unari"), 'did you mean "Unary"?');
  assertStringIncludes(await stderr("-emit-default", "list"), "did you mean -emit-defaults?");
  assertStringIncludes(await stderr("test.all.Echo/Unary", "-d", '{"s":1}'), "request 1");
  assertStringIncludes(await stderr("list", "-d", "1"), "Warning: the -d argument is not used");
});

Deno.test("help tells of verbs and flags", async () => {
  const help = await ours(["-help"]);
  assertEquals(help.code, 0);
  for (const word of ["list", "describe", "-plaintext", "-import-path"]) {
    assertStringIncludes(help.stdout, word);
  }
  assertStringIncludes((await ours(["help", "call"])).stdout, "-emit-defaults");
  assertEquals((await ours([])).code, 2);
});

Deno.test("calls are made by gRPC-Web and Connect too, streams as well, and over Unix sockets", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(FILE.services[0]!, {
    // deno-lint-ignore no-explicit-any
    Unary: (request: any) => request,
    // deno-lint-ignore no-explicit-any
    async *Down(request: any) {
      yield await Promise.resolve(request);
      yield request;
    },
  } as never);
  const handler = () => new Response(null, { status: 404 });
  await using server = http.listen({ addr: "127.0.0.1:0", registrar, handler });
  const files = ["-import-path", PROTOS, "-proto", "test/all.proto"];
  for (const protocol of ["grpc", "grpc-web", "connect"]) {
    const call = (method: string) =>
      ours(["-plaintext", "-protocol", protocol, ...files, "-d", '{"s":"x"}', server.addr, method]);
    const one = '{\n  "s": "x"\n}\n';
    const unary = await call("test.all.Echo/Unary");
    assertEquals([unary.code, unary.stdout], [0, one], `${protocol}: ${unary.stderr}`);
    const down = await call("test.all.Echo/Down");
    assertEquals([down.code, down.stdout], [0, one + one], `${protocol}: ${down.stderr}`);
    const none = await call("test.all.Echo/Time");
    assertEquals(none.code, 1, "the request does not fit");
    const missing = await call("test.all.Echo/Up");
    assertEquals(missing.code, 64 + grpc.Code.Unimplemented, protocol);
  }
  const wrong = await ours(["-plaintext", "-protocol", "http", server.addr, "list"]);
  assertEquals(wrong.code, 2);
  const folder = await Deno.makeTempDir();
  await using local = ownServer({ addr: `unix:${folder}/s` });
  assertEquals(local.addr, `unix:${folder}/s`);
  const listed = await ours(["-plaintext", "-unix", `${folder}/s`, "list", "test.all.Echo"]);
  assertEquals(listed.code, 0, listed.stderr);
  assertStringIncludes(listed.stdout, "test.all.Echo.Unary\n");
  await local.close();
  await Deno.remove(folder, { recursive: true });
});
