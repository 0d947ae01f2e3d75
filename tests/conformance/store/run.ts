// deno-lint-ignore-file no-console
/**
 * Has random programs carried out by the store and by a real etcd, and compares all answers and the
 * histories that watches tell. The exit code is 0 if nothing differed but what is known to.
 *
 * ```sh
 * deno task conformance:store [--steps 100000] [--seed 1] [--kind NAME] [--etcd PROGRAM]
 * ```
 *
 * @module
 */
import { parseArgs } from "node:util";
import { etcdVersion, findEtcd } from "../../../support/etcd.ts";
import { Random } from "../../../support/random.ts";
import { KINDS } from "./kinds.ts";
import { Difference, Ended } from "./pair.ts";

const { values: args } = parseArgs({
  args: Deno.args,
  options: {
    steps: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    kind: { type: "string" },
    etcd: { type: "string" },
    stop: { type: "string", default: "5" },
  },
});

const etcd = args.etcd ?? await findEtcd();
if (etcd === undefined) {
  console.error("No etcd: install etcd-server, or name the program with --etcd.");
  Deno.exit(2);
}
const text = await etcdVersion(etcd);
const version = Number(/^3\.(\d+)/.exec(text)?.[1]);
const names = args.kind === undefined
  ? Object.keys(KINDS).filter((name) => version >= (KINDS[name]!.from ?? 0))
  : [args.kind];
const wanted = Number(args.steps);
let compared = 0;
let different = 0;
const met = new Map<string, number>();
const perKind = new Map<string, number>();
for (let round = 0; compared < wanted && different < Number(args.stop); round++) {
  const seed = Number(args.seed) + round;
  const name = names[round % names.length]!;
  const kind = KINDS[name];
  if (kind === undefined) {
    console.error(`No such kind: ${name}. There are ${Object.keys(KINDS).join(", ")}.`);
    Deno.exit(2);
  }
  await using pair = await kind.start(etcd, version);
  try {
    await kind.play(pair, new Random(seed));
  } catch (error) {
    if (error instanceof Difference) {
      different++;
      console.log(`DIFFERENT ${name}, seed ${seed}, after ${pair.compared}: ${error.message}`);
    } else if (!(error instanceof Ended)) throw error;
  }
  compared += pair.compared;
  perKind.set(name, (perKind.get(name) ?? 0) + pair.compared);
  for (const [what, times] of pair.met) met.set(what, (met.get(what) ?? 0) + times);
}
console.log(JSON.stringify({ etcd: text, compared, different, ...Object.fromEntries(perKind) }));
for (const [what, times] of met) console.log(`known: ${what} (${times})`);
Deno.exit(different === 0 && compared > 0 ? 0 : 1);
