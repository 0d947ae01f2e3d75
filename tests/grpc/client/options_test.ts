import { assert, assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import type { DescService } from "@bufbuild/protobuf";
import { delay } from "@std/async";
import { grpc, kv } from "@sluice/sluice";
import { GREETER } from "../../../support/greeter.ts";

/** A server whose calls never end, with a client. */
async function withEndless(
  options: Partial<grpc.ClientOptions>,
  run: (greeter: grpc.DynamicService, conn: grpc.Conn) => Promise<void>,
): Promise<void> {
  const registrar = new grpc.Registrar();
  const never = () => new Promise<never>(() => {});
  registrar.register(GREETER, {
    SayHello: never,
    ListReplies: endless,
    SumSizes: never,
    Chat: endless,
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 50 });
  await using conn = grpc.newClient({ targets: [server.addr], ...options });
  await run(grpc.newService(conn, GREETER), conn);
}

async function* endless(): AsyncGenerator<never> {
  yield await new Promise<never>(() => {});
}

/** What becomes of a wait: the code of its error, or its name. */
async function outcome(wait: Promise<unknown>): Promise<string> {
  try {
    await wait;
    return "ends";
  } catch (error) {
    return error instanceof ConnectError ? Code[error.code]! : (error as Error).name;
  }
}

/** The same, but "waits" for what still waits after a moment. */
async function early(wait: Promise<unknown>): Promise<string> {
  const timer = new AbortController();
  const moment = delay(60, { signal: timer.signal }).then(() => "waits", () => "");
  const result = await Promise.race([outcome(wait), moment]);
  timer.abort();
  return result;
}

/** Every place that takes the time of one call or read. */
const WAITS: Readonly<
  Record<string, (greeter: grpc.DynamicService, conn: grpc.Conn, time: number) => Promise<unknown>>
> = {
  "unary, a number": (greeter, _, time) => greeter.SayHello({}, time),
  "unary, an option": (greeter, _, timeout) => greeter.SayHello({}, { timeout }),
  "server streaming": async (greeter, _, time) => (await greeter.ListReplies({}, time)).read(),
  "client streaming": async (greeter, _, timeout) => (await greeter.SumSizes({ timeout })).read(),
  "bidirectional": async (greeter, _, time) => (await greeter.Chat(time)).read(),
  "header": async (greeter, _, time) => (await greeter.Chat(time)).header,
  "read": async (greeter, _, time) => (await greeter.Chat()).read(time),
  "createClient, unary": (_, conn, timeoutMs) => connect(conn).sayHello({}, { timeoutMs }),
  "createClient, client streaming": (_, conn, timeoutMs) =>
    connect(conn).sumSizes((async function* () {})(), { timeoutMs }),
  "createClient, server streaming": async (_, conn, timeoutMs) => {
    for await (const _ of connect(conn).listReplies({}, { timeoutMs }));
  },
};

// deno-lint-ignore no-explicit-any
function connect(conn: grpc.Conn): any {
  return createClient(GREETER.services[0] as DescService, conn);
}

const TIMES: readonly (readonly [time: number, outcome: string])[] = [
  [0, "DeadlineExceeded"],
  [0.5, "DeadlineExceeded"],
  [-1, "TypeError"],
  [-Infinity, "TypeError"],
  [NaN, "TypeError"],
  [2 ** 31 - 1, "waits"],
  [2 ** 31, "waits"],
  [2 ** 40, "waits"],
  [Number.MAX_VALUE, "waits"],
  [Infinity, "waits"],
];

for (const interceptors of [[], [((next) => (request) => next(request)) as Interceptor]]) {
  const through = interceptors.length > 0 ? " through interceptors" : "";
  Deno.test(`a time means the same for every call and read${through}`, async () => {
    await withEndless({ interceptors }, async (greeter, conn) => {
      const table: string[] = [];
      const wanted: string[] = [];
      await Promise.all(
        Object.entries(WAITS).flatMap(([name, wait]) =>
          TIMES.map(async ([time, result]) => {
            const got = await (result === "waits" ? early : outcome)(wait(greeter, conn, time));
            // Connect's client makes every error its own; the cause is the TypeError.
            table.push(`${name} ${time}: ${got === "Unknown" ? "TypeError" : got}`);
            wanted.push(`${name} ${time}: ${result}`);
          })
        ),
      );
      assertEquals(table.sort(), wanted.sort());
    });
  });
}

Deno.test("times of a client are at least 1 ms, and may be as long as they like", async () => {
  const options = (name: string, value: number): Partial<grpc.ClientOptions> => {
    const [outer, inner] = name.split(".") as [string, string | undefined];
    if (inner === undefined) return { [outer]: value };
    return { [outer]: { ...(outer === "keepalive" ? { interval: 1000 } : {}), [inner]: value } };
  };
  for (
    const name of [
      "defaultTimeout",
      "connectTimeout",
      "keepalive.interval",
      "backoff.initial",
      "backoff.max",
      "resolve.interval",
      "resolve.minInterval",
    ]
  ) {
    for (const value of [0, -1, NaN, -Infinity, "5" as unknown as number]) {
      assertThrows(
        () => grpc.newClient({ targets: ["127.0.0.1:1"], ...options(name, value) }),
        TypeError,
        `${name} must be a number >= 1`,
        `${name}: ${value}`,
      );
    }
    for (const value of [2 ** 31 - 1, 2 ** 31, 2 ** 40, Number.MAX_VALUE, Infinity]) {
      await withEndless(options(name, value), async (greeter) => {
        assertEquals(await early(greeter.SayHello({})), "waits", `${name}: ${value}`);
      });
    }
  }
  await withEndless({ defaultTimeout: 1 }, async (greeter) => {
    assertEquals(await outcome(greeter.SayHello({})), "DeadlineExceeded");
    const read = async () => (await greeter.Chat()).read();
    assertEquals(await outcome(read()), "DeadlineExceeded");
    assertEquals(await early(greeter.SayHello({}, Infinity)), "waits");
  });
});

Deno.test("options that are not known or of a wrong kind are refused, with the right name", () => {
  const refused: readonly (readonly [options: object, message: string])[] = [
    [{ max_receive_size: 1 }, 'did you mean "maxReceiveSize"?'],
    [{ connecttimeout: 1 }, 'did you mean "connectTimeout"?'],
    [{ keepalive: { intervall: 1 } }, 'did you mean "interval"?'],
    [{ keepalive: {} }, "keepalive.interval must be"],
    [{ backoff: { maximum: 1 } }, "no option"],
    [{ resolve: { intervall: 1 } }, 'did you mean "interval"?'],
    [{ http2: { streamwindow: 1 } }, 'did you mean "streamWindow"?'],
    [{ http2: { streamWindow: -1 } }, "http2.streamWindow must be"],
    [{ tls: { servername: "x" } }, 'did you mean "serverName"?'],
    [{ tls: "yes" }, "must be an object"],
    [{ maxReceiveSize: -1 }, "maxReceiveSize must be"],
    [{ maxReceiveSize: "x" }, "maxReceiveSize must be"],
    [{ maxSendSize: NaN }, "maxSendSize must be"],
    [{ compress: "gzip" }, "compress must be"],
    [{ userAgent: 5 }, "userAgent must be"],
    [{ interceptors: [5] }, "interceptors must be"],
    [{ interceptors: {} }, "interceptors must be"],
    [{ lookup: "dns" }, "lookup must be"],
    [{ targets: "127.0.0.1:1" }, "targets"],
  ];
  for (const [options, message] of refused) {
    assertThrows(
      () => grpc.newClient({ targets: ["127.0.0.1:1"], ...options }),
      TypeError,
      message,
    );
  }
  assertThrows(() => grpc.newClient(undefined as never), TypeError, "options must be an object");
});

Deno.test("options of calls that are not known or of a wrong kind are refused, with the right form", async () => {
  await withEndless({}, async (greeter) => {
    const refused: readonly (readonly [call: Promise<unknown>, message: string])[] = [
      [greeter.SayHello({}, { timout: 3 }), 'did you mean "timeout"?'],
      [greeter.SayHello({}, { timout: 3 }), "SayHello(request, options)"],
      [greeter.SayHello({}, { signal: {} }), "signal must be"],
      [greeter.SayHello({}, { waitForReady: 1 }), "waitForReady must be"],
      [greeter.SayHello({}, { onHeader: 1 }), "onHeader must be"],
      [greeter.SayHello({}, "5"), "must be an object"],
      [greeter.SayHello({}, null), "must be an object"],
      [greeter.SayHello({}, {}, () => {}), "2 at most"],
      [greeter.ListReplies({ nam: "x" }), 'did you mean "name"?'],
      [greeter.ListReplies({ timout: 3 }), 'did you mean "timeout"?'],
      [greeter.ListReplies({ nonsense: 3 }), "ListReplies(request, options)"],
      [greeter.ListReplies({ name: "x" }, { timout: 3 }), 'did you mean "timeout"?'],
      [greeter.ListReplies("x"), "must be an object"],
      [greeter.SumSizes({ name: "x" }), "SumSizes(options) and write"],
      [greeter.Chat({ name: "x" }), "Chat(options) and write"],
      [greeter.Chat({}, {}), "1 at most"],
    ];
    for (const [call, message] of refused) {
      const error = await assertRejects(() => call, TypeError, message);
      assert(error.message.startsWith("Cannot call test.Greeter."), error.message);
    }
  });
});

Deno.test("times of kv's calls mean the same", async () => {
  await withEndless({}, async (_, conn) => {
    assertInstanceOf(conn, grpc.Conn);
    for (const timeout of [0, -1, NaN]) {
      assertThrows(() => kv.newClient({ endpoints: ["127.0.0.1:1"], timeout }), TypeError);
    }
    await using client = kv.newClient({ endpoints: ["127.0.0.1:1"], retry: 0 });
    for (const timeout of [-1, NaN, -Infinity]) {
      await assertRejects(() => client.get({ key: "a" }, timeout), TypeError, "timeout");
      await assertRejects(() => client.get({ key: "a" }, { timeout }), TypeError, "timeout");
    }
    const error = await assertRejects(() => client.get({ key: "a" }, 0), kv.KvError);
    assertEquals((error as kv.KvError).code, grpc.code.DEADLINE_EXCEEDED);
  });
});
