import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError, createClient, encodeBinaryHeader } from "@connectrpc/connect";
import { delay } from "@std/async";
import { grpc } from "@sluice/sluice";
import { GREETER, type Request } from "../../support/greeter.ts";

// deno-lint-ignore no-explicit-any
type Handler = any;

/** A server with a client, closed when the test ends. */
async function withGreeter(
  handlers: Record<string, Handler>,
  run: (
    greeter: grpc.DynamicService,
    conn: grpc.Conn,
    server: grpc.GrpcServer,
  ) => Promise<void>,
  options: Partial<grpc.ServerOptions> = {},
  clientOptions: Partial<grpc.ClientOptions> = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  await using server = grpc.listen({
    addr: "127.0.0.1:0",
    registrar,
    drainTimeout: 200,
    ...options,
  });
  await using conn = grpc.newClient({ targets: [server.addr], ...clientOptions });
  await run(grpc.newService(conn, GREETER), conn, server);
}

async function codeOf(promise: Promise<unknown>): Promise<Code | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    assertInstanceOf(error, ConnectError);
    return error.code;
  }
}

Deno.test("a unary call gives the response", async () => {
  await withGreeter({
    SayHello: ({ name }: Request) => ({ message: `Hello ${name}` }),
  }, async (greeter) => {
    const reply = await greeter.SayHello({ name: "Deno" }, 1000);
    assertEquals(reply.message, "Hello Deno");
  });
});

Deno.test("calls in parallel share one connection", async () => {
  let peers = new Set<string>();
  await withGreeter({
    SayHello: async ({ name }: Request, context: grpc.CallContext) => {
      peers.add(context.peer);
      await delay(1);
      return { message: name };
    },
  }, async (greeter) => {
    const replies = await Promise.all(
      Array.from({ length: 500 }, (_, i) => greeter.SayHello({ name: String(i) })),
    );
    assertEquals(replies.map((reply) => reply.message), replies.map((_, i) => String(i)));
    assertEquals(peers.size, 1);
  });
  peers = new Set();
});

Deno.test("a server-streaming call is read to null, or by iteration", async () => {
  await withGreeter({
    async *ListReplies({ count }: Request) {
      for (let i = 0; i < count; i++) yield { message: String(i) };
    },
  }, async (greeter) => {
    const byRead = await greeter.ListReplies();
    await byRead.write({ count: 2 });
    assertEquals((await byRead.read()).message, "0");
    assertEquals((await byRead.read()).message, "1");
    assertEquals(await byRead.read(), null);
    assertEquals(await byRead.read(), null);

    const byLoop = await greeter.ListReplies();
    await byLoop.write({ count: 1000 });
    let n = 0;
    for await (const { message } of byLoop) assertEquals(message, String(n++));
    assertEquals(n, 1000);
  });
});

Deno.test("a client-streaming call gives one response after closeWrite()", async () => {
  await withGreeter({
    async SumSizes(requests: AsyncIterable<Request>) {
      let sum = 0;
      for await (const { payload } of requests) sum += payload.length;
      return { message: String(sum) };
    },
  }, async (greeter) => {
    const sums = await greeter.SumSizes();
    for (const size of [27_182, 8, 1828, 45_904]) {
      await sums.write({ payload: new Uint8Array(size) });
    }
    sums.closeWrite();
    assertEquals((await sums.read()).message, "74922");
    assertEquals(await sums.read(), null);
  });
});

Deno.test("a bidirectional call answers message by message", async () => {
  await withGreeter({
    async *Chat(requests: AsyncIterable<Request>) {
      for await (const { name } of requests) yield { message: name.toUpperCase() };
    },
  }, async (greeter) => {
    using chat = await greeter.Chat();
    for (const name of ["a", "b", "c"]) {
      await chat.write({ name });
      assertEquals((await chat.read(1000)).message, name.toUpperCase());
    }
    chat.closeWrite();
    assertEquals(await chat.read(), null);
  });
});

Deno.test("read() with a timeout loses no message", async () => {
  await withGreeter({
    async *Chat(requests: AsyncIterable<Request>) {
      for await (const { name } of requests) yield { message: name };
    },
  }, async (greeter) => {
    using chat = await greeter.Chat();
    const error = await assertRejects(() => chat.read(20), ConnectError);
    assertEquals((error as ConnectError).code, Code.DeadlineExceeded);
    await chat.write({ name: "late" });
    assertEquals((await chat.read(1000)).message, "late");
    chat.closeWrite();
    assertEquals(await chat.read(), null);
  });
});

