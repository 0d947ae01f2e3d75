/** Service configs that resolvers give: when they count, and what becomes of wrong ones (gRFC A21). */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { listenAt } from "../../../grpc/server/server.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { codeOf } from "../../../support/with_greeter.ts";

/** What a resolver gives next. */
type Next = readonly (string | grpc.Endpoint)[] | grpc.Resolution;

/** A server that fails always, and a client whose resolver gives what it is told to. */
async function withResolver(
  run: (world: {
    clock: FakeClock;
    conn: grpc.Conn;
    greeter: grpc.DynamicService;
    /** Calls that came to the server. */
    calls: number[];
    give(serviceConfig?: unknown): Promise<void>;
  }) => Promise<void>,
  client: Partial<grpc.ClientOptions> = {},
): Promise<void> {
  const clock = new FakeClock();
  const calls: number[] = [];
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: (_: Request, context: grpc.CallContext) => {
      calls.push(context.timeoutMs() ?? Infinity);
      throw new ConnectError("a test", Code.Unavailable);
    },
  });
  const server = listenAt(clock.time, { addr: "memory:", registrar });
  let next = Promise.withResolvers<Next>();
  const resolver: grpc.Resolver = async function* () {
    for (;;) {
      const given = await next.promise;
      next = Promise.withResolvers();
      yield given;
    }
  };
  const conn = newClientAt(clock.time, { resolver, ...client });
  const give = async (serviceConfig?: unknown): Promise<void> => {
    next.resolve(
      serviceConfig === undefined ? [server.addr] : { endpoints: [server.addr], serviceConfig },
    );
    await clock.advance(10);
  };
  try {
    await run({ clock, conn, greeter: grpc.newService(conn, GREETER), calls, give });
  } finally {
    await clock.until(conn.close().then(() => server.close()));
  }
}

/** A config with so many attempts, and a deadline. */
const config = (maxAttempts: number, timeout = "60s"): grpc.ServiceConfig => ({
  methodConfig: [{
    name: [{}],
    timeout,
    retryPolicy: {
      maxAttempts,
      initialBackoff: "0.1s",
      maxBackoff: "0.1s",
      backoffMultiplier: 1,
      retryableStatusCodes: ["UNAVAILABLE"],
    },
  }],
});

/** How often a call comes to the server. */
async function attempts(
  clock: FakeClock,
  greeter: grpc.DynamicService,
  calls: number[],
): Promise<number> {
  const before = calls.length;
  const call = codeOf(greeter.SayHello({}));
  await clock.until(call);
  assertEquals(await call, Code.Unavailable);
  return calls.length - before;
}

Deno.test("calls that wait for a resolver's servers get its config, too", async () => {
  await withResolver(async ({ clock, greeter, calls, give }) => {
    const call = codeOf(greeter.SayHello({}));
    const hurried = codeOf(greeter.SayHello({}, { timeout: 30_000 }));
    await clock.advance(1000);
    await give(JSON.stringify(config(3)));
    await clock.until(Promise.all([call, hurried]));
    assertEquals([await call, await hurried], [Code.Unavailable, Code.Unavailable]);
    assertEquals(calls.length, 6);
    // The config's time begins when it is known; the caller's has begun.
    const told = calls.slice(0, 2).toSorted((a, b) => a - b);
    assert(told[0]! > 28_000 && told[0]! <= 29_010, `${told}`);
    assert(told[1]! > 59_000 && told[1]! <= 60_010, `${told}`);
  });
});

Deno.test("a deadline that came with the servers ends a call", async () => {
  await withResolver(async ({ clock, greeter, give }) => {
    const call = codeOf(greeter.SayHello({}));
    await clock.advance(1000);
    await give(config(5, "0.15s"));
    await clock.until(call);
    assertEquals(await call, Code.DeadlineExceeded);
  });
});

