import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { LeastRequest } from "../../../grpc/balancing/policy.ts";
import { MAX_WAITING_STATES, StateWatch } from "../../../grpc/balancing/state_watch.ts";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { freePort } from "../../../support/ports.ts";
import { Random } from "../../../support/random.ts";
import { until } from "../../../support/raw_server.ts";
import { evenChance } from "../../../support/chance.ts";
import { codeOf } from "../../../support/with_greeter.ts";

function connect(seek: string[] | grpc.Resolver, options: Partial<grpc.ClientOptions> = {}) {
  const clock = new FakeClock(OVER_SOCKETS);
  const from = Array.isArray(seek) ? { targets: seek } : { resolver: seek };
  const conn = newClientAt(clock.time, { ...from, ...options });
  return { clock, conn, greeter: grpc.newService(conn, GREETER) };
}

/** How many of each letter a text has. */
function shares(text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const letter of text) counts[letter] = (counts[letter] ?? 0) + 1;
  return counts;
}

/** Lists that a client is given now. */
function given(...endpoints: grpc.Endpoint[]): grpc.Resolver {
  return async function* () {
    yield endpoints;
  };
}

Deno.test("pick_first sends all calls to the first that can be reached, and stays there", async () => {
  await using greeters = new Greeters();
  const dead = `127.0.0.1:${freePort()}`;
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  const { conn, greeter } = connect([dead, a!, b!], { policy: "pick_first" });
  await using _conn = conn;
  assertEquals(await names(greeter, 10), "aaaaaaaaaa");
  assertEquals([greeters.peers.a!.size, greeters.peers.b!.size], [1, 0]);
  const { servers, policy } = conn.stats();
  assertEquals([policy, servers.length, servers[0]!.address], ["pick_first", 1, a]);
});

Deno.test("pick_first goes on to the next when its server is gone, with the next call", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  await using proxy = new FaultProxy({ target: a! });
  const { clock, conn, greeter } = connect([proxy.endpoint, b!], { policy: "pick_first" });
  await using _conn = conn;
  assertEquals(await names(greeter, 2), "aa");
  await proxy.close();
  await clock.advance(10);
  // It rests until there is a call.
  assertEquals([conn.state, greeters.peers.b!.size], ["IDLE", 0]);
  assertEquals(await names(greeter, 3), "bbb");
});

Deno.test("pick_first keeps its connection as long as the address is among those found", async () => {
  await using greeters = new Greeters();
  const [a, b, c] = ["a", "b", "c"].map((name) => greeters.start(name).addr);
  const { clock, conn, greeter } = connect([a!, b!], { policy: "pick_first" });
  await using _conn = conn;
  assertEquals(await names(greeter, 2), "aa");
  conn.setTargets([c!, b!, a!]);
  await clock.advance(300);
  assertEquals(await names(greeter, 2), "aa");
  assertEquals(greeters.peers.a!.size, 1);
  conn.setTargets([c!, b!]);
  assertEquals(await names(greeter, 2, { waitForReady: true }), "cc");
});

Deno.test("pick_first with shuffleAddressList begins anywhere", async () => {
  await using greeters = new Greeters();
  const targets = ["a", "b", "c"].map((name) => greeters.start(name).addr);
  let said = "";
  for (let i = 0; i < 40; i++) {
    const { conn, greeter } = connect(targets, {
      policy: { pick_first: { shuffleAddressList: true } },
    });
    said += await names(greeter, 1);
    await conn.close();
  }
  assertEquals(Object.keys(shares(said)).sort(), ["a", "b", "c"]);
});

Deno.test("round_robin gives servers calls as often as their weights say, spread evenly", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  const { clock, conn, greeter } = connect(
    given({ addresses: [a!], weight: 3 }, { addresses: [b!], weight: 1 }),
  );
  await using _conn = conn;
  await names(greeter, 1, { waitForReady: true });
  await clock.advance(10);
  const said = await names(greeter, 40);
  assertEquals(shares(said), { a: 30, b: 10 });
  assert(!said.includes("bb") && !said.includes("aaaa"), said);
});

