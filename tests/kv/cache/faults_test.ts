/**
 * Caches while members are killed and frozen, links cut and history compacted. `CACHE_SEED` plays one
 * round again, `CACHE_ROUNDS` more of them.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";
import { EtcdCluster, type Member } from "../../../support/cluster.ts";
import { findEtcd } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { Random } from "../../../support/random.ts";

const etcd = await findEtcd();
const FAULTS = 6;
const CACHES = 3;
const PAIRS = 20;
/** Milliseconds for everything to be the same again, when all is well. */
const HEALING_MS = 30_000;

/** What a reader of events makes of them. */
interface Copy {
  readonly values: Map<string, string>;
  resyncs: number;
}

async function playRound(seed: number): Promise<void> {
  const random = new Random(seed);
  await using cluster = await EtcdCluster.start({ etcd: etcd!, members: 3 });
  const options = {
    timeout: 3,
    retrySleep: 100,
    connectTimeout: 1_000,
    keepalive: { interval: 5_000, timeout: 1_000 },
  };
  const direct = cluster.members.map((member) => member.direct);
  await using writer = kv.newClient({ endpoints: direct, ...options });
  const clients = Array.from(
    { length: CACHES },
    (_, i) => kv.newClient({ endpoints: rotated(cluster.endpoints, i), ...options }),
  );
  const faults: string[] = [];
  /** Of each key, the revision up to which its writes were acknowledged. */
  const acknowledged = new Map<string, bigint>();
  let over = false;
  let linearizable = 0;
  const caches = clients.map((client) => client.cache({ prefix: "c/", maxEvents: 500 }));
  const copies = caches.map((cache) => follow(cache));

  // Both keys of a pair are always written together.
  const writing = Array.from({ length: 3 }, async () => {
    const own = new Random(random.below(2 ** 31));
    for (let i = 0; !over; i++) {
      const pair = own.below(PAIRS);
      const keys = [`c/${pair}/a`, `c/${pair}/b`];
      const value = `${pair} ${i} ${own.next()}`;
      const success = keys.map((key) =>
        own.below(4) === 0 && i % 4 === 0 ? { delete: { key } } : { put: { key, value } }
      );
      const both = "delete" in success[0]! || "delete" in success[1]!
        ? keys.map((key) => ({ delete: { key } }))
        : success;
      const [response] = await kv.attempt(writer.txn({ success: both }));
      if (response !== undefined) {
        for (const key of keys) {
          const before = acknowledged.get(key) ?? 0n;
          if (response.header.revision > before) acknowledged.set(key, response.header.revision);
        }
      }
      await delay(own.below(8));
    }
  });

  const reading = caches.map(async (cache, n) => {
    const own = new Random(random.below(2 ** 31));
    await kv.attempt(cache.ready());
    let last = 0n;
    while (!over) {
      if (cache.revision < last) faults.push(`cache ${n} went back to ${cache.revision}`);
      last = cache.revision;
      const pair = own.below(PAIRS);
      const [a, b] = ["a", "b"].map((name) => cache.get(`c/${pair}/${name}`));
      if (a?.value !== b?.value) faults.push(`cache ${n} shows half of pair ${pair}`);
      const key = `c/${pair}/a`;
      const wanted = acknowledged.get(key) ?? 0n;
      const [, error] = own.below(2) === 0
        ? await kv.attempt(cache.get(key, { linearizable: true }))
        : await kv.attempt(cache.sync());
      if (error === undefined) {
        linearizable++;
        const found = cache.get(key);
        // A key that is not there was deleted at that revision or later.
        if (found !== undefined && found.modRevision < wanted) {
          faults.push(`cache ${n} gave ${key} of ${found.modRevision}, not of ${wanted}`);
        }
      } else if (!(error instanceof kv.KvError)) throw error;
      await delay(own.below(5));
    }
  });

  // Whichever fails first ends the round below.
  for (const work of [...writing, ...reading]) work.catch(() => {});
  try {
    for (let i = 0; i < FAULTS; i++) {
      await delay(300 + random.below(500));
      const name = i === 2 ? "compact behind a cut" : random.pick(Object.keys(HARMS));
      await HARMS[name]!({ cluster, member: random.pick(cluster.members), random, writer });
    }
    await cluster.heal();
    await delay(300);
    over = true;
    await Promise.all([...writing, ...reading]);
    const late = performance.now() + HEALING_MS;
    const { header, kvs } = await writer.get({ key: "c/", prefix: true });
    const expected = kvs.map((one) => `${one.key}=${one.value}@${one.modRevision}`);
    for (const [n, cache] of caches.entries()) {
      await cache.sync({ timeout: HEALING_MS });
      assertEquals(
        [...cache].map((one) => `${one.key}=${one.value}@${one.modRevision}`),
        expected,
        `seed ${seed}, cache ${n} at ${cache.revision} of ${header.revision}`,
      );
      // Who applies the events, or reads anew where too many waited, has the same.
      const same = () =>
        copies[n]!.values.size === kvs.length &&
        kvs.every(({ key, value }) => copies[n]!.values.get(key) === value);
      while (!same()) {
        assert(performance.now() < late, `seed ${seed}: events of cache ${n} are not what it has`);
        await delay(20);
      }
    }
    assert(copies.some(({ resyncs }) => resyncs > 0), `seed ${seed}: nothing was compacted`);
    assert(linearizable > 100, `seed ${seed}: only ${linearizable} linearizable reads`);
  } finally {
    over = true;
    await Promise.all([...caches.map((cache) => cache.close()), ...clients.map((c) => c.close())]);
    await Promise.allSettled([...writing, ...reading]);
  }
  assertEquals(faults, [], `seed ${seed}`);
}

