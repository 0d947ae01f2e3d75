/**
 * Retry policies: the scenarios of grpc-go's test/retry_test.go, and gRFC A6 sentence by sentence.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md}
 */
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { NEVER, pushbackOf } from "../../../grpc/client/policies.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import type { Request } from "../../../support/greeter.ts";
import { codeOf, type GreeterOptions, withGreeter } from "../../../support/with_greeter.ts";

/** Fails with a code, and perhaps with what the server asks for. */
function fail(code: Code, ...pushback: string[]): never {
  const metadata = new Headers();
  for (const value of pushback) metadata.append("grpc-retry-pushback-ms", value);
  throw new ConnectError("a test", code, metadata);
}

const POLICY: grpc.RetryPolicy = {
  maxAttempts: 4,
  initialBackoff: "0.1s",
  maxBackoff: "1s",
  backoffMultiplier: 2,
  retryableStatusCodes: ["UNAVAILABLE"],
};

/** A config with one policy for all methods. */
function config(
  policy: Partial<grpc.RetryPolicy> = {},
  rest: Omit<grpc.ServiceConfig, "methodConfig"> = {},
): grpc.ServiceConfig {
  return {
    ...rest,
    methodConfig: [{ name: [{ service: "test.Greeter" }], retryPolicy: { ...POLICY, ...policy } }],
  };
}

/** A server and a client in memory, by a clock that is moved. */
function inMemory(
  serviceConfig: grpc.ServiceConfig,
  clock: FakeClock,
  client: Partial<grpc.ClientOptions> = {},
): GreeterOptions {
  return { clock, server: { addr: "memory:" }, client: { serviceConfig, ...client } };
}

/** Times of the clock between the attempts of a call that fails each time with a pushback, or none. */
async function pauses(
  policy: Partial<grpc.RetryPolicy>,
  pushbacks: readonly (string | null)[],
): Promise<number[]> {
  const clock = new FakeClock();
  const times: number[] = [];
  await withGreeter({
    SayHello: () => {
      const pushback = pushbacks[times.length];
      times.push(clock.now());
      if (pushback === undefined) return {};
      fail(Code.Unavailable, ...pushback === null ? [] : [pushback]);
    },
  }, async (greeter) => {
    const call = greeter.SayHello({});
    await clock.until(call.catch(() => {}));
  }, inMemory(config(policy), clock, { retry: { maxAttempts: 100 } }));
  return times.slice(1).map((time, i) => time - times[i]!);
}

Deno.test("TestRetryUnary: retryable codes are sent again until the attempts are used up", async () => {
  const clock = new FakeClock();
  let i = -1;
  await withGreeter({
    SayHello: () => {
      i++;
      if ([0, 2, 5].includes(i)) return {};
      fail([6, 8, 11].includes(i) ? Code.Internal : Code.AlreadyExists);
    },
  }, async (greeter) => {
    for (
      const [code, count] of [
        [undefined, 0],
        [undefined, 2],
        [undefined, 5],
        [Code.Internal, 6],
        [Code.Internal, 8],
        [Code.Internal, 11],
        [Code.AlreadyExists, 15],
      ] as const
    ) {
      const call = codeOf(greeter.SayHello({}));
      await clock.until(call);
      assertEquals([await call, i], [code, count]);
    }
  }, inMemory(config({ retryableStatusCodes: ["already_exists"] }), clock));
});

Deno.test("TestRetryThrottling: tokens are taken and given as in grpc-go", async () => {
  const clock = new FakeClock();
  let i = -1;
  await withGreeter({
    SayHello: () => {
      if ([0, 3, 6, 10, 11, 12, 13, 14, 16, 18].includes(++i)) return {};
      fail(Code.Unavailable);
    },
  }, async (greeter) => {
    for (
      const [code, count] of [
        [undefined, 0],
        [undefined, 3],
        [undefined, 6],
        [Code.Unavailable, 8],
        [Code.Unavailable, 9],
        [undefined, 10],
        [undefined, 11],
        [undefined, 12],
        [undefined, 13],
        [undefined, 14],
        [undefined, 16],
        [Code.Unavailable, 17],
      ] as const
    ) {
      const call = codeOf(greeter.SayHello({}));
      await clock.until(call);
      assertEquals([await call, i], [code, count]);
    }
  }, inMemory(config({}, { retryThrottling: { maxTokens: 10, tokenRatio: 0.5 } }), clock));
});

