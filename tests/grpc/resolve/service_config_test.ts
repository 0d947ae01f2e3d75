/** A service config that comes with the servers, by the scenarios of grpc-go's `resolver_update_test.go`. */
import { assert, assertEquals } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { codeOf } from "../../../support/with_greeter.ts";

/** A client that is given servers with a config, and others whenever `give` is called. */
function connect(first: grpc.Resolution, options: Partial<grpc.ClientOptions> = {}) {
  const clock = new FakeClock(OVER_SOCKETS);
  let next = Promise.withResolvers<grpc.Resolution>();
  const resolver: grpc.Resolver = async function* () {
    yield first;
    for (;;) yield await next.promise;
  };
  const conn = newClientAt(clock.time, { resolver, ...options });
  const give = async (resolution: grpc.Resolution) => {
    const { resolve } = next;
    next = Promise.withResolvers();
    resolve(resolution);
    await clock.advance(100);
  };
  return { clock, conn, greeter: grpc.newService(conn, GREETER), give };
}

const policyOf = (conn: grpc.Conn): string => conn.stats().policy;

Deno.test("a config that comes with the servers chooses the policy, before the client's own config", async () => {
  await using greeters = new Greeters();
  const endpoints = ["a", "b"].map((name) => greeters.start(name).addr);
  const { conn, greeter, give } = connect({
    endpoints,
    serviceConfig: { loadBalancingConfig: [{ pick_first: {} }] },
  }, { serviceConfig: { loadBalancingConfig: [{ least_request: {} }] } });
  await using _conn = conn;
  assertEquals([await names(greeter, 4), policyOf(conn)], ["aaaa", "pick_first"]);
  await give({ endpoints, serviceConfig: '{"loadBalancingPolicy":"ROUND_ROBIN","new":1}' });
  await names(greeter, 1, { waitForReady: true });
  assertEquals(policyOf(conn), "round_robin");
  while (!(await names(greeter, 2)).includes("b"));
  // Nothing is said any more: the client's own counts.
  await give({ endpoints });
  await names(greeter, 1, { waitForReady: true });
  assertEquals(policyOf(conn), "least_request");
});

Deno.test("TestResolverUpdate_InvalidServiceConfigAfterGoodUpdate: the good one stays", async () => {
  await using greeters = new Greeters();
  const endpoints = [greeters.start("a").addr];
  const { conn, greeter, give } = connect({
    endpoints,
    serviceConfig: { loadBalancingConfig: [{ pick_first: {} }] },
  });
  await using _conn = conn;
  assertEquals(await names(greeter, 1), "a");
  for (
    const serviceConfig of [
      "{",
      5,
      { loadBalancingConfig: [{ nobody_knows: {} }] },
      { loadBalancingConfig: "round_robin" },
      { methodConfig: [{ name: [{}], timeout: "soon" }] },
    ]
  ) {
    await give({ endpoints, serviceConfig });
    assertEquals([await names(greeter, 1), policyOf(conn)], ["a", "pick_first"]);
    assert(conn.stats().resolverError instanceof Error, `${serviceConfig}`);
  }
  await give({ endpoints, serviceConfig: { loadBalancingConfig: [{ least_request: {} }] } });
  assertEquals([await names(greeter, 1), policyOf(conn)], ["a", "least_request"]);
  assertEquals(conn.stats().resolverError, null);
});

Deno.test("a config that says the same again changes nothing: who is ejected stays so", async () => {
  const servers = ["a", "b", "c"].map((name) => {
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, {
      SayHello: () => {
        if (name === "b") throw new grpc.ConnectError("no", Code.Internal);
        return { message: name };
      },
    });
    return grpc.listen({ addr: "127.0.0.1:0", registrar });
  });
  const resolution = () => ({
    endpoints: servers.map(({ addr }) => addr),
    serviceConfig: {
      loadBalancingConfig: [{
        outlier_detection: {
          interval: "1s",
          maxEjectionPercent: 50,
          failurePercentageEjection: { minimumHosts: 3, requestVolume: 3 },
        },
      }],
    },
  });
  const { clock, conn, greeter, give } = connect(resolution());
  for (let i = 0; i < 30; i++) {
    await greeter.SayHello({}, { waitForReady: true }).catch(() => {});
    await clock.advance(1);
  }
  await clock.advance(1000);
  const ejected = () => conn.stats().servers.map(({ ejected }) => ejected);
  assertEquals(ejected(), [false, true, false]);
  await give(resolution());
  assertEquals(ejected(), [false, true, false]);
  // Another config begins anew.
  await give({ ...resolution(), serviceConfig: {} });
  assertEquals(ejected(), [false, false, false]);
  await clock.until(conn.close());
  for (const server of servers) await server.close();
});

Deno.test("settings of methods come with the servers: a call that waits for these goes by them", async () => {
  await using greeters = new Greeters();
  greeters.start("a");
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => new Promise<never>(() => {}) });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 10 });
  const { clock, conn, greeter } = connect({
    endpoints: [server.addr],
    serviceConfig: { methodConfig: [{ name: [{}], timeout: "2s" }] },
  });
  await using _conn = conn;
  for (let i = 0; i < 2; i++) {
    const code = codeOf(greeter.SayHello({}));
    const took = await clock.until(code);
    assertEquals(await code, Code.DeadlineExceeded);
    assert(took <= 2050, `${took} ms`);
  }
});

Deno.test("the client's policy counts before configs; one of its own may be named in them", async () => {
  await using greeters = new Greeters();
  const endpoints = [greeters.start("a").addr];
  const own: grpc.Policy = {
    name: "mine",
    picker: (servers) => ({ pick: () => servers[0]! }),
  };
  for (
    const [policy, serviceConfig, wanted] of [
      ["pick_first", { loadBalancingConfig: [{ round_robin: {} }] }, "pick_first"],
      [own, { loadBalancingConfig: [{ round_robin: {} }] }, "mine"],
      [own, { loadBalancingConfig: [{ nobody: {} }, { mine: {} }] }, "mine"],
      [
        own,
        { loadBalancingConfig: [{ outlier_detection: { childPolicy: [{ mine: {} }] } }] },
        "mine",
      ],
    ] as const
  ) {
    const { conn, greeter } = connect({ endpoints, serviceConfig }, { policy });
    await using _conn = conn;
    assertEquals([await names(greeter, 1), policyOf(conn)], ["a", wanted]);
    assertEquals(conn.stats().resolverError, null);
  }
});
