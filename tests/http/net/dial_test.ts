/** Which of a host's addresses a client reaches, and how long dead ones hold it up. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { dial } from "../../../http/engine.ts";
import { DialError, listen, newClient, TimeoutError } from "../../../http/mod.ts";
import { ATTEMPT_DELAY_MS, interleave, race } from "../../../http/net/happy_eyeballs.ts";
import { SYSTEM_TIME } from "../../../http/time/time.ts";
import { FakeClock, settle } from "../../../support/fake_clock.ts";
import { newClientAt } from "../../../http/client/client.ts";

const never = new AbortController().signal;

/** Attempts of which the test decides what becomes. */
class Attempts {
  readonly begun: string[] = [];
  readonly closed: string[] = [];
  readonly givenUp: string[] = [];
  readonly #settle = new Map<string, PromiseWithResolvers<{ name: string; close(): void }>>();

  readonly connect = (name: string, signal: AbortSignal) => {
    this.begun.push(name);
    signal.addEventListener("abort", () => this.givenUp.push(name));
    const settle = Promise.withResolvers<{ name: string; close(): void }>();
    this.#settle.set(name, settle);
    return settle.promise;
  };

  succeed(name: string): void {
    this.#settle.get(name)!.resolve({ name, close: () => this.closed.push(name) });
  }

  fail(name: string): void {
    this.#settle.get(name)!.reject(new Error(name));
  }
}

Deno.test("interleave() lets the families take turns, in the order given", () => {
  assertEquals(interleave(["::1", "::2", "::3", "1.1.1.1", "2.2.2.2"]), [
    "::1",
    "1.1.1.1",
    "::2",
    "2.2.2.2",
    "::3",
  ]);
  assertEquals(interleave(["1.1.1.1", "2.2.2.2", "::1"]), ["1.1.1.1", "::1", "2.2.2.2"]);
  assertEquals(interleave(["1.1.1.1"]), ["1.1.1.1"]);
});

Deno.test("race() goes on at once after a failure", async () => {
  const attempts = new Attempts();
  const clock = new FakeClock();
  const won = race(["::1", "1.1.1.1"], attempts.connect, never, clock.time);
  attempts.fail("::1");
  await settle();
  assertEquals(attempts.begun, ["::1", "1.1.1.1"]);
  attempts.succeed("1.1.1.1");
  assertEquals((await won).name, "1.1.1.1");
});

Deno.test("race() does not wait long for a black hole, and closes who comes late", async () => {
  const attempts = new Attempts();
  const clock = new FakeClock();
  const won = race(["::1", "1.1.1.1", "::2"], attempts.connect, never, clock.time);
  assertEquals(attempts.begun, ["::1"]);
  await clock.advance(ATTEMPT_DELAY_MS - 1);
  assertEquals(attempts.begun, ["::1"]);
  await clock.advance(5);
  assertEquals(attempts.begun, ["::1", "1.1.1.1"]);
  attempts.succeed("1.1.1.1");
  assertEquals((await won).name, "1.1.1.1");
  assertEquals(attempts.givenUp, ["::1", "1.1.1.1"]);
  attempts.succeed("::1");
  await settle();
  assertEquals(attempts.closed, ["::1"]);
  assertEquals(attempts.begun, ["::1", "1.1.1.1"]);
});

Deno.test("race() rejects with the first error when all failed, or with the signal", async () => {
  const attempts = new Attempts();
  const clock = new FakeClock();
  const won = race(["::1", "1.1.1.1"], attempts.connect, never, clock.time);
  attempts.fail("::1");
  await settle();
  attempts.fail("1.1.1.1");
  await assertRejects(() => won, Error, "::1");

  const controller = new AbortController();
  const aborted = race(["::1"], attempts.connect, controller.signal, clock.time);
  controller.abort(new Error("enough"));
  await assertRejects(() => aborted, Error, "enough");
  attempts.succeed("::1");
  await settle();
  assertEquals(attempts.closed, ["::1"]);
  await assertRejects(
    () => race(["::1"], attempts.connect, controller.signal, clock.time),
    Error,
    "enough",
  );
});

/** A listener that accepts until the system's queue is full: then connections hang. */
async function blackHole(hostname: string): Promise<{ port: number } & Disposable> {
  const listener = Deno.listen({ hostname, port: 0, tcpBacklog: 1 });
  const { port } = listener.addr;
  const held: Deno.Conn[] = [];
  try {
    for (let i = 0; i < 64; i++) {
      held.push(await Deno.connect({ hostname, port, signal: AbortSignal.timeout(300) }));
    }
  } catch {
    // Full.
  }
  return {
    port,
    [Symbol.dispose]() {
      for (const conn of held) conn.close();
      listener.close();
    },
  };
}

