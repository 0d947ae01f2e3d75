// deno-lint-ignore-file no-console
/**
 * Fuzzes the loader with protoc as the judge: mutants of published files and of our own cases, each
 * loaded by us and compiled by protoc, which must agree on whether it is a `.proto` file, and if it
 * is, on the bytes of its descriptor.
 *
 * ```sh
 * PROTO_CORPORA=… deno run -A tests/protoc/fuzz/run.ts [--mutants 20000] [--seed 1] [--jobs 2]
 *   [--keep DIRECTORY]
 * ```
 *
 * Every difference is listed, and kept with `--keep`. The last line is one JSON object of counts;
 * the exit code is 0 when nothing hung or threw, and the two agree on 99.5 % of the mutants.
 *
 * @module
 */

import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatDiagnostic } from "../../../protoc/mod.ts";
import { corpora, corporaDirectory, namesOf, rootsOf } from "../../conformance/protoc/corpus.ts";
import { firstDifference } from "../../conformance/protoc/difference.ts";
import { filesOfSet, protocPath } from "../../conformance/protoc/oracle.ts";
import { MAIN, readCases } from "../negative/case.ts";
import { mutate } from "./mutate.ts";
import { Random } from "./random.ts";
import { type Finding, runTrials, type Trial } from "./trial.ts";

/** Share of the mutants on which the two must agree. */
const AGREEMENT = 0.995;
/** Mutants compiled by protoc in one go. */
const BATCH = 250;
/** Largest file that is mutated; larger ones tell nothing new and take long. */
const MAX_BYTES = 12_000;
/** Files of each collection that are mutated. */
const MAX_SEEDS = 400;
/** Seconds that protoc gets for one file. */
const PROTOC_SECONDS = 20;

/** What protoc did. */
interface Verdict {
  readonly code: number;
  readonly errors: readonly string[];
  /** The serialized descriptor, when it compiled the file. */
  readonly bytes: Uint8Array | undefined;
}

