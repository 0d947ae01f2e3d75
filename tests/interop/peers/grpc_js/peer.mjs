// deno-lint-ignore-file explicit-module-boundary-types
// What both grpc-js peers need: the packages, which live outside of this tree, and the service.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const folder = process.env.SLUICE_PEERS;
if (folder === undefined) throw new Error("Cannot find the packages: set SLUICE_PEERS");
const require = createRequire(`${folder}/package.json`);

export const grpc = require("@grpc/grpc-js");

const protoLoader = require("@grpc/proto-loader");
const definition = protoLoader.loadSync(
  fileURLToPath(new URL("../../echo.proto", import.meta.url)),
  { keepCase: true, defaults: true, longs: Number },
);
export const { Echo, Absent } = grpc.loadPackageDefinition(definition).sluice.test.v1;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The entries of `metadata` whose names start with `prefix`, as new metadata. */
export function pick(metadata, prefix) {
  const picked = new grpc.Metadata();
  for (const name of Object.keys(metadata.getMap())) {
    if (!name.startsWith(prefix)) continue;
    for (const value of metadata.get(name)) picked.add(name, value);
  }
  return picked;
}
