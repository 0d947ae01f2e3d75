// deno-lint-ignore-file no-console
/**
 * Runs connectrpc/conformance and prints the counts, last as one JSON object. The exit code is 0 when
 * every case of every suite passed.
 *
 * ```sh
 * deno task conformance:connect [--suite "grpc client"] [--run PATTERN] [--show 20]
 * ```
 *
 * @module
 */
import { parseArgs } from "node:util";
import { nameOf, NEEDS, type Outcome, runSuite, SUITES } from "./suite.ts";

const { values: args } = parseArgs({
  args: Deno.args,
  options: {
    suite: { type: "string", multiple: true },
    run: { type: "string" },
    show: { type: "string", default: "20" },
  },
});

const missing = NEEDS.filter(([, found]) => found === undefined);
for (const [what, , remedy] of missing) console.error(`No ${what}: ${remedy}.`);
if (missing.length > 0) Deno.exit(2);

const outcomes: Outcome[] = [];
for (const suite of SUITES) {
  if (args.suite !== undefined && !args.suite.includes(nameOf(suite))) continue;
  const outcome = await runSuite(suite, args.run);
  outcomes.push(outcome);
  for (const failure of outcome.failures.slice(0, Number(args.show))) {
    console.log(`FAILED: ${failure}`);
  }
  const { cases, passed, failed, milliseconds } = outcome;
  console.log(`${outcome.suite}: ${passed}/${cases} passed, ${failed} failed; ${milliseconds} ms`);
}
console.log(JSON.stringify({
  suites: outcomes.map(({ suite, cases, passed, failed, milliseconds }) => ({
    suite,
    cases,
    passed,
    failed,
    milliseconds,
  })),
}));
Deno.exit(outcomes.length > 0 && outcomes.every((one) => one.failed === 0) ? 0 : 1);
