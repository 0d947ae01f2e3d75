import { assert, assertEquals, assertRejects } from "@std/assert";
import { kv } from "@sluice/sluice";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { etcdTest, rejected, type Scene, until } from "../../../support/kv.ts";

/** Keys that begin with a prefix. */
async function keysOf(client: kv.Client, key: string): Promise<string[]> {
  const { kvs } = await client.get({ key, prefix: true, keysOnly: true });
  return kvs.map((one) => one.key);
}

/** Resolves when there are so many keys that begin with a prefix. */
async function untilKeys(client: kv.Client, key: string, count: number): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    if ((await client.get({ key, prefix: true, countOnly: true })).count === count) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`Waited in vain for ${count} keys: ${await keysOf(client, key)}`);
}

/** A client through a proxy that its test harms. */
async function through(
  { etcd }: Scene,
  run: (proxy: FaultProxy, client: kv.Client) => Promise<void>,
  options: Partial<kv.ClientOptions> = {},
): Promise<void> {
  await using proxy = new FaultProxy({ target: etcd.endpoint });
  await using client = kv.newClient({
    endpoints: [proxy.endpoint],
    retrySleep: 50,
    onLeaseLost: null,
    ...options,
  });
  await run(proxy, client);
}

etcdTest("locks", async (step) => {
  await step("a lock is held by one at a time, in the order it was asked for", async (s) => {
    const name = `${s.key}lock`;
    const first = await s.client.lock(name, { ttl: 10 });
    assertEquals(first.signal.aborted, false);
    assertEquals(await keysOf(s.client, name), [`${name}/${first.session.lease.toString(16)}`]);
    const order: number[] = [];
    const revisions = [first.revision];
    const waiters: Promise<void>[] = [];
    for (let i = 0; i < 4; i++) {
      waiters.push(
        s.client.lock(name, { ttl: 10 }).then(async (lock) => {
          order.push(i);
          revisions.push(lock.revision);
          assertEquals((await s.client.txn({ compare: [lock.condition] })).succeeded, true);
          await lock.release();
          assertEquals((await s.client.txn({ compare: [lock.condition] })).succeeded, false);
        }),
      );
      await untilKeys(s.client, name, i + 2);
    }
    assertEquals(order, []);
    await first.release();
    await Promise.all(waiters);
    assertEquals(order, [0, 1, 2, 3]);
    assert(revisions.every((one, i) => i === 0 || one > revisions[i - 1]!), "fencing tokens grow");
    assertEquals(await keysOf(s.client, name), []);
    assertEquals((await s.client.leases()).leases, []);
  });

  await step("`await using` releases; release() may be called again", async (s) => {
    const name = `${s.key}lock`;
    let kept: kv.Lock;
    {
      await using lock = await s.client.lock(name, { ttl: 10 });
      kept = lock;
    }
    assertEquals(await keysOf(s.client, name), []);
    const reason = kept.signal.reason;
    assert(reason instanceof kv.OwnershipLostError);
    assertEquals(reason.how, "released");
    await kept.release();
  });

  await step("with `try`, a lock that is held gives null and leaves no key", async (s) => {
    const name = `${s.key}lock`;
    await using session = await s.client.session({ ttl: 10 });
    await using lock = await s.client.lock(name, { session });
    assertEquals(await s.client.lock(name, { try: true }), null);
    await using other = await s.client.session({ ttl: 10 });
    assertEquals(await s.client.lock(name, { try: true, session: other }), null);
    assertEquals(await keysOf(s.client, name), [lock.key]);
    await lock.release();
    await using again = await s.client.lock(name, { try: true, session: other });
    assert(again !== null);
  });

  await step("a wait that is given up leaves no key, and says why it ended", async (s) => {
    const name = `${s.key}lock`;
    await using session = await s.client.session({ ttl: 10 });
    await using lock = await s.client.lock(name, { session });
    for (const options of [{}, { session: await s.client.session({ ttl: 10 }) }]) {
      const late = await rejected(s.client.lock(name, { ...options, timeout: 100 }), kv.KvError);
      assertEquals(late.code, 4);
      const controller = new AbortController();
      const waiting = s.client.lock(name, { ...options, signal: controller.signal });
      await untilKeys(s.client, name, 2);
      controller.abort(new Error("enough"));
      const error = await rejected(waiting, kv.KvError);
      assertEquals([error.code, (error.cause as Error).message], [1, "enough"]);
      await untilKeys(s.client, name, 1);
      await options.session?.close();
    }
    await lock.release();
    await using _ = await s.client.lock(name, { session, timeout: 5_000 });
  });

  await step("in one session a name is held once at a time", async (s) => {
    const name = `${s.key}lock`;
    await using session = await s.client.session({ ttl: 10 });
    let inside = 0;
    let most = 0;
    await Promise.all(Array.from({ length: 20 }, async () => {
      await using lock = await s.client.lock(name, { session });
      most = Math.max(most, ++inside);
      await s.client.put({ key: `${s.key}x`, value: lock.key });
      inside--;
    }));
    assertEquals(most, 1);
    const held = await s.client.lock(name, { session });
    const error = await rejected(s.client.lock(name, { session, timeout: 50 }), kv.KvError);
    assertEquals(error.code, 4);
    assertEquals(await s.client.lock(name, { session, try: true }), null);
    await held.release();
    await using _ = await s.client.lock(name, { session, try: true });
  });

  await step("the end of the session ends its locks, before others get them", async (s) => {
    const name = `${s.key}lock`;
    const session = await s.client.session({ ttl: 10 });
    const lock = await s.client.lock(name, { session });
    let told = false;
    lock.signal.addEventListener("abort", () => told = true);
    const other = s.client.lock(name, { ttl: 10 }).then((lock) => {
      assertEquals(told, true);
      return lock;
    });
    await untilKeys(s.client, name, 2);
    await session.close();
    await using _ = await other;
    assert(lock.signal.reason instanceof kv.LeaseLostError);
    await assertRejects(() => s.client.lock(name, { session }), kv.LeaseLostError);
  });

  await step("the end of the session ends the wait for a lock", async (s) => {
    const name = `${s.key}lock`;
    await using _ = await s.client.lock(name, { ttl: 10 });
    const session = await s.client.session({ ttl: 10 });
    const waiting = s.client.lock(name, { session });
    await untilKeys(s.client, name, 2);
    await session.close();
    assertEquals((await rejected(waiting, kv.LeaseLostError)).how, "revoked");
  });

  await step("a key that somebody else removes ends its lock, and its wait", async (s) => {
    const name = `${s.key}lock`;
    await using lock = await s.client.lock(name, { ttl: 10 });
    const waiting = s.client.lock(name, { ttl: 10 });
    await untilKeys(s.client, name, 2);
    const [key] = (await keysOf(s.client, name)).filter((key) => key !== lock.key);
    await s.client.delete({ key: key! });
    await s.client.delete({ key: lock.key });
    assertEquals((await rejected(waiting, kv.OwnershipLostError)).how, "deleted");
    await until("the lock is told", () => lock.signal.aborted);
    assertEquals((lock.signal.reason as kv.OwnershipLostError).how, "deleted");
  });

  await step("history that is compacted disturbs neither holder nor waiter", async (s) => {
    const name = `${s.key}lock`;
    await through(s, async (proxy, client) => {
      const lock = await s.client.lock(name, { ttl: 10 });
      const mine = await client.lock(`${name}2`, { ttl: 10 });
      const waiting = client.lock(name, { ttl: 10 });
      await untilKeys(s.client, `${name}/`, 2);
      proxy.mode = "refuse";
      proxy.drop();
      for (let i = 0; i < 10; i++) await s.client.put({ key: `${s.key}x`, value: "" });
      const { header } = await s.client.put({ key: `${s.key}x`, value: "" });
      await s.client.compact({ revision: header.revision });
      proxy.mode = "pass";
      await s.client.put({ key: `${s.key}x`, value: "" });
      await lock.release();
      await using _ = await waiting;
      assertEquals(mine.signal.aborted, false);
      await mine.release();
    });
  });

  await step("a put without an answer is resolved, whoever carried it out", async (s) => {
    const name = `${s.key}lock`;
    await through(s, async (proxy, client) => {
      await using session = await client.session({ ttl: 10 });
      for (let round = 0; round < 5; round++) {
        const watch = await s.client.watch({ key: `${name}/`, prefix: true, noDelete: true });
        proxy.delay = 100;
        const locking = client.lock(name, { session });
        // It is carried out, and its answer is in the proxy.
        await watch.read(5_000);
        proxy.drop();
        proxy.delay = 0;
        await using lock = await locking;
        assertEquals(await keysOf(s.client, name), [lock.key]);
        watch.close();
      }
      assertEquals(await keysOf(s.client, name), []);
    });
  });

  await step("a put that is given up and carried out later leaves no key", async (s) => {
    const name = `${s.key}lock`;
    await through(s, async (proxy, client) => {
      await using session = await client.session({ ttl: 30 });
      const key = `${name}/${session.lease.toString(16)}`;
      proxy.delay = 60;
      const locking = client.lock(name, { session, timeout: 80 });
      await rejected(locking, kv.KvError);
      proxy.drop();
      proxy.delay = 0;
      // As a member would that was frozen: the put comes when nobody wants it any more.
      await s.client.put({ key, value: "", lease: session.lease });
      await using lock = await s.client.lock(name, { ttl: 10, timeout: 5_000 });
      assertEquals(await keysOf(s.client, name), [lock.key]);
    });
  });

  await step("a lock in a silent network is lost here before it is free there", async (s) => {
    const name = `${s.key}lock`;
    await through(s, async (proxy, client) => {
      const lock = await client.lock(name, { ttl: 2 });
      const other = s.client.lock(name, { ttl: 10 });
      await untilKeys(s.client, name, 2);
      let told = 0;
      lock.signal.addEventListener("abort", () => told = performance.now());
      proxy.mode = "hold";
      const next = await other;
      const free = performance.now();
      assert(told > 0 && told < free, `told at ${told}, free at ${free}`);
      assertEquals((lock.signal.reason as kv.LeaseLostError).how, "unrenewed");
      assert(next.revision > lock.revision);
      await next.release();
    });
  });

  await step("readers hold a lock together, writers alone", async (s) => {
    const name = `${s.key}lock`;
    await using session = await s.client.session({ ttl: 10 });
    const readers = await Promise.all([1, 2, 3].map(() => s.client.readLock(name, { session })));
    assertEquals(await s.client.writeLock(name, { session, try: true }), null);
    const writing = s.client.writeLock(name, { session });
    await untilKeys(s.client, `${name}/write/`, 1);
    // Behind a writer that waits, readers wait too.
    assertEquals(await s.client.readLock(name, { session, try: true }), null);
    for (const reader of readers) await reader.release();
    const writer = await writing;
    const late = s.client.readLock(name, { session });
    await untilKeys(s.client, `${name}/read/`, 1);
    await writer.release();
    await (await late).release();
    assertEquals(await keysOf(s.client, name), []);
  });

  await step("wrong requests are told what to change", async (s) => {
    const wrong = async (call: () => Promise<unknown>, message: string) => {
      const error = await assertRejects(call, TypeError);
      assert(error.message.includes(message), error.message);
    };
    // deno-lint-ignore no-explicit-any
    const { client } = s as any;
    await wrong(() => client.lock(""), "Cannot lock without a name");
    await wrong(() => client.lock(5), "name must be a string: current value is 5");
    await wrong(() => client.lock("a", { tll: 5 }), 'no option "tll": did you mean "ttl"?');
    await wrong(() => client.lock("a", { try: 1 }), "try must be true or false");
    await wrong(() => client.lock("a", { timeout: "1" }), "timeout must be a number");
    await wrong(() => client.lock("a", { session: {} }), "session must be one that session() gave");
    await wrong(() => client.lock("a", { ttl: 0 }), "ttl must be a number >= 1");
    await wrong(() => client.session({ ttl: 5, lease: 5n }), "a ttl and a lease");
    const session = await s.client.session({ ttl: 5 });
    await wrong(() => client.lock("a", { session, ttl: 5 }), "a session and a ttl");
    await session.close();
  });
}, []);

