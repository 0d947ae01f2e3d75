/** Settings of methods in a service config: deadlines, sizes, waiting, and what counts before them. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Code, ConnectError, createClient, createContextValues } from "@connectrpc/connect";
import type { DescService } from "@bufbuild/protobuf";
import { grpc, http } from "@sluice/sluice";
import { FakeClock } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { codeOf, type GreeterOptions, withGreeter } from "../../../support/with_greeter.ts";

const SERVICE = GREETER.services[0] as DescService;

/** A server and a client in memory with these settings of all methods, by a clock that is moved. */
function inMemory(
  clock: FakeClock,
  method: Omit<grpc.MethodConfig, "name">,
  client: Partial<grpc.ClientOptions> = {},
): GreeterOptions {
  const serviceConfig = { methodConfig: [{ name: [{}], ...method }] };
  return { clock, server: { addr: "memory:" }, client: { serviceConfig, ...client } };
}

/** Milliseconds until a call that nobody answers is over. */
async function deadlineOf(
  timeout: string | null,
  option: number | undefined,
  defaultTimeout: number | undefined,
): Promise<number> {
  const clock = new FakeClock();
  let took = 0;
  await withGreeter({ SayHello: () => new Promise(() => {}) }, async (greeter) => {
    const call = greeter.SayHello({}, option === undefined ? {} : { timeout: option });
    took = await clock.until(call.catch(() => {}));
    assertEquals(await codeOf(call), Code.DeadlineExceeded);
  }, inMemory(clock, { timeout }, defaultTimeout === undefined ? {} : { defaultTimeout }));
  return took;
}

Deno.test("the earliest deadline counts: the call's, the client's, or the config's", async () => {
  for (
    const [config, option, byDefault, expected] of [
      ["2s", undefined, undefined, 2000],
      ["2s", 1000, undefined, 1000],
      ["2s", 3000, undefined, 2000],
      ["2s", Infinity, undefined, 2000],
      ["2s", undefined, 1000, 1000],
      ["2s", undefined, 3000, 2000],
      [null, 1000, 500, 1000],
      ["0s", undefined, undefined, 0],
    ] as const
  ) {
    const took = await deadlineOf(config, option, byDefault);
    assert(
      took >= expected && took <= expected + 12,
      `${config}, ${option}, ${byDefault}: ${took}`,
    );
  }
});

Deno.test("servers are told of the config's deadline, in all kinds of calls", async () => {
  const clock = new FakeClock();
  const told: (number | undefined)[] = [];
  const tell = (context: grpc.CallContext) => told.push(context.timeoutMs());
  await withGreeter({
    SayHello: (_: Request, context: grpc.CallContext) => (tell(context), {}),
    async *Chat(_: AsyncIterable<Request>, context: grpc.CallContext) {
      tell(context);
      yield {};
    },
  }, async (greeter, conn) => {
    await greeter.SayHello({});
    const stream = await greeter.Chat();
    await stream.read();
    stream.close();
    // deno-lint-ignore no-explicit-any
    await (createClient(SERVICE, conn) as any).sayHello({});
    assertEquals(told.length, 3);
    for (const ms of told) assert(ms! > 1900 && ms! <= 2000, `${ms}`);
  }, inMemory(clock, { timeout: "2s" }));
});

