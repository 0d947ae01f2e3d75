/** Cases of integration/clientv3/kv_test.go. */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { rejected } from "../../../support/kv.ts";
import { etcdCase } from "./case.ts";

const MIB = 2 ** 20;

etcdCase("TestKVPutError", async ({ client }) => {
  assertEquals(
    (await rejected(client.put({ key: "", value: "bar" }), kv.KvError)).reason,
    "KEY_NOT_PROVIDED",
  );
  const large = await rejected(
    client.put({ key: "key", value: "a".repeat(1.5 * MIB + 100) }),
    kv.KvError,
  );
  assertEquals(large.reason, "REQUEST_TOO_LARGE");
  const value = "a".repeat(1.5 * MIB - 50);
  await client.put({ key: "foo1", value });
  // The size is known with a delay, when what was put is on the disk.
  let last: Error | undefined;
  for (let i = 0; i < 200 && last === undefined; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    [, last] = await kv.attempt(client.put({ key: "foo2", value }, { idempotent: true }));
  }
  assert(last instanceof kv.KvError);
  assertEquals(last.reason, "NO_SPACE");
}, { flags: [`--quota-backend-bytes=${Math.floor(1.5 * MIB * 1.2) + 8 * 4_096}`] });

etcdCase("TestKVPutWithLease", async ({ client, client2 }) => {
  const { ID } = await client2().grant({ TTL: 10 });
  await client.put({ key: "hello", value: "world", lease: ID });
  const { kvs } = await client.get({ key: "hello" });
  assertEquals(kvs.map(({ value, lease }) => [value, lease]), [["world", ID]]);
});

etcdCase("TestKVPutWithIgnoreValue", async ({ client }) => {
  const missing = client.put({ key: "foo", ignoreValue: true });
  assertEquals((await rejected(missing, kv.KvError)).reason, "KEY_NOT_FOUND");
  await client.put({ key: "foo", value: "bar" });
  await client.put({ key: "foo", ignoreValue: true });
  const { kvs } = await client.get({ key: "foo" });
  assertEquals(kvs.map(({ value, version }) => [value, version]), [["bar", 2]]);
});

etcdCase("TestKVPutWithIgnoreLease", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 10 });
  const missing = client.put({ key: "zoo", value: "bar", ignoreLease: true });
  assertEquals((await rejected(missing, kv.KvError)).reason, "KEY_NOT_FOUND");
  await client.put({ key: "zoo", value: "bar", lease: ID });
  await client.put({ key: "zoo", value: "bar1", ignoreLease: true });
  const { kvs } = await client.get({ key: "zoo" });
  assertEquals(kvs.map(({ value, lease }) => [value, lease]), [["bar1", ID]]);
});

etcdCase("TestKVPutWithRequireLeader", async ({ cluster, client2 }) => {
  const [first, ...others] = cluster.members;
  const client = client2({ endpoints: [first!.clients.endpoint], retry: 1 });
  await client.get({ key: "foo" });
  for (const member of others) await member.halt();
  // Without a leader a put gets no answer in time, and what it does is not known to be nothing.
  const error = await rejected(client.put({ key: "foo", value: "bar" }, 2_000), kv.KvError);
  assert(
    error instanceof kv.UnknownOutcomeError || error.reason === "NO_LEADER",
    error.message,
  );
}, { members: 3 });

etcdCase("TestKVRange", async ({ client }) => {
  for (const key of ["a", "b", "c", "c", "c", "foo", "foo/abc", "fop"]) {
    await client.put({ key, value: "" });
  }
  const { header } = await client.get({ key: "a" });
  const all = await client.get({
    key: "\0",
    fromKey: true,
    sortOrder: "ASCEND",
    sortTarget: "KEY",
  });
  assertEquals(all.header, header);
  assertEquals(
    all.kvs.map((one) => [one.key, one.createRevision, one.modRevision, one.version]),
    [
      ["a", 2n, 2n, 1],
      ["b", 3n, 3n, 1],
      ["c", 4n, 6n, 3],
      ["foo", 7n, 7n, 1],
      ["foo/abc", 8n, 8n, 1],
      ["fop", 9n, 9n, 1],
    ],
  );
});