etcdTest("sessions", async (step) => {
  await step("a session's signal aborts before close() ends the lease", async (s) => {
    const session = await s.client.session({ ttl: 10 });
    await s.client.put({ key: s.key, value: "", lease: session.lease });
    const closing = session.close();
    assertEquals(session.signal.aborted, true);
    await closing;
    assertEquals((await s.client.get({ key: s.key })).count, 0);
    await session.close();
  });

  await step("an orphaned session ends here, and its lease when its time is over", async (s) => {
    const session = await s.client.session({ ttl: 2 });
    await s.client.put({ key: s.key, value: "", lease: session.lease });
    const watch = await s.client.watch({ key: s.key });
    session.orphan();
    assertEquals((session.signal.reason as kv.LeaseLostError).how, "released");
    assertEquals((await s.client.get({ key: s.key })).count, 1);
    assertEquals((await watch.read(10_000))!.events[0]!.type, "DELETE");
  });

  await step("a session of a lease made elsewhere keeps it alive", async (s) => {
    const { ID } = await s.client.grantOnly({ TTL: 10 });
    const session = await s.client.session({ lease: ID });
    assertEquals([session.lease, session.signal.aborted], [ID, false]);
    await session.close();
    assertEquals((await s.client.ttl({ ID })).TTL, -1);
  });

  await step("a session of a lease that is gone ends with it", async (s) => {
    const session = await s.client.session({ lease: 12345n });
    await until("it is told", () => session.signal.aborted);
    assert(session.signal.reason instanceof kv.LeaseLostError);
  }, { onLeaseLost: null });
}, []);
