/** Cases of integration/clientv3/txn_test.go. */
import { assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { rejected } from "../../../support/kv.ts";
import { etcdCase } from "./case.ts";

etcdCase("TestTxnError", async ({ client }) => {
  const twice = client.txn({
    success: [{ put: { key: "foo", value: "bar1" } }, { put: { key: "foo", value: "bar2" } }],
  });
  assertEquals((await rejected(twice, kv.KvError)).reason, "DUPLICATE_KEY");
  const many = client.txn({
    success: Array.from({ length: 138 }, (_, i) => ({ put: { key: `foo${i}`, value: "" } })),
  });
  assertEquals((await rejected(many, kv.KvError)).reason, "TOO_MANY_OPS");
});

etcdCase("TestTxnWriteFail", async ({ cluster, client2 }) => {
  const [first, second] = cluster.members;
  const one = client2({ endpoints: [first!.clients.endpoint] });
  await first!.halt();
  await rejected(one.txn({ success: [{ put: { key: "foo", value: "bar" } }] }, 1_000), kv.KvError);
  const other = client2({ endpoints: [second!.clients.endpoint] });
  assertEquals((await other.get({ key: "foo" })).kvs, []);
}, { members: 3 });

etcdCase("TestTxnReadRetry", async ({ cluster, client2 }) => {
  const [member] = cluster.members;
  const one = client2({ endpoints: [member!.clients.endpoint] });
  const reads: kv.TxnOperation[][] = [
    [{ get: { key: "foo" } }],
    [{ txn: { success: [{ get: { key: "foo" } }] } }],
    [{ txn: {} }],
    [],
  ];
  for (const success of reads) {
    await member!.halt();
    const reading = one.txn({ success });
    member!.launch();
    assertEquals((await reading).responses.length, success.length);
    await member!.ready();
  }
}, { members: 3 });

etcdCase("TestTxnSuccess", async ({ client }) => {
  await client.txn({ success: [{ put: { key: "foo", value: "bar" } }] });
  const { kvs } = await client.get({ key: "foo" });
  assertEquals(kvs.map(({ key }) => key), ["foo"]);
});

etcdCase("TestTxnCompareRange", async ({ client }) => {
  const { header } = await client.put({ key: "foo/", value: "bar" });
  await client.put({ key: "foo/a", value: "baz" });
  const { succeeded } = await client.txn({
    compare: [{ key: "foo/", prefix: true, createRevision: header.revision }],
  });
  assertEquals(succeeded, false);
});

etcdCase("TestTxnNested", async ({ client }) => {
  const { succeeded, responses } = await client.txn({
    compare: [{ key: "foo", version: 0 }],
    success: [
      { put: { key: "foo", value: "bar" } },
      { txn: { success: [{ put: { key: "abc", value: "123" } }] } },
    ],
    failure: [{ put: { key: "foo", value: "baz" } }],
  });
  assertEquals([succeeded, responses.length], [true, 2]);
  assertEquals((await client.get({ key: "foo" })).kvs[0]!.value, "bar");
  assertEquals((await client.get({ key: "abc" })).kvs[0]!.value, "123");
});
