import { assertEquals } from "@std/assert";
import { BUCKETS, CallCounts, MAX_NAMES } from "../../../http/debug/call_counts.ts";
import { Random } from "../../../support/random.ts";

Deno.test("counts of seeded calls are those of a list of all of them", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed);
    const n = (most: number): number => random.below(most);
    let now = n(1_000_000);
    const counts = new CallCounts(() => now);
    const ended: { name: string; at: number; ms: number; failed: boolean }[] = [];
    const begun: Record<string, number> = {};
    for (let i = 0; i < 500; i++) {
      const name = `m${n(3)}`;
      counts.begun(name);
      begun[name] = (begun[name] ?? 0) + 1;
      now += n(4) === 0 ? n(30_000) : n(300);
      if (n(5) === 0) continue;
      const call = {
        name,
        at: Math.floor(now / 1000),
        ms: random.next() * 20_000,
        failed: n(3) === 0,
      };
      counts.ended(name, call.ms, call.failed);
      ended.push(call);
    }
    const second = Math.floor(now / 1000);
    for (const { name, calls, running, failed, durations, last, lastFailed } of counts.list()) {
      const own = ended.filter((call) => call.name === name);
      const bad = own.filter((call) => call.failed);
      assertEquals([calls, running, failed], [begun[name], begun[name]! - own.length, bad.length]);
      assertEquals(
        durations,
        [...BUCKETS, Infinity].map((bound, i) =>
          own.filter(({ ms }) => ms <= bound && ms > (BUCKETS[i - 1] ?? -1)).length
        ),
      );
      for (const [list, all] of [[last, own], [lastFailed, bad]] as const) {
        const expected = list.map((_, i) =>
          all.filter(({ at }) => at === second - (list.length - 1 - i)).length
        );
        assertEquals(list, expected);
      }
    }
  }
});

Deno.test("names beyond the limit are counted together", () => {
  const counts = new CallCounts(() => 0);
  for (let i = 0; i < MAX_NAMES + 100; i++) {
    counts.begun(`m${i}`);
    counts.ended(`m${i}`, 1, false);
  }
  const list = counts.list();
  assertEquals(list.length, MAX_NAMES + 1);
  assertEquals(list.find(({ name }) => name === "_OTHER")?.calls, 100);
});
