/** Cases of integration/clientv3/watch/v3_watch_test.go and v3_watch_restore_test.go. */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { PROGRESS_FLAG, readEvents, rejected } from "../../../support/kv.ts";
import { etcdCase, type Stage, values } from "./case.ts";

/** No event comes, as far as one can see. */
async function nothing(watch: kv.Watch): Promise<void> {
  assertEquals((await rejected(watch.read(200), kv.KvError)).code, grpc.code.DEADLINE_EXCEEDED);
}

/** Type, key, created at and changed at. */
async function told(watch: kv.Watch, count: number): Promise<unknown[]> {
  return (await readEvents(watch, count)).map(({ type, kv }) => [
    type,
    kv.key,
    Number(kv.createRevision),
    Number(kv.modRevision),
  ]);
}

etcdCase("TestV3WatchFromCurrentRevision", async ({ client }) => {
  const put = async (keys: readonly string[]) => {
    for (const key of keys) await client.put({ key, value: "bar" });
  };
  const foo = await client.watch({ key: "foo" });
  const prefix = await client.watch({ key: "foo", prefix: true });
  const all = await client.watch({ key: "", prefix: true });
  const range = await client.watch({ key: "fooa", rangeEnd: "foob" });
  await put(["helloworld", "foo", "foo", "fooLong", "fooab"]);
  assertEquals(await told(foo, 2), [["PUT", "foo", 3, 3], ["PUT", "foo", 3, 4]]);
  assertEquals(await told(prefix, 4), [
    ["PUT", "foo", 3, 3],
    ["PUT", "foo", 3, 4],
    ["PUT", "fooLong", 5, 5],
    ["PUT", "fooab", 6, 6],
  ]);
  assertEquals((await told(all, 5)).length, 5);
  assertEquals(await told(range, 1), [["PUT", "fooab", 6, 6]]);
  for (const watch of [foo, prefix, all, range]) await nothing(watch);
});

etcdCase("TestV3WatchFutureRevision", async ({ client }) => {
  const watch = await client.watch({ key: "foo", revision: 10 });
  for (let revision = 2n; revision <= 12n; revision++) {
    const { header } = await client.put({ key: "foo", value: "bar" });
    assertEquals(header.revision, revision);
  }
  assertEquals(await told(watch, 3), [
    ["PUT", "foo", 2, 10],
    ["PUT", "foo", 2, 11],
    ["PUT", "foo", 2, 12],
  ]);
});

etcdCase("TestV3WatchWrongRange", async ({ client }) => {
  for (const [key, rangeEnd] of [["a", "a"], ["b", "a"]] as const) {
    const [watch, error] = await kv.attempt(client.watch({ key, rangeEnd }));
    const reason = error ?? await rejected(watch!.read(5_000), Error);
    assert(reason instanceof kv.KvError || reason instanceof TypeError, String(reason));
  }
  // Everything from a key on is a range.
  await client.watch({ key: "", fromKey: true });
});

/** A watch that was closed gives nothing more, others do. */
async function cancels({ client }: Stage, revision: number): Promise<void> {
  const watch = await client.watch({ key: "foo", revision });
  const other = await client.watch({ key: "foo", revision });
  watch.close();
  await client.put({ key: "foo", value: "bar" });
  assertStrictEquals(await watch.read(5_000), null);
  assertEquals(await values(other, 1), ["bar"]);
}

etcdCase("TestV3WatchCancelSynced", (stage) => cancels(stage, 0));

etcdCase("TestV3WatchCancelUnsynced", (stage) => cancels(stage, 1));

etcdCase("TestV3WatchCurrentPutOverlap", async ({ client }) => {
  const watches: [kv.Watch, bigint][] = [];
  const putting = (async () => {
    for (let i = 0; i < 32; i++) await client.put({ key: "foo", value: "bar" });
  })();
  for (let i = 0; i < 16; i++) {
    const { header } = await client.get({ key: "foo" });
    watches.push([
      await client.watch({ key: "foo", revision: header.revision + 1n }),
      header.revision + 1n,
    ]);
  }
  await putting;
  for (const [watch, first] of watches) {
    const events = first > 33n ? [] : await readEvents(watch, Number(34n - first));
    events.forEach(({ kv }, i) => assertEquals(kv.modRevision, first + BigInt(i)));
  }
});

etcdCase("TestV3WatchEmptyKey", async ({ client }) => {
  const watch = await client.watch({ key: "foo" });
  await client.put({ key: "foo", value: "" });
  const [event] = await readEvents(watch, 1);
  assertEquals([event!.type, event!.kv.value, event!.kv.version], ["PUT", "", 1]);
});

