/** Upkeep of members, against real etcds, and against one that sends broken snapshots. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async";
import { createHash } from "node:crypto";
import { kv } from "@sluice/sluice";
import { EtcdCluster } from "../../../support/cluster.ts";
import { Etcd, findEtcd } from "../../../support/etcd.ts";
import { fakeEtcd, header } from "../../../support/fake_etcd.ts";
import { peerTest } from "../../../support/peers.ts";
import { run, which } from "../../../support/process.ts";
import { rejected } from "../../../support/kv.ts";

const etcd = await findEtcd();
const needsEtcd = [["etcd", etcd, "install etcd-server, or set ETCD to the program"]] as const;
const etcdctl = ["etcdctl", await which("etcdctl"), "install etcd-client"] as const;

async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(
    await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
  );
}

peerTest("a member tells how it is, is hashed and defragmented", { needs: [] }, async (t) => {
  await using server = await Etcd.start();
  await using client = kv.newClient({ endpoints: [server.endpoint] });
  const { maintenance } = client;
  for (let i = 0; i < 100; i++) await client.put({ key: `k${i % 10}`, value: "x".repeat(1_000) });

  await t.step("status", async () => {
    for (const request of [{}, { endpoint: server.endpoint }]) {
      const status = await maintenance.status(request);
      assert(/^3\.\d+\.\d+/.test(status.version), status.version);
      assertEquals(status.leader, status.header.memberId);
      assert(status.dbSize >= status.dbSizeInUse && status.dbSizeInUse > 0);
      assert(status.raftIndex > 100n && status.raftAppliedIndex <= status.raftIndex);
      assertEquals([status.isLearner, status.errors], [false, []]);
    }
  });

  await t.step("hashes are of the same keys the same", async () => {
    const { revision } = (await client.get({ key: "k" })).header;
    const [one, two] = [
      await maintenance.hashKV({ revision }),
      await maintenance.hashKV({ revision }),
    ];
    assertEquals(one.hash, two.hash);
    await client.put({ key: "other", value: "" });
    assert((await maintenance.hashKV()).hash !== one.hash);
    assertEquals((await maintenance.hashKV({ revision })).hash, one.hash);
    assert((await maintenance.hash()).hash > 0);
    const future = await rejected(maintenance.hashKV({ revision: 10_000 }), kv.KvError);
    assertEquals(future.reason, "FUTURE_REVISION");
  });

  await t.step("compacted space comes back", async () => {
    const { header: { revision } } = await client.get({ key: "k0" });
    await client.compact({ revision, physical: true });
    await maintenance.defragment({ endpoint: server.endpoint });
    const { dbSize, dbSizeInUse } = await maintenance.status();
    assert(dbSize >= dbSizeInUse);
  });

  await t.step("requests that are none are refused, members that are none are told", async () => {
    const wrong: [Promise<unknown>, string][] = [
      [maintenance.status({ endpont: "a" } as never), "did you mean endpoint?"],
      [maintenance.status({ endpoint: "nowhere" }), '"host:port"'],
      [maintenance.status({ endpoint: "https://127.0.0.1:1" }), "tls: false"],
      [maintenance.hashKV({ revision: "1" } as never), "64-bit integer"],
      [maintenance.moveLeader({} as never), "without targetID"],
      [maintenance.downgrade({} as never), "without action"],
      [maintenance.downgrade({ action: "STOP" } as never), "VALIDATE, ENABLE, CANCEL"],
      [maintenance.downgrade({ action: "ENABLE" } as never), 'need one as "3.5"'],
      [maintenance.downgrade({ action: "CANCEL", version: "3.5" } as never), "CANCEL none"],
      [maintenance.alarmDisarm({ alarm: "NOSPACE" }), "give both for one alarm"],
      [maintenance.alarmDisarm({ alarm: "FIRE", memberID: 1n } as never), "NONE, NOSPACE, CORRUPT"],
    ];
    for (const [promise, hint] of wrong) {
      assertStringIncludes((await rejected(promise, TypeError)).message, hint);
    }
    const start = performance.now();
    const dead = await rejected(maintenance.status({ endpoint: "127.0.0.1:1" }), kv.KvError);
    assertEquals(dead.code, 14);
    assert(performance.now() - start < 900, "it was tried again");
    const leader = await rejected(maintenance.moveLeader({ targetID: 5n }), kv.KvError);
    assertEquals(leader.reason, "BAD_LEADER_TRANSFEREE");
  });
});

peerTest(
  "a snapshot is whole, and etcdctl restores it",
  { needs: [etcdctl] },
  async () => {
    await using server = await Etcd.start();
    await using client = kv.newClient({ endpoints: [server.endpoint] });
    const value = crypto.getRandomValues(new Uint8Array(60_000));
    for (let i = 0; i < 60; i++) await client.put({ key: `k${i}`, value });
    const folder = await Deno.makeTempDir();
    for (const request of [{}, { endpoint: server.endpoint }]) {
      const { size, body } = await client.maintenance.snapshot(request);
      assert(size > 3_600_000);
      const bytes = await bytesOf(body);
      assertEquals(bytes.length, size + 32);
      const sum = createHash("sha256").update(bytes.subarray(0, size)).digest();
      assertEquals([...bytes.subarray(size)], [...sum]);
      await Deno.writeFile(`${folder}/db`, bytes);
    }
    const restored = await run({
      command: "etcdctl",
      args: ["snapshot", "restore", `${folder}/db`, "--data-dir", `${folder}/data`],
      env: { ETCDCTL_API: "3" },
    });
    assertEquals(restored.code, 0, restored.stderr);
    // One that is left early holds nothing up.
    const { body } = await client.maintenance.snapshot({ endpoint: server.endpoint });
    const reader = body.getReader();
    assert(!(await reader.read()).done);
    await reader.cancel();
    await Deno.remove(folder, { recursive: true });
  },
);

Deno.test("a client that was closed asks no member any more", async () => {
  const client = kv.newClient({ endpoints: ["127.0.0.1:1"], retry: 0 });
  const asked = client.maintenance.status({ endpoint: "127.0.0.1:1" });
  await client.close();
  await rejected(asked, kv.KvError);
  const { maintenance, cluster, auth } = client;
  for (
    const call of [
      maintenance.status(),
      maintenance.status({ endpoint: "127.0.0.1:1" }),
      maintenance.snapshot({ endpoint: "127.0.0.1:1" }),
      cluster.sync(),
      auth.userList(),
    ]
  ) await rejected(call, kv.ClientClosedError);
});

Deno.test("a snapshot that is cut, short or wrong fails at its end, never looks whole", async () => {
  const data = crypto.getRandomValues(new Uint8Array(4_096 * 3));
  const sum = new Uint8Array(createHash("sha256").update(data).digest());
  const part = (from: number, to: number, remaining = data.length - to) => ({
    header: header(1n),
    blob: data.slice(from, to),
    remainingBytes: BigInt(remaining),
  });
  const end = { header: header(1n), blob: sum, remainingBytes: 0n };
  const whole = [part(0, 5_000), part(5_000, 5_000), part(5_000, 5_010), part(5_010, data.length)];
  const wrong = { ...end, blob: sum.map((byte, i) => i === 31 ? byte ^ 1 : byte) };
  const split = [{ ...end, blob: sum.slice(0, 7) }, { ...end, blob: sum.slice(7) }];
  const cases: [object[], string | null][] = [
    [[...whole, end], null],
    [[...whole, ...split], null],
    [[...whole, wrong], "the checksum of the snapshot is wrong"],
    [whole, "the snapshot has no checksum"],
    [whole.slice(0, 3), "bytes early"],
    [[part(0, 5_000), part(5_010, data.length), end], "no checksum"],
    [
      [part(0, 5_000), part(4_990, 5_000), part(5_010, data.length), end],
      "checksum of the snapshot",
    ],
    [[], "the server sent no snapshot"],
  ];
  for (const [parts, fault] of cases) {
    await using server = fakeEtcd({
      maintenance: {
        Snapshot: async function* () {
          yield* parts;
        },
      },
    });
    await using client = kv.newClient({ endpoints: [server.addr], retry: 0 });
    const [bytes, error] = await kv.attempt(
      client.maintenance.snapshot().then(({ body }) => bytesOf(body)),
    );
    if (fault === null) {
      assertEquals(bytes, Uint8Array.from([...data, ...sum]));
    } else {
      assert(error instanceof kv.KvError, String(error));
      assertEquals(error.code, 15);
      assertStringIncludes(error.message, fault);
    }
  }
});

peerTest("a full store raises an alarm, which is listed and disarmed", { needs: [] }, async () => {
  await using server = await Etcd.start({ flags: ["--quota-backend-bytes=300000"] });
  await using client = kv.newClient({ endpoints: [server.endpoint] });
  const { maintenance } = client;
  assertEquals((await maintenance.alarmList()).alarms, []);
  const value = new Uint8Array(50_000);
  // The size is looked at when it is written to the disk, ten times a second.
  const fill = async () => {
    for (const end = performance.now() + 20_000; performance.now() < end;) {
      await client.put({ key: "k", value });
    }
  };
  assertEquals((await rejected(fill(), kv.KvError)).reason, "NO_SPACE");
  const { alarms } = await maintenance.alarmList();
  assertEquals(alarms.map(({ alarm }) => alarm), ["NOSPACE"]);
  assert((await maintenance.status()).errors.length > 0);
  assertEquals((await maintenance.alarmDisarm()).alarms, alarms);
  assertEquals((await maintenance.alarmList()).alarms, []);
});

peerTest("a downgrade is asked about, begun and given up", { needs: needsEtcd }, async () => {
  await using server = await Etcd.start();
  await using client = kv.newClient({ endpoints: [server.endpoint] });
  const { maintenance } = client;
  const [major, minor] = (await maintenance.status()).version.split(".").map(Number);
  const below = `${major}.${minor! - 1}`;
  if (minor! < 5) {
    const unknown = maintenance.downgrade({ action: "VALIDATE", version: below });
    assertEquals((await rejected(unknown, kv.KvError)).code, 12);
    return;
  }
  const { version } = await maintenance.downgrade({ action: "VALIDATE", version: below });
  assertEquals(version.split(".").slice(0, 2), [`${major}`, `${minor}`]);
  // 3.5 asks the members about it, but does not carry it out.
  if (minor! < 6) return;
  const far = maintenance.downgrade({ action: "ENABLE", version: "1.0" });
  assertEquals((await rejected(far, kv.KvError)).reason, "INVALID_DOWNGRADE_TARGET_VERSION");
  await maintenance.downgrade({ action: "ENABLE", version: below });
  assertEquals((await maintenance.status()).downgradeTarget, `${below}.0`);
  await maintenance.downgrade({ action: "CANCEL" });
  assertEquals((await maintenance.status()).downgradeTarget, "");
});

peerTest("leadership is moved, whichever endpoint leads", { needs: needsEtcd }, async () => {
  await using cluster = await EtcdCluster.start({ etcd: etcd!, members: 3 });
  await using client = kv.newClient({ endpoints: cluster.endpoints });
  const { maintenance } = client;
  for (let round = 0; round < 3; round++) {
    const statuses = await Promise.all(
      client.endpoints.map((endpoint) => maintenance.status({ endpoint })),
    );
    assertEquals(new Set(statuses.map(({ header }) => header.memberId)).size, 3);
    const { leader } = statuses[0]!;
    const targetID = statuses.map(({ header }) => header.memberId).find((ID) => ID !== leader)!;
    await maintenance.moveLeader({ targetID });
    const end = performance.now() + 10_000;
    while ((await maintenance.status({ endpoint: client.endpoints[0]! })).leader !== targetID) {
      assert(performance.now() < end, "the leader did not move");
      await delay(20);
    }
  }
});
