import { assertEquals, assertRejects } from "@std/assert";
import type { Clock } from "../../kv/clock.ts";
import { Countdown } from "../../http/time/countdown.ts";
import { FakeClock } from "../../support/fake_clock.ts";

Deno.test("advance() rings what is due, in order, each at its time", async () => {
  const clock = new FakeClock();
  const start = clock.now();
  const rung: string[] = [];
  const ring = (name: string) => () => rung.push(`${name} at ${clock.now() - start}`);
  clock.alarm(30, ring("c"));
  clock.alarm(10, ring("a"));
  clock.alarm(20, () => {
    ring("b")();
    clock.alarm(5, ring("in between"));
  });
  clock.alarm(31, ring("late"));
  clock.alarm(15, ring("never")).cancel();
  await clock.advance(30);
  assertEquals(rung, ["a at 10", "b at 20", "in between at 25", "c at 30"]);
  assertEquals([clock.now() - start, clock.waiting], [30, 1]);
});

Deno.test("what a ring causes in promises happens before the next", async () => {
  const clock = new FakeClock();
  const start = clock.now();
  const seen: number[] = [];
  (async () => {
    for (let i = 0; i < 3; i++) {
      await clock.sleep(10);
      seen.push(clock.now() - start);
    }
  })();
  await clock.advance(100);
  assertEquals(seen, [10, 20, 30]);
});

Deno.test("it is a clock of kv/, too", async () => {
  const clock = new FakeClock();
  const given: Clock = clock;
  const slept = given.sleep(250).then(() => given.now());
  const start = given.now();
  await clock.until(slept);
  assertEquals(await slept - start, 250);
});

Deno.test("sleep() rejects with the reason of its signal, and leaves nothing behind", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(1000, controller.signal);
  controller.abort(new Error("enough"));
  await assertRejects(() => sleeping, Error, "enough");
  await assertRejects(() => clock.sleep(1, controller.signal), Error, "enough");
  assertEquals(clock.waiting, 0);
});

Deno.test("until() says how long something took, and gives up", async () => {
  const clock = new FakeClock();
  assertEquals(await clock.until(clock.sleep(250).then(() => clock.sleep(50))), 300);
  const never = clock.sleep(5000);
  await assertRejects(() => clock.until(never, 1000), Error, "Not settled after 1000 ms");
});

Deno.test("timers of the engine go by it: never early, a tick late at most", async () => {
  const clock = new FakeClock();
  for (const ms of [1, 3, 4, 5, 99, 100, 4096, 4097, 86_400_000, 2 ** 32]) {
    const took = await clock.until(
      new Promise<void>((resolve) => {
        new Countdown(clock.time, ms, resolve);
      }),
      2 ** 33,
    );
    assertEquals(took >= ms && took <= ms + 4, true, `${ms} ms took ${took} ms`);
  }
});

Deno.test("after a leap all that was due rings at once", async () => {
  const clock = new FakeClock();
  const fired: number[] = [];
  for (const ms of [50, 10, 5000]) new Countdown(clock.time, ms, () => fired.push(ms));
  await clock.leap(1000);
  assertEquals(fired, [10, 50]);
});
