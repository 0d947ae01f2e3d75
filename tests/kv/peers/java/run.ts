// deno-lint-ignore-file no-console
/**
 * Has jetcd, etcd's Java client, go through its flows on the store. Needs a JDK and Maven, which fetches
 * jetcd from Maven Central.
 *
 * ```sh
 * deno task conformance:jetcd
 * ```
 *
 * @module
 */
import { listen } from "../../../../kv/server/mod.ts";
import { type ProcessOptions, run } from "../../../../support/process.ts";

/** Flows that `Peer.java` goes through. */
const FLOWS = 6;

const here = new URL(".", import.meta.url).pathname;
const folder = await Deno.makeTempDir({ prefix: "jetcd" });

async function done(what: string, options: ProcessOptions): Promise<string> {
  const { code, stdout, stderr } = await run(options, 600_000);
  if (code === 0) return stdout;
  console.error(`${what} failed:\n${stdout}${stderr}`);
  await Deno.remove(folder, { recursive: true });
  Deno.exit(1);
}

await done("Maven", {
  command: "mvn",
  args: [
    "-q",
    "-B",
    "-f",
    `${here}pom.xml`,
    "dependency:copy-dependencies",
    `-DoutputDirectory=${folder}/lib`,
  ],
});
await done("The compiler", {
  command: "javac",
  args: ["-cp", `${folder}/lib/*`, "-d", `${folder}/classes`, `${here}Peer.java`],
});
await using store = listen({ limits: { bcryptCost: 4 } });
const printed = await done("jetcd", {
  command: "java",
  args: ["-cp", `${folder}/classes:${folder}/lib/*`, "Peer", store.addr],
});
await Deno.remove(folder, { recursive: true });
const flows = printed.trim().split("\n");
console.log(JSON.stringify({ jetcd: "0.8.5", flows }));
Deno.exitCode = flows.length === FLOWS ? 0 : 1;
