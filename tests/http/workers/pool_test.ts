/** Modules that several workers serve on one port. */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { delay } from "@std/async";
import { http } from "@sluice/sluice";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";
import { type Need, peerTest } from "../../../support/peers.ts";
import { rejected } from "../../../support/kv.ts";

const moduleAt = (name: string): string => import.meta.resolve(`./modules/${name}.ts`);
const LINUX: Need = [
  "Linux",
  Deno.build.os === "linux" ? "linux" : undefined,
  "other systems do not spread connections over listeners",
];

/** Milliseconds to begin: the test runner checks the types of workers first. */
const startTimeout = 300_000;

/** A request on a connection of its own. */
async function ask(addr: string, path = "/"): Promise<string> {
  const { body } = await http.get(`http://${addr}${path}`, { connection: "close" });
  return body;
}

/** Asks until `done`, on a new connection each time. */
async function askUntil(addr: string, done: (answers: Set<string>) => boolean): Promise<void> {
  const answers = new Set<string>();
  for (let i = 0; !done(answers); i++) {
    assert(i < 2000, `got ${[...answers]}`);
    answers.add(await ask(addr));
  }
}

peerTest("a module may send and take messages of its own", { needs: [LINUX] }, async () => {
  await using pool = await http.serve(moduleAt("talkative"), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 1,
  });
  assertEquals(await ask(pool.addr), "talked");
  assertThrows(() => pool.setCerts([]), TypeError, "give tls and certs to serve()");
  assertEquals((await pool.stats()).map(({ serving }) => serving), [true]);
});

peerTest("workers share a port, and each knows its number", { needs: [LINUX] }, async () => {
  await using pool = await http.serve(moduleAt("numbered"), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 3,
  });
  assertEquals([pool.workers, pool.addr], [3, `127.0.0.1:${pool.port}`]);
  await askUntil(pool.addr, (answers) => answers.size === 3);
  const stats = await pool.stats();
  assertEquals(stats.map(({ index, serving, restarts }) => [index, serving, restarts]), [
    [0, true, 0],
    [1, true, 0],
    [2, true, 0],
  ]);
});

peerTest(
  "a pool serves options that a module exports, one worker a core",
  { needs: [LINUX] },
  async () => {
    await using pool = await http.serve(new URL(moduleAt("plain")), {
      addr: "127.0.0.1:0",
      startTimeout,
    });
    assertEquals(pool.workers, navigator.hardwareConcurrency);
    assertEquals(await ask(pool.addr), "plain");
  },
);

peerTest("a worker that crashes is told of and replaced", { needs: [LINUX] }, async () => {
  const told = Promise.withResolvers<[unknown, number]>();
  await using pool = await http.serve(moduleAt("numbered"), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 2,
    onError: (error, index) => told.resolve([error, index]),
  });
  await rejected(ask(pool.addr, "/crash"), Error);
  const [error, index] = await told.promise;
  assertMatch((error as Error).message, /crashed on request/);
  await askUntil(pool.addr, (answers) => answers.has(`${index} of 2`));
  const stats = await pool.stats();
  assertEquals(stats[index]!.restarts, 1);
  assertEquals(stats[1 - index]!.restarts, 0);
});

peerTest("a worker that hangs is told of once, and others go on", { needs: [LINUX] }, async () => {
  const told: unknown[] = [];
  const first = Promise.withResolvers<void>();
  await using pool = await http.serve(moduleAt("numbered"), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 2,
    checkInterval: 10,
    checkTimeout: 300,
    onError: (error) => {
      told.push(error);
      first.resolve();
    },
  });
  const hung = ask(pool.addr, "/hang");
  await first.promise;
  assertStringIncludes(String(told[0]), "did not answer within 300 ms");
  assertEquals(await hung, "hung");
  await askUntil(pool.addr, (answers) => answers.size === 2);
  assertEquals((await pool.stats()).map(({ serving, restarts }) => [serving, restarts]), [
    [true, 0],
    [true, 0],
  ]);
});

peerTest("reload loads a module anew, and drains what runs", { needs: [LINUX] }, async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/service.ts`;
  const write = (text: string) =>
    Deno.writeTextFile(
      path,
      `
export default { handler: async (stream: { path: string; closeWrite(text: string): void }) => {
  if (stream.path === "/slow") await new Promise((resolve) => setTimeout(resolve, 300));
  stream.closeWrite(${JSON.stringify(text)});
} };`,
    );
  await write("old");
  const pool = await http.serve(new URL(`file://${path}`), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 2,
  });
  try {
    assertEquals(await ask(pool.addr), "old");
    const running = ask(pool.addr, "/slow");
    await delay(50);
    await write("new");
    await pool.reload();
    assertEquals(await running, "old");
    for (let i = 0; i < 10; i++) assertEquals(await ask(pool.addr), "new");
    await Deno.writeTextFile(path, "export default 5;");
    assertStringIncludes((await rejected(pool.reload(), TypeError)).message, "got number");
    for (let i = 0; i < 10; i++) assertEquals(await ask(pool.addr), "new");
    assertEquals((await pool.stats()).map(({ restarts }) => restarts), [0, 0]);
  } finally {
    await pool.close();
    await Deno.remove(folder, { recursive: true });
  }
});

