/**
 * Cases of integration/clientv3/concurrency/*_test.go and experimental/recipes/*_test.go, of
 * integration/v3_election_test.go and v3_stm_test.go.
 */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { rejected } from "../../../support/kv.ts";
import { etcdCase, type Stage } from "./case.ts";

const THREE = { members: 3 };

/** Clients that know one member each, or all the same one. */
function clientsOf({ cluster, client2 }: Stage, count: number, spread: boolean): kv.Client[] {
  return Array.from({ length: count }, (_, i) =>
    client2({
      endpoints: [cluster.members[spread ? i % cluster.members.length : 0]!.clients.endpoint],
    }));
}

// ---- sessions --------------------------------------------------------------------------------------

etcdCase("TestSessionOptions", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 100, keepAlive: false });
  const session = await client.session({ lease: ID });
  assertEquals(session.lease, ID);
  session.orphan();
  assert(session.signal.aborted);
  assert((await client.ttl({ ID })).TTL > 0);
});

etcdCase("TestSessionTTLOptions", async ({ client }) => {
  await using session = await client.session({ ttl: 90 });
  const { TTL, grantedTTL } = await client.ttl({ ID: session.lease });
  assertEquals(grantedTTL, 90);
  assert(TTL <= 90 && TTL > 70, String(TTL));
});

etcdCase("TestSessionCtx", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 100, keepAlive: false });
  const session = await client.session({ lease: ID });
  const child = AbortSignal.any([session.signal, new AbortController().signal]);
  assertEquals(child.aborted, false);
  session.orphan();
  assert(child.aborted);
});

// ---- locks -----------------------------------------------------------------------------------------

etcdCase("TestMutexLockSessionExpired", async ({ client }) => {
  await using first = await client.session();
  const second = await client.session();
  const lock = await client.lock("/my-lock/", { session: first });
  const waiting = kv.attempt(client.lock("/my-lock/", { session: second }));
  await second.close();
  await lock.release();
  const [, error] = await waiting;
  assert(error !== undefined, "a lock without a session");
});

etcdCase("TestMutexUnlock", async ({ client }) => {
  const lock = await client.lock("/my-lock/");
  await lock.release();
  assert(lock.signal.aborted);
  // Here it may be called again: it is what `await using` does.
  await lock.release();
  assertEquals((await client.get({ key: "/my-lock/", prefix: true })).kvs, []);
});

async function locks(stage: Stage, spread: boolean): Promise<void> {
  let held = 0;
  const work = clientsOf(stage, 5, spread).map(async (client) => {
    const lock = await client.lock("test-mutex");
    assertEquals(++held, 1);
    await client.get({ key: "a" });
    held--;
    await lock.release();
  });
  await Promise.all(work);
}

etcdCase("TestMutexLockSingleNode", (stage) => locks(stage, false));

etcdCase("TestMutexLockMultiNode", (stage) => locks(stage, true), THREE);

async function tries(stage: Stage, spread: boolean): Promise<void> {
  const got = await Promise.all(
    clientsOf(stage, 5, spread).map((client) => client.lock("test-mutex-try", { try: true })),
  );
  assertEquals(got.filter((lock) => lock !== null).length, 1);
}

etcdCase("TestMutexTryLockSingleNode", (stage) => tries(stage, false));

etcdCase("TestMutexTryLockMultiNode", (stage) => tries(stage, true), THREE);

etcdCase("TestMutexWaitsOnCurrentHolder", async ({ client }) => {
  const watch = await client.watch({ key: "test-mutex/", prefix: true });
  const next = async () => (await watch.read(10_000))!.events.map(({ type }) => type);
  const first = await client.lock("test-mutex");
  assertEquals(await next(), ["PUT"]);
  const victim = await client.session();
  const second = kv.attempt(client.lock("test-mutex", { session: victim }));
  assertEquals(await next(), ["PUT"]);
  let owned = false;
  const third = client.lock("test-mutex");
  third.then(() => owned = true);
  assertEquals(await next(), ["PUT"]);
  await victim.close();
  assertEquals(await next(), ["DELETE"]);
  assert((await second)[1] !== undefined);
  await client.get({ key: "a" });
  assertEquals(owned, false);
  await first.release();
  const lock = await third;
  await lock.release();
});

async function readersAndWriters(stage: Stage, spread: boolean): Promise<void> {
  let readers = 0;
  let writers = 0;
  const work = clientsOf(stage, 10, spread).map(async (client, i) => {
    const lock = i % 2 === 0 ? await client.readLock("rw") : await client.writeLock("rw");
    if (i % 2 === 0) readers++;
    else writers++;
    assert(writers === 0 || (writers === 1 && readers === 0), `${readers} and ${writers}`);
    await client.get({ key: "a" });
    if (i % 2 === 0) readers--;
    else writers--;
    await lock.release();
  });
  await Promise.all(work);
}

