import { assertEquals, assertRejects } from "@std/assert";
import { grpc, protoc } from "@sluice/sluice";

const PROTO = `
syntax = "proto3";
package t;
service S {
  rpc List(Filter) returns (stream M);
  rpc Empty(Nothing) returns (stream M);
  rpc Up(stream M) returns (M);
}
service Odd {
  rpc then(M) returns (M);
  rpc constructor(M) returns (M);
  rpc toString(M) returns (M);
  rpc valueOf(M) returns (M);
  rpc hasOwnProperty(M) returns (M);
  rpc __proto__(M) returns (M);
  rpc Get(M) returns (M);
  rpc get(M) returns (M);
}
service Then { rpc Then(M) returns (M); }
message M { string a = 1; }
message Nothing {}
message Filter { string a = 1; int32 timeout = 2; repeated string headers = 3; string max_age = 4; }
`;

const FILE = new protoc.Loader().load(PROTO, "service_test.proto");

async function withService(
  name: string,
  handlers: grpc.Handlers,
  run: (service: grpc.DynamicService) => Promise<void>,
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(FILE, name, handlers);
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  await using conn = grpc.newClient({ targets: [server.addr], defaultTimeout: 20_000 });
  await run(grpc.newService(conn, FILE, name));
}

interface Filter {
  a: string;
  timeout: number;
  headers: string[];
  maxAge: string;
}

/** Says what it was asked for, and how long it has. */
const LIST: grpc.Handlers = {
  async *List({ a, timeout, headers, maxAge }: Filter, context: grpc.CallContext) {
    const left = context.timeoutMs()! > 10_000 ? "default" : "own";
    yield { a: `${a} ${timeout} ${headers} ${maxAge} ${left}` };
  },
  async *Empty() {
    yield { a: "empty" };
  },
  async Up(requests: AsyncIterable<{ a: string }>) {
    let a = "";
    for await (const request of requests) a += request.a;
    return { a };
  },
};

// deno-lint-ignore no-explicit-any
async function all(stream: any): Promise<string[]> {
  const said: string[] = [];
  for await (const { a } of stream) said.push(a);
  return said;
}

Deno.test("a method that the server streams takes its request, and options behind it", async () => {
  await withService("S", LIST, async (s) => {
    assertEquals(await all(await s.List({ a: "x" })), ["x 0   default"]);
    assertEquals(await all(await s.List({ a: "x" }, 5000)), ["x 0   own"]);
    assertEquals(await all(await s.List({ a: "x" }, { timeout: 5000 })), ["x 0   own"]);
    assertEquals(await all(await s.List({ maxAge: "y" })), [
      " 0  y default",
    ]);
    const stream = await s.List({ a: "x" });
    await assertRejects(() => stream.write({ a: "y" }), TypeError, "twice");
    stream.closeWrite();
    assertEquals((await stream.read()).a, "x 0   default");
    assertEquals(await stream.read(), null);
  });
});

Deno.test("the same method takes options alone, and the request is written", async () => {
  await withService("S", LIST, async (s) => {
    for (const args of [[], [undefined], [5000], [{ timeout: 5000 }]]) {
      const stream = await s.List(...args);
      await stream.write({ a: "w" });
      const left = args[0] === undefined ? "default" : "own";
      assertEquals(await all(stream), [`w 0   ${left}`]);
    }
  });
});

Deno.test("names that fields and options share are options alone, and fields before another argument", async () => {
  await withService("S", LIST, async (s) => {
    const stream = await s.List({ timeout: 5000 });
    await stream.write({ a: "w" });
    assertEquals(await all(stream), ["w 0   own"]);
    assertEquals(await all(await s.List({ timeout: 7 }, {})), [" 7   default"]);
    assertEquals(await all(await s.List({ timeout: 7 }, undefined)), [" 7   default"]);
    assertEquals(await all(await s.List({ timeout: 7, a: "x" })), ["x 7   default"]);
    assertEquals(await all(await s.List({ timeout: 7, headers: ["h"] }, 5000)), [" 7 h  own"]);
  });
});

Deno.test("an empty bag is an empty request, unless one is written", async () => {
  await withService("S", LIST, async (s) => {
    assertEquals(await all(await s.Empty({})), ["empty"]);
    assertEquals((await (await s.List({})).read()).a, " 0   default");
    const written = await s.List({});
    await written.write({ a: "w" });
    assertEquals(await all(written), ["w 0   default"]);
    const closed = await s.List({});
    closed.closeWrite();
    assertEquals(await all(closed), [" 0   default"]);
  });
});

Deno.test("methods whose requests are streamed take options only", async () => {
  await withService("S", LIST, async (s) => {
    const up = await s.Up({ timeout: 5000 });
    await up.write({ a: "1" });
    await up.write({ a: "2" });
    up.closeWrite();
    assertEquals((await up.read()).a, "12");
    await assertRejects(() => s.Up({ a: "1" }), TypeError, "Up(options) and write the requests");
  });
});

Deno.test("whatever methods are called, a client can be awaited and shown", async () => {
  const names = ["then", "constructor", "toString", "valueOf", "hasOwnProperty", "get", "Get"];
  const handlers = Object.fromEntries(
    [...names, "__proto__"].map((name) => [name, ({ a }: { a: string }) => ({ a: name + a })]),
  );
  Object.defineProperty(handlers, "__proto__", {
    value: ({ a }: { a: string }) => ({ a: `__proto__${a}` }),
    enumerable: true,
  });
  await withService("Odd", handlers, async (odd) => {
    const service = await Promise.resolve(odd);
    assertEquals(service, odd);
    assertEquals("then" in service, false);
    assertEquals((await service.then$({ a: "!" })).a, "then!");
    for (const name of [...names.slice(1), "__proto__"]) {
      assertEquals((await service[name]({ a: "!" })).a, `${name}!`);
    }
    assertEquals(Object.getPrototypeOf(service), Object.prototype);
    assertEquals(typeof Deno.inspect(service), "string");
  });
  await withService("Then", { Then: ({ a }: { a: string }) => ({ a }) }, async (then) => {
    const service = await then;
    assertEquals((await service.Then({ a: "x" })).a, "x");
    assertEquals((await service.then$({ a: "x" })).a, "x");
  });
});
