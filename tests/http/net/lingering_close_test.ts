import { assert, assertFalse } from "@std/assert";
import { LINGER_BYTES, LingeringClose } from "../../../http/net/lingering_close.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

Deno.test("LingeringClose takes so many bytes, before and after the answer is out", () => {
  const limits = new LingeringClose(new FakeClock().time, () => {});
  assert(limits.dropped(LINGER_BYTES - 1));
  limits.start();
  assert(limits.dropped(1));
  assertFalse(limits.dropped(1));
  limits.stop();
});

Deno.test("LingeringClose is over once a hurried peer is silent, and not while it talks", async () => {
  const clock = new FakeClock();
  const over = Promise.withResolvers<void>();
  const limits = new LingeringClose(clock.time, over.resolve);
  limits.start();
  limits.hurry();
  for (let i = 0; i < 15; i++) {
    assertFalse(await clock.within(400, over.promise));
    limits.dropped(1);
  }
  const took = await clock.until(over.promise);
  assert(took >= 500 && took < 510, `${took} ms`);
});

Deno.test("LingeringClose ends in the end, however much a peer talks", async () => {
  const clock = new FakeClock();
  const over = Promise.withResolvers<void>();
  const limits = new LingeringClose(clock.time, over.resolve);
  const begun = clock.now();
  limits.start();
  while (!await clock.within(4000, over.promise)) limits.dropped(1);
  const took = clock.now() - begun;
  assert(took >= 30_000 && took < 30_010, `${took} ms`);
});