Deno.test("TestMaxCallAttempts: the lesser of the policy's and the client's attempts counts", async () => {
  for (
    const [ofPolicy, ofClient, expected] of [
      [9, 4, 4],
      [9, 7, 7],
      [3, 10, 3],
      [8, undefined, 5],
      [3, 1, 1],
    ] as const
  ) {
    const clock = new FakeClock();
    let [unary, streams] = [0, 0];
    await withGreeter(
      {
        SayHello: () => (unary++, fail(Code.Unavailable)),
        Chat: () => (streams++, fail(Code.Unavailable)),
      },
      async (greeter) => {
        const call = codeOf(greeter.SayHello({}));
        await clock.until(call);
        assertEquals(await call, Code.Unavailable);
        const stream = await greeter.Chat();
        const read = codeOf(stream.read());
        await clock.until(read);
        assertEquals(await read, Code.Unavailable);
        assertEquals([unary, streams], [expected, expected]);
      },
      inMemory(config({ maxAttempts: ofPolicy }), clock, {
        retry: ofClient === undefined ? {} : { maxAttempts: ofClient },
      }),
    );
  }
});

Deno.test("TestNoRetry: without a policy, or with one attempt, nothing is sent again", async () => {
  for (
    const client of [
      {},
      { serviceConfig: "{}" },
      { serviceConfig: config(), retry: { maxAttempts: 1 } },
      {
        serviceConfig: {
          methodConfig: [{ name: [{ service: "test.Other" }], retryPolicy: POLICY }],
        },
      },
    ] satisfies Partial<grpc.ClientOptions>[]
  ) {
    let calls = 0;
    await withGreeter({
      SayHello: () => (calls++, fail(Code.Unavailable)),
      Chat: () => (calls++, fail(Code.Unavailable)),
    }, async (greeter) => {
      assertEquals(await codeOf(greeter.SayHello({})), Code.Unavailable);
      const stream = await greeter.Chat();
      assertEquals(await codeOf(stream.read()), Code.Unavailable);
      assertEquals(calls, 2);
    }, { server: { addr: "memory:" }, client });
  }
});

// ---- streams ---------------------------------------------------------------------------------------

/** What a server does next on a stream. */
type ServerStep = (stream: Served) => Promise<void> | void;
/** What a client does next. */
// deno-lint-ignore no-explicit-any
type ClientStep = (stream: any) => Promise<void>;

interface Served {
  readonly requests: AsyncIterator<Request>;
  readonly context: grpc.CallContext;
  readonly replies: string[];
}

const sReq = (name: string): ServerStep => async ({ requests }) => {
  assertEquals((await requests.next()).value?.name, name);
};
const sEnd: ServerStep = async ({ requests }) => {
  assertEquals((await requests.next()).done, true);
};
const sRes = (message: string): ServerStep => ({ replies }) => void replies.push(message);
const sErr = (code: Code, ...pushback: string[]): ServerStep => () => fail(code, ...pushback);
const sAttempts = (n: number): ServerStep => ({ context }) =>
  assertEquals(context.requestHeader.get("grpc-previous-rpc-attempts"), n === 0 ? null : `${n}`);
const sHeader: ServerStep = ({ context }) => {
  context.responseHeader.set("test-header", "value");
  context.sendHeader();
};

const cReq = (name: string): ClientStep => (stream) => stream.write({ name });
const cRes = (message: string): ClientStep => async (stream) =>
  assertEquals((await stream.read())?.message, message);
const cEnd: ClientStep = async (stream) => assertEquals(await stream.read(), null);
const cErr = (code: Code): ClientStep => async (stream) =>
  assertEquals(await codeOf(stream.read()), code);
const cClose: ClientStep = (stream) => Promise.resolve(stream.closeWrite());
const cHeader: ClientStep = async (stream) => void await stream.header;

const { Unavailable, Internal } = Code;

/** An interceptor that does nothing. */
const pass: Interceptor = (next) => (request) => next(request);

