/**
 * The store, and etcd where there is one, against recorded answers of etcd 3.4.23: the same calls in the
 * same order on a fresh store have the same answers, but for identities, clocks and what later versions
 * answer otherwise.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { listen } from "../../../kv/server/mod.ts";
import { Etcd, etcdVersion, findEtcd } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { changedSince, comparable } from "./recorded/differences.ts";
import { keyCalls } from "./recorded/keys.ts";
import { leaseCalls, watchCalls } from "./recorded/leases.ts";
import { contestCalls, upkeepCalls, userCalls } from "./recorded/others.ts";
import { type Answer, Player } from "./recorded/player.ts";

const path = Deno.env.get("KV_PROBES");
const record = ["recorded answers", path, "set KV_PROBES to kv-probes-3.4.23.json"] as const;
const etcd = await findEtcd();

/** Minor version of etcd whose words the store has. */
const STORE_VERSION = 6;

async function play(t: Deno.TestContext, endpoint: string, version: number): Promise<void> {
  const records = JSON.parse(await Deno.readTextFile(path!)) as { name: string; v: Answer }[];
  await using player = new Player(endpoint);
  const calls = {
    ...keyCalls(player),
    ...leaseCalls(player),
    ...watchCalls(player),
    ...contestCalls(player),
    ...upkeepCalls(player),
    ...userCalls(player),
  };
  assertEquals(Object.keys(calls), records.map(({ name }) => name), "all, in their order");
  for (const { name, v } of records) {
    const expected = changedSince(name, version, v);
    const actual = await calls[name]!(expected);
    await t.step(name, () => {
      assertEquals(comparable(name, actual), comparable(name, expected));
    });
  }
}

peerTest("the store answers as etcd was recorded", { needs: [record] }, async (t) => {
  await using store = listen();
  await play(t, store.addr, STORE_VERSION);
});

peerTest("etcd answers as it was recorded, or as its version does", {
  needs: [record, ["etcd", etcd, "install etcd-server, or set ETCD to the program"]],
}, async (t) => {
  await using server = await Etcd.start();
  const version = Number(/^3\.(\d+)/.exec(await etcdVersion(etcd!))?.[1]);
  await play(t, server.endpoint, version);
});