/** Watches of a key and of a range on one stream. */
async function manyWatches({ client }: Stage, revision: number): Promise<void> {
  const keys = await Promise.all(
    Array.from({ length: 5 }, () => client.watch({ key: "foo", revision })),
  );
  const prefixes = await Promise.all(
    Array.from({ length: 5 }, () => client.watch({ key: "fo", prefix: true, revision })),
  );
  await client.put({ key: "foo", value: "bar" });
  for (const watch of [...keys, ...prefixes]) {
    assertEquals(await told(watch, 1), [["PUT", "foo", 2, 2]]);
    await nothing(watch);
  }
}

etcdCase("TestV3WatchMultipleWatchersSynced", (stage) => manyWatches(stage, 0));

etcdCase("TestV3WatchMultipleWatchersUnsynced", (stage) => manyWatches(stage, 1));

/** The changes of a transaction come together. */
async function txnEvents({ client }: Stage, revision: number): Promise<void> {
  const watch = await client.watch({ key: "foo", prefix: true, revision });
  const success = Array.from({ length: 3 }, (_, i) => ({ put: { key: `foo${i}`, value: "bar" } }));
  await client.txn({ success });
  const { events } = (await watch.read(10_000))!;
  assertEquals(events.map(({ kv }) => [kv.key, kv.modRevision]), [
    ["foo0", 2n],
    ["foo1", 2n],
    ["foo2", 2n],
  ]);
}

etcdCase("TestV3WatchMultipleEventsTxnSynced", (stage) => txnEvents(stage, 0));

etcdCase("TestV3WatchMultipleEventsTxnUnsynced", (stage) => txnEvents(stage, 1));

etcdCase("TestV3WatchMultipleEventsPutUnsynced", async ({ client }) => {
  for (const key of ["foo0", "foo1"]) await client.put({ key, value: "bar" });
  const watch = await client.watch({ key: "foo", prefix: true, revision: 1 });
  for (const key of ["foo0", "foo1"]) await client.put({ key, value: "bar" });
  assertEquals(await told(watch, 4), [
    ["PUT", "foo0", 2, 2],
    ["PUT", "foo1", 3, 3],
    ["PUT", "foo0", 2, 4],
    ["PUT", "foo1", 3, 5],
  ]);
});

const PROGRESS = [`--${PROGRESS_FLAG}=200ms`];

etcdCase("TestV3WatchProgressOnMemberRestart", async ({ cluster, client }) => {
  const watch = await client.watch({ key: "foo", prefix: true, progressNotify: true });
  let seen = 0n;
  const check = async () => {
    const { header, progressNotify } = (await watch.read(15_000))!;
    // What is told never goes back, though a member that starts is behind.
    assert(header.revision >= seen, `${header.revision} after ${seen}`);
    if (progressNotify) seen = header.revision;
  };
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 5; j++) await client.put({ key: "foo", value: "bar" });
    while (seen < BigInt(1 + 5 * (i + 1))) await check();
    const member = cluster.members[i]!;
    await member.halt("SIGTERM");
    member.launch();
    await client.get({ key: "foo" });
    await member.ready();
    await check();
  }
}, { members: 3, flags: PROGRESS });

/** Watches on streams of their own. */
async function streams({ client, client2 }: Stage, revision: number): Promise<void> {
  const watches = await Promise.all(
    Array.from({ length: 5 }, () => client2().watch({ key: "foo", revision })),
  );
  await client.put({ key: "foo", value: "bar" });
  for (const watch of watches) {
    assertEquals(await told(watch, 1), [["PUT", "foo", 2, 2]]);
    await nothing(watch);
  }
}

etcdCase("TestV3WatchMultipleStreamsSynced", (stage) => streams(stage, 0));

etcdCase("TestV3WatchMultipleStreamsUnsynced", (stage) => streams(stage, 1));

etcdCase("TestWatchWithProgressNotify", async ({ client }) => {
  const watch = await client.watch({ key: "foo", prefix: true, progressNotify: true });
  for (let i = 0; i < 2; i++) {
    const { header, events, progressNotify } = (await watch.read(15_000))!;
    assertEquals([header.revision, events, progressNotify], [1n, [], true]);
  }
}, { flags: PROGRESS });

etcdCase("TestV3WatchClose", async ({ client, client2 }) => {
  const work = async (one: kv.Client) => {
    for (let i = 0; i < 10; i++) (await one.watch({ key: "foo", revision: 1 })).close();
    await one.close();
  };
  await Promise.all(Array.from({ length: 16 }, () => work(client2())));
  const watch = await client.watch({ key: "foo" });
  await client.put({ key: "foo", value: "bar" });
  assertEquals(await values(watch, 1), ["bar"]);
});

etcdCase("TestV3WatchWithFilter", async ({ client }) => {
  const watch = await client.watch({ key: "foo", filters: { NOPUT: true } });
  await client.put({ key: "foo", value: "bar" });
  await nothing(watch);
  await client.delete({ key: "foo" });
  assertEquals(await told(watch, 1), [["DELETE", "foo", 0, 3]]);
});

