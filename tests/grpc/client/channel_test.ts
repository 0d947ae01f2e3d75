import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import { grpc } from "@sluice/sluice";
import { BlackHole } from "../../../support/black_hole.ts";
import { printed } from "../../../support/console.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { codeOf } from "../../../support/with_greeter.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { freePort } from "../../../support/ports.ts";
import { frames, RawServer, until } from "../../../support/raw_server.ts";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { SYSTEM_TIME, type Time } from "../../../http/time/time.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

/** By a clock of its own, or by the system's. */
function connect(
  targets: string[],
  options: Partial<grpc.ClientOptions> = {},
  { time }: { time: Time } = { time: SYSTEM_TIME },
) {
  const conn = newClientAt(time, { targets, ...options });
  return { conn, greeter: grpc.newService(conn, GREETER) };
}

/** How many of each letter a text has. */
function shares(text: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const letter of text) counts[letter] = (counts[letter] ?? 0) + 1;
  return counts;
}

Deno.test("the first calls go to the targets in turn, one after the other and all at once", async () => {
  await using greeters = new Greeters();
  const targets = ["a", "b", "c"].map((name) => greeters.start(name).addr);
  // However busy the machine is: those that are being opened keep their turn.
  const one = connect(targets, {}, new FakeClock());
  await using _one = one.conn;
  assertEquals(await names(one.greeter, 9), "abcabcabc");
  const many = connect(targets, {}, new FakeClock());
  await using _many = many.conn;
  const said = await Promise.all(
    Array.from({ length: 9 }, () => many.greeter.SayHello({}, 10_000)),
  );
  assertEquals(said.map(({ message }) => message).join(""), "abcabcabc");
});

Deno.test("connections are opened when the client is made, before the first call", async () => {
  await using greeters = new Greeters();
  const server = greeters.start("a");
  await using proxy = new FaultProxy({ target: server.addr });
  const { conn } = connect([proxy.endpoint]);
  await using _conn = conn;
  await until(() => proxy.open === 1);
});

for (const kind of ["drops SYNs", "accepts and is silent"]) {
  Deno.test(`a target that ${kind} costs no call its deadline, and its share is spread evenly`, async () => {
    await using greeters = new Greeters();
    await using hole = await BlackHole.open();
    await using silent = new FaultProxy({ target: hole.endpoint });
    silent.mode = "hold";
    const bad = kind === "drops SYNs" ? hole.endpoint : silent.endpoint;
    const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
    const { conn, greeter } = connect([a!, bad, b!]);
    await using _conn = conn;
    // One after the other, then many at once.
    assertEquals(shares(await names(greeter, 10, { timeout: 5000 })), { a: 5, b: 5 });
    const said = await Promise.all(
      Array.from({ length: 60 }, () => greeter.SayHello({}, 5000)),
    );
    assertEquals(shares(said.map(({ message }) => message).join("")), { a: 30, b: 30 });
  });
}

Deno.test("the share of a dead target is spread evenly, and it gets it back when it lives again", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  const [a, c] = ["a", "c"].map((name) => greeters.start(name).addr);
  const { conn, greeter } = connect([a!, `127.0.0.1:${port}`, c!], {
    backoff: { initial: 20, max: 50 },
  });
  await using _conn = conn;
  assertEquals(shares(await names(greeter, 60)), { a: 30, c: 30 });
  greeters.start("b", { addr: `127.0.0.1:${port}` });
  while (!(await names(greeter, 3)).includes("b"));
  assertEquals(shares(await names(greeter, 60)), { a: 20, b: 20, c: 20 });
});

Deno.test("a connection that ends is opened again without a call", async () => {
  await using greeters = new Greeters();
  const server = greeters.start("a");
  await using proxy = new FaultProxy({ target: server.addr });
  const { conn, greeter } = connect([proxy.endpoint], { backoff: { initial: 10, max: 50 } });
  await using _conn = conn;
  await names(greeter, 1);
  for (let round = 2; round < 5; round++) {
    proxy.drop();
    await until(() => proxy.accepted === round && proxy.open === 1);
  }
  await names(greeter, 1);
});

Deno.test("targets with the same address share one connection and keep their turns", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  const { conn, greeter } = connect([a!, a!, b!], {}, new FakeClock());
  await using _conn = conn;
  assertEquals(await names(greeter, 6), "aabaab");
  assertEquals(greeters.peers.a!.size, 1);
});

