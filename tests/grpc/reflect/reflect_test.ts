/** Services learnt from their server: what is found, what it costs, and what hostile servers cannot do. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { create, fromJson, type MessageInitShape, toBinary, toJson } from "@bufbuild/protobuf";
import { file_google_protobuf_timestamp, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { grpc, protoc } from "@sluice/sluice";
import { reflectionFiles } from "../../../grpc/server/proto/reflection.ts";
import { Random } from "../../../support/random.ts";

const loader = new protoc.Loader();
loader.load(
  `syntax = "proto2";
   package shop;
   message Item { extensions 100 to 200; optional string name = 1; oneof kind { bool fresh = 2; } }
   extend Item { optional int32 weight = 150; }
   enum Color { RED = 0; }`,
  "shop/item.proto",
);
loader.load(
  `syntax = "proto2"; package more; import "shop/item.proto";
   extend shop.Item { optional string note = 120; }
   service Extra { rpc Buy(shop.Item) returns (shop.Item); }`,
  "more.proto",
);
const SHOP = loader.load(
  `syntax = "proto3";
   package shop;
   import public "shop/item.proto";
   import "google/protobuf/timestamp.proto";
   service Shop {
     rpc Buy(Item) returns (Receipt);
     rpc Watch(Item) returns (stream Receipt);
   }
   message Receipt { Item item = 1; google.protobuf.Timestamp at = 2; }`,
  "shop/shop.proto",
);

async function withShop(run: (addr: string, asked: () => number) => Promise<void>): Promise<void> {
  let asked = 0;
  const registrar = new grpc.Registrar({
    interceptors: [(next) => (request) => {
      if (request.service.typeName.startsWith("grpc.reflection.")) asked++;
      return next(request);
    }],
  });
  grpc.reflection(registrar);
  registrar.register(SHOP, {
    Buy: (item) => ({ item, at: { seconds: 5n } }),
    Watch: async function* (item) {
      yield { item };
      yield { item };
    },
  });
  registrar.register(loader.loaded["more.proto"]!, { Buy: (item) => item });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  await run(server.addr, () => asked);
}

Deno.test("reflect() gives the services of a server with nothing else", async () => {
  await withShop(async (addr) => {
    await using reflected = await grpc.reflect(addr);
    assertEquals(reflected.names, [
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "more.Extra",
      "shop.Shop",
    ]);
    const { Shop, "more.Extra": extra } = reflected.services;
    const receipt = await Shop.Buy({ name: "pear" });
    assertEquals([receipt.item.name, receipt.at.seconds], ["pear", 5n]);
    using stream = await Shop.Watch({ name: "plum" });
    const names = [];
    for await (const { item } of stream) names.push(item.name);
    assertEquals(names, ["plum", "plum"]);
    assertEquals((await extra.Buy({ name: "fig" })).name, "fig");
    assertEquals(reflected.service("Shop"), reflected.service("shop.Shop"));
    // A name that two services have stands for neither.
    assertEquals(Object.keys(reflected.services), [...reflected.names]);
    assertEquals("ServerReflection" in reflected.services, false);
  });
});

Deno.test("reflect() takes a connection, and leaves it open", async () => {
  await withShop(async (addr) => {
    await using conn = grpc.newClient({ targets: [addr] });
    {
      await using reflected = await grpc.reflect(conn, { services: ["shop.Shop"] });
      assertEquals(reflected.names, ["shop.Shop"]);
      assertEquals(reflected.conn, conn);
    }
    const client = grpc.newService(conn, SHOP);
    assertEquals((await client.Buy({ name: "pear" })).item.name, "pear");
  });
});

Deno.test("what was fetched is kept, and nothing is asked for twice", async () => {
  await withShop(async (addr, asked) => {
    await using reflected = await grpc.reflect(addr, { services: ["shop.Shop"] });
    const before = asked();
    const file = await reflected.fileOf("shop.Receipt");
    for (
      const symbol of [
        ".shop.Shop",
        "shop.Shop.Buy",
        "shop.Receipt.at",
        "shop.RED",
        "shop.Item.kind",
      ]
    ) {
      const found = await reflected.fileOf(symbol);
      assertEquals(found.messages.length > 0, true, symbol);
    }
    assertEquals(await reflected.file("shop/shop.proto"), file);
    assertEquals(asked(), before);
    // Well-known types are everyone's.
    assertEquals(file.dependencies[1], file_google_protobuf_timestamp);
    assertEquals((await reflected.file("more.proto")).services[0]!.name, "Extra");
    assertEquals(asked(), before + 1);
  });
});

Deno.test("extensions are looked up, and read and written as JSON", async () => {
  await withShop(async (addr) => {
    await using reflected = await grpc.reflect(addr, { services: ["shop.Shop"] });
    assertEquals(await reflected.extensionsOf("shop.Item"), ["more.note", "shop.weight"]);
    assertEquals(await reflected.extensionsOf("shop.Item"), ["more.note", "shop.weight"]);
    const { registry } = reflected;
    const type = reflected.descriptor("shop.Shop").methods[0]!.input;
    const json = { name: "pear", "[more.note]": "ripe", "[shop.weight]": 7 };
    const { item } = await reflected.service("Shop").Buy(fromJson(type, json, { registry }));
    assertEquals(toJson(type, item, { registry }), json);
    assertEquals(await reflected.extensionsOf("shop.Receipt"), []);
    assertEquals(await reflected.extensionsOf("no.Such"), []);
  });
});

Deno.test("names that are not there are refused with what is", async () => {
  await withShop(async (addr) => {
    await using reflected = await grpc.reflect(addr);
    const code = (code: grpc.Code) => (error: unknown) =>
      assertEquals((error as grpc.ConnectError).code, code);
    const missing = assertThrows(() => reflected.service("shop.Shpo"), grpc.ConnectError);
    assertStringIncludes(missing.message, 'did you mean "shop.Shop"?');
    code(grpc.Code.NotFound)(missing);
    assertStringIncludes(
      assertThrows(() => reflected.service("ServerReflection"), grpc.ConnectError).message,
      "grpc.reflection.v1.ServerReflection and grpc.reflection.v1alpha.ServerReflection: give the full",
    );
    code(grpc.Code.NotFound)(
      await assertRejects(
        () => reflected.fileOf("shop.Nothing"),
        grpc.ConnectError,
        "shop.Nothing",
      ),
    );
    code(grpc.Code.NotFound)(
      await assertRejects(() => reflected.file("no.proto"), grpc.ConnectError),
    );
    await assertRejects(() => reflected.fileOf("a".repeat(5000)), grpc.ConnectError, "4096");
    await using item = await grpc.reflect(addr, { services: ["shop.Item"] });
    assertThrows(() => item.service("shop.Item"), grpc.ConnectError, "it is none");
  });
});

Deno.test("wrong options of reflect() are refused by name", async () => {
  const wrong = (options: object, message: string) =>
    assertRejects(() => grpc.reflect("127.0.0.1:1", options), TypeError, message);
  await wrong({ timout: 1 }, 'did you mean "timeout"?');
  await wrong({ timeout: -1 }, "timeout must be a number >= 0");
  await wrong({ limits: { maxFile: 1 } }, 'did you mean "maxFiles"?');
  await wrong({ limits: { maxBytes: 0 } }, "limits.maxBytes must be an integer >= 1");
  await wrong({ services: "a" }, "services must be a list");
  await wrong({ signal: 1 }, "signal");
  await assertRejects(() => grpc.reflect({} as grpc.Conn), TypeError, "host:port");
});

Deno.test("a server without reflection is told from one that speaks the old version only", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(SHOP, {});
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  const error = await assertRejects(() => grpc.reflect(server.addr), grpc.ConnectError);
  assertEquals(error.code, grpc.Code.Unimplemented);
  assertStringIncludes(error.message, "the server has no reflection");

  await withAnswers(
    [file({ name: "a.proto", service: [{ name: "A" }] })],
    async (addr) => {
      await using reflected = await grpc.reflect(addr);
      assertEquals(reflected.names, ["A"]);
      assertEquals((await reflected.fileOf("A")).proto.name, "a.proto");
    },
    { version: 1 },
  );
});

type FileInit = MessageInitShape<typeof FileDescriptorProtoSchema>;

function file(init: FileInit): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, create(FileDescriptorProtoSchema, init));
}

interface Rules {
  readonly version?: number;
  /** Services that are listed; all of the files if not given. */
  readonly services?: readonly string[];
  /** Answers that are not as the files have it, by the question's value. */
  readonly answers?: Readonly<Record<string, object>>;
}

