// deno-lint-ignore-file no-console
// Validates OpenAPI documents: a line of JSON each, answered by a line with what is wrong, or null.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const path = "node_modules/@seriousme/openapi-schema-validator/index.js";
const { Validator } = await import(pathToFileURL(`${process.env.SLUICE_PEERS}/${path}`));

for await (const line of createInterface({ input: process.stdin })) {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(line));
  let fault = valid ? null : JSON.stringify(errors).slice(0, 2000);
  if (valid) {
    try {
      // References that lead nowhere are found only when they are followed.
      validator.resolveRefs();
    } catch (error) {
      fault = String(error);
    }
  }
  console.log(JSON.stringify(fault));
}
