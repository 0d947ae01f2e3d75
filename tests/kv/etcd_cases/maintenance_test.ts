/** Cases of integration/clientv3/maintenance_test.go. */
import { assert, assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { rejected } from "../../../support/kv.ts";
import { etcdCase, type Stage, VERSION } from "./case.ts";

const THREE = { members: 3 };
const MIB = 2 ** 20;

/** Hashes of all members, once all have applied what was written. */
async function hashes({ cluster, client }: Stage, revision?: bigint): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { clients: { endpoint } } of cluster.members) {
    // A linearizable read at the member waits for it.
    const one = kv.newClient({ endpoints: [endpoint] });
    await one.get({ key: "foo" });
    await one.close();
    const { hash, compactRevision } = await client.maintenance.hashKV({
      endpoint,
      ...(revision === undefined ? {} : { revision }),
    });
    found.push([hash, compactRevision]);
  }
  return found;
}

etcdCase("TestMaintenanceHashKV", async (stage) => {
  for (let i = 0; i < 3; i++) await stage.client.put({ key: "foo", value: "bar" });
  const [first, ...others] = await hashes(stage);
  for (const other of others) assertEquals(other, first);
}, THREE);

etcdCase("TestCompactionHash", async (stage) => {
  for (let i = 0; i < 50; i++) await stage.client.put({ key: `k${i % 7}`, value: String(i) });
  for (const revision of [10n, 30n]) {
    await stage.client.compact({ revision, physical: true });
    const [first, ...others] = await hashes(stage, 51n);
    for (const other of others) assertEquals(other, first);
  }
}, THREE);

etcdCase("TestMaintenanceMoveLeader", async ({ cluster, client }) => {
  const endpoints = cluster.members.map(({ clients }) => clients.endpoint);
  const states = await Promise.all(
    endpoints.map((endpoint) => client.maintenance.status({ endpoint })),
  );
  const { leader } = states[0]!;
  const at = states.findIndex(({ header }) => header.memberId !== leader);
  const target = states[at]!.header.memberId;
  const refused = client.maintenance.moveLeader({ endpoint: endpoints[at]!, targetID: target });
  assertEquals((await rejected(refused, kv.KvError)).reason, "NOT_LEADER");
  await client.maintenance.moveLeader({ targetID: target });
  const state = await client.maintenance.status({ endpoint: endpoints[at]! });
  assertEquals(state.leader, target);
}, THREE);

/** A store of some megabytes. */
async function fill({ client }: Stage, count = 3): Promise<void> {
  for (let i = 0; i < count; i++) {
    await client.put({ key: `k${i}`, value: "v".repeat(MIB) });
  }
}

async function drain(body: ReadableStream<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const piece of body) size += piece.length;
  return size;
}

etcdCase("TestMaintenanceSnapshotCancel", async (stage) => {
  await fill(stage, 24);
  const abort = new AbortController();
  const { body } = await stage.client.maintenance.snapshot({}, { signal: abort.signal });
  const reader = body.getReader();
  assert((await reader.read()).value!.length > 0);
  abort.abort();
  reader.releaseLock();
  await rejected(drain(body), Error);
});

/** What a snapshot is: the whole database, with its checksum. */
async function snapshot(stage: Stage): Promise<void> {
  await fill(stage);
  const { body, size } = await stage.client.maintenance.snapshot();
  assertEquals(await drain(body), size + 32);
}

etcdCase("TestMaintenanceSnapshotFromServerClient", snapshot);

/** A time is for the first bytes: a member that says nothing is not waited for longer. */
async function timesOut({ cluster, client }: Stage): Promise<void> {
  await client.get({ key: "a" });
  cluster.members[0]!.pause();
  await rejected(client.maintenance.snapshot({}, 500), kv.KvError);
  cluster.members[0]!.resume();
}

etcdCase("TestMaintenanceSnapshotTimeout", timesOut);

etcdCase("TestMaintenanceSnapshotWithVersionTimeout", timesOut);

/** A stream that breaks on its way fails; it does not end as if it were whole. */
async function breaks(stage: Stage): Promise<void> {
  await fill(stage, 24);
  const { clients } = stage.cluster.members[0]!;
  const { body } = await stage.client.maintenance.snapshot();
  const reader = body.getReader();
  await reader.read();
  clients.drop();
  reader.releaseLock();
  await rejected(drain(body), Error);
}

etcdCase("TestMaintenanceSnapshotErrorInflight", breaks);

etcdCase("TestMaintenanceSnapshotWithVersionErrorInflight", async (stage) => {
  await fill(stage, 24);
  const abort = new AbortController();
  const { body } = await stage.client.maintenance.snapshot({}, { signal: abort.signal });
  const draining = rejected(drain(body), Error);
  abort.abort();
  await draining;
});

etcdCase("TestMaintenanceSnapshotWithVersionVersion", async ({ client }) => {
  await client.put({ key: "foo", value: "bar" });
  // A member knows the version of its file once the cluster has agreed on its own.
  let version = "";
  for (let i = 0; i < 100 && version === ""; i++) {
    const snapshot = await client.maintenance.snapshot();
    await drain(snapshot.body);
    ({ version } = snapshot);
    if (VERSION < 3.006) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assertEquals(version, VERSION < 3.006 ? "" : VERSION < 3.007 ? "3.6.0" : "3.7.0");
});

etcdCase("TestMaintenanceSnapshotContentDigest", async (stage) => {
  await fill(stage);
  const { body, size } = await stage.client.maintenance.snapshot();
  const file = new Uint8Array(await new Response(body).arrayBuffer());
  assertEquals(file.length, size + 32);
  const digest = await crypto.subtle.digest("SHA-256", file.subarray(0, size));
  assertEquals(new Uint8Array(digest), file.slice(size));
});

etcdCase("TestMaintenanceStatus", async ({ cluster, client }) => {
  const leaders = new Set<bigint>();
  let leading = 0;
  for (const { clients: { endpoint } } of cluster.members) {
    const { leader, header, version, dbSize } = await client.maintenance.status({ endpoint });
    assert(version.startsWith("3.") && dbSize > 0);
    leaders.add(leader);
    if (leader === header.memberId) leading++;
  }
  assertEquals([leaders.size, leading], [1, 1]);
}, THREE);
