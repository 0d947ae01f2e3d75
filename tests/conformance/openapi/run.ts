// deno-lint-ignore-file no-console
/**
 * Runs schemathesis against a server with its own OpenAPI document: requests that the document allows
 * and requests that it does not, made of the schemas. The exit code is 0 when each was answered as the
 * document says, and no handler failed.
 *
 * ```sh
 * deno task conformance:openapi [seed]
 * ```
 *
 * `tests/conformance/openapi/fetch.sh $SLUICE_PEERS/schemathesis` installs it; `SCHEMATHESIS` names
 * another one's program.
 *
 * @module
 */
import { inPeers } from "../../../support/peers.ts";
import { serveLibrary } from "./server.ts";

/** Requests for each operation and phase. */
const EXAMPLES = 60;

/**
 * Checks that ask for more than OpenAPI can say of these services: rules of JSON's protobuf form have no
 * schema, such as the range of integers in text and the years of timestamps, and servers may be laxer
 * than documents, who take enums by number and fields by both names.
 */
const EXCLUDED = ["positive_data_acceptance", "negative_data_rejection"];

/** Operations that take lines of JSON, which it cannot write. */
const STREAMS = ["Library_Chat", "Library_AddAll"];

const program = Deno.env.get("SCHEMATHESIS") ?? inPeers("schemathesis/bin/schemathesis");
if (program === undefined) {
  throw new Error(
    "Install schemathesis: tests/conformance/openapi/fetch.sh $SLUICE_PEERS/schemathesis",
  );
}
const errors: unknown[] = [];
await using server = serveLibrary((error) => errors.push(error));
const { code } = await new Deno.Command(program, {
  args: [
    "run",
    `http://${server.addr}/openapi.json`,
    "--phases=examples,coverage,fuzzing",
    `--max-examples=${EXAMPLES}`,
    `--exclude-checks=${EXCLUDED.join()}`,
    ...STREAMS.map((id) => `--exclude-operation-id=${id}`),
    `--seed=${Deno.args[0] ?? "1"}`,
    "--no-color",
    "--suppress-health-check=all",
  ],
  env: { HYPOTHESIS_STORAGE_DIRECTORY: await Deno.makeTempDir() },
  stdin: "null",
}).spawn().status;
console.log(`${errors.length} errors of handlers`);
for (const error of errors.slice(0, 10)) console.log(error);
if (code !== 0 || errors.length > 0) Deno.exitCode = 1;
