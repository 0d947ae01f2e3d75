/** Cases of integration/clientv3/lease/lease_test.go. */
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { rejected } from "../../../support/kv.ts";
import { etcdCase } from "./case.ts";

/** Resolves to what a lease's signal aborts with. */
async function lost(client: kv.Client, ID: bigint): Promise<kv.LeaseLostError> {
  const signal = client.leaseSignal(ID);
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  assert(signal.reason instanceof kv.LeaseLostError, String(signal.reason));
  return signal.reason;
}

/** Waits until the server has renewed a lease of 5 seconds or more: whole seconds show no shorter ones. */
async function renewed(client: kv.Client, ID: bigint): Promise<void> {
  let last = (await client.ttl({ ID })).TTL;
  for (let i = 0; i < 200; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { TTL } = await client.ttl({ ID });
    assert(TTL >= 0, "the lease is gone");
    if (TTL > last) return;
    last = TTL;
  }
  throw new Error("No renewal in 20 s");
}

etcdCase("TestLeaseNotFoundError", async ({ client }) => {
  const error = await rejected(client.put({ key: "foo", value: "bar", lease: 500 }), kv.KvError);
  assertEquals(error.reason, "LEASE_NOT_FOUND");
});

etcdCase("TestLeaseGrant", async ({ client }) => {
  const large = await rejected(client.grant({ TTL: 9_000_000_001 }), kv.KvError);
  assertEquals(large.reason, "LEASE_TTL_TOO_LARGE");
  const { ID, TTL } = await client.grant({ TTL: 10 });
  assertEquals(TTL, 10);
  await client.put({ key: "foo", value: "bar", lease: ID });
});

etcdCase("TestLeaseRevoke", async ({ client, client2 }) => {
  const { ID } = await client.grant({ TTL: 10 });
  await client.revoke({ ID });
  const error = await rejected(
    client2().put({ key: "foo", value: "bar", lease: ID }),
    kv.KvError,
  );
  assertEquals(error.reason, "LEASE_NOT_FOUND");
});

etcdCase("TestLeaseKeepAliveOnce", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 10, keepAlive: false });
  assertEquals((await client.keepAliveOnce(ID)).TTL, 10);
  const error = await rejected(client.keepAliveOnce(0), kv.KvError);
  assertEquals(error.reason, "LEASE_NOT_FOUND");
});

etcdCase("TestLeaseKeepAlive", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 10, keepAlive: false });
  await client.keepalive(ID);
  const signal = client.leaseSignal(ID);
  // A second one joins the first.
  await client.keepalive(ID);
  assertStrictEquals(client.leaseSignal(ID), signal);
  await client.ttl({ ID });
  assertEquals(signal.aborted, false);
  await client.close();
  assert(signal.aborted);
  assertEquals((signal.reason as kv.LeaseLostError).how, "closed");
});

etcdCase("TestLeaseKeepAliveSeconds", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 5 });
  for (let i = 0; i < 3; i++) await renewed(client, ID);
  assertEquals(client.leaseSignal(ID).aborted, false);
});

etcdCase("TestLeaseKeepAliveHandleFailure", async ({ cluster, client }) => {
  const { ID } = await client.grant({ TTL: 10 });
  const [member] = cluster.members;
  await member!.halt();
  member!.launch();
  await member!.ready();
  await client.ttl({ ID });
  await renewed(client, ID);
  assertEquals(client.leaseSignal(ID).aborted, false);
  const ended = lost(client, ID);
  await client.close();
  assertEquals((await ended).how, "closed");
});

etcdCase("TestLeaseKeepAliveNotFound", async ({ client }) => {
  const leases = await Promise.all([0, 1, 2].map(() => client.grant({ TTL: 5 })));
  const [first, second, third] = leases.map(({ ID }) => ID);
  const ended = lost(client, second!);
  await client.revoke({ ID: second! });
  assertEquals((await ended).how, "revoked");
  await renewed(client, first!);
  await renewed(client, third!);
});

etcdCase("TestLeaseGrantErrConnClosed", async ({ client }) => {
  await client.get({ key: "a" });
  await client.close();
  await rejected(client.grant({ TTL: 5 }), kv.ClientClosedError);
});

etcdCase("TestLeaseGrantNewAfterClose", async ({ client }) => {
  await client.close();
  await rejected(client.grant({ TTL: 5 }), kv.ClientClosedError);
});

etcdCase("TestLeaseRevokeNewAfterClose", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 5 });
  await client.close();
  await rejected(client.revoke({ ID }), kv.ClientClosedError);
});

