/** Which addresses are connected to, when, and how many connections there are. */
import { assert, assertEquals } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { ATTEMPT_DELAY_MS } from "../../../grpc/balancing/pick_first.ts";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { BlackHole } from "../../../support/black_hole.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { freePort } from "../../../support/ports.ts";
import { frames, RawServer, until } from "../../../support/raw_server.ts";
import { codeOf } from "../../../support/with_greeter.ts";

const MAX_CONNECTIONS = 4;

/** A client of one server with these addresses. */
function connect(addresses: string[], options: Partial<grpc.ClientOptions> = {}) {
  const clock = new FakeClock(OVER_SOCKETS);
  const resolver: grpc.Resolver = async function* () {
    yield [{ addresses }];
  };
  const conn = newClientAt(clock.time, { resolver, ...options });
  return { clock, conn, greeter: grpc.newService(conn, GREETER) };
}

Deno.test("of several addresses of a server the first that can be reached is used", async () => {
  await using greeters = new Greeters();
  const dead = `127.0.0.1:${freePort()}`;
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  for (const policy of ["round_robin", "pick_first", "least_request"] as const) {
    const { conn, greeter } = connect([dead, a!, b!], { policy });
    await using _conn = conn;
    assertEquals(await names(greeter, 4), "aaaa");
    const [server] = conn.stats().servers;
    assertEquals([server!.address, server!.connections], [a, 1]);
  }
  assertEquals(greeters.peers.b!.size, 0);
});

Deno.test("an address that does not answer keeps the next one waiting a quarter of a second, no more", async () => {
  await using greeters = new Greeters();
  await using hole = await BlackHole.open();
  const a = greeters.start("a").addr;
  const { clock, conn, greeter } = connect([hole.endpoint, a]);
  await using _conn = conn;
  const call = names(greeter, 1);
  const took = await clock.until(call);
  assert(took >= ATTEMPT_DELAY_MS - 10 && took <= ATTEMPT_DELAY_MS + 20, `${took} ms`);
  assertEquals(await call, "a");
});

Deno.test("addresses that are tried and lose leave no connection behind", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  await using slow = new FaultProxy({ target: a! });
  slow.mode = "hold";
  const { clock, conn, greeter } = connect([slow.endpoint, b!]);
  await using _conn = conn;
  const call = names(greeter, 1);
  await clock.until(call);
  assertEquals([await call, slow.accepted], ["b", 1]);
  slow.mode = "pass";
  await until(() => slow.open === 0);
  assertEquals(await names(greeter, 2), "bb");
});

Deno.test("a server whose addresses all fail is tried again until one is there", async () => {
  await using greeters = new Greeters();
  const ports = [freePort(), freePort()];
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  for (const policy of ["round_robin", "pick_first"] as const) {
    const { clock, conn, greeter } = connect(addresses, {
      policy,
      backoff: { initial: 1000, max: 2000 },
    });
    await using _conn = conn;
    assertEquals(await codeOf(greeter.SayHello({})), Code.Unavailable);
    for (let i = 0; i < 10; i++) {
      await clock.advance(700);
      assertEquals(conn.state, "TRANSIENT_FAILURE");
    }
    greeters.start("b", { addr: addresses[1]! });
    const call = names(greeter, 1, { waitForReady: true });
    await clock.until(call);
    assertEquals([await call, conn.state], ["b", "READY"]);
    await greeters.stop("b");
    await clock.advance(10);
    // The first is tried first again.
    greeters.start("a", { addr: addresses[0]! });
    const next = names(greeter, 1, { waitForReady: true });
    await clock.until(next);
    assertEquals(await next, "a");
    await greeters.stop("a");
  }
});

Deno.test("a client nobody uses tries each address once, and its first call all again", async () => {
  await using greeters = new Greeters();
  const ports = [freePort(), freePort()];
  const { clock, conn, greeter } = connect(ports.map((port) => `127.0.0.1:${port}`), {
    backoff: { initial: 60_000 },
  });
  await using _conn = conn;
  await clock.advance(1000);
  assertEquals(conn.state, "IDLE");
  greeters.start("b", { addr: `127.0.0.1:${ports[1]}` });
  assertEquals(await names(greeter, 1), "b");
});