Deno.test("the lesser size counts: the client's, or the config's; without a client's the config's", async () => {
  const { ResourceExhausted } = Code;
  for (
    const [config, client, request, reply, code] of [
      [{ maxRequestMessageBytes: 100 }, {}, 90, 0, undefined],
      [{ maxRequestMessageBytes: 100 }, {}, 100, 0, ResourceExhausted],
      [{ maxRequestMessageBytes: 100 }, { maxSendSize: 50 }, 90, 0, ResourceExhausted],
      [{ maxRequestMessageBytes: 100 }, { maxSendSize: 500 }, 200, 0, ResourceExhausted],
      [{ maxRequestMessageBytes: 0 }, {}, 0, 0, undefined],
      [{ maxRequestMessageBytes: 0 }, {}, 1, 0, ResourceExhausted],
      [{ maxResponseMessageBytes: 100 }, {}, 0, 90, undefined],
      [{ maxResponseMessageBytes: 100 }, {}, 0, 200, ResourceExhausted],
      [{ maxResponseMessageBytes: 100 }, { maxReceiveSize: 50 }, 0, 90, ResourceExhausted],
      [{ maxResponseMessageBytes: 100 }, { maxReceiveSize: 500 }, 0, 200, ResourceExhausted],
      [{ maxResponseMessageBytes: 0 }, {}, 0, 0, undefined],
      [{ maxResponseMessageBytes: 0 }, {}, 0, 1, ResourceExhausted],
      [{}, {}, 0, 5 << 20, ResourceExhausted],
      [{ maxResponseMessageBytes: 6 << 20 }, {}, 0, 5 << 20, undefined],
      [
        { maxResponseMessageBytes: 6 << 20 },
        { maxReceiveSize: 4 << 20 },
        0,
        5 << 20,
        ResourceExhausted,
      ],
    ] as const
  ) {
    const what = JSON.stringify([config, client, request, reply]);
    const clock = new FakeClock();
    await withGreeter({
      SayHello: ({ count }: Request) => ({ payload: new Uint8Array(count) }),
      async *Chat(requests: AsyncIterable<Request>) {
        for await (const { count } of requests) yield { payload: new Uint8Array(count) };
      },
    }, async (greeter) => {
      const message = { payload: new Uint8Array(request), count: reply };
      const call = codeOf(greeter.SayHello(message));
      await clock.until(call);
      assertEquals(await call, code, what);
      const stream = await greeter.Chat();
      const exchange = codeOf(stream.write(message).then(() => stream.read()));
      await clock.until(exchange);
      assertEquals(await exchange, code, `${what}, streamed`);
      stream.close();
    }, inMemory(clock, config, client));
  }
});

Deno.test("calls wait for a connection by the config, unless they say otherwise", async () => {
  const clock = new FakeClock();
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({}) });
  for (
    const [config, option, waits] of [
      [true, undefined, true],
      [true, false, false],
      [true, true, true],
      [false, undefined, false],
      [false, true, true],
      [null, undefined, false],
    ] as const
  ) {
    for (const intercepted of [false, true]) {
      const options = option === undefined ? {} : { waitForReady: option };
      await withGreeter(
        { SayHello: () => ({}) },
        async (greeter, conn) => {
          const values = createContextValues();
          if (option !== undefined) values.set(grpc.WAIT_FOR_READY, option);
          for (
            const call of [
              () => greeter.SayHello({}, { timeout: 5000, ...options }),
              () =>
                // deno-lint-ignore no-explicit-any
                (createClient(SERVICE, conn) as any).sayHello({}, {
                  timeoutMs: 5000,
                  contextValues: values,
                }),
              async () => {
                const stream = await greeter.ListReplies({}, { timeout: 5000, ...options });
                await stream.read();
              },
            ]
          ) {
            const made = codeOf(call());
            await clock.until(made);
            assertEquals(
              await made,
              waits ? Code.DeadlineExceeded : Code.Unavailable,
              JSON.stringify([config, option, intercepted]),
            );
          }
        },
        inMemory(clock, { waitForReady: config }, {
          targets: ["memory:/404"],
          interceptors: intercepted ? [(next) => (request) => next(request)] : [],
        }),
      );
    }
  }
});

Deno.test("a wrong service config is refused when the client is made, with its place", () => {
  const wrong = (serviceConfig: unknown) =>
    assertThrows(
      () => grpc.newClient({ targets: ["127.0.0.1:1"], serviceConfig } as grpc.ClientOptions),
      grpc.ServiceConfigError,
    );
  assertEquals(
    wrong({ methodConfig: [{ name: [{}], timeout: 1 }] }).message,
    "Cannot use service config as methodConfig[0].timeout must be a duration in seconds of at " +
      'least 0, such as "1.5s": current value is 1',
  );
  assertEquals(wrong('{"methodConfig":1}').path, "methodConfig");
  for (const value of [null, 1, [], true]) assertEquals(wrong(value).path, "");
});

