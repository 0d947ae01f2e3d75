import { assert, assertEquals, assertRejects } from "@std/assert";
import { kv } from "@sluice/sluice";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { etcdTest, rejected } from "../../../support/kv.ts";

/** Resolves when there are so many keys that begin with a prefix. */
async function untilKeys(client: kv.Client, key: string, count: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    if ((await client.get({ key, prefix: true, countOnly: true })).count === count) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`Waited in vain for ${count} keys`);
}

etcdTest("queues", async (step) => {
  await step("what is put in first comes out first, each once", async ({ client, key }) => {
    const queue = client.queue(`${key}queue`);
    for (let i = 0; i < 30; i++) await queue.enqueue(String(i));
    const taken: number[] = [];
    await Promise.all([1, 2, 3].map(async () => {
      const own: number[] = [];
      for (let i = 0; i < 10; i++) own.push(Number((await queue.dequeue()).value));
      assertEquals(own, own.toSorted((a, b) => a - b));
      taken.push(...own);
    }));
    assertEquals(taken.sort((a, b) => a - b), Array.from({ length: 30 }, (_, i) => i));
    assertEquals((await client.get({ key: `${key}queue`, prefix: true })).count, 0);
  });

  await step("who takes waits for what comes, until it gives up", async ({ client, key }) => {
    for (const queue of [client.queue(`${key}queue`), client.priorityQueue(`${key}priority`)]) {
      assertEquals((await rejected(queue.dequeue({ timeout: 50 }), kv.KvError)).code, 4);
      const given = new AbortController();
      const waiting = queue.dequeue({ signal: given.signal });
      given.abort();
      assertEquals((await rejected(waiting, kv.KvError)).code, 1);
      const taking = queue.dequeue();
      const bytes = Uint8Array.of(0xff, 0);
      await queue.enqueue(bytes);
      assertEquals((await taking).valueBytes, bytes);
      await queue.enqueue("x");
      for await (const { value } of queue) {
        assertEquals(value, "x");
        break;
      }
    }
  });

  await step("a put without an answer is carried out once", async ({ etcd, client, key }) => {
    await using proxy = new FaultProxy({ target: etcd.endpoint });
    await using harmed = kv.newClient({ endpoints: [proxy.endpoint], retrySleep: 50 });
    const queue = harmed.queue(`${key}queue`);
    await harmed.get({ key });
    for (let i = 0; i < 3; i++) {
      const watch = await client.watch({ key: `${queue.name}/`, prefix: true });
      proxy.delay = 100;
      const putting = queue.enqueue(String(i));
      await watch.read(5_000);
      proxy.drop();
      proxy.delay = 0;
      await putting;
      watch.close();
    }
    const { kvs } = await client.get({ key: `${queue.name}/`, prefix: true, sortTarget: "MOD" });
    assertEquals(kvs.map(({ value }) => value), ["0", "1", "2"]);
  });

  await step("the least priority comes out first, then what was put in first", async (s) => {
    const queue = s.client.priorityQueue(`${s.key}queue`);
    const put: string[] = [];
    await Promise.all(Array.from({ length: 20 }, async (_, i) => {
      const priority = i % 4;
      await queue.enqueue(`${priority}`, { priority });
      put.push(`${priority}`);
    }));
    const taken: string[] = [];
    for (let i = 0; i < 20; i++) taken.push((await queue.dequeue()).value);
    assertEquals(taken, put.sort());
    const error = await assertRejects(() => queue.enqueue("x", { priority: 65_536 }), TypeError);
    assert(error.message.includes("priority must be an integer from 0 to 65535"), error.message);
  });
});

