/** Cases of integration/clientv3/watch/watch_test.go and watch_fragment_test.go. */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { PROGRESS_FLAG, readEvents, rejected, until } from "../../../support/kv.ts";
import { etcdCase, gauge, type Stage, values } from "./case.ts";

const MIB = 2 ** 20;

/** Puts and sees it in the watch. */
async function putAndWatch({ client }: Stage, watch: kv.Watch, key: string, value: string) {
  await client.put({ key, value });
  assertEquals(await values(watch, 1), [value]);
}

etcdCase("TestWatchMultiWatcher", async ({ client }) => {
  const keys = ["foo", "bar", "baz"];
  const watches = await Promise.all(keys.map((key) => client.watch({ key })));
  const prefixed = await client.watch({ key: "b", prefix: true });
  for (let i = 0; i < 4; i++) {
    for (const key of keys) await client.put({ key, value: `${key}-${i}` });
  }
  for (const [i, key] of keys.entries()) {
    assertEquals(await values(watches[i]!, 4), [0, 1, 2, 3].map((n) => `${key}-${n}`));
  }
  const both = [0, 1, 2, 3].flatMap((n) => [`bar-${n}`, `baz-${n}`]);
  assertEquals(await values(prefixed, 8), both);
  assertEquals((await rejected(prefixed.read(200), kv.KvError)).code, grpc.code.DEADLINE_EXCEEDED);
});

etcdCase("TestWatchRange", async (stage) => {
  const watch = await stage.client.watch({ key: "a", rangeEnd: "c" });
  for (const key of ["a", "b", "bar"]) await putAndWatch(stage, watch, key, key);
});

