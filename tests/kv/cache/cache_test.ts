import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { kv } from "@sluice/sluice";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { etcdTest, rejected, type Scene, until } from "../../../support/kv.ts";
import { Random } from "../../../support/random.ts";

/** A client through a proxy that its test harms. */
async function through(
  { etcd }: Scene,
  run: (proxy: FaultProxy, client: kv.Client) => Promise<void>,
): Promise<void> {
  await using proxy = new FaultProxy({ target: etcd.endpoint });
  await using client = kv.newClient({ endpoints: [proxy.endpoint], retrySleep: 50 });
  await run(proxy, client);
}

/** What a cache holds, for comparison. */
function contents(entries: Iterable<kv.KeyValue>): string[] {
  return [...entries].map((one) => `${one.key}=${one.value}@${one.modRevision}`);
}

/** Events as they come. */
function gather(cache: kv.Cache, options?: kv.CacheEventsOptions): {
  events: string[];
  over: Promise<void>;
} {
  const events: string[] = [];
  const over = (async () => {
    for await (const event of cache.events(options)) {
      events.push(
        event.type === "resync" ? `resync ${event.reason}` : `${event.type} ${event.kv.key}`,
      );
    }
  })();
  return { events, over };
}

etcdTest("a cache", async (step) => {
  await step("shows what is there, and what changes", async ({ client, key }) => {
    for (const name of ["b", "a", "c"]) await client.put({ key: key + name, value: name });
    await client.put({ key: `${key.slice(0, -1)}0`, value: "behind the prefix" });
    await using cache = client.cache({ prefix: key });
    assertThrows(() => cache.get(`${key}a`), kv.KvError, "await ready() first");
    assertEquals(cache.state, "loading");
    await cache.ready();
    assertEquals([cache.state, cache.size], ["following", 3]);
    assertEquals([...cache].map((one) => one.key), ["a", "b", "c"].map((name) => key + name));
    assertEquals(cache.get(`${key}a`)!.value, "a");
    assertEquals([cache.get(`${key}x`), cache.has(`${key}a`), cache.has(`${key}x`)], [
      undefined,
      true,
      false,
    ]);
    const { header } = await client.txn({
      success: [{ delete: { key: `${key}a` } }, { put: { key: `${key}x`, value: "new" } }],
    });
    await cache.waitForRevision(header.revision);
    assertEquals(cache.revision, header.revision);
    assertEquals([cache.has(`${key}a`), cache.get(`${key}x`)!.value], [false, "new"]);
    assertEquals(cache.get(`${key}x`)!.createRevision, header.revision);
  });

  await step("gives ranges in the order of keys", async ({ client, key }) => {
    for (let i = 0; i < 20; i++) {
      await client.put({ key: `${key}${String(i).padStart(2, "0")}`, value: "" });
    }
    await using cache = client.cache({ prefix: key });
    await cache.ready();
    const names = (range: kv.CacheRange) =>
      [...cache.entries(range)].map((one) => one.key.slice(key.length)).join(" ");
    assertEquals(names({ prefix: `${key}1` }), "10 11 12 13 14 15 16 17 18 19");
    assertEquals(names({ from: `${key}17` }), "17 18 19");
    assertEquals(names({ from: `${key}03`, end: `${key}05` }), "03 04");
    assertEquals(names({ end: `${key}02`, reverse: true }), "01 00");
    assertEquals(names({ prefix: `${key}x` }), "");
    assertThrows(() => names({ prefix: key, from: key }), TypeError, "they exclude each other");
  });

  await step("tells what happens, to each reader", async ({ client, key }) => {
    await client.put({ key: `${key}a`, value: "1" });
    await using cache = client.cache({ prefix: key });
    await cache.ready();
    const plain = gather(cache);
    const initial = gather(cache, { initial: true });
    await until("the reader began", () => initial.events.length === 1);
    await client.put({ key: `${key}a`, value: "2" });
    await client.put({ key: `${key}b`, value: "1" });
    await client.delete({ key, prefix: true });
    await until("all events came", () => plain.events.length === 4);
    await until("all events came", () => initial.events.length === 5);
    const changes = [`update ${key}a`, `add ${key}b`, `delete ${key}a`, `delete ${key}b`];
    assertEquals(plain.events, changes);
    assertEquals(initial.events, [`add ${key}a`, ...changes]);
    await cache.close();
    await Promise.all([plain.over, initial.over]);
    assertEquals(cache.state, "closed");
    assertThrows(() => cache.get(`${key}a`), kv.KvError, "the cache was closed");
    await assertRejects(() => cache.ready(), kv.KvError, "the cache was closed");
    await assertRejects(() => cache.waitForRevision(1n), kv.KvError, "the cache was closed");
  });

  await step("events begin with their call, or when the cache is ready", async (s) => {
    const { client, key } = s;
    await client.put({ key: `${key}a`, value: "" });
    await using cache = client.cache({ prefix: key });
    const early = cache.events({ initial: true });
    await cache.ready();
    const late = cache.events();
    await cache.waitForRevision((await client.put({ key: `${key}b`, value: "" })).header.revision);
    const keys = async (events: AsyncIterator<kv.CacheEvent, void>, count: number) => {
      const found: string[] = [];
      for (let i = 0; i < count; i++) {
        const event = (await events.next()).value!;
        found.push(event.type === "resync" ? event.type : event.kv.key);
      }
      return found;
    };
    assertEquals(await keys(early, 2), [`${key}a`, `${key}b`]);
    assertEquals(await keys(late, 1), [`${key}b`]);
    await cache.events().return();
    const given = new AbortController();
    const ending = cache.events({ signal: given.signal });
    const last = ending.next();
    given.abort();
    assertEquals((await last).done, true);
    assertEquals((await cache.events({ signal: given.signal }).next()).done, true);
    await cache.close();
    assertEquals((await early.next()).done, true);
    assertEquals((await cache.events({ initial: true }).next()).done, true);
  });

  await step("values of events are those before and behind", async ({ client, key }) => {
    await using cache = client.cache({ prefix: key });
    await cache.ready();
    const events = cache.events();
    const first = events.next();
    await client.put({ key, value: "1" });
    await client.put({ key, value: "2" });
    const { header } = await client.delete({ key });
    const given = [
      (await first).value!,
      (await events.next()).value!,
      (await events.next()).value!,
    ];
    assertEquals(
      given.map((event) => [
        event.type,
        event.type !== "resync" && event.kv.value,
        event.type === "update" && event.previous.value,
      ]),
      [["add", "1", false], ["update", "2", "1"], ["delete", "2", false]],
    );
    assertEquals(given[2]!.revision, header.revision);
    await events.return();
  });

  await step("a slow reader loses its events, and is told", async ({ client, key }) => {
    await using cache = client.cache({ prefix: key, maxEvents: 5 });
    await cache.ready();
    const events = cache.events();
    const first = events.next();
    const put = async (i: number) =>
      (await client.put({ key: key + i, value: "" })).header.revision;
    await cache.waitForRevision(await put(0));
    assertEquals((await first).value!.type, "add");
    for (let i = 1; i < 9; i++) await cache.waitForRevision(await put(i));
    const lost = (await events.next()).value!;
    assertEquals(lost, { type: "resync", reason: "overflow", revision: cache.revision });
    await put(9);
    const next = (await events.next()).value!;
    assertEquals(next.type === "add" && next.kv.key, `${key}9`);
    await events.return();
  });

  await step("linearizable reads see what was written before them", async ({ client, key }) => {
    await using cache = client.cache({ prefix: key });
    await cache.ready();
    const random = new Random(3);
    for (let i = 0; i < 100; i++) {
      const name = `${key}${random.below(5)}`;
      // Also of a store that changes elsewhere.
      await client.put({ key: `x${key}`, value: "" });
      if (random.below(3) === 0) await client.delete({ key: name });
      else await client.put({ key: name, value: String(i) });
      const { kvs: [now] } = await client.get({ key: name });
      if (i % 2 === 0) {
        assertEquals((await cache.get(name, { linearizable: true }))?.value, now?.value);
      } else {
        await cache.sync();
        assertEquals(cache.get(name)?.value, now?.value);
        assertEquals(
          contents(cache),
          contents((await client.get({ key, prefix: true })).kvs),
        );
      }
    }
    await Promise.all(Array.from({ length: 50 }, async (_, i) => {
      await client.put({ key: `${key}many${i}`, value: "" });
      await cache.sync();
      assert(cache.has(`${key}many${i}`));
    }));
  });

  await step("what cannot catch up in time says so", async (s) => {
    await s.client.put({ key: s.key, value: "1" });
    await through(s, async (proxy, client) => {
      await using cache = client.cache({ prefix: s.key });
      await cache.ready();
      proxy.mode = "hold";
      for (
        const wait of [
          () => cache.sync({ timeout: 100 }),
          () => cache.get(s.key, { linearizable: true, timeout: 100 }),
          () => cache.waitForRevision(cache.revision + 5n, { timeout: 100 }),
        ]
      ) {
        assertEquals((await rejected(Promise.resolve(wait()), kv.KvError)).code, 4);
      }
      const given = new AbortController();
      const waiting = cache.waitForRevision(2n ** 62n, { signal: given.signal });
      given.abort();
      assertEquals((await rejected(waiting, kv.KvError)).code, 1);
      assertEquals(cache.get(s.key)!.value, "1");
      proxy.mode = "pass";
      await cache.sync();
    });
  });

  await step("reads all anew when history was compacted, and tells what differs", async (s) => {
    for (const name of ["kept", "changed", "gone"]) {
      await s.client.put({ key: s.key + name, value: "1" });
    }
    await through(s, async (proxy, client) => {
      await using cache = client.cache({ prefix: s.key });
      await cache.ready();
      const { events } = gather(cache);
      proxy.mode = "refuse";
      proxy.drop();
      await s.client.put({ key: `${s.key}changed`, value: "2" });
      await s.client.put({ key: `${s.key}new`, value: "2" });
      await s.client.delete({ key: `${s.key}gone` });
      const { header } = await s.client.put({ key: `x${s.key}`, value: "" });
      await s.client.compact({ revision: header.revision });
      const reached = cache.waitForRevision(header.revision);
      assertEquals(cache.get(`${s.key}changed`)!.value, "1");
      proxy.mode = "pass";
      await reached;
      assertEquals(
        contents(cache),
        contents((await s.client.get({ key: s.key, prefix: true })).kvs),
      );
      await until("all events came", () => events.length === 4);
      assertEquals(events, [
        "resync compacted",
        `update ${s.key}changed`,
        `delete ${s.key}gone`,
        `add ${s.key}new`,
      ]);
      await until("it follows again", () => cache.state === "following");
      const { header: next } = await s.client.put({ key: `${s.key}more`, value: "" });
      await cache.waitForRevision(next.revision);
      await until("its event came", () => events.at(-1) === `add ${s.key}more`);
    });
  });

  await step("is what the store is, whatever breaks", async (s) => {
    await through(s, async (proxy, client) => {
      const random = new Random(11);
      await using cache = client.cache({ prefix: s.key });
      await cache.ready();
      const copy = new Map([...cache].map((one) => [one.key, one.value]));
      let resyncs = 0;
      const following = (async () => {
        for await (const event of cache.events()) {
          if (event.type === "resync") resyncs++;
          else if (event.type === "delete") copy.delete(event.kv.key);
          else {
            assertEquals(copy.has(event.kv.key), event.type === "update");
            copy.set(event.kv.key, event.kv.value);
          }
        }
      })();
      await Promise.resolve();
      for (let round = 0; round < 12; round++) {
        let revision = 0n;
        for (let i = 0; i < 60; i++) {
          const key = `${s.key}${random.below(30)}`;
          revision = random.below(3) === 0
            ? (await s.client.delete({ key })).header.revision
            : (await s.client.put({ key, value: String(random.below(1_000)) })).header.revision;
          if (random.below(20) === 0) proxy.drop();
        }
        const { header } = await s.client.put({ key: `x${s.key}`, value: "" });
        if (round % 3 === 1) {
          proxy.mode = "refuse";
          proxy.drop();
          await s.client.put({ key: `${s.key}0`, value: "" });
          await s.client.compact({ revision: header.revision });
          proxy.mode = "pass";
        }
        await cache.sync({ timeout: 10_000 });
        assert(cache.revision >= revision || revision > header.revision);
        const now = contents((await s.client.get({ key: s.key, prefix: true })).kvs);
        assertEquals(contents(cache), now);
        await until("the reader has seen it", () => copy.size === cache.size);
        assertEquals(
          [...copy].sort(([a], [b]) => a < b ? -1 : 1),
          [...cache].map((one) => [one.key, one.value]),
        );
      }
      assert(resyncs > 0, "nothing was compacted under it");
      await cache.close();
      await following;
    });
  });

  await step("lists more keys than a page has, at one revision", async ({ client, key }) => {
    for (let i = 0; i < 60; i++) {
      await client.txn({
        success: Array.from({ length: 100 }, (_, j) => ({
          put: { key: `${key}${String(i * 100 + j).padStart(5, "0")}`, value: "0" },
        })),
      });
    }
    await using cache = client.cache({ prefix: key });
    // It changes while it is read.
    for (let i = 0; i < 50; i++) {
      await client.txn({
        success: [{ put: { key: `${key}00000`, value: String(i) } }, {
          put: { key: `${key}05999`, value: String(i) },
        }],
      });
      if (cache.state === "loading") continue;
      assertEquals(cache.get(`${key}00000`)!.value, cache.get(`${key}05999`)!.value);
    }
    await cache.ready();
    await cache.sync();
    assertEquals([cache.size, cache.get(`${key}05999`)!.value], [6_000, "49"]);
    // So many are not looked through where the watch can be asked how far it is.
    for (let i = 0; i < 20; i++) {
      await client.put({ key: `x${key}`, value: "" });
      if (i % 3 === 0) await client.delete({ key: `${key}0000${i % 10}` });
      if (i % 3 === 1) await client.put({ key: `${key}0000${i % 10}`, value: `again ${i}` });
      await client.put({ key: `x${key}`, value: "" });
      await Promise.all([cache.sync(), cache.sync()]);
      const changed = `${key}0000${i % 10}`;
      const { kvs: [now] } = await client.get({ key: changed });
      assertEquals(cache.get(changed)?.modRevision, now?.modRevision);
      const { count } = await client.get({ key, prefix: true, countOnly: true });
      assertEquals(cache.size, count);
    }
  });

  await step("of all keys, in any bytes", async ({ client, key }) => {
    const wild = Uint8Array.of(0xff, 0xff, ...new TextEncoder().encode(key));
    await client.put({ key: wild, value: Uint8Array.of(0, 0x80, 0xff) });
    await using cache = client.cache({ prefix: "" });
    await cache.ready();
    assertEquals(cache.get(wild)!.valueBytes, Uint8Array.of(0, 0x80, 0xff));
    assertEquals([...cache].at(-1)!.keyBytes, wild);
    const { count } = await client.get({ key: "", prefix: true, countOnly: true });
    assertEquals(cache.size, count);
    await client.delete({ key: wild });
    await cache.sync();
    assertEquals(cache.has(wild), false);
    await using ends = client.cache({ prefix: Uint8Array.of(0xff) });
    await ends.ready();
    assertEquals(ends.size, 0);
  });

  await step("works within a namespace", async ({ client, key }) => {
    await client.put({ key: `${key}a/x`, value: "1" });
    await client.put({ key: `${key}b/x`, value: "2" });
    const part = client.namespace(`${key}a/`);
    for (const prefix of ["", "x"]) {
      await using cache = part.cache({ prefix });
      await cache.ready();
      assertEquals([...cache].map((one) => one.key), ["x"]);
      const { header } = await part.put({ key: "xy", value: "3" });
      await cache.waitForRevision(header.revision);
      assertEquals((await cache.get("xy", { linearizable: true }))!.value, "3");
      await part.delete({ key: "xy" });
      await cache.sync();
      assertEquals([...cache.entries()].map((one) => one.key), ["x"]);
    }
  });

  await step("ends when it would be too large", async ({ client, key }) => {
    await client.put({ key, value: "x".repeat(1_000) });
    await using cache = client.cache({ prefix: key, maxBytes: 2_000 });
    await cache.ready();
    const { over } = gather(cache);
    over.catch(() => {});
    await client.put({ key: `${key}a`, value: "x".repeat(1_000) });
    const error = await rejected(over, kv.KvError);
    assertEquals([error.code, cache.state], [8, "failed"]);
    assert(error.message.includes("more than 2000 bytes in 2 keys"), error.message);
    assertThrows(() => cache.get(key), kv.KvError, "2000 bytes");
    await using small = client.cache({ prefix: key, maxBytes: 10 });
    await assertRejects(() => small.ready(), kv.KvError, "more than 10 bytes");
  });

  await step("closes at any moment, and its client too", async ({ etcd, client, key }) => {
    await client.cache({ prefix: key }).close();
    const cache = client.cache({ prefix: key });
    await cache.ready();
    await Promise.all([cache.close(), cache.close()]);
    const other = kv.newClient({ endpoints: [etcd.endpoint] });
    const orphan = other.cache({ prefix: key });
    await orphan.ready();
    await other.close();
    await until("it is told", () => orphan.state === "failed");
    await assertRejects(() => orphan.sync(), kv.ClientClosedError);
  });

  await step("wrong requests are told what to change", async (s) => {
    // deno-lint-ignore no-explicit-any
    const client = s.client as any;
    await using cache = client.cache({ prefix: s.key });
    await cache.ready();
    for (
      const [call, message] of [
        [() => client.cache(), "options must be an object"],
        [() => client.cache({}), "prefix must be a string or a Uint8Array"],
        [() => client.cache({ prefix: "", prefx: 1 }), 'did you mean "prefix"?'],
        [() => client.cache({ prefix: "", maxBytes: 0 }), "maxBytes must be"],
        [() => client.cache({ prefix: "", maxEvents: "5" }), "maxEvents must be"],
        [() => cache.get(5), "key must be a string"],
        [() => cache.get("elsewhere"), "must begin with the cache's prefix"],
        [() => cache.get(s.key, { linear: true }), 'no option "linear"'],
        [() => cache.entries({ form: "a" }).next(), 'did you mean "from"?'],
      ] as const
    ) assertThrows(call, TypeError, message);
    await assertRejects(() => cache.waitForRevision("5"), TypeError, "must be an integer");
    assertThrows(() => cache.events({ inital: 1 }), TypeError, '"initial"');
  });
});

Deno.test("a cache that cannot be filled goes on trying, and ready() says why", async () => {
  await using client = kv.newClient({ endpoints: ["127.0.0.1:1"], retry: 0 });
  await using cache = client.cache({ prefix: "" });
  const error = await rejected(cache.ready({ timeout: 300 }), kv.KvError);
  assertEquals([error.code, cache.state], [4, "loading"]);
  assert(error.message.includes("took longer than 300 ms; at last: "), error.message);
  assert(error.cause instanceof kv.KvError);
});
