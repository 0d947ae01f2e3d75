/** The recorded calls about locks, elections, upkeep, members and users, in their order. */
import type { Calls } from "./keys.ts";
import { type Answer, type Fields, Player } from "./player.ts";

/** Calls of `Lock` and `Election`. */
export function contestCalls(player: Player): Calls {
  const lock = (name: string, lease: number, timeout?: number) =>
    player.ask("Lock", "Lock", { name, lease }, timeout === undefined ? {} : { timeout });
  const unlock = (key: string) => player.ask("Lock", "Unlock", { key });
  const ask = (method: string, fields: Fields) => player.ask("Election", method, fields);
  let leader: Fields = {};
  return {
    "lock": async () => {
      for (const ID of [200, 201]) await player.ask("Lease", "LeaseGrant", { ID, TTL: 60 });
      return await lock("mylock", 200);
    },
    "lock relock same lease": () => lock("mylock", 200),
    "lock contended deadline 500ms": () => lock("mylock", 201, 500),
    "lock prefix after": async (recorded) => {
      // The one who gave up takes its key back.
      for (;;) {
        const { kvs } = await player.ask("KV", "Range", { key: "mylock/", rangeEnd: "mylock0" });
        const keys = kvs.map(({ key }: Answer) => key);
        if (keys.length === recorded.length) return keys;
      }
    },
    "unlock": () => unlock("mylock/c8"),
    "unlock again": () => unlock("mylock/c8"),
    "lock lease 0": () => lock("l0", 0),
    "lock missing lease": () => lock("missing", 4242),
    "lock empty name": () => lock("", 200),
    "campaign": async () => {
      const answer = await ask("Campaign", { name: "el", lease: 200, value: "v1" });
      const { name, key, rev, lease } = answer.leader;
      leader = { name, key, rev: BigInt(rev), lease: BigInt(lease) };
      return answer;
    },
    "leader": () => ask("Leader", { name: "el" }),
    "leader none": () => ask("Leader", { name: "nobody" }),
    "proclaim": () => ask("Proclaim", { leader, value: "v2" }),
    "proclaim no leader field": () => ask("Proclaim", { value: "v2" }),
    "resign": () => ask("Resign", { leader }),
    "proclaim after resign": () => ask("Proclaim", { leader, value: "v3" }),
    "resign no leader": () => ask("Resign", {}),
  };
}

/** A call whose message is in gzip. */
async function compressed(player: Player): Promise<Answer> {
  await using other = new Player(player.endpoint, true);
  const answer = await other.ask("KV", "Range", { key: "a".repeat(2_000) });
  return answer.code === undefined ? "ok" : answer;
}

/** Calls of `Maintenance` and `Cluster`. */
export function upkeepCalls(player: Player): Calls {
  const ask = (method: string, fields: Fields = {}) => player.ask("Maintenance", method, fields);
  const hashed = (answer: Answer) =>
    "hash" in answer ? { ...answer, hash: typeof answer.hash } : answer;
  const member = (method: string, fields: Fields = {}) =>
    player.ask("Cluster", `Member${method}`, fields);
  return {
    "status": () => ask("Status"),
    "alarm get": () => ask("Alarm", { action: 0 }),
    "hash": async () => hashed(await ask("Hash")),
    "hashKV 0": async () => hashed(await ask("HashKV")),
    "hashKV future": () => ask("HashKV", { revision: 9999 }),
    "hashKV compacted": () => ask("HashKV", { revision: 3 }),
    "defragment": () => ask("Defragment"),
    "moveLeader bad": () => ask("MoveLeader", { targetID: 42 }),
    "memberList": () => member("List"),
    "memberRemove unknown": () => member("Remove", { ID: 42 }),
    "memberAdd bad url": () => member("Add", { peerURLs: ["nonsense"] }),
    "memberPromote unknown": () => member("Promote", { ID: 42 }),
    "snapshot": async () => {
      const messages = await player.collect("Maintenance", "Snapshot");
      return {
        msgs: messages.length,
        bytes: messages.reduce((sum, { blob }) => sum + blob.length, 0),
        first: {
          remaining: messages[0].remaining_bytes,
          blob: messages[0].blob.length,
        },
      };
    },
    "authStatus (3.5+)": () => player.ask("Auth", "AuthStatus"),
    "downgrade (3.5+)": () => ask("Downgrade", { action: 0, version: "x" }),
    "authenticate when disabled": () =>
      player.ask("Auth", "Authenticate", { name: "root", password: "pw" }),
    "bad token when auth disabled": () =>
      player.ask("KV", "Range", { key: "a" }, { token: "bad.1" }),
    "gzip request": () => compressed(player),
  };
}

