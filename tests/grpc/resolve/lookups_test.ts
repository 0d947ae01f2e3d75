import { assert, assertEquals, assertRejects } from "@std/assert";
import { ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { peerTest } from "../../../support/peers.ts";
import { freePort } from "../../../support/ports.ts";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { resolveTarget } from "../../../grpc/resolve/dns.ts";
import { parseTarget } from "../../../grpc/resolve/target.ts";

/** A name whose addresses change; every address of 127.0.0.0/8 is this machine. */
class Name {
  addresses: string[];
  lookups = 0;

  constructor(...addresses: string[]) {
    this.addresses = addresses;
  }

  readonly lookup = (): readonly string[] => {
    this.lookups++;
    if (this.addresses.length === 0) throw new Error("nobody knows that name");
    return this.addresses;
  };
}

function connect(name: Name, port: number, resolve: grpc.ResolveOptions) {
  const clock = new FakeClock(OVER_SOCKETS);
  const conn = newClientAt(clock.time, {
    targets: [`dns://service.test:${port}`],
    lookup: name.lookup,
    backoff: { initial: 10, max: 20 },
    resolve,
  });
  return { clock, conn, greeter: grpc.newService(conn, GREETER) };
}

/** Calls until the answers of `count` calls are those wanted, in whatever order. */
async function untilNames(
  clock: FakeClock,
  greeter: grpc.DynamicService,
  wanted: string,
): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    const calls = names(greeter, wanted.length, { waitForReady: true });
    await clock.until(calls);
    const said = await calls;
    if ([...said].sort().join("") === wanted) return;
    await clock.advance(5);
  }
  throw new Error(`${wanted} never answered`);
}

Deno.test("a name is looked up again when a connection ends, though others are left", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  for (const n of [2, 3, 4]) greeters.start(`${n}`, { addr: `127.0.0.${n}:${port}` });
  const name = new Name("127.0.0.2", "127.0.0.3");
  const { clock, conn, greeter } = connect(name, port, { interval: Infinity, minInterval: 20 });
  await using _conn = conn;
  assertEquals(await names(greeter, 4), "2323");
  name.addresses = ["127.0.0.2", "127.0.0.4"];
  await greeters.stop("3");
  await untilNames(clock, greeter, "2244");
  // What stayed has kept its connection.
  assertEquals(greeters.peers["2"]!.size, 1);
});

Deno.test("servers that are added are found, those that are gone end their calls first", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  for (const n of [2, 3]) greeters.start(`${n}`, { addr: `127.0.0.${n}:${port}` });
  const name = new Name("127.0.0.2");
  const { clock, conn, greeter } = connect(name, port, { interval: 20 });
  await using _conn = conn;
  using chat = await greeter.Chat(20_000);
  await chat.write({ name: "before" });
  assertEquals((await chat.read(10_000)).message, "before");
  assertEquals(greeters.calls["2"], 1);
  name.addresses = ["127.0.0.2", "127.0.0.3"];
  await untilNames(clock, greeter, "2233");
  name.addresses = ["127.0.0.3"];
  await untilNames(clock, greeter, "3333");
  await chat.write({ name: "still" });
  assertEquals((await chat.read(10_000)).message, "still");
  chat.closeWrite();
  assertEquals(await chat.read(10_000), null);
});

Deno.test("names are looked up at most once in the least interval", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  greeters.start("2", { addr: `127.0.0.2:${port}` });
  const name = new Name("127.0.0.2", "127.0.0.3");
  const { clock, conn, greeter } = connect(name, port, {});
  await using _conn = conn;
  // The second address fails again and again.
  for (let i = 0; i < 20; i++) {
    await names(greeter, 2);
    await clock.advance(10);
  }
  assertEquals(name.lookups, 1);
});