Deno.test("servers that drop connections are asked with pauses, by whatever policy", async () => {
  for (const policy of ["round_robin", "pick_first", "least_request"] as const) {
    let accepted = 0;
    await using server = new RawServer(frames(async (conn) => {
      accepted++;
      await conn.start([3, 0]);
    }));
    const { clock, conn, greeter } = connect(
      [`127.0.0.1:${server.port}`, `127.0.0.2:${freePort()}`],
      { policy, backoff: { initial: 10_000 } },
    );
    const code = codeOf(greeter.SayHello({}, { timeout: 30_000, waitForReady: true }));
    while (accepted < 2) await clock.advance(1000);
    await clock.until(code);
    assertEquals(await code, Code.DeadlineExceeded);
    assert(accepted <= 5, `${policy}: ${accepted} connections`);
    await clock.until(conn.close());
  }
});

Deno.test("a further connection is opened where a server takes no more calls on one", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a", { http2: { maxConcurrentStreams: 2 } }).addr;
  const { clock, conn, greeter } = connect([a], { maxConnectionsPerServer: MAX_CONNECTIONS });
  await using _conn = conn;
  const chats = [];
  for (let i = 0; i < 2 * MAX_CONNECTIONS; i++) {
    const chat = greeter.Chat();
    await clock.advance(5);
    chats.push(await chat);
    await chats.at(-1)!.write({ name: `${i}` });
    assertEquals((await chats.at(-1)!.read()).message, `${i}`);
  }
  const [server] = conn.stats().servers;
  assertEquals([server!.connections, server!.activeCalls], [MAX_CONNECTIONS, 2 * MAX_CONNECTIONS]);
  // There are no more: the next call waits for room.
  const waiting = names(greeter, 1);
  await clock.advance(5000);
  assertEquals(conn.stats().waitingCalls, 1);
  assertEquals(conn.stats().servers[0]!.connections, MAX_CONNECTIONS);
  chats.pop()!.closeWrite();
  await clock.until(waiting);
  for (const chat of chats) chat.close();
  // Those with nothing to do are closed after a while, the first stays.
  await clock.advance(200_000);
  assertEquals(conn.stats().servers[0]!.connections, 1);
  assertEquals(await names(greeter, 3), "aaa");
});

Deno.test("unless more are allowed calls wait for room on the one connection", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a", { http2: { maxConcurrentStreams: 1 } }).addr;
  for (
    const options of [
      {},
      { maxConnectionsPerServer: 1 },
      { serviceConfig: { connectionScaling: { maxConnectionsPerSubchannel: 1 } } },
    ]
  ) {
    const { clock, conn, greeter } = connect([a], options);
    await using _conn = conn;
    const chat = await greeter.Chat();
    const waiting = names(greeter, 1);
    await clock.advance(2000);
    assertEquals(conn.stats().servers[0]!.connections, 1);
    chat.close();
    await clock.until(waiting);
  }
});

Deno.test("many calls at once are spread over further connections, and none is lost", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a", { http2: { maxConcurrentStreams: 3 } }).addr;
  const serviceConfig = { connectionScaling: { maxConnectionsPerSubchannel: MAX_CONNECTIONS } };
  const { clock, conn, greeter } = connect([a], { serviceConfig });
  await using _conn = conn;
  const calls = Promise.all(Array.from({ length: 200 }, () => greeter.SayHello({})));
  await clock.until(calls);
  assertEquals((await calls).length, 200);
  assert(greeters.peers.a!.size > 1 && greeters.peers.a!.size <= MAX_CONNECTIONS);
});

Deno.test("closing ends further connections and their calls", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a", { http2: { maxConcurrentStreams: 1 } }).addr;
  const { clock, conn, greeter } = connect([a], { maxConnectionsPerServer: 3 });
  const chats = [];
  for (let i = 0; i < 3; i++) {
    const chat = greeter.Chat();
    await clock.advance(5);
    chats.push(await chat);
  }
  const reads = chats.map((chat) => codeOf(chat.read()));
  await clock.until(conn.close());
  assertEquals(await Promise.all(reads), [Code.Canceled, Code.Canceled, Code.Canceled]);
});