Deno.test("servers of another priority get calls only while those before are away", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  await using proxy = new FaultProxy({ target: a! });
  const { clock, conn, greeter } = connect(
    given({ addresses: [b!], priority: 5 }, { addresses: [proxy.endpoint] }),
    { backoff: { initial: 100, max: 100 } },
  );
  await using _conn = conn;
  await names(greeter, 1, { waitForReady: true });
  await clock.advance(10);
  assertEquals(await names(greeter, 4), "aaaa");
  proxy.mode = "refuse";
  proxy.drop();
  await clock.advance(10);
  assertEquals(await names(greeter, 4), "bbbb");
  proxy.mode = "pass";
  await clock.advance(1000);
  assertEquals(await names(greeter, 4), "aaaa");
});

Deno.test("least_request takes the server with fewer calls of those drawn", () => {
  const random = new Random(48);
  const servers = [9, 0, 5, 7].map((activeCalls) => ({ activeCalls, readiness: "ready" }));
  const wins = (choices: number): number[] => {
    const chooser = new LeastRequest(choices, () => random.next());
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 16_000; i++) {
      counts[servers.indexOf(chooser.choose({ ready: servers as never })! as never)]!++;
    }
    return counts;
  };
  // With duplicates allowed the best of four is drawn by 1 - (3/4)^n, the next by (3/4)^n - (2/4)^n, …
  for (const choices of [2, 3, 10]) {
    const share = (rank: number) => (1 - rank / 4) ** choices - (1 - (rank + 1) / 4) ** choices;
    const wanted = [3, 0, 1, 2].map((rank) => 16_000 * share(rank));
    wins(choices).forEach((count, i) => {
      assert(Math.abs(count - wanted[i]!) < 400, `${choices}: ${count} of ${wanted[i]}`);
    });
  }
});

Deno.test("least_request sends calls past a server whose calls do not end", async () => {
  await using greeters = new Greeters();
  const targets = ["a", "b", "c"].map((name) => greeters.start(name).addr);
  const { clock, conn, greeter } = connect(targets, {
    policy: { least_request: { choiceCount: 10 } },
  });
  using _chance = evenChance();
  await using _conn = conn;
  await names(greeter, 1);
  await clock.advance(10);
  // Streams stay: each new one goes where the fewest are.
  const chats = [];
  for (let i = 0; i < 12; i++) chats.push(await greeter.Chat());
  const active = conn.stats().servers.map(({ activeCalls }) => activeCalls);
  assertEquals(active, [4, 4, 4]);
  assertEquals(conn.stats().activeCalls, 12);
  for (const chat of chats) chat.close();
});

Deno.test("a policy of one's own chooses by the call among the servers that are ready", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  const made: number[] = [];
  const policy: grpc.Policy = {
    name: "by_header",
    picker(servers) {
      made.push(servers.length);
      return {
        pick({ path, headers }) {
          assertEquals(path, "/test.Greeter/SayHello");
          const wanted = new Headers(headers).get("server");
          return servers.find(({ endpoint }) => endpoint.attributes?.name === wanted) ?? null;
        },
      };
    },
  };
  const servers = given(
    { addresses: [a!], attributes: { name: "a" } },
    { addresses: [b!], attributes: { name: "b" } },
  );
  const { clock, conn, greeter } = connect(servers, { policy });
  await using _conn = conn;
  await names(greeter, 1, { headers: { server: "a" } });
  await clock.advance(10);
  for (const server of ["b", "a", "b", "b"]) {
    assertEquals(await names(greeter, 1, { headers: { server } }), server);
  }
  assertEquals([conn.stats().policy, made.at(-1)], ["by_header", 2]);
  // One that nobody is chosen for waits, and keeps no other waiting.
  const nobody = codeOf(greeter.SayHello({}, { headers: { server: "c" }, timeout: 5000 }));
  assertEquals(await names(greeter, 2, { headers: { server: "a" } }), "aa");
  await clock.until(nobody);
  assertEquals(await nobody, Code.DeadlineExceeded);
});

