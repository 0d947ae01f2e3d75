// deno-lint-ignore-file no-console
/**
 * Writes into the case files what protoc says about each case.
 *
 * ```sh
 * PROTOC=…/protoc deno run -A tests/protoc/negative/regenerate.ts [--dry]
 * ```
 *
 * Review the difference it makes: a case that protoc accepts is a near-miss, and should say so in
 * its title. With `--dry` nothing is written, and the exit code is 1 when something would be.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { type Case, MAIN, parseGroup, printGroup, readGroups, writeGroup } from "./case.ts";

const protoc = Deno.env.get("PROTOC");
if (!protoc) {
  console.error("Set PROTOC to a protoc 36.2 binary (npm package protoc@36.2.0 has one).");
  Deno.exit(2);
}
const dry = Deno.args.includes("--dry");
const version = new TextDecoder().decode(
  (await new Deno.Command(protoc, { args: ["--version"] }).output()).stdout,
).trim();
if (version !== "libprotoc 36.2") {
  console.error(`The cases are written for libprotoc 36.2, PROTOC is ${version}.`);
  Deno.exit(2);
}
let changed = 0;
let refused = 0;
let accepted = 0;
let aborted = 0;
for (const [group, text] of await readGroups()) {
  const { foreword, cases } = parseGroup(group, text);
  for (const one of cases) {
    await ask(protoc, one);
    if (one.aborts) aborted++;
    else if (one.errors.length === 0) accepted++;
    else refused++;
  }
  const printed = printGroup(foreword, cases);
  if (printed === text) continue;
  changed++;
  if (!dry) await writeGroup(group, printed);
  console.log(`${dry ? "would change" : "wrote"} ${group}.txt`);
}
console.log(`${refused} refused, ${accepted} accepted, protoc aborts on ${aborted}`);
if (dry && changed > 0) Deno.exit(1);

async function ask(protoc: string, one: Case): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    for (const [name, bytes] of one.files) {
      await Deno.mkdir(dirname(join(directory, name)), { recursive: true });
      await Deno.writeFile(join(directory, name), bytes);
    }
    const { code, signal, stderr } = await new Deno.Command(protoc, {
      args: ["-I.", "--descriptor_set_out=/dev/null", MAIN],
      cwd: directory,
      stderr: "piped",
    }).output();
    const lines = new TextDecoder().decode(stderr).split("\n").filter((line) =>
      line !== "" && !/: warning: /.test(line)
    );
    one.aborts = signal !== null;
    one.errors = code === 0 || one.aborts ? [] : lines;
    if (code !== 0 && lines.length === 0) throw new Error(`${one.title}: refused without a word`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
