import { assert, assertEquals, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, type http } from "@sluice/sluice";
import { listenAt, serveOptions } from "../../../grpc/server/server.ts";
import { listenAt as listenHttpAt } from "../../../http/server/listen.ts";
import { FakeClock, OVER_SOCKETS, settle } from "../../../support/fake_clock.ts";
import { data, headers } from "../../../support/frames.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { RawH2 } from "../../../support/raw_h2.ts";

function call(method: string): string[] {
  return [
    ":method",
    "POST",
    ":scheme",
    "http",
    ":path",
    `/test.Greeter/${method}`,
    ":authority",
    "localhost",
    "content-type",
    "application/grpc",
  ];
}

const EMPTY = new Uint8Array(5);
const BEGUN = Uint8Array.of(0, 0, 0, 1, 0, 0x12);

/** Both servers calls may come to. */
const SERVERS: Record<
  string,
  (clock: FakeClock, registrar: grpc.Registrar, limits: http.ServerLimits) => grpc.GrpcServer
> = {
  "grpc.listen": ({ time }, registrar, limits) =>
    listenAt(time, { addr: "127.0.0.1:0", registrar, limits }),
  "http.listen": ({ time }, registrar, limits) =>
    listenHttpAt(time, { addr: "127.0.0.1:0", registrar, limits }),
};

for (const [name, listen] of Object.entries(SERVERS)) {
  Deno.test(`${name}: a call whose request does not come ends with DEADLINE_EXCEEDED after bodyTimeout`, async () => {
    const registrar = new grpc.Registrar();
    let requests = 0;
    registrar.register(GREETER, {
      SayHello: () => ({}),
      ListReplies: async function* () {},
      SumSizes: async (messages: AsyncIterable<Request>) => {
        for await (const _ of messages) requests++;
        return {};
      },
      async *Chat(messages: AsyncIterable<Request>) {
        for await (const _ of messages) yield {};
      },
    });
    const clock = new FakeClock(OVER_SOCKETS);
    const server = listen(clock, registrar, { bodyTimeout: 20_000, keepaliveInterval: 0 });
    const raw = await RawH2.open(server.port);
    await raw.send(
      // Streams may be idle between messages; only what has begun must come.
      headers(1, call("Chat")),
      headers(3, call("SayHello")),
      headers(5, call("SayHello")),
      data(5, BEGUN),
      headers(7, call("SayHello")),
      data(7, EMPTY),
      headers(9, call("ListReplies")),
      headers(11, call("SumSizes")),
      data(11, EMPTY),
      data(11, BEGUN),
      headers(13, call("Chat")),
      data(13, BEGUN.subarray(0, 3)),
    );
    await raw.heard();
    await clock.advance(19_000);
    assert(!raw.lines.some((line) => line.startsWith("HEADERS")), raw.lines.join("\n"));
    await clock.advance(1100);
    for (const id of [3, 5, 7, 9, 11, 13]) {
      const line = await raw.line(`HEADERS ${id} END_STREAM`);
      assert(line.includes("grpc-status=4 "), line);
      assert(line.includes("limits.bodyTimeout"), line);
    }
    assertEquals(requests, 1);
    await raw.send(data(1, EMPTY, true));
    const answer = await raw.line("HEADERS 1 END_STREAM");
    assert(answer.includes("grpc-status=0"), answer);
    await raw.close();
    await clock.until(server.close());
  });

  Deno.test(`${name}: a request that comes piece by piece is waited for`, async () => {
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, {
      SayHello: ({ payload }: Request) => ({ message: String(payload.length) }),
    });
    const clock = new FakeClock(OVER_SOCKETS);
    const server = listen(clock, registrar, {
      bodyTimeout: 20_000,
      minBodyRate: 0,
      keepaliveInterval: 0,
    });
    const raw = await RawH2.open(server.port);
    await raw.send(headers(1, call("SayHello")));
    const request = Uint8Array.of(0, 0, 0, 0, 10, 0x12, 8, 1, 2, 3, 4, 5, 6, 7, 8);
    for (let i = 0; i < request.length; i++) {
      await clock.advance(5000);
      await raw.send(data(1, request.subarray(i, i + 1), i === request.length - 1));
      await raw.heard();
    }
    const answer = await raw.line("HEADERS 1 END_STREAM");
    assert(answer.includes("grpc-status=0"), answer);
    await raw.close();
    await clock.until(server.close());
  });

  Deno.test(`${name}: maxHandlers counts calls, which get UNAVAILABLE beyond it`, async () => {
    const registrar = new grpc.Registrar();
    const held: (() => void)[] = [];
    let started = () => {};
    registrar.register(GREETER, {
      SayHello: () =>
        new Promise((resolve) => {
          held.push(() => resolve({}));
          started();
        }),
      async *ListReplies() {
        yield {};
        await new Promise<void>((resolve) => held.push(resolve));
      },
    });
    await using server = listen(new FakeClock(), registrar, { maxHandlers: 2 });
    await using conn = grpc.newClient({ targets: [server.addr] });
    const greeter = grpc.newService(conn, GREETER);
    const running = new Promise<void>((resolve) => started = resolve);
    const first = greeter.SayHello({});
    await running;
    const stream = await greeter.ListReplies();
    await stream.write({});
    await stream.read();
    const error = await greeter.SayHello({}).then(() => null, (error: unknown) => error);
    assert(error instanceof ConnectError && error.code === Code.Unavailable, String(error));
    for (const type of name === "http.listen" ? ["application/grpc-web", "application/json"] : []) {
      const response = await fetch(`http://${server.addr}/test.Greeter/SayHello`, {
        method: "POST",
        headers: { "content-type": type },
        body: type === "application/json" ? "{}" : EMPTY,
      });
      assertEquals(response.status, 503);
      await response.body?.cancel();
    }
    for (const release of held.splice(0)) release();
    await first;
    assertEquals(await stream.read(), null);
    const again = greeter.SayHello({});
    while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    held[0]!();
    await again;
  });
}