/** The cases of TestRetryStreaming, by their names. */
const STREAMS: Readonly<Record<string, [ServerStep[], ClientStep[], least?: number]>> = {
  "Non-retryable error code": [
    [sReq("1"), sErr(Internal)],
    [cReq("1"), cErr(Internal)],
  ],
  "One retry necessary": [
    [sAttempts(0), sReq("1"), sErr(Unavailable), sReq("1"), sAttempts(1), sRes("1")],
    [cReq("1"), cRes("1"), cEnd],
  ],
  "Exceed max attempts (4); check attempts header on server": [
    [
      ...[sReq("1"), sErr(Unavailable)],
      ...[sReq("1"), sAttempts(1), sErr(Unavailable)],
      ...[sAttempts(2), sReq("1"), sErr(Unavailable)],
      ...[sAttempts(3), sReq("1"), sErr(Unavailable)],
    ],
    [cReq("1"), cErr(Unavailable)],
  ],
  "Multiple requests": [
    [sReq("1"), sReq("2"), sErr(Unavailable), sReq("1"), sReq("2"), sRes("5")],
    [cReq("1"), cReq("2"), cRes("5"), cEnd],
  ],
  "Multiple successive requests": [
    [
      ...[sReq("1"), sErr(Unavailable)],
      ...[sReq("1"), sReq("2"), sErr(Unavailable)],
      ...[sReq("1"), sReq("2"), sReq("3"), sRes("5")],
    ],
    [cReq("1"), cReq("2"), cReq("3"), cRes("5"), cEnd],
  ],
  "No retry after receiving": [
    [sReq("1"), sErr(Unavailable), sReq("1"), sRes("3"), sErr(Unavailable)],
    [cReq("1"), cRes("3"), cErr(Unavailable)],
  ],
  "Retry via ClientStream.Header()": [
    [sReq("1"), sErr(Unavailable), sReq("1"), sAttempts(1)],
    [cReq("1"), cHeader, cEnd],
  ],
  "No retry after header": [
    [sReq("1"), sHeader, sErr(Unavailable)],
    [cReq("1"), cHeader, cErr(Unavailable)],
  ],
  "Replaying close send": [
    [
      ...[sReq("1"), sReq("2"), sEnd, sErr(Unavailable)],
      ...[sReq("1"), sReq("2"), sEnd, sRes("1"), sRes("3"), sRes("5")],
    ],
    [cReq("1"), cReq("2"), cClose, cRes("1"), cRes("3"), cRes("5"), cEnd],
  ],
  "Negative server pushback - no retry": [
    [sReq("1"), sErr(Unavailable, "-1")],
    [cReq("1"), cErr(Unavailable)],
  ],
  "Non-numeric server pushback - no retry": [
    [sReq("1"), sErr(Unavailable, "xxx")],
    [cReq("1"), cErr(Unavailable)],
  ],
  "1s server pushback - delayed retry": [
    [sReq("1"), sErr(Unavailable, "1000"), sReq("1"), sRes("2")],
    [cReq("1"), cRes("2"), cEnd],
    1000,
  ],
  "Overflowing buffer - no retry": [
    [sReq("x".repeat(500)), sErr(Unavailable)],
    [cReq("x".repeat(500)), cErr(Unavailable)],
  ],
};

for (const [name, [serverSteps, clientSteps, least = 0]] of Object.entries(STREAMS)) {
  for (const interceptors of [[], [pass]]) {
    const through = interceptors.length > 0 ? ", through interceptors" : "";
    Deno.test(`TestRetryStreaming: ${name}${through}`, async () => {
      const clock = new FakeClock();
      let at = 0;
      const faults: unknown[] = [];
      await withGreeter(
        {
          async *Chat(given: AsyncIterable<Request>, context: grpc.CallContext) {
            const requests = given[Symbol.asyncIterator]();
            while (at < serverSteps.length) {
              const replies: string[] = [];
              try {
                await serverSteps[at++]!({ requests, context, replies });
              } catch (error) {
                if (!(error instanceof ConnectError)) faults.push(error);
                throw error;
              }
              for (const message of replies) yield { message };
            }
          },
        },
        async (greeter) => {
          const run = (async () => {
            const stream = await greeter.Chat();
            for (const step of clientSteps) await step(stream);
          })();
          const took = await clock.until(run);
          assert(took >= least);
          assertEquals(faults, []);
          assertEquals(at, serverSteps.length);
        },
        inMemory(config(), clock, {
          interceptors,
          retry: { bufferSize: 400 },
        }),
      );
    });
  }
}

// ---- gRFC A6 ---------------------------------------------------------------------------------------

Deno.test("A6: the n-th pause is initialBackoff * backoffMultiplier ** (n - 1), a fifth more or less", async () => {
  const policy = {
    maxAttempts: 8,
    initialBackoff: "1s",
    maxBackoff: "10s",
    backoffMultiplier: 2.5,
  };
  const expected = [1000, 2500, 6250, 10_000, 10_000, 10_000, 10_000];
  const seen = await pauses(policy, Array(8).fill(null));
  assertEquals(seen.length, expected.length);
  // Timers fire up to a tick late.
  seen.forEach((pause, i) =>
    assert(pause >= expected[i]! * 0.8 && pause <= expected[i]! * 1.2 + 8, `${i}: ${pause}`)
  );
});

