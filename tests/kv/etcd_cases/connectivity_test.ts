/** Cases of integration/clientv3/connectivity/*_test.go. */
import { assert, assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { sharedAuthority } from "../../../support/authority.ts";
import { Etcd } from "../../../support/etcd.ts";
import { rejected } from "../../../support/kv.ts";
import { peerTest } from "../../../support/peers.ts";
import type { Member } from "../../../support/cluster.ts";
import { etcdCase, metricOf, NEEDS, type Stage, values } from "./case.ts";

type Call = (client: kv.Client, timeout: number) => Promise<unknown>;

const CALLS = {
  Put: (client, timeout) => client.put({ key: "foo", value: "bar" }, timeout),
  Delete: (client, timeout) => client.delete({ key: "foo" }, timeout),
  Txn: (client, timeout) =>
    client.txn({
      compare: [{ key: "foo", version: 0 }],
      success: [{ put: { key: "foo", value: "bar" } }],
      failure: [{ put: { key: "foo", value: "baz" } }],
    }, timeout),
  LinearizableGet: (client, timeout) => client.get({ key: "a" }, timeout),
  SerializableGet: (client, timeout) => client.get({ key: "a", serializable: true }, timeout),
} as const satisfies Record<string, Call>;

/** Calls until one gets through, five times at most. */
async function getsThrough(client: kv.Client, call: Call, timeout: number): Promise<void> {
  let last: Error | undefined;
  for (let i = 0; i < 5; i++) {
    const [, error] = await kv.attempt(call(client, timeout));
    if (error === undefined) return;
    assert(error instanceof kv.KvError, String(error));
    last = error;
  }
  throw last;
}

/** Waits until a member ended a stream for want of a leader. */
async function ended(member: Member, method: string): Promise<void> {
  const labels = `grpc_code="Unavailable",grpc_method="${method}".*`;
  for (let i = 0; i < 300; i++) {
    const count = await metricOf(member, `grpc_server_handled_total{${labels}}`);
    if (count !== undefined && count !== "0") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${member.name} has ended no ${method}`);
}

/** The member that leads. */
async function leaderOf({ cluster }: Stage): Promise<Member> {
  for (let i = 0; i < 200; i++) {
    for (const member of cluster.members) {
      if (await metricOf(member, "etcd_server_is_leader") === "1") return member;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("Nobody leads");
}

/** Nothing goes out to the other members: a leader loses its office, a follower is left behind. */
function mute(member: Member): void {
  member.peers.mode = "hold";
}

// ---- black holes -----------------------------------------------------------------------------------

etcdCase("TestBalancerUnderBlackholeKeepAliveWatch", async ({ cluster, client2 }) => {
  const [first, second] = cluster.members;
  const client = client2({ keepalive: { interval: 5_000, timeout: 500 } });
  const other = client2({ endpoints: [second!.clients.endpoint] });
  const watch = await client.watch({ key: "foo" });
  first!.clients.mode = "hold";
  await other.put({ key: "foo", value: "1" });
  assertEquals(await values(watch, 1), ["1"]);
  first!.clients.mode = "pass";
  second!.clients.mode = "hold";
  await client2({ endpoints: [first!.clients.endpoint] }).put({ key: "foo", value: "2" });
  assertEquals(await values(watch, 1), ["2"]);
}, { members: 2 });

for (const [name, call] of Object.entries(CALLS)) {
  etcdCase(`TestBalancerUnderBlackholeNoKeepAlive${name}`, async ({ cluster, client2 }) => {
    const client = client2({ keepalive: false });
    await client.get({ key: "a" });
    await client.get({ key: "a" });
    cluster.members[0]!.clients.mode = "hold";
    await getsThrough(client, call, 1_000);
  }, { members: 2 });
}

// ---- dialling --------------------------------------------------------------------------------------

/** An etcd over TLS that wants certificates, its authority, and a certificate that is over. */
async function secured(
  run: (etcd: Etcd, ca: string, expired: { cert: string; key: string }) => Promise<void>,
): Promise<void> {
  const authority = await sharedAuthority();
  const [server, expired] = [await authority.leaf(), await authority.leaf({ days: -1 })];
  await using etcd = await Etcd.start({
    scheme: "https",
    flags: [
      `--cert-file=${server.certFile}`,
      `--key-file=${server.keyFile}`,
      `--trusted-ca-file=${authority.caFile}`,
      "--client-cert-auth",
    ],
  });
  await run(etcd, authority.ca, expired);
}

peerTest("TestDialTLSExpired", { needs: NEEDS }, () =>
  secured(async (etcd, ca, { cert, key }) => {
    await using client = kv.newClient({
      endpoints: [etcd.endpoint],
      tls: { caCerts: [ca], cert, key },
      retry: 1,
      retrySleep: 50,
    });
    await rejected(client.get({ key: "foo" }, 3_000), kv.KvError);
  }));

peerTest("TestDialTLSNoConfig", { needs: NEEDS }, () =>
  secured(async (etcd) => {
    await using client = kv.newClient({
      endpoints: [`https://${etcd.endpoint}`],
      retry: 1,
      retrySleep: 50,
    });
    await rejected(client.get({ key: "foo" }, 3_000), kv.KvError);
  }));