etcdCase("TestRWMutexSingleNode", (stage) => readersAndWriters(stage, false));

etcdCase("TestRWMutexMultiNode", (stage) => readersAndWriters(stage, true), THREE);

// ---- elections -------------------------------------------------------------------------------------

etcdCase("TestResumeElection", async ({ client }) => {
  const session = await client.session();
  const election = client.election("resume-election");
  const observed = election.observe();
  await election.campaign("candidate1", { session });
  assertEquals((await observed.next()).value!.value, "candidate1");
  // Who stands again in the same session leads on.
  const again = await client.election("resume-election").campaign("candidate1", { session });
  await client.put({ key: "foo", value: "bar" });
  await again.resign();
  await election.campaign("candidate2", { session });
  let seen = (await observed.next()).value!.value;
  while (seen === "candidate1") seen = (await observed.next()).value!.value;
  assertEquals(seen, "candidate2");
  await observed.return();
});

etcdCase("TestElectionWait", async (stage) => {
  const clients = clientsOf(stage, 3, true);
  const leaders: string[] = [];
  await Promise.all(clients.map(async (client, i) => {
    const leadership = await client.election("test-election").campaign(`leader-${i}`);
    leaders.push((await client.election("test-election").leader())!.value);
    assertEquals(leaders.at(-1), `leader-${i}`);
    await leadership.resign();
  }));
  assertEquals(leaders.toSorted(), ["leader-0", "leader-1", "leader-2"]);
}, THREE);

etcdCase("TestElectionFailover", async (stage) => {
  const clients = clientsOf(stage, 3, true);
  const sessions = await Promise.all(clients.map((client) => client.session()));
  const [first, second, observer] = clients.map((client) => client.election("test-election"));
  await first!.campaign("foo", { session: sessions[0]! });
  const observed = observer!.observe();
  assertEquals((await observed.next()).value!.value, "foo");
  const campaigning = second!.campaign("bar", { session: sessions[1]! });
  await sessions[0]!.close();
  await campaigning;
  assertEquals((await observed.next()).value!.value, "bar");
  await observed.return();
}, THREE);

etcdCase("TestElectionSessionRecampaign", async ({ client }) => {
  const session = await client.session();
  await client.election("test-elect").campaign("abc", { session });
  await client.election("test-elect").campaign("def", { session });
  assertEquals((await client.election("test-elect").leader())!.value, "def");
});

etcdCase("TestElectionOnPrefixOfExistingKey", async ({ client }) => {
  await client.put({ key: "testa", value: "value" });
  const leadership = await client.election("test").campaign("abc", { timeout: 10_000 });
  await leadership.resign();
});

etcdCase("TestElectionOnSessionRestart", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 60 });
  await client.election("test-elect").campaign("abc", {
    session: await client.session({ lease: ID }),
  });
  await using waiter = await client.session();
  const waiting = kv.attempt(
    client.election("test-elect").campaign("bar", { session: waiter, timeout: 20_000 }),
  );
  // A process that starts anew with its old lease.
  const again = await client.election("test-elect").campaign("def", {
    session: await client.session({ lease: ID }),
  });
  assertEquals((await client.election("test-elect").leader())!.value, "def");
  await again.resign();
  assertEquals((await waiting)[1], undefined);
});

etcdCase("TestElectionObserveCompacted", async ({ client }) => {
  await client.election("test-elect").campaign("abc");
  const { header } = await client.put({ key: "foo", value: "bar" });
  await client.compact({ revision: header.revision });
  const observed = client.election("test-elect").observe();
  assertEquals((await observed.next()).value!.value, "abc");
  await observed.return();
});

etcdCase("TestElectionObserveFreshResponsesOnProclaim", async ({ client }) => {
  const election = client.election("test-elect");
  const leadership = await election.campaign("0");
  const observed = election.observe();
  assertEquals((await observed.next()).value!.value, "0");
  for (let i = 1; i <= 5; i++) {
    await leadership.proclaim(String(i));
    assertEquals((await observed.next()).value!.value, String(i));
  }
  await observed.return();
});