Deno.test("minBodyRate ends calls whose message drips", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({}) });
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    registrar,
    limits: { minBodyRate: 1000, bodyTimeout: 60_000 },
  });
  const raw = await RawH2.open(server.port);
  await raw.send(headers(1, call("SayHello")), data(1, BEGUN));
  const ended = raw.line("HEADERS 1 END_STREAM");
  const begun = clock.now();
  do await raw.send(data(1, Uint8Array.of(1))); while (!await clock.within(500, ended));
  assert(clock.now() - begun < 30_000);
  const line = await ended;
  assert(line.includes("grpc-status=4 ") && line.includes("limits.minBodyRate"), line);
  await raw.close();
  await clock.until(server.close());
});

Deno.test("defaults of grpc.listen are those documented; what is given counts", async () => {
  const registrar = new grpc.Registrar();
  const read = (options: Partial<grpc.ServerOptions>) =>
    serveOptions({ addr: "127.0.0.1:0", registrar, ...options });
  assertEquals(read({}).limits, { maxStreams: 1000, drainTimeout: 10_000 });
  const documented = await Deno.readTextFile(
    new URL("../../../grpc/server/server.ts", import.meta.url),
  );
  assert(/@default \{10000\} \*\/\n\s+readonly drainTimeout/.test(documented));
  // deno-lint-ignore no-explicit-any
  const undefinedLimit = { maxStreams: undefined, drainTimeout: undefined } as any;
  assertEquals(read({ limits: undefinedLimit }).limits, read({}).limits);
  assertEquals(read({ limits: { drainTimeout: 5, bodyTimeout: 7 } }).limits, {
    maxStreams: 1000,
    drainTimeout: 5,
    bodyTimeout: 7,
  });
  assertEquals(read({ drainTimeout: 6, limits: { drainTimeout: 5 } }).drainTimeout, 6);
});

Deno.test("options of grpc.listen and mount are checked by name and value", () => {
  const registrar = new grpc.Registrar();
  // deno-lint-ignore no-explicit-any
  const any = (value: object) => value as any;
  for (
    const [options, words] of [
      [{ frobnicate: 1 }, "frobnicate"],
      [{ max_receive_size: 1 }, 'did you mean "maxReceiveSize"?'],
      [{ maxReceiveSize: -1 }, "maxReceiveSize"],
      [{ maxReceiveSize: "x" }, "maxReceiveSize"],
      [{ maxSendSize: NaN }, "maxSendSize"],
      [{ compress: 1 }, "compress"],
      [{ onError: 5 }, "onError"],
    ] as const
  ) {
    assertThrows(
      () => grpc.listen(any({ addr: "127.0.0.1:0", registrar, ...options })),
      TypeError,
      words,
    );
    assertThrows(() => grpc.mount(any({ registrar, ...options })), TypeError, words);
  }
  for (
    const [options, words] of [
      [{ limits: { bodyTimout: 5 } }, 'did you mean "bodyTimeout"?'],
      [{ limits: { maxHandlers: -5 } }, "maxHandlers"],
      [{ http2: { keepalive: { interval: -5 } } }, "keepalive"],
      [{ drainTimeout: -1 }, "drainTimeout"],
      [{ maxConnections: 1.5 }, "maxConnections"],
    ] as const
  ) {
    assertThrows(
      () => grpc.listen(any({ addr: "127.0.0.1:0", registrar, ...options })),
      TypeError,
      words,
    );
  }
});

Deno.test("a client that is held back is not blamed for its silence", async () => {
  const registrar = new grpc.Registrar();
  const go = Promise.withResolvers<void>();
  registrar.register(GREETER, {
    async SumSizes(messages: AsyncIterable<Request>) {
      await go.promise;
      let sum = 0;
      for await (const { payload } of messages) sum += payload.length;
      return { message: String(sum) };
    },
  });
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    registrar,
    limits: { bodyTimeout: 20_000 },
  });
  const conn = grpc.newClient({ targets: [server.addr] });
  const sums = await grpc.newService(conn, GREETER).SumSizes!();
  const count = 60;
  let written = 0;
  // More than fits: the client waits for the handler, in the middle of a message.
  const writing = (async () => {
    for (; written < count; written++) await sums.write({ payload: new Uint8Array(100_003) });
    sums.closeWrite();
  })();
  for (let before = -1; before !== written;) {
    before = written;
    await settle(OVER_SOCKETS);
  }
  assert(written < count);
  await clock.advance(100_000);
  go.resolve();
  await writing;
  assertEquals((await sums.read()).message, String(count * 100_003));
  await conn.close();
  await clock.until(server.close());
});

Deno.test("limits of connections hold on gRPC servers: age, and connections of one address", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({}) });
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    registrar,
    limits: { maxConnectionAge: 10_000, maxConnectionsPerAddress: 1 },
  });
  const raw = await RawH2.open(server.port);
  await raw.send(headers(1, call("SayHello")), data(1, EMPTY, true));
  await raw.line("HEADERS 1 END_STREAM");
  const conn = await Deno.connect({ port: server.port });
  assertEquals(await conn.read(new Uint8Array(1)).catch(() => null), null);
  conn.close();
  const took = await clock.until(raw.line("GOAWAY"));
  assert(took >= 9000, `${took} ms`);
  await clock.until(raw.end());
  await raw.close();
  await clock.until(server.close());
});
