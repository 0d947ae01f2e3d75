import { assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { code } from "../../grpc/mod.ts";
import { etcdTest, readEvents, rejected } from "../../support/kv.ts";
import { Random } from "../../support/random.ts";

const textsOf = (kvs: readonly kv.KeyValue[]) => kvs.map(({ key, value }) => `${key}=${value}`);

etcdTest("a namespace", async (step) => {
  await step("put, get and delete see the keys of the prefix alone, without it", async (scene) => {
    const { client } = scene;
    const app = client.namespace(scene.key);
    await client.put({ key: `${scene.key.slice(0, -1)}0`, value: "behind" });
    await client.put({ key: scene.key.slice(0, -1), value: "before" });
    await app.put({ key: "a", value: "1" });
    const { prevKv } = await app.put({ key: "a", value: "2", prevKv: true });
    assertEquals([prevKv?.key, prevKv?.value], ["a", "1"]);
    await app.put({ key: "b/1", value: "3" });
    await app.put({ key: "\xff", value: "4" });
    const all = ["a=2", "b/1=3", "\xff=4"];
    assertEquals(textsOf((await app.get({ key: "", prefix: true })).kvs), all);
    assertEquals(textsOf((await app.get({ key: "", fromKey: true })).kvs), all);
    assertEquals(textsOf((await app.get({ key: "b", fromKey: true })).kvs), all.slice(1));
    assertEquals(textsOf((await app.get({ key: "b/", prefix: true })).kvs), ["b/1=3"]);
    assertEquals(textsOf((await app.get({ key: "a", rangeEnd: "b" })).kvs), ["a=2"]);
    assertEquals(textsOf((await app.get({ key: "a", rangeEnd: "\0" })).kvs), all);
    assertEquals(
      textsOf((await client.get({ key: `${scene.key}a` })).kvs),
      [`${scene.key}a=2`],
    );
    const gone = await app.delete({ key: "", prefix: true, prevKv: true });
    assertEquals([gone.deleted, textsOf(gone.prevKvs)], [3, all]);
    assertEquals((await client.get({ key: `${scene.key.slice(0, -1)}0` })).count, 1);
    assertEquals((await client.get({ key: scene.key.slice(0, -1) })).count, 1);
  });

  await step(
    "txn compares, changes and reads its keys, in transactions inside too",
    async (scene) => {
      const app = scene.client.namespace(scene.key).namespace("deep/");
      assertEquals(app.prefix, "deep/");
      await app.put({ key: "c", value: "3" });
      const response = await app.txn({
        compare: [{ key: "a", version: 0 }, { key: "", prefix: true, version: 1 }],
        success: [
          { put: { key: "a", value: "1" } },
          { txn: { success: [{ put: { key: "b", value: "2", prevKv: true } }] } },
          { get: { key: "", prefix: true } },
          { delete: { key: "c", prevKv: true } },
        ],
      });
      const [, , get, gone] = response.responses;
      assertEquals(response.succeeded, true);
      assertEquals("get" in get! && textsOf(get.get.kvs), ["a=1", "b=2", "c=3"]);
      assertEquals("delete" in gone! && textsOf(gone.delete.prevKvs), ["c=3"]);
      assertEquals((await scene.client.get({ key: `${scene.key}deep/b` })).count, 1);
      assertEquals((await app.txn({ compare: [{ key: "b", value: "2" }] })).succeeded, true);
    },
  );

  await step("watches give its events, without the prefix", async ({ client, key }) => {
    const app = client.namespace(key);
    using watch = await app.watch({ key: "", prefix: true, prevKv: true });
    using one = await app.watch({ key: "b" });
    await client.put({ key: `${key.slice(0, -1)}0`, value: "foreign" });
    await app.put({ key: "a", value: "1" });
    await app.put({ key: "a", value: "2" });
    await app.delete({ key: "a" });
    await app.put({ key: "b", value: "3" });
    const events = await readEvents(watch, 4);
    assertEquals(
      events.map(({ type, kv, prevKv }) => `${type} ${kv.key}=${kv.value} was ${prevKv?.value}`),
      ["PUT a=1 was undefined", "PUT a=2 was 1", "DELETE a= was 2", "PUT b=3 was undefined"],
    );
    assertEquals(events[2]?.prevKv?.key, "a");
    assertEquals((await readEvents(one, 1))[0]?.kv.key, "b");
  });

  await step(
    "leases are the cluster's; their keys are the namespace's",
    async ({ client, key }) => {
      const app = client.namespace(key);
      const { ID } = await app.grant({ TTL: 60 });
      await app.put({ key: "a", value: "1", lease: ID });
      await client.put({ key: `${key.slice(0, -1)}0`, value: "", lease: ID });
      assertEquals((await app.ttl({ ID, keys: true })).keys, ["a"]);
      JSON.stringify(await app.ttl({ ID, keys: true }));
      const signal = app.leaseSignal(ID);
      app.stopKeepAlive(ID);
      assertEquals(signal.aborted, true);
      await app.keepalive(ID);
      assertEquals((await app.keepAliveOnce(ID)).TTL, 60);
      await app.revoke({ ID });
      assertEquals((await app.get({ key: "", prefix: true })).count, 0);
    },
  );

  await step(
    "the empty key does not exist, and wrong requests are refused",
    async ({ client, key }) => {
      const app = client.namespace(key);
      const calls = [
        () => app.put({ key: "", value: "" }),
        () => app.get({ key: "" }),
        () => app.delete({ key: "" }),
        () => app.txn({ success: [{ get: { key: "" } }] }),
        () => app.txn({ compare: [{ key: "", version: 0 }] }),
        () => app.watch({ key: "" }),
      ];
      for (const call of calls) {
        const error = await rejected(call(), kv.KvError);
        assertEquals([error.reason, error.code], ["KEY_NOT_PROVIDED", code.INVALID_ARGUMENT]);
      }
      for (const request of [null, 5, { kye: "a" }, { key: 5 }, { key: "a", prefix: 1 }]) {
        await rejected(app.get(request as unknown as kv.GetRequest), TypeError);
        await rejected(app.txn(request as unknown as kv.TxnRequest), TypeError);
      }
      await rejected(app.txn({ success: [null as unknown as kv.TxnOperation] }), TypeError);
      await rejected(app.txn({ success: "x" as unknown as kv.TxnOperation[] }), TypeError);
    },
  );

  await step("ranges are what they are on a store of its keys alone", async ({ client, key }) => {
    // The model: the same keys and ranges without a namespace, behind a prefix nothing else has.
    const prefixes = ["", "\xff\xff", "a\0", "\xfe\xff", "m"].map((one) =>
      Uint8Array.from(one, (c) => c.charCodeAt(0))
    );
    for (let seed = 1; seed <= 20; seed++) {
      const random = new Random(seed);
      const begin = new TextEncoder().encode(`${key}${seed}/`);
      const own = prefixes[random.below(prefixes.length)]!;
      const app = client.namespace(begin).namespace(own);
      const model = new Map<string, Uint8Array>();
      const some = () =>
        Uint8Array.from(
          { length: 1 + random.below(2) },
          () => [0, 1, 97, 254, 255][random.below(5)]!,
        );
      for (let i = 0; i < 8; i++) {
        const one = some();
        model.set(one.join(), one);
        await app.put({ key: one, value: "" });
      }
      const compare = (a: Uint8Array, b: Uint8Array) => {
        for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
        return a.length - b.length;
      };
      const sorted = [...model.values()].sort(compare);
      for (let i = 0; i < 8; i++) {
        const from = some();
        const to = some();
        const cases: [Partial<kv.GetRequest>, (one: Uint8Array) => boolean][] = [
          [{}, (one) => compare(one, from) === 0],
          [{ fromKey: true }, (one) => compare(one, from) >= 0],
          [{ prefix: true }, (one) => from.every((byte, i) => one[i] === byte)],
          [
            { rangeEnd: to },
            (one) => compare(one, from) >= 0 && (to.join() === "0" || compare(one, to) < 0),
          ],
        ];
        for (const [range, wanted] of cases) {
          const { kvs } = await app.get({ key: from, ...range });
          assertEquals(
            kvs.map((one) => [...one.keyBytes]),
            sorted.filter(wanted).map((one) => [...one]),
          );
        }
      }
    }
  });
});
