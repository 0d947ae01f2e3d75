import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { BlackHole } from "../../../support/black_hole.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";
import { MAX_WAITING_CALLS } from "../../../grpc/client/channel.ts";
import type { Candidate } from "../../../grpc/balancing/picker.ts";
import { type Waiting, WaitingCalls } from "../../../grpc/client/waiting_calls.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

Deno.test("waiting calls keep their order, whoever gives up", () => {
  const random = new Random(1);
  const calls = new WaitingCalls<Candidate>(new FakeClock().time.timers);
  const wanted = {
    path: "/test.Greeter/SayHello",
    headers: undefined,
    waitForReady: false,
    onConnected: () => {},
    onUnavailable: () => {},
  };
  const expected: Waiting<Candidate>[] = [];
  for (let i = 0; i < 2000; i++) {
    if (random.below(5) < 3) expected.push(calls.add(wanted, null));
    else if (expected.length > 0) {
      const [gone] = expected.splice(random.below(expected.length), 1);
      assertEquals(gone!.cancel(), true);
      assertEquals(gone!.cancel(), false);
    }
    assertEquals(calls.size, expected.length);
    assertEquals(calls.first, expected[0] ?? null);
  }
  const order: Waiting<Candidate>[] = [];
  for (let one = calls.first; one !== null; one = one.next) order.push(one);
  assert(order.every((one, i) => one === expected[i]) && order.length === expected.length);
  for (const one of order) one.cancel();
  assertEquals([calls.size, calls.first], [0, null]);
});

Deno.test("calls that wait are limited, given up at no cost, and fail without holding others up", async () => {
  await using hole = await BlackHole.open();
  await using conn = grpc.newClient({ targets: [hole.endpoint] });
  const greeter = grpc.newService(conn, GREETER);
  const codes: Record<string, number> = {};
  const count = (error: unknown) => {
    assertInstanceOf(error, ConnectError);
    const code = Code[error.code]!;
    codes[code] = (codes[code] ?? 0) + 1;
  };
  const controller = new AbortController();
  const many = 1000;
  const calls: Promise<unknown>[] = [];
  for (let i = 0; i < MAX_WAITING_CALLS + 5; i++) {
    // Some in the middle are given up.
    const options = i >= 5000 && i < 5000 + many ? { signal: controller.signal } : {};
    calls.push(greeter.SayHello({}, options).catch(count));
  }
  await calls.at(-1);
  assertEquals(codes, { ResourceExhausted: 5 });
  controller.abort();
  await Promise.all(calls.slice(5000, 5000 + many));
  assertEquals(codes, { ResourceExhausted: 5, Canceled: many });
  let turns = 0;
  const ticking = setInterval(() => turns++, 1);
  await conn.close();
  await Promise.all(calls);
  clearInterval(ticking);
  assertEquals(codes, { ResourceExhausted: 5, Canceled: MAX_WAITING_CALLS });
  assert(turns > 3, `the event loop came round ${turns} times`);
});
