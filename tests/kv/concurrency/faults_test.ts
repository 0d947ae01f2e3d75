/**
 * Locks and leaderships while members are killed and frozen, links cut, history compacted and keys
 * removed by force. Whatever happens: never two holders, fencing tokens grow, and each loss is told
 * before the key is gone. `LOCKS_SEED` plays one round again, `LOCKS_ROUNDS` more of them.
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
const ACTORS = 6;
const TTL = 2;
/** Milliseconds for everything to be free again, when all is well. */
const HEALING_MS = 30_000;

/** What is held, a lock or a leadership. */
type Held = Pick<kv.Lock, "key" | "revision" | "signal"> & { readonly end: () => Promise<void> };

/** What is held at present and was before, and whether it may be. */
class Ledger {
  readonly faults: string[] = [];
  /** Keys that are removed by force, with their revision. */
  readonly forced = new Set<string>();
  readonly #held = new Map<string, Held>();
  #last = 0n;
  holds = 0;
  given = 0;

  static idOf(key: string, revision: bigint): string {
    return `${key}@${revision}`;
  }

  get present(): Held | undefined {
    return [...this.#held.values()].find(({ signal }) => !signal.aborted);
  }

  enter(held: Held): void {
    this.holds++;
    const id = Ledger.idOf(held.key, held.revision);
    for (const [other, { signal }] of this.#held) {
      // Who removes a key by force does not wait until its holder was told.
      if (!signal.aborted && !this.forced.has(other)) {
        this.faults.push(`${id} is held while ${other} is`);
      }
    }
    if (held.revision <= this.#last) this.faults.push(`${id} is older than ${this.#last}`);
    this.#last = held.revision;
    this.#held.set(id, held);
  }

  /** Takes what the store says: the key is gone. */
  gone(key: string, revision: bigint): void {
    const id = Ledger.idOf(key, revision);
    const held = this.#held.get(id);
    if (held !== undefined && !held.signal.aborted && !this.forced.has(id)) {
      this.faults.push(`${id} is gone, and nobody was told`);
    }
  }
}

async function playRound(seed: number): Promise<void> {
  const random = new Random(seed);
  const ledger = new Ledger();
  await using cluster = await EtcdCluster.start({ etcd: etcd!, members: 3 });
  const clients: kv.Client[] = [];
  const newClient = (endpoints: readonly string[]): kv.Client => {
    const client = kv.newClient({
      endpoints,
      timeout: 3,
      retrySleep: 100,
      connectTimeout: 1_000,
      keepalive: { interval: 5_000, timeout: 1_000 },
      onLeaseLost: null,
    });
    clients.push(client);
    return client;
  };
  let over = false;
  const observer = newClient(cluster.members.map((member) => member.direct));
  const observing = observe(observer, ledger);
  const acting = Array.from({ length: ACTORS }, async (_, i) => {
    const client = newClient(rotated(cluster.endpoints, i));
    const own = new Random(random.below(2 ** 31));
    let shared: kv.Session | undefined;
    while (!over) {
      try {
        if (shared?.signal.aborted !== false) shared = await client.session({ ttl: TTL });
        const options = {
          timeout: own.below(4) === 0 ? own.below(300) : 10_000,
          ...(own.below(2) === 0 ? { session: shared } : { ttl: TTL }),
        };
        const held = await take(client, i % 3 === 0, options);
        ledger.enter(held);
        // Some hold it for longer than a session lives without its server.
        const end = performance.now() + (own.below(20) === 0 ? 2 * TTL * 1_000 : own.below(60));
        while (!held.signal.aborted && performance.now() < end) await delay(5);
        await held.end();
      } catch (error) {
        if (!(error instanceof kv.KvError)) throw error;
        ledger.given++;
        await delay(20);
      }
    }
    await shared?.close();
  });
  // Whichever fails first ends the round below.
  for (const work of acting) work.catch(() => {});
  try {
    for (let i = 0; i < FAULTS; i++) {
      await delay(300 + random.below(700));
      // One of them ends sessions in any case.
      const name = i === 1 ? "hold all clients" : random.pick(Object.keys(HARMS));
      await HARMS[name]!({
        cluster,
        member: random.pick(cluster.members),
        random,
        observer,
        ledger,
      });
    }
    await cluster.heal();
    // Everything is free again: whoever asks gets the lock.
    const before = ledger.holds;
    const late = performance.now() + HEALING_MS;
    while (ledger.holds < before + ACTORS && performance.now() < late) await delay(20);
    over = true;
    await Promise.all(acting);
    assert(ledger.holds >= before + ACTORS, `seed ${seed}: only ${ledger.holds} holds`);
    while ((await observer.get({ key: "lock/", prefix: true, countOnly: true })).count > 0) {
      assert(performance.now() < late, `seed ${seed}: keys are left`);
      await delay(50);
    }
  } finally {
    over = true;
    await Promise.all(clients.map((client) => client.close()));
    await Promise.allSettled([...acting, observing]);
  }
  assertEquals(ledger.faults, [], `seed ${seed}: ${ledger.holds} holds, ${ledger.given} given up`);
}

/** Takes the lock, in one of the ways there are: an election is the same line of keys. */
async function take(client: kv.Client, elect: boolean, options: kv.HolderOptions): Promise<Held> {
  if (elect) {
    const { session, ...rest } = options;
    // Who shares a session with its own lock is one candidate.
    const leadership = await client.election("lock").campaign("x", {
      ...rest,
      ...(session === undefined ? {} : { ttl: TTL }),
    });
    const { key, revision, signal } = leadership;
    return { key, revision, signal, end: () => leadership.resign({ timeout: 5_000 }) };
  }
  const lock = await client.lock("lock", { ...options, try: false });
  const { key, revision, signal } = lock;
  return { key, revision, signal, end: () => lock.release({ timeout: 5_000 }) };
}

/** Follows what becomes of the keys. */
async function observe(client: kv.Client, ledger: Ledger): Promise<void> {
  const created = new Map<string, bigint>();
  for (;;) {
    try {
      for await (const { events } of await client.watch({ key: "lock/", prefix: true })) {
        for (const { type, kv } of events) {
          if (type === "PUT") created.set(kv.key, kv.createRevision);
          else if (created.has(kv.key)) ledger.gone(kv.key, created.get(kv.key)!);
        }
      }
      return;
    } catch (error) {
      if (error instanceof kv.ClientClosedError) return;
      created.clear();
      await delay(50);
    }
  }
}

interface Scene {
  readonly cluster: EtcdCluster;
  readonly member: Member;
  readonly random: Random;
  readonly observer: kv.Client;
  readonly ledger: Ledger;
}

const HARMS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  kill: async ({ member, random }) => {
    await member.halt("SIGKILL");
    await delay(random.below(1_000));
    member.launch();
  },
  freeze: async ({ member, random }) => {
    member.pause();
    await delay(500 + random.below(2_500));
    member.resume();
  },
  "cut clients": async ({ member, random }) => {
    for (let i = 0; i < 5; i++) {
      member.clients.drop();
      await delay(random.below(300));
    }
  },
  "hold all clients": async ({ cluster, random }) => {
    for (const { clients } of cluster.members) clients.mode = "hold";
    await delay(2_500 + random.below(1_500));
    for (const { clients } of cluster.members) {
      clients.drop();
      clients.mode = "pass";
    }
  },
  "hold peers": async ({ member, random }) => {
    member.peers.mode = "hold";
    await delay(500 + random.below(2_000));
    member.peers.mode = "pass";
  },
  compact: async ({ observer }) => {
    const { header } = await observer.get({ key: "x" });
    await observer.compact({ revision: header.revision }).catch(() => {});
  },
  "remove keys": async ({ observer, ledger }) => {
    for (let i = 0; i < 5; i++) {
      const held = ledger.present;
      if (held !== undefined) {
        ledger.forced.add(Ledger.idOf(held.key, held.revision));
        await observer.delete({ key: held.key }).catch(() => {});
      }
      await delay(50);
    }
  },
};

function rotated(endpoints: readonly string[], by: number): string[] {
  const at = by % endpoints.length;
  return [...endpoints.slice(at), ...endpoints.slice(0, at)];
}

const needs = [["etcd", etcd, "install etcd-server, or set ETCD to the program"]] as const;
const first = Number(Deno.env.get("LOCKS_SEED") ?? 1);
const rounds = Number(Deno.env.get("LOCKS_ROUNDS") ?? 1);
for (let seed = first; seed < first + rounds; seed++) {
  peerTest(
    `locks have one holder, whatever happens to three members (seed ${seed})`,
    { needs },
    () => playRound(seed),
  );
}
