/** Other clients of etcd on the store: their own flows, as they are. */
import { assertEquals } from "@std/assert";
import { listen } from "../../../kv/server/mod.ts";
import { inPeers, PEERS, peerTest } from "../../../support/peers.ts";
import { run, which } from "../../../support/process.ts";

const GO = inPeers("bin/etcd_go_peer");
const SET = "set SLUICE_PEERS to the folder that .ci/run fills";

/** Names of the flows that a client has gone through. */
async function flows(command: string, args: readonly string[], cwd?: string): Promise<string[]> {
  const options = { command, args, ...(cwd === undefined ? {} : { cwd }) };
  const { code, stdout, stderr } = await run(options, 120_000);
  assertEquals(code, 0, stderr);
  return stdout.trim().split("\n");
}

peerTest("etcd's Go client goes through its flows", {
  needs: [["etcd_go_peer", GO, SET]],
}, async () => {
  await using store = listen({ limits: { bcryptCost: 4 } });
  assertEquals(await flows(GO!, [store.addr, "flows"]), [
    "keys, ranges and transactions",
    "compaction",
    "watches",
    "leases",
    "namespaces",
    "a leasing cache",
    "reads in order",
    "a mirror",
    "endpoints by name",
    "upkeep",
    "users",
  ]);
});

peerTest("npm's etcd3 goes through its flows", {
  needs: [["node", await which("node"), "install Node"], [
    "etcd3",
    inPeers("node_modules/etcd3"),
    SET,
  ]],
}, async () => {
  await using store = listen({ limits: { bcryptCost: 4 } });
  const script = new URL("../peers/node/etcd3.mjs", import.meta.url).pathname;
  assertEquals(await flows("node", [script, store.addr], PEERS), [
    "keys",
    "transactions",
    "software transactions",
    "leases",
    "watches",
    "locks",
    "elections",
    "namespaces",
    "upkeep",
    "users",
  ]);
});