Deno.test("a name that is no longer found keeps its addresses", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  greeters.start("2", { addr: `127.0.0.2:${port}` });
  const name = new Name("127.0.0.2");
  const { clock, conn, greeter } = connect(name, port, { interval: 10 });
  await using _conn = conn;
  await names(greeter, 1);
  name.addresses = [];
  const { lookups } = name;
  while (name.lookups === lookups) {
    await names(greeter, 1);
    await clock.advance(5);
  }
  assertEquals(await names(greeter, 3), "222");
});

Deno.test("addresses that come in another order keep their turns and connections", async () => {
  await using greeters = new Greeters();
  const port = freePort();
  for (const n of [2, 3, 4]) greeters.start(`${n}`, { addr: `127.0.0.${n}:${port}` });
  const name = new Name("127.0.0.2", "127.0.0.3", "127.0.0.4");
  const { clock, conn, greeter } = connect(name, port, { interval: 5 });
  await using _conn = conn;
  assertEquals(await names(greeter, 6), "234234");
  name.addresses = ["127.0.0.4", "127.0.0.2", "127.0.0.3", "127.0.0.4"];
  const { lookups } = name;
  let said = "";
  while (name.lookups < lookups + 3) {
    said += await names(greeter, 3);
    await clock.advance(5);
  }
  assertEquals(said, "234".repeat(said.length / 3));
  for (const n of [2, 3, 4]) assertEquals(greeters.peers[n]!.size, 1);
});

Deno.test("what is no address fails the calls and names the name", async () => {
  for (const given of [[], ["somewhere"], "127.0.0.1", null]) {
    const lookup = () => given as string[];
    await using conn = grpc.newClient({ targets: ["dns://service.test:1"], lookup });
    await assertRejects(
      () => grpc.newService(conn, GREETER).SayHello({}, 10_000),
      ConnectError,
      "service.test",
    );
  }
});

Deno.test("resolveTarget() changes where to connect, and no name", async () => {
  const [address] = await resolveTarget(parseTarget("dns:///service.test:5"), () => ["::1"]);
  assertEquals(address, {
    hostname: "::1",
    port: 5,
    authority: "service.test:5",
    tlsName: "service.test",
  });
  assertEquals(parseTarget("[::1]:5").address, {
    hostname: "::1",
    port: 5,
    authority: "[::1]:5",
    tlsName: "::1",
  });
});

peerTest(
  "a certificate is checked for the name the user wrote, not for the address found",
  { needs: [OPENSSL] },
  async () => {
    const authority = await sharedAuthority();
    const leaf = await authority.leaf({ names: ["service.test"] });
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, { SayHello: ({ name }: Request) => ({ message: name }) });
    await using server = grpc.listen({
      addr: "127.0.0.1:0",
      registrar,
      tls: true,
      certs: [{ cert: leaf.cert, key: leaf.key }],
    });
    const port = server.addr.split(":")[1];
    const call = async (target: string, tls: object = {}) => {
      await using conn = grpc.newClient({
        targets: [target],
        tls: { caCerts: [authority.ca], ...tls },
        lookup: () => ["127.0.0.1"],
      });
      return (await grpc.newService(conn, GREETER).SayHello({ name: "x" }, 10_000)).message;
    };
    const own = { cert: leaf.cert, key: leaf.key };
    for (const withOwn of [{}, own]) {
      assertEquals(await call(`dns://service.test:${port}`, withOwn), "x");
      assertEquals(await call(`service.test:${port}`, withOwn), "x");
      assertEquals(
        await call(`dns://other.test:${port}`, { serverName: "service.test", ...withOwn }),
        "x",
      );
      for (
        const [target, tls] of [
          [`dns://other.test:${port}`, {}],
          [`dns://service.test:${port}`, { serverName: "other.test" }],
          [`127.0.0.1:${port}`, {}],
        ] as const
      ) {
        const error = await assertRejects(() => call(target, { ...tls, ...withOwn }), ConnectError);
        assert(/tls failed/.test(error.message), error.message);
      }
    }
  },
);
