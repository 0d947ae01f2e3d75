/**
 * One round: clients at work on a cluster while faults happen to it, all of it chosen by a seed; then a
 * report of what they did and saw.
 *
 * @module
 */
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";
import { EtcdCluster, type Member } from "../../../support/cluster.ts";
import { STORE } from "../../../support/etcd.ts";
import { Random } from "../../../support/random.ts";
import { writePersisted } from "./persisted.ts";
import { type ClientRecord, Recorder, writeReport } from "./record.ts";
import { Actor, newScene, type Scene } from "./traffic.ts";

/** Clients that call. */
const CLIENTS = 4;

/** Clients that watch, beside each that calls. */
const WATCHES = 2;

/** Seconds for one call with all its attempts. */
const CALL_SECONDS = 3;

/** Operations a round has at least: less would say little. */
const OPERATIONS = 600;

/** Milliseconds for everything to come to an end once all faults are healed. */
const END_MS = 90_000;

/** What a round is made of. */
export interface RoundOptions {
  /** The program. */
  readonly etcd: string;
  /** Decides everything that is not up to the machine. */
  readonly seed: number;
  /** Members the cluster begins with. */
  readonly members: number;
  /** How many faults, one after the other. */
  readonly faults: number;
  /** Told what happens. */
  readonly log?: (line: string) => void;
}

/** What is left of a round. */
export interface Round {
  /** What its clients did and saw. */
  readonly clients: readonly ClientRecord[];
  /** The faults it had. */
  readonly faults: readonly string[];
}

/** Something that goes wrong with a member, and is well again when it resolves. */
type Fault = (stage: Stage) => Promise<void>;

interface Stage {
  readonly cluster: EtcdCluster;
  readonly random: Random;
  /** A client that may compact. */
  readonly compactor: Actor;
  /** Lets another client begin, at these endpoints. */
  readonly join: (endpoints: readonly string[]) => void;
  /** One of the members. */
  readonly member: Member;
  /** Milliseconds that a fault lasts. */
  readonly span: number;
}

/** What may happen to any cluster. */
const FAULTS: Readonly<Record<string, Fault>> = {
  kill: async ({ member, span }) => {
    await member.halt("SIGKILL");
    await delay(span / 4);
    member.launch();
  },
  restart: async ({ member }) => {
    await member.halt("SIGTERM");
    member.launch();
  },
  freeze: async ({ member, span }) => {
    member.pause();
    await delay(span);
    member.resume();
  },
  "kill all": async ({ cluster, span }) => {
    await Promise.all(cluster.members.map((member) => member.halt("SIGKILL")));
    await delay(span / 4);
    for (const member of cluster.members) member.launch();
  },
  "drop clients": async ({ member, span }) => {
    for (let i = 0; i < 5; i++) {
      member.clients.drop();
      await delay(span / 5);
    }
  },
  "hold clients": async ({ member, span }) => {
    member.clients.mode = "hold";
    await delay(span);
    member.clients.mode = "pass";
  },
  "hold and drop clients": async ({ member, span }) => {
    member.clients.mode = "hold";
    await delay(span / 2);
    member.clients.drop();
    member.clients.mode = "pass";
  },
  "refuse clients": async ({ member, span }) => {
    member.clients.mode = "refuse";
    member.clients.drop();
    await delay(span);
    member.clients.mode = "pass";
  },
  "slow clients": async ({ member, span }) => {
    member.clients.delay = 20 + span / 20;
    await delay(span);
    member.clients.delay = 0;
  },
  compact: async ({ compactor, span }) => {
    for (let i = 0; i < 3; i++) {
      await compactor.compact();
      await delay(span / 3);
    }
  },
  learner: async ({ cluster, join, span }) => {
    const voters = cluster.endpoints;
    const learner = await cluster.add({ learner: true });
    // A client has to find out that the first of its endpoints does not answer.
    join([learner.clients.endpoint, ...voters]);
    await delay(span);
    await cluster.remove(learner);
  },
};

/** What only a cluster of several members survives. */
const CLUSTER_FAULTS: Readonly<Record<string, Fault>> = {
  "hold peers": async ({ member, span }) => {
    member.peers.mode = "hold";
    await delay(span);
    member.peers.mode = "pass";
  },
  "hold all peers": async ({ cluster, span }) => {
    for (const { peers } of cluster.members) peers.mode = "hold";
    await delay(span);
    for (const { peers } of cluster.members) peers.mode = "pass";
  },
  "drop peers": async ({ cluster, span }) => {
    for (let i = 0; i < 3; i++) {
      for (const { peers } of cluster.members) peers.drop();
      await delay(span / 3);
    }
  },
  "replace a member": async ({ cluster, member, join, span }) => {
    // A client of this member alone would have nobody left; those of the round know all of them.
    await cluster.remove(member);
    const added = await cluster.add();
    await Promise.race([added.ready(), delay(4 * span)]);
    join([added.clients.endpoint, ...cluster.endpoints]);
  },
  "freeze the others": async ({ cluster, member, span }) => {
    const others = cluster.members.filter((one) => one !== member);
    for (const one of others) one.pause();
    await delay(span);
    for (const one of others) one.resume();
  },
};

