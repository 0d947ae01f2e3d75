// deno run -A examples/demo.ts
// deno-lint-ignore-file no-console
/**
 * Everything once, in a few seconds: proto text in, a service served and called in all four ways, and
 * keys put, watched, leased and locked in a store of etcd's API that runs in this process, or in the
 * cluster that `--etcd` names. On a terminal a page with all of that then stays until Ctrl-C.
 * Exits with 0 only if all of it worked.
 */
import { kv } from "@sluice/sluice";
import { listen } from "@sluice/sluice/kv/server";
import { parseArguments, USAGE } from "./demo/arguments.ts";
import { loadDemo, registerDemo } from "./demo/service.ts";
import type { Backend } from "./demo/session.ts";
import { serveSite } from "./demo/site.ts";
import { callOnce, pageOnce, step, storeOnce } from "./demo/steps.ts";

/** Bytes the demo's own store may take. */
const QUOTA_BYTES = 64 << 20;

/** Milliseconds of history the demo's own store keeps: a page may be open for days. */
const HISTORY_MS = 600_000;

/** Where the page is served if nothing else is said. */
const DEFAULT_ADDR = "127.0.0.1:8000";

async function demo(args: readonly string[]): Promise<void> {
  const options = parseArguments(args, Deno.stdout.isTerminal());
  if (options === null) return console.log(USAGE);
  const start = performance.now();
  const file = await step(
    "load proto text",
    loadDemo,
    (file) => `${file.messages.length} messages, ${file.services.length} service`,
  );
  const registrar = registerDemo(file);

  await using store = options.etcd === null
    ? listen({ limits: { quotaBytes: QUOTA_BYTES }, history: { time: HISTORY_MS } })
    : null;
  const endpoint = options.etcd ?? store!.addr;
  await using client = kv.newClient({ endpoints: [endpoint], timeout: 10 });
  const { version } = await step(
    "reach the store",
    () => client.maintenance.status({ endpoint }),
    ({ version }) =>
      store === null ? `etcd ${version} at ${endpoint}` : `in this process, speaks etcd ${version}`,
  );
  const name = store === null ? `etcd at ${endpoint}` : "Embedded store";
  await using site = await serve(options.addr, registrar, { client, about: { name, version } });
  console.log(`             serving on ${site.addr}`);

  await callOnce(site.addr, file);
  await storeOnce(client, store === null ? null : (ms) => store.advance(ms));
  await pageOnce(site.addr);
  console.log(`done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  if (!options.serve) return;

  console.log(`\nhttp://${site.addr}/   Ctrl-C ends it`);
  await interrupted();
}

/** Serves the page at the address named; if none was and the usual one is taken, anywhere. */
async function serve(
  addr: string | null,
  ...what: [registrar: Parameters<typeof serveSite>[1], backend: Backend]
): ReturnType<typeof serveSite> {
  try {
    return await serveSite(addr ?? DEFAULT_ADDR, ...what);
  } catch (error) {
    if (addr !== null || !(error instanceof Deno.errors.AddrInUse)) throw error;
    return await serveSite("127.0.0.1:0", ...what);
  }
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      Deno.addSignalListener(signal, function stop() {
        Deno.removeSignalListener(signal, stop);
        resolve();
      });
    }
  });
}

try {
  await demo(Deno.args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exitCode = 1;
}
