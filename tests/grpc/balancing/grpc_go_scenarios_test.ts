/** Scenarios of grpc-go's tests of `pick_first`, `round_robin` and `least_request`, by their names. */
import { assert, assertEquals } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { evenChance } from "../../../support/chance.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { codeOf } from "../../../support/with_greeter.ts";

type List = readonly (string | grpc.Endpoint)[];

/** Servers "0", "1", … behind proxies, and a client that is given lists of them. */
class Scene implements AsyncDisposable {
  readonly clock = new FakeClock(OVER_SOCKETS);
  readonly proxies: FaultProxy[];
  readonly addrs: string[];
  readonly conn: grpc.Conn;
  readonly greeter: grpc.DynamicService;
  readonly #greeters = new Greeters();
  #next = Promise.withResolvers<() => List>();

  constructor(count: number, policy: grpc.PolicyOptions, first: (addrs: string[]) => List | null) {
    this.proxies = Array.from(
      { length: count },
      (_, i) => new FaultProxy({ target: this.#greeters.start(`${i}`).addr }),
    );
    this.addrs = this.proxies.map(({ endpoint }) => endpoint);
    const list = first(this.addrs);
    const lists = () => this.#lists(list);
    this.conn = newClientAt(this.clock.time, {
      resolver: lists,
      policy,
      backoff: { initial: 1000, max: 1000 },
    });
    this.greeter = grpc.newService(this.conn, GREETER);
  }

  async *#lists(first: List | null): AsyncGenerator<List> {
    if (first !== null) yield first;
    for (;;) yield (await this.#next.promise)();
  }

  /** The resolver gives a list, or throws. */
  async give(list: List | Error): Promise<void> {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve(() => {
      if (list instanceof Error) throw list;
      return list;
    });
    await this.clock.advance(100);
  }

  stop(...which: number[]): Promise<void> {
    for (const i of which) {
      this.proxies[i]!.mode = "refuse";
      this.proxies[i]!.drop();
    }
    return this.clock.advance(10);
  }

  start(i: number): void {
    this.proxies[i]!.mode = "pass";
  }

  /** Who answers so many calls, one after the other. */
  async said(count: number): Promise<string> {
    const calls = names(this.greeter, count, { waitForReady: true, timeout: 600_000 });
    await this.clock.until(calls);
    return await calls;
  }

  /** The code of a call that does not wait. */
  async code(): Promise<Code | undefined> {
    const code = codeOf(this.greeter.SayHello({}));
    await this.clock.until(code);
    return await code;
  }

  get state(): grpc.ConnState {
    return this.conn.state;
  }

  /** How many connections each proxy has had. */
  get accepted(): number[] {
    return this.proxies.map(({ accepted }) => accepted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clock.until(this.conn.close());
    for (const proxy of this.proxies) await proxy.close();
    await this.#greeters[Symbol.asyncDispose]();
  }
}

const all = (addrs: string[]): List => addrs;

// ---- pick_first ----------------------------------------------------------------------------------

Deno.test("TestPickFirst_MultipleBackends, TestPickFirst_OneServerDown, TestPickFirst_AllServersDown", async () => {
  await using scene = new Scene(3, "pick_first", all);
  assertEquals(await scene.said(3), "000");
  await scene.stop(0);
  assertEquals(await scene.said(3), "111");
  await scene.stop(1, 2);
  assertEquals(await scene.code(), Code.Unavailable);
  assertEquals(scene.state, "TRANSIENT_FAILURE");
});

Deno.test("TestPickFirst_AddressesRemoved: the first that is left is used", async () => {
  await using scene = new Scene(3, "pick_first", all);
  const [a, b, c] = scene.addrs as [string, string, string];
  assertEquals(await scene.said(2), "00");
  await scene.give([b, c]);
  assertEquals(await scene.said(2), "11");
  await scene.give([c]);
  assertEquals(await scene.said(2), "22");
  await scene.give([a]);
  assertEquals(await scene.said(2), "00");
});

Deno.test("TestPickFirst_NewAddressWhileBlocking: a call that waits gets a server that is added", async () => {
  await using scene = new Scene(2, "pick_first", all);
  const { addrs } = scene;
  assertEquals(await scene.said(1), "0");
  await scene.give([]);
  const waiting = names(scene.greeter, 1, { waitForReady: true, timeout: 60_000 });
  await scene.clock.advance(1000);
  assertEquals(scene.conn.stats().waitingCalls, 1);
  await scene.give([addrs[1]!]);
  await scene.clock.until(waiting);
  assertEquals(await waiting, "1");
});

Deno.test("TestPickFirst_StickyTransientFailure: it stays until a connection succeeds", async () => {
  for (const policy of ["pick_first", "round_robin"] as const) {
    await using scene = new Scene(1, policy, all);
    scene.proxies[0]!.mode = "refuse";
    const told: grpc.ConnState[] = [];
    const following = (async () => {
      for await (const state of scene.conn.watchState()) told.push(state);
    })();
    assertEquals(await scene.code(), Code.Unavailable);
    for (let i = 0; i < 10; i++) await scene.clock.advance(500);
    assert(scene.accepted[0]! > 2, "it was tried again");
    scene.start(0);
    assertEquals(await scene.said(1), "0");
    assertEquals(told.slice(told.indexOf("TRANSIENT_FAILURE")), ["TRANSIENT_FAILURE", "READY"]);
    await scene.clock.until(scene.conn.close());
    await following;
  }
});

Deno.test("TestPickFirst_InitialResolverError, TestPickFirst_ResolverError_NoPreviousUpdate", async () => {
  await using scene = new Scene(1, "pick_first", () => null);
  await scene.give(new Error("no such registry"));
  assertEquals([await scene.code(), scene.state], [Code.Unavailable, "TRANSIENT_FAILURE"]);
});

for (const policy of ["pick_first", "round_robin", "least_request"] as const) {
  Deno.test(`TestPickFirst_ResolverError_WithPreviousUpdate_Ready and TestLeastRequestEndpoints_ResolverError: ${policy} goes on with what it has`, async () => {
    await using scene = new Scene(1, policy, all);
    assertEquals(await scene.said(1), "0");
    await scene.give(new Error("the registry is away"));
    assertEquals([await scene.said(2), scene.state], ["00", "READY"]);
    assertEquals(scene.accepted, [1]);
  });
}

Deno.test("TestPickFirst_ResolverError_WithPreviousUpdate_TransientFailure: errors of connections are told", async () => {
  await using scene = new Scene(1, "pick_first", all);
  scene.proxies[0]!.mode = "refuse";
  assertEquals(await scene.code(), Code.Unavailable);
  await scene.give(new Error("the registry is away"));
  assertEquals([await scene.code(), scene.state], [Code.Unavailable, "TRANSIENT_FAILURE"]);
});

Deno.test("TestPickFirst_ResolverError_ZeroAddresses_WithPreviousUpdate, TestPickFirstLeaf_EmptyAddressList", async () => {
  for (const policy of ["pick_first", "round_robin", "least_request"] as const) {
    await using scene = new Scene(1, policy, all);
    assertEquals(await scene.said(1), "0");
    await scene.give([]);
    assertEquals([await scene.code(), scene.state], [Code.Unavailable, "TRANSIENT_FAILURE"]);
    await scene.give(scene.addrs);
    assertEquals(await scene.said(1), "0");
  }
});

Deno.test("TestPickFirstLeaf_ResolverUpdates_DisjointLists", async () => {
  await using scene = new Scene(4, "pick_first", (addrs) => addrs.slice(0, 2));
  await scene.stop(0);
  assertEquals(await scene.said(1), "1");
  await scene.stop(2);
  await scene.give(scene.addrs.slice(2));
  assertEquals(await scene.said(1), "3");
  assertEquals(scene.proxies[1]!.open, 0);
});

Deno.test("TestPickFirstLeaf_ResolverUpdates_ActiveBackendInUpdatedList: the connection stays", async () => {
  await using scene = new Scene(3, "pick_first", (addrs) => addrs.slice(0, 2));
  await scene.stop(0);
  assertEquals(await scene.said(1), "1");
  scene.start(0);
  await scene.give([scene.addrs[2]!, scene.addrs[1]!]);
  assertEquals([await scene.said(2), scene.accepted[1], scene.accepted[2]], ["11", 1, 0]);
});

Deno.test("TestPickFirstLeaf_ResolverUpdates_InActiveBackendInUpdatedList: another is connected to", async () => {
  await using scene = new Scene(3, "pick_first", (addrs) => addrs.slice(0, 2));
  await scene.stop(0);
  assertEquals(await scene.said(1), "1");
  scene.start(0);
  await scene.give([scene.addrs[0]!, scene.addrs[2]!]);
  assertEquals(await scene.said(1), "0");
  assertEquals(scene.proxies[1]!.open, 0);
});

Deno.test("TestPickFirstLeaf_ResolverUpdates_IdenticalLists: nothing changes", async () => {
  for (const policy of ["pick_first", "round_robin", "least_request"] as const) {
    await using scene = new Scene(2, policy, all);
    const wanted = policy === "pick_first" ? [1, 0] : [1, 1];
    await scene.said(2);
    await scene.clock.advance(10);
    for (let i = 0; i < 3; i++) await scene.give([...scene.addrs]);
    await scene.said(4);
    assertEquals(scene.accepted, wanted);
  }
});

Deno.test("TestPickFirstLeaf_StopConnectedServer: first or second, restarted or not, the list is tried in order", async () => {
  for (
    const [firstDown, stopped, restarted, wanted] of [
      [false, 0, 0, "0"],
      [true, 1, 1, "1"],
      [true, 1, 0, "0"],
      [false, 0, 1, "1"],
    ] as const
  ) {
    await using scene = new Scene(2, "pick_first", all);
    await scene.stop(firstDown ? 0 : 1);
    assertEquals(await scene.said(1), `${stopped}`);
    await scene.stop(stopped);
    assertEquals(scene.state, "IDLE");
    scene.start(restarted);
    await scene.clock.advance(2000);
    assertEquals(await scene.said(2), wanted.repeat(2));
  }
});

Deno.test("TestPickFirstLeaf_HappyEyeballs_TF_AfterEndOfList: all are under way at once, then it is a failure", async () => {
  await using scene = new Scene(3, "pick_first", all);
  for (const proxy of scene.proxies) proxy.mode = "hold";
  const code = codeOf(scene.greeter.SayHello({}));
  await scene.clock.advance(100);
  assertEquals(scene.accepted, [1, 0, 0]);
  await scene.clock.advance(200);
  assertEquals(scene.accepted, [1, 1, 0]);
  await scene.clock.advance(250);
  assertEquals([scene.accepted, scene.state], [[1, 1, 1], "CONNECTING"]);
  for (const proxy of scene.proxies) {
    proxy.mode = "refuse";
    proxy.drop();
  }
  await scene.clock.until(code);
  assertEquals([await code, scene.state], [Code.Unavailable, "TRANSIENT_FAILURE"]);
});

Deno.test("TestPickFirstLeaf_HappyEyeballs_TF_ThenTimerFires: a failure brings the next at once, the pause the one after", async () => {
  await using scene = new Scene(3, "pick_first", all);
  scene.proxies[0]!.mode = "refuse";
  scene.proxies[1]!.mode = "hold";
  const call = names(scene.greeter, 1, { waitForReady: true });
  await scene.clock.advance(50);
  assertEquals(scene.accepted.slice(1), [1, 0]);
  await scene.clock.until(call);
  assertEquals(await call, "2");
});

Deno.test("TestPickFirstLeaf_Reconnection: it rests when the connection ends, and connects with a call", async () => {
  await using scene = new Scene(1, "pick_first", all);
  assertEquals(await scene.said(1), "0");
  scene.proxies[0]!.drop();
  await scene.clock.advance(5000);
  assertEquals([scene.state, scene.accepted], ["IDLE", [1]]);
  assertEquals([await scene.said(1), scene.accepted], ["0", [2]]);
});

// ---- round_robin ---------------------------------------------------------------------------------

Deno.test("TestRoundRobin_Basic, TestRoundRobin_OneServerDown, TestRoundRobin_AllServersDown", async () => {
  await using scene = new Scene(3, "round_robin", all);
  assertEquals(await scene.said(6), "012012");
  await scene.stop(1);
  assertEquals([...await scene.said(6)].sort().join(""), "000222");
  await scene.stop(0, 2);
  assertEquals([await scene.code(), scene.state], [Code.Unavailable, "TRANSIENT_FAILURE"]);
});

Deno.test("TestRoundRobin_AddressesRemoved, TestServersSwap", async () => {
  await using scene = new Scene(3, "round_robin", (addrs) => addrs.slice(0, 2));
  assertEquals([...await scene.said(4)].sort().join(""), "0011");
  await scene.give(scene.addrs.slice(2));
  assertEquals(await scene.said(3), "222");
  assertEquals(scene.proxies.map(({ open }) => open), [0, 0, 1]);
});

Deno.test("TestRoundRobin_NewAddressWhileBlocking", async () => {
  await using scene = new Scene(2, "round_robin", (addrs) => addrs.slice(0, 1));
  await scene.stop(0);
  const waiting = names(scene.greeter, 1, { waitForReady: true, timeout: 60_000 });
  await scene.clock.advance(2000);
  await scene.give(scene.addrs);
  await scene.clock.until(waiting);
  assertEquals(await waiting, "1");
});

Deno.test("TestRoundRobin_UpdateAddressAttributes: attributes change no connection", async () => {
  await using scene = new Scene(1, "round_robin", all);
  assertEquals(await scene.said(1), "0");
  await scene.give([{ addresses: scene.addrs, attributes: { zone: "x" } }]);
  assertEquals([await scene.said(1), scene.accepted], ["0", [1]]);
  assertEquals(scene.conn.stats().servers[0]!.endpoint.attributes, { zone: "x" });
});

// ---- least_request and outlier detection ---------------------------------------------------------

for (const policy of ["least_request", "round_robin"] as const) {
  Deno.test(`TestLeastRequestEndpoints_MultipleAddresses, TestMultipleAddressesPerEndpoint: ${policy} takes a server's addresses for one`, async () => {
    await using scene = new Scene(4, policy, ([a, b, c, d]) => [
      { addresses: [a!, b!] },
      { addresses: [c!, d!] },
    ]);
    await scene.said(1);
    await scene.clock.advance(10);
    assertEquals(Object.keys(Object.groupBy([...await scene.said(40)], (name) => name)).sort(), [
      "0",
      "2",
    ]);
    await scene.stop(0);
    await scene.said(1);
    await scene.clock.advance(10);
    const said = new Set(await scene.said(40));
    assertEquals([...said].sort(), ["1", "2"]);
    assertEquals(scene.conn.stats().servers.map(({ connections }) => connections), [1, 1]);
  });
}

Deno.test("TestLeastRequestPersistsCounts: calls that run count on when other servers come", async () => {
  await using scene = new Scene(
    3,
    { least_request: { choiceCount: 10 } },
    (addrs) => addrs.slice(0, 2),
  );
  await scene.said(1);
  await scene.clock.advance(10);
  using _chance = evenChance();
  const chats: { close(): void }[] = [];
  const open = async (count: number) => {
    for (let i = 0; i < count; i++) chats.push(await scene.greeter.Chat());
  };
  await open(10);
  const active = () => scene.conn.stats().servers.map(({ activeCalls }) => activeCalls);
  assertEquals(active(), [5, 5]);
  await scene.give(scene.addrs);
  assertEquals(active(), [5, 5, 0]);
  await open(5);
  assertEquals(active(), [5, 5, 5]);
  for (const chat of chats) chat.close();
});

Deno.test("TestNoopConfiguration: outlier detection without rules ejects nobody", async () => {
  await using scene = new Scene(3, { outlier_detection: { interval: "0.1s" } }, all);
  await scene.said(6);
  for (let i = 0; i < 30; i++) await scene.greeter.SayHello({}, 0).catch(() => {});
  await scene.clock.advance(1000);
  assertEquals(scene.conn.stats().servers.map(({ ejected }) => ejected), [false, false, false]);
});
