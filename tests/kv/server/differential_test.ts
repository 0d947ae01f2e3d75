/**
 * The store beside a real etcd: the same random programs, the same answers.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { listen } from "../../../kv/server/mod.ts";
import { Etcd, etcdVersion, findEtcd } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { Random } from "../../../support/random.ts";
import { ProgramMaker, type Step, Target } from "./programs.ts";

const etcdPath = await findEtcd();
const version = Number((etcdPath && await etcdVersion(etcdPath))?.match(/^3\.(\d+)/)?.[1]);
const needs = [["etcd", etcdPath, "install etcd-server, or set ETCD to the program"]] as const;
const STEPS = Number(Deno.env.get("STORE_STEPS") ?? 1_500);
const SEED = Number(Deno.env.get("STORE_SEED") ?? 1);

peerTest("random programs are answered as etcd answers them", { needs }, async () => {
  await using etcd = await Etcd.start();
  await using store = listen();
  await using theirs = new Target(etcd.endpoint);
  await using ours = new Target(store.addr);
  const maker = new ProgramMaker(new Random(SEED));
  let compacted = 0;
  for (let i = 0; i < STEPS; i++) {
    const step = maker.step();
    const [expected, actual] = await Promise.all([theirs.ask(step), ours.ask(step)]);
    assertEquals(
      comparable(actual, step),
      comparable(expected, step),
      `step ${i} of seed ${SEED}: ${show(step)}`,
    );
    maker.revision = Number(/"header":\{"revision":"(\d+)"/.exec(expected)?.[1] ?? maker.revision);
    if (step.method === "Compact" && !/^\d/.test(expected)) {
      compacted = Number(step.request["revision"]);
    }
  }
  const hash = { service: "Maintenance", method: "HashKV", request: { revision: 0n } } as const;
  assertEquals(await ours.ask(hash), await theirs.ask(hash));
  // 3.4.23 does not tell of deletions at the very revision of the compaction.
  const first = version < 6 ? compacted + 1 : compacted;
  for (const from of [compacted - 1, first, compacted + 3]) {
    const to = maker.revision;
    assertEquals(await ours.history(from, to), await theirs.history(from, to), `from ${from}`);
  }
});

/** Why a transaction is refused whose requests are well formed. */
const REFUSED_THERE = /^\d+ etcdserver: (key not found|requested lease|mvcc: required revision)/;

/** An answer without the differences there are between versions of etcd. */
function comparable(answer: string, { method, request }: Step): string {
  // Of several faults in one transaction, other versions than 3.6 name another one first.
  if (method === "Txn" && version !== 6 && REFUSED_THERE.test(answer)) return "refused";
  // 3.7 leaves the lease out of keys without values.
  if (version >= 7 && show(request).includes("keysOnly: true")) {
    return answer.replaceAll(/"value":"","lease":"[-\d]+"/g, "");
  }
  return answer;
}

function show(value: unknown): string {
  return Deno.inspect(value, { depth: 12, iterableLimit: 100 });
}
