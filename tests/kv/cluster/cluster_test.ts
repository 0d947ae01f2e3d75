/** Members of a cluster, and endpoints that follow them, against real etcds. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";
import { listen } from "@sluice/sluice/kv/server";
import { clientEndpoints } from "../../../kv/cluster/endpoints.ts";
import { EtcdCluster } from "../../../support/cluster.ts";
import { findEtcd } from "../../../support/etcd.ts";
import { NameServer } from "../../../support/name_server.ts";
import { peerTest } from "../../../support/peers.ts";
import { readEvents, rejected, until } from "../../../support/kv.ts";

const etcd = await findEtcd();
const needs = [["etcd", etcd, "install etcd-server, or set ETCD to the program"]] as const;

/** Members of a cluster take changes once all have been connected for a while. */
async function change<T>(make: () => Promise<T>): Promise<T> {
  const end = performance.now() + 120_000;
  for (;;) {
    const [value, error] = await kv.attempt(make());
    if (error === undefined) return value;
    const later = error instanceof kv.KvError &&
      ["UNHEALTHY", "LEARNER_NOT_READY", "MEMBER_NOT_ENOUGH_STARTED"].includes(error.reason ?? "");
    if (!later || performance.now() > end) throw error;
    await delay(200);
  }
}

/** Has `to` lead if `from` does: who ends then takes no election with it. */
async function leaveTo(client: kv.Client, from: string, to: string): Promise<void> {
  const old = await client.maintenance.status({ endpoint: from });
  if (old.leader !== old.header.memberId) return;
  const next = await client.maintenance.status({ endpoint: to });
  await client.maintenance.moveLeader({ targetID: next.header.memberId });
}

peerTest("members come, learn, get a vote and go; endpoints follow", { needs }, async (t) => {
  await using cluster = await EtcdCluster.start({ etcd: etcd!, members: 3 });
  const [first] = cluster.endpoints;
  await using client = kv.newClient({ endpoints: [first!], retrySleep: 100 });

  await t.step("members are listed", async () => {
    const { members, header } = await client.cluster.memberList();
    assertEquals(members.map(({ name }) => name).sort(), ["m0", "m1", "m2"]);
    assert(header.clusterId !== 0n && members.every(({ ID }) => ID > 0n));
    assertEquals(
      members.map(({ clientURLs }) => clientURLs[0]).sort(),
      cluster.endpoints.map((endpoint) => `http://${endpoint}`).sort(),
    );
  });

  await t.step(
    "sync() makes their client URLs the endpoints; watches and leases go on",
    async () => {
      const watch = await client.watch({ key: "w" });
      const { ID } = await client.grant({ TTL: 30 });
      const endpoints = await client.cluster.sync();
      assertEquals([...endpoints], cluster.endpoints.map((e) => `http://${e}`).sort());
      assertEquals(client.endpoints, endpoints);
      // The one the client began with goes down, and nothing is missed.
      await client.put({ key: "w", value: "1" });
      await leaveTo(client, cluster.endpoints[0]!, cluster.endpoints[1]!);
      await cluster.members[0]!.halt();
      // May be carried out twice, should it be sent to the one that is going.
      await client.put({ key: "w", value: "2" }, { idempotent: true });
      await client.put({ key: "w", value: "3" });
      const values = new Set<string>();
      while (!values.has("3")) {
        for (const { kv } of await readEvents(watch, 1, 60_000)) values.add(kv.value);
      }
      assertEquals([...values], ["1", "2", "3"]);
      cluster.members[0]!.launch();
      await cluster.members[0]!.ready();
      assert(!client.leaseSignal(ID).aborted);
      watch.close();
      await client.revoke({ ID });
    },
  );

  await t.step("endpoints are exchanged by hand", async () => {
    client.setEndpoints(cluster.endpoints.slice(1, 2));
    // The headers say which member answered.
    const answered = new Set<bigint>();
    for (let i = 0; i < 6; i++) {
      answered.add((await client.put({ key: "a", value: "" })).header.memberId);
    }
    assertEquals(answered.size, 1);
    assertThrows(() => client.setEndpoints([]), TypeError, "without endpoints");
    assertThrows(() => client.setEndpoints(["https://127.0.0.1:1"]), TypeError, "tls: false");
    assertEquals(client.endpoints, cluster.endpoints.slice(1, 2));
  });

  await t.step(
    "a learner follows, is no endpoint, and is promoted when it has caught up",
    async () => {
      const learner = await cluster.add({ learner: true });
      const list = async () => (await client.cluster.memberList()).members;
      const ID = (await list()).find(({ isLearner }) => isLearner)!.ID;
      await learner.ready();
      assertEquals((await client.cluster.sync()).length, 3);
      const { members } = await change(() => client.cluster.memberPromote({ ID }));
      assert(members.every(({ isLearner }) => !isLearner));
      assertEquals((await client.cluster.sync()).length, 4);
      const again = await rejected(client.cluster.memberPromote({ ID }), kv.KvError);
      assertEquals(again.reason, "MEMBER_NOT_LEARNER");
    },
  );

  await t.step("members are added, told where they are, and removed", async () => {
    const added = await change(() =>
      client.cluster.memberAddAsLearner({ peerURLs: ["http://127.0.0.1:9"] })
    );
    const { ID } = added.member;
    assertEquals([added.member.isLearner, added.members.length], [true, 5]);
    const updated = await client.cluster.memberUpdate({ ID, peerURLs: ["http://127.0.0.1:19"] });
    assertEquals(updated.members.find((one) => one.ID === ID)?.peerURLs, ["http://127.0.0.1:19"]);
    const removed = await client.cluster.memberRemove({ ID });
    assertEquals(removed.members.length, 4);
    const gone = await rejected(client.cluster.memberRemove({ ID }), kv.KvError);
    assertEquals(gone.reason, "MEMBER_NOT_FOUND");
    // With a member that never came etcd 3.4 calls itself unhealthy, so this is asked when it is gone.
    const { peerURLs } = removed.members[0]!;
    const twice = await rejected(
      change(() => client.cluster.memberAddAsLearner({ peerURLs })),
      kv.KvError,
    );
    assertEquals(twice.reason, "PEER_URL_EXISTS");
  });

  await t.step("with syncInterval, endpoints follow by themselves", async () => {
    await using following = kv.newClient({ endpoints: [first!], syncInterval: 100 });
    await following.get({ key: "a" });
    await until("endpoints follow", () => following.endpoints.length >= 4, 60_000);
  });

  await t.step("requests that are none are refused", async () => {
    const wrong: [Promise<unknown>, string][] = [
      [client.cluster.memberRemove({ ID: -1 }), "from 0 to 2^64 - 1"],
      [client.cluster.memberRemove({ ID: 2n ** 64n }), "from 0 to 2^64 - 1"],
      [client.cluster.memberRemove({ ID: 2 ** 60 }), "must be a bigint"],
      [client.cluster.memberRemove({ id: 1n } as never), "did you mean ID?"],
      [client.cluster.memberAdd({ peerURLs: [] }), "peerURLs must be a list of URLs"],
      [client.cluster.memberAdd({ peerURLs: "http://a:1" } as never), "must be a list of URLs"],
      [client.cluster.memberList({ linearizable: 1 } as never), "must be true or false"],
    ];
    for (const [promise, hint] of wrong) {
      assertStringIncludes((await rejected(promise, TypeError)).message, hint);
    }
  });
});