interface Seed {
  readonly name: string;
  readonly text: Uint8Array;
  readonly roots: readonly string[];
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const { values: args } = parseArgs({
  args: Deno.args,
  options: {
    mutants: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
    keep: { type: "string" },
  },
});
const directory = corporaDirectory();
const protoc = protocPath(directory);
if (directory === undefined || protoc === undefined) {
  console.error(
    "Set PROTO_CORPORA to a directory filled by tests/conformance/protoc/fetch.sh" +
      " (and PROTOC to a protoc 36.2 binary, if not that directory's own).",
  );
  Deno.exit(2);
}
const work = await Deno.makeTempDir();
const include = join(directory, "node_modules/protoc/include");
const counts = {
  mutants: 0,
  agreed: 0,
  bothAccept: 0,
  /** Of those: the same serialized descriptor. */
  sameBytes: 0,
  bothRefuse: 0,
  onlyWeAccept: 0,
  onlyProtocAccepts: 0,
  protocAborts: 0,
  defects: 0,
  /** Of those both refuse: first error on the same line, and with the same words. */
  sameLine: 0,
  sameFirst: 0,
  sameErrors: 0,
  slowest: 0,
};
const differences: string[] = [];
try {
  await fuzz(Number(args.mutants), new Random(Number(args.seed)), Number(args.jobs));
} finally {
  await Deno.remove(work, { recursive: true });
}
const judged = counts.mutants - counts.protocAborts;
const agreement = counts.agreed / judged;
for (const line of differences) console.log(line);
console.log(JSON.stringify({ ...counts, slowest: Math.round(counts.slowest), agreement }));
Deno.exit(counts.defects === 0 && agreement >= AGREEMENT ? 0 : 1);

async function fuzz(mutants: number, random: Random, jobs: number): Promise<void> {
  const seeds = await readSeeds(random);
  for (let from = 0; from < mutants; from += BATCH * jobs) {
    const batches: Promise<void>[] = [];
    for (let job = 0; job < jobs; job++) {
      const first = from + job * BATCH;
      const trials = Array.from(
        { length: Math.max(0, Math.min(BATCH, mutants - first)) },
        (_, i) => makeTrial(first + i, seeds, random),
      );
      if (trials.length > 0) batches.push(judge(trials));
    }
    await Promise.all(batches);
    console.error(`${counts.mutants} mutants, ${counts.agreed} agreed`);
  }
}

async function readSeeds(random: Random): Promise<Seed[][]> {
  const groups: Seed[][] = [];
  const own = await readCases();
  const asSeed = (files: ReadonlyMap<string, Uint8Array>): Seed => ({
    name: MAIN,
    text: files.get(MAIN)!,
    roots: [],
    files,
  });
  const good = own.filter((one) => one.errors.length === 0 && !one.aborts);
  groups.push(good.map((one) => asSeed(one.files)), own.map((one) => asSeed(one.files)));
  for (const corpus of corpora) {
    const roots = rootsOf(corpus, directory!);
    const names = await namesOf(corpus, directory!);
    const seeds: Seed[] = [];
    while (names.length > 0 && seeds.length < MAX_SEEDS) {
      const [name] = names.splice(random.below(names.length), 1);
      for (const root of roots) {
        const text = await Deno.readFile(join(root, name!)).catch(() => undefined);
        if (text === undefined) continue;
        if (text.length <= MAX_BYTES) seeds.push({ name: name!, text, roots, files: new Map() });
        break;
      }
    }
    if (seeds.length > 0) groups.push(seeds);
  }
  return groups;
}

function makeTrial(id: number, groups: readonly Seed[][], random: Random): Trial {
  // The first group is our own good files, which say more in fewer lines.
  const group = random.below(3) === 0 ? groups[0]! : random.pick(groups);
  const seed = random.pick(group);
  const other = random.pick(random.pick(groups)).text;
  const { name, roots, files } = seed;
  const sourceInfo = id % 2 === 0;
  return { id, name, roots, files, sourceInfo, text: mutate(seed.text, other, random) };
}

async function judge(trials: readonly Trial[]): Promise<void> {
  const findings = new Map<number, Finding>();
  const [verdicts] = await Promise.all([
    askProtoc(trials),
    runTrials(trials, (finding) => void findings.set(finding.id, finding)),
  ]);
  for (const trial of trials) {
    await compare(trial, findings.get(trial.id)!, verdicts.get(trial.id)!);
  }
}

/** One process for each file, all started by one shell: protoc stops at the first file it refuses. */
async function askProtoc(trials: readonly Trial[]): Promise<Map<number, Verdict>> {
  const script: string[] = [];
  for (const { id, name, text, roots, files, sourceInfo } of trials) {
    const root = join(work, String(id));
    for (const [path, content] of new Map([...files ?? [], [name, text]])) {
      await Deno.mkdir(join(root, path, ".."), { recursive: true });
      await Deno.writeFile(join(root, path), content);
    }
    // For imports the built-in files go first: that is where the loader, too, looks first.
    const paths = [root, include, ...roots].map((path) => `-I${quote(path)}`).join(" ");
    script.push(
      `timeout ${PROTOC_SECONDS} ${quote(protoc!)} ${paths} ` +
        `${sourceInfo ? "--include_source_info " : ""}-o${quote(join(root, ".pb"))} ${
          quote(name)
        } ` +
        `2>${quote(join(root, ".err"))}; echo $? >${quote(join(root, ".code"))}`,
    );
  }
  const path = join(work, `${trials[0]!.id}.sh`);
  await Deno.writeTextFile(path, script.join("\n"));
  await new Deno.Command("sh", { args: [path], stdout: "null", stderr: "null" }).output();
  const verdicts = new Map<number, Verdict>();
  for (const { id, roots } of trials) {
    const root = join(work, String(id));
    let stderr = new TextDecoder().decode(await Deno.readFile(join(root, ".err")));
    // protoc shows paths, the loader names.
    for (const directory of [root, ...roots]) stderr = stderr.replaceAll(`${directory}/`, "");
    const code = Number(await Deno.readTextFile(join(root, ".code")));
    verdicts.set(id, {
      code,
      bytes: code === 0 ? filesOfSet(await Deno.readFile(join(root, ".pb")))[0] : undefined,
      errors: stderr.split("\n").filter((line) => line !== "" && !line.includes(": warning: ")),
    });
    await Deno.remove(root, { recursive: true });
  }
  await Deno.remove(path);
  return verdicts;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

async function compare(trial: Trial, finding: Finding, verdict: Verdict): Promise<void> {
  counts.mutants++;
  counts.slowest = Math.max(counts.slowest, finding.milliseconds);
  if (finding.defect !== undefined) {
    counts.defects++;
    return await list(trial, `DEFECT ${finding.defect}`);
  }
  if (verdict.code > 1) {
    counts.protocAborts++;
    return;
  }
  const protocAccepts = verdict.code === 0;
  if (finding.accepted === protocAccepts) counts.agreed++;
  if (finding.accepted && protocAccepts) {
    counts.bothAccept++;
    const [ours, theirs] = [finding.bytes!, verdict.bytes!];
    const difference = firstDifference(FileDescriptorProtoSchema, ours, theirs);
    if (difference === undefined) counts.sameBytes++;
    else await list(trial, `other bytes: ${difference}`);
  } else if (finding.accepted) {
    counts.onlyWeAccept++;
    await list(trial, `we accept, protoc: ${verdict.errors[0]}`);
  } else if (protocAccepts) {
    counts.onlyProtocAccepts++;
    await list(trial, `protoc accepts, we: ${formatDiagnostic(finding.errors[0]!)}`);
  } else {
    counts.bothRefuse++;
    const ours = finding.errors.map(formatDiagnostic);
    const [mine, theirs] = [ours[0]!, verdict.errors[0] ?? ""];
    const line = (text: string) => /^(?:.*?:\d+:|[^:]*:)/.exec(text)?.[0];
    if (line(mine) === line(theirs)) counts.sameLine++;
    if (mine === theirs) counts.sameFirst++;
    if (ours.join("\n") === verdict.errors.join("\n")) counts.sameErrors++;
    else if (args.keep) {
      const at = ours.findIndex((text, i) => text !== verdict.errors[i]);
      const i = at < 0 ? ours.length : at;
      await list(trial, `error ${i + 1}: we: ${ours[i]}, protoc: ${verdict.errors[i]}`);
    }
  }
}

async function list(trial: Trial, what: string): Promise<void> {
  differences.push(`mutant ${trial.id} of ${trial.name}: ${what}`);
  if (args.keep === undefined) return;
  await Deno.mkdir(args.keep, { recursive: true });
  await Deno.writeFile(join(args.keep, `${trial.id}.proto`), trial.text);
}
