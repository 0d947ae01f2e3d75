/** Requests on many keys: they are of one moment, and others have their turns meanwhile. */
import { assert, assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { listen } from "../../../kv/server/mod.ts";
import { Counts } from "../../../kv/server/counts.ts";
import { LongWork } from "../../../kv/server/long_work.ts";
import { State } from "../../../kv/server/state.ts";
import { hashKeys } from "../../../kv/server/store/hash.ts";
import { ALL_KEYS } from "../../../kv/server/store/key_text.ts";
import { Mvcc } from "../../../kv/server/store/mvcc.ts";
import { rangeWork, readRange } from "../../../kv/server/store/range.ts";
import { finish, sorted, type Work } from "../../../kv/server/store/work.ts";
import type { RangeMessage } from "../../../kv/wire.ts";
import { Random } from "../../../support/random.ts";

const request = (more: Partial<RangeMessage> = {}): RangeMessage => ({
  key: Uint8Array.of(0),
  rangeEnd: Uint8Array.of(0),
  limit: 0n,
  revision: 0n,
  sortOrder: 0,
  sortTarget: 0,
  serializable: false,
  keysOnly: false,
  countOnly: false,
  minModRevision: 0n,
  maxModRevision: 0n,
  minCreateRevision: 0n,
  maxCreateRevision: 0n,
  ...more,
});

/** Changes a few of `keys` keys. */
function change(mvccs: readonly Mvcc[], random: Random, keys: number): void {
  for (let i = random.below(30); i >= 0; i--) {
    const key = `k${random.below(keys)}`;
    const value = Uint8Array.of(random.below(256));
    const deleted = random.below(4) === 0;
    for (const mvcc of mvccs) {
      mvcc.begin();
      if (deleted) mvcc.delete({ key, end: `${key}\0` });
      else mvcc.put(key, value, 0n);
      mvcc.end();
    }
  }
}

function filled(random: Random, keys: number): Mvcc {
  const mvcc = new Mvcc();
  mvcc.begin();
  for (let i = 0; i < keys; i++) mvcc.put(`k${i}`, Uint8Array.of(random.below(256)), 0n);
  mvcc.end();
  return mvcc;
}

const text = (value: unknown): string =>
  JSON.stringify(value, (_, one) => typeof one === "bigint" ? `${one}` : one);

Deno.test("reads in portions are of the moment in which they began, whatever changes meanwhile", () => {
  const random = new Random(1);
  const works: Readonly<Record<string, (mvcc: Mvcc) => Work<unknown>>> = {
    range: (mvcc) => rangeWork(mvcc, request()),
    "range by value": (mvcc) => rangeWork(mvcc, request({ sortTarget: 4, sortOrder: 2 })),
    "range with a limit": (mvcc) => rangeWork(mvcc, request({ limit: 5n })),
    count: (mvcc) => rangeWork(mvcc, request({ countOnly: true })),
    hash: (mvcc) => hashKeys(mvcc, mvcc.revision),
  };
  for (const [name, begin] of Object.entries(works)) {
    const mvcc = filled(random, 3_500);
    for (let round = 0; round < 20; round++) {
      const expected = text(finish(begin(mvcc)));
      const work = begin(mvcc);
      let portions = 0;
      for (;;) {
        const step = work.next();
        if (step.done === true) {
          assertEquals(text(step.value), expected, name);
          break;
        }
        portions++;
        change([mvcc], random, 4_000);
      }
      assert(portions >= 3, `${name}: ${portions} portions`);
    }
  }
});

Deno.test("history that is dropped in portions leaves what is left by dropping it at once", () => {
  const random = new Random(2);
  const slow = filled(new Random(9), 2_000);
  const quick = filled(new Random(9), 2_000);
  for (let round = 0; round < 12; round++) {
    for (let i = 0; i < 100; i++) change([slow, quick], random, 2_500);
    const revision = slow.revision - random.below(50);
    slow.compact(revision);
    quick.compact(revision);
    finish(quick.sweep());
    let portions = 0;
    for (const _ of slow.sweep()) {
      portions++;
      change([slow, quick], random, 2_500);
      assert(!slow.swept);
    }
    assert(portions > 0 && slow.swept);
    assertEquals([slow.bytes, slow.size], [quick.bytes, quick.size]);
    for (const at of [revision, slow.revision - 1, slow.revision]) {
      const [left, right] = [slow, quick].map((mvcc) =>
        text(readRange(mvcc, request({ revision: BigInt(at) })))
      );
      assertEquals(left, right);
    }
    assertEquals(
      finish(hashKeys(slow, slow.revision)),
      finish(hashKeys(quick, quick.revision)),
    );
  }
  // Nothing is left of keys that are gone.
  for (const mvcc of [slow, quick]) {
    mvcc.begin();
    mvcc.delete(ALL_KEYS);
    mvcc.end();
    mvcc.compact(mvcc.revision);
    finish(mvcc.sweep());
    assertEquals([mvcc.bytes, mvcc.size], [0, 0]);
  }
});

Deno.test("a compaction waits for the reads that began before it, and not for later ones", async () => {
  const mvcc = filled(new Random(3), 500);
  const work = new LongWork(mvcc);
  const order: string[] = [];
  function* slowly(name: string, portions: number): Work<void> {
    const revision = mvcc.revision;
    for (let i = 0; i < portions; i++) {
      // Long enough for others to have their turns after each.
      for (const end = performance.now() + 15; performance.now() < end;);
      yield;
    }
    assert(mvcc.get("k1", revision) !== undefined, name);
    order.push(name);
  }
  const early = work.read(slowly("early", 4));
  change([mvcc], new Random(4), 500);
  mvcc.compact(mvcc.revision);
  const swept = work.sweep()!.then(() => order.push("swept"));
  const late = work.read(slowly("late", 12));
  assert(!mvcc.swept);
  await Promise.all([early, late, swept]);
  assertEquals(order, ["early", "swept", "late"]);
  assertEquals([mvcc.swept, work.sweep()], [true, undefined]);
});

Deno.test("a list that is sorted in portions is in the order of one that is sorted at once", () => {
  const random = new Random(5);
  for (const length of [0, 1, 999, 1_000, 1_001, 2_500, 7_777]) {
    const list = Array.from({ length }, (_, at) => ({ at, by: random.below(50) }));
    const compare = (a: { by: number }, b: { by: number }): number => a.by - b.by;
    assertEquals(finish(sorted(list, compare)), [...list].sort(compare));
  }
});

Deno.test("others are answered while a range of very many keys is read and sorted", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = kv.newClient({ endpoints: store });
  for (let i = 0; i < 100_000; i += 100) {
    const put = (j: number) => ({
      put: { key: `k/${i + j}`, value: `${(i * 7 + j * 13) % 9973}` },
    });
    await client.txn({ success: Array.from({ length: 100 }, (_, j) => put(j)) });
  }
  const order: string[] = [];
  const watch = await client.watch({ key: "other" });
  const events = watch[Symbol.asyncIterator]();
  const range = { key: "k/", prefix: true, limit: 1, sortTarget: "VALUE", sortOrder: "DESCEND" };
  const long = client.get(range as kv.GetRequest).then(({ count, header }) => {
    order.push("range");
    return { count: Number(count), revision: header.revision };
  });
  await client.put({ key: "other", value: "x" });
  order.push("put");
  await events.next();
  order.push("event");
  const { count, revision } = await long;
  assertEquals(order, ["put", "event", "range"]);
  // It is of the moment it began in.
  assertEquals([count, revision], [100_000, 1_001n]);
  await events.return?.();
});

