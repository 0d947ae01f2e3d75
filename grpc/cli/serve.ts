/**
 * Serves proto files: with handlers of a module, and answers that are made up for all other methods.
 *
 * @module
 */
import type { DescService } from "@bufbuild/protobuf";
import { closestName } from "../../http/engine.ts";
import { listen } from "../../http/mod.ts";
import { newClient } from "../client/conn.ts";
import { Health } from "../server/health.ts";
import { reflection } from "../server/reflection.ts";
import { type Handlers, Registrar } from "../server/registrar.ts";
import { type Flags, type Given, UsageError } from "./arguments.ts";
import { mockHandlers } from "./mock.ts";
import { filesOf } from "./schema.ts";
import { ended, showPage, WEB_FLAGS } from "./web.ts";
import type { World } from "./world.ts";

const DEFAULT_ADDR = "127.0.0.1:50051";
/** Milliseconds that calls have to end when the user stops the server. */
const DRAIN_MS = 2_000;

/** Flags of `serve`. */
export const SERVE_FLAGS: Flags = {
  proto: { type: "list", value: "FILE", words: "files", about: "proto file with the services" },
  "import-path": {
    type: "list",
    value: "FOLDER",
    words: "folders",
    about: "folder that imports are relative to (.)",
  },
  protoset: { type: "list", value: "FILE", words: "files", about: "set of descriptors of protoc" },
  addr: { type: "string", value: "ADDRESS", about: `where it listens (${DEFAULT_ADDR})` },
  handlers: {
    type: "string",
    value: "MODULE",
    words: "files",
    about: "module whose exports are handlers by service, or by method",
  },
  ...WEB_FLAGS,
  seed: { type: "string", value: "NUMBER", about: "of the answers that are made up (0)" },
};

/** Serves until the user ends it. */
export async function serveFiles(
  words: readonly string[],
  given: Given,
  world: World,
): Promise<number> {
  const files = await filesOf(given, world, words);
  if (files === null) throw new UsageError("proto files are missing: serve FILE.proto …");
  const seed = given.integer("seed", 0, 0xffff_ffff) ?? 0;
  const path = given.text("handlers");
  const module = path === undefined ? {} : await world.load(path);
  const services = files.files.flatMap((file) => file.services);
  if (services.length === 0) throw new Error("Cannot serve as no file declares a service");
  checkNames(module, services, path);
  const registrar = new Registrar();
  reflection(registrar);
  const health = new Health().register(registrar);
  for (const service of services) {
    const handlers = { ...mockHandlers(service, seed), ...handlersIn(module, service) };
    registrar.register(service, handlers as never);
    health.set(service.typeName, "SERVING");
  }
  const limits = { drainTimeout: DRAIN_MS };
  await using server = listen({
    addr: given.text("addr") ?? DEFAULT_ADDR,
    registrar,
    limits,
    handler: (stream) => stream.respond(404).then(() => stream.closeWrite()),
  });
  await world.print(
    `${services.map(({ typeName }) => `${typeName}\n`).join("")}listening on ${server.addr}\n`,
  );
  if (!given.has("web")) {
    await ended(world.interrupted);
    return 0;
  }
  await using conn = newClient({ targets: [server.addr] });
  const site = { conn, services, registry: files.registry, target: server.addr, headers: [] };
  return await showPage(site, given, world);
}

/** The handlers of a service in a module: of an export of its name, or of exports of its methods' names. */
function handlersIn(
  module: Readonly<Record<string, unknown>>,
  { name, typeName, methods }: DescService,
): Handlers {
  const named = module[name] ?? module[typeName];
  if (typeof named === "object" && named !== null) return named as Handlers;
  const own = methods.filter((method) => typeof module[method.name] === "function");
  return Object.fromEntries(own.map((method) => [method.name, module[method.name]])) as Handlers;
}

/** Refuses a module whose exports are for nothing. */
function checkNames(
  module: Readonly<Record<string, unknown>>,
  services: readonly DescService[],
  path: string | undefined,
): void {
  const known = services.flatMap(({ name, typeName, methods }) => [
    name,
    typeName,
    ...methods.map((method) => method.name),
  ]);
  for (const name of Object.keys(module)) {
    if (known.includes(name) || name === "default") continue;
    const near = closestName(name, known);
    const hint = near === null ? `there are ${known.join(", ")}` : `did you mean "${near}"?`;
    throw new UsageError(
      `${path} exports "${name}", which is neither a service nor a method: ${hint}`,
    );
  }
}