Deno.test("A6: a pushback is kept to exactly, and begins the pauses anew", async () => {
  const seen = await pauses({ maxAttempts: 7, initialBackoff: "1s", maxBackoff: "100s" }, [
    null,
    null,
    "5000",
    null,
    null,
    "0",
  ]);
  const bounds = [[800, 1200], [1600, 2400], [5000, 5000], [800, 1200], [1600, 2400], [0, 0]];
  seen.forEach((pause, i) => {
    const [least, most] = bounds[i]!;
    assert(pause >= least! && pause <= most! + 8, `${i}: ${pause}`);
  });
  assertEquals(seen.length, bounds.length);
});

Deno.test("A6: a pushback that is negative or cannot be read asks for no further attempt", async () => {
  for (const value of ["-1", "x"]) assertEquals(await pauses({}, [value, value]), [], value);
  const pushback = (...values: string[]) =>
    pushbackOf(["a", "1", ...values.flatMap((value) => ["grpc-retry-pushback-ms", value])]);
  for (
    const value of [
      ...[
        "-0",
        "-1",
        "-2147483648",
        "2147483648",
        "99999999999",
        "1.5",
        "+5",
        "007",
        "00",
        "",
        "1 ",
      ],
      ...["x", "1e3", "0x1", "Infinity", "10, 20"],
    ]
  ) assertEquals(pushback(value), NEVER, value);
  for (const [value, ms] of [["0", 0], ["1", 1], ["2147483647", 2147483647]] as const) {
    assertEquals(pushback(value), ms);
  }
  assertEquals(pushback(), null);
  assertEquals(pushback("100", "10"), NEVER);
  assertEquals(pushbackOf(["a", "grpc-retry-pushback-ms", "grpc-retry-pushback-ms", "7"]), 7);
});

Deno.test("A6: the attempts are counted in the request, and in the response's metadata", async () => {
  const clock = new FakeClock();
  const seen: (string | null)[] = [];
  await withGreeter({
    SayHello: (_: Request, context: grpc.CallContext) => {
      seen.push(context.requestHeader.get("grpc-previous-rpc-attempts"));
      if (seen.length < 3) fail(Code.Unavailable);
      return {};
    },
  }, async (greeter) => {
    const told: (string | null)[] = [];
    const options = {
      headers: { a: "b" },
      onHeader: (header: Headers) => told.push(header.get("grpc-previous-rpc-attempts")),
    };
    await clock.until(greeter.SayHello({}, options));
    await clock.until(greeter.SayHello({}, options));
    assertEquals(seen, [null, "1", "2", null]);
    assertEquals(told, ["2", null]);
  }, inMemory(config(), clock));
});

Deno.test("A6: the deadline is one for all attempts, and servers are told what is left", async () => {
  const clock = new FakeClock();
  const left: number[] = [];
  await withGreeter(
    {
      SayHello: (_: Request, context: grpc.CallContext) => {
        left.push(context.timeoutMs() ?? Infinity);
        fail(Code.Unavailable);
      },
    },
    async (greeter) => {
      const call = greeter.SayHello({}, { timeout: 2500 });
      const took = await clock.until(call.catch(() => {}));
      const error = await assertRejects(() => call, ConnectError) as ConnectError;
      assertEquals(error.code, Code.DeadlineExceeded);
      assert(took >= 2500 && took <= 2508, `${took}`);
      assertEquals(left.length, 2);
      assert(left[0]! > 2490 && left[1]! <= 1700 && left[1]! > 1200, left.join());
      // It may have run: nothing says that it was not sent. The last failure says more.
      assertInstanceOf(error.cause, ConnectError);
      assertEquals([error.cause.code, error.cause.rawMessage], [Code.Unavailable, "a test"]);
    },
    inMemory(
      config({ initialBackoff: "1s", maxBackoff: "5s", maxAttempts: 5, backoffMultiplier: 5 }),
      clock,
    ),
  );
});

Deno.test("a call that pauses ends when it is cancelled, and when its client is closed", async () => {
  const clock = new FakeClock();
  let calls = 0;
  await withGreeter({
    SayHello: () => (calls++, fail(Code.Unavailable, "60000")),
    Chat: () => (calls++, fail(Code.Unavailable, "60000")),
  }, async (greeter, conn) => {
    const controller = new AbortController();
    const cancelled = codeOf(greeter.SayHello({}, { signal: controller.signal }));
    const closed = codeOf(greeter.SayHello({}));
    const stream = await greeter.Chat();
    const read = codeOf(stream.read());
    await clock.advance(10);
    assertEquals(calls, 3);
    controller.abort();
    assertEquals(await cancelled, Code.Canceled);
    await clock.until(conn.close());
    assertEquals([await closed, await read], [Code.Canceled, Code.Canceled]);
    assertEquals(await codeOf(greeter.SayHello({})), Code.Canceled);
    assertEquals(calls, 3);
  }, inMemory(config({ retryableStatusCodes: ["UNAVAILABLE", "CANCELLED"] }), clock));
});