Deno.test("messages of all sizes come through whole", async () => {
  await withGreeter({
    SayHello: ({ payload }: Request) => ({ payload }),
  }, async (greeter) => {
    for (const size of [0, 1, 16_370, 16_384, 65_535, 65_536, 1 << 20, (4 << 20) - 6]) {
      const payload = new Uint8Array(size).map((_, i) => i * 31);
      const reply = await greeter.SayHello({ payload });
      assertEquals(reply.payload.length, size);
      assert(reply.payload.every((octet: number, i: number) => octet === ((i * 31) & 255)));
    }
  });
});

Deno.test("a message over 4 MiB is refused with RESOURCE_EXHAUSTED in both directions", async () => {
  let handled = 0;
  await withGreeter({
    SayHello: ({ count }: Request) => {
      handled++;
      return { payload: new Uint8Array(count) };
    },
  }, async (greeter) => {
    assertEquals(
      await codeOf(greeter.SayHello({ payload: new Uint8Array(4 << 20) })),
      Code.ResourceExhausted,
    );
    assertEquals(handled, 0);
    assertEquals(await codeOf(greeter.SayHello({ count: 4 << 20 })), Code.ResourceExhausted);
    assertEquals((await greeter.SayHello({ count: 1 })).payload.length, 1);
  });
});

Deno.test("a deadline is sent, enforced on both sides, and aborts the handler's signal", async () => {
  let seen: number | undefined;
  let aborted = 0;
  await withGreeter({
    SayHello: async (_: Request, context: grpc.CallContext) => {
      seen = context.timeoutMs();
      await new Promise<void>((resolve) =>
        context.signal.addEventListener("abort", () => {
          aborted++;
          resolve();
        })
      );
      return {};
    },
  }, async (greeter) => {
    const before = performance.now();
    assertEquals(await codeOf(greeter.SayHello({}, 60)), Code.DeadlineExceeded);
    const took = performance.now() - before;
    assert(took >= 50 && took < 1000, `took ${took} ms`);
    assert(seen! > 0 && seen! <= 60);
    await delay(100);
    assertEquals(aborted, 1);
    assertEquals(await codeOf(greeter.SayHello({}, 0)), Code.DeadlineExceeded);
    await assertRejects(() => greeter.SayHello({}, -1), TypeError, "timeout must be a number >= 0");
  });
});

Deno.test("an aborted call ends with CANCELLED and the server stops working on it", async () => {
  let stopped = false;
  await withGreeter({
    async *ListReplies(_: Request, context: grpc.CallContext) {
      try {
        for (let i = 0; !context.signal.aborted; i++) {
          yield { message: String(i) };
          await delay(5);
        }
      } finally {
        stopped = true;
      }
    },
  }, async (greeter) => {
    const controller = new AbortController();
    const list = await greeter.ListReplies({ signal: controller.signal });
    await list.write({});
    assertEquals((await list.read()).message, "0");
    controller.abort();
    let code: Code | undefined;
    while (code === undefined) code = await codeOf(list.read());
    assertEquals(code, Code.Canceled);
    await delay(50);
    assertEquals(stopped, true);
    assertEquals(
      await codeOf(greeter.SayHello({}, { signal: AbortSignal.abort() })),
      Code.Canceled,
    );
  });
});

Deno.test("leaving a loop over responses early cancels the call", async () => {
  let stopped = false;
  await withGreeter({
    async *ListReplies(_: Request, context: grpc.CallContext) {
      context.signal.addEventListener("abort", () => stopped = true);
      for (;;) {
        yield { message: "x" };
        await delay(1);
      }
    },
  }, async (greeter) => {
    const list = await greeter.ListReplies();
    await list.write({});
    for await (const _ of list) break;
    await delay(50);
    assertEquals(stopped, true);
  });
});

Deno.test("every status code a handler throws arrives with its message", async () => {
  await withGreeter({
    SayHello: ({ count, name }: Request) => {
      throw new ConnectError(name, count);
    },
  }, async (greeter) => {
    for (let value = 1; value <= 16; value++) {
      const error = await assertRejects(
        () => greeter.SayHello({ count: value, name: `bad ☺ ${value}` }),
        ConnectError,
      ) as ConnectError;
      assertEquals(error.code, value);
      assertEquals(error.rawMessage, `bad ☺ ${value}`);
    }
  });
});

