/**
 * Locks, elections and their like shared with etcd's own Go client: both contend in one run.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { kv } from "@sluice/sluice";
import { etcdTest } from "../../../support/kv.ts";
import { inPeers } from "../../../support/peers.ts";
import { run } from "../../../support/process.ts";

const PEER = inPeers("bin/etcd_go_peer");
const NEED = ["etcd_go_peer", PEER, "set SLUICE_PEERS to the folder that .ci/run fills"] as const;

/** What the Go program prints, a line each. */
async function go(endpoint: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run({ command: PEER!, args: [endpoint, ...args] }, 70_000);
  assertEquals(code, 0, stderr);
  return stdout.trim() === "" ? [] : stdout.trim().split("\n");
}

/** Adds 1 to a key in two calls, which only a lock makes safe. */
async function add(client: kv.Client, key: string): Promise<void> {
  await client.put({ key, value: String(await counter(client, key) + 1) });
}

async function counter(client: kv.Client, key: string): Promise<number> {
  const { kvs } = await client.get({ key });
  return Number(kvs[0]?.value ?? 0);
}

etcdTest(
  "with etcd's Go client",
  async (step) => {
    await step("one lock is never held by two", async ({ etcd, client, key }) => {
      const ours = async (options: kv.LockOptions) => {
        let last = 0n;
        for (let i = 0; i < 30; i++) {
          await using lock = await client.lock(`${key}lock`, { ...options, try: false });
          assert(lock.revision > last, "fencing tokens grow");
          last = lock.revision;
          await add(client, `${key}n`);
        }
      };
      await using session = await client.session({ ttl: 10 });
      await Promise.all([
        go(etcd.endpoint, "lock", `${key}lock`, `${key}n`, "30"),
        go(etcd.endpoint, "lock", `${key}lock`, `${key}n`, "30"),
        ours({ session }),
        ours({ ttl: 10 }),
      ]);
      assertEquals(await counter(client, `${key}n`), 120);
      assertEquals((await client.get({ key: `${key}lock`, prefix: true })).count, 0);
    });

    await step("each sees that the other holds a lock", async ({ etcd, client, key }) => {
      const lock = await client.lock(`${key}lock`, { ttl: 10 });
      assertEquals(await go(etcd.endpoint, "trylock", `${key}lock`), ["false"]);
      await lock.release();
      assertEquals(await go(etcd.endpoint, "trylock", `${key}lock`), ["true"]);
      await using _ = (await client.lock(`${key}lock`, { try: true }))!;
    });

    await step("readers and writers exclude each other", async ({ etcd, client, key }) => {
      await using session = await client.session({ ttl: 10 });
      const ours = async () => {
        for (let i = 0; i < 20; i++) {
          {
            await using _ = await client.writeLock(`${key}lock`, { session });
            await add(client, `${key}a`);
            await add(client, `${key}b`);
          }
          await using _ = await client.readLock(`${key}lock`, { session });
          assertEquals(await counter(client, `${key}a`), await counter(client, `${key}b`));
        }
      };
      await Promise.all([go(etcd.endpoint, "rwlock", `${key}lock`, key, "20"), ours(), ours()]);
      assertEquals(await counter(client, `${key}a`), 60);
      assertEquals(await counter(client, `${key}b`), 60);
    });

    await step("one election has one leader", async ({ etcd, client, key }) => {
      const election = client.election(`${key}election`);
      const seen: string[] = [];
      const ended = new AbortController();
      const observing = (async () => {
        for await (const { value } of election.observe({ signal: ended.signal })) seen.push(value);
      })();
      await using session = await client.session({ ttl: 10 });
      const ours = async (options: kv.CampaignOptions, name: string) => {
        for (let i = 0; i < 15; i++) {
          await using leadership = await election.campaign(`${name}-${i}`, options);
          await add(client, `${key}n`);
          await leadership.proclaim(`${name}-${i}-again`);
        }
      };
      await Promise.all([
        go(etcd.endpoint, "elect", `${key}election`, `${key}n`, "15"),
        ours({ session }, "one"),
        ours({ ttl: 10 }, "two"),
      ]);
      assertEquals(await counter(client, `${key}n`), 45);
      const last = await election.campaign("end", { ttl: 10 });
      while (!seen.includes("end")) await new Promise((resolve) => setTimeout(resolve, 5));
      ended.abort();
      await observing;
      await last.resign();
      // Every leader was seen, with each of its values, in the order of a leader's own.
      for (const name of ["go", "one", "two"]) {
        assertEquals(
          seen.filter((value) => value.startsWith(name)),
          Array.from({ length: 15 }, (_, i) => [`${name}-${i}`, `${name}-${i}-again`]).flat(),
        );
      }
    });

    await step("Go observes our leaders", async ({ etcd, client, key }) => {
      const election = client.election(`${key}election`);
      await using leadership = await election.campaign("first", { ttl: 10 });
      const observing = go(etcd.endpoint, "observe", `${key}election`);
      // Its session is there once its lease is.
      while ((await client.leases()).leases.length < 2) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await leadership.proclaim("end");
      assertEquals((await observing).at(-1), "end");
    });

    for (
      const [number, isolation] of [
        "serializable-snapshot",
        "serializable",
        "repeatable-reads",
      ].entries()
    ) {
      await step(`a counter of ${isolation} transactions`, async ({ etcd, client, key }) => {
        const ours = async () => {
          for (let i = 0; i < 25; i++) {
            await client.transaction(async (tx) => {
              tx.put(key, String(Number(await tx.get(key) ?? 0) + 1));
            }, { isolation: isolation as kv.Isolation, retries: 10_000 });
          }
        };
        await Promise.all([go(etcd.endpoint, "stm", key, "25", String(number)), ours(), ours()]);
        assertEquals(await counter(client, key), 75);
      });
    }

    await step("queues", async ({ etcd, client, key }) => {
      const queue = client.queue(`${key}queue`);
      await go(etcd.endpoint, "enqueue", queue.name, "a", "b");
      await queue.enqueue("c");
      const [first, ...rest] = [(await queue.dequeue()).value].concat(
        await go(etcd.endpoint, "dequeue", queue.name, "2"),
      );
      assertEquals([first, ...rest], ["a", "b", "c"]);
      // Both take what comes while they wait, each once.
      const taking = [
        go(etcd.endpoint, "dequeue", queue.name, "10"),
        (async () => {
          const taken: string[] = [];
          for (let i = 0; i < 10; i++) taken.push((await queue.dequeue()).value);
          return taken;
        })(),
      ];
      const values = Array.from({ length: 20 }, (_, i) => String(i));
      await Promise.all([
        ...values.slice(0, 10).map((value) => queue.enqueue(value)),
        go(etcd.endpoint, "enqueue", queue.name, ...values.slice(10)),
      ]);
      const taken = (await Promise.all(taking)).flat();
      assertEquals(taken.map(Number).sort((a, b) => a - b), values.map(Number));
    });

    await step("priority queues", async ({ etcd, client, key }) => {
      const queue = client.priorityQueue(`${key}queue`);
      await go(etcd.endpoint, "penqueue", queue.name, "5", "1", "5", "300");
      for (const priority of [4, 1, 65_535, 5]) await queue.enqueue(String(priority), { priority });
      const ours: string[] = [];
      for (let i = 0; i < 4; i++) ours.push((await queue.dequeue()).value);
      const theirs = await go(etcd.endpoint, "pdequeue", queue.name, "4");
      assertEquals([...ours, ...theirs], ["1", "1", "4", "5", "5", "5", "300", "65535"]);
    });

    await step("barriers", async ({ etcd, client, key }) => {
      const barrier = client.barrier(`${key}barrier`);
      await barrier.hold();
      const waiting = go(etcd.endpoint, "wait", barrier.name);
      await barrier.release();
      await waiting;
      await go(etcd.endpoint, "hold", barrier.name);
      const held = barrier.wait();
      await go(etcd.endpoint, "release", barrier.name);
      await held;
    });

    await step("double barriers", async ({ etcd, client, key }) => {
      await using session = await client.session({ ttl: 10 });
      for (let round = 0; round < 3; round++) {
        const barrier = client.doubleBarrier(`${key}barrier`, 3, session);
        const theirs = [1, 2].map(() => go(etcd.endpoint, "double", barrier.name, "3"));
        await barrier.enter();
        await barrier.leave();
        assertEquals(await Promise.all(theirs), [["entered"], ["entered"]]);
        assertEquals((await client.get({ key: barrier.name, prefix: true })).count, 0);
      }
    });
  },
  [],
  [NEED],
);
