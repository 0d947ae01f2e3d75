import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { http, kv } from "@sluice/sluice";
import { listen } from "@sluice/sluice/kv/server";
import { Etcd, findEtcd } from "../../support/etcd.ts";
import { peerTest } from "../../support/peers.ts";
import { freePorts } from "../../support/ports.ts";
import { type Finished, Process, run, which } from "../../support/process.ts";

const root = new URL("../../", import.meta.url).pathname;
const SCRIPT = await which("script");
const ETCD = await findEtcd();

/** Runs the demo without a terminal. */
function demo(...args: string[]): Promise<Finished> {
  return run({
    command: Deno.execPath(),
    args: ["task", "demo", ...args],
    cwd: root,
    env: { NO_COLOR: "1" },
  }, 120_000);
}

const STEPS = [
  "load proto text",
  "reach the store",
  "unary",
  "server streaming",
  "client streaming",
  "bidirectional streaming",
  "unary by Connect, as browsers call",
  "watch, put, get, delete",
  "lease",
  "lock",
  "page and its socket",
];

function assertAllDone({ code, stdout, stderr }: Finished): void {
  assertEquals(code, 0, stderr);
  for (const step of STEPS) assertMatch(stdout, new RegExp(`\\d ms +${step}: `));
  assertMatch(stdout, /done in [\d.]+ s\n$/);
}

Deno.test("deno task demo --once does everything once and ends with 0", async () => {
  const finished = await demo("--once");
  assertAllDone(finished);
  assertStringIncludes(finished.stdout, "in this process, speaks etcd");
});

Deno.test("deno task demo --etcd takes another store, and leaves nothing in it", async () => {
  await using store = listen();
  assertAllDone(await demo("--etcd", store.addr));
  await using client = kv.newClient({ endpoints: [store.addr] });
  const { kvs } = await client.get({ key: "", prefix: true });
  assertEquals(kvs.map(({ key }) => key), []);
});

peerTest("deno task demo --etcd takes a real etcd", {
  needs: [["etcd", ETCD, "put it on PATH or set ETCD"]],
}, async () => {
  await using etcd = await Etcd.start();
  const finished = await demo("--etcd", etcd.endpoint, "--once");
  assertAllDone(finished);
  assertMatch(finished.stdout, new RegExp(`etcd 3\\.\\d+\\.\\d+ at ${etcd.endpoint}`));
  await using client = kv.newClient({ endpoints: [etcd.endpoint] });
  assertEquals((await client.get({ key: "", prefix: true })).count, 0);
});

Deno.test("deno task demo ends with 1 and says why if there is no etcd where it was told", async () => {
  const [port] = freePorts(1);
  const { code, stdout, stderr } = await demo("--etcd", `127.0.0.1:${port}`);
  assertEquals(code, 1, stdout);
  assertStringIncludes(stderr, `127.0.0.1:${port}`);
});

Deno.test("deno task demo ends with 1 and says what it takes if it is told something else", async () => {
  const { code, stderr } = await demo("--onec");
  assertEquals(code, 1);
  assertStringIncludes(stderr, `"--onec"`);
  assertStringIncludes(stderr, "--once");
  assertEquals((await demo("--help")).code, 0);
});

Deno.test("deno task demo ends with 1 if its address is taken", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { code, stderr } = await demo("--addr", `127.0.0.1:${taken.addr.port}`);
  assertEquals(code, 1);
  assertMatch(stderr, /in use/);
});

Deno.test("deno task demo --serve serves its page until Ctrl-C, pages open or not", async () => {
  await using process = new Process({
    command: Deno.execPath(),
    args: ["run", "-A", "examples/demo.ts", "--serve", "--addr", "127.0.0.1:0"],
    cwd: root,
    env: { NO_COLOR: "1" },
  });
  const [, url] = await process.waitFor(/^(http:\S+) +Ctrl-C/m, 60_000);
  const { body } = await http.get(url!, { connection: "close" });
  assertStringIncludes(body, "<title>Sluice demo</title>");
  const socket = new WebSocket(`${url!.replace("http", "ws")}live`);
  await new Promise((resolve) => socket.onmessage = resolve);
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  process.signal("SIGINT");
  assertEquals((await closed).code, 1001);
  const { code, stderr } = await process.finished(20_000);
  assertEquals([code, stderr], [0, ""]);
});

peerTest("on a terminal deno task demo goes on serving", {
  needs: [["script", SCRIPT, "install util-linux"]],
}, async () => {
  await using process = new Process({
    command: SCRIPT!,
    args: ["-qefc", `"${Deno.execPath()}" task demo --addr 127.0.0.1:0`, "/dev/null"],
    cwd: root,
    env: { NO_COLOR: "1", SHELL: "/bin/sh" },
  });
  const [, url] = await process.waitFor(/(http:\S+) +Ctrl-C/, 60_000);
  assertEquals((await http.get(url!, { connection: "close" })).status, 200);
});