etcdTest("barriers", async (step) => {
  await step("those who wait go on when it is released", async ({ client, key }) => {
    const barrier = client.barrier(`${key}barrier`);
    await barrier.wait();
    await barrier.hold();
    assertEquals((await rejected(barrier.hold(), kv.KvError)).code, 6);
    assertEquals((await rejected(barrier.wait({ timeout: 50 }), kv.KvError)).code, 4);
    const waiting = [1, 2, 3].map(() => barrier.wait());
    await client.barrier(barrier.name).release();
    await Promise.all(waiting);
  });

  await step("it is released with the session that holds it", async ({ client, key }) => {
    const session = await client.session({ ttl: 10 });
    const barrier = client.barrier(`${key}barrier`);
    await barrier.hold({ session });
    const waiting = barrier.wait();
    await session.close();
    await waiting;
  });

  await step("a hold without an answer is one's own", async ({ etcd, client, key }) => {
    await using proxy = new FaultProxy({ target: etcd.endpoint });
    await using harmed = kv.newClient({ endpoints: [proxy.endpoint], retrySleep: 50 });
    await harmed.get({ key });
    const watch = await client.watch({ key: `${key}barrier` });
    proxy.delay = 100;
    const holding = harmed.barrier(`${key}barrier`).hold();
    await watch.read(5_000);
    proxy.drop();
    proxy.delay = 0;
    await holding;
    watch.close();
  });

  await step("members of a double barrier enter and leave together", async ({ client, key }) => {
    const sessions = await Promise.all([1, 2, 3, 4].map(() => client.session({ ttl: 10 })));
    for (let round = 0; round < 3; round++) {
      const members = sessions.slice(0, 3).map((session) =>
        client.doubleBarrier(`${key}barrier`, 3, session)
      );
      const entered: number[] = [];
      const entering = members.slice(0, 2).map((member, i) =>
        member.enter().then(() => entered.push(i))
      );
      await untilKeys(client, `${key}barrier/waiters/`, 2);
      assertEquals(entered, []);
      await members[2]!.enter();
      await Promise.all(entering);
      const late = client.doubleBarrier(`${key}barrier`, 3, sessions[3]!);
      assertEquals((await rejected(late.enter(), kv.KvError)).code, 8);
      await untilKeys(client, `${key}barrier/waiters/`, 3);
      const left: number[] = [];
      const leaving = members.slice(0, 2).map((member, i) =>
        member.leave().then(() => left.push(i))
      );
      await untilKeys(client, `${key}barrier/waiters/`, 2);
      assertEquals(left, []);
      await members[2]!.leave();
      await Promise.all(leaving);
      await untilKeys(client, `${key}barrier`, 0);
    }
    await Promise.all(sessions.map((session) => session.close()));
  });

  await step("a member that gives up or dies is out", async ({ client, key }) => {
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => client.session({ ttl: 10 })),
    );
    const barrier = (session: kv.Session) => client.doubleBarrier(`${key}barrier`, 2, session);
    const patient = barrier(first!);
    assertEquals((await rejected(patient.enter({ timeout: 50 }), kv.KvError)).code, 4);
    await untilKeys(client, `${key}barrier/waiters/`, 0);
    const [one, two] = [barrier(first!), barrier(second!)];
    await Promise.all([one.enter(), two.enter()]);
    const leaving = one.leave();
    await second!.close();
    await leaving;
    await assertRejects(() => two.leave(), kv.LeaseLostError);
    await assertRejects(() => barrier(third!).leave(), TypeError, "was not entered");
    await Promise.all([first!.close(), third!.close()]);
  });
});

etcdTest("within a namespace", async (step) => {
  await step("locks, elections, transactions and queues have their keys there", async (s) => {
    const part = s.client.namespace(`${s.key}part/`);
    await using lock = await part.lock("lock", { ttl: 10 });
    assertEquals(await part.lock("lock", { try: true }), null);
    await using outside = (await s.client.lock(`${s.key}lock`, { try: true }))!;
    assertEquals(outside.signal.aborted, false);
    await using leadership = await part.election("election").campaign("me", { ttl: 10 });
    assertEquals((await s.client.election(`${s.key}part/election`).leader())!.value, "me");
    await part.transaction(async (tx) => {
      tx.put("a", `was ${await tx.get("a")}`);
    });
    assertEquals((await s.client.get({ key: `${s.key}part/a` })).kvs[0]!.value, "was undefined");
    await part.queue("queue").enqueue("x");
    assertEquals((await s.client.queue(`${s.key}part/queue`).dequeue()).value, "x");
    await leadership.proclaim("still me");
    assertEquals((await part.txn({ compare: [lock.condition] })).succeeded, true);
    // A session of the client holds locks of the namespace as well, apart from its own.
    await using session = await s.client.session({ ttl: 10 });
    await using inside = await part.lock("shared", { session });
    await using beside = await s.client.lock("shared", { session, timeout: 5_000 });
    assertEquals((await s.client.get({ key: `${s.key}part/${inside.key}` })).count, 1);
    assertEquals(await part.lock("shared", { try: true }), null);
    assert(beside.revision > inside.revision);
    // However one comes to a part of the keys, a name is held once.
    const again = s.client.namespace(s.key).namespace("part/");
    assertEquals(await again.lock("shared", { session, try: true }), null);
    const first = await again.election("candidates").campaign("one", { session });
    assertEquals(await part.election("candidates").campaign("two", { session }), first);
    const barrier = part.doubleBarrier("double", 1, session);
    await barrier.enter();
    assertEquals((await s.client.get({ key: `${s.key}part/double/ready` })).count, 1);
    await barrier.leave();
    const seen: string[] = [];
    for await (const { key, value } of part.election("election").observe()) {
      seen.push(key.split("/")[0]!, value);
      break;
    }
    assertEquals(seen, ["election", "still me"]);
  });
});
