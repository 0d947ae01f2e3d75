/**
 * Hedging policies: gRFC A6 sentence by sentence.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md#hedging-policy}
 */
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { FakeClock } from "../../../support/fake_clock.ts";
import type { Request } from "../../../support/greeter.ts";
import { codeOf, type GreeterOptions, withGreeter } from "../../../support/with_greeter.ts";

const POLICY: grpc.HedgingPolicy = {
  maxAttempts: 4,
  hedgingDelay: "0.5s",
  nonFatalStatusCodes: ["UNAVAILABLE", "INTERNAL", "ABORTED"],
};

/** A server and a client in memory, with one policy for all methods, by a clock that is moved. */
function hedged(
  clock: FakeClock,
  policy: Partial<grpc.HedgingPolicy> = {},
  config: Partial<grpc.ServiceConfig> = {},
  client: Partial<grpc.ClientOptions> = {},
): GreeterOptions {
  const methodConfig = [{ name: [{}], hedgingPolicy: { ...POLICY, ...policy } }];
  return {
    clock,
    server: { addr: "memory:" },
    client: { serviceConfig: { methodConfig, ...config }, ...client },
  };
}

/** How one attempt ends: with a message, a code, a code and a pushback, or only when it is cancelled. */
type Ending = string | Code | readonly [code: Code, pushback: string] | null;

interface Attempt {
  /** When it came. */
  readonly at: number;
  readonly previous: string | null;
  /** When the server was told that it is given up. */
  cancelled: number | null;
}

/** Makes one unary call whose attempts end as told, each after a time. */
async function call(
  endings: readonly (readonly [ms: number, ending: Ending])[],
  policy: Partial<grpc.HedgingPolicy> = {},
  config: Partial<grpc.ServiceConfig> = {},
): Promise<{ attempts: Attempt[]; took: number; answer: string | Code | undefined }> {
  const clock = new FakeClock();
  const attempts: Attempt[] = [];
  let took = 0;
  let answer: string | Code | undefined;
  let start = 0;
  await withGreeter({
    SayHello: async (_: Request, context: grpc.CallContext) => {
      const [ms, ending] = endings[attempts.length]!;
      const attempt: Attempt = {
        at: clock.now() - start,
        previous: context.requestHeader.get("grpc-previous-rpc-attempts"),
        cancelled: null,
      };
      attempts.push(attempt);
      context.signal.addEventListener("abort", () => attempt.cancelled ??= clock.now() - start);
      await clock.sleep(ending === null ? 1e6 : ms, context.signal);
      attempt.cancelled = NaN;
      if (typeof ending === "string") return { message: ending };
      const [code, pushback] = typeof ending === "number" ? [ending] : ending!;
      throw new ConnectError(
        "a test",
        code,
        pushback === undefined ? undefined : { "grpc-retry-pushback-ms": pushback },
      );
    },
  }, async (greeter, conn) => {
    await clock.advance(0);
    assertInstanceOf(conn, grpc.Conn);
    start = clock.now();
    const running = greeter.SayHello({}).then(
      (reply: { message: string }) => reply.message,
      (error: ConnectError) => error.code,
    );
    took = await clock.until(running);
    answer = await running;
    // Those that lost learn of it.
    await clock.advance(0);
  }, hedged(clock, policy, config));
  return { attempts, took, answer };
}

/** Timers ring up to a tick late, each. */
function about(seen: readonly number[], expected: readonly number[]): void {
  assertEquals(seen.length, expected.length, seen.join());
  seen.forEach((time, i) =>
    assert(time >= expected[i]! && time <= expected[i]! + 20, `${i}: ${time}`)
  );
}

const times = (attempts: readonly Attempt[]): number[] => attempts.map(({ at }) => at);

Deno.test("A6: without a response another attempt is sent after each hedgingDelay, up to maxAttempts", async () => {
  const { attempts, answer, took } = await call([
    [9000, "first"],
    [9000, "second"],
    [9000, "third"],
    [9000, "fourth"],
  ]);
  about(times(attempts), [0, 500, 1000, 1500]);
  assertEquals(attempts.map(({ previous }) => previous), [null, "1", "2", "3"]);
  assertEquals(answer, "first");
  about([took], [9000]);
});