/**
 * Plays a round and writes its report with the members' data to `folder`.
 *
 * @throws {Error} If a client does not come to an end though all faults are healed.
 */
export async function playRound(options: RoundOptions, folder: string): Promise<Round> {
  const { seed, members, etcd, log = () => {} } = options;
  const random = new Random(seed);
  const recorder = new Recorder();
  const scene = newScene(recorder);
  await using cluster = await EtcdCluster.start({ etcd, members, flags: flagsOf(etcd) });
  const troupe = new Troupe(scene, random);
  try {
    const compactor = troupe.actor(cluster.endpoints);
    await compactor.first();
    for (let i = 0; i < CLIENTS; i++) troupe.join(rotated(cluster.endpoints, i));
    const faults: string[] = [];
    const known = { ...FAULTS, ...(members > 1 ? CLUSTER_FAULTS : {}) };
    // The store takes no other member.
    const names = Object.keys(known).filter((name) => etcd !== STORE || name !== "learner");
    let replaced = false;
    for (let i = 0; i < options.faults; i++) {
      await delay(200 + random.below(600));
      let name = random.pick(names);
      // Twice, and a client that was told of the first members only would know too few.
      if (name === "replace a member" && replaced) name = "kill";
      replaced ||= name === "replace a member";
      faults.push(name);
      log(name);
      await known[name]!({
        cluster,
        random,
        compactor,
        join: (endpoints) => troupe.join(endpoints),
        member: random.pick(cluster.members),
        span: 300 + random.below(2_200),
      });
      if (random.below(3) === 0) await compactor.compact();
    }
    await cluster.heal();
    const late = performance.now() + END_MS;
    while (recorder.operations < OPERATIONS && performance.now() < late) await delay(50);
    await within(END_MS, troupe.end(compactor));
    await troupe.close();
    await cluster.halt();
    await writeReport(folder, recorder.clients);
    for (const { name, data } of cluster.members) {
      if (etcd === STORE) await writePersisted(folder, data);
      else await copyFolder(`${data}/member/wal`, `${folder}/server-${name}/member/wal`);
    }
    return { clients: recorder.clients, faults };
  } finally {
    scene.over = true;
    await troupe.close();
  }
}

/** All clients of a round. */
class Troupe {
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #clients: kv.Client[] = [];
  readonly #calling: Promise<void>[] = [];
  readonly #watching: Promise<void>[] = [];
  readonly #end = Promise.withResolvers<number>();

  constructor(scene: Scene, random: Random) {
    this.#scene = scene;
    this.#random = random;
    this.#end.promise.catch(() => {});
  }

  /** A client with its own random numbers. */
  actor(endpoints: readonly string[]): Actor {
    const client = kv.newClient({
      endpoints,
      timeout: CALL_SECONDS,
      retry: 10,
      retrySleep: 100,
      connectTimeout: 1_000,
      keepalive: { interval: 5_000, timeout: 1_000 },
    });
    this.#clients.push(client);
    return new Actor(this.#scene, new Random(this.#random.below(2 ** 31)), client);
  }

  /** A client that calls, some that watch and one that keeps a cache. */
  join(endpoints: readonly string[]): void {
    const calling = this.actor(endpoints).call();
    const watching = Array.from(
      { length: WATCHES },
      () => this.actor(endpoints).watch(this.#end.promise),
    );
    const caching = this.actor(endpoints).cache(this.#end.promise);
    for (const promise of [calling, caching, ...watching]) promise.catch(() => {});
    this.#calling.push(calling);
    this.#watching.push(caching, ...watching);
  }

  /** Lets all clients come to their end. */
  async end(last: Actor): Promise<void> {
    this.#scene.over = true;
    await Promise.all(this.#calling);
    this.#end.resolve(await last.last());
    await Promise.all(this.#watching);
  }

  async close(): Promise<void> {
    this.#scene.closed = true;
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.allSettled([...this.#calling, ...this.#watching]);
  }
}

/** The same endpoints, beginning with another one. */
function rotated(endpoints: readonly string[], by: number): string[] {
  const at = by % endpoints.length;
  return [...endpoints.slice(at), ...endpoints.slice(0, at)];
}

function flagsOf(etcd: string): string[] {
  const progress = /3\.[45]\.\d+$/.test(etcd)
    ? "experimental-watch-progress-notify-interval"
    : "watch-progress-notify-interval";
  // The judge wants the whole log.
  return [
    "--max-wals=0",
    `--${progress}=300ms`,
    "--heartbeat-interval=50",
    "--election-timeout=400",
  ];
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => late.reject(new Error(`Clients did not come to an end in ${ms} ms after the last fault`)),
    ms,
  );
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isFile } of Deno.readDir(from)) {
    if (isFile) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}