etcdCase("TestLeaseKeepAliveCloseAfterDisconnectRevoke", async ({ cluster, client2 }) => {
  const [first, second] = cluster.members;
  const one = client2({ endpoints: [first!.clients.endpoint] });
  const { ID } = await one.grant({ TTL: 10 });
  const ended = lost(one, ID);
  await first!.halt();
  await client2({ endpoints: [second!.clients.endpoint] }).revoke({ ID });
  first!.launch();
  const start = performance.now();
  const { how } = await ended;
  assert(how === "expired" || how === "unrenewed", how);
  assert(performance.now() - start < 11_000);
}, { members: 3 });

etcdCase("TestLeaseKeepAliveInitTimeout", async ({ cluster, client }) => {
  const { ID } = await client.grant({ TTL: 2, keepAlive: false });
  await cluster.members[0]!.halt();
  const start = performance.now();
  await client.keepalive(ID);
  assertEquals((await lost(client, ID)).how, "unrenewed");
  assert(performance.now() - start < 10_000);
});

etcdCase("TestLeaseKeepAliveTTLTimeout", async ({ cluster, client }) => {
  const { ID } = await client.grant({ TTL: 5 });
  await renewed(client, ID);
  await cluster.members[0]!.halt();
  const start = performance.now();
  assertEquals((await lost(client, ID)).how, "unrenewed");
  assert(performance.now() - start < 8_000);
});

etcdCase("TestLeaseTimeToLive", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 10 });
  for (const key of ["foo1", "foo2"]) await client.put({ key, value: "bar", lease: ID });
  const full = await client.ttl({ ID, keys: true });
  assertEquals([full.ID, full.grantedTTL, full.keys.toSorted()], [ID, 10, ["foo1", "foo2"]]);
  assert(full.TTL > 0 && full.TTL <= 10, String(full.TTL));
  assertEquals((await client.ttl({ ID })).keys, []);
});

etcdCase("TestLeaseTimeToLiveLeaseNotFound", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 10 });
  await client.revoke({ ID });
  const gone = await client.ttl({ ID });
  assertEquals([gone.ID, gone.TTL], [ID, -1]);
  assert(gone.header.revision > 0n);
});

etcdCase("TestLeaseLeases", async ({ client }) => {
  const granted: bigint[] = [];
  for (let i = 0; i < 5; i++) granted.push((await client.grant({ TTL: 10 })).ID);
  const { leases } = await client.leases();
  assertEquals(leases.map(({ ID }) => ID).sort(), granted.sort());
});

etcdCase("TestLeaseRenewLostQuorum", async ({ cluster, client2 }) => {
  const [first, ...others] = cluster.members;
  const client = client2({ endpoints: [first!.clients.endpoint] });
  const { ID } = await client.grant({ TTL: 8 });
  for (const member of others) await member.halt();
  for (const member of others) member.launch();
  await Promise.all(others.map((member) => member.ready()));
  await renewed(client, ID);
  assertEquals(client.leaseSignal(ID).aborted, false);
}, { members: 3 });

etcdCase("TestLeaseKeepAliveLoopExit", async ({ client }) => {
  const { ID } = await client.grant({ TTL: 5 });
  await client.close();
  await rejected(client.keepalive(ID), kv.ClientClosedError);
});

etcdCase("TestV3LeaseFailureOverlap", async ({ cluster, client }) => {
  const [, second] = cluster.members;
  const upAndDown = async () => {
    const [granted, error] = await kv.attempt(client.grant({ TTL: 60 }));
    if (error !== undefined) return assert(error instanceof kv.KvError, String(error));
    const [, failed] = await kv.attempt(client.revoke({ ID: granted.ID }));
    assert(failed === undefined || failed instanceof kv.KvError, String(failed));
  };
  const work: Promise<void>[] = [];
  const requests = () => {
    for (let i = 0; i < 5; i++) work.push(upAndDown());
  };
  requests();
  await second!.halt();
  requests();
  await new Promise((resolve) => setTimeout(resolve, 500));
  requests();
  second!.launch();
  requests();
  await Promise.all(work);
  await upAndDown();
}, { members: 2 });

etcdCase("TestLeaseWithRequireLeader", async ({ cluster, client2 }) => {
  const [first, ...others] = cluster.members;
  const client = client2({ endpoints: [first!.clients.endpoint] });
  const { ID } = await client.grant({ TTL: 5 });
  await renewed(client, ID);
  for (const member of others) await member.halt();
  // Renewals ask for a leader: a member without one cannot promise anything.
  assertEquals((await lost(client, ID)).how, "unrenewed");
}, { members: 3 });
