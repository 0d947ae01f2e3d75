/** Servers are asked for their health (gRPC A17), over each policy. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { healthFile } from "../../../grpc/wire/proto/health.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { GREETER } from "../../../support/greeter.ts";
import { names } from "../../../support/greeters.ts";
import { until } from "../../../support/raw_server.ts";
import { codeOf } from "../../../support/with_greeter.ts";

const SERVICE = "test.Greeter";

/** A server with health that says who it is. */
class Server implements AsyncDisposable {
  readonly health = new grpc.Health();
  readonly server: grpc.GrpcServer;
  watches = 0;

  /** `watch` takes the place of the health service's. */
  constructor(name: string, watch?: (service: string) => AsyncIterable<object>) {
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, { SayHello: () => ({ message: name }) });
    this.health.set(SERVICE, "SERVING");
    if (watch === undefined) this.health.register(registrar);
    else {
      registrar.register(healthFile(), {
        Check: () => ({}),
        List: () => ({}),
        Watch: ({ service }: { service: string }) => {
          this.watches++;
          return watch(service);
        },
      });
    }
    this.server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 50 });
  }

  get addr(): string {
    return this.server.addr;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.close();
  }
}

function connect(targets: string[], options: Partial<grpc.ClientOptions> = {}) {
  const clock = new FakeClock(OVER_SOCKETS);
  const conn = newClientAt(clock.time, {
    targets,
    serviceConfig: { healthCheckConfig: { serviceName: SERVICE } },
    ...options,
  });
  return { clock, conn, greeter: grpc.newService(conn, GREETER) };
}

for (const policy of ["round_robin", "least_request", "pick_first"] as const) {
  Deno.test(`TestHealthCheckWatchStateChange: ${policy} goes by what servers say of their health`, async () => {
    await using a = new Server("a");
    await using b = new Server("b");
    const targets = policy === "pick_first" ? [a.addr] : [a.addr, b.addr];
    const { clock, conn, greeter } = connect(targets, { policy });
    await using _conn = conn;
    await names(greeter, 1, { waitForReady: true });
    await clock.advance(20);
    a.health.set(SERVICE, "NOT_SERVING");
    await until(() => conn.stats().servers[0]!.state === "TRANSIENT_FAILURE");
    if (policy === "pick_first") {
      const error = await assertRejects(() => greeter.SayHello({}), ConnectError, "does not serve");
      assertEquals(error.code, Code.Unavailable);
    } else assertEquals(await names(greeter, 3), "bbb");
    assert(conn.stats().servers[0]!.error !== null);
    const call = names(greeter, 1, { waitForReady: true });
    a.health.set(SERVICE, "SERVING");
    await until(() => conn.stats().servers[0]!.state === "READY");
    await clock.until(call);
    // The name is not known any more.
    a.health.delete(SERVICE);
    await until(() => conn.stats().servers[0]!.state === "TRANSIENT_FAILURE");
  });
}

Deno.test("TestHealthCheckHealthServerNotRegistered: a server without health is taken to be well", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({ message: "u" }) });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const { conn, greeter } = connect([server.addr]);
  await using _conn = conn;
  assertEquals(await names(greeter, 2), "uu");
  assertEquals(conn.state, "READY");
});

Deno.test("a call waits until a server has said how it is", async () => {
  const said = Promise.withResolvers<void>();
  await using server = new Server("a", async function* () {
    await said.promise;
    yield { status: 1 };
  });
  const { clock, conn, greeter } = connect([server.addr]);
  await using _conn = conn;
  const call = names(greeter, 1);
  await until(() => server.watches === 1);
  await clock.advance(1000);
  assertEquals([conn.state, conn.stats().waitingCalls], ["CONNECTING", 1]);
  said.resolve();
  assertEquals(await call, "a");
});

Deno.test("TestHealthCheckWithGoAway: health is asked for on the connection that follows", async () => {
  await using server = new Server("a");
  await using proxy = new FaultProxy({ target: server.addr });
  const { clock, conn, greeter } = connect([proxy.endpoint], {
    backoff: { initial: 10, max: 20 },
  });
  await using _conn = conn;
  assertEquals(await names(greeter, 1), "a");
  for (let round = 2; round < 5; round++) {
    proxy.drop();
    await until(() => proxy.accepted === round);
    const call = names(greeter, 1, { waitForReady: true });
    await clock.until(call);
    assertEquals([conn.state, proxy.open], ["READY", 1]);
  }
});

Deno.test("TestHealthCheckWithoutSetConnectivityStateCalledAddrConnShutDown: closing ends the question", async () => {
  const ended = Promise.withResolvers<void>();
  await using server = new Server("a", async function* () {
    try {
      yield { status: 1 };
      await new Promise(() => {});
    } finally {
      ended.resolve();
    }
  });
  const { clock, conn, greeter } = connect([server.addr]);
  assertEquals(await names(greeter, 1), "a");
  const took = await clock.until(conn.close());
  assert(took <= 510);
});

Deno.test("a server that stops telling its health is asked again with growing pauses", async () => {
  let answers = 0;
  await using server = new Server("a", async function* () {
    if (answers++ < 3) throw new ConnectError("not now", Code.Internal);
    yield { status: 1 };
    await new Promise(() => {});
  });
  const { clock, conn, greeter } = connect([server.addr]);
  await using _conn = conn;
  await until(() => server.watches === 1);
  await clock.advance(100);
  assertEquals(await codeOf(greeter.SayHello({})), Code.Unavailable);
  // The pause is a second, a fifth more or less.
  await clock.advance(650);
  assertEquals(server.watches, 1);
  await clock.advance(550);
  assertEquals(server.watches, 2);
  const call = names(greeter, 1, { waitForReady: true });
  await clock.until(call);
  assertEquals([await call, server.watches], ["a", 4]);
});

Deno.test("answers that come without end, or are none, cost a server its calls at most", async () => {
  await using endless = new Server("a", async function* () {
    for (let i = 0; i < 50_000; i++) yield { status: i % 2 };
  });
  await using odd = new Server("b", async function* () {
    yield { status: 77 };
    await new Promise(() => {});
  });
  await using well = new Server("c");
  const { clock, conn, greeter } = connect([endless.addr, odd.addr, well.addr]);
  await using _conn = conn;
  const call = names(greeter, 20, { waitForReady: true });
  await clock.until(call);
  assert(!(await call).includes("b"));
});

Deno.test("the question for health keeps no process from ending", async () => {
  await using server = new Server("a");
  const code = `
    import { grpc } from "@sluice/sluice";
    const conn = grpc.newClient({
      targets: [${JSON.stringify(server.addr)}],
      serviceConfig: { healthCheckConfig: { serviceName: "" } },
    });
    for await (const state of conn.watchState()) if (state === "READY") break;
    console.log("ready");
  `;
  const path = await Deno.makeTempFile({ suffix: ".ts", dir: import.meta.dirname! });
  try {
    await Deno.writeTextFile(path, code);
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", path],
      signal: AbortSignal.timeout(20_000),
    }).output();
    assertEquals([new TextDecoder().decode(stdout), success], ["ready\n", true]);
  } finally {
    await Deno.remove(path);
  }
});
