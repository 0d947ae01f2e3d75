// What both grpc-js peers of the benchmark need. The packages lie in the folder SLUICE_PEERS.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(`${process.env.SLUICE_PEERS}/package.json`);

export const grpc = require("@grpc/grpc-js");

const definition = require("@grpc/proto-loader").loadSync(
  fileURLToPath(new URL("bench.proto", import.meta.url)),
);
export const { Bench } = grpc.loadPackageDefinition(definition).sluice.bench.v1;