const ipv6 = (() => {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
})();
// deno-lint-ignore no-console
if (!ipv6) console.warn("Tests of IPv6 are skipped: this machine has no ::1");

Deno.test("localhost is reached where only 127.0.0.1 listens, by the system's addresses", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => void stream.respond(200, {}, true),
  });
  await using client = newClient();
  assertEquals((await client.get(`http://localhost:${server.port}/`)).status, 200);
});

for (const listening of ["127.0.0.1", "::1"]) {
  Deno.test({
    name: `a host with both families is reached where only ${listening} listens${
      ipv6 ? "" : " (skipped: no IPv6)"
    }`,
    ignore: !ipv6,
    fn: async () => {
      await using server = listen({
        addr: listening === "::1" ? "[::1]:0" : "127.0.0.1:0",
        handler: (stream) => {
          stream.respond(200);
          stream.closeWrite(stream.remoteAddr);
        },
      });
      for (const addresses of [["::1", "127.0.0.1"], ["127.0.0.1", "::1"]]) {
        const asked: string[] = [];
        const lookup = (hostname: string) => {
          asked.push(hostname);
          return addresses;
        };
        for (const alpnProtos of [["http/1.1"], ["h2"]]) {
          // No time passes, so none is waited for.
          await using client = newClientAt(new FakeClock().time, { lookup, alpnProtos });
          const { body } = await client.get(`http://dual.test:${server.port}/`);
          assert(body.includes(listening), body);
        }
        assertEquals(asked, ["dual.test", "dual.test"]);
      }
    },
  });
}

/** Only there does a full queue leave connections without an answer. */
function linuxTest(name: string, fn: () => Promise<void>): void {
  const ignore = Deno.build.os !== "linux";
  Deno.test({ name: ignore ? `${name} (skipped: not Linux)` : name, ignore, fn });
}

linuxTest("a first address that is a black hole costs a moment, not the timeout", async () => {
  using hole = await blackHole("127.0.0.2");
  const alive = Deno.listen({ hostname: "127.0.0.1", port: hole.port });
  const since = performance.now();
  const [conn, socket] = await Promise.all([
    alive.accept(),
    dial({
      time: SYSTEM_TIME,
      hostname: "some.test",
      port: hole.port,
      lookup: () => ["127.0.0.2", "127.0.0.1"],
    }),
  ]);
  const ms = performance.now() - since;
  assert(ms >= ATTEMPT_DELAY_MS - 5 && ms < 5000, `${ms} ms`);
  assertEquals(socket.remoteAddr.hostname, "127.0.0.1");
  socket.close();
  conn.close();
  alive.close();
});

linuxTest("nothing but black holes ends at connectTimeout", async () => {
  using hole = await blackHole("127.0.0.2");
  await using client = newClient({ connectTimeout: 400, lookup: () => ["127.0.0.2"] });
  const error = await assertRejects(
    () => client.get(`http://some.test:${hole.port}/`),
    DialError,
  );
  assertEquals([error.phase, error.address], ["connect", `some.test:${hole.port}`]);
  assert(error.cause instanceof TimeoutError);
});

Deno.test("lookup can refuse addresses, and what it gives is checked", async () => {
  const secret = listen({ addr: "127.0.0.1:0", handler: (stream) => void stream.respond(200) });
  const refuse = (hostname: string): string[] => {
    if (/^127\.|^localhost$/.test(hostname)) throw new Error(`${hostname} is private`);
    return ["127.0.0.1"];
  };
  const cases: [string, (hostname: string) => string[], RegExp][] = [
    ["127.0.0.1", refuse, /dns failed: 127\.0\.0\.1 is private/],
    // However it is written.
    ["0x7f.1", refuse, /dns failed: 127\.0\.0\.1 is private/],
    ["some.test", () => [], /dns failed: lookup must give the addresses of some\.test/],
    ["some.test", () => ["other.test"], /dns failed: lookup must give IP addresses: got "other/],
  ];
  for (const [host, lookup, message] of cases) {
    await using client = newClient({ lookup });
    const error = await assertRejects(
      () => client.get(`http://${host}:${secret.port}/`),
      DialError,
    );
    assertEquals(error.phase, "dns");
    assert(message.test(error.message), error.message);
  }
  await using client = newClient({ lookup: () => new Promise(() => {}), connectTimeout: 100 });
  const hung = await assertRejects(() => client.get("http://some.test/"), DialError);
  assertEquals(hung.phase, "dns");
  assertThrows(() => newClient({ lookup: "dns" as never }), TypeError, "lookup must be a function");
  await secret.close();
});
