import { assert, assertEquals } from "@std/assert";
import { Etcd, findEtcd } from "../../support/etcd.ts";
import { peerTest } from "../../support/peers.ts";

peerTest("Etcd.start() serves clients, and restart() keeps the endpoint", {
  needs: [["etcd", await findEtcd(), "put etcd on PATH or set ETCD"]],
}, async () => {
  await using etcd = await Etcd.start();
  const version = async () => (await (await fetch(`http://${etcd.endpoint}/version`)).json());
  const first = await version();
  assert(first.etcdserver);
  await etcd.halt();
  await etcd.restart();
  assertEquals(await version(), first);
});