etcdCase("TestV3WatchWithPrevKV", async ({ client }) => {
  for (
    const [key, request, before] of [
      ["foo", { key: "foo" }, "bar1"],
      ["foo-prefix", { key: "foo-p", prefix: true }, "bar2"],
    ] as const
  ) {
    await client.put({ key, value: before });
    const watch = await client.watch({ ...request, prevKv: true });
    await client.put({ key, value: "new" });
    await client.delete({ key });
    const events = await readEvents(watch, 2);
    assertEquals(events.map(({ type, prevKv }) => [type, prevKv?.value]), [
      ["PUT", before],
      ["DELETE", "new"],
    ]);
  }
});

/** How many watches the server has. */
async function watchers({ cluster }: Stage): Promise<number> {
  const response = await fetch(`http://${cluster.members[0]!.direct}/metrics`);
  return Number((await response.text()).match(/^etcd_debugging_mvcc_watcher_total (\d+)/m)![1]);
}

async function becomes(stage: Stage, count: number): Promise<void> {
  for (let i = 0; i < 200 && await watchers(stage) !== count; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assertEquals(await watchers(stage), count);
}

etcdCase("TestV3WatchCancellation", async (stage) => {
  const abort = new AbortController();
  for (let i = 0; i < 1_000; i++) {
    await stage.client.watch({ key: "/foo" }, { signal: abort.signal });
  }
  abort.abort();
  await stage.client.watch({ key: "/foo" });
  await becomes(stage, 1);
}, { beyond: "metrics" });

etcdCase("TestV3WatchCloseCancelRace", async (stage) => {
  const one = stage.client2();
  const watches: kv.Watch[] = [];
  for (let i = 0; i < 1_000; i++) watches.push(await one.watch({ key: "/foo" }));
  for (const watch of watches) watch.close();
  await one.close();
  await stage.client.watch({ key: "/foo" });
  await becomes(stage, 1);
}, { beyond: "metrics" });

etcdCase("TestV3WatchProgressWaitsForSync", async ({ client }) => {
  const value = "x".repeat(1_024);
  for (let i = 0; i < 3_000; i++) await client.put({ key: "foo", value: `${i}${value}` });
  const { header } = await client.get({ key: "foo" });
  const watch = await client.watch({ key: "foo", revision: 1, progressNotify: true });
  let events = 0;
  for (;;) {
    const response = (await watch.read(15_000))!;
    events += response.events.length;
    if (response.progressNotify && response.header.revision >= header.revision) break;
  }
  // Progress up to there is told only when everything before it was.
  assertEquals(events, 3_000);
}, { flags: PROGRESS });

etcdCase("TestV3WatchProgressWaitsForSyncNoEvents", async ({ client }) => {
  for (let i = 0; i < 100; i++) await client.put({ key: `foo${i}`, value: "x" });
  const watch = await client.watch({ key: "bar", revision: 1, progressNotify: true });
  let response = (await watch.read(15_000))!;
  while (response.header.revision < 101n) response = (await watch.read(15_000))!;
  assertEquals([response.events, response.progressNotify], [[], true]);
}, { flags: PROGRESS });

etcdCase("TestV3NoEventsLostOnCompact", async ({ client }) => {
  const value = "x".repeat(1_024);
  const watch = await client.watch({ key: "foo", revision: 1 });
  for (let i = 0; i < 2_000; i++) await client.put({ key: "foo", value: `${i}${value}` });
  const { header } = await client.get({ key: "foo" });
  await client.compact({ revision: header.revision });
  let next = 2n;
  while (next <= header.revision) {
    const [response, error] = await kv.attempt(watch.read(15_000));
    if (error !== undefined) {
      assert(error instanceof kv.CompactedError, String(error));
      return;
    }
    for (const { kv } of response!.events) assertEquals(kv.modRevision, next++);
  }
});

etcdCase("TestV3WatchRestoreSnapshotUnsync", async ({ cluster, client2 }) => {
  const [first, ...others] = cluster.members;
  const watcher = client2({ endpoints: [first!.clients.endpoint] });
  const watch = await watcher.watch({ key: "foo", revision: 5 });
  // Stopped for so long that it needs a snapshot of the leader's.
  first!.pause();
  const writer = client2({ endpoints: others.map(({ clients }) => clients.endpoint) });
  await writer.get({ key: "foo" });
  for (let i = 0; i < 60; i++) await writer.put({ key: "foo", value: "bar" }, { idempotent: true });
  first!.resume();
  const { header } = await writer.get({ key: "foo" });
  let next = 5n;
  while (next <= header.revision) {
    for (const { kv } of (await watch.read(20_000))!.events) assertEquals(kv.modRevision, next++);
  }
}, { members: 3, flags: ["--snapshot-count=10"] });