Deno.test("A6: the first response is given, and all other attempts are cancelled", async () => {
  const { attempts, answer, took } = await call([[0, null], [0, null], [200, "third"]]);
  about(times(attempts), [0, 500, 1000]);
  assertEquals(answer, "third");
  about([took], [1200]);
  about(attempts.slice(0, 2).map(({ cancelled }) => cancelled!), [1200, 1200]);
  assertEquals(attempts[2]!.cancelled, NaN);
});

Deno.test("A6: a response before the delay sends nothing more", async () => {
  const { attempts, answer } = await call([[100, "first"]]);
  assertEquals([attempts.length, answer], [1, "first"]);
});

Deno.test("A6: with no delay all attempts are sent at once", async () => {
  for (const hedgingDelay of ["0s", null]) {
    const { attempts, answer } = await call(
      [[0, null], [0, null], [300, "third"], [0, null]],
      { hedgingDelay },
    );
    about(times(attempts), [0, 0, 0, 0]);
    assertEquals(answer, "third");
    about([0, 1, 3].map((i) => attempts[i]!.cancelled!), [300, 300, 300]);
  }
});

Deno.test("A6: a non-fatal code sends the next at once, and the delay begins anew", async () => {
  const { attempts, answer } = await call([
    [100, Code.Internal],
    [9000, "second"],
    [9000, "third"],
    [50, "fourth"],
  ]);
  about(times(attempts), [0, 100, 600, 1100]);
  assertEquals(answer, "fourth");
});

Deno.test("A6: any other code ends the call, and cancels the other attempts", async () => {
  const { attempts, answer, took } = await call([[0, null], [100, Code.NotFound]]);
  about(times(attempts), [0, 500]);
  assertEquals(answer, Code.NotFound);
  about([took], [600]);
  about([attempts[0]!.cancelled!], [600]);
});

Deno.test("A6: if all attempts fail there is no other, and the last failure counts", async () => {
  const { attempts, answer, took } = await call([
    [0, Code.Unavailable],
    [0, Code.Internal],
    [700, Code.Unavailable],
    [100, Code.Aborted],
  ]);
  about(times(attempts), [0, 0, 0, 500]);
  assertEquals(answer, Code.Unavailable);
  about([took], [700]);
});

Deno.test("A6: a pushback that says not to retry ends hedging, and what runs goes on", async () => {
  const { attempts, answer } = await call([[2000, "first"], [100, [Code.Unavailable, "-1"]]]);
  about(times(attempts), [0, 500]);
  assertEquals(answer, "first");
  const alone = await call([[100, [Code.Unavailable, "x"]]]);
  assertEquals([alone.attempts.length, alone.answer], [1, Code.Unavailable]);
});

Deno.test("A6: a pushback of n sends the next after n, and others at n + hedgingDelay", async () => {
  const { attempts, answer } = await call([
    [100, [Code.Unavailable, "2000"]],
    [9000, "second"],
    [9000, "third"],
    [50, "fourth"],
  ]);
  about(times(attempts), [0, 2100, 2600, 3100]);
  assertEquals(answer, "fourth");
});

Deno.test("A6: with a fatal code a pushback changes nothing", async () => {
  const { attempts, answer } = await call([[0, null], [100, [Code.NotFound, "10"]]]);
  assertEquals([attempts.length, answer], [2, Code.NotFound]);
});

Deno.test("A6: hedges are sent only while there are tokens above the threshold", async () => {
  const retryThrottling = { maxTokens: 2, tokenRatio: 0.1 };
  // One failure: 1 of 2 is the threshold. What runs goes on.
  const running = await call([[3000, "first"], [100, Code.Unavailable]], {}, { retryThrottling });
  assertEquals([running.attempts.length, running.answer], [2, "first"]);
  const alone = await call([[100, Code.Unavailable]], {}, { retryThrottling });
  assertEquals([alone.attempts.length, alone.answer], [1, Code.Unavailable]);
  // Codes that are fatal take no token.
  const fatal = await call([[100, Code.NotFound]], {}, { retryThrottling });
  assertEquals([fatal.attempts.length, fatal.answer], [1, Code.NotFound]);
  // While the next is waited for others may use the tokens up: then it is not sent.
  const waiting = await call(
    [[100, [Code.Unavailable, "1000"]]],
    {},
    { retryThrottling: { maxTokens: 1, tokenRatio: 0.1 } },
  );
  assertEquals([waiting.attempts.length, waiting.answer], [1, Code.Unavailable]);
});