Deno.test("an exception of a handler becomes UNKNOWN and does not leak its text", async () => {
  const told: unknown[] = [];
  await withGreeter(
    {
      SayHello: () => {
        throw new Error("password=hunter2");
      },
    },
    async (greeter) => {
      const error = await assertRejects(() => greeter.SayHello({}), ConnectError) as ConnectError;
      assertEquals(error.code, Code.Unknown);
      assert(!error.message.includes("hunter2"));
      assertEquals(told.map(String), ["Error: password=hunter2"]);
    },
    { onError: (error) => told.push(error) },
  );
});

Deno.test("a response that does not fit its type fails the call, not the server", async () => {
  await withGreeter({
    SayHello: ({ name }: Request) => ({ message: name === "bad" ? 5 : "ok" }),
  }, async (greeter) => {
    assertEquals(await codeOf(greeter.SayHello({ name: "bad" })), Code.Unknown);
    assertEquals((await greeter.SayHello({ name: "good" })).message, "ok");
  });
});

Deno.test("a request that does not fit its type is a TypeError and sends nothing", async () => {
  let handled = 0;
  await withGreeter({
    SayHello: () => {
      handled++;
      return {};
    },
    SumSizes: () => {
      handled++;
      return Promise.resolve({});
    },
  }, async (greeter) => {
    await assertRejects(() => greeter.SayHello({ name: 5 }), TypeError, "test.Request.name");
    await assertRejects(() => greeter.SayHello({ nmae: "x" }), TypeError, "nmae");
    await assertRejects(() => greeter.SayHello(undefined), TypeError, "expected an object");
    assertEquals(handled, 0);
  });
});

Deno.test("a method without handler answers UNIMPLEMENTED", async () => {
  await withGreeter({ SayHello: () => ({}) }, async (greeter) => {
    const list = await greeter.ListReplies();
    await list.write({});
    assertEquals(await codeOf(list.read()), Code.Unimplemented);
  });
});

Deno.test("metadata travel both ways, text and binary, in headers and trailers", async () => {
  const bytes = Uint8Array.of(0, 1, 255);
  await withGreeter({
    SayHello: (_: Request, context: grpc.CallContext) => {
      for (const [name, value] of context.requestHeader) {
        if (!name.startsWith("x-")) continue;
        context.responseHeader.set(name, value);
        context.responseTrailer.set(
          `${name.replace(/-bin$/, "")}-t${name.endsWith("-bin") ? "-bin" : ""}`,
          value,
        );
      }
      return {};
    },
  }, async (greeter) => {
    let header = new Headers();
    let trailer = new Headers();
    await greeter.SayHello({}, {
      headers: { "x-text": "a b", "x-data-bin": encodeBinaryHeader(bytes) },
      onHeader: (h: Headers) => header = h,
      onTrailer: (t: Headers) => trailer = t,
    });
    assertEquals([header.get("x-text"), header.get("x-data-bin")], ["a b", "AAH/"]);
    assertEquals([trailer.get("x-text-t"), trailer.get("x-data-t-bin")], ["a b", "AAH/"]);
  });
});

Deno.test("several targets are called in turn, the first first", async () => {
  const servers = ["a", "b", "c"].map((message) => {
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, { SayHello: () => ({ message }) });
    return grpc.listen({ addr: "127.0.0.1:0", registrar });
  });
  const conn = grpc.newClient({ targets: servers.map((server) => server.addr) });
  const greeter = grpc.newService(conn, GREETER);
  const seen: string[] = [];
  for (let i = 0; i < 7; i++) seen.push((await greeter.SayHello({})).message);
  assertEquals(seen.join(""), "abcabca");
  await servers[1]!.close();
  seen.length = 0;
  for (let i = 0; i < 6; i++) seen.push((await greeter.SayHello({})).message);
  assertEquals(new Set(seen), new Set(["a", "c"]));
  await conn.close();
  await Promise.all(servers.map((server) => server.close()));
});

Deno.test("a target that accepts and says nothing fails within connectTimeout", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = silent.accept();
  await using conn = grpc.newClient({
    targets: [`127.0.0.1:${silent.addr.port}`],
    connectTimeout: 100,
  });
  const start = performance.now();
  assertEquals(await codeOf(grpc.newService(conn, GREETER).SayHello({})), Code.Unavailable);
  assert(performance.now() - start < 5000);
  (await accepted).close();
  silent.close();
});