Deno.test("calls that fail at once let timers and servers of the process live", async () => {
  await using greeters = new Greeters();
  const server = greeters.start("a");
  const dead = connect([`127.0.0.1:${freePort()}`]);
  await using _dead = dead.conn;
  const closed = connect([server.addr]);
  await closed.conn.close();
  const alive = connect([server.addr]);
  await using _alive = alive.conn;
  const aborted = AbortSignal.abort();
  using open = await alive.greeter.Chat();
  const cancelled = await alive.greeter.Chat();
  cancelled.close();
  const fails: (() => Promise<unknown>)[] = [
    () => dead.greeter.SayHello({}),
    () => closed.greeter.SayHello({}),
    () => alive.greeter.SayHello({}, 0),
    () => alive.greeter.SayHello({}, -1),
    () => alive.greeter.SayHello({}, { signal: aborted }),
    () => alive.greeter.SayHello({ nope: 1 }),
    () => dead.greeter.Chat(),
    () => cancelled.read(),
    () => cancelled.read(0),
    () => cancelled.write({}),
    () => open.read(0),
  ];
  for (const fail of fails) {
    let over = false;
    let failed = 0;
    const loop = (async () => {
      while (!over) {
        await fail().then(() => assert(false), () => failed++);
      }
    })();
    // Both need turns of the event loop: a timer, and answers over sockets.
    await delay(5);
    assertEquals(await names(alive.greeter, 5), "aaaaa");
    over = true;
    await loop;
    assert(failed > 0);
  }
});

Deno.test("closing twice, while connecting and while looking names up ends at once", async () => {
  await using hole = await BlackHole.open();
  const lookup = () => new Promise<never>(() => {});
  for (
    const { conn, greeter } of [
      // No time passes, so none is waited for.
      connect([hole.endpoint], {}, new FakeClock()),
      connect(["dns://somewhere:1"], { lookup }, new FakeClock()),
    ]
  ) {
    const waiting = codeOf(greeter.SayHello({}));
    const patient = codeOf(greeter.SayHello({}, { waitForReady: true }));
    const stream = codeOf(greeter.Chat());
    await Promise.all([conn.close(), conn.close()]);
    assertEquals(await waiting, Code.Canceled);
    assertEquals(await patient, Code.Canceled);
    assertEquals(await stream, Code.Canceled);
    await conn.close();
    assertEquals(await codeOf(greeter.SayHello({})), Code.Canceled);
    assertEquals(await codeOf(greeter.Chat()), Code.Canceled);
  }
});

Deno.test("closing does not wait for a server that reads nothing", async () => {
  await using greeters = new Greeters();
  await using proxy = new FaultProxy({ target: greeters.start("a").addr });
  const clock = new FakeClock(OVER_SOCKETS);
  const { conn, greeter } = connect([proxy.endpoint], {}, clock);
  await names(greeter, 1);
  proxy.mode = "hold";
  const chat = await greeter.Chat();
  const payload = new Uint8Array(3 << 20);
  const writes = [chat.write({ payload }), chat.write({ payload }), chat.write({ payload })];
  const took = await clock.until(conn.close());
  assert(took <= 510, `${took} ms`);
  await Promise.allSettled(writes);
});

Deno.test("a call that waits for readiness waits for a server and for a name", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  let known = false;
  const lookup = () => {
    if (!known) throw new Error("nobody knows that name");
    return ["127.0.0.1"];
  };
  const options = { backoff: { initial: 10, max: 20 }, lookup };
  for (const target of [`127.0.0.1:${port}`, `dns://later:${port}`]) {
    const { conn, greeter } = connect([target], options);
    await using _conn = conn;
    const unary = greeter.SayHello({}, { waitForReady: true, timeout: 20_000 });
    const chat = greeter.Chat({ waitForReady: true, timeout: 20_000 });
    // Others do not wait.
    assertEquals(await codeOf(greeter.SayHello({}, 20_000)), Code.Unavailable);
    assertEquals(
      await codeOf(greeter.SayHello({}, { waitForReady: true, timeout: 30 })),
      Code.DeadlineExceeded,
    );
    known = true;
    greeters.start("a", { addr: `127.0.0.1:${port}` });
    assertEquals((await unary).message, "a");
    (await chat).close();
    await greeters.stop("a");
    known = false;
  }
});

Deno.test("the server is told what is left of the time when a call had to wait", async () => {
  let told = Infinity;
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: (_: object, context: grpc.CallContext) => {
      told = context.timeoutMs()!;
      return {};
    },
  });
  const port = freePort();
  const clock = new FakeClock(OVER_SOCKETS);
  const options = { backoff: { initial: 1000, max: 1000 } };
  const { conn, greeter } = connect([`127.0.0.1:${port}`], options, clock);
  const call = greeter.SayHello({}, { waitForReady: true, timeout: 300_000 });
  await clock.advance(100_000);
  await using _server = grpc.listen({ addr: `127.0.0.1:${port}`, registrar });
  const took = await clock.until(call) + 100_000;
  assert(told > 0 && told <= 300_000 - took + 8 + 1200, `told ${told} ms after ${took} ms`);
  assert(told <= 200_000, `told ${told} ms`);
  await clock.until(conn.close());
});