Deno.test("leases take room, and are refused when there is none", async () => {
  await using store = listen({ addr: "memory:", limits: { quotaBytes: 64 * 1024 } });
  await using client = kv.newClient({ endpoints: store });
  const granted: bigint[] = [];
  let refusal: unknown;
  for (; refusal === undefined && granted.length < 1_000;) {
    const [grant, error] = await kv.attempt(client.grant({ TTL: 600, keepAlive: false }));
    refusal = error;
    if (grant !== undefined) granted.push(grant.ID);
  }
  assert(granted.length > 100 && granted.length < 1_000, `${granted.length} leases`);
  assert(refusal instanceof kv.KvError && refusal.reason === "NO_SPACE", `${refusal}`);
  const [, put] = await kv.attempt(client.put({ key: "a", value: "x" }));
  assert(put instanceof kv.KvError && put.reason === "NO_SPACE");
  for (const ID of granted.slice(0, 50)) await client.revoke({ ID });
  const { alarms } = await client.maintenance.alarmList();
  for (const alarm of alarms) await client.maintenance.alarmDisarm(alarm);
  await client.put({ key: "a", value: "x", lease: granted.at(-1)! });
});

Deno.test("the room of leases is that of those there are, and of the keys on them", () => {
  const state = new State({ minLeaseTtl: 2, counts: new Counts(), onRecord: () => {} });
  const { leases } = state;
  const random = new Random(6);
  const none = new Uint8Array(0);
  for (let i = 0; i < 3_000; i++) {
    const id = BigInt(1 + random.below(6));
    const key = Uint8Array.of(97 + random.below(12));
    const what = random.below(10);
    if (what === 0 && !leases.has(id)) state.grant(id, 60n, 0);
    else if (what === 1 && leases.has(id)) state.revoke(id);
    else if (what < 4) state.deleteRange({ key, rangeEnd: none, prevKv: false });
    else {
      const lease = what < 8 && leases.has(id) ? id : 0n;
      const flags = { prevKv: false, ignoreValue: false, ignoreLease: false };
      state.put({ key, value: none, lease, ...flags });
    }
    const keys = leases.list().reduce((sum, lease) => sum + lease.keys.size, 0);
    assertEquals(leases.bytes, 320 * leases.list().length + 32 * keys);
  }
});
