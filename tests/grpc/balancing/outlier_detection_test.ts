/** Servers that fail calls get none for a while (gRPC A50). */
import { assert, assertEquals } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { OutlierDetector, type OutlierRules } from "../../../grpc/balancing/outlier_detection.ts";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { GREETER } from "../../../support/greeter.ts";
import { names } from "../../../support/greeters.ts";
import { Random } from "../../../support/random.ts";

const RULES: OutlierRules = {
  interval: 10_000,
  baseEjectionTime: 30_000,
  maxEjectionTime: 300_000,
  maxEjectionPercent: 10,
  successRate: null,
  failurePercentage: null,
};
const SUCCESS_RATE = {
  stdevFactor: 500,
  enforcementPercentage: 100,
  minimumHosts: 3,
  requestVolume: 3,
};
const FAILURES = { threshold: 50, enforcementPercentage: 100, minimumHosts: 3, requestVolume: 3 };

class Judged {
  succeeded = 0;
  failed = 0;
  ejected = false;
}

/** Servers with their calls of one interval, and a detector of them. */
function judge(rules: Partial<OutlierRules>, count = 3, random: () => number = () => 0) {
  const clock = new FakeClock();
  const servers = Array.from({ length: count }, () => new Judged());
  const detector = new OutlierDetector({ ...RULES, ...rules }, clock.time, () => servers, random);
  return {
    clock,
    servers,
    detector,
    /** Lets an interval pass with these calls, `[good, bad]` of each server; returns who is ejected. */
    async pass(...calls: [good: number, bad: number][]): Promise<string> {
      calls.forEach(([good, bad], i) => {
        servers[i]!.succeeded += good;
        servers[i]!.failed += bad;
      });
      await clock.advance(10_010);
      return servers.map(({ ejected }) => ejected ? "x" : ".").join("");
    },
  };
}

Deno.test("TestEjectUnejectSuccessRate: a share of good calls far below the mean ejects", async () => {
  const { pass, detector } = judge({ successRate: SUCCESS_RATE, maxEjectionPercent: 50 });
  assertEquals(await pass([5, 0], [5, 0], [5, 0]), "...");
  assertEquals(await pass([5, 0], [5, 0], [0, 5]), "..x");
  // Three intervals on it is taken back.
  assertEquals(await pass([5, 0], [5, 0]), "..x");
  assertEquals(await pass([5, 0], [5, 0]), "..x");
  assertEquals(await pass([5, 0], [5, 0]), "...");
  detector.stop();
});

Deno.test("TestEjectFailureRate: a share of bad calls above the threshold ejects", async () => {
  const { pass, detector } = judge({ failurePercentage: FAILURES, maxEjectionPercent: 50 });
  assertEquals(await pass([5, 5], [5, 5], [5, 5]), "...");
  assertEquals(await pass([5, 0], [4, 6], [5, 0]), ".x.");
  detector.stop();
});

Deno.test("too few servers with enough calls eject none", async () => {
  const { pass, detector } = judge({ failurePercentage: FAILURES, maxEjectionPercent: 50 });
  assertEquals(await pass([5, 0], [0, 5], [2, 0]), "...");
  assertEquals(await pass([5, 0], [0, 5], [3, 0]), ".x.");
  detector.stop();
});

Deno.test("no more are ejected than maxEjectionPercent says, one at least", async () => {
  const bad: [number, number][] = Array.from({ length: 20 }, () => [0, 5]);
  for (const [most, wanted] of [[0, 0], [1, 1], [10, 2], [50, 10], [100, 20]] as const) {
    const { pass, detector } = judge({
      failurePercentage: FAILURES,
      maxEjectionPercent: most,
    }, 20);
    const ejected = [...await pass(...bad)].filter((mark) => mark === "x").length;
    assertEquals(ejected, wanted, `${most} %`);
    detector.stop();
  }
});

Deno.test("each ejection takes longer than the one before, an interval without one makes it shorter", async () => {
  const { pass, detector, clock, servers } = judge({
    failurePercentage: FAILURES,
    maxEjectionPercent: 50,
    maxEjectionTime: 60_000,
  });
  const bad: [number, number][] = [[5, 0], [0, 5], [5, 0]];
  const durations: number[] = [];
  for (let round = 0; round < 4; round++) {
    assertEquals(await pass(...bad), ".x.");
    const start = clock.now();
    while (servers[1]!.ejected) await clock.advance(1000);
    durations.push(Math.round((clock.now() - start) / 10_000) * 10_000);
  }
  assertEquals(durations, [30_000, 60_000, 60_000, 60_000]);
  for (let i = 0; i < 6; i++) assertEquals(await pass([5, 0], [5, 0], [5, 0]), "...");
  assertEquals(await pass(...bad), ".x.");
  await clock.advance(30_000);
  assertEquals(servers[1]!.ejected, false);
  detector.stop();
});

Deno.test("enforcementPercentage ejects that share of those found, by chance", async () => {
  const random = new Random(50);
  let ejected = 0;
  for (let i = 0; i < 400; i++) {
    const { pass, detector } = judge(
      { failurePercentage: { ...FAILURES, enforcementPercentage: 30 }, maxEjectionPercent: 100 },
      3,
      () => random.next(),
    );
    if ((await pass([5, 0], [0, 5], [5, 0])).includes("x")) ejected++;
    detector.stop();
  }
  assert(ejected > 80 && ejected < 160, `${ejected} of 400`);
});

Deno.test("what ends takes everyone back", async () => {
  const { pass, detector, servers, clock } = judge({
    failurePercentage: FAILURES,
    maxEjectionPercent: 50,
  });
  assertEquals(await pass([5, 0], [0, 5], [5, 0]), ".x.");
  detector.stop();
  assertEquals([servers[1]!.ejected, clock.waiting], [false, 0]);
});

for (const policy of ["round_robin", "least_request"]) {
  Deno.test(`TestOutlierDetectionAlgorithmsE2E: ${policy} sends calls past a server that fails them`, async () => {
    const servers = ["a", "b", "c"].map((name) => {
      const registrar = new grpc.Registrar();
      registrar.register(GREETER, {
        SayHello: () => {
          if (name === "b" && failing) throw new ConnectError("no", Code.Internal);
          return { message: name };
        },
      });
      return grpc.listen({ addr: "127.0.0.1:0", registrar });
    });
    let failing = true;
    const clock = new FakeClock(OVER_SOCKETS);
    const conn = newClientAt(clock.time, {
      targets: servers.map(({ addr }) => addr),
      policy: {
        outlier_detection: {
          interval: "1s",
          baseEjectionTime: "5s",
          maxEjectionPercent: 50,
          failurePercentageEjection: { threshold: 50, minimumHosts: 3, requestVolume: 3 },
          childPolicy: [{ [policy]: {} }],
        },
      },
    });
    const greeter = grpc.newService(conn, GREETER);
    let failed = 0;
    await greeter.SayHello({}, { waitForReady: true }).catch(() => failed++);
    await clock.advance(5);
    for (let i = 0; i < 60; i++) await greeter.SayHello({}).catch(() => failed++);
    assert(failed > 0);
    await clock.advance(1000);
    assertEquals(conn.stats().servers.map(({ ejected }) => ejected), [false, true, false]);
    assertEquals([conn.state, conn.stats().servers[1]!.state], ["READY", "TRANSIENT_FAILURE"]);
    assert(!(await names(greeter, 30)).includes("b"));
    failing = false;
    await clock.advance(6500);
    assert((await names(greeter, 60)).includes("b"));
    await clock.until(conn.close());
    for (const server of servers) await server.close();
  });
}