etcdCase("TestElectionWithAuthEnabled", async ({ client, client2 }) => {
  const { auth } = client;
  await auth.userAdd({ name: "root", password: "123" });
  await auth.roleAdd({ role: "root" });
  await auth.userGrantRole({ name: "root", role: "root" });
  await auth.userAdd({ name: "candidate", password: "123" });
  await auth.roleAdd({ role: "elect" });
  await auth.roleGrantPermission({
    role: "elect",
    key: "test-elect/",
    prefix: true,
    permission: "READWRITE",
  });
  await auth.userGrantRole({ name: "candidate", role: "elect" });
  await auth.enable();
  const candidate = client2({ auth: { name: "candidate", password: "123" } });
  const leadership = await candidate.election("test-elect").campaign("abc");
  assertEquals((await candidate.election("test-elect").leader())!.value, "abc");
  await leadership.resign();
});

// ---- transactions ----------------------------------------------------------------------------------

etcdCase("TestSTMConflict", async ({ client, client2 }) => {
  const keys = Array.from({ length: 5 }, (_, i) => `foo-${i}`);
  for (const key of keys) await client.put({ key, value: "100" });
  await Promise.all(keys.map(async (_, i) => {
    const one = client2();
    await one.transaction(async (tx) => {
      const [from, to] = [keys[i]!, keys[(i + 1) % 5]!];
      const amount = 7 * (i + 1);
      const [left, right] = await tx.getAll([from, to]);
      tx.put(from, String(Number(left) - amount));
      tx.put(to, String(Number(right) + amount));
    });
  }));
  const { kvs } = await client.get({ key: "foo-", prefix: true });
  assertEquals(kvs.reduce((sum, { value }) => sum + Number(value), 0), 500);
});

etcdCase("TestSTMPutNewKey", async ({ client }) => {
  await client.transaction((tx) => tx.put("foo", "bar"));
  assertEquals((await client.get({ key: "foo" })).kvs[0]!.value, "bar");
});

etcdCase("TestSTMAbort", async ({ client }) => {
  const abort = new AbortController();
  const running = client.transaction((tx) => {
    tx.put("foo", "baz");
    abort.abort();
  }, { signal: abort.signal });
  await rejected(running, Error);
  assertEquals((await client.get({ key: "foo" })).kvs, []);
});

etcdCase("TestSTMSerialize", async ({ client, client2 }) => {
  const keys = Array.from({ length: 5 }, (_, i) => `foo-${i}`);
  let writing = true;
  const writer = (async () => {
    for (let i = 0; i < 30; i++) {
      await client.txn({ success: keys.map((key) => ({ put: { key, value: String(i) } })) });
    }
    writing = false;
  })();
  const reader = client2();
  do {
    const { value } = await reader.transaction(async (tx) => {
      const found: (string | undefined)[] = [];
      for (const key of keys) found.push(await tx.get(key));
      return found;
    });
    assertEquals(new Set(value).size, 1, String(value));
  } while (writing);
  await writer;
});

etcdCase("TestSTMApplyOnConcurrentDeletion", async ({ client, client2 }) => {
  await client.put({ key: "foo", value: "bar" });
  const other = client2();
  let first = true;
  const { attempts } = await client.transaction(async (tx) => {
    await tx.get("foo");
    if (first) await other.delete({ key: "foo" });
    first = false;
    tx.put("foo2", "bar2");
  });
  assertEquals(attempts, 2);
  assertEquals((await client.get({ key: "foo2" })).kvs[0]!.value, "bar2");
});

etcdCase("TestSTMSerializableSnapshotPut", async ({ client }) => {
  await client.put({ key: "a", value: "a" });
  await client.put({ key: "b", value: "b" });
  const { attempts } = await client.transaction(async (tx) => {
    await tx.get("a");
    tx.put("b", "c");
  }, { isolation: "serializable-snapshot", timeout: 10_000 });
  assertEquals(attempts, 1);
  assertEquals((await client.get({ key: "b" })).kvs[0]!.version, 2);
});

// ---- barriers and queues ---------------------------------------------------------------------------

async function barriers(stage: Stage, spread: boolean): Promise<void> {
  const clients = clientsOf(stage, 6, spread);
  const barrier = clients[0]!.barrier("test-barrier");
  await barrier.hold();
  await rejected(clients[1]!.barrier("test-barrier").hold(), Error);
  await stage.client.put({ key: "x", value: "" });
  let through = 0;
  const waiting = clients.slice(1).map(async (client) => {
    await client.barrier("test-barrier").wait();
    through++;
  });
  await stage.client.get({ key: "x" });
  assertEquals(through, 0);
  await barrier.release();
  await Promise.all(waiting);
}

etcdCase("TestBarrierSingleNode", (stage) => barriers(stage, false));

etcdCase("TestBarrierMultiNode", (stage) => barriers(stage, true), THREE);

etcdCase("TestBarrierWaitNonexistentKey", async ({ client }) => {
  await client.put({ key: "test-barrier-0", value: "" });
  await Promise.all(
    Array.from({ length: 5 }, () => client.barrier("test-barrier").wait({ timeout: 10_000 })),
  );
});