/** Other endpoints for one that dies. */
async function exchanges({ cluster, client2 }: Stage, before: boolean): Promise<void> {
  const [first, second] = cluster.members;
  const endpoints = [first!.clients.endpoint, second!.clients.endpoint];
  const client = client2({ endpoints: [endpoints[0]!] });
  await client.get({ key: "foo" });
  if (before) client.setEndpoints(endpoints);
  await first!.halt();
  if (!before) client.setEndpoints(endpoints);
  await client.get({ key: "foo", serializable: true }, 5_000);
}

etcdCase("TestDialSetEndpointsBeforeFail", (stage) => exchanges(stage, true), { members: 3 });

etcdCase("TestDialSetEndpointsAfterFail", (stage) => exchanges(stage, false), { members: 3 });

etcdCase("TestSwitchSetEndpoints", async ({ cluster, client2 }) => {
  const [first, ...others] = cluster.members;
  const client = client2({ endpoints: [first!.clients.endpoint] });
  await client.get({ key: "foo" });
  mute(first!);
  client.setEndpoints(others.map(({ clients }) => clients.endpoint));
  await client.get({ key: "foo" }, 10_000);
}, { members: 3 });

etcdCase("TestDialForeignEndpoint", async ({ cluster, client, client2 }) => {
  await client.get({ key: "abc" });
  const other = client2({ endpoints: [cluster.members[1]!.clients.endpoint] });
  await other.get({ key: "abc" });
}, { members: 2 });

etcdCase("TestSetEndpointAndPut", async ({ cluster, client2 }) => {
  const [first, second] = cluster.members;
  const client = client2({ endpoints: [second!.clients.endpoint] });
  client.setEndpoints([first!.clients.endpoint]);
  await client.put({ key: "foo", value: "bar" });
}, { members: 2 });

// ---- partitions ------------------------------------------------------------------------------------

/** One member is cut off; calls get through by the others. */
function partitioned(name: string, call: Call, timeout: number): void {
  etcdCase(name, async (stage) => {
    const client = stage.client2();
    await client.get({ key: "a" });
    mute(await leaderOf(stage));
    await getsThrough(client, call, timeout);
  }, { members: 3 });
}

partitioned("TestBalancerUnderNetworkPartitionPut", CALLS.Put, 3_000);
partitioned("TestBalancerUnderNetworkPartitionDelete", CALLS.Delete, 3_000);
partitioned("TestBalancerUnderNetworkPartitionTxn", CALLS.Txn, 3_000);
partitioned(
  "TestBalancerUnderNetworkPartitionLinearizableGetWithLongTimeout",
  CALLS.LinearizableGet,
  10_000,
);
partitioned(
  "TestBalancerUnderNetworkPartitionLinearizableGetWithShortTimeout",
  CALLS.LinearizableGet,
  2_000,
);
partitioned(
  "TestBalancerUnderNetworkPartitionSerializableGet",
  CALLS.SerializableGet,
  2_000,
);

etcdCase("TestBalancerUnderNetworkPartitionLinearizableGetLeaderElection", async (stage) => {
  const leader = await leaderOf(stage);
  const follower = stage.cluster.members.find((member) => member !== leader)!;
  const client = stage.client2({
    endpoints: [leader.clients.endpoint, follower.clients.endpoint],
  });
  await client.get({ key: "a" });
  mute(leader);
  await getsThrough(client, CALLS.LinearizableGet, 10_000);
}, { members: 3 });

