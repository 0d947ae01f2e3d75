import { assert, assertEquals } from "@std/assert";

interface Info {
  modules: {
    specifier: string;
    dependencies?: { specifier: string; code?: { specifier?: string } }[];
  }[];
}

/** The doors each folder may use besides its own files. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  "": ["http/mod.ts", "grpc/mod.ts", "kv/mod.ts", "protoc/mod.ts"],
  http: [],
  grpc: ["http/mod.ts", "http/engine.ts"],
  kv: ["http/engine.ts", "grpc/mod.ts", "protoc/mod.ts"],
  // A leaf that imports nothing: the one checker of options.
  protoc: ["http/message/options.ts"],
};

/** Packages each folder may import. `node:` is open to all. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "": [],
  http: ["@std/async"],
  grpc: ["@std/async", "@bufbuild/protobuf", "@connectrpc/connect"],
  kv: ["@std/async", "@bufbuild/protobuf", "@connectrpc/connect"],
  protoc: ["@bufbuild/protobuf"],
};

const root = new URL("../", import.meta.url).href;

async function graph(): Promise<{ from: string; specifier: string; to: string }[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "mod.ts"],
    cwd: new URL("../", import.meta.url),
  }).output();
  const info: Info = JSON.parse(new TextDecoder().decode(stdout));
  return info.modules
    .filter((module) =>
      module.specifier.startsWith(root) && !module.specifier.includes("/support/std/")
    )
    .flatMap((module) =>
      (module.dependencies ?? []).map((dependency) => ({
        from: module.specifier.slice(root.length),
        specifier: dependency.specifier,
        to: dependency.code?.specifier ?? dependency.specifier,
      }))
    );
}

const folderOf = (path: string) => path.includes("/") ? path.slice(0, path.indexOf("/")) : "";

Deno.test("imports go one way between folders, and only through the other's doors", async () => {
  const edges = await graph();
  assert(edges.length > 50, `the graph has only ${edges.length} imports`);
  const wrong: string[] = [];
  for (const { from, to } of edges) {
    if (!to.startsWith(root) || to.includes("/support/std/")) continue;
    const target = to.slice(root.length);
    const source = folderOf(from);
    if (source === folderOf(target)) continue;
    if (!DOORS[source]?.includes(target)) wrong.push(`${from} -> ${target}`);
  }
  assertEquals(wrong, []);
});

Deno.test("imports of packages are those each folder may have", async () => {
  const wrong: string[] = [];
  for (const { from, specifier } of await graph()) {
    if (/^(\.|node:)/.test(specifier)) continue;
    const name = specifier.split("/").slice(0, 2).join("/");
    if (!PACKAGES[folderOf(from)]?.includes(name)) wrong.push(`${from} -> ${specifier}`);
  }
  assertEquals(wrong, []);
});

Deno.test("imports inside a folder make no circles", async () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of await graph()) {
    if (!to.startsWith(root)) continue;
    next.set(from, [...next.get(from) ?? [], to.slice(root.length)]);
  }
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
      return;
    }
    if (done.has(file)) return;
    for (const to of next.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of next.keys()) visit(file, []);
  assertEquals(circles, []);
});
