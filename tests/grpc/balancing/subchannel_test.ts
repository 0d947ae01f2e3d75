import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { settingsOf } from "../../../grpc/client/options.ts";
import { parseTarget } from "../../../grpc/resolve/target.ts";
import { Subchannel, type SubchannelEvents } from "../../../grpc/balancing/subchannel.ts";
import { DialError } from "../../../http/mod.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { Greeters } from "../../../support/greeters.ts";
import { freePort } from "../../../support/ports.ts";

/** Pauses without chance, by settings. */
const BACKOFF = { initial: 1000, max: 1000 };

/** A subchannel whose events are counted, by a clock of its own. */
function open(target: string, used = true) {
  const clock = new FakeClock(OVER_SOCKETS);
  const events = {
    used,
    wanted: true,
    eager: true,
    rooms: 0,
    downs: 0,
    onRoom,
    onDown,
    onIdle() {},
    onChange() {},
  };
  function onRoom() {
    events.rooms++;
  }
  function onDown() {
    events.downs++;
  }
  const { connection } = settingsOf({ targets: [target], backoff: BACKOFF });
  const { address } = parseTarget(target);
  const one = new Subchannel(address, connection, clock.time, events satisfies SubchannelEvents);
  /** Lets all happen that takes no time, until it is as expected. */
  const until = async (is: () => boolean) => {
    for (let i = 0; i < 500 && !is(); i++) await clock.advance(0);
    assert(is(), `${one.readiness} ${one.error?.message ?? ""}`);
  };
  return { one, clock, events, until };
}

Deno.test("a subchannel is starting until the server's SETTINGS are there, then ready", async () => {
  await using greeters = new Greeters();
  const { one, events, until } = open(greeters.start("a").addr);
  assertEquals([one.readiness, events.rooms], ["starting", 0]);
  one.connect();
  assertEquals(one.readiness, "starting");
  await until(() => one.readiness === "ready");
  assert(events.rooms > 0);
  assertEquals([events.downs, one.error], [0, null]);
  // There is a connection: no other is opened.
  one.connect();
  assertEquals(one.readiness, "ready");
  await one.close(new Error("over"));
  assertEquals(one.readiness, "down");
});

Deno.test("a subchannel that cannot connect is down with its error, and tries again after a pause", async () => {
  const port = await freePort();
  const { one, clock, events, until } = open(`127.0.0.1:${port}`);
  one.connect();
  await until(() => one.readiness === "down");
  assertInstanceOf(one.error, DialError);
  assertEquals(events.downs, 1);
  const registrar = new grpc.Registrar();
  await using _server = grpc.listen({ addr: `127.0.0.1:${port}`, registrar });
  // Whoever asks again in the pause waits for its end, a fifth more or less.
  await clock.advance(BACKOFF.initial * 0.7);
  one.connect();
  await clock.advance(0);
  assertEquals([one.readiness, events.rooms], ["down", 0]);
  await clock.advance(BACKOFF.initial * 0.6);
  await until(() => one.readiness === "ready");
  assertEquals(one.error, null);
  await one.close(new Error("over"));
});

Deno.test("a subchannel nobody used yet fails as if it had not tried", async () => {
  const port = await freePort();
  const { one, clock, events, until } = open(`127.0.0.1:${port}`, false);
  one.connect();
  for (let i = 0; i < 20; i++) await clock.advance(0);
  assertEquals([one.readiness, one.error, events.downs], ["starting", null, 0]);
  await using _server = grpc.listen({ addr: `127.0.0.1:${port}`, registrar: new grpc.Registrar() });
  // There is no pause to wait for.
  one.connect();
  await until(() => one.readiness === "ready");
  await one.close(new Error("over"));
});

Deno.test("a subchannel connects again when its server drains, and stays down once it is closed", async () => {
  await using greeters = new Greeters();
  const server = greeters.start("a");
  const { one, events, until } = open(server.addr);
  one.connect();
  await until(() => one.readiness === "ready");
  await greeters.stop("a");
  await until(() => events.downs > 0);
  assert(one.readiness !== "ready");
  await one.close(new Error("over"));
  one.connect();
  assertEquals(one.readiness, "down");
  await one.drain();
});
