// deno task playground
// deno task playground --out site
// deno-lint-ignore-file no-console
/**
 * A page where one types `.proto` text and sees what it means: errors at their place, the descriptor,
 * TypeScript, messages as bytes and JSON. The loader runs in the browser; `--out` writes the page for
 * any static host.
 */
import { parseArgs } from "node:util";
import { playgroundFiles, serve, write } from "./site.ts";

/** Where the page is served if nothing else is said. */
const DEFAULT_ADDR = "127.0.0.1:8090";

const { values } = parseArgs({
  options: { out: { type: "string" }, addr: { type: "string", default: DEFAULT_ADDR } },
});
const files = await playgroundFiles();
if (values.out !== undefined) {
  await write(files, values.out);
  console.log(`Wrote ${[...files.keys()].join(", ")} to ${values.out}.`);
} else {
  const server = serve(files, values.addr);
  console.log(`Proto playground at http://${server.addr}/`);
  Deno.addSignalListener("SIGINT", () => server.close().then(() => Deno.exit()));
}