Deno.test("what a policy of one's own throws ends the call, and nothing else", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a").addr;
  let pick: () => grpc.ReadyServer | null = () => null;
  const policy: grpc.Policy = { name: "moody", picker: () => ({ pick: () => pick() }) };
  const { conn, greeter } = connect([a], { policy });
  await using _conn = conn;
  const outcomes: readonly (readonly [() => never, Code, string])[] = [
    [
      () => {
        throw new ConnectError("nobody is fit", Code.ResourceExhausted);
      },
      Code.ResourceExhausted,
      "nobody is fit",
    ],
    [
      () => {
        throw new Error("a fault");
      },
      Code.Internal,
      "the policy failed: a fault",
    ],
    [() => "a" as never, Code.Internal, "one of its servers"],
    [() => undefined as never, Code.Internal, "one of its servers"],
  ];
  for (const [thrower, code, message] of outcomes) {
    pick = thrower;
    const error = await assertRejects(() => greeter.SayHello({}), ConnectError, message);
    assertEquals(error.code, code);
  }
});

Deno.test("a policy of one's own that makes no picker, or waits for one, fails calls with its name", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a").addr;
  const pickers: readonly (() => unknown)[] = [
    () => null,
    () => ({}),
    () => Promise.reject(new Error("later")),
    () => ({ pick: () => Promise.reject(new Error("later")) }),
    () => {
      throw new Error("no picker");
    },
  ];
  for (const picker of pickers) {
    const { conn, greeter } = connect([a], { policy: { name: "broken", picker } as grpc.Policy });
    await using _conn = conn;
    for (let i = 0; i < 2; i++) {
      assertEquals(await codeOf(greeter.SayHello({})), Code.Internal);
      assertEquals(await codeOf(greeter.Chat()), Code.Internal);
    }
  }
});

Deno.test("the state of a client is told as it changes, and ends with SHUTDOWN", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  const { clock, conn, greeter } = connect([`127.0.0.1:${port}`], {
    backoff: { initial: 1000, max: 1000 },
  });
  const told: grpc.ConnState[] = [];
  const following = (async () => {
    for await (const state of conn.watchState()) told.push(state);
  })();
  assertEquals(await codeOf(greeter.SayHello({})), Code.Unavailable);
  assertEquals(conn.state, "TRANSIENT_FAILURE");
  // It stays so while it is tried again (A62).
  await clock.advance(5000);
  greeters.start("a", { addr: `127.0.0.1:${port}` });
  await clock.advance(1300);
  await until(() => conn.state === "READY");
  await greeters.stop("a");
  await until(() => conn.state !== "READY");
  await clock.until(conn.close());
  await following;
  assertEquals(conn.state, "SHUTDOWN");
  assertEquals(told.slice(0, 3), ["CONNECTING", "TRANSIENT_FAILURE", "READY"]);
  assertEquals(told.at(-1), "SHUTDOWN");
  assert(told.length <= 6, `${told}`);
  // One that comes late is told that alone.
  const late = [];
  for await (const state of conn.watchState()) late.push(state);
  assertEquals(late, ["SHUTDOWN"]);
});

Deno.test("one who follows states slowly misses the oldest, one who leaves is forgotten", async () => {
  const states = new StateWatch();
  const follower = states.follow();
  const left = states.follow();
  const waiting = left.next();
  await left.return!();
  assertEquals([await waiting, await left.next()].map(({ done }) => done), [false, true]);
  for (let i = 0; i < MAX_WAITING_STATES; i++) {
    states.state = "READY";
    states.state = "IDLE";
  }
  states.state = "SHUTDOWN";
  states.state = "READY";
  const told = [];
  for await (const state of follower) told.push(state);
  assertEquals([told.length, told.at(-1)], [MAX_WAITING_STATES, "SHUTDOWN"]);
});
