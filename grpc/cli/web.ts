/**
 * The page of a server, shown until the user ends it.
 *
 * @module
 */
import type { DescService } from "@bufbuild/protobuf";
import type { Flags, Given } from "./arguments.ts";
import { metadataOf } from "./headers.ts";
import type { Operation } from "./operation.ts";
import { fetchExtensions } from "./schema.ts";
import { serveSite } from "./web/site.ts";
import type { World } from "./world.ts";

const DEFAULT_ADDR = "127.0.0.1:8080";

/** Flags of the page. */
export const WEB_FLAGS: Flags = {
  web: { type: "boolean", about: "serves a page with a form for each method" },
  "web-addr": { type: "string", value: "ADDRESS", about: `where the page is (${DEFAULT_ADDR})` },
};

/** Shows the page of a server that was connected to. */
export async function web({ setup, given, world, target }: Operation): Promise<number> {
  const { source } = setup;
  const services: DescService[] = [];
  for (const name of [...await source.services()].sort()) {
    if (name.startsWith("grpc.reflection.")) continue;
    // A service that is not what it should be leaves the others alone.
    const found = await source.find(name).catch((error: Error) => error);
    if (found instanceof Error || found.kind !== "service") {
      world.complain(
        `Warning: ${name} is left out: ${found instanceof Error ? found.message : found}`,
      );
      continue;
    }
    services.push(found);
    for (const { input, output } of found.methods) {
      for (const type of [input, output]) await fetchExtensions(source, type);
    }
  }
  const { conn } = await setup.connected();
  const headers = metadataOf(["H", "rpc-header"], given, world);
  const { registry } = source;
  return await showPage({ conn, services, registry, headers, target: target! }, given, world);
}

/** Serves the page until the user ends it. */
export async function showPage(
  site: Omit<Parameters<typeof serveSite>[0], "addr">,
  given: Given,
  world: World,
): Promise<number> {
  await using server = await serveSite({ ...site, addr: given.text("web-addr") ?? DEFAULT_ADDR });
  await world.print(`http://${server.addr}/\n`);
  await ended(world.interrupted);
  return 0;
}

/** Resolves when a signal is aborted. */
export function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
