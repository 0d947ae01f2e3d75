/** Cases of integration/v3_auth_test.go, v3_alarm_test.go, v3lock_grpc_test.go, v3election_grpc_test.go. */
import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../recorded/player.ts";
import { storeCase, zeros } from "./case.ts";

const [WRITE, BOTH] = [1, 2];
const DENIED = "etcdserver: permission denied";
const EMPTY = "etcdserver: user name is empty";

storeCase("TestV3AuthEmptyUserGet", async (stage) => {
  await stage.users();
  assertEquals((await stage.range("abc")).msg, EMPTY);
});

storeCase("TestV3AuthEmptyUserPut", async (stage) => {
  await stage.users();
  for (let i = 0; i < 10; i++) assertEquals((await stage.put("foo")).msg, EMPTY);
});

storeCase("TestV3AuthTokenWithDisable", async (stage) => {
  await stage.users();
  const root = await stage.login("root");
  let writing = true;
  const writes = (async () => {
    let done = 0;
    for (; writing; done++) await stage.put("abc", "def", {}, root);
    return done;
  })();
  await stage.put("before", "x", {}, root);
  assertEquals((await stage.ask("Auth", "AuthDisable", {}, root)).code, undefined);
  await stage.put("after");
  writing = false;
  assert(await writes > 0);
});

storeCase("TestV3AuthRevision", async (stage) => {
  const { header } = await stage.put("foo");
  const added = await stage.ask("Auth", "UserAdd", { name: "root", password: "pw" });
  assertEquals(added.header, header);
});

storeCase("TestV3AuthWithLeaseRevokeWithRoot", async (stage) => {
  await stage.users();
  const root = await stage.login("root");
  await stage.lease("Grant", { ID: 1, TTL: 2 }, root);
  await stage.put("foo", "bar", { lease: 1 }, root);
  stage.store.advance("3s");
  const { TTL, grantedTTL, keys } = await stage.lease("TimeToLive", { ID: 1, keys: true }, root);
  assertEquals([TTL, grantedTTL, keys], ["-1", "0", []]);
});

storeCase("TestV3AuthWithLeaseRevoke", async (stage) => {
  await stage.users(["user1", BOTH, "k1", "k2"]);
  const [root, user] = [await stage.login("root"), await stage.login("user1")];
  await stage.lease("Grant", { ID: 1, TTL: 90 }, root);
  await stage.put("k3", "val", { lease: 1 }, root);
  assertEquals((await stage.lease("Revoke", { ID: 1 }, user)).msg, DENIED);
});

storeCase("TestV3AuthWithLeaseRenew", async (stage) => {
  await stage.users(["user1", BOTH, "k1", "k3"]);
  const [root, user] = [await stage.login("root"), await stage.login("user1")];
  for (const [ID, keys] of [[1, ["k1", "k3"]], [2, ["k1", "k2"]]] as const) {
    await stage.lease("Grant", { ID, TTL: 90 }, root);
    for (const key of keys) await stage.put(key, "val", { lease: ID }, root);
  }
  assertEquals((await stage.keepAlive(1)).msg, EMPTY);
  assertEquals((await stage.keepAlive(1, root)).TTL, "90");
  assertEquals((await stage.keepAlive(1, user)).msg, DENIED);
  assertEquals((await stage.keepAlive(2, user)).TTL, "90");
});

storeCase("TestV3AuthWithLeaseAttach", async (stage) => {
  await stage.users(["user1", BOTH, "k1", "k3"], ["user2", BOTH, "k2", "k4"]);
  const [one, two] = [await stage.login("user1"), await stage.login("user2")];
  await stage.lease("Grant", { ID: 1, TTL: 90 }, one);
  await stage.put("k2", "val", { lease: 1 }, one);
  assertEquals((await stage.lease("Revoke", { ID: 1 }, two)).code, undefined);
  await stage.lease("Grant", { ID: 1, TTL: 90 }, one);
  await stage.put("k1", "val", { lease: 1 }, one);
  assertEquals((await stage.lease("Revoke", { ID: 1 }, two)).msg, DENIED);
});

storeCase("TestV3AuthNonAuthorizedRPCs", async (stage) => {
  assertEquals((await stage.put("foo")).code, undefined);
  await stage.users();
  assertEquals((await stage.put("foo")).msg, EMPTY);
});

storeCase("TestV3AuthNestedTxnPermissionDenied", async (stage) => {
  await stage.users(["user1", BOTH, "foo", "zoo"]);
  const [root, user] = [await stage.login("root"), await stage.login("user1")];
  await stage.put("boo", "bar", {}, root);
  let success: Answer[] = [{ requestDeleteRange: { key: "boo" } }];
  for (let depth = 0; depth < 2; depth++) success = [{ requestTxn: { success } }];
  assertEquals((await stage.txn({ success }, user)).msg, DENIED);
  assertEquals((await stage.range("boo", {}, root)).kvs[0].value, "bar");
});

storeCase("TestReadWithPrevKvInTXN", async (stage) => {
  await stage.users(["user1", WRITE, "foo", "zoo"]);
  const [root, user] = [await stage.login("root"), await stage.login("user1")];
  await stage.put("foo", "bar", {}, root);
  const put = { key: "foo", value: "new", prevKv: true };
  assertEquals((await stage.txn({ success: [{ requestPut: put }] }, user)).msg, DENIED);
});

storeCase("TestPutWithLeaseInTXN", async (stage) => {
  await stage.users(["user1", WRITE, "foo", "fop"]);
  const [root, user] = [await stage.login("root"), await stage.login("user1")];
  await stage.lease("Grant", { ID: 1, TTL: 90 }, root);
  await stage.put("eoo", "bar", { lease: 1 }, root);
  const put = { key: "foo", value: "new", lease: 1 };
  assertEquals((await stage.txn({ success: [{ requestPut: put }] }, user)).msg, DENIED);
});