/** Applies the events of a cache to a copy of it. */
function follow(cache: kv.Cache): Copy {
  const copy: Copy = { values: new Map(), resyncs: 0 };
  const following = async () => {
    for await (const event of cache.events({ initial: true })) {
      if (event.type === "resync") {
        copy.resyncs++;
        if (event.reason !== "overflow") continue;
        copy.values.clear();
        for (const { key, value } of cache) copy.values.set(key, value);
      } else if (event.type === "delete") copy.values.delete(event.kv.key);
      else copy.values.set(event.kv.key, event.kv.value);
    }
  };
  following().catch(() => {});
  return copy;
}

interface Scene {
  readonly cluster: EtcdCluster;
  readonly member: Member;
  readonly random: Random;
  readonly writer: kv.Client;
}

const HARMS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  kill: async ({ member, random }) => {
    await member.halt("SIGKILL");
    await delay(random.below(1_000));
    member.launch();
  },
  freeze: async ({ member, random }) => {
    member.pause();
    await delay(500 + random.below(2_000));
    member.resume();
  },
  "cut clients": async ({ cluster, random }) => {
    for (let i = 0; i < 5; i++) {
      for (const { clients } of cluster.members) clients.drop();
      await delay(random.below(300));
    }
  },
  "hold peers": async ({ member, random }) => {
    member.peers.mode = "hold";
    await delay(500 + random.below(2_000));
    member.peers.mode = "pass";
  },
  compact: async ({ writer }) => {
    await kv.attempt(compact(writer));
  },
  "compact behind a cut": async ({ cluster, writer, random }) => {
    for (const { clients } of cluster.members) {
      clients.mode = "refuse";
      clients.drop();
    }
    await delay(500 + random.below(500));
    for (let i = 0; i < 20; i++) {
      const [, error] = await kv.attempt(compact(writer));
      if (error === undefined) break;
      await delay(200);
    }
    for (const { clients } of cluster.members) clients.mode = "pass";
  },
};

async function compact(client: kv.Client): Promise<void> {
  const { header } = await client.get({ key: "x" });
  await client.compact({ revision: header.revision });
}

function rotated(endpoints: readonly string[], by: number): string[] {
  return [...endpoints.slice(by), ...endpoints.slice(0, by)];
}

const needs = [["etcd", etcd, "install etcd-server, or set ETCD to the program"]] as const;
const first = Number(Deno.env.get("CACHE_SEED") ?? 1);
const rounds = Number(Deno.env.get("CACHE_ROUNDS") ?? 1);
for (let seed = first; seed < first + rounds; seed++) {
  peerTest(
    `caches show what there is, whatever happens to three members (seed ${seed})`,
    { needs },
    () => playRound(seed),
  );
}
