// deno-lint-ignore-file no-console
/**
 * Validates the documents of a quarter of the services in google-proto-files, another one by each seed,
 * and runs schemathesis against a server with its own OpenAPI document: requests that the document allows
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
import { openapi } from "../../../grpc/mod.ts";
import { inPeers } from "../../../support/peers.ts";
import { Validator } from "../../grpc/openapi/validator.ts";
import { annotatedServices } from "../transcoding/rules.ts";
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
const seed = Number(Deno.args[0] ?? 1);
const protos = inPeers("node_modules/google-proto-files");
if (protos === undefined) throw new Error("Install google-proto-files in $SLUICE_PEERS");
let invalid = 0;
{
  await using validator = new Validator();
  const services = (await annotatedServices(protos)).filter((_, i) => i % 4 === seed % 4);
  for (const service of services) {
    const info = { title: service.typeName, version: "1" };
    const fault = await validator.fault(openapi([service], { info }));
    if (fault === null) continue;
    invalid++;
    console.log(`${service.typeName}: ${fault}`);
  }
  console.log(`${services.length} documents, ${invalid} invalid`);
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
    `--seed=${seed}`,
    "--no-color",
    "--suppress-health-check=all",
  ],
  env: { HYPOTHESIS_STORAGE_DIRECTORY: await Deno.makeTempDir() },
  stdin: "null",
}).spawn().status;
console.log(`${errors.length} errors of handlers`);
for (const error of errors.slice(0, 10)) console.log(error);
if (code !== 0 || errors.length > 0 || invalid > 0) Deno.exitCode = 1;
