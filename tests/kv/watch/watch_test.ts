import { assert, assertEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { MAX_QUEUED_BYTES } from "../../../kv/watch/watcher.ts";
import { etcdTest, PROGRESS_FLAG, readEvents, rejected } from "../../../support/kv.ts";
import { findEtcd } from "../../../support/etcd.ts";

/** Whether the tests run on an etcd, and not on the store. */
const real = await findEtcd() !== undefined;

const { code } = grpc;

etcdTest("watches", async (step) => {
  await step("watch() gives changes of its key from the call on", async (s) => {
    await s.client.put({ key: s.key, value: "before" });
    const watch = await s.client.watch({ key: s.key });
    await s.client.put({ key: `${s.key}x`, value: "another key" });
    const put = await s.client.put({ key: s.key, value: "1" });
    const { events, header, progressNotify } = (await watch.read(5_000))!;
    assertEquals([header.revision, progressNotify], [put.header.revision, false]);
    assertEquals(events.length, 1);
    const [event] = events;
    assertEquals([event!.type, event!.kv.key, event!.kv.value], ["PUT", s.key, "1"]);
    assertEquals([event!.kv.version, event!.kv.modRevision], [2, put.header.revision]);
    assertEquals(event!.prevKv, undefined);
    await s.client.delete({ key: s.key });
    const [gone] = await readEvents(watch, 1);
    assertEquals([gone!.type, gone!.kv.key, gone!.kv.value], ["DELETE", s.key, ""]);
  });

  await step("watch() with prefix, fromKey and rangeEnd follows ranges", async (s) => {
    const prefix = await s.client.watch({ key: s.key, prefix: true });
    const fromKey = await s.client.watch({ key: `${s.key}b`, fromKey: true });
    const between = await s.client.watch({ key: `${s.key}a`, rangeEnd: `${s.key}c` });
    const all = await s.client.watch({ key: "", prefix: true });
    for (const name of ["a", "b", "c"]) await s.client.put({ key: s.key + name, value: name });
    const names = async (watch: kv.Watch, count: number) =>
      (await readEvents(watch, count)).map((event) => event.kv.value).join("");
    assertEquals(await names(prefix, 3), "abc");
    assertEquals(await names(fromKey, 2), "bc");
    assertEquals(await names(between, 2), "ab");
    assertEquals(await names(all, 3), "abc");
  });

  await step("watch() with revision replays history from there", async (s) => {
    const { header } = await s.client.put({ key: s.key, value: "1" });
    await s.client.put({ key: s.key, value: "2" });
    await s.client.delete({ key: s.key });
    for (const revision of [header.revision + 1n, Number(header.revision) + 1]) {
      const watch = await s.client.watch({ key: s.key, revision });
      const events = await readEvents(watch, 2);
      assertEquals(events.map(({ type, kv }) => [type, kv.value]), [["PUT", "2"], ["DELETE", ""]]);
      assertEquals(watch.revision, header.revision + 3n);
    }
    const future = await s.client.watch({ key: s.key, revision: header.revision + 4n });
    await s.client.put({ key: s.key, value: "too early" });
    await s.client.put({ key: s.key, value: "in time" });
    assertEquals((await readEvents(future, 1))[0]!.kv.value, "in time");
  });

  await step("watch() with prevKv gives what was there before", async (s) => {
    const watch = await s.client.watch({ key: s.key, prevKv: true });
    await s.client.put({ key: s.key, value: "1" });
    await s.client.put({ key: s.key, value: "2" });
    await s.client.delete({ key: s.key });
    const events = await readEvents(watch, 3);
    assertEquals(events.map((event) => event.prevKv?.value), [undefined, "1", "2"]);
  });

  await step("watch() filters, in filters and beside it, in both spellings", async (s) => {
    const noPut: Partial<kv.WatchRequest>[] = [
      { filters: { noPut: true } },
      { filters: { NOPUT: true } },
      { noPut: true },
      { NOPUT: true },
    ];
    const noDelete: Partial<kv.WatchRequest>[] = [
      { filters: { noDelete: true } },
      { filters: { NODELETE: true } },
      { noDelete: true },
      { NODELETE: true },
    ];
    const open = (filter: Partial<kv.WatchRequest>) => s.client.watch({ key: s.key, ...filter });
    const deletions = await Promise.all(noPut.map(open));
    const puts = await Promise.all(noDelete.map(open));
    await s.client.put({ key: s.key, value: "1" });
    await s.client.delete({ key: s.key });
    await s.client.put({ key: s.key, value: "2" });
    await s.client.delete({ key: s.key });
    for (const watch of deletions) {
      const events = await readEvents(watch, 2);
      assertEquals(events.map((event) => event.type), ["DELETE", "DELETE"]);
    }
    for (const watch of puts) {
      assertEquals((await readEvents(watch, 2)).map((event) => event.kv.value), ["1", "2"]);
    }
  });

  await step("watch() sees keys deleted with their lease", async (s) => {
    const { ID } = await s.client.grant({ TTL: 60 });
    await s.client.put({ key: s.key, value: "", lease: ID });
    const watch = await s.client.watch({ key: s.key });
    await s.client.revoke({ ID });
    assertEquals((await readEvents(watch, 1))[0]!.type, "DELETE");
  });

  await step("a watch is an async iterable; leaving the loop closes it", async (s) => {
    const watch = await s.client.watch({ key: s.key });
    const loop = (async () => {
      const values: string[] = [];
      for await (const { events } of watch) {
        values.push(...events.map((event) => event.kv.value));
        if (values.length >= 3) break;
      }
      return values;
    })();
    for (const value of ["1", "2", "3"]) await s.client.put({ key: s.key, value });
    assertEquals(await loop, ["1", "2", "3"]);
    assertEquals(await watch.read(), null);
  });

  await step("read() with a timeout loses nothing", async (s) => {
    const watch = await s.client.watch({ key: s.key });
    const error = await rejected(watch.read(20), kv.KvError);
    assertEquals(error.code, code.DEADLINE_EXCEEDED);
    assertEquals(error.message, "no event came within 20 ms");
    await s.client.put({ key: s.key, value: "1" });
    assertEquals((await watch.read(5_000))!.events[0]!.kv.value, "1");
  });

  await step("close() ends a watch, with and without using, and reads give null", async (s) => {
    const watch = await s.client.watch({ key: s.key });
    const reading = watch.read();
    watch.close();
    assertEquals(await reading, null);
    assertEquals(await watch.read(10), null);
    watch.close();
    let escaped: kv.Watch;
    {
      using inner = await s.client.watch({ key: s.key });
      escaped = inner;
    }
    assertEquals(await escaped.read(), null);
    {
      await using inner = await s.client.watch({ key: s.key });
      escaped = inner;
    }
    assertEquals(await escaped.read(), null);
    // The shared stream is gone with the last of them; another watch opens another.
    const again = await s.client.watch({ key: s.key });
    await s.client.put({ key: s.key, value: "1" });
    assertEquals((await again.read(5_000))!.events[0]!.kv.value, "1");
  });

  await step("a signal ends a watch whenever it aborts", async (s) => {
    const controller = new AbortController();
    const { signal } = controller;
    const watch = await s.client.watch({ key: s.key }, { signal });
    const reading = watch.read();
    controller.abort();
    assertEquals(await reading, null);
    const error = await rejected(s.client.watch({ key: s.key }, { signal }), kv.KvError);
    assertEquals(error.code, code.CANCELLED);
  });

  await step("a hundred watches share one stream and do not mix", async (s) => {
    const watches = await Promise.all(
      Array.from({ length: 100 }, (_, i) => s.client.watch({ key: `${s.key}${i}` })),
    );
    for (let i = 0; i < 100; i += 2) watches[i]!.close();
    await Promise.all(
      watches.map((_, i) => s.client.put({ key: `${s.key}${i}`, value: String(i) })),
    );
    for (let i = 1; i < 100; i += 2) {
      assertEquals((await readEvents(watches[i]!, 1))[0]!.kv.value, String(i));
    }
  });

  await step("watch() from a compacted revision says how far history went (E7)", async (s) => {
    const { header } = await s.client.put({ key: s.key, value: "1" });
    const second = (await s.client.put({ key: s.key, value: "2" })).header.revision;
    await s.client.compact({ revision: second });
    const watch = await s.client.watch({ key: s.key, revision: header.revision });
    const error = await rejected(watch.read(5_000), kv.CompactedError);
    assertEquals([error.compactRevision, error.code], [second, code.OUT_OF_RANGE]);
    assertEquals(
      error.message,
      `cannot watch from revision ${header.revision}: history before ${second} was compacted`,
    );
    assertEquals(await rejected(watch.read(), kv.CompactedError), error);
    const fine = await s.client.watch({ key: s.key, revision: error.compactRevision });
    assertEquals((await readEvents(fine, 1))[0]!.kv.value, "2");
  });

  await step("watch() over an empty range is refused by the server", async (s) => {
    const error = await rejected(
      s.client.watch({ key: "b", rangeEnd: "a" }),
      kv.WatchCanceledError,
    );
    assertEquals([error.reason, error.code], ["WATCH_RANGE_EMPTY", code.INVALID_ARGUMENT]);
    assertEquals(error.message, "mvcc: watcher range is empty");
    // Nobody else on the stream is hurt, and creates and answers still belong together.
    const [good, bad] = await Promise.allSettled([
      s.client.watch({ key: s.key }),
      s.client.watch({ key: "b", rangeEnd: "a" }),
    ]);
    assertEquals([good.status, bad.status], ["fulfilled", "rejected"]);
    await s.client.put({ key: s.key, value: "1" });
    const watch = (good as PromiseFulfilledResult<kv.Watch>).value;
    assertEquals((await readEvents(watch, 1))[0]!.kv.value, "1");
  });

  await step("a slow reader is suspended and misses nothing", async (s) => {
    const slow = await s.client.watch({ key: s.key });
    const quick = await s.client.watch({ key: s.key });
    const value = new Uint8Array(1 << 20);
    const count = 2 * MAX_QUEUED_BYTES / value.length;
    const reading = readEvents(quick, count);
    for (let i = 0; i < count; i++) await s.client.put({ key: s.key, value });
    assertEquals((await reading).length, count);
    // Two thirds of it never came in: the watch stands still on the server.
    const { revision } = slow;
    const { header } = await s.client.put({ key: s.key, value: "last" });
    assertEquals(slow.revision, revision);
    assert(revision < header.revision - BigInt(Math.floor(count / 3)));
    const events = await readEvents(slow, count + 1);
    assertEquals(events.map((event) => event.kv.version), Array.from(events, (_, i) => i + 1));
    assertEquals(events.at(-1)!.kv.value, "last");
  });

  await step(
    "a response that etcd sends in pieces is read as its revisions are complete",
    async (s) => {
      const { ID } = await s.client.grant({ TTL: 60 });
      const value = new Uint8Array(200_000);
      const revisions: bigint[] = [];
      for (let i = 0; i < 30; i++) {
        const { header } = await s.client.put({ key: s.key + i, value, lease: ID });
        revisions.push(header.revision);
      }
      await using small = kv.newClient({ endpoints: [s.etcd.endpoint], maxReceiveSize: 3 << 20 });
      const request = { key: s.key, prefix: true, revision: revisions[0]! };
      using watch = await small.watch(request);
      const events: kv.WatchEvent[] = [];
      while (events.length < revisions.length) {
        const response = (await watch.read(5_000))!;
        assert(response.events.length < 20, `${response.events.length} events at once`);
        events.push(...response.events);
      }
      assertEquals(events.map((event) => event.kv.modRevision), revisions);
      // The store answers in pieces in any case.
      if (!real) return;
      // Without pieces it is more than this client takes, and trying again would not help.
      const whole = await small.watch({ ...request, fragment: false });
      const error = await rejected(whole.read(5_000), kv.KvError);
      assertEquals(error.code, code.RESOURCE_EXHAUSTED);
    },
  );
});

etcdTest("progress", async (step) => {
  await step("requestProgress() gives the store's revision", async (s) => {
    const watch = await s.client.watch({ key: s.key });
    const { header } = await s.client.put({ key: `other${s.key}`, value: "" });
    const revision = await watch.requestProgress(5_000);
    assert(revision >= header.revision, `${revision} of ${header.revision}`);
  });

  await step("watch() with progressNotify tells how far it is", async (s) => {
    const told = await s.client.watch({ key: s.key, progressNotify: true });
    const untold = await s.client.watch({ key: s.key });
    const { header } = await s.client.put({ key: `other${s.key}`, value: "" });
    let progress = (await told.read(5_000))!;
    while (progress.header.revision < header.revision) progress = (await told.read(5_000))!;
    assertEquals([progress.events, progress.progressNotify], [[], true]);
    assertEquals(told.revision, header.revision + 1n);
    assertEquals((await rejected(untold.read(150), kv.KvError)).code, code.DEADLINE_EXCEEDED);
    assertEquals(untold.revision, header.revision + 1n);
  });

  await step(
    "watch() with progressNotify tells of progress also while nothing happens",
    async (s) => {
      const watch = await s.client.watch({ key: s.key, progressNotify: true });
      const { header, progressNotify } = (await watch.read(5_000))!;
      assertEquals([progressNotify, watch.revision], [true, header.revision + 1n]);
    },
  );
}, [`--${PROGRESS_FLAG}=100ms`]);

Deno.test("watch() refuses a wrong request and says what to change", async () => {
  await using client = kv.newClient({ endpoints: ["127.0.0.1:1"] });
  const cases: [unknown, string][] = [
    [undefined, "Cannot watch without a request object: current value is undefined"],
    [{}, "Cannot watch as key must be a string or a Uint8Array: current value is undefined"],
    [{ key: "" }, "Cannot watch the empty key: there is none; with prefix it means all keys"],
    [
      { key: "a", prefix: true, fromKey: true },
      "Cannot watch with more than one of prefix, fromKey and rangeEnd: they exclude each other",
    ],
    [
      { key: "a", progress_notify: true },
      'Cannot watch with a field "progress_notify": it is called progressNotify',
    ],
    [
      { key: "a", filters: { put: true } },
      'Cannot watch with a filter "put": filters are noPut, noDelete, NOPUT, NODELETE',
    ],
    [
      { key: "a", revision: -1 },
      "Cannot watch as revision must be 0 or more: current value is -1",
    ],
    [
      { key: "a", noPut: 1 },
      "Cannot watch as noPut must be true or false: current value is 1",
    ],
  ];
  for (const [request, message] of cases) {
    const error = await rejected(client.watch(request as kv.WatchRequest), TypeError);
    assertEquals(error.message, message);
  }
});