Deno.test("a client connects again after its server went away and came back", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({ message: "hi" }) });
  let server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const { addr } = server;
  await using conn = grpc.newClient({ targets: [addr], backoff: { initial: 20 } });
  const greeter = grpc.newService(conn, GREETER);
  assertEquals((await greeter.SayHello({})).message, "hi");
  await server.close();
  const error = await assertRejects(() => greeter.SayHello({}), ConnectError) as ConnectError;
  assertEquals(error.code, Code.Unavailable);
  assert(error.message.includes(addr), error.message);
  server = grpc.listen({ addr, registrar });
  assertEquals((await greeter.SayHello({}, { waitForReady: true, timeout: 5000 })).message, "hi");
  await server.close();
});

Deno.test("close() of a server lets running calls finish and takes no new ones", async () => {
  let release = () => {};
  const started = Promise.withResolvers<void>();
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: async () => {
      started.resolve();
      await new Promise<void>((resolve) => release = resolve);
      return { message: "done" };
    },
  });
  const server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const greeter = grpc.newService(conn, GREETER);
  const running = greeter.SayHello({});
  await started.promise;
  const closed = server.close();
  await delay(20);
  assertEquals(await codeOf(greeter.SayHello({}, 2000)), Code.Unavailable);
  release();
  assertEquals((await running).message, "done");
  await closed;
});

Deno.test("close() of a server cuts calls that do not end in time", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => new Promise(() => {}) });
  const server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 50 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const running = codeOf(grpc.newService(conn, GREETER).SayHello!({}));
  await delay(50);
  await server.close();
  assertEquals(await running, Code.Unavailable);
});

Deno.test("close() of a client ends its calls and refuses new ones", async () => {
  await withGreeter({ SayHello: () => new Promise(() => {}) }, async (greeter, conn) => {
    const running = codeOf(greeter.SayHello({}));
    await delay(20);
    await conn.close();
    await conn.close();
    assertEquals(await running, Code.Canceled);
    assertEquals(await codeOf(greeter.SayHello({})), Code.Canceled);
  });
});

Deno.test("a client waits for room when the server allows few streams", async () => {
  let running = 0;
  let most = 0;
  await withGreeter(
    {
      SayHello: async () => {
        most = Math.max(most, ++running);
        await delay(5);
        running--;
        return {};
      },
    },
    async (greeter) => {
      await Promise.all(Array.from({ length: 20 }, () => greeter.SayHello({})));
      assertEquals(most, 2);
    },
    { http2: { maxConcurrentStreams: 2 } },
  );
});

Deno.test("gzip is understood, and sent to clients that accept it", async () => {
  await withGreeter(
    { SayHello: ({ name }: Request) => ({ message: name.repeat(10_000) }) },
    async (greeter) => {
      assertEquals((await greeter.SayHello({ name: "abc" })).message.length, 30_000);
    },
    { compress: true },
  );
});

Deno.test("Connect's createClient works on a client as its transport", async () => {
  await withGreeter({
    SayHello: ({ name }: Request) => ({ message: `Hello ${name}` }),
    async *ListReplies({ count }: Request) {
      for (let i = 0; i < count; i++) yield { message: String(i) };
    },
    async *Chat(requests: AsyncIterable<Request>) {
      for await (const { name } of requests) yield { message: name };
    },
    async SumSizes(requests: AsyncIterable<Request>) {
      let sum = 0;
      for await (const { payload } of requests) sum += payload.length;
      return { message: String(sum) };
    },
  }, async (_, conn) => {
    // deno-lint-ignore no-explicit-any
    const client = createClient(GREETER.services[0]!, conn) as any;
    assertEquals((await client.sayHello({ name: "x" })).message, "Hello x");
    const seen: string[] = [];
    for await (const { message } of client.listReplies({ count: 3 })) seen.push(message);
    assertEquals(seen, ["0", "1", "2"]);
    const names = async function* () {
      yield { name: "a" };
      yield { name: "b" };
    };
    seen.length = 0;
    for await (const { message } of client.chat(names())) seen.push(message);
    assertEquals(seen, ["a", "b"]);
    const sizes = async function* () {
      yield { payload: new Uint8Array(3) };
      yield { payload: new Uint8Array(4) };
    };
    assertEquals((await client.sumSizes(sizes())).message, "7");
    assertEquals(
      await codeOf(client.sayHello({}, { timeoutMs: 1000, signal: AbortSignal.abort() })),
      Code.Canceled,
    );
  });
});

