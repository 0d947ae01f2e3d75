import { assert, assertEquals } from "@std/assert";
import { code } from "../../grpc/mod.ts";
import { kv } from "@sluice/sluice";
import { creates, drain, fakeEtcd, header } from "../../support/fake_etcd.ts";
import { rejected } from "../../support/kv.ts";
import { SYSTEM_TIME } from "../../http/time/time.ts";
import { Watcher } from "../../kv/watch/watcher.ts";
import { WatchState } from "../../kv/watch/watch_state.ts";

/** Each asynchronous method, on a client whose server is not there. */
const FAILING: Readonly<Record<string, (client: kv.Client) => Promise<unknown>>> = {
  put: (client) => client.put({ key: "a", value: "" }),
  get: (client) => client.get({ key: "a" }),
  delete: (client) => client.delete({ key: "a" }),
  txn: (client) => client.txn({ success: [] }),
  compact: (client) => client.compact({ revision: 1 }),
  grant: (client) => client.grant({ TTL: 5 }),
  revoke: (client) => client.revoke({ ID: 5n }),
  ttl: (client) => client.ttl({ ID: 5n }),
  leases: (client) => client.leases(),
  keepalive: (client) => client.keepalive("x" as unknown as bigint),
  watch: (client) => client.watch({ key: "a" }),
  keepAliveOnce: (client) => client.keepAliveOnce(5n),
  grantOnly: (client) => client.grantOnly({ TTL: 5 }),
  tellsProgress: (client) => client.tellsProgress(),
  session: (client) => client.session(),
  lock: (client) => client.lock("a"),
  readLock: (client) => client.readLock("a"),
  writeLock: (client) => client.writeLock("a"),
  transaction: (client) => client.transaction((tx) => tx.get("a")),
  putIfAbsent: (client) => client.putIfAbsent({ key: "a", value: "" }),
  putIfUnchanged: (client) => client.putIfUnchanged({ key: "a", value: "" }, 5),
  deleteIfUnchanged: (client) => client.deleteIfUnchanged("a", 5),
  update: (client) => client.update("a", () => ""),
  close: (client) => client.close(),
};

/** Methods that give no promise. */
const PLAIN = [
  "constructor",
  "leaseSignal",
  "stopKeepAlive",
  "setEndpoints",
  "election",
  "barrier",
  "doubleBarrier",
  "queue",
  "cache",
  "priorityQueue",
  "namespace",
  "scan",
  "typed",
  "getStream",
  "stats",
];

Deno.test("promises of a client that nobody awaits end no process", async () => {
  const methods = new Set(
    [kv.Client.prototype, kv.KeyspaceClient.prototype]
      .flatMap((prototype) => Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      .filter(([name, { value }]) => typeof value === "function" && !PLAIN.includes(name))
      .map(([name]) => name),
  );
  assertEquals([...methods].sort(), Object.keys(FAILING).sort());
  const unheard: unknown[] = [];
  const hear = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unheard.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", hear);
  try {
    await using client = kv.newClient({ endpoints: ["127.0.0.1:1"], retry: 0 });
    for (const call of Object.values(FAILING)) call(client);
    await client.close();
    for (const call of Object.values(FAILING)) call(client);
    // Two turns: what has failed by then was told to the process.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  } finally {
    globalThis.removeEventListener("unhandledrejection", hear);
  }
  assertEquals(unheard, []);
});

/** Each way to iterate over what a server gives. */
const ITERATORS: Readonly<
  Record<string, (client: kv.Client) => AsyncIterator<unknown> | Promise<AsyncIterator<unknown>>>
> = {
  scan: (client) => client.scan({ prefix: "a" })[Symbol.asyncIterator](),
  pages: (client) => client.scan({ prefix: "a" }).pages(),
  getStream: (client) => client.getStream({ prefix: "a" }),
  "getStream of a namespace": (client) => client.namespace("n/").getStream({ prefix: "a" }),
  "scan of typed keys": (client) => client.typed(kv.json()).scan({ prefix: "a" }),
  observe: (client) => client.election("a").observe(),
  queue: (client) => client.queue("a")[Symbol.asyncIterator](),
  priorityQueue: (client) => client.priorityQueue("a")[Symbol.asyncIterator](),
  "events of a cache": (client) => client.cache({ prefix: "a" }).events(),
};

Deno.test("what iterators of a client give that nobody awaits ends no process", async () => {
  const unheard: unknown[] = [];
  const hear = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unheard.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", hear);
  try {
    await using client = kv.newClient({ endpoints: ["127.0.0.1:1"], retry: 0 });
    const iterators: AsyncIterator<unknown>[] = [];
    for (const open of Object.values(ITERATORS)) {
      const iterator = await open(client);
      iterators.push(iterator);
      iterator.next();
    }
    await client.close();
    for (const iterator of iterators) {
      iterator.next();
      iterator.return?.();
    }
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  } finally {
    globalThis.removeEventListener("unhandledrejection", hear);
  }
  assertEquals(unheard, []);
});

Deno.test("times of a watch mean what they mean everywhere", async () => {
  await using server = fakeEtcd({
    async *watch(requests) {
      for await (const _ of creates(requests)) {
        yield { header: header(9n), watchId: 0n, created: true };
        await drain(requests);
      }
    },
  });
  await using client = kv.newClient({ endpoints: [server.addr], retry: 0 });
  const request = { key: "a", revision: 9 };
  for (const timeout of [undefined, Infinity, 2 ** 31, 1e15]) {
    const watch = await client.watch(request, timeout === undefined ? {} : { timeout });
    const read = watch.read(timeout);
    const late = await rejected(watch.read(20), kv.KvError);
    assertEquals(late.code, code.DEADLINE_EXCEEDED);
    watch.close();
    assertEquals(await read, null, String(timeout));
  }
  const watch = await client.watch(request);
  assertEquals((await rejected(watch.read(0), kv.KvError)).code, code.DEADLINE_EXCEEDED);
  for (const timeout of [-1, NaN, "1"]) {
    await rejected(watch.read(timeout as number), TypeError);
  }
});

Deno.test("reading a watch costs the same however much waits", async () => {
  const count = 150_000;
  const watcher = new Watcher(
    { attach() {}, detach() {}, askProgress() {}, time: SYSTEM_TIME, backlog: 0 },
    {
      request: { progressNotify: true } as ConstructorParameters<typeof Watcher>[1]["request"],
      state: new WatchState(1n, 0n, 0n),
    },
  );
  for (let i = 0; i < count; i++) {
    watcher.take(
      {
        kind: "progress",
        result: { header: header(1n) },
      } as Parameters<Watcher["take"]>[0],
      0,
    );
  }
  const start = performance.now();
  for (let i = 0; i < count; i++) await watcher.read();
  const took = performance.now() - start;
  // Some 0.1 s; with an array from whose front they are taken 7 s.
  assert(took < 2_000, `${took} ms`);
  watcher.close();
});