etcdCase("TestWatchReconnRequest", async (stage) => {
  const { clients } = stage.cluster.members[0]!;
  await stage.client.get({ key: "_" });
  const watching = stage.client.watch({ key: "a" });
  let open = false;
  watching.then(() => open = true, () => {});
  for (let i = 0; i < 100 && !open; i++) {
    clients.drop();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const watch = await watching;
  await putAndWatch(stage, watch, "a", "a");
});

etcdCase("TestWatchReconnInit", async (stage) => {
  const watch = await stage.client.watch({ key: "a" });
  stage.cluster.members[0]!.clients.drop();
  await stage.client.get({ key: "a" });
  await putAndWatch(stage, watch, "a", "a");
});

etcdCase("TestWatchReconnRunning", async (stage) => {
  const watch = await stage.client.watch({ key: "a" });
  await putAndWatch(stage, watch, "a", "a");
  stage.cluster.members[0]!.clients.drop();
  await stage.client.get({ key: "a" });
  await putAndWatch(stage, watch, "a", "b");
});

etcdCase("TestWatchCancelImmediate", async ({ client }) => {
  const error = await rejected(
    client.watch({ key: "a" }, { signal: AbortSignal.abort() }),
    kv.KvError,
  );
  assertEquals(error.code, grpc.code.CANCELLED);
});

etcdCase("TestWatchCancelInit", async ({ client }) => {
  const abort = new AbortController();
  const watch = await client.watch({ key: "a" }, { signal: abort.signal });
  abort.abort();
  assertStrictEquals(await watch.read(5_000), null);
});

etcdCase("TestWatchCancelRunning", async ({ client }) => {
  const abort = new AbortController();
  const watch = await client.watch({ key: "a" }, { signal: abort.signal });
  const reading = watch.read(5_000);
  await client.put({ key: "a", value: "a" });
  abort.abort();
  const response = await reading;
  if (response !== null) assertEquals(response.events.map(({ kv }) => kv.value), ["a"]);
  assertStrictEquals(await watch.read(5_000), null);
});

etcdCase("TestWatchResumeAfterDisconnect", async ({ cluster, client, client2 }) => {
  await client.put({ key: "b", value: "2" });
  await client.put({ key: "a", value: "3" });
  await client.put({ key: "a", value: "4" });
  const { clients } = cluster.members[0]!;
  const watcher = client2();
  await watcher.get({ key: "a" });
  clients.mode = "hold";
  const watching = watcher.watch({ key: "a", revision: 1 });
  clients.drop();
  clients.mode = "pass";
  assertEquals(await values(await watching, 2), ["3", "4"]);
});

etcdCase("TestWatchResumeCompacted", async ({ cluster, client2 }) => {
  const [member, other] = cluster.members;
  const client = client2({ endpoints: [other!.clients.endpoint] });
  const watch = await client2({ endpoints: [member!.clients.endpoint] })
    .watch({ key: "foo", revision: 1 });
  await member!.halt();
  // Behind the election, if there has to be one.
  await client.get({ key: "foo" });
  for (let i = 0; i < 5; i++) await client.put({ key: "foo", value: "bar" });
  await client.compact({ revision: 3 });
  member!.launch();
  // A member that comes back behind the others may still give all events, before it compacts.
  for (let revision = 2n; revision <= 6n;) {
    const [response, error] = await kv.attempt(watch.read(20_000));
    if (error !== undefined) {
      assert(error instanceof kv.CompactedError, String(error));
      assertEquals([error.compactRevision, revision], [3n, 2n]);
      return;
    }
    for (const { kv } of response!.events) assertEquals(kv.modRevision, revision++);
  }
}, { members: 3 });

etcdCase("TestWatchCompactRevision", async ({ client }) => {
  for (let i = 0; i < 5; i++) await client.put({ key: "foo", value: "bar" });
  await client.compact({ revision: 4 });
  const watch = await client.watch({ key: "foo", revision: 2 });
  const error = await rejected(watch.read(5_000), kv.CompactedError);
  assertEquals(error.compactRevision, 4n);
  await rejected(watch.read(5_000), kv.CompactedError);
});

const PROGRESS = { flags: [`--${PROGRESS_FLAG}=200ms`] };

etcdCase("TestWatchWithProgressNotify2", async ({ client }) => {
  const watch = await client.watch({ key: "foo", prefix: true, progressNotify: true });
  const first = (await watch.read(10_000))!;
  assertEquals([first.events, first.progressNotify], [[], true]);
  await client.put({ key: "foox", value: "bar" });
  let next = (await watch.read(10_000))!;
  while (next.progressNotify) next = (await watch.read(10_000))!;
  assertEquals(next.header.revision, 2n);
  assertEquals(
    next.events.map(({ type, kv }) => [type, kv.key, kv.value, kv.createRevision, kv.modRevision]),
    [["PUT", "foox", "bar", 2n, 2n]],
  );
}, PROGRESS);

etcdCase("TestWatchWithProgressNotifyNoEvent", async ({ client }) => {
  const watch = await client.watch({ key: "foo", progressNotify: true });
  assertEquals((await watch.read(10_000))!.events, []);
  await client.put({ key: "foox", value: "bar" });
  let next = (await watch.read(10_000))!;
  while (next.header.revision < 2n) next = (await watch.read(10_000))!;
  assertEquals([next.header.revision, next.events], [2n, []]);
}, PROGRESS);

etcdCase("TestConfigurableWatchProgressNotifyInterval", async ({ client }) => {
  const watch = await client.watch({ key: "foo", progressNotify: true });
  const start = performance.now();
  for (let i = 0; i < 3; i++) assertEquals((await watch.read(10_000))!.progressNotify, true);
  // Three intervals; etcd's default would be ten minutes each.
  assert(performance.now() - start < 10_000);
}, PROGRESS);

etcdCase("TestWatchRequestProgress", async ({ client }) => {
  const watches = [
    await client.watch({ key: "/", prefix: true }),
    await client.watch({ key: "/", prefix: true }),
  ];
  await client.put({ key: "/a", value: "1" });
  for (const watch of watches) assertEquals(await values(watch, 1), ["1"]);
  // Not watched: only progress tells of it.
  const { header } = await client.put({ key: "x", value: "1" });
  for (const watch of watches) {
    assertEquals(await watch.requestProgress(15_000), header.revision);
  }
});

etcdCase("TestWatchWithRequireLeader", async ({ cluster, client2 }) => {
  const [first, ...others] = cluster.members;
  const client = client2({ endpoints: [first!.clients.endpoint], retry: 1 });
  await client.put({ key: "foo", value: "bar" });
  for (const member of others) await member.halt();
  await gauge(first!, "etcd_server_has_leader", "0");
  // Watches ask for a leader always: without one they would be silent.
  const error = await rejected(client.watch({ key: "foo", revision: 1 }, 15_000), kv.KvError);
  assert(
    error.reason === "NO_LEADER" || error.code === grpc.code.DEADLINE_EXCEEDED,
    error.message,
  );
}, { members: 3 });

etcdCase("TestWatchEventType", async ({ client }) => {
  const watch = await client.watch({ key: "/", prefix: true });
  await client.put({ key: "/toDelete", value: "foo" });
  await client.put({ key: "/toDelete", value: "bar" });
  await client.delete({ key: "/toDelete" });
  const { ID } = await client.grant({ TTL: 1, keepAlive: false });
  await client.put({ key: "/toExpire", value: "foo", lease: ID });
  const events = await readEvents(watch, 5, 20_000);
  assertEquals(
    events.map(({ type, kv }) => [type, kv.key, kv.createRevision === kv.modRevision]),
    [
      ["PUT", "/toDelete", true],
      ["PUT", "/toDelete", false],
      ["DELETE", "/toDelete", false],
      ["PUT", "/toExpire", true],
      ["DELETE", "/toExpire", false],
    ],
  );
});

etcdCase("TestWatchErrConnClosed", async ({ client }) => {
  const watch = await client.watch({ key: "foo" });
  const reading = watch.read();
  const opening = kv.attempt(client.watch({ key: "bar" }));
  await client.close();
  assertStrictEquals(await reading, null);
  const [, error] = await opening;
  assert(error instanceof kv.ClientClosedError, String(error));
});

etcdCase("TestWatchAfterClose", async ({ client }) => {
  await client.close();
  await rejected(client.watch({ key: "foo" }), kv.ClientClosedError);
  await client.close();
});

etcdCase("TestWatchWithFilter", async ({ client }) => {
  const noPut = await client.watch({ key: "a", noPut: true });
  const noDelete = await client.watch({ key: "a", noDelete: true });
  await client.put({ key: "a", value: "abc" });
  await client.delete({ key: "a" });
  assertEquals((await readEvents(noPut, 1)).map(({ type }) => type), ["DELETE"]);
  assertEquals((await readEvents(noDelete, 1)).map(({ type }) => type), ["PUT"]);
  for (const watch of [noPut, noDelete]) {
    assertEquals((await rejected(watch.read(200), kv.KvError)).code, grpc.code.DEADLINE_EXCEEDED);
  }
});

etcdCase("TestWatchWithCreatedNotification", async ({ client }) => {
  // watch() resolves when the server has accepted it: a put made then is seen.
  const watch = await client.watch({ key: "a" });
  await client.put({ key: "a", value: "1" });
  assertEquals(await values(watch, 1), ["1"]);
});

etcdCase("TestWatchWithCreatedNotificationDropConn", async ({ cluster, client }) => {
  const watch = await client.watch({ key: "a" });
  const { clients } = cluster.members[0]!;
  const { accepted } = clients;
  clients.drop();
  await until("a new connection", () => clients.accepted > accepted, 10_000);
  await client.get({ key: "a" });
  assertEquals((await rejected(watch.read(300), kv.KvError)).code, grpc.code.DEADLINE_EXCEEDED);
});

etcdCase("TestWatchMixedPrevKVOnSameKeySeparateStreams", async ({ client, client2 }) => {
  await client.put({ key: "k", value: "v0" });
  const watches = await Promise.all(
    // A client each: this one has one stream for all its watches.
    Array.from({ length: 10 }, (_, i) => client2().watch({ key: "k", prevKv: i < 5 })),
  );
  for (let i = 1; i <= 10; i++) {
    await client.put({ key: "k", value: `v${i}` });
    for (const [n, watch] of watches.entries()) {
      const [event] = await readEvents(watch, 1);
      assertEquals([event!.kv.value, event!.prevKv?.value], [
        `v${i}`,
        n < 5 ? `v${i - 1}` : undefined,
      ]);
    }
  }
});

etcdCase("TestWatchCancelOnServer", async ({ cluster, client }) => {
  const watchers = async () => {
    const response = await fetch(`http://${cluster.members[0]!.direct}/metrics`);
    return Number((await response.text()).match(/^etcd_debugging_mvcc_watcher_total (\d+)/m)![1]);
  };
  const watches = await Promise.all(
    Array.from({ length: 10 }, (_, i) => client.watch({ key: String(i) })),
  );
  assertEquals(await watchers(), 10);
  for (const watch of watches) watch.close();
  for (let i = 0; i < 100 && await watchers() > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assertEquals(await watchers(), 0);
}, { beyond: "metrics" });

/** Watches that are made and closed at once, side by side. */
async function overlap({ cluster, client }: Stage, drop: boolean) {
  await client.put({ key: "abc", value: "def" });
  let next = 0;
  const worker = async (n: number) => {
    while (next++ < 100) {
      const watch = await client.watch({ key: "abc", revision: 1 });
      if (drop) cluster.members[0]!.clients.drop();
      assertEquals(await values(watch, 1), ["def"]);
      if (n % 2 === 0) await Promise.resolve();
      watch.close();
    }
  };
  await Promise.all(Array.from({ length: 10 }, (_, n) => worker(n)));
}

etcdCase("TestWatchOverlapContextCancel", (stage) => overlap(stage, false));

etcdCase("TestWatchOverlapDropConnContextCancel", (stage) => overlap(stage, true));

etcdCase("TestWatchCancelAndCloseClient", async ({ client }) => {
  const abort = new AbortController();
  const watch = await client.watch({ key: "abc" }, { signal: abort.signal });
  const reading = watch.read(5_000);
  abort.abort();
  await client.close();
  assertStrictEquals(await reading, null);
});

etcdCase("TestWatchStressResumeClose", async ({ cluster, client }) => {
  const abort = new AbortController();
  const watches = await Promise.all(
    Array.from({ length: 2_000 }, () => client.watch({ key: "abc" }, { signal: abort.signal })),
  );
  cluster.members[0]!.clients.drop();
  abort.abort();
  await client.close();
  for (const watch of watches) assertStrictEquals(await watch.read(5_000), null);
});

etcdCase("TestWatchCancelDisconnected", async ({ cluster, client }) => {
  const abort = new AbortController();
  const watch = await client.watch({ key: "abc" }, { signal: abort.signal });
  await cluster.members[0]!.halt();
  abort.abort();
  assertStrictEquals(await watch.read(1_000), null);
});

etcdCase("TestWatchClose", async ({ client }) => {
  const watch = await client.watch({ key: "a" });
  watch.close();
  watch.close();
  assertStrictEquals(await watch.read(1_000), null);
});

etcdCase("TestWatch", async ({ client }) => {
  // Refused before it is sent: versions differ in what they make of it.
  await rejected(client.watch({ key: "/", revision: -1 }), TypeError);
  for (const revision of [0, 1]) {
    const watch = await client.watch({ key: "/", revision });
    assertEquals((await rejected(watch.read(200), kv.KvError)).code, grpc.code.DEADLINE_EXCEEDED);
  }
});

/** Ten values of 1 MiB, watched from the first on. */
async function fragments(
  { client, client2 }: Stage,
  fragment: boolean,
  maxReceiveSize?: number,
): Promise<kv.Watch> {
  await Promise.all(
    Array.from({ length: 10 }, (_, i) => client.put({ key: `foo${i}`, value: "a".repeat(MIB) })),
  );
  const watcher = maxReceiveSize === undefined ? client : client2({ maxReceiveSize });
  return await watcher.watch({ key: "foo", prefix: true, revision: 1, fragment });
}

etcdCase("TestWatchFragmentDisable", async (stage) => {
  assertEquals((await readEvents(await fragments(stage, false), 10)).length, 10);
});

etcdCase("TestWatchFragmentDisableWithGRPCLimit", async (stage) => {
  const watch = await fragments(stage, false, 3 * MIB);
  const error = await rejected(watch.read(10_000), kv.KvError);
  assertEquals(error.code, grpc.code.RESOURCE_EXHAUSTED);
}, { beyond: "large responses" });

etcdCase("TestWatchFragmentEnable", async (stage) => {
  assertEquals((await readEvents(await fragments(stage, true), 10)).length, 10);
});

etcdCase("TestWatchFragmentEnableWithGRPCLimit", async (stage) => {
  assertEquals((await readEvents(await fragments(stage, true, 3 * MIB), 10)).length, 10);
});
