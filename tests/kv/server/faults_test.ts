/** Faults on order, and what the client of etcd makes of them. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type Client,
  CompactedError,
  KvError,
  type KvEvent,
  newClient,
  UnknownOutcomeError,
} from "../../../kv/mod.ts";
import { listen, type Store } from "../../../kv/server/mod.ts";
import { listenAt } from "../../../kv/server/listen.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

/** A client that does not try again, and the events it tells. */
function withEvents(store: Store, retry = 0) {
  const events: KvEvent[] = [];
  const waiting = new Set<() => void>();
  const client = newClient({
    endpoints: store,
    retry,
    onLeaseLost: null,
    observer: {
      event: (event) => {
        events.push(event);
        waiting.forEach((look) => look());
      },
    },
  });
  /** Resolves with the first event of a kind, past or to come. */
  const told = <Kind extends KvEvent["kind"]>(kind: Kind) =>
    new Promise<KvEvent & { readonly kind: Kind }>((resolve) => {
      const look = () => {
        const found = events.find((event) => event.kind === kind);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found as KvEvent & { readonly kind: Kind });
      };
      waiting.add(look);
      look();
    });
  return { client, told };
}

const versionOf = async (client: Client, key: string): Promise<number | undefined> =>
  (await client.get({ key })).kvs[0]?.version;

const reasonOf = async (call: Promise<unknown>): Promise<string | undefined> =>
  (await assertRejects(() => call, KvError)).reason;

Deno.test("a write whose answer is lost has an unknown outcome, and was done once", async () => {
  for (const addr of ["memory:", "127.0.0.1:0"]) {
    await using store = listen({ addr });
    await using client = newClient({ endpoints: store });
    await using witness = newClient({ endpoints: store });
    await witness.get({ key: "a" });
    store.faults.dropAnswers();
    await assertRejects(() => client.put({ key: "a", value: "v" }), UnknownOutcomeError);
    assertEquals(await versionOf(witness, "a"), 1);
    // Only one answer was to be lost, and other connections know nothing of it.
    await client.put({ key: "a", value: "w" });
    assertEquals(await versionOf(client, "a"), 2);
  }
});

Deno.test("reads and refused writes are answered while answers of writes are lost", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = newClient({ endpoints: store });
  store.faults.dropAnswers(2);
  await client.get({ key: "a" });
  const unknownLease = client.put({ key: "a", value: "v", lease: 5n });
  assertEquals(await reasonOf(unknownLease), "LEASE_NOT_FOUND");
  for (let i = 0; i < 2; i++) {
    await assertRejects(() => client.put({ key: "a", value: "v" }), UnknownOutcomeError);
  }
  assertEquals(await versionOf(client, "a"), 2);
});

/** Puts a key once, whatever becomes of the answer. */
async function putOnce(client: Client, key: string, value: string): Promise<void> {
  try {
    await client.put({ key, value });
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    if (await versionOf(client, key) === undefined) await client.put({ key, value });
  }
}

Deno.test("a watch goes on behind what it told when its connection is cut", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = newClient({ endpoints: store });
  const watch = await client.watch({ key: "k", prefix: true });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { events } of watch) {
      for (const { kv } of events) seen.push(kv.value);
      if (seen.length >= 20) return;
    }
  })();
  for (let i = 0; i < 20; i++) {
    await putOnce(client, `k${i}`, `${i}`);
    if (i % 5 === 4) store.faults.cutConnections();
  }
  await reading;
  assertEquals(seen, Array.from({ length: 20 }, (_, i) => `${i}`));
});

