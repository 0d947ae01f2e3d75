// The services a store has, with their handlers.

import type { DescService } from "@bufbuild/protobuf";
import type { Handlers } from "../../../grpc/mod.ts";
import { schemaFile } from "../../schema.ts";
import type { Node } from "../node.ts";
import { authHandlers } from "./auth.ts";
import { clusterHandlers } from "./cluster.ts";
import { electionHandlers } from "./election.ts";
import { kvHandlers } from "./kv.ts";
import { leaseHandlers } from "./lease.ts";
import { lockHandlers } from "./lock.ts";
import { maintenanceHandlers } from "./maintenance.ts";
import { watchHandlers } from "./watch.ts";

/** A service and what answers its calls. */
export interface Service {
  readonly desc: DescService;
  readonly handlers: Handlers;
}

/** The files that define services, and what makes their handlers. */
const SERVICES = [
  ["kv", kvHandlers],
  ["watch", watchHandlers],
  ["lease", leaseHandlers],
  ["auth", authHandlers],
  ["cluster", clusterHandlers],
  ["maintenance", maintenanceHandlers],
  ["lock", lockHandlers],
  ["election", electionHandlers],
] as const;

/** All services of a store. */
export function servicesOf(node: Node): readonly Service[] {
  return SERVICES.map(([file, handlers]) => ({
    desc: schemaFile(file).services[0]!,
    handlers: handlers(node),
  }));
}