Deno.test("A6: the deadline is one for all attempts, which are cancelled then", async () => {
  const clock = new FakeClock();
  const left: number[] = [];
  let cancelled = 0;
  await withGreeter({
    SayHello: (_: Request, context: grpc.CallContext) => {
      left.push(context.timeoutMs()!);
      context.signal.addEventListener("abort", () => cancelled++);
      return new Promise(() => {});
    },
  }, async (greeter) => {
    await clock.advance(0);
    const answer = greeter.SayHello({}, { timeout: 1200 });
    const took = await clock.until(answer.catch(() => {}));
    const error = await assertRejects(() => answer, ConnectError) as ConnectError;
    assertEquals(error.code, Code.DeadlineExceeded);
    assert(!(error.cause instanceof grpc.ConnectionLostError), "it was sent");
    about([took], [1200]);
    about(left.toReversed(), [190, 690, 1190]);
    await clock.advance(10);
    assertEquals(cancelled, 3);
  }, hedged(clock));
});

Deno.test("a hedged call that is cancelled, or whose client is closed, cancels all attempts", async () => {
  const clock = new FakeClock();
  let [calls, cancelled] = [0, 0];
  await withGreeter({
    SayHello: async (_: Request, context: grpc.CallContext) => {
      calls++;
      context.signal.addEventListener("abort", () => cancelled++);
      await clock.sleep(1e6, context.signal);
    },
    ListReplies: () => {
      throw new ConnectError("a test", Code.Unavailable, { "grpc-retry-pushback-ms": "60000" });
    },
  }, async (greeter, conn) => {
    const controller = new AbortController();
    const first = codeOf(greeter.SayHello({}, { signal: controller.signal }));
    const second = codeOf(greeter.SayHello({}));
    // Nothing of it runs: the next attempt is waited for.
    const third = await greeter.ListReplies({});
    const read = codeOf(third.read());
    await clock.advance(600);
    assertEquals(calls, 4);
    controller.abort();
    assertEquals(await first, Code.Canceled);
    await clock.advance(0);
    assertEquals(cancelled, 2);
    await clock.until(conn.close());
    assertEquals([await second, await read], [Code.Canceled, Code.Canceled]);
    await clock.advance(5000);
    assertEquals([calls, cancelled], [4, 4]);
  }, hedged(clock));
});

const pass: Interceptor = (next) => (request) => next(request);

for (const interceptors of [[], [pass]]) {
  const through = interceptors.length > 0 ? ", through interceptors" : "";

  Deno.test(`what is written goes to all attempts, also to those that begin later${through}`, async () => {
    const clock = new FakeClock();
    const got: string[] = [];
    const lost: number[] = [];
    await withGreeter({
      async *Chat(requests: AsyncIterable<Request>, context: grpc.CallContext) {
        const me = got.push("") - 1;
        context.signal.addEventListener("abort", () => lost.push(me));
        for await (const { name } of requests) {
          got[me] += name;
          // The second answers, when it has all.
          if (me === 1 && name === "d") yield { message: got[me] };
        }
        if (me === 1) yield { message: "end" };
      },
    }, async (greeter) => {
      const stream = await greeter.Chat();
      await stream.write({ name: "a" });
      await stream.write({ name: "b" });
      await clock.advance(600);
      assertEquals(got, ["ab", "ab"]);
      await stream.write({ name: "c" });
      await clock.advance(500);
      assertEquals(got, ["abc", "abc", "abc"]);
      await stream.write({ name: "d" });
      assertEquals((await stream.read()).message, "abcd");
      await clock.advance(1000);
      assertEquals(got.length, 3);
      assertEquals(lost.toSorted(), [0, 2]);
      await stream.write({ name: "e" });
      stream.closeWrite();
      assertEquals((await stream.read()).message, "end");
      assertEquals(await stream.read(), null);
      assertEquals(got, ["abcd", "abcde", "abcd"]);
    }, hedged(clock, {}, {}, { interceptors }));
  });
}

