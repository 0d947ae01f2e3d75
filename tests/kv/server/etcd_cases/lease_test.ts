/** Cases of integration/v3_lease_test.go. */
import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../recorded/player.ts";
import { type Stage, storeCase } from "./case.ts";

/** Grants a lease and puts a key on it. */
async function leased(stage: Stage, ID: number, TTL = 60, key = "foo"): Promise<void> {
  await stage.lease("Grant", { ID, TTL });
  await stage.put(key, "bar", { lease: ID });
}

const keysOf = async (stage: Stage, ID: number): Promise<string[]> =>
  (await stage.lease("TimeToLive", { ID, keys: true })).keys.sort();

storeCase("TestV3LeasePromote", async (stage) => {
  await leased(stage, 1, 3);
  stage.store.advance("2s");
  // A new leader gives every lease its whole time again.
  stage.store.faults.noLeader = true;
  stage.store.faults.noLeader = false;
  stage.store.advance("2s");
  assertEquals((await stage.range("foo")).count, "1");
  stage.store.advance("2s");
  assertEquals((await stage.range("foo")).count, "0");
});

storeCase("TestV3LeaseRevoke", async (stage) => {
  await leased(stage, 1);
  await stage.lease("Revoke", { ID: 1 });
  assertEquals((await stage.range("foo")).count, "0");
});

storeCase("TestV3LeaseGrantByID", async (stage) => {
  assertEquals((await stage.lease("Grant", { ID: 1, TTL: 1 })).ID, "1");
  const { msg } = await stage.lease("Grant", { ID: 1, TTL: 1 });
  assertEquals(msg, "etcdserver: lease already exists");
  assertEquals((await stage.lease("Grant", { ID: 2, TTL: 1 })).ID, "2");
});

storeCase("TestV3LeaseNegativeID", async (stage) => {
  for (const id of [-1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    const ID = id as unknown as number;
    assertEquals((await stage.lease("Grant", { ID, TTL: 300 })).ID, `${id}`);
    await stage.put("foo", "bar", { lease: id });
    await stage.restart();
    assertEquals((await stage.lease("Revoke", { ID })).code, undefined);
    assertEquals((await stage.range("foo")).count, "0");
  }
});

storeCase("TestV3LeaseExpire", async (stage) => {
  await leased(stage, 1, 5);
  const told = await stage.player.watch(
    [{ key: "foo", startRevision: 1 }],
    [0, 0, 0, "END"],
    () => Promise.resolve(stage.store.advance("6s")),
  );
  assertEquals(told.slice(1, -1).flatMap(({ events }: Answer) => events), [
    "PUT foo=bar@2 c2 v1 l1",
    "DELETE foo=@3 c0 v0 l0",
  ]);
});

storeCase("TestV3LeaseKeepAlive", async (stage) => {
  await leased(stage, 1, 2);
  for (let i = 0; i < 3; i++) {
    stage.store.advance("1900ms");
    assertEquals((await stage.keepAlive(1)).TTL, "2");
  }
  assertEquals((await stage.range("foo")).count, "1");
  await stage.lease("Revoke", { ID: 1 });
  assertEquals((await stage.keepAlive(1)).TTL, "0");
});

storeCase("TestV3LeaseExists", async (stage) => {
  await stage.lease("Grant", { ID: 1, TTL: 60 });
  await stage.lease("Revoke", { ID: 1 });
  const { msg } = await stage.put("foo", "bar", { lease: 1 });
  assertEquals(msg, "etcdserver: requested lease not found");
});

storeCase("TestV3LeaseLeases", async (stage) => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await stage.lease("Grant", { TTL: 30 })).ID);
  const { leases } = await stage.lease("Leases");
  assertEquals(leases.map(({ ID }: Answer) => ID).sort(), ids.sort());
});

/** Asks of leases whose time is as good as over: each answer says that one lives, or is gone. */
async function stress(stage: Stage, ask: (ID: number) => Promise<Answer>): Promise<void> {
  for (let i = 1; i <= 30; i++) {
    await stage.lease("Grant", { ID: i, TTL: 2 });
    stage.store.advance(1_999);
    const [answer] = await Promise.all([ask(i), stage.store.advance(1)]);
    assert(["2", "0", "-1"].includes(answer.TTL), answer.TTL);
    stage.store.advance("3s");
    const { TTL } = await stage.lease("TimeToLive", { ID: i });
    assertEquals(TTL, "-1");
  }
}