const PROTOCOLS = [
  {},
  { protocol: "grpc-web" },
  { protocol: "connect" },
  { protocol: "connect", format: "json" },
] as const;

for (const protocol of PROTOCOLS) {
  const name = Object.values(protocol).join(", ") || "grpc";

  Deno.test(`policies count whatever the protocol: ${name}`, async () => {
    const previous: (string | null)[] = [];
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, {
      SayHello: (_: Request, context: grpc.CallContext) => {
        previous.push(context.requestHeader.get("grpc-previous-rpc-attempts"));
        if (previous.length < 3) throw new ConnectError("a test", Code.Unavailable);
        return { message: "third" };
      },
      async *ListReplies({ name }: Request, context: grpc.CallContext) {
        previous.push(context.requestHeader.get("grpc-previous-rpc-attempts"));
        // The first hangs: the second is sent meanwhile.
        if (previous.length === 1) {
          await new Promise((_, reject) => context.signal.addEventListener("abort", reject));
        }
        yield { message: name };
      },
    });
    await using server = http.listen({
      addr: "127.0.0.1:0",
      limits: { drainTimeout: 200 },
      registrar: grpc.mount({ registrar }),
    });
    await using conn = grpc.newClient({
      ...protocol,
      targets: [server.addr],
      serviceConfig: {
        methodConfig: [{
          name: [{ service: "test.Greeter", method: "SayHello" }],
          retryPolicy: {
            maxAttempts: 3,
            initialBackoff: "0.001s",
            maxBackoff: "0.001s",
            backoffMultiplier: 1,
            retryableStatusCodes: [14],
          },
        }, {
          name: [{ service: "test.Greeter" }],
          hedgingPolicy: { maxAttempts: 2, hedgingDelay: "0.02s" },
        }],
      },
    });
    const greeter = grpc.newService(conn, GREETER);
    assertEquals((await greeter.SayHello({})).message, "third");
    assertEquals(previous.splice(0), [null, "1", "2"]);
    const stream = await greeter.ListReplies({ name: "b" });
    assertEquals((await stream.read())?.message, "b");
    assertEquals(await stream.read(), null);
    assertEquals(previous, [null, "1"]);
    // Over HTTP/1.1 hedged calls know, too, that responses come behind the requests.
    const chat = await greeter.Chat();
    const read = codeOf(chat.read());
    if ("protocol" in protocol) assertEquals(await read, Code.FailedPrecondition);
    chat.close();
  });
}

Deno.test("a method's settings are found for each method of its own", async () => {
  const clock = new FakeClock();
  const counts: Record<string, number> = {};
  const failing = (name: string) => () => {
    counts[name] = (counts[name] ?? 0) + 1;
    throw new ConnectError("a test", Code.Unavailable);
  };
  const retryPolicy = (maxAttempts: number) => ({
    maxAttempts,
    initialBackoff: "0.1s",
    maxBackoff: "0.1s",
    backoffMultiplier: 1,
    retryableStatusCodes: ["UNAVAILABLE"],
  });
  await withGreeter({
    SayHello: failing("SayHello"),
    ListReplies: failing("ListReplies"),
    SumSizes: failing("SumSizes"),
  }, async (greeter) => {
    await clock.until(codeOf(greeter.SayHello({})));
    for (const name of ["ListReplies", "SumSizes"]) {
      const stream = await greeter[name]!();
      await clock.until(codeOf(stream.write({}).then(() => stream.read())));
    }
    assertEquals(counts, { SayHello: 2, ListReplies: 3, SumSizes: 1 });
  }, {
    clock,
    server: { addr: "memory:" },
    client: {
      serviceConfig: JSON.stringify({
        methodConfig: [
          { name: [{ service: "test.Greeter", method: "SayHello" }], retryPolicy: retryPolicy(2) },
          { name: [{ service: "test.Greeter", method: "SumSizes" }] },
          { name: [{ service: "test.Greeter" }], retryPolicy: retryPolicy(3) },
          { name: [{}], retryPolicy: retryPolicy(4) },
        ],
      }),
    },
  });
});