/** A watch leaves a member that has no leader any more. */
async function watchMoves(stage: Stage, target: Member): Promise<void> {
  const others = stage.cluster.members.filter((member) => member !== target);
  const client = stage.client2({ endpoints: [target.clients.endpoint] });
  const watch = await client.watch({ key: "foo" });
  for (const member of stage.cluster.members) mute(member);
  // Streams that ask for a leader are ended when there is none.
  await ended(target, "Watch");
  const endpoints = others.map(({ clients }) => clients.endpoint);
  client.setEndpoints(endpoints);
  for (const other of others) other.heal();
  await getsThrough(stage.client2({ endpoints }), CALLS.Put, 10_000);
  assertEquals((await values(watch, 1))[0], "bar");
}

etcdCase(
  "TestBalancerUnderNetworkPartitionWatchLeader",
  async (stage) => watchMoves(stage, await leaderOf(stage)),
  { members: 3 },
);

etcdCase("TestBalancerUnderNetworkPartitionWatchFollower", async (stage) => {
  const leader = await leaderOf(stage);
  await watchMoves(stage, stage.cluster.members.find((member) => member !== leader)!);
}, { members: 3 });

etcdCase("TestDropReadUnderNetworkPartition", async (stage) => {
  const leader = await leaderOf(stage);
  const follower = stage.cluster.members.find((member) => member !== leader)!;
  const client = stage.client2({ endpoints: [follower.clients.endpoint] });
  await client.get({ key: "a" });
  mute(leader);
  // Read or refused, never answered with something old; and read again once there is a leader.
  await client.get({ key: "a" }, 15_000);
}, { members: 3 });

// ---- members that stop -----------------------------------------------------------------------------

etcdCase("TestBalancerUnderServerShutdownWatch", async (stage) => {
  const leader = await leaderOf(stage);
  const client = stage.client2();
  const watch = await client.watch({ key: "foo" });
  const others = stage.cluster.members.filter((member) => member !== leader);
  await leader.halt("SIGTERM");
  const writer = stage.client2({ endpoints: others.map(({ clients }) => clients.endpoint) });
  await getsThrough(writer, CALLS.Put, 10_000);
  assertEquals((await values(watch, 1))[0], "bar");
}, { members: 3 });

/** A member stops; the first call behind it gets through. */
function shutDown(name: string, call: Call): void {
  etcdCase(name, async ({ cluster, client }) => {
    await client.get({ key: "a" });
    await cluster.members[0]!.halt("SIGTERM");
    // Behind the election, if it led.
    await client.get({ key: "a" });
    await call(client, 5_000);
  }, { members: 3 });
}

shutDown("TestBalancerUnderServerShutdownPut", CALLS.Put);
shutDown("TestBalancerUnderServerShutdownDelete", CALLS.Delete);
shutDown("TestBalancerUnderServerShutdownTxn", CALLS.Txn);
shutDown("TestBalancerUnderServerShutdownGetLinearizable", CALLS.LinearizableGet);
shutDown("TestBalancerUnderServerShutdownGetSerializable", CALLS.SerializableGet);

/** Two of three members stop while a read waits; one comes back. */
function restarts(name: string, call: Call): void {
  etcdCase(name, async (stage) => {
    const leader = await leaderOf(stage);
    const others = stage.cluster.members.filter((member) => member !== leader);
    for (const [target, other] of [[leader, others[0]!], [others[0]!, leader]] as const) {
      const client = stage.client2({
        endpoints: [target.clients.endpoint, other.clients.endpoint],
      });
      await client.get({ key: "abc" });
      await Promise.all([target.halt(), other.halt()]);
      const reading = call(client, 20_000);
      target.launch();
      await reading;
      other.launch();
      await Promise.all([target.ready(), other.ready()]);
    }
  }, { members: 3 });
}

restarts(
  "TestBalancerUnderServerStopInflightLinearizableGetOnRestart",
  CALLS.LinearizableGet,
);
restarts(
  "TestBalancerUnderServerStopInflightSerializableGetOnRestart",
  CALLS.SerializableGet,
);