for (const name of ["TestV3LeaseRenewStress", "TestV3LeaseRenewStressWithClusterClient"]) {
  storeCase(name, (stage) => stress(stage, (ID) => stage.keepAlive(ID)));
}

for (
  const name of ["TestV3LeaseTimeToLiveStress", "TestV3LeaseTimeToLiveStressWithClusterClient"]
) {
  storeCase(name, (stage) =>
    stress(stage, async (ID) => {
      const { TTL, ...rest } = await stage.lease("TimeToLive", { ID });
      return { ...rest, TTL: TTL === "1" ? "2" : TTL };
    }));
}

storeCase("TestV3PutOnNonExistLease", async (stage) => {
  const { msg } = await stage.put("foo", "bar", { lease: 2 ** 40 });
  assertEquals(msg, "etcdserver: requested lease not found");
});

storeCase("TestV3GetNonExistLease", async (stage) => {
  const { TTL, grantedTTL, keys } = await stage.lease("TimeToLive", { ID: 123, keys: true });
  assertEquals([TTL, grantedTTL, keys], ["-1", "0", []]);
});

storeCase("TestV3LeaseSwitch", async (stage) => {
  await leased(stage, 1);
  await leased(stage, 2);
  await stage.lease("Revoke", { ID: 1 });
  assertEquals((await stage.range("foo")).count, "1");
  await stage.lease("Revoke", { ID: 2 });
  assertEquals((await stage.range("foo")).count, "0");
});

storeCase("TestV3LeaseFailover", async (stage) => {
  await leased(stage, 1, 5);
  // Without a leader nothing ends, and it lives for its whole time under the next one.
  stage.store.faults.noLeader = true;
  stage.store.advance("9s");
  stage.store.faults.noLeader = false;
  stage.store.advance("4s");
  assertEquals((await stage.range("foo")).count, "1");
  stage.store.advance("2s");
  assertEquals((await stage.range("foo")).count, "0");
});

storeCase("TestV3LeaseRecoverAndRevoke", async (stage) => {
  await leased(stage, 1);
  await stage.restart();
  await stage.lease("Revoke", { ID: 1 });
  assertEquals((await stage.range("foo")).count, "0");
});

storeCase("TestV3LeaseRevokeAndRecover", async (stage) => {
  await leased(stage, 1);
  await stage.lease("Revoke", { ID: 1 });
  await stage.restart();
  assertEquals((await stage.range("foo")).count, "0");
  assertEquals((await stage.lease("TimeToLive", { ID: 1 })).TTL, "-1");
});

storeCase("TestV3LeaseRecoverKeyWithDetachedLease", async (stage) => {
  await leased(stage, 1);
  await stage.put("foo");
  await stage.restart();
  await stage.lease("Revoke", { ID: 1 });
  assertEquals((await stage.range("foo")).count, "1");
});

storeCase("TestV3LeaseRecoverKeyWithMultipleLease", async (stage) => {
  await leased(stage, 1);
  await leased(stage, 2);
  await stage.restart();
  assertEquals([await keysOf(stage, 1), await keysOf(stage, 2)], [[], ["foo"]]);
  await stage.lease("Revoke", { ID: 1 });
  assertEquals((await stage.range("foo")).count, "1");
  await stage.lease("Revoke", { ID: 2 });
  assertEquals((await stage.range("foo")).count, "0");
});

storeCase("TestV3LeaseTimeToLiveWithLeaderChanged", async (stage) => {
  await leased(stage, 1);
  const asked = stage.lease("TimeToLive", { ID: 1 });
  stage.store.faults.noLeader = true;
  const answer = await asked;
  assert(answer.grantedTTL === "60" || answer.msg === "etcdserver: no leader");
  stage.store.faults.noLeader = false;
  assertEquals((await stage.lease("TimeToLive", { ID: 1 })).grantedTTL, "60");
});