storeCase("TestV3AuthOldRevConcurrent", async (stage) => {
  await stage.users();
  const root = await stage.login("root");
  const steps = Array.from({ length: 20 }, async (_, i) => {
    const [name, role] = [`test-user-${i}`, `test-role-${i}`];
    await stage.ask("Auth", "RoleAdd", { name: role }, root);
    await stage.ask("Auth", "RoleGrantPermission", {
      name: role,
      perm: { permType: BOTH, key: "a", rangeEnd: "b" },
    }, root);
    await stage.ask("Auth", "UserAdd", { name, password: "pw" }, root);
    await stage.ask("Auth", "UserGrantRole", { user: name, role }, root);
    return (await stage.put("a", "b", {}, await stage.login(name))).code;
  });
  assertEquals(await Promise.all(steps), steps.map(() => undefined));
});

storeCase("TestV3AuthWatchErrorAndWatchId0", async (stage) => {
  await stage.users(["user1", BOTH, "k1", "k2"]);
  const user = await stage.login("user1");
  const told = await stage.player.watch(
    [{ key: "k1", startRevision: 1 }, { key: "non-allowed-key" }],
    [0, 0, 0, "END"],
    () => stage.put("k1", "val", {}, user),
    { token: user },
  );
  assertEquals(told.map(({ id, canceled, events }: Answer) => [id, canceled, events?.length]), [
    ["0", undefined, undefined],
    ["-1", true, undefined],
    ["0", undefined, 1],
    [undefined, undefined, undefined],
  ]);
  assertEquals(told[1].cancel_reason, `rpc error: code = PermissionDenied desc = ${DENIED}`);
});

// ---- alarms --------------------------------------------------------------------------------------

const FULL = "etcdserver: mvcc: database space exceeded";

storeCase("TestV3StorageQuotaApply", async (stage) => {
  await stage.put("abc", zeros(1024));
  assertEquals((await stage.put("abc", zeros(16 * 4096))).msg, FULL);
  const { alarms } = await stage.ask("Maintenance", "Alarm", { action: 0 });
  assertEquals(alarms.map(({ alarm }: Answer) => alarm), ["NOSPACE"]);
  // What takes no room goes on.
  const compare = [{ key: "abc", target: 1, result: 0, createRevision: 0 }];
  const success = [{ requestDeleteRange: { key: "abc" } }];
  assertEquals((await stage.txn({ compare, success })).code, undefined);
  assertEquals((await stage.put("abc", "x")).msg, FULL);
  await stage.restart();
  assertEquals((await stage.put("abc", "x")).msg, FULL);
}, { limits: { quotaBytes: 16 * 4096 } });

storeCase("TestV3AlarmDeactivate", async (stage) => {
  const alarm = (action: number) => stage.ask("Maintenance", "Alarm", { action, alarm: 1 });
  await alarm(1);
  assertEquals((await stage.put("abc")).msg, FULL);
  await alarm(2);
  assertEquals((await stage.put("abc")).code, undefined);
});

// ---- locks and elections -------------------------------------------------------------------------

storeCase("TestV3LockLockWaiter", async (stage) => {
  for (const ID of [1, 2]) await stage.lease("Grant", { ID, TTL: 30 });
  const lock = (lease: number) => stage.ask("Lock", "Lock", { name: "foo", lease });
  const first = await lock(1);
  let got = false;
  const second = lock(2).then((answer) => {
    got = true;
    return answer;
  });
  assertEquals((await stage.range("foo/", { rangeEnd: "foo0" })).code, undefined);
  assert(!got);
  await stage.ask("Lock", "Unlock", { key: first.key });
  assertEquals((await second).key, "foo/2");
});

storeCase("TestV3ElectionCampaign", async (stage) => {
  for (const ID of [1, 2]) await stage.lease("Grant", { ID, TTL: 30 });
  const campaign = (lease: number, value: string) =>
    stage.ask("Election", "Campaign", { name: "foo", lease, value });
  const { leader } = await campaign(1, "abc");
  let elected = false;
  const other = campaign(2, "def").then((answer) => {
    elected = true;
    return answer;
  });
  await stage.range("foo");
  assert(!elected);
  const numbers = { rev: BigInt(leader.rev), lease: BigInt(leader.lease) };
  await stage.ask("Election", "Resign", {
    leader: { name: leader.name, key: leader.key, ...numbers },
  });
  await other;
  assertEquals((await stage.ask("Election", "Leader", { name: "foo" })).kv.value, "def");
});

storeCase("TestV3ElectionObserve", async (stage) => {
  for (const ID of [1, 2]) await stage.lease("Grant", { ID, TTL: 30 });
  const observed = await stage.player.read("Election", "Observe", { name: "foo" });
  const next = async () => (await observed.next()).value.kv.value;
  const campaign = (lease: number, value: string) =>
    stage.ask("Election", "Campaign", { name: "foo", lease, value });
  const asLeader = ({ name, key, rev, lease }: Answer) => ({
    leader: { name, key, rev: BigInt(rev), lease: BigInt(lease) },
  });
  const first = next();
  const one = asLeader((await campaign(1, "0")).leader);
  assertEquals(await first, "0");
  for (const value of ["1", "2", "3"]) {
    const told = next();
    await stage.ask("Election", "Proclaim", { ...one, value });
    assertEquals(await told, value);
  }
  const told = next();
  const other = campaign(2, "other");
  await stage.ask("Election", "Resign", one);
  await other;
  assertEquals(await told, "other");
  await observed.return(undefined);
});