/** A server whose reflection gives these bytes: files by name, in their order if nothing fits. */
async function withAnswers(
  files: readonly Uint8Array[],
  run: (addr: string) => Promise<void>,
  { version = 0, services, answers = {} }: Rules = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  const byName = new Map(files.map((bytes) => [nameOf(bytes), bytes]));
  registrar.register(reflectionFiles()[version]!, {
    // deno-lint-ignore no-explicit-any
    ServerReflectionInfo: async function* (requests: AsyncIterable<any>) {
      for await (const { messageRequest: { case: kind, value } } of requests) {
        if (kind === "listServices") {
          const service = (services ?? ["A"]).map((name) => ({ name }));
          yield { messageResponse: { case: "listServicesResponse", value: { service } } };
          continue;
        }
        const given = Object.hasOwn(answers, value) ? answers[value] : undefined;
        const bytes = byName.get(value) ?? (kind === "fileByFilename" ? undefined : files[0]);
        yield {
          messageResponse: given ??
            (bytes === undefined
              ? { case: "errorResponse", value: { errorCode: 5, errorMessage: `no ${value}` } }
              : { case: "fileDescriptorResponse", value: { fileDescriptorProto: [bytes] } }),
        };
      }
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  await run(server.addr);
}

function nameOf(bytes: Uint8Array): string {
  // Field 1 of a file; bytes that are no file have no name.
  return bytes[0] === 10 ? new TextDecoder().decode(bytes.subarray(2, 2 + bytes[1]!)) : "";
}

/** Learns service A of a server, which fails. */
async function fails(
  files: readonly Uint8Array[],
  code: grpc.Code,
  message: string,
  rules: Rules = {},
  options: grpc.ReflectOptions = {},
): Promise<void> {
  await withAnswers(files, async (addr) => {
    const error = await assertRejects(
      async () => {
        await using reflected = await grpc.reflect(addr, options);
        reflected.service("A");
      },
      grpc.ConnectError,
    );
    assertStringIncludes(error.message, message);
    assertEquals(error.code, code, error.message);
  }, rules);
}

const A = { service: [{ name: "A" }] };
const { Internal, ResourceExhausted, NotFound } = grpc.Code;
const asFiles = (...fileDescriptorProto: Uint8Array[]) => ({
  case: "fileDescriptorResponse",
  value: { fileDescriptorProto },
});

Deno.test("imports in a circle, of other files, and of files that differ are refused", async () => {
  await fails(
    [
      file({ name: "a.proto", dependency: ["b.proto"], ...A }),
      file({ name: "b.proto", dependency: ["c.proto"] }),
      file({ name: "c.proto", dependency: ["b.proto"] }),
    ],
    Internal,
    'in a circle: "b.proto" → "c.proto" → "b.proto"',
  );
  await fails([file({ name: "a.proto", dependency: ["a.proto"], ...A })], Internal, "in a circle");
  await fails(
    [file({ name: "a.proto", dependency: ["b.proto"], ...A })],
    Internal,
    'asked for file "b.proto", it gives others',
    { answers: { "b.proto": asFiles(file({ name: "x.proto" })) } },
  );
  await fails(
    [file({ name: "a.proto", ...A })],
    Internal,
    "it gives files that do not declare it",
    { answers: { A: asFiles(file({ name: "b.proto" })) } },
  );
  await fails(
    [file({ name: "a.proto", ...A })],
    Internal,
    'two different files "a.proto"',
    { answers: { A: asFiles(file({ name: "a.proto", ...A }), file({ name: "a.proto" })) } },
  );
  await fails(
    [file({ name: "a.proto", ...A })],
    Internal,
    'A is declared by "a.proto" and by "b.proto"',
    { answers: { A: asFiles(file({ name: "a.proto", ...A }), file({ name: "b.proto", ...A })) } },
  );
});

Deno.test("an import that the server has not is left out, and missed where it is needed", async () => {
  const used = (typeName: string): FileInit => ({
    name: "a.proto",
    dependency: ["b.proto", "gogo.proto"],
    messageType: [{ name: "M", field: [{ name: "x", number: 1, type: 11, label: 1, typeName }] }],
    ...A,
  });
  const b = file({ name: "b.proto", messageType: [{ name: "B" }] });
  await withAnswers([file(used(".B")), b], async (addr) => {
    await using reflected = await grpc.reflect(addr);
    assert(reflected.service("A"));
  });
  await fails([file(used(".Gone")), b], Internal, 'it does not give "gogo.proto"');
});

Deno.test("answers that are none, or no files, are refused", async () => {
  const a = file({ name: "a.proto", ...A });
  await fails([Uint8Array.of(255, 1, 2)], Internal, "bytes that are no file");
  await fails([new Uint8Array()], Internal, "a file without a name");
  await fails([a], Internal, "it answers with nothing", { answers: { A: { case: undefined } } });
  await fails([a], Internal, "it answers with listServicesResponse", {
    answers: { A: { case: "listServicesResponse", value: {} } },
  });
  await fails([a], NotFound, "gone for good", {
    answers: {
      A: { case: "errorResponse", value: { errorCode: 5, errorMessage: "gone for good" } },
    },
  });
  // A type deeper than any reader goes.
  let nested: FileInit = { name: "m" };
  for (let i = 0; i < 60; i++) nested = { name: "m", nestedType: [nested] } as FileInit;
  await fails([file({ name: "a.proto", messageType: [nested], ...A } as FileInit)], Internal, "");
});

Deno.test("one service that is wrong leaves the others alone", async () => {
  const services = ["Good", "Bad", "Worse"];
  await withAnswers([file({ name: "g.proto", service: [{ name: "Good" }] })], async (addr) => {
    await using reflected = await grpc.reflect(addr);
    assertEquals(reflected.names, services);
    assert(reflected.services["Good"]);
    assertThrows(() => reflected.services["Bad"], grpc.ConnectError, "no name of a service");
    assertThrows(() => reflected.services["Worse"], grpc.ConnectError, "it gives others");
  }, {
    services,
    answers: {
      Bad: asFiles(file({ name: "b.proto", service: [{ name: "B ad" }] })),
      Worse: asFiles(
        file({ name: "w.proto", dependency: ["i.proto"], service: [{ name: "Worse" }] }),
      ),
      "i.proto": asFiles(file({ name: "other.proto" })),
    },
  });
});

Deno.test("what no compiler makes is refused", async () => {
  const message = (init: object): FileInit =>
    ({ name: "a.proto", messageType: [{ name: "M", ...init }], ...A }) as FileInit;
  const field = (init: object): FileInit =>
    message({ field: [{ name: "x", number: 1, type: 5, label: 1, ...init }] });
  const entry = (init: object): FileInit => message({ options: { mapEntry: true }, ...init });
  const cases: readonly [FileInit, string][] = [
    [message({ name: "M; process.exit()" }), "is no name of a message"],
    [message({ name: "" }), "is no name of a message"],
    [field({ name: 'x"]' }), "is no name of a field"],
    [field({ number: 0 }), "its number must be from 1 to 536870911: it is 0"],
    [field({ number: -1 }), "its number must be"],
    [field({ number: 536870912 }), "its number must be"],
    [field({ type: 99 }), "its type is missing, or is none there is"],
    [field({ type: 11, typeName: "a b" }), "is no name of a type"],
    [field({ type: 11, typeName: ".A" }), ""],
    [field({ type: 11, typeName: ".Nothing" }), ""],
    [field({ oneofIndex: 3 }), "is in a oneof that is not there"],
    [
      message({ field: [1, 1].map((number, i) => ({ name: `f${i}`, number, type: 5, label: 1 })) }),
      "two fields of M have the number 1",
    ],
    [
      message({ field: [1, 2].map((number) => ({ name: "f", number, type: 5, label: 1 })) }),
      "M.f is declared twice",
    ],
    [message({ enumType: [{ name: "E" }] }), "M.E has no values"],
    [message({ extension: [{ name: "e", number: 5, type: 5, label: 1 }] }), "extends nothing"],
    [entry({}), "is no entry of a map"],
    [
      entry({
        field: [{ name: "key", number: 1, type: 1, label: 1 }, {
          name: "value",
          number: 2,
          type: 5,
          label: 1,
        }],
      }),
      "is no entry of a map",
    ],
    [{ ...message({}), package: "a..b" }, "is no name of a package"],
    [{ ...message({}), syntax: "proto9" }, ""],
    [{
      name: "a.proto",
      service: [{ name: "A", method: [{ name: "x", inputType: ".N", outputType: ".N" }] }],
    }, ""],
  ];
  for (const [init, message] of cases) await fails([file(init)], Internal, message);
});

Deno.test("files, bytes, rounds, services and answers without end are bounded by name", async () => {
  const chain = (count: number): Uint8Array[] =>
    Array.from({ length: count }, (_, i) =>
      file({
        name: i === 0 ? "a.proto" : `f${i}.proto`,
        dependency: i + 1 < count ? [`f${i + 1}.proto`] : [],
        ...(i === 0 ? A : {}),
      }));
  await withAnswers(chain(50), async (addr) => {
    await using reflected = await grpc.reflect(addr);
    assert(reflected.service("A"));
  });
  await fails(chain(80), ResourceExhausted, "64 rounds of imports (limits.maxRounds)");
  await fails(chain(9), ResourceExhausted, "8 files (limits.maxFiles)", {}, {
    limits: { maxFiles: 8 },
  });
  await fails(chain(9), ResourceExhausted, "(limits.maxBytes)", {}, { limits: { maxBytes: 100 } });
  const services = Array.from({ length: 11 }, (_, i) => `S${i}`);
  await fails(
    chain(1),
    ResourceExhausted,
    "10 services (limits.maxServices)",
    { services },
    { limits: { maxServices: 10 } },
  );
  await fails(chain(1), Internal, "it lists a service", { services: ["s".repeat(5000)] });
});

Deno.test("imports in a lattice cost what there are of them, not of the ways through them", async () => {
  const floors = 30;
  const files = Array.from({ length: floors * 3 }, (_, i) => {
    const floor = Math.floor(i / 3);
    const below = floor + 1 < floors ? [0, 1, 2].map((j) => `f${(floor + 1) * 3 + j}.proto`) : [];
    return file({
      name: i === 0 ? "a.proto" : `f${i}.proto`,
      dependency: below,
      publicDependency: below.map((_, j) => j),
      messageType: [{ name: `M${i}` }],
      ...(i === 0 ? A : {}),
    });
  });
  await withAnswers(files, async (addr) => {
    await using reflected = await grpc.reflect(addr);
    assertEquals(reflected.registry.getMessage("M89")?.name, "M89");
  });
});

Deno.test("a server that never answers, and one that answers without end, cost a deadline and a window", async () => {
  const registrar = new grpc.Registrar();
  let sent = 0;
  registrar.register(reflectionFiles()[0]!, {
    ServerReflectionInfo: async function* (requests: AsyncIterable<unknown>) {
      for await (const _ of requests) {
        // Never what was asked for: 64 KiB at a time for as long as anybody reads.
        for (;;) {
          sent++;
          yield {
            validHost: "x".repeat(65536),
            messageResponse: { case: "listServicesResponse", value: { service: [{ name: "A" }] } },
          };
        }
      }
    },
  });
  const silent = new grpc.Registrar();
  silent.register(reflectionFiles()[0]!, {
    ServerReflectionInfo: async function* (
      requests: AsyncIterable<unknown>,
      { signal }: grpc.CallContext,
    ) {
      for await (const _ of requests) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        yield {};
      }
    },
  });
  await using chatty = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  await using mute = grpc.listen({ addr: "127.0.0.1:0", registrar: silent, drainTimeout: 200 });
  await assertRejects(
    () =>
      grpc.reflect(chatty.addr).then((reflected) => {
        reflected.close();
        return reflected.service("A");
      }),
    grpc.ConnectError,
    "it answers with listServicesResponse",
  );
  assert(sent < 1000, `${sent} answers were taken`);
  const late = await assertRejects(
    () => grpc.reflect(mute.addr, { timeout: 50 }),
    grpc.ConnectError,
  );
  assertEquals(late.code, grpc.Code.DeadlineExceeded);
  const controller = new AbortController();
  const given = grpc.reflect(mute.addr, { signal: controller.signal });
  controller.abort();
  assertEquals((await assertRejects(() => given, grpc.ConnectError)).code, grpc.Code.Canceled);
});

const SEED = Number(Deno.env.get("REFLECT_SEED") ?? 7);

Deno.test(`descriptors with bytes changed at random are used or refused, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const names = ["shop/item.proto", "shop/shop.proto"];
  let refused = 0;
  let used = 0;
  const registrar = new grpc.Registrar();
  let files: Uint8Array[] = [];
  registrar.register(reflectionFiles()[0]!, {
    ServerReflectionInfo: async function* (requests: AsyncIterable<unknown>) {
      for await (const _ of requests) {
        yield {
          messageResponse: {
            case: "fileDescriptorResponse",
            value: { fileDescriptorProto: files },
          },
        };
      }
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  for (let i = 0; i < 400; i++) {
    files = names.map((name) => loader.bytes(name));
    for (let changes = random.below(3); changes >= 0; changes--) {
      const bytes = files[random.below(files.length)]!;
      bytes[random.below(bytes.length)] = random.below(256);
    }
    try {
      const reflected = await grpc.reflect(conn, { services: ["shop.Shop"] });
      const shop = reflected.service("shop.Shop");
      used++;
      const [method] = Object.keys(shop);
      // The types are read and written by generated code.
      await shop[method!]({}).catch((error: unknown) => {
        if (!(error instanceof grpc.ConnectError || error instanceof TypeError)) throw error;
      });
    } catch (error) {
      if (!(error instanceof grpc.ConnectError)) throw error;
      refused++;
    }
  }
  assert(used > 20 && refused > 100, `${used} used, ${refused} refused`);
});
