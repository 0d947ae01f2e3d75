/** The end of a client while everything is under way, and what its rounds leave behind. */
import { assert, assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { etcdTest } from "../../support/kv.ts";

/** Begins one of everything. */
function everything(client: kv.Client, session: kv.Session, key: string): Promise<unknown>[] {
  const readAll = async (iterable: AsyncIterable<unknown>) => {
    for await (const _ of iterable);
  };
  return [
    client.put({ key, value: "" }),
    client.get({ key }),
    client.delete({ key }),
    client.grant({ TTL: 60 }),
    client.keepAliveOnce(session.lease),
    client.watch({ key }).then((watch) => watch.read()),
    client.watch({ key }).then((watch) => watch.requestProgress()),
    client.session(),
    client.lock(`${key}lock`, { session }),
    client.election(`${key}election`).campaign("value", { session }),
    client.queue(`${key}queue`).dequeue(),
    client.barrier(`${key}barrier`).hold({ session }),
    client.barrier(`${key}barrier`).wait(),
    client.cache({ prefix: key }).ready(),
    readAll(client.cache({ prefix: key }).events({ initial: true })),
    client.cache({ prefix: key }).sync(),
    client.transaction((tx) => tx.get(key)),
    client.update(key, () => "value"),
    readAll(client.scan({ prefix: key })),
    readAll(client.getStream({ prefix: key })),
    client.maintenance.status(),
    client.cluster.memberList(),
  ];
}

etcdTest("the end of a client", async (step) => {
  await step("settles all that is under way, at whatever moment it comes", async (scene) => {
    for (let turns = 0; turns < 12; turns++) {
      const client = kv.newClient({
        endpoints: [scene.etcd.endpoint],
        onLeaseLost: null,
      });
      const session = await client.session();
      const running = Array.from(
        { length: 4 },
        (_, i) => everything(client, session, `${scene.key}${i % 2}/`),
      ).flat();
      // The first moments are told by answers, not by time.
      for (let i = 0; i < turns; i++) await Promise.race(running.slice(i % 4)).catch(() => {});
      await client.close();
      for (const outcome of await Promise.allSettled(running)) {
        if (outcome.status === "fulfilled") continue;
        const { reason } = outcome;
        assert(reason instanceof kv.KvError, Deno.inspect(reason));
      }
      assertEquals([client.stats().watches, client.stats().leases], [0, 0]);
    }
  });

  await step("comes once, in whatever order its parts are disposed of", async (scene) => {
    const orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]];
    for (const order of orders) {
      const client = kv.newClient({ endpoints: [scene.etcd.endpoint], onLeaseLost: null });
      const session = await client.session();
      // Where the client ends first, its lock is held until the lease is over.
      const lock = await client.lock(`${scene.key}${order}`, { session });
      const cache = client.cache({ prefix: scene.key });
      await cache.ready();
      const parts: AsyncDisposable[] = [client, session, lock, cache];
      const ends = order.flatMap((i) => [parts[i]!, parts[i]!])
        .map((part) => kv.attempt(part[Symbol.asyncDispose]() as Promise<void>));
      for (const [, error] of await Promise.all(ends)) {
        assert(error === undefined || error instanceof kv.KvError, Deno.inspect(error));
      }
      assert(lock.signal.aborted && session.signal.aborted);
      assertEquals(cache.state, "closed");
    }
  });

  await step("is not needed for locks given up at random to leave nothing", async (scene) => {
    const { client, key } = scene;
    await using session = await client.session();
    const held = await client.lock(`${key}many`, { session });
    const controllers = Array.from({ length: 2_000 }, () => new AbortController());
    const waits = controllers.map(({ signal }) =>
      client.lock(`${key}many`, { session, signal }).then(async (lock) => {
        await lock[Symbol.asyncDispose]();
        return "held";
      }, (error) => error.code)
    );
    controllers.forEach((controller, i) => {
      if ((i * 7) % 100 !== 0) controller.abort();
    });
    await held[Symbol.asyncDispose]();
    const outcomes = await Promise.all(waits);
    assertEquals(outcomes.filter((one) => one === "held").length, 20);
    assertEquals(outcomes.filter((one) => one === 1).length, 1_980);
    assertEquals((await client.get({ key: `${key}many/`, prefix: true })).kvs, []);
  });
});