etcdCase("TestDoubleBarrier", async (stage) => {
  const clients = clientsOf(stage, 10, true);
  let entered = 0;
  let left = 0;
  const members = await Promise.all(
    clients.map(async (client) => client.doubleBarrier("test", 10, await client.session())),
  );
  const last = members.pop()!;
  const others = members.map(async (member) => {
    await member.enter();
    entered++;
    await member.leave();
    left++;
  });
  await stage.client.get({ key: "x" });
  assertEquals(entered, 0);
  await last.enter();
  while (entered < 9) await new Promise((resolve) => setTimeout(resolve, 5));
  assertEquals(left, 0);
  await last.leave();
  await Promise.all(others);
}, THREE);

etcdCase("TestDoubleBarrierTooManyClients", async ({ client }) => {
  const session = await client.session();
  const members = Array.from({ length: 5 }, () => client.doubleBarrier("test", 5, session));
  await Promise.all(members.map((member) => member.enter()));
  await rejected(client.doubleBarrier("test", 5, session).enter({ timeout: 10_000 }), kv.KvError);
  const { kvs } = await client.get({ key: "test/waiters", prefix: true });
  assertEquals(kvs.length, 5);
  await Promise.all(members.map((member) => member.leave()));
});

etcdCase("TestDoubleBarrierFailover", async ({ client }) => {
  const [dying, living] = [await client.session(), await client.session()];
  const victim = client.doubleBarrier("test", 5, dying);
  const members = Array.from({ length: 4 }, () => client.doubleBarrier("test", 5, living));
  await Promise.all([victim, ...members].map((member) => member.enter()));
  await dying.close();
  await Promise.all(members.map((member) => member.leave({ timeout: 20_000 })));
});

/** Values go in by some and come out by some, each once. */
async function queues(
  stage: Stage,
  readers: number,
  writers: number,
  queueOf: (client: kv.Client) => {
    enqueue(value: string): Promise<void>;
    dequeue(): Promise<kv.KeyValue>;
  },
): Promise<string[]> {
  const count = 12;
  const sent = Array.from({ length: count }, (_, i) => `${i}`);
  const got: string[] = [];
  await Promise.all([
    ...Array.from({ length: writers }, async (_, w) => {
      const queue = queueOf(stage.client2());
      for (const value of sent.filter((_, i) => i % writers === w)) await queue.enqueue(value);
    }),
    ...Array.from({ length: readers }, async (_, r) => {
      const queue = queueOf(stage.client2());
      for (let i = r; i < count; i += readers) got.push((await queue.dequeue()).value);
    }),
  ]);
  assertEquals(got.toSorted(), sent.toSorted());
  return got;
}

const fifo = (client: kv.Client) => client.queue("testq");

etcdCase("TestQueueOneReaderOneWriter", async (stage) => {
  const got = await queues(stage, 1, 1, fifo);
  assertEquals(got, got.toSorted((a, b) => Number(a) - Number(b)));
});

etcdCase("TestQueueManyReaderOneWriter", async (stage) => void await queues(stage, 4, 1, fifo));

etcdCase("TestQueueOneReaderManyWriter", async (stage) => void await queues(stage, 1, 4, fifo));

etcdCase("TestQueueManyReaderManyWriter", async (stage) => void await queues(stage, 4, 4, fifo));

etcdCase("TestPrQueueOneReaderOneWriter", async ({ client }) => {
  const queue = client.priorityQueue("testprq");
  const priorities = [3, 1, 4, 1, 5, 9, 2, 6];
  for (const priority of priorities) await queue.enqueue(String(priority), { priority });
  const got: number[] = [];
  for (const _ of priorities) got.push(Number((await queue.dequeue()).value));
  assertEquals(got, priorities.toSorted((a, b) => a - b));
});

etcdCase("TestPrQueueManyReaderManyWriter", async (stage) => {
  await queues(stage, 4, 4, (client) => {
    const queue = client.priorityQueue("testprq");
    return {
      enqueue: (value) => queue.enqueue(value, { priority: Number(value) % 3 }),
      dequeue: () => queue.dequeue(),
    };
  });
});

etcdCase("TestMutexSessionRelock", async ({ client }) => {
  await using session = await client.session();
  const lock = await client.lock("test-mutex", { session });
  // In one session too a name is held by one at a time: who does not want to wait is told.
  assertStrictEquals(await client.lock("test-mutex", { session, try: true }), null);
  await lock.release();
  const again = await client.lock("test-mutex", { session });
  await again.release();
});