Deno.test("without a leader writes fail, watches that need one break, and both come back", async () => {
  await using store = listen({ addr: "memory:" });
  const { client, told } = withEvents(store);
  const watch = await client.watch({ key: "a" });
  const { header: { raftTerm } } = await client.put({ key: "a", value: "1" });
  assertEquals((await watch.read())?.events.length, 1);
  store.faults.noLeader = true;
  assertEquals(await reasonOf(client.put({ key: "a", value: "2" })), "NO_LEADER");
  assertEquals(await reasonOf(client.get({ key: "a" })), "NO_LEADER");
  assertEquals(await reasonOf(client.grant({ TTL: 5 })), "NO_LEADER");
  assertEquals((await client.get({ key: "a", serializable: true })).kvs[0]?.value, "1");
  const { error } = await told("watch-disconnected");
  assertEquals((error as KvError).reason, "NO_LEADER");
  store.faults.noLeader = false;
  const after = await client.put({ key: "a", value: "3" });
  assertEquals(after.header.raftTerm > raftTerm, true);
  assertEquals((await watch.read())?.events.map(({ kv }) => kv.value), ["3"]);
  await client.close();
});

Deno.test("leases outlive the time without a leader, and live for their whole time again", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = newClient({ endpoints: store });
  const { ID } = await client.grant({ TTL: 60, keepAlive: false });
  store.faults.noLeader = true;
  store.advance("1h");
  assertEquals(store.faults.expireLease(ID), false);
  store.faults.noLeader = false;
  assertEquals((await client.ttl({ ID })).TTL, 59);
  store.advance("59s");
  assertEquals((await client.leases()).leases.length, 1);
  store.advance("1s");
  assertEquals((await client.leases()).leases.length, 0);
});

Deno.test("a lease that is ended is lost, and its keys are gone", async () => {
  await using store = listen({ addr: "memory:" });
  const { client } = withEvents(store);
  const { ID } = await client.grant({ TTL: 600, keepAlive: false });
  await client.put({ key: "a", value: "v", lease: ID });
  const watch = await client.watch({ key: "a" });
  assertEquals(store.faults.expireLease(ID), true);
  assertEquals((await watch.read())?.events.map(({ type }) => type), ["DELETE"]);
  assertEquals(store.faults.expireLease(ID), false);
  await client.close();
});

Deno.test("a token that is ended is replaced, and nobody notices", async () => {
  await using store = listen({ addr: "memory:" });
  await using admin = newClient({ endpoints: store });
  await admin.auth.userAdd({ name: "root", password: "secret" });
  await admin.auth.roleAdd({ role: "root" });
  await admin.auth.userGrantRole({ name: "root", role: "root" });
  await admin.auth.enable();
  const auth = { name: "root", password: "secret" };
  await using client = newClient({ endpoints: store, auth });
  await client.put({ key: "a", value: "1" });
  store.faults.expireTokens("root");
  await client.put({ key: "a", value: "2" });
  store.faults.expireTokens();
  await client.put({ key: "a", value: "3" });
  store.advance("1h");
  assertEquals(await versionOf(client, "a"), 3);
});

Deno.test("history is dropped on order, and who looks at it is told", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = newClient({ endpoints: store });
  for (let i = 0; i < 5; i++) await client.put({ key: "a", value: `${i}` });
  assertEquals(await store.faults.compact(), 6);
  const read = client.get({ key: "a", revision: 3n });
  assertEquals((await assertRejects(() => read, KvError)).reason, "COMPACTED");
  const watch = await client.watch({ key: "a", revision: 2n });
  const error = await assertRejects(() => watch.read(), CompactedError);
  assertEquals(error.compactRevision, 6n);
  await assertRejects(() => store.faults.compact(6), Error, "compacted");
  await assertRejects(() => store.faults.compact(1.5), TypeError, "revision");
});

