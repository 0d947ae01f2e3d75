import { assertEquals } from "@std/assert";

/** Every option of the compiler that finds more, beyond `strict`. */
const STRICTEST = {
  strict: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  erasableSyntaxOnly: true,
  exactOptionalPropertyTypes: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  useUnknownInCatchVariables: true,
  verbatimModuleSyntax: true,
};

/** A program of somebody who has them all on. */
const CONSUMER = `
import { grpc, http, kv, protoc } from "./mod.ts";

export async function main(): Promise<void> {
  await using server = http.listen({
    addr: "127.0.0.1:0",
    handler: (stream) => new Response(stream.query["name"] ?? ""),
    onError: (error, stream) => void [error, stream?.path],
    onBadRequest: (error, remoteAddr) => void [error.status, remoteAddr],
  });
  await using client = http.newClient({ timeout: 1000, headers: { "x-a": "1" } });
  const response = await client.get("http://" + server.addr, { headers: {}, timeout: 5 });
  const { etag } = { etag: response.header["etag"] };
  await client.post("http://" + server.addr, { "x-b": 1 }, etag ?? null, { retry: 1 });
  const file = new protoc.Loader().load('syntax = "proto3"; service S {}', "s.proto");
  const registrar = new grpc.Registrar();
  registrar.register(file, {});
  await using conn = grpc.newClient({ targets: [server.addr] });
  grpc.newService(conn, file);
  await using store = kv.newClient({ endpoints: ["127.0.0.1:2379"] });
  await store.put({ key: "a", value: "b" });
}
`;

Deno.test("the package compiles for a consumer with the strictest options", async () => {
  const root = new URL("../", import.meta.url);
  const folder = await Deno.makeTempDir();
  const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  // The sources are those of the package, under other options.
  for (const name of ["http", "grpc", "kv", "protoc", "support", "mod.ts"]) {
    await copy(new URL(name, root).pathname, `${folder}/${name}`);
  }
  const { name, version, exports, imports, workspace } = config;
  await Deno.writeTextFile(
    `${folder}/deno.json`,
    JSON.stringify({ name, version, exports, imports, workspace, compilerOptions: STRICTEST }),
  );
  await Deno.writeTextFile(`${folder}/consumer.ts`, CONSUMER);
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "consumer.ts", ...Object.values<string>(exports)],
    cwd: folder,
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals(new TextDecoder().decode(stderr), "");
  await Deno.remove(folder, { recursive: true });
});

async function copy(from: string, to: string): Promise<void> {
  const { isDirectory } = await Deno.stat(from);
  if (!isDirectory) return await Deno.copyFile(from, to);
  await Deno.mkdir(to);
  for await (const { name } of Deno.readDir(from)) await copy(`${from}/${name}`, `${to}/${name}`);
}
