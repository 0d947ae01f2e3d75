/** Servers by name servers, by files and by paths. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { MAX_FILE_BYTES, parseEndpoints } from "../../../grpc/resolve/file.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { NameServer } from "../../../support/name_server.ts";
import { freePort } from "../../../support/ports.ts";
import { codeOf } from "../../../support/with_greeter.ts";

function connect(target: string, options: Partial<grpc.ClientOptions> = {}) {
  const clock = new FakeClock(OVER_SOCKETS);
  const conn = newClientAt(clock.time, { target, ...options });
  return { clock, conn, greeter: grpc.newService(conn, GREETER) };
}

/** Calls until `count` calls were answered by those wanted, in whatever order. */
async function untilNames(
  clock: FakeClock,
  greeter: grpc.DynamicService,
  wanted: string,
): Promise<void> {
  for (let i = 0; i < 500; i++) {
    const said = await names(greeter, wanted.length, { waitForReady: true, timeout: 1e9 });
    if ([...said].sort().join("") === wanted) return;
    await clock.advance(10);
  }
  throw new Error(`${wanted} never answered`);
}

Deno.test("a name server of one's own gives the addresses of both families", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  greeters.start("4", { addr: `127.0.0.2:${port}` });
  greeters.start("6", { addr: `[::1]:${port}` });
  await using server = await NameServer.start({
    "users.test": ["127.0.0.2", "0:0:0:0:0:0:0:1"],
    "four.test": ["127.0.0.2"],
  });
  const both = connect(`dns://${server.address}/users.test:${port}`);
  await using _both = both.conn;
  await untilNames(both.clock, both.greeter, "4466");
  // A family without an address is no failure.
  const four = connect(`dns://${server.address}/four.test:${port}`);
  await using _four = four.conn;
  assertEquals(await names(four.greeter, 2, { waitForReady: true }), "44");
  const none = connect(`dns://${server.address}/nobody.test:${port}`);
  await using _none = none.conn;
  assertEquals(await codeOf(none.greeter.SayHello({})), Code.Unavailable);
});

Deno.test("SRV records give servers with priorities and weights", async () => {
  await using greeters = new Greeters();
  const portOf = (name: string) => Number(greeters.start(name).addr.split(":")[1]);
  const [a, b, c] = ["a", "b", "c"].map(portOf) as [number, number, number];
  await using server = await NameServer.start({
    "_grpc._tcp.users.test": [
      { priority: 2, weight: 1, port: c, target: "localhost" },
      { priority: 1, weight: 3, port: a, target: "localhost" },
      { priority: 1, weight: 1, port: b, target: "localhost" },
    ],
    "_grpc._tcp.empty.test": [{ priority: 0, weight: 0, port: 0, target: "localhost" }],
  });
  const { clock, conn, greeter } = connect(`dns+srv://${server.address}/users.test`);
  await using _conn = conn;
  await untilNames(clock, greeter, "aaab");
  assertEquals([...await names(greeter, 40)].filter((name) => name === "a").length, 30);
  // Those of the next priority come when none of this is left.
  await greeters.stop("a");
  await untilNames(clock, greeter, "bbbb");
  await greeters.stop("b");
  await untilNames(clock, greeter, "cccc");
  assertEquals(server.asked.every((name) => name === "_grpc._tcp.users.test"), true);
  const empty = connect(`dns+srv://${server.address}/empty.test`);
  await using _empty = empty.conn;
  await assertRejects(() => empty.greeter.SayHello({}), ConnectError, "no SRV record");
});

Deno.test("a file is read again when it changes, is replaced or comes back", async () => {
  await using greeters = new Greeters();
  const [a, b, c] = ["a", "b", "c"].map((name) => greeters.start(name).addr);
  const folder = await Deno.makeTempDir();
  const path = `${folder}/servers`;
  await Deno.writeTextFile(path, `# two servers\n${a} weight=2\n\n${b}  # the other\n`);
  const { clock, conn, greeter } = connect(`file://${path}`);
  await using _conn = conn;
  await untilNames(clock, greeter, "aab");
  await Deno.writeTextFile(`${folder}/new`, JSON.stringify([c, { addresses: [b] }]));
  await Deno.rename(`${folder}/new`, path);
  await clock.advance(1100);
  await untilNames(clock, greeter, "bc");
  assertEquals(greeters.peers.b!.size, 1);
  // One that is wrong, too large or gone changes nothing.
  for (
    const spoil of [
      () => Deno.writeTextFile(path, "nowhere\n"),
      () => Deno.writeTextFile(path, "[1"),
      () => Deno.writeFile(path, new Uint8Array([0xff, 0xfe, 0xff])),
      () => Deno.writeTextFile(path, `127.0.0.1:1\n`.repeat(MAX_FILE_BYTES / 8)),
      () => Deno.remove(path),
    ]
  ) {
    await spoil();
    await clock.advance(40_000);
    await untilNames(clock, greeter, "bc");
    assertEquals(conn.stats().resolverError === null, false);
  }
  await Deno.writeTextFile(path, JSON.stringify({ endpoints: [a] }));
  await clock.advance(40_000);
  await untilNames(clock, greeter, "aa");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a folder, a pipe or no file at all is an error of the calls", async () => {
  const folder = await Deno.makeTempDir();
  for (const path of [folder, `${folder}/none`, "/dev/zero"]) {
    const { conn, greeter } = connect(`file:${path}`);
    await using _conn = conn;
    assertEquals(await codeOf(greeter.SayHello({})), Code.Unavailable, path);
  }
  await Deno.remove(folder);
});

Deno.test("a line names an address, and what is said of it", () => {
  assertEquals(parseEndpoints("a:1,b:2 weight=2 priority=1 serverName=x.test # c\r\n\n#\n c:3 "), [
    { addresses: ["a:1", "b:2"], weight: 2, priority: 1, serverName: "x.test" },
    { addresses: ["c:3"] },
  ]);
  assertThrows(() => parseEndpoints("a:1\nb:2 heavy"), SyntaxError, "line 2");
});

Deno.test("servers are reached by Unix sockets, of the file system and abstract ones", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/s`;
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({ message: "u" }) });
  await using memory = grpc.listen({ addr: "memory:", registrar });
  await using tcp = grpc.listen({ addr: "127.0.0.1:0", registrar });
  for (
    const [target, at] of [[`unix:${path}`, path], ["unix-abstract:sluice-test", "\0sluice-test"]]
  ) {
    // A door in front of a server that listens elsewhere.
    using door = Deno.listen({ transport: "unix", path: at! });
    const passing = (async () => {
      const client = await door.accept();
      const [hostname, port] = tcp.addr.split(":");
      const server = await Deno.connect({ hostname: hostname!, port: Number(port) });
      await Promise.allSettled([
        client.readable.pipeTo(server.writable),
        server.readable.pipeTo(client.writable),
      ]);
    })();
    const conn = grpc.newClient({ target: target! });
    const { message } = await grpc.newService(conn, GREETER).SayHello({});
    assertEquals([message, conn.stats().servers[0]!.address], ["u", target]);
    await conn.close();
    await passing;
  }
  await using conn = grpc.newClient({ target: memory.addr });
  assertEquals((await grpc.newService(conn, GREETER).SayHello({})).message, "u");
  await Deno.remove(folder, { recursive: true });
});