etcdCase("TestKVGetErrConnClosed", async ({ client }) => {
  await client.get({ key: "foo" });
  await client.close();
  await rejected(client.get({ key: "foo" }), kv.ClientClosedError);
});

etcdCase("TestKVNewAfterClose", async ({ client }) => {
  await client.close();
  const error = await rejected(client.get({ key: "foo" }), kv.ClientClosedError);
  assertEquals(error.code, grpc.code.CANCELLED);
});

etcdCase("TestKVDeleteRange", async ({ client }) => {
  for (const key of ["a", "b", "c", "c/abc", "d"]) await client.put({ key, value: "" });
  assertEquals((await client.delete({ key: "\0", fromKey: true })).deleted, 5);
  assertEquals((await client.get({ key: "a", fromKey: true })).kvs, []);
});

etcdCase("TestKVCompactError", async ({ client }) => {
  for (let i = 0; i < 5; i++) await client.put({ key: "foo", value: "bar" });
  await client.compact({ revision: 6 });
  await rejected(client.compact({ revision: 6 }), kv.CompactedError);
  const future = await rejected(client.compact({ revision: 100 }), kv.KvError);
  assertEquals(future.reason, "FUTURE_REVISION");
});

etcdCase("TestKVCompact", async ({ client, client2 }) => {
  for (let i = 0; i < 10; i++) await client.put({ key: "foo", value: "bar" });
  await client.compact({ revision: 7 });
  await rejected(client.compact({ revision: 7 }), kv.CompactedError);
  const watcher = client2();
  // The member the watch is on may not have seen the compaction yet.
  await watcher.get({ key: "quorum-get" });
  const watch = await watcher.watch({ key: "foo", revision: 3 });
  const error = await rejected(watch.read(10_000), kv.CompactedError);
  assertEquals(error.compactRevision, 7n);
  assertStrictEquals(await rejected(watch.read(10_000), kv.CompactedError), error);
  const future = await rejected(client.compact({ revision: 1_000 }), kv.KvError);
  assertEquals(future.reason, "FUTURE_REVISION");
});

etcdCase("TestKVGetKeysOnlyWithCountOnly", async ({ client }) => {
  for (const key of ["a", "b", "c", "c", "c", "foo", "foo/abc", "fop"]) {
    await client.put({ key, value: "" });
  }
  const { header } = await client.get({ key: "a" });
  const counted = await client.get({ key: "", fromKey: true, countOnly: true, keysOnly: true });
  assertEquals([counted.header, counted.count, counted.kvs], [header, 6, []]);
});

etcdCase("TestKVGetRetry", async ({ cluster, client, client2 }) => {
  const [member] = cluster.members;
  await client.put({ key: "foo", value: "bar" });
  const one = client2({ endpoints: [member!.clients.endpoint] });
  await one.get({ key: "foo" });
  await member!.halt();
  const getting = one.get({ key: "foo" });
  member!.launch();
  const { kvs } = await getting;
  assertEquals(
    kvs.map(({ key, value, createRevision, modRevision, version }) => [
      key,
      value,
      createRevision,
      modRevision,
      version,
    ]),
    [["foo", "bar", 2n, 2n, 1]],
  );
}, { members: 3 });

etcdCase("TestKVPutFailGetRetry", async ({ cluster, client2 }) => {
  const [member] = cluster.members;
  const one = client2({ endpoints: [member!.clients.endpoint] });
  await one.get({ key: "foo" });
  await member!.halt();
  await rejected(one.put({ key: "foo", value: "bar" }, 1_000), kv.KvError);
  const getting = one.get({ key: "foo" });
  member!.launch();
  assertEquals((await getting).kvs, []);
}, { members: 3 });

etcdCase("TestKVGetCancel", async ({ cluster, client }) => {
  await client.get({ key: "abc" });
  const { accepted } = cluster.members[0]!.clients;
  const error = await rejected(
    client.get({ key: "abc" }, { signal: AbortSignal.abort() }),
    kv.KvError,
  );
  assertEquals(error.code, grpc.code.CANCELLED);
  await client.get({ key: "abc" });
  assertEquals(cluster.members[0]!.clients.accepted, accepted);
});