Deno.test("TestRetryTransparentWhenCommitted: a call that waits for room to be sent again can be cancelled", async () => {
  const clock = new FakeClock();
  let calls = 0;
  await withGreeter({
    // deno-lint-ignore require-yield
    async *Chat(_: unknown, context: grpc.CallContext) {
      if (calls++ === 0) fail(Code.Unavailable);
      await new Promise((_, reject) => context.signal.addEventListener("abort", reject));
    },
  }, async (greeter) => {
    const controller = new AbortController();
    const first = await greeter.Chat({ signal: controller.signal });
    await clock.advance(10);
    await greeter.Chat();
    const read = codeOf(first.read());
    await clock.advance(2000);
    assertEquals(calls, 2);
    controller.abort();
    assertEquals(await read, Code.Canceled);
    first.closeWrite();
    assertEquals(await codeOf(first.read()), Code.Canceled);
    assertEquals(await codeOf(first.write({})), Code.Canceled);
  }, {
    ...inMemory(config(), clock),
    server: { addr: "memory:", http2: { maxConcurrentStreams: 1 } },
  });
});

Deno.test("a request is sent again as it was, whatever the caller does with the object", async () => {
  const clock = new FakeClock();
  const names: string[] = [];
  await withGreeter({
    SayHello: ({ name }: Request) => {
      names.push(name);
      if (names.length < 3) fail(Code.Unavailable);
      return { message: name };
    },
  }, async (greeter) => {
    const request = { name: "one" };
    const call = greeter.SayHello(request);
    await clock.advance(10);
    assertEquals(names.length, 1);
    request.name = "two";
    await clock.until(call);
    assertEquals((await call).message, "one");
    assertEquals(names, ["one", "one", "one"]);
  }, inMemory(config(), clock));
});

Deno.test("a request that is more than is kept is sent once", async () => {
  for (const [size, attempts] of [[1000, 4], [1100, 1]] as const) {
    const clock = new FakeClock();
    let calls = 0;
    await withGreeter({
      SayHello: () => (calls++, fail(Code.Unavailable)),
    }, async (greeter) => {
      const call = codeOf(greeter.SayHello({ payload: new Uint8Array(size) }));
      await clock.until(call);
      assertEquals([await call, calls], [Code.Unavailable, attempts]);
    }, inMemory(config(), clock, { retry: { bufferSize: 1064 } }));
  }
});

Deno.test("callbacks are told of the attempt that counts alone", async () => {
  const clock = new FakeClock();
  let calls = 0;
  await withGreeter({
    SayHello: (_: Request, context: grpc.CallContext) => {
      if (calls++ < 2) fail(Code.Unavailable);
      context.responseTrailer.set("which", `${calls}`);
      return {};
    },
  }, async (greeter) => {
    const told: string[] = [];
    const call = greeter.SayHello({}, {
      onHeader: () => told.push("header"),
      onTrailer: (trailer: Headers) => told.push(trailer.get("which") ?? "none"),
    });
    await clock.until(call);
    assertEquals(told, ["header", "3"]);
  }, inMemory(config(), clock));
});

Deno.test("a server that cannot be reached is tried again by the policy, and is not said to have got the call", async () => {
  const clock = new FakeClock();
  const conn = grpc.newClient({ targets: ["127.0.0.1:1"], serviceConfig: config() });
  assertInstanceOf(conn, grpc.Conn);
  await conn.close();
  let calls = 0;
  await withGreeter({
    SayHello: () => (calls++, fail(Code.Unavailable)),
  }, async (greeter, _conn, server) => {
    const call = greeter.SayHello({});
    await clock.advance(10);
    assertEquals(calls, 1);
    // The first attempt may have run; the others find nobody.
    await clock.until(server.close());
    await clock.until(call.catch(() => {}));
    const error = await assertRejects(() => call, ConnectError) as ConnectError;
    assertEquals(error.code, Code.Unavailable);
    assertInstanceOf(error.cause, grpc.ConnectionLostError);
    assertEquals(error.cause.requestSent, "maybe");
    assertEquals(calls, 1);
  }, inMemory(config(), clock));
});