Deno.test("the end of the requests is told to all attempts", async () => {
  const clock = new FakeClock();
  const ended: number[] = [];
  let begun = 0;
  await withGreeter({
    async SumSizes(requests: AsyncIterable<Request>) {
      const me = begun++;
      let text = "";
      for await (const { name } of requests) text += name;
      ended.push(me);
      if (me < 2) await clock.sleep(1e5);
      return { message: text };
    },
  }, async (greeter) => {
    const stream = await greeter.SumSizes();
    await stream.write({ name: "a" });
    await clock.advance(600);
    stream.closeWrite();
    await clock.advance(10);
    assertEquals(ended.toSorted(), [0, 1]);
    const read = stream.read();
    await clock.until(read);
    assertEquals((await read).message, "a");
    assertEquals(ended.toSorted(), [0, 1, 2]);
    await clock.advance(1e5);
  }, hedged(clock));
});

Deno.test("A6: what is more than is kept ends hedging: the first attempt goes on alone", async () => {
  const clock = new FakeClock();
  const got: number[] = [];
  const lost: number[] = [];
  await withGreeter({
    async SumSizes(requests: AsyncIterable<Request>, context: grpc.CallContext) {
      const me = got.push(0) - 1;
      context.signal.addEventListener("abort", () => lost.push(me));
      for await (const { payload } of requests) got[me]! += payload.length;
      return { message: `${got[me]}` };
    },
  }, async (greeter) => {
    const stream = await greeter.SumSizes();
    await stream.write({ payload: new Uint8Array(400) });
    await clock.advance(600);
    assertEquals(got, [400, 400]);
    await stream.write({ payload: new Uint8Array(700) });
    await clock.advance(2000);
    assertEquals([got, lost], [[1100, 400], [1]]);
    await stream.write({ payload: new Uint8Array(100_000) });
    stream.closeWrite();
    assertEquals((await stream.read()).message, "101100");
  }, hedged(clock, {}, {}, { retry: { bufferSize: 1000 } }));
});

Deno.test("A6: more attempts than the client allows are as many as it allows", async () => {
  for (const [most, expected] of [[undefined, 5], [2, 2], [1, 1], [10, 7]] as const) {
    const clock = new FakeClock();
    let calls = 0;
    await withGreeter(
      {
        SayHello: () => {
          calls++;
          throw new ConnectError("a test", Code.Unavailable);
        },
      },
      async (greeter) => {
        const answer = codeOf(greeter.SayHello({}));
        await clock.until(answer);
        assertEquals([await answer, calls], [Code.Unavailable, expected]);
      },
      hedged(clock, { maxAttempts: 7 }, {}, {
        retry: most === undefined ? {} : { maxAttempts: most },
      }),
    );
  }
});

Deno.test("callbacks are told of the attempt that is chosen alone", async () => {
  const clock = new FakeClock();
  let calls = 0;
  await withGreeter({
    SayHello: async (_: Request, context: grpc.CallContext) => {
      const me = `${calls++}`;
      await clock.sleep(me === "1" ? 100 : 5000, context.signal);
      context.responseHeader.set("which", me);
      context.responseTrailer.set("which", me);
      return {};
    },
  }, async (greeter) => {
    const told: (string | null)[] = [];
    await clock.until(greeter.SayHello({}, {
      onHeader: (header: Headers) =>
        told.push(header.get("which"), header.get("grpc-previous-rpc-attempts")),
      onTrailer: (trailer: Headers) => told.push(trailer.get("which")),
    }));
    assertEquals(told, ["1", "1", "1"]);
  }, hedged(clock));
});

Deno.test("a request that does not fit its type fails a hedged call once, and leaves no trace", async () => {
  const clock = new FakeClock();
  let calls = 0;
  await withGreeter({ SayHello: () => (calls++, {}) }, async (greeter) => {
    const answer = greeter.SayHello({ name: 5 });
    await clock.until(answer.catch(() => {}));
    await assertRejects(() => answer, TypeError);
    await clock.advance(5000);
    assertEquals(calls, 0);
  }, hedged(clock, { hedgingDelay: "0s" }));
});
