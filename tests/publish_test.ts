import { assert, assertEquals } from "@std/assert";
import { run } from "../support/process.ts";

/**
 * A registry on this machine that takes one package and keeps it: what `deno publish` would really
 * send can be looked at.
 */
function registry(): { url: string; package: Promise<Uint8Array>; close(): Promise<void> } {
  const received = Promise.withResolvers<Uint8Array>();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      if (request.method === "POST") {
        received.resolve(body);
        return Response.json({ id: "1", status: "success" });
      }
      return new URL(request.url).pathname.includes("/versions/")
        ? Response.json({ code: "packageVersionNotFound", message: "none" }, { status: 404 })
        : Response.json({ scope: "sluice", name: "sluice" });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    package: received.promise,
    close: () => server.shutdown(),
  };
}

Deno.test("the published package imports the real @std from JSR", async () => {
  const jsr = registry();
  const folder = await Deno.makeTempDir();
  const { code, stderr } = await run({
    command: Deno.execPath(),
    args: ["publish", "--token=none", "--allow-dirty", "--no-provenance", "--no-check"],
    cwd: new URL("../", import.meta.url).pathname,
    env: { JSR_URL: jsr.url },
  });
  assertEquals(code, 0, stderr);
  await Deno.writeFile(`${folder}/package.tgz`, await jsr.package);
  await jsr.close();
  const list = await run({ command: "tar", args: ["-tzf", "package.tgz"], cwd: folder });
  const places = new Set(
    list.stdout.trim().split("\n").map((path) => path.replace(/^\.?\//, "").split("/")[0]!),
  );
  // Nothing of what only development needs: stand-ins, support, tests, benches.
  assertEquals([...places].sort(), [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "deno.json",
    "docs",
    "examples",
    "grpc",
    "http",
    "kv",
    "mod.ts",
    "protoc",
  ]);
  const published = new Set(
    list.stdout.trim().split("\n").map((path) => path.replace(/^\.\//, "")),
  );
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) => path!);
  assertEquals(
    links.filter((path) => !published.has(path)),
    [],
    "links of the README lead nowhere",
  );
  const untar = await run({ command: "tar", args: ["-xzf", "package.tgz"], cwd: folder });
  assertEquals(untar.code, 0, untar.stderr);
  const std: string[] = [];
  for (const path of published) {
    if (!/^(?:http|grpc|kv|protoc)\/.*\.ts$/.test(path)) continue;
    const text = await Deno.readTextFile(`${folder}/${path}`);
    for (const [, from] of text.matchAll(/^[^*\n]*\bfrom "([^"]*@std\/[^"]*)";/gm)) std.push(from!);
  }
  assert(std.length > 0, "no file imports @std");
  assertEquals(std.filter((from) => !/^jsr:@std\/async@\^1/.test(from)), []);
  for (const name of ["README.md", "LICENSE", "CHANGELOG.md", "mod.ts", "deno.json"]) {
    assert((await Deno.stat(`${folder}/${name}`)).size > 0, `${name} is missing`);
  }
  await Deno.remove(folder, { recursive: true });
});

/** Programs of users that the package imports: what these import is theirs. */
const IMPORTS_OF_USERS = ["http/workers/program.ts"];

Deno.test("publishing is clean: all types are right, and none is slow", async () => {
  const { code, stderr } = await run({
    command: Deno.execPath(),
    args: ["publish", "--dry-run", "--allow-dirty"],
    cwd: new URL("../", import.meta.url).pathname,
    env: { NO_COLOR: "1" },
  }, 300_000);
  assertEquals(code, 0, stderr);
  const lines = stderr.split("\n");
  const complaints = lines.flatMap((line, i) =>
    /^\s*(?:error|warning)\b/i.test(line) ? [`${line} ${lines[i + 1]}`] : []
  );
  const known = (line: string) =>
    line.startsWith("warning[unanalyzable-dynamic-import]") &&
    IMPORTS_OF_USERS.some((file) => line.includes(`/${file}:`));
  assertEquals(complaints.filter((line) => !known(line)), []);
});
