/** Services by their names in etcd, shared with etcd's own Go package. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { GREETER } from "../../support/greeter.ts";
import { Greeters, names } from "../../support/greeters.ts";
import { etcdTest, until } from "../../support/kv.ts";
import { inPeers } from "../../support/peers.ts";
import { run } from "../../support/process.ts";

const PEER = inPeers("bin/etcd_go_peer");
const NEED = ["etcd_go_peer", PEER, "set SLUICE_PEERS to the folder that .ci/run fills"] as const;

/** Lines that the Go program prints. */
async function go(endpoint: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run({ command: PEER!, args: [endpoint, ...args] }, 70_000);
  assertEquals(code, 0, stderr);
  return stdout.trim() === "" ? [] : stdout.trim().split("\n");
}

/** A client of the servers of a service. */
function connect(client: kv.Keyspace, service: string) {
  const conn = grpc.newClient({ resolver: kv.resolver(client, service) });
  const greeter = grpc.newService(conn, GREETER);
  const servers = () => conn.stats().servers.map(({ endpoint }) => endpoint.addresses[0]!).sort();
  return { conn, greeter, servers };
}

etcdTest("services have names in etcd", async (step) => {
  await step("servers are found as they are announced, and forgotten", async ({ client, key }) => {
    await using greeters = new Greeters();
    const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
    const { conn, greeter, servers } = connect(client, `${key}users`);
    await using _conn = conn;
    const early = names(greeter, 1, { waitForReady: true, timeout: 20_000 });
    const one = await kv.announce(client, `${key}users`, a!);
    assertEquals(one.key, `${key}users/${a}`);
    assertEquals(await early, "a");
    const other = await kv.announce(client, `${key}users/`, { addresses: [b!], weight: 2 });
    await until("both", () => servers().length === 2);
    await until("ready", () => conn.stats().servers.every(({ state }) => state === "READY"));
    assertEquals([...await names(greeter, 6)].sort().join(""), "aabbbb");
    await one[Symbol.asyncDispose]();
    await until("one", () => servers().join() === b);
    assertEquals(await names(greeter, 2), "bb");
    // Those of another service are not among them.
    await using _far = await kv.announce(client, `${key}users2`, a!);
    await other[Symbol.asyncDispose]();
    await until("none", () => servers().length === 0);
    const { count } = await client.get({ key: `${key}users/`, prefix: true });
    assertEquals(count, 0);
  });

  await step("entries that are none are left out", async ({ client, key }) => {
    for (
      const [name, value] of Object.entries({
        text: "nowhere",
        number: "5",
        null: "null",
        list: "[]",
        cut: '{"Addr":"127.0.0.1:1"',
        empty: '{"Op":0,"Addr":"","Metadata":null}',
        port: '{"Op":0,"Addr":"127.0.0.1:0","Metadata":null}',
        scheme: '{"Op":0,"Addr":"http://a:1"}',
        kind: '{"Op":0,"Addr":5}',
        good:
          '{"Op":0,"Addr":"127.0.0.1:1","Metadata":{"weight":-1,"priority":"x","serverName":"a b"}}',
        plain: "127.0.0.1:2",
        any: '{"Op":0,"Addr":"127.0.0.1:3","Metadata":"blue"}',
      })
    ) await client.put({ key: `${key}s/${name}`, value });
    const { conn, servers } = connect(client, `${key}s`);
    await using _conn = conn;
    await until("three", () => servers().length > 0);
    assertEquals(servers(), ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
  });

  await step("many changes at once are one list", async ({ client, key }) => {
    const { conn, servers } = connect(client, `${key}many`);
    await using _conn = conn;
    await Promise.all(
      Array.from(
        { length: 200 },
        (_, i) => client.put({ key: `${key}many/${i}`, value: `127.0.0.1:${i + 1}` }),
      ),
    );
    await until("all", () => servers().length === 200, 10_000);
  });

  await step("a part of the keys has services of its own", async ({ client, key }) => {
    const part = client.namespace(key);
    await using made = await kv.announce(part, "users", "127.0.0.1:1", { name: "one" });
    assertEquals(made.key, "users/one");
    assertEquals((await client.get({ key: `${key}users/one` })).count, 1);
    const { conn, servers } = connect(part, "users");
    await using _conn = conn;
    await until("it", () => servers().join() === "127.0.0.1:1");
  });

  await step("an announcement ends with the session it is given", async ({ client, key }) => {
    const session = await client.session({ ttl: 5 });
    const made = await kv.announce(client, `${key}s`, "127.0.0.1:1", { session });
    assertEquals(made.signal, session.signal);
    await made[Symbol.asyncDispose]();
    assert(!session.signal.aborted);
    await kv.announce(client, `${key}s`, "127.0.0.1:2", { session });
    await session.close();
    assertEquals((await client.get({ key, prefix: true })).count, 0);
  });

  await step("what is wrong is refused", async ({ client, key }) => {
    assertThrows(() => kv.resolver(client, ""), TypeError, "must have a name");
    assertThrows(() => kv.resolver(client, 5 as never), TypeError, "must have a name");
    for (
      const [endpoint, options, message] of [
        ["nowhere", {}, "one address"],
        [{ addresses: [] }, {}, "one address"],
        [{ addresses: ["a:1", "b:1"] }, {}, "one address"],
        ["a:1", { tll: 5 }, 'did you mean "ttl"?'],
        ["a:1", { session: 5 }, "session must be"],
      ] as const
    ) {
      await assertRejects(
        () => kv.announce(client, key, endpoint as never, options as never),
        TypeError,
        message,
      );
    }
  });
});

etcdTest(
  "services shared with etcd's Go package",
  async (step) => {
    await step("servers that Go announces are found here", async ({ etcd, client, key }) => {
      await using greeters = new Greeters();
      const a = greeters.start("a").addr;
      const { conn, greeter, servers } = connect(client, `${key}users`);
      await using _conn = conn;
      await go(etcd.endpoint, "announce", `${key}users`, "one", a, '{"zone":"x","weight":3}');
      assertEquals(await names(greeter, 2, { waitForReady: true }), "aa");
      const { endpoint } = conn.stats().servers[0]!;
      assertEquals([endpoint.weight, endpoint.attributes?.zone], [3, "x"]);
      await go(etcd.endpoint, "withdraw", `${key}users`, "one");
      await until("none", () => servers().length === 0);
    });

    await step("servers announced here are found by Go", async ({ etcd, client, key }) => {
      // Go calls servers by the service, and a slash in a host's name is none that servers here take.
      const service = key.replace("/", "-users");
      const registrar = new grpc.Registrar();
      new grpc.Health().register(registrar);
      await using one = grpc.listen({ addr: "127.0.0.1:0", registrar });
      await using two = grpc.listen({ addr: "127.0.0.1:0", registrar });
      await using _one = await kv.announce(client, service, one.addr);
      await using _two = await kv.announce(client, service, {
        addresses: [two.addr],
        priority: 1,
        attributes: { zone: "x" },
      });
      assertEquals(
        (await go(etcd.endpoint, "endpoints", service)).sort(),
        [
          `${service}/${one.addr} ${one.addr} null`,
          `${service}/${two.addr} ${two.addr} {"priority":1,"zone":"x"}`,
        ].sort(),
      );
      const answered = await go(etcd.endpoint, "health", service, "20");
      assertEquals([...new Set(answered)].sort(), [one.addr, two.addr].sort());
    });
  },
  [],
  [NEED],
);
