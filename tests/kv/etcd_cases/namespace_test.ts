/** Cases of integration/clientv3/namespace_test.go. */
import { assertEquals } from "@std/assert";
import { readEvents } from "../../../support/kv.ts";
import { etcdCase } from "./case.ts";

etcdCase("TestNamespacePutGet", async ({ client }) => {
  const space = client.namespace("foo/");
  await space.put({ key: "abc", value: "bar" });
  assertEquals((await space.get({ key: "abc" })).kvs[0]!.key, "abc");
  assertEquals((await client.get({ key: "foo/abc" })).kvs[0]!.value, "bar");
});

etcdCase("TestNamespaceWatch", async ({ client }) => {
  const space = client.namespace("foo/");
  await space.put({ key: "abc", value: "bar" });
  for (const [keyspace, key] of [[space, "abc"], [client, "foo/abc"]] as const) {
    using watch = await keyspace.watch({ key, revision: 1 });
    const [event] = await readEvents(watch, 1);
    const { kv } = event!;
    assertEquals(
      [kv.key, kv.value, kv.createRevision, kv.modRevision, kv.version],
      [key, "bar", 2n, 2n, 1],
    );
  }
});
