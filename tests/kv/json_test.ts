import { assertEquals, assertStringIncludes } from "@std/assert";
import { kv } from "@sluice/sluice";
import { etcdTest, rejected } from "../../support/kv.ts";

etcdTest("what a client gives", async (step) => {
  await step("every response becomes JSON, and console.log shows it", async ({ client, key }) => {
    const { ID } = await client.grant({ TTL: 60 });
    const watch = await client.watch({ key, prefix: true });
    const responses = {
      put: await client.put({ key: `${key}a`, value: "1", lease: ID }),
      again: await client.put({ key: `${key}a`, value: "2", prevKv: true, lease: ID }),
      get: await client.get({ key, prefix: true }),
      txn: await client.txn({ success: [{ get: { key, prefix: true } }] }),
      ttl: await client.ttl({ ID, keys: true }),
      leases: await client.leases(),
      once: await client.keepAliveOnce(ID),
      delete: await client.delete({ key, prefix: true, prevKv: true }),
      watch: await watch.read(),
      revoke: await client.revoke({ ID }),
      compact: await client.compact({ revision: 2 }),
    };
    const read = JSON.parse(JSON.stringify(responses));
    assertEquals(read.get.header.revision, String(responses.get.header.revision));
    assertEquals(read.get.kvs[0].value, "2");
    assertEquals(read.txn.responses[0].get.kvs, read.get.kvs);
    assertEquals(read.again.prevKv.value, "1");
    assertEquals(read.ttl.ID, String(ID));
    assertEquals(read.ttl.keysBytes, [btoa(`${key}a`)]);
    assertEquals(read.leases.leases, [{ ID: String(ID) }]);
    assertEquals(read.watch.events[0].kv.key, `${key}a`);
    const shown = Deno.inspect(responses, { depth: 10 });
    for (const text of [`${ID}n`, `"${key}a"`, 'value: "2"', "grantedTTL: 60"]) {
      assertStringIncludes(shown, text);
    }
    assertEquals(shown.includes("toJSON"), false);
  });

  await step("copies of a key value have its texts, whatever its size", async (scene) => {
    for (const value of ["small", "x".repeat(10_000)]) {
      await scene.client.put({ key: scene.key, value });
      const { kvs: [one] } = await scene.client.get({ key: scene.key });
      const copies = [{ ...one! }, structuredClone(one!), Object.assign({}, one)];
      for (const copy of copies) {
        assertEquals([copy.key, copy.value, copy.modRevision], [
          scene.key,
          value,
          one!.modRevision,
        ]);
        assertEquals(new TextDecoder().decode(copy.valueBytes), value);
      }
      assertEquals(JSON.parse(JSON.stringify(one)).value, value);
    }
    const response = structuredClone(await scene.client.get({ key: scene.key }));
    assertEquals(typeof response.header.revision, "bigint");
  });

  await step("errors become JSON", async ({ client, key }) => {
    await client.put({ key, value: "" });
    const { header } = await client.put({ key, value: "" });
    await client.compact({ revision: header.revision });
    const watch = await client.watch({ key, revision: 1 });
    const error = await rejected(watch.read(), kv.CompactedError);
    const { name, reason, compactRevision } = JSON.parse(JSON.stringify(error));
    assertEquals([name, reason, compactRevision], [
      "CompactedError",
      "COMPACTED",
      String(header.revision),
    ]);
  });
});
