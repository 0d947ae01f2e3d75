import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Cancellation } from "../../../http/client/cancellation.ts";
import { TimeoutError } from "../../../http/mod.ts";
import { FakeClock, settle } from "../../../support/fake_clock.ts";

/** What is aborted, with what. */
function exchange() {
  const reasons: unknown[] = [];
  return { reasons, abort: (reason: Error) => void reasons.push(reason) };
}

const never = new Promise<never>(() => {});

Deno.test("Cancellation gives up the exchange under way, by its signal or its timeout", async () => {
  const clock = new FakeClock();
  for (const by of ["signal", "timeout"] as const) {
    const controller = new AbortController();
    const cancellation = new Cancellation(controller.signal, 1000, clock.time);
    cancellation.where = "http://h";
    const [first, second] = [exchange(), exchange()];
    cancellation.attach(first);
    cancellation.attach(second);
    if (by === "signal") controller.abort(new Error("enough"));
    else await clock.advance(1010);
    assertEquals(first.reasons, [], "it was given up before");
    assertEquals(second.reasons, [cancellation.reason]);
    assertEquals(cancellation.reason instanceof TimeoutError, by === "timeout");
    assertEquals(
      cancellation.reason!.message.includes(by === "timeout" ? "http://h" : "enough"),
      true,
    );
    assertEquals(clock.waiting, 0);
  }
});

Deno.test("Cancellation of a signal that was aborted before says so at once", async () => {
  const cancellation = new Cancellation(
    AbortSignal.abort(new Error("early")),
    0,
    new FakeClock().time,
  );
  const late = exchange();
  assertThrows(() => cancellation.check(), Error, "early");
  assertThrows(() => cancellation.attach(late), Error, "early");
  assertEquals(late.reasons.length, 1);
  await assertRejects(() => cancellation.during(() => {}, never), Error, "early");
});

Deno.test("Cancellation ends the wait under way, and no wait that is over", async () => {
  const controller = new AbortController();
  const cancellation = new Cancellation(controller.signal, 0, new FakeClock().time);
  const cancelled: string[] = [];
  assertEquals(
    await cancellation.during(() => cancelled.push("first"), Promise.resolve(1)),
    1,
  );
  await assertRejects(
    () => cancellation.during(() => cancelled.push("second"), Promise.reject(new Error("own"))),
    Error,
    "own",
  );
  const { promise, reject } = Promise.withResolvers<never>();
  const wait = cancellation.during((reason) => {
    cancelled.push("third");
    reject(reason);
  }, promise);
  controller.abort(new Error("enough"));
  await assertRejects(() => wait, Error, "enough");
  assertEquals(cancelled, ["third"]);
});

Deno.test("Cancellation.settled() waits for what is not its own to end", async () => {
  const controller = new AbortController();
  const cancellation = new Cancellation(controller.signal, 0, new FakeClock().time);
  const running = exchange();
  cancellation.attach(running);
  assertEquals(await cancellation.settled(Promise.resolve(7)), 7);
  const wait = cancellation.settled(never);
  controller.abort(new Error("enough"));
  await assertRejects(() => wait, Error, "enough");
  assertEquals(running.reasons.length, 1);
});

Deno.test("Cancellation.sleep() ends with its time or the request, and leaves no timer", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const cancellation = new Cancellation(controller.signal, 0, clock.time);
  const took = await clock.until(cancellation.sleep(500));
  assertEquals(took >= 500 && took <= 508, true, `${took} ms`);
  const sleeping = assertRejects(() => cancellation.sleep(500), Error, "enough");
  await settle();
  controller.abort(new Error("enough"));
  await sleeping;
  assertEquals(clock.waiting, 0);
});

Deno.test("a request that has ended is not given up any more", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const cancellation = new Cancellation(controller.signal, 1000, clock.time);
  const over = exchange();
  cancellation.attach(over);
  cancellation.release();
  controller.abort(new Error("late"));
  await clock.advance(2000);
  assertEquals([over.reasons, cancellation.reason], [[], null]);
});

Deno.test("abort(null) is a reason too", () => {
  const controller = new AbortController();
  const cancellation = new Cancellation(controller.signal, 0, new FakeClock().time);
  controller.abort(null);
  assertEquals(cancellation.reason?.name, "AbortError");
});