/** Calls of `Auth`, and calls of others by users. */
export function userCalls(player: Player): Calls {
  const tokens = new Map<string, string>();
  const tokenOf = (as?: string) => as === undefined ? {} : { token: tokens.get(as) ?? as };
  const ask = (method: string, fields: Fields = {}, as?: string) =>
    player.ask("Auth", method, fields, tokenOf(as));
  const range = (key: string, as?: string) => player.ask("KV", "Range", { key }, tokenOf(as));
  const ok = (answer: Answer) => answer.code === undefined ? "ok" : answer;
  const login = async (name: string, password = "pw") => {
    const answer = await ask("Authenticate", { name, password });
    if (answer.token !== undefined) tokens.set(name, answer.token);
    return answer;
  };
  const P = { key: "p/", rangeEnd: "p0" };
  const watch = (recorded: Answer, keys: readonly string[], as?: string) =>
    player.watch(
      keys.map((key) => ({ key })),
      recorded,
      undefined,
      tokenOf(as) as Record<string, string>,
    );
  return {
    "authEnable no root": () => ask("AuthEnable"),
    "userAdd empty": () => ask("UserAdd", { name: "", password: "pw" }),
    "userAdd root": () => ask("UserAdd", { name: "root", password: "pw" }),
    "userAdd root again": () => ask("UserAdd", { name: "root", password: "pw" }),
    "authEnable root w/o role": () => ask("AuthEnable"),
    "roleAdd root": () => ask("RoleAdd", { name: "root" }),
    "roleAdd root again": () => ask("RoleAdd", { name: "root" }),
    "roleAdd empty": () => ask("RoleAdd", { name: "" }),
    "grantRole": () => ask("UserGrantRole", { user: "root", role: "root" }),
    "grantRole missing user": () => ask("UserGrantRole", { user: "nobody", role: "root" }),
    "grantRole missing role": () => ask("UserGrantRole", { user: "root", role: "none" }),
    "roleGrantPermission": async () => {
      await ask("RoleAdd", { name: "reader" });
      await ask("UserAdd", { name: "bob", password: "pw" });
      await ask("UserGrantRole", { user: "bob", role: "reader" });
      return await ask("RoleGrantPermission", { name: "reader", perm: { permType: 0, ...P } });
    },
    "roleGrantPermission missing role": () =>
      ask("RoleGrantPermission", { name: "none", perm: { permType: 0, ...P } }),
    "roleRevokePermission not granted": () =>
      ask("RoleRevokePermission", { role: "reader", key: "zz" }),
    "userRevokeRole not granted": () => ask("UserRevokeRole", { name: "bob", role: "root" }),
    "userGet missing": () => ask("UserGet", { name: "nobody" }),
    "roleGet": () => ask("RoleGet", { role: "reader" }),
    "authEnable": () => ask("AuthEnable"),
    "range no token": () => range("a"),
    "put no token": () => player.ask("KV", "Put", { key: "a", value: "x" }),
    "authenticate wrong pw": () => login("root", "wrong"),
    "authenticate unknown": () => login("nobody"),
    "token shape": async () => {
      await login("root");
      return (await login("bob")).token.replace(/[a-zA-Z]/g, "a");
    },
    "bob range ok": async () => (await range("p/k1", "bob")).count,
    "bob range denied": () => range("a", "bob"),
    "bob put denied": () => player.ask("KV", "Put", { key: "p/k1", value: "x" }, tokenOf("bob")),
    "bad token": () => range("a", "bad.1"),
    "bob compact": () => player.ask("KV", "Compact", { revision: 5 }, tokenOf("bob")),
    "bob userList": () => ask("UserList", {}, "bob"),
    "bob status": async () => ok(await player.ask("Maintenance", "Status", {}, tokenOf("bob"))),
    "no-token status": async () => ok(await player.ask("Maintenance", "Status")),
    "no-token memberList": async () => ok(await player.ask("Cluster", "MemberList")),
    "no-token leaseGrant": async () => ok(await player.ask("Lease", "LeaseGrant", { TTL: 60 })),
    "no-token leases": async () => ok(await player.ask("Lease", "LeaseLeases")),
    "no-token alarm": async () => ok(await player.ask("Maintenance", "Alarm")),
    "watch no token": (recorded) => watch(recorded, ["p/k1"]),
    "watch bad token": (recorded) => watch(recorded, ["p/k1"], "bad.1"),
    "watch bob denied": (recorded) => watch(recorded, ["a"], "bob"),
    "watch bob ok": (recorded) => watch(recorded, ["p/k1"], "bob"),
    "watch bob denied then ok on same stream": (recorded) => watch(recorded, ["a", "p/k1"], "bob"),
    "simple token after auth store change": async () => {
      await ask("RoleAdd", { name: "another" }, "root");
      return ok(await range("p/k1", "bob"));
    },
    "changePassword self": () =>
      ask("UserChangePassword", { name: "root", password: "pw2" }, "root"),
    "token after own password change": () => range("a", "root"),
    "delete root": async () => {
      await login("root", "pw2");
      return await ask("UserDelete", { name: "root" }, "root");
    },
    "delete role root": () => ask("RoleDelete", { role: "root" }, "root"),
    "revoke root role from root": () =>
      ask("UserRevokeRole", { name: "root", role: "root" }, "root"),
    "authDisable": () => ask("AuthDisable", {}, "root"),
  };
}
