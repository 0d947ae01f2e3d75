// deno-lint-ignore-file no-console
// Flows of npm's etcd3 on the endpoint that is given. Prints the name of each; the folder with
// node_modules is the working directory.
import { createRequire } from "node:module";
import { strict as assert } from "node:assert";

const { Etcd3, EtcdLeaseInvalidError, EtcdPermissionDeniedError } = createRequire(
  `${process.cwd()}/`,
)("etcd3");

const endpoint = process.argv[2];
const client = new Etcd3({ hosts: `http://${endpoint}` });

const flows = {
  "keys": async () => {
    await client.put("node/a").value("1");
    await client.put("node/b").value("2");
    assert.equal(await client.get("node/a").string(), "1");
    assert.equal(await client.get("node/b").number(), 2);
    assert.equal(await client.get("node/none"), null);
    assert.equal(await client.get("node/a").exists(), true);
    assert.deepEqual(await client.getAll().prefix("node/").strings(), {
      "node/a": "1",
      "node/b": "2",
    });
    assert.equal(await client.getAll().prefix("node/").count(), 2);
    assert.deepEqual(await client.getAll().prefix("node/").sort("Key", "Descend").limit(1).keys(), [
      "node/b",
    ]);
    assert.equal((await client.delete().key("node/b").getPrevious())[0].value.toString(), "2");
    assert.equal((await client.delete().prefix("node/").exec()).deleted, "1");
  },
  "transactions": async () => {
    await client.put("node/a").value("1");
    const done = await client.if("node/a", "Value", "==", "1")
      .then(client.put("node/a").value("2")).else(client.get("node/a")).commit();
    assert.equal(done.succeeded, true);
    const not = await client.if("node/a", "Version", ">", 100)
      .then(client.put("node/a").value("3")).else(client.get("node/a")).commit();
    assert.equal(not.responses[0].response_range.kvs[0].value.toString(), "2");
  },
  "software transactions": async () => {
    await client.put("node/n").value("0");
    await Promise.all(
      Array.from({ length: 4 }, () =>
        client.stm({ retries: 50 }).transact(async (tx) => {
          const value = await tx.get("node/n").number();
          await tx.put("node/n").value(value + 1);
        })),
    );
    assert.equal(await client.get("node/n").number(), 4);
  },
  "leases": async () => {
    const lease = client.lease(10);
    await lease.put("node/leased").value("1");
    assert.equal(await client.get("node/leased").string(), "1");
    await lease.keepaliveOnce();
    await lease.revoke();
    assert.equal(await client.get("node/leased"), null);
    await assert.rejects(() => lease.put("node/leased").value("2"), EtcdLeaseInvalidError);
  },
  "watches": async () => {
    const watcher = await client.watch().prefix("node/w").create();
    const events = [];
    const three = new Promise((resolve) => {
      const add = (kind) => (kv) => {
        events.push(`${kind} ${kv.key}=${kv.value}`);
        if (events.length === 3) resolve();
      };
      watcher.on("put", add("put")).on("delete", add("delete"));
    });
    await client.put("node/w1").value("1");
    await client.put("node/w2").value("2");
    await client.delete().key("node/w1");
    await three;
    await watcher.cancel();
    assert.deepEqual(events, ["put node/w1=1", "put node/w2=2", "delete node/w1="]);
  },
  "locks": async () => {
    let inside = 0;
    await Promise.all(Array.from({ length: 3 }, async () => {
      for (;;) {
        const lock = client.lock("node/lock");
        const got = await lock.acquire().then(() => true, () => false);
        if (!got) continue;
        assert.equal(++inside, 1);
        await client.get("node/a");
        inside--;
        return await lock.release();
      }
    }));
  },
  "elections": async () => {
    const [one, two] = [client.election("node/e", 10), client.election("node/e", 10)];
    const first = one.campaign("one");
    await new Promise((resolve) => first.once("elected", resolve));
    assert.equal(await two.leader(), "one");
    const second = two.campaign("two");
    const elected = new Promise((resolve) => second.once("elected", resolve));
    await first.proclaim("still one");
    assert.equal(await two.leader(), "still one");
    await first.resign();
    await elected;
    assert.equal(await one.leader(), "two");
    await second.resign();
  },
  "namespaces": async () => {
    const inside = client.namespace("node/ns/");
    await inside.put("a").value("1");
    assert.equal(await client.get("node/ns/a").string(), "1");
    assert.deepEqual(await inside.getAll().keys(), ["a"]);
  },
  "upkeep": async () => {
    assert.equal((await client.maintenance.status()).version.startsWith("3."), true);
    assert.equal((await client.cluster.memberList({})).members.length, 1);
    await client.maintenance.defragment();
    const snapshot = await client.maintenance.snapshot();
    const bytes = await new Promise((resolve, reject) => {
      let sum = 0;
      snapshot.on("data", ({ blob }) => sum += blob.length).on("end", () => resolve(sum))
        .on("error", reject);
    });
    assert.equal(bytes % 512, 32);
  },
  "users": async () => {
    const root = client.role("root");
    await root.create();
    await client.user("root").create("pw").then((user) => user.addRole("root"));
    const reader = client.role("reader");
    await reader.create();
    await reader.grant({ permission: "Read", range: client.range({ prefix: "node/" }) });
    await client.user("bob").create("pw").then((user) => user.addRole("reader"));
    await client.auth.authEnable();
    const as = (username) =>
      new Etcd3({ hosts: `http://${endpoint}`, auth: { username, password: "pw" } });
    const [admin, bob] = [as("root"), as("bob")];
    try {
      assert.equal(await bob.get("node/a").string(), "2");
      await assert.rejects(() => bob.put("node/a").value("3").exec(), EtcdPermissionDeniedError);
      assert.deepEqual((await admin.getUsers()).map(({ name }) => name), ["bob", "root"]);
    } finally {
      await admin.auth.authDisable();
      admin.close();
      bob.close();
    }
  },
};

setTimeout(() => {
  console.error("took too long");
  process.exit(3);
}, 60_000).unref();
for (const [name, flow] of Object.entries(flows)) {
  try {
    await flow();
  } catch (error) {
    console.error(`${name}: ${error.stack}`);
    process.exit(1);
  }
  console.log(name);
}
client.close();
// Its connections would keep the process for half a minute.
process.exit(0);
