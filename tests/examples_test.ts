import { assert, assertEquals, assertMatch } from "@std/assert";
import { http } from "@sluice/sluice";
import { makeCertificate, OPENSSL } from "../support/certificate.ts";
import { Etcd, findEtcd } from "../support/etcd.ts";
import { peerTest } from "../support/peers.ts";
import { Process, run } from "../support/process.ts";

const root = new URL("../", import.meta.url).pathname;

/** Examples that serve until they are stopped. */
const SERVERS = ["http_server.ts", "http_tls.ts"];

/** The other programs among the examples: those whose first line says how to run them. */
const programs: { name: string; args: string[] }[] = [];
for (const { name, isFile } of Deno.readDirSync(`${root}examples`)) {
  if (!isFile) continue;
  const [first = ""] = Deno.readTextFileSync(`${root}examples/${name}`).split("\n");
  const command = /^\/\/ deno (run .*)$/.exec(first)?.[1];
  if (command !== undefined && !SERVERS.includes(name)) {
    programs.push({ name, args: command.split(" ") });
  }
}

for (const { name, args } of programs) {
  Deno.test(`examples/${name} runs as its first line says`, async () => {
    assertEquals(args.at(-1), `examples/${name}`);
    const { code, stdout, stderr } = await run(
      { command: Deno.execPath(), args, cwd: root, env: { NO_COLOR: "1" } },
      120_000,
    );
    assertEquals(code, 0, stderr);
    assert(stdout.trim() !== "", "it printed nothing");
  });
}

peerTest("examples of the etcd client run on a real etcd too", {
  needs: [["etcd", await findEtcd(), "put it on PATH or set ETCD"]],
}, async () => {
  await using etcd = await Etcd.start();
  const env = { NO_COLOR: "1", ETCD_ENDPOINTS: etcd.endpoint };
  const some = programs.filter(({ name }) => name.startsWith("kv_"));
  assert(some.length >= 8);
  for (const { name, args } of some) {
    const { code, stderr } = await run({ command: Deno.execPath(), args, cwd: root, env }, 120_000);
    assertEquals(code, 0, `${name}: ${stderr}`);
  }
});

Deno.test("examples have the programs the README names", async () => {
  const readme = await Deno.readTextFile(`${root}README.md`);
  const named = [...readme.matchAll(/\]\(examples\/(\w+\.ts)\)/g)].map((match) => match[1]!);
  assert(named.length > 0);
  for (const name of named) {
    const known = SERVERS.includes(name) || programs.some((program) => program.name === name);
    assert(known, `examples/${name} is missing`);
  }
});

Deno.test("deno task demo prints what it did and how long it took", async () => {
  const { code, stdout, stderr } = await run(
    { command: Deno.execPath(), args: ["task", "demo"], cwd: root, env: { NO_COLOR: "1" } },
    120_000,
  );
  assertEquals(code, 0, stderr);
  for (const step of ["unary", "server streaming", "client streaming", "bidirectional streaming"]) {
    assertMatch(stdout, new RegExp(`\\d ms +${step}: `));
  }
  assertMatch(stdout, /etcd/);
  assertMatch(stdout, /done in [\d.]+ s/);
});

/** Starts an example that serves, gives its address to `visit`, and stops it as a user would. */
async function serving(
  name: string,
  args: readonly string[],
  visit: (url: string) => Promise<void>,
): Promise<void> {
  await using server = new Process({
    command: Deno.execPath(),
    args: ["run", "-A", `examples/${name}`, ...args],
    cwd: root,
    env: { NO_COLOR: "1" },
  });
  const [url] = await server.waitFor(/https?:\/\/\S+/, 60_000);
  await visit(url);
  server.signal("SIGINT");
  const { code, stderr } = await server.finished(20_000);
  assertEquals(code, 0, stderr);
}

Deno.test("examples/http_server.ts serves until it is stopped", async () => {
  await serving("http_server.ts", ["127.0.0.1:0"], async (url) => {
    assertEquals((await http.get(url)).body, "Hello Deno\n");
    assertEquals((await http.post(url, {}, "shout")).body, "SHOUT");
  });
});

peerTest("examples/http_tls.ts serves HTTP/2 over TLS", { needs: [OPENSSL] }, async () => {
  await using files = await makeCertificate();
  await serving("http_tls.ts", [files.certFile, files.keyFile], async (url) => {
    const client = http.newClient({ alpnProtos: ["h2"], caCerts: [files.ca] });
    assertMatch((await client.get(url)).body, /by HTTP\/2/);
    await client.close();
  });
});