Deno.test("each config replaces the one before, for calls that begin then", async () => {
  await withResolver(async ({ clock, greeter, calls, give }) => {
    await give(config(2));
    assertEquals(await attempts(clock, greeter, calls), 2);
    const running = codeOf(greeter.SayHello({}));
    await clock.advance(10);
    await give(config(4));
    await clock.until(running);
    assertEquals(calls.length, 4, "one that runs keeps what it has");
    assertEquals(await attempts(clock, greeter, calls), 4);
    await give();
    assertEquals(await attempts(clock, greeter, calls), 1);
    await give("{}");
    assertEquals(await attempts(clock, greeter, calls), 1);
  });
});

Deno.test("TestDefaultServiceConfig: the client's own config counts while the resolver gives none", async () => {
  await withResolver(async ({ clock, greeter, calls, give }) => {
    await give();
    assertEquals(await attempts(clock, greeter, calls), 3);
    await give(config(2));
    assertEquals(await attempts(clock, greeter, calls), 2);
    await give(null);
    assertEquals(await attempts(clock, greeter, calls), 3);
    // An empty one is one.
    await give({});
    assertEquals(await attempts(clock, greeter, calls), 1);
  }, { serviceConfig: config(3) });
});

Deno.test("TestResolverUpdate_InvalidServiceConfigAsFirstUpdate: calls fail, and say what is wrong with it", async () => {
  for (const wrong of ["{", { methodConfig: 1 }, 5, [], '{"loadBalancingConfig":[{"no":{}}]}']) {
    await withResolver(async ({ clock, conn, greeter, calls, give }) => {
      await give(wrong);
      const error = await assertRejects(() => greeter.SayHello({}), ConnectError) as ConnectError;
      assertEquals(error.code, Code.Unavailable);
      assert(error.message.includes("Cannot use service config as "), error.message);
      assert(conn.stats().resolverError instanceof grpc.ServiceConfigError);
      const patient = codeOf(greeter.SayHello({}, { waitForReady: true }));
      await clock.advance(1000);
      assertEquals(calls.length, 0);
      await give(config(2));
      await clock.until(patient);
      assertEquals([await patient, calls.length], [Code.Unavailable, 2]);
      assertEquals(conn.stats().resolverError, null);
    });
  }
});

Deno.test("a wrong config leaves the client's own, if there is one", async () => {
  await withResolver(async ({ clock, greeter, calls, give }) => {
    await give("{");
    assertEquals(await attempts(clock, greeter, calls), 3);
  }, { serviceConfig: config(3) });
});

Deno.test("TestResolverUpdate_InvalidServiceConfigAfterGoodUpdate: the good one goes on", async () => {
  await withResolver(async ({ clock, conn, greeter, calls, give }) => {
    await give(config(2));
    await give("{");
    assertEquals(await attempts(clock, greeter, calls), 2);
    assert(conn.stats().resolverError instanceof grpc.ServiceConfigError);
  });
  // No config is a good one.
  await withResolver(async ({ clock, greeter, calls, give }) => {
    await give();
    await give("{");
    assertEquals(await attempts(clock, greeter, calls), 1);
  });
});

Deno.test("fields that are not known are skipped in what resolvers give, as text or not", async () => {
  await withResolver(async ({ clock, greeter, calls, give }) => {
    await give({ ...config(2), future: {} });
    assertEquals(await attempts(clock, greeter, calls), 2);
    await give(JSON.stringify({ ...config(3), future: {} }));
    assertEquals(await attempts(clock, greeter, calls), 3);
  });
});

Deno.test("tokens are kept when a config comes again, and begin anew when their settings change", async () => {
  const throttled = (maxTokens: number) => ({
    ...config(4),
    retryThrottling: { maxTokens, tokenRatio: 0.1 },
  });
  await withResolver(async ({ clock, greeter, calls, give }) => {
    await give(throttled(4));
    // Two failures: 2 of 4 are left.
    assertEquals(await attempts(clock, greeter, calls), 2);
    await give(throttled(4));
    assertEquals(await attempts(clock, greeter, calls), 1);
    await give(throttled(6));
    assertEquals(await attempts(clock, greeter, calls), 3);
    await give(config(4));
    assertEquals(await attempts(clock, greeter, calls), 4);
  });
});
