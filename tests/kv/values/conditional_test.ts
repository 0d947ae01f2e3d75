import { assert, assertEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { etcdTest, rejected } from "../../../support/kv.ts";

etcdTest("conditional writes", async (step) => {
  await step("putIfAbsent() puts once, and gives what there is", async ({ client, key }) => {
    const first = await client.putIfAbsent({ key, value: "1" });
    assertEquals([first.succeeded, first.kv], [true, undefined]);
    const second = await client.putIfAbsent({ key, value: "2" });
    assertEquals([second.succeeded, second.kv?.value], [false, "1"]);
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) => client.putIfAbsent({ key: `${key}x`, value: `${i}` })),
    );
    assertEquals(all.filter((one) => one.succeeded).length, 1);
  });

  await step(
    "putIfUnchanged() and deleteIfUnchanged() compare revisions",
    async ({ client, key }) => {
      const { header } = await client.put({ key, value: "1" });
      const stale = await client.putIfUnchanged({ key, value: "2" }, header.revision - 1n);
      assertEquals([stale.succeeded, stale.kv?.value], [false, "1"]);
      const fresh = await client.putIfUnchanged({ key, value: "2" }, header.revision);
      assertEquals(fresh.succeeded, true);
      assertEquals((await client.deleteIfUnchanged(key, header.revision)).succeeded, false);
      assertEquals((await client.deleteIfUnchanged(key, fresh.header.revision)).succeeded, true);
      const gone = await client.deleteIfUnchanged(key, fresh.header.revision);
      assertEquals([gone.succeeded, gone.kv], [false, undefined]);
      assertEquals(
        (await client.namespace(key).putIfAbsent({ key: "a", value: "" })).succeeded,
        true,
      );
    },
  );

  await step("update() loses nothing when many count at once", async ({ client, key }) => {
    const count = () => client.update(key, (kv) => String(Number(kv?.value ?? 0) + 1));
    await Promise.all(Array.from({ length: 30 }, count));
    assertEquals((await client.get({ key })).kvs[0]?.value, "30");
  });

  await step("update() removes, leaves alone, and keeps the lease", async ({ client, key }) => {
    const { ID } = await client.grant({ TTL: 60 });
    const made = await client.update(key, (kv) => kv === undefined ? "1" : "old", { lease: ID });
    assertEquals([made.updated, made.prevKv], [true, undefined]);
    const next = await client.update(key, (kv) => `${kv!.value}2`);
    assertEquals([next.updated, next.prevKv?.value], [true, "1"]);
    const { kvs: [one] } = await client.get({ key });
    assertEquals([one!.value, one!.lease], ["12", ID]);
    assertEquals((await client.update(key, () => undefined)).updated, false);
    assertEquals((await client.get({ key })).kvs[0]!.version, 2);
    assertEquals((await client.update(key, () => Promise.resolve(null))).updated, true);
    assertEquals((await client.update(key, () => null)).updated, false);
    assertEquals((await client.get({ key })).count, 0);
  });

  await step("update() tells what its function throws, and gives up when outrun", async (scene) => {
    const { client, key } = scene;
    const thrown = await rejected(
      client.update(key, () => Promise.reject(new RangeError("no"))),
      RangeError,
    );
    assertEquals(thrown.message, "no");
    let calls = 0;
    const outrun = await rejected(
      client.update(key, async () => {
        await client.put({ key, value: `${calls++}` });
        return "mine";
      }, { conflicts: 3 }),
      kv.KvError,
    );
    assertEquals([outrun.code, calls], [grpc.code.ABORTED, 4]);
    assert(outrun.message.includes("conflicts"));
    const late = await rejected(
      client.update(key, async () => {
        await client.put({ key, value: `${calls++}` });
        return "mine";
      }, { conflicts: 1e6, timeout: 100 }),
      kv.KvError,
    );
    assertEquals(late.code, grpc.code.DEADLINE_EXCEEDED);
    for (const wrong of [{ conflict: 1 }, { conflicts: -1 }, { lease: "x" }]) {
      await rejected(client.update(key, () => "x", wrong as kv.UpdateOptions), TypeError);
    }
    await rejected(client.update(key, "x" as unknown as kv.Update), TypeError);
  });

  await step("update() finds out what became of a write without an answer", async (scene) => {
    await using proxy = new FaultProxy({ target: scene.etcd.endpoint });
    await using client = kv.newClient({ endpoints: [proxy.endpoint], retrySleep: 20 });
    await client.put({ key: scene.key, value: "1" });
    let calls = 0;
    const updating = client.update(scene.key, async (kv) => {
      // The connection goes away with the write on it.
      if (calls++ === 0) queueMicrotask(() => proxy.drop());
      await Promise.resolve();
      return String(Number(kv!.value) + 1);
    });
    const [done, error] = await kv.attempt(updating);
    const value = (await scene.client.get({ key: scene.key })).kvs[0]!.value;
    // Told as unknown, or done once.
    if (error === undefined) assertEquals([done!.updated, value], [true, "2"]);
    else assert(error instanceof kv.UnknownOutcomeError, String(error));
  });
});
