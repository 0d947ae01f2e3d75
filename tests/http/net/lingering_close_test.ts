import { assert, assertFalse } from "@std/assert";
import { LINGER_BYTES, LingeringClose } from "../../../http/net/lingering_close.ts";
import { SYSTEM_TIME } from "../../../http/time/time.ts";

Deno.test("LingeringClose takes so many bytes, before and after the answer is out", () => {
  const limits = new LingeringClose(SYSTEM_TIME, () => {});
  assert(limits.dropped(LINGER_BYTES - 1));
  limits.start();
  assert(limits.dropped(1));
  assertFalse(limits.dropped(1));
  limits.stop();
});

Deno.test("LingeringClose is over once a hurried peer is silent, and not while it talks", async () => {
  SYSTEM_TIME.timers.retain();
  let talk: ReturnType<typeof setInterval> | undefined;
  try {
    const begun = performance.now();
    await new Promise<void>((resolve) => {
      const limits = new LingeringClose(SYSTEM_TIME, resolve);
      limits.start();
      limits.hurry();
      let left = 15;
      talk = setInterval(() => left-- > 0 && limits.dropped(1), 100);
    });
    // Fifteen times 100 ms of talk, then the silence.
    assert(performance.now() - begun > 1900);
  } finally {
    clearInterval(talk);
    SYSTEM_TIME.timers.release();
  }
});