Deno.test("Connect interceptors see unary calls of service clients", async () => {
  const seen: string[] = [];
  await withGreeter(
    {
      SayHello: (_: Request, context: grpc.CallContext) => ({
        message: context.requestHeader.get("x-token") ?? "",
      }),
    },
    async (greeter) => {
      assertEquals((await greeter.SayHello({})).message, "secret");
      assertEquals(seen, ["SayHello"]);
    },
    {},
    {
      interceptors: [(next) => (request) => {
        seen.push(request.method.name);
        request.header.set("x-token", "secret");
        return next(request);
      }],
    },
  );
});

Deno.test("attempt() turns a call into a pair", async () => {
  await withGreeter({ SayHello: () => ({ message: "hi" }) }, async (greeter) => {
    const [reply, none] = await grpc.attempt<{ message: string }>(greeter.SayHello({}));
    assertEquals([reply?.message, none], ["hi", undefined]);
    const [nothing, error] = await grpc.attempt(greeter.SayHello({}, 0));
    assertEquals(nothing, undefined);
    assertInstanceOf(error, ConnectError);
  });
});

Deno.test("wrong configuration throws at once and says what to change", async () => {
  const registrar = new grpc.Registrar();
  // deno-lint-ignore no-explicit-any
  const any = (value: unknown) => value as any;
  assertThrows(() => grpc.listen(any({ addr: ":0" })), TypeError, "registrar");
  assertThrows(() => grpc.listen({ addr: "nonsense", registrar }), TypeError, "host:port");
  assertThrows(() => grpc.listen({ addr: ":0", registrar, tls: true }), TypeError, "certs");
  assertThrows(
    () => grpc.listen({ addr: ":0", registrar, tls: true, certs: [{ cert: "x", key: "y" }] }),
    TypeError,
    "certs[0]",
  );
  assertThrows(() => grpc.newClient(any({})), TypeError, "targets");
  assertThrows(() => grpc.newClient({ targets: ["nohost"] }), TypeError, "host:port");
  await using conn = grpc.newClient({ targets: ["127.0.0.1:1"] });
  assertThrows(
    () => grpc.newService(conn, GREETER, "Nobody"),
    TypeError,
    "its services are Greeter",
  );
  assertThrows(
    () => registrar.register(GREETER, { SayHelo: () => ({}) }),
    TypeError,
    `"SayHelo"`,
  );
  assertThrows(() => registrar.register(GREETER, any({ SayHello: 5 })), TypeError, "function");
  registrar.register(GREETER, {});
  assertThrows(() => registrar.register(GREETER, {}), TypeError, "twice");
});

Deno.test("listen() throws the system's error when the port is in use", () => {
  const registrar = new grpc.Registrar();
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const addr = `127.0.0.1:${taken.addr.port}`;
  assertThrows(() => grpc.listen({ addr, registrar }), Deno.errors.AddrInUse);
  taken.close();
});

Deno.test("peers that cannot be reached or speak no HTTP/2 give UNAVAILABLE with host and cause", async () => {
  const http1 = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("x"),
  );
  const junk = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const talking = (async () => {
    const conn = await junk.accept();
    await conn.write(new TextEncoder().encode("SSH-2.0-OpenSSH_9.2\r\n"));
    await conn.read(new Uint8Array(100));
    conn.close();
  })();
  for (
    const [target, words] of [
      ["127.0.0.1:1", "Connection refused"],
      ["name.invalid:1", "dns failed"],
      ["dns://name.invalid:1", "resolved"],
      [`127.0.0.1:${junk.addr.port}`, "HTTP/2"],
    ] as const
  ) {
    await using conn = grpc.newClient({ targets: [target] });
    const error = await assertRejects(
      () => grpc.newService(conn, GREETER).SayHello!({}, 5000),
      ConnectError,
    ) as ConnectError;
    assertEquals(error.code, Code.Unavailable, target);
    assert(error.message.includes(words), `${target}: ${error.message}`);
    assert(error.cause !== undefined, target);
  }
  junk.close();
  await talking;
  await http1.shutdown();
});
