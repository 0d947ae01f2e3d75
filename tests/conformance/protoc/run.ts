// deno-lint-ignore-file no-console
/**
 * Holds the loader against protoc over every published collection: the serialized descriptor of
 * each file that protoc compiles must be the same bytes, with and without source info, and each
 * file that protoc refuses must be refused.
 *
 * ```sh
 * PROTO_CORPORA=… deno run -A tests/conformance/protoc/run.ts [--corpus NAME] [--filter TEXT]
 *   [--source-info both|yes|no] [--show 10] [--negative no]
 * ```
 *
 * The last line is one JSON object of counts. The exit code is 0 when nothing differs.
 *
 * @module
 */

import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatDiagnostic } from "../../../protoc/mod.ts";
import { judge, type NegativeCounts } from "../../protoc/negative/judge.ts";
import { corpora, corporaDirectory, type Corpus, namesOf, rootsOf } from "./corpus.ts";
import { equal, firstDifference } from "./difference.ts";
import { compileAll, protocPath } from "./oracle.ts";
import { readFrom, Subject } from "./subject.ts";

/** Counts of one collection in one mode. */
interface Counts {
  corpus: string;
  sourceInfo: boolean;
  /** Files in the collection. */
  files: number;
  /** Of them, those protoc compiles. */
  compiled: number;
  /** Of those, the ones whose bytes are the same. */
  equal: number;
  /** Compiled by both, to other bytes. */
  different: number;
  /** Compiled by protoc, refused by the loader. */
  refused: number;
  /** Refused by protoc. */
  protocRefuses: number;
  /** Of those, compiled by the loader. */
  wronglyAccepted: number;
  /** Anything thrown that is not a `ProtoError`. */
  crashes: number;
  milliseconds: number;
}

const { values: args } = parseArgs({
  args: Deno.args,
  options: {
    corpus: { type: "string", multiple: true },
    filter: { type: "string" },
    "source-info": { type: "string", default: "both" },
    show: { type: "string", default: "5" },
    negative: { type: "string", default: "yes" },
  },
});

const directory = corporaDirectory();
const binary = protocPath(directory);
if (directory === undefined || binary === undefined) {
  console.error(
    "Set PROTO_CORPORA to a directory filled by tests/conformance/protoc/fetch.sh" +
      " (and PROTOC to a protoc 36.2 binary, if not that directory's own).",
  );
  Deno.exit(2);
}
const show = Number(args.show);
const modes = args["source-info"] === "both" ? [false, true] : [args["source-info"] === "yes"];
const all: Counts[] = [];
let missing = 0;
for (const corpus of corpora) {
  if (args.corpus !== undefined && !args.corpus.includes(corpus.name)) continue;
  for (const mode of modes) {
    const counts = await compare(corpus, mode);
    if (counts === undefined) missing++;
    else all.push(counts);
  }
}
let negative: NegativeCounts | undefined;
if (args.negative === "yes" && args.corpus === undefined) {
  const { counts, lines } = await judge();
  negative = counts;
  for (const line of lines.slice(0, show)) console.log(`negative: ${line}`);
  console.log(
    `negative: ${counts.refused}/${counts.cases} refused, first error on protoc's line ${counts.line}` +
      `, column within the token ${counts.column}, all errors equal ${counts.exact};` +
      ` near-misses accepted ${counts.accepted}/${counts.valid}`,
  );
}
const total = (key: "files" | "compiled" | "equal" | "different" | "refused" | "crashes") =>
  all.reduce((sum, counts) => sum + counts[key], 0);
const wronglyAccepted = all.reduce((sum, counts) => sum + counts.wronglyAccepted, 0);
const summary = {
  files: total("files"),
  compiled: total("compiled"),
  equal: total("equal"),
  different: total("different"),
  refused: total("refused"),
  wronglyAccepted,
  crashes: total("crashes"),
  missingCorpora: missing,
  corpora: all,
  ...(negative === undefined ? {} : { negative }),
};
console.log(JSON.stringify(summary));
const good = summary.equal === summary.compiled && wronglyAccepted === 0 && summary.crashes === 0 &&
  missing === 0 &&
  (negative === undefined ||
    negative.refused === negative.cases && negative.accepted === negative.valid &&
      negative.line >= negative.cases * 0.95);
Deno.exit(good ? 0 : 1);

async function compare(corpus: Corpus, sourceInfo: boolean): Promise<Counts | undefined> {
  const roots = rootsOf(corpus, directory!);
  const every = await namesOf(corpus, directory!);
  if (every.length === 0) {
    console.log(`${corpus.name}: MISSING under ${directory}`);
    return undefined;
  }
  const cache = Deno.env.get("PROTOC_CACHE") ?? join(directory!, ".protoc-cache");
  const verdicts = await compileAll(binary!, roots, every, sourceInfo, cache);
  const names = every.filter((name) => args.filter === undefined || name.includes(args.filter));
  const counts: Counts = {
    corpus: corpus.name,
    sourceInfo,
    files: names.length,
    compiled: 0,
    equal: 0,
    different: 0,
    refused: 0,
    protocRefuses: 0,
    wronglyAccepted: 0,
    crashes: 0,
    milliseconds: 0,
  };
  let shown = 0;
  const complain = (text: string) => {
    if (shown++ < show) console.log(`  ${text}`);
  };
  const start = performance.now();
  let subject = new Subject(readFrom(roots), sourceInfo);
  for (const name of names) {
    if (corpus.apart) subject = new Subject(readFrom(roots), sourceInfo);
    const verdict = verdicts.get(name)!;
    const outcome = subject.load(name);
    if (outcome.crash !== undefined) {
      counts.crashes++;
      const crash = outcome.crash;
      complain(`${name}: threw ${crash instanceof Error ? crash.stack : String(crash)}`);
    }
    if (verdict.bytes === undefined) {
      counts.protocRefuses++;
      if (outcome.bytes !== undefined) {
        counts.wronglyAccepted++;
        complain(`${name}: accepted, but protoc says ${verdict.refusal.split("\n")[0]}`);
      }
      continue;
    }
    counts.compiled++;
    if (outcome.bytes === undefined) {
      counts.refused++;
      if (outcome.errors[0]) complain(`${name}: refused: ${formatDiagnostic(outcome.errors[0])}`);
    } else if (equal(outcome.bytes, verdict.bytes)) {
      counts.equal++;
    } else {
      counts.different++;
      const difference = firstDifference(FileDescriptorProtoSchema, outcome.bytes, verdict.bytes);
      complain(`${name}: ${difference}`);
    }
  }
  counts.milliseconds = Math.round(performance.now() - start);
  if (shown > show) console.log(`  … and ${shown - show} more`);
  console.log(
    `${corpus.name}${
      sourceInfo ? " (source info)" : ""
    }: ${counts.equal}/${counts.compiled} equal` +
      `, ${counts.different} different, ${counts.refused} refused; protoc refuses ` +
      `${counts.protocRefuses}, wrongly accepted ${counts.wronglyAccepted}; ` +
      `crashes ${counts.crashes}; ${counts.milliseconds} ms`,
  );
  return counts;
}