peerTest(
  "reloading under load loses no request of connections that are open",
  { needs: [LINUX] },
  async () => {
    await using pool = await http.serve(moduleAt("numbered"), {
      addr: "127.0.0.1:0",
      startTimeout,
      workers: 2,
    });
    await using client = http.newClient();
    let over = false;
    let answers = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (!over) {
        const { status } = await client.get(`http://${pool.addr}/`);
        assertEquals(status, 200);
        answers++;
      }
    });
    for (let i = 0; i < 3; i++) await pool.reload();
    over = true;
    await Promise.all(load);
    assert(answers > 0);
  },
);

peerTest("close() lets requests finish, and nobody listens then", { needs: [LINUX] }, async () => {
  const pool = await http.serve(moduleAt("numbered"), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 2,
  });
  const running = ask(pool.addr, "/slow");
  while (!(await pool.stats()).some(({ handlers }) => handlers > 0)) await delay(5);
  await pool.close();
  assertEquals(await running, "begun and ended");
  await rejected(ask(pool.addr), http.DialError);
  await pool.close();
  assertEquals((await pool.stats()).map(({ serving }) => serving), [false, false]);
});

peerTest("a pool that cannot begin says why, and leaves nothing", { needs: [LINUX] }, async () => {
  const folder = await Deno.makeTempDir();
  const cases: [string, string][] = [
    ["throw new Error('not today');", "not today"],
    ["export default null;", "got null"],
    ["export default { handler: 5 };", "handler must be"],
    ["export default { handler: () => {}, adr: ':1' };", "adr"],
    ["export default { handler: () => {}, limits: {} };", "limits is given to serve() too"],
    ["export default () => { throw new TypeError('no options'); };", "no options"],
  ];
  for (const [i, [text, hint]] of cases.entries()) {
    const path = `${folder}/m${i}.ts`;
    await Deno.writeTextFile(path, text);
    const options = { addr: "127.0.0.1:0", workers: 2, limits: { maxHandlers: 10 } };
    const error = await rejected(http.serve(`file://${path}`, options), Error);
    assertStringIncludes(error.message, hint);
  }
  await rejected(
    http.serve(`file://${folder}/none.ts`, { addr: "127.0.0.1:0", startTimeout }),
    Error,
  );
  const wrong: [Promise<unknown>, string][] = [
    [http.serve("./service.ts", { addr: ":0" }), "import.meta.resolve"],
    [http.serve(moduleAt("plain"), { addr: "nowhere" }), "host:port"],
    [http.serve(moduleAt("plain"), { addr: ":0", workers: 0 }), "workers"],
    [http.serve(moduleAt("plain"), { addr: ":0", worker: 2 } as never), "workers"],
    [
      http.serve(moduleAt("plain"), { addr: ":0", limits: { maxConnection: 2 } as never }),
      "maxConnections",
    ],
    [http.serve(moduleAt("plain"), { addr: "unix:/tmp/x" }), "host:port"],
  ];
  for (const [promise, hint] of wrong) {
    assertStringIncludes((await rejected(promise, TypeError)).message, hint);
  }
  await Deno.remove(folder, { recursive: true });
});

peerTest("each worker has its part of the limits", { needs: [LINUX] }, async () => {
  await using pool = await http.serve(moduleAt("numbered"), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 2,
    limits: { maxConnections: 4 },
  });
  const conns: Deno.Conn[] = [];
  try {
    for (let i = 0; i < 40; i++) {
      conns.push(await Deno.connect({ hostname: "127.0.0.1", port: pool.port }));
    }
    const counted = async () =>
      (await pool.stats()).reduce((sum, { connections }) => sum + connections, 0);
    while (await counted() < 4) await delay(5);
    await delay(20);
    assertEquals(await counted(), 4);
  } finally {
    for (const conn of conns) conn.close();
  }
});

peerTest("workers serve TLS, and take new certificates", { needs: [OPENSSL, LINUX] }, async () => {
  await using files = await makeCertificate();
  const certs = [{ cert: files.cert, key: files.key }];
  await using pool = await http.serve(moduleAt("plain"), {
    addr: "127.0.0.1:0",
    startTimeout,
    workers: 2,
    tls: true,
    certs,
  });
  await using client = http.newClient({ caCerts: [files.ca] });
  const url = `https://localhost:${pool.port}/`;
  for (let i = 0; i < 8; i++) {
    assertEquals((await client.get(url, { connection: "close" })).body, "plain");
  }
  pool.setCerts(certs);
  // Nobody gets what cannot be used, and nobody ends of it.
  assertThrows(() => pool.setCerts([]), TypeError, "certificates");
  assertThrows(() => pool.setCerts([{ cert: "no", key: "no" }]), TypeError, "certs[0]");
  assertEquals((await pool.stats()).map(({ serving, restarts }) => [serving, restarts]), [
    [true, 0],
    [true, 0],
  ]);
  assertEquals((await client.get(url, { connection: "close" })).body, "plain");
});
