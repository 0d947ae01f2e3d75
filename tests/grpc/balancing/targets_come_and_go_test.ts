/** Servers that come, go and hang by a seeded plan, under each policy: no call is lost that need not be. */
import { assert, assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters } from "../../../support/greeters.ts";
import { Random } from "../../../support/random.ts";
import { until } from "../../../support/raw_server.ts";

const POLICIES: readonly grpc.PolicyOptions[] = [
  "round_robin",
  "pick_first",
  "least_request",
  {
    outlier_detection: {
      interval: "0.5s",
      baseEjectionTime: "1s",
      maxEjectionPercent: 50,
      failurePercentageEjection: { minimumHosts: 2, requestVolume: 2 },
      childPolicy: [{ round_robin: {} }],
    },
  },
  {
    name: "first_of_all",
    picker: (servers) => ({ pick: () => servers[0]! }),
  },
];

/** A registry that tells what it knows whenever that changes. */
class Registry {
  #listed: readonly string[] = [];
  #changed = Promise.withResolvers<void>();

  get listed(): readonly string[] {
    return this.#listed;
  }

  set listed(listed: readonly string[]) {
    this.#listed = listed;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  readonly resolver: grpc.Resolver = () => this.#lists();

  async *#lists(): AsyncGenerator<readonly string[]> {
    for (;;) {
      const { promise } = this.#changed;
      yield this.#listed;
      await promise;
    }
  }
}

for (const [index, policy] of POLICIES.entries()) {
  const name = typeof policy === "string"
    ? policy
    : Object.keys(policy)[0]! === "name"
    ? "a policy of one's own"
    : Object.keys(policy)[0]!;
  for (const seed of [1, 2, 3]) {
    Deno.test(`${name}: three to five servers come, go and hang (seed ${seed})`, async () => {
      const random = new Random(1000 * index + seed);
      const count = 3 + random.below(3);
      await using greeters = new Greeters();
      const proxies = Array.from(
        { length: count },
        (_, i) => new FaultProxy({ target: greeters.start(`${i}`).addr }),
      );
      const registry = new Registry();
      registry.listed = proxies.map(({ endpoint }) => endpoint);
      const clock = new FakeClock(OVER_SOCKETS);
      const conn = newClientAt(clock.time, {
        resolver: registry.resolver,
        policy,
        backoff: { initial: 50, max: 200 },
        keepalive: { interval: 1000, timeout: 500 },
      });
      const greeter = grpc.newService(conn, GREETER);
      let ended = 0;
      let lost = 0;
      for (let round = 0; round < 12; round++) {
        const proxy = random.pick(proxies);
        const others = proxies.filter((one) => one !== proxy && one.mode === "pass");
        switch (random.below(5)) {
          case 0:
            proxy.drop();
            break;
          case 1:
            // One at least is well.
            if (others.length > 0) {
              proxy.mode = "refuse";
              proxy.drop();
            }
            break;
          case 2:
            if (others.length > 0) proxy.mode = "hold";
            break;
          case 3:
            proxy.mode = "pass";
            break;
          case 4: {
            const listed = proxies.filter((one) => one.mode === "pass" || random.below(2) === 0);
            registry.listed = listed.map(({ endpoint }) => endpoint);
            break;
          }
        }
        const calls = Array.from(
          { length: 6 },
          () =>
            greeter.SayHello({}, { waitForReady: true, timeout: 60_000 }).then(
              () => ended++,
              // A call may have run where its connection was cut: then it is not sent again.
              (error: grpc.ConnectError) => {
                assertEquals([grpc.Code[error.code]], ["Unavailable"]);
                lost++;
              },
            ),
        );
        await clock.until(Promise.all(calls), 120_000);
      }
      assertEquals(ended + lost, 72);
      assert(ended >= 50, `${lost} calls of 72 were lost`);
      // All is well again: every call succeeds, and each server gets its share.
      for (const proxy of proxies) proxy.mode = "pass";
      registry.listed = proxies.map(({ endpoint }) => endpoint);
      await clock.advance(5000);
      // Those that were cut are connected to again.
      for (let i = 0; i < 40 && conn.state !== "READY"; i++) await clock.advance(100);
      const said: Record<string, number> = {};
      for (let i = 0; i < 20 * count; i++) {
        const call = greeter.SayHello({}, { waitForReady: true, timeout: 60_000 });
        await clock.until(call);
        const { message } = await call;
        said[message] = (said[message] ?? 0) + 1;
      }
      if (policy === "round_robin") {
        assertEquals(Object.values(said), Array(count).fill(20));
      } else if (policy === "pick_first") assertEquals(Object.values(said), [20 * count]);
      else if (policy === "least_request") {
        assertEquals(Object.keys(said).length, count);
      }
      // No connection is left over: one a server that is used.
      const used = conn.stats().servers.reduce((sum, { connections }) => sum + connections, 0);
      assertEquals(used, policy === "pick_first" ? 1 : count);
      await until(() => proxies.reduce((sum, { open }) => sum + open, 0) === used);
      await clock.until(conn.close());
      await until(() => proxies.every(({ open }) => open === 0));
      for (const proxy of proxies) await proxy.close();
    });
  }
}