Deno.test("progress that is frozen is told by nobody, until it thaws", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = newClient({ endpoints: store });
  const notices: string[] = [];
  const noticed = Promise.withResolvers<void>();
  const watch = await client.watch({
    key: "a",
    progressNotify: true,
    onNotice: ({ kind }) => {
      notices.push(kind);
      if (kind === "progress") noticed.resolve();
    },
  });
  const reading = watch.read();
  store.faults.progressFrozen = true;
  for (let i = 0; i < 5; i++) store.advance("10m");
  const asked = watch.requestProgress({ timeout: 0.2 });
  await assertRejects(() => asked, KvError);
  assertEquals(notices.includes("progress"), false);
  store.faults.progressFrozen = false;
  store.advance("10m");
  await noticed.promise;
  await watch.requestProgress();
  watch.close();
  await reading.catch(() => {});
});

Deno.test("answers are kept back for a time of the store's clock, behind the work", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = newClient({ endpoints: store });
  const watch = await client.watch({ key: "a" });
  store.faults.delay = "1h";
  let answered = false;
  const put = client.put({ key: "a", value: "v" }).then(() => answered = true);
  // It is done: who watched before sees it.
  await watch.read();
  assertEquals(answered, false);
  store.advance("30m");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(answered, false);
  store.advance("30m");
  await put;
  store.faults.delay = 0;
  await client.get({ key: "a" });
});

Deno.test("a call that is given up while its answer is kept back leaves nothing behind", async () => {
  const clock = new FakeClock();
  await using store = listenAt(clock, { addr: "memory:" });
  await using client = newClient({ endpoints: store, retry: 0 });
  await client.get({ key: "a" });
  store.faults.delay = 60_000;
  const controller = new AbortController();
  const call = client.get({ key: "a" }, { signal: controller.signal });
  while (clock.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  controller.abort();
  await assertRejects(() => call);
  while (clock.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 0));
});

Deno.test("a store goes by the clock it is given", async () => {
  const clock = new FakeClock();
  await using store = listenAt(clock, { addr: "memory:" });
  await using client = newClient({ endpoints: store });
  await client.grant({ TTL: 10, keepAlive: false });
  await clock.advance(9_999);
  assertEquals((await client.leases()).leases.length, 1);
  // Leases end a moment after their time, as in etcd.
  await clock.advance(101);
  assertEquals((await client.leases()).leases.length, 0);
});

Deno.test("clear() ends what lasts", async () => {
  await using store = listen({ addr: "memory:" });
  await using client = newClient({ endpoints: store });
  const { faults } = store;
  faults.noLeader = faults.progressFrozen = true;
  faults.delay = 3_600_000;
  faults.dropAnswers(5);
  faults.clear();
  assertEquals([faults.noLeader, faults.progressFrozen, faults.delay], [false, false, 0]);
  await client.put({ key: "a", value: "v" });
});

Deno.test("faults and times that are none are refused", async () => {
  await using store = listen({ addr: "memory:" });
  const { faults } = store;
  for (
    const wrong of [
      () => faults.dropAnswers(-1),
      () => faults.dropAnswers("1" as unknown as number),
      () => faults.noLeader = 1 as unknown as boolean,
      () => faults.progressFrozen = "no" as unknown as boolean,
      () => faults.delay = "soon" as unknown as number,
      () => faults.delay = -1,
      () => faults.expireTokens(5 as unknown as string),
      () => store.advance("10"),
      () => store.advance("-10s"),
      () => store.advance("10 s"),
      () => store.advance(NaN),
      () => store.advance(Infinity),
      () => store.advance(undefined as unknown as number),
    ]
  ) assertThrows(wrong, TypeError, "Cannot ");
});

Deno.test("one store a test costs about a millisecond", async () => {
  const rounds = 100;
  const once = async () => {
    await using store = listen({ addr: "memory:" });
    await using client = newClient({ endpoints: store });
    await client.put({ key: "a", value: "v" });
  };
  for (let i = 0; i < rounds; i++) await once();
  const start = performance.now();
  for (let i = 0; i < rounds; i++) await once();
  const each = (performance.now() - start) / rounds;
  // Some 0.5 ms here; a machine that is busy may need longer.
  assert(each < 20, `${each} ms`);
});