Deno.test("a client finds a server that was started after it", async () => {
  await using greeters = new Greeters();
  const [port, other] = [freePort(), freePort()];
  const { conn, greeter } = connect([`127.0.0.1:${port}`, `127.0.0.1:${other}`], {
    backoff: { initial: 60_000 },
  });
  await using _conn = conn;
  // Time in which what it does when it is made has failed.
  await delay(50);
  greeters.start("a", { addr: `127.0.0.1:${port}` });
  greeters.start("b", { addr: `127.0.0.1:${other}` });
  assertEquals(await names(greeter, 1), "a");
  while (!(await names(greeter, 2)).includes("b"));
  assertEquals(shares(await names(greeter, 10)), { a: 5, b: 5 });
});

Deno.test("a server that takes connections and drops them is not asked without a pause", async () => {
  let accepted = 0;
  await using server = new RawServer(frames(async (conn) => {
    accepted++;
    // No call may be made on it.
    await conn.start([3, 0]);
    await delay(5);
  }));
  const clock = new FakeClock(OVER_SOCKETS);
  const options = { backoff: { initial: 10_000 } };
  const { conn, greeter } = connect([`127.0.0.1:${server.port}`], options, clock);
  const code = codeOf(greeter.SayHello({}, { timeout: 30_000, waitForReady: true }));
  // The server hangs up in its own time.
  while (accepted < 2) await clock.advance(1000);
  await clock.until(code);
  assertEquals(await code, Code.DeadlineExceeded);
  assert(accepted <= 4, `${accepted} connections`);
  await clock.until(conn.close());
});

Deno.test("targets are IPv6 addresses too, and errors name them as they were written", async () => {
  await using greeters = new Greeters();
  const server = greeters.start("a", { addr: "[::1]:0" });
  for (const target of [server.addr, `dns://${server.addr}`, `dns:///${server.addr}`]) {
    const { conn, greeter } = connect([target]);
    await using _conn = conn;
    assertEquals(await names(greeter, 2), "aa");
    assert(Deno.inspect(conn).includes(target));
  }
  await greeters.stop("a");
  const { conn, greeter } = connect([server.addr]);
  await using _conn = conn;
  await assertRejects(() => greeter.SayHello({}, 10_000), ConnectError, server.addr);
});

Deno.test("targets are exchanged while calls run: those that stay keep their connection", async () => {
  await using greeters = new Greeters();
  const [a, b, c] = ["a", "b", "c"].map((name) => greeters.start(name).addr);
  await using proxy = new FaultProxy({ target: b! });
  const { conn, greeter } = connect([a!, proxy.endpoint]);
  await using _conn = conn;
  assertEquals(await names(greeter, 4), "abab");
  const late = connect([c!]);
  await using _late = late.conn;
  assertEquals(await names(late.greeter, 1), "c");
  conn.setTargets([proxy.endpoint, c!]);
  while (!(await names(greeter, 2)).includes("c"));
  assertEquals(shares(await names(greeter, 20)), { b: 10, c: 10 });
  assertEquals(proxy.accepted, 1);
  assertThrows(() => conn.setTargets([]), TypeError, "without targets");
  assertThrows(() => conn.setTargets([c!, "nowhere"]), TypeError, "host:port");
  assertEquals(shares(await names(greeter, 4)), { b: 2, c: 2 });
  // A name among them is looked up; addresses written out serve meanwhile.
  conn.setTargets([a!, `dns://localhost:${b!.split(":")[1]}`]);
  while (!(await names(greeter, 2)).includes("b"));
  assertEquals(shares(await names(greeter, 4)), { a: 2, b: 2 });
});

Deno.test("connections that come and go are told, each change once", async () => {
  await using greeters = new Greeters();
  const [a, dead] = [greeters.start("a").addr, `127.0.0.1:${freePort()}`];
  await using proxy = new FaultProxy({ target: a });
  const told: string[] = [];
  const { conn, greeter } = connect([proxy.endpoint, dead], {
    backoff: { initial: 10, max: 20 },
    onConnection: (server, error) => {
      const name = server === dead ? "dead" : "a";
      told.push(`${name} ${error === null ? "up" : "down"}`);
      throw new Error("this is printed");
    },
  });
  await using _conn = conn;
  const lines = await printed(async () => {
    await names(greeter, 4);
    proxy.drop();
    await until(() => told.length === 4);
    await names(greeter, 4);
  });
  assertEquals(told.filter((line) => line.startsWith("a")), ["a up", "a down", "a up"]);
  assertEquals(told.filter((line) => line.startsWith("dead")), ["dead down"]);
  assertEquals(lines.length, 4);
});
