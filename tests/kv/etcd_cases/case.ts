/**
 * What etcd's own client tests show, asked of this client: each case has the name of the test it repeats,
 * a cluster of its own and members behind proxies.
 *
 * @module
 */
import { kv } from "@sluice/sluice";
import { EtcdCluster, type Member } from "../../../support/cluster.ts";
import { etcdVersion, findEtcd, findServer } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";

const etcd = await findEtcd();

/** What cases need that the store cannot be. */
export const NEEDS = [["etcd", etcd, "install etcd-server, or set ETCD to the program"]] as const;

/** The version that is tested, as 3.007. */
export const VERSION: number = numberOf(await etcdVersion(await findServer()));

/** What a case gets. */
export interface Stage extends AsyncDisposable {
  /** The members. */
  readonly cluster: EtcdCluster;
  /** A client of all of them. */
  readonly client: kv.Client;
  /** Another client; of all members unless it says otherwise. Closed with the case. */
  client2(options?: Partial<kv.ClientOptions>): kv.Client;
}

/** What a case needs. */
export interface CaseOptions {
  /** Members of its cluster. @default 1 */
  readonly members?: number;
  /** Flags for each member. */
  readonly flags?: readonly string[];
  /** What the case needs of etcd that the store has not, if anything. Clusters of several it never is. */
  readonly beyond?: "members" | "metrics" | "flags" | "large responses";
}

/** Elections take a moment, and no longer. */
const QUICK = ["--heartbeat-interval=50", "--election-timeout=500"];

/** Registers a case under the name of etcd's test. */
export function etcdCase(
  name: string,
  run: (stage: Stage) => Promise<void>,
  { members = 1, flags = [], beyond }: CaseOptions = {},
): void {
  const needs = members > 1 || beyond !== undefined ? NEEDS : [];
  peerTest(name, { needs }, async () => {
    await using cluster = await EtcdCluster.start({
      etcd: await findServer(),
      members,
      flags: [...QUICK, ...flags],
    });
    await using stage = stageOf(cluster);
    await run(stage);
  });
}

function stageOf(cluster: EtcdCluster): Stage {
  const clients: kv.Client[] = [];
  const client2 = (options: Partial<kv.ClientOptions> = {}) => {
    const client = kv.newClient({
      endpoints: cluster.endpoints,
      timeout: 20,
      retry: 100,
      retrySleep: 50,
      onLeaseLost: null,
      ...options,
    });
    clients.push(client);
    return client;
  };
  return {
    cluster,
    client: client2(),
    client2,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

function numberOf(version: string): number {
  const [major, minor] = version.split(".");
  return Number(major) + Number(minor) / 1_000;
}

/** Values of the next events of a watch. */
export async function values(watch: kv.Watch, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const response = await watch.read(15_000);
    if (response === null) throw new Error(`The watch ended after ${found.length} of ${count}`);
    found.push(...response.events.map(({ kv }) => kv.value));
  }
  return found;
}

/** What a member's metrics say of one of them; labels may be a pattern. */
export async function metricOf(member: Member, name: string): Promise<string | undefined> {
  const response = await fetch(`http://${member.direct}/metrics`);
  return (await response.text()).match(new RegExp(`^${name} (.*)$`, "m"))?.[1];
}

/** Waits until a member's metric has a value. */
export async function gauge(member: Member, name: string, value: string): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (await metricOf(member, name) === value) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${name} of ${member.name} does not become ${value}`);
}
