import { assert, assertEquals, assertRejects } from "@std/assert";
import { kv } from "@sluice/sluice";
import { isPassing, persist, raced, waiting } from "../../kv/wait.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const never = new AbortController().signal;

/** What a call fails with while its cluster cannot be reached. */
const away = () => new kv.KvError("not there", 14);

Deno.test("a wait ends with its work, its signal or its time, and says which", async () => {
  const clock = new FakeClock();
  assertEquals(await waiting("wait", {}, clock, () => Promise.resolve(5)), 5);
  const forever = (signal: AbortSignal) => raced(new Promise<never>(() => {}), signal);

  const late = assertRejects(() => waiting("wait", { timeout: 1_000 }, clock, forever), kv.KvError);
  await clock.advance(999);
  await clock.advance(1);
  assertEquals([(await late).code, (await late).message], [4, "wait took longer than 1000 ms"]);

  const given = new AbortController();
  const waited = assertRejects(
    () => waiting("wait", { signal: given.signal, timeout: 1_000 }, clock, forever),
    kv.KvError,
  );
  given.abort("enough");
  assertEquals([(await waited).code, (await waited).cause], [1, "enough"]);
  let begun = false;
  const over = waiting("wait", { signal: given.signal }, clock, () => {
    begun = true;
    return Promise.resolve();
  });
  assertEquals([(await assertRejects(() => over, kv.KvError)).code, begun], [1, false]);
  // Whatever the work makes of its signal, the wait says why it ended.
  const other = new AbortController();
  const wrapped = waiting("wait", { signal: other.signal }, clock, async (signal) => {
    await forever(signal).catch(() => {
      throw new RangeError("made of it");
    });
  });
  other.abort("enough");
  assertEquals((await assertRejects(() => wrapped, kv.KvError)).cause, "enough");
  const failed = waiting("wait", {}, clock, () => Promise.reject(new RangeError("its own")));
  await assertRejects(() => failed, RangeError, "its own");
});

Deno.test("work is done again while its failures pass, with pauses that grow to a second", async () => {
  const clock = new FakeClock();
  const at: number[] = [];
  const done = persist(never, clock, () => {
    at.push(clock.now());
    return at.length < 12 ? Promise.reject(away()) : Promise.resolve("done");
  });
  for (let i = 0; i < 200; i++) await clock.advance(50);
  assertEquals(await done, "done");
  const pauses = at.slice(1).map((time, i) => time - at[i]!);
  assert(pauses.every((pause) => pause >= 50 && pause <= 1_050), `pauses are ${pauses}`);
  assert(pauses.at(-1)! >= 700, `pauses are ${pauses}`);
});

Deno.test("work ends with a failure that does not pass, or its signal", async () => {
  const clock = new FakeClock();
  let calls = 0;
  const refused = persist(never, clock, () => {
    calls++;
    return Promise.reject(new kv.KvError("permission denied", 7));
  });
  assertEquals((await assertRejects(() => refused, kv.KvError)).code, 7);
  assertEquals(calls, 1);
  const ended = new AbortController();
  const trying = persist(ended.signal, clock, () => Promise.reject(away()));
  await clock.advance(200);
  ended.abort(new RangeError("enough"));
  await assertRejects(() => trying, RangeError, "enough");
});

Deno.test("what passes is what the cluster could not say, not what it said", () => {
  for (const code of [14, 4, 2, 13, 1, 10]) assert(isPassing(new kv.KvError("", code)), `${code}`);
  for (const code of [3, 5, 6, 7, 9, 11, 12, 15, 16, 8]) {
    assert(!isPassing(new kv.KvError("", code)), `${code}`);
  }
  assert(isPassing(new kv.KvError("", 8, { reason: "TOO_MANY_REQUESTS" })));
  assert(!isPassing(new kv.ClientClosedError("lock")));
  assert(!isPassing(new TypeError()));
});
