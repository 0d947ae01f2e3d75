// deno-lint-ignore-file no-console
/**
 * Lets clients work on a cluster of real etcds while members are killed, frozen and replaced and links
 * are cut, and has what they did and saw judged by the validators of etcd's own robustness tests. The
 * exit code is 0 if every guarantee held in every round.
 *
 * ```sh
 * deno task conformance:kv [--rounds 6] [--seed 1] [--members 1|3] [--faults 4] [--etcd PROGRAM] [--keep FOLDER]
 * ```
 *
 * `--etcd store` has this module's own store judged, in a process of its own and kept in a folder. Without
 * `--members` rounds of one and of three members take turns. `--keep` keeps the reports of rounds that
 * failed. `fetch.sh FOLDER/bin VERSION…` builds the judge and etcds into the folder that
 * `SLUICE_PEERS` names.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { STORE } from "../../../support/etcd.ts";
import { JUDGE, judge, JUDGED_ETCD } from "./judge.ts";
import { playRound } from "./round.ts";

const { values: args } = parseArgs({
  args: Deno.args,
  options: {
    rounds: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
    members: { type: "string" },
    faults: { type: "string", default: "4" },
    etcd: { type: "string" },
    keep: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

function count(name: "rounds" | "seed" | "members" | "faults", text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    console.error(
      `Cannot play as --${name} must be a whole number above 0: current value is ${text}`,
    );
    Deno.exit(2);
  }
  return value;
}

const etcd = args.etcd ?? JUDGED_ETCD;
if (JUDGE === undefined || etcd === undefined) {
  console.error(
    "No judge or no etcd: run tests/conformance/kv/fetch.sh FOLDER/bin 3.7.3, and set SLUICE_PEERS=FOLDER.",
  );
  Deno.exit(2);
}
const rounds = count("rounds", args.rounds);
const seed = count("seed", args.seed);
const faults = count("faults", args.faults);
const members = etcd === STORE
  ? 1
  : args.members === undefined
  ? undefined
  : count("members", args.members);

const totals = {
  rounds: 0,
  failed: 0,
  operations: 0,
  watches: 0,
  events: 0,
  unknown: 0,
  faults: 0,
};
for (let i = 0; i < rounds; i++) {
  const round = { etcd, seed: seed + i, members: members ?? (i % 2 === 0 ? 3 : 1), faults };
  const folder = await Deno.makeTempDir({ prefix: "sluice-report" });
  const start = performance.now();
  let told = "";
  const happened: string[] = [];
  try {
    const played = await playRound({
      ...round,
      log: (line) => {
        happened.push(line);
        if (args.verbose) console.log(`  ${line}`);
      },
    }, folder);
    const { held, text } = await judge(JUDGE, folder);
    const operations = played.clients.flatMap(({ operations }) => operations);
    const watches = played.clients.flatMap(({ watches }) => watches);
    totals.operations += operations.length;
    totals.unknown += operations.filter(({ Output }) => Output.Error !== undefined).length;
    totals.watches += watches.length;
    for (const { Responses } of watches) {
      for (const { Events } of Responses) totals.events += Events.length;
    }
    totals.faults += played.faults.length;
    told = `${held ? "held" : "BROKE"}  ${text}; ${played.faults.join(", ")}`;
    if (!held) totals.failed++;
  } catch (error) {
    totals.failed++;
    told = `FAILED  after ${happened.join(", ")}: ${error instanceof Error ? error.stack : error}`;
  }
  totals.rounds++;
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  console.log(`seed ${round.seed}, ${round.members} members, ${seconds} s: ${told}`);
  if (args.keep !== undefined && !told.startsWith("held")) {
    await Deno.mkdir(args.keep, { recursive: true });
    await new Deno.Command("cp", { args: ["-r", folder, `${args.keep}/seed-${round.seed}`] })
      .output();
  }
  await Deno.remove(folder, { recursive: true });
}
console.log(JSON.stringify(totals));
Deno.exit(totals.failed === 0 && totals.rounds > 0 ? 0 : 1);