etcdCase("TestKVGetStoppedServerAndClose", async ({ cluster, client }) => {
  await client.get({ key: "abc" });
  await cluster.members[0]!.halt();
  await rejected(client.get({ key: "abc" }, 300), kv.KvError);
  await client.close();
});

etcdCase("TestKVPutStoppedServerAndClose", async ({ cluster, client }) => {
  await client.get({ key: "abc" });
  await cluster.members[0]!.halt();
  await rejected(client.get({ key: "abc" }, 300), kv.KvError);
  await rejected(client.put({ key: "abc", value: "123" }, 300), kv.KvError);
  await client.close();
});

etcdCase("TestKVPutAtMostOnce", async ({ cluster, client }) => {
  await client.put({ key: "k", value: "1" });
  let puts = 0;
  for (let i = 0; i < 10; i++) {
    const putting = kv.attempt(client.put({ key: "k", value: "v" }));
    let done = false;
    putting.then(() => done = true);
    for (let j = 0; j < 10 && !done; j++) {
      cluster.members[0]!.clients.drop();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const [, error] = await putting;
    puts++;
    if (error !== undefined) break;
  }
  const { kvs } = await client.get({ key: "k" });
  assert(kvs[0]!.version <= 1 + puts, `${kvs[0]!.version} versions by ${1 + puts} puts`);
});

etcdCase("TestKVLargeRequests", async ({ client, client2 }) => {
  const value = "a".repeat(5 * MIB);
  await client.put({ key: "foo", value });
  const { kvs } = await client.get({ key: "foo" });
  assertStrictEquals(kvs[0]!.value, value);
  // Of what is more than the server takes, its own limit tells, or the transport's above it.
  const above = await rejected(
    client.put({ key: "foo", value: "a".repeat(7.5 * MIB + 1) }),
    kv.KvError,
  );
  assertEquals(above.reason, "REQUEST_TOO_LARGE");
  const far = await rejected(client.put({ key: "foo", value: "a".repeat(12 * MIB) }), kv.KvError);
  assertEquals(far.code, grpc.code.RESOURCE_EXHAUSTED);
  const small = client2({ maxReceiveSize: 4 * MIB });
  assertEquals(
    (await rejected(small.get({ key: "foo" }), kv.KvError)).code,
    grpc.code.RESOURCE_EXHAUSTED,
  );
  assertEquals((await client.get({ key: "foo" })).kvs[0]!.version, 1);
}, { flags: [`--max-request-bytes=${7.5 * MIB}`] });

etcdCase("TestKVForLearner", async ({ cluster, client2 }) => {
  const learner = await cluster.add({ learner: true });
  await learner.ready();
  const one = client2({ endpoints: [learner.clients.endpoint], retry: 1 });
  await one.get({ key: "foo", serializable: true });
  const refused = [
    one.get({ key: "foo" }),
    one.put({ key: "foo", value: "bar" }),
    one.delete({ key: "foo" }),
    one.txn({ compare: [{ key: "foo", createRevision: 0 }] }),
  ];
  for (const call of refused) {
    assertEquals((await rejected(call, kv.KvError)).reason, "NOT_SUPPORTED_FOR_LEARNER");
  }
}, { beyond: "members" });

etcdCase("TestBalancerSupportLearner", async ({ cluster, client2 }) => {
  const learner = await cluster.add({ learner: true });
  await learner.ready();
  const alone = client2({ endpoints: [learner.clients.endpoint], retry: 1 });
  await rejected(alone.get({ key: "foo" }), kv.KvError);
  const both = client2({
    endpoints: [learner.clients.endpoint, cluster.members[0]!.clients.endpoint],
  });
  for (let i = 0; i < 10; i++) {
    await both.get({ key: "foo" });
    await both.put({ key: "foo", value: "bar" });
  }
}, { beyond: "members" });