Deno.test("members tell endpoints by the client's scheme; learners, strangers and 0.0.0.0 are none", () => {
  const member = (name: string, clientURLs: string[], isLearner = false): kv.Member => ({
    ID: 1n,
    name,
    peerURLs: [],
    clientURLs,
    isLearner,
  });
  const members = [
    member("a", ["http://10.0.0.1:2379", "https://10.0.0.1:2380"]),
    member("b", ["http://0.0.0.0:2379", "http://[::]:2379", "https://b.example:2379/"]),
    member("c", ["https://c.example:2379"], true),
    member("", ["https://d.example:2379"]),
    member("e", ["unix://e:1", "https://user@e:1", "https://e", "https://10.0.0.1:2380"]),
  ];
  assertEquals(clientEndpoints(members, false), ["http://10.0.0.1:2379"]);
  assertEquals(clientEndpoints(members, true), [
    "https://10.0.0.1:2380",
    "https://b.example:2379",
  ]);
});

Deno.test("sync() with a store in memory stays there; a stranger's address in memory is none", async () => {
  await using store = listen({ addr: "memory:" });
  await using other = listen({ addr: "memory:" });
  await using client = kv.newClient({ endpoints: store });
  assertEquals(await client.cluster.sync(), [store.addr]);
  assertEquals(client.endpoints, [store.addr]);
  await client.put({ key: "a", value: "1" });
  const member = { ID: 1n, name: "a", peerURLs: [], clientURLs: [other.addr], isLearner: false };
  assertEquals(clientEndpoints([member], false, [store.addr]), []);
});

Deno.test("endpoints are found by SRV records, those for TLS first", async () => {
  const record = (port: number, priority = 0, weight = 0) => ({
    priority,
    weight,
    port,
    target: `m${port}.example.test`,
  });
  await using server = await NameServer.start({
    "_etcd-client-ssl._tcp.secure.test": [record(3, 2), record(1, 1, 1), record(2, 1, 9)],
    "_etcd-client._tcp.secure.test": [record(9)],
    "_etcd-client._tcp.plain.test": [record(4)],
    "_etcd-client-blue._tcp.plain.test": [record(5)],
  });
  const options = { servers: [server.address] };
  assertEquals(await kv.discoverEndpoints("secure.test", options), [
    "https://m2.example.test:2",
    "https://m1.example.test:1",
    "https://m3.example.test:3",
  ]);
  assertEquals(await kv.discoverEndpoints("plain.test", options), ["http://m4.example.test:4"]);
  assertEquals(await kv.discoverEndpoints("plain.test", { ...options, serviceName: "blue" }), [
    "http://m5.example.test:5",
  ]);
  assertStringIncludes(
    (await assertRejects(() => kv.discoverEndpoints("none.test", options), Error)).message,
    "Cannot find SRV records of etcd for none.test",
  );
  await assertRejects(() => kv.discoverEndpoints(""), TypeError, "without a domain");
  await assertRejects(
    () => kv.discoverEndpoints("a.test", { serviseName: "x" } as never),
    TypeError,
    'did you mean "serviceName"',
  );
});

Deno.test("a name server that says nothing is waited for as long as the caller wants", async () => {
  const { default: dgram } = await import("node:dgram");
  const silent = dgram.createSocket("udp4");
  await new Promise<void>((resolve) => silent.bind(0, "127.0.0.1", resolve));
  const servers = [`127.0.0.1:${silent.address().port}`];
  const start = performance.now();
  await assertRejects(() => kv.discoverEndpoints("a.test", { servers, timeout: 200 }), Error);
  assert(performance.now() - start < 5_000);
  await new Promise<void>((resolve) => silent.close(() => resolve()));
});
