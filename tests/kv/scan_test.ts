import { assert, assertEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { FaultProxy } from "../../support/fault_proxy.ts";
import { etcdTest, rejected } from "../../support/kv.ts";

/** A keyspace that counts what is read of it. */
function counted(keys: kv.Keyspace): { keys: kv.Keyspace; gets: kv.GetRequest[] } {
  const gets: kv.GetRequest[] = [];
  const get: kv.Keyspace["get"] = (request, options) => {
    gets.push(request);
    return keys.get(request, options);
  };
  const counting = new Proxy(keys, {
    get(target, name) {
      if (name === "get") return get;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { keys: counting, gets };
}

async function fill(client: kv.Client, prefix: string, count: number, value = ""): Promise<void> {
  for (let i = 0; i < count; i += 100) {
    await client.txn({
      success: Array.from({ length: Math.min(100, count - i) }, (_, j) => ({
        put: { key: prefix + String(i + j).padStart(5, "0"), value },
      })),
    });
  }
}

etcdTest("scan()", async (step) => {
  await step("gives every key of a prefix in order, at one revision", async ({ client, key }) => {
    await fill(client, key, 250);
    const { keys, gets } = counted(client);
    const scan = new kv.Scan(keys, { prefix: key, pageSize: 60 });
    assertEquals(scan.revision, 0n);
    const seen: string[] = [];
    for await (const one of scan) {
      // What changes behind the scan is not seen.
      if (seen.length === 0) await client.delete({ key, prefix: true });
      seen.push(one.key);
    }
    assertEquals(seen, Array.from({ length: 250 }, (_, i) => key + String(i).padStart(5, "0")));
    assertEquals(gets.length, 5);
    assert(gets.slice(1).every((one) => one.revision === scan.revision));
    assertEquals(await Array.fromAsync(scan).then((all) => all.length), 250);
    assertEquals(await Array.fromAsync(client.scan({ prefix: key })), []);
  });

  await step("takes ranges as get() does, and a revision", async ({ client, key }) => {
    await fill(client, key, 5);
    const { header } = await client.put({ key: `${key}00002`, value: "new" });
    const all = async (request: kv.ScanRequest) =>
      (await Array.fromAsync(client.scan(request))).map((one) => one.key.slice(key.length));
    const five = ["00000", "00001", "00002", "00003", "00004"];
    assertEquals(await all({ prefix: key }), five);
    assertEquals(await all({ key, prefix: true, pageSize: 1 }), five);
    assertEquals(await all({ key: `${key}00001`, rangeEnd: `${key}00003` }), five.slice(1, 3));
    assertEquals(await all({ key: `${key}00001` }), ["00001"]);
    assertEquals((await all({ key: `${key}00001`, fromKey: true })).slice(0, 4), five.slice(1));
    const before = client.scan({ prefix: key, revision: header.revision - 1n });
    assertEquals((await Array.fromAsync(before))[2]?.value, "");
    const bare = await Array.fromAsync(client.scan({ prefix: key, keysOnly: true }));
    assertEquals(bare.map((one) => one.value).join(""), "");
  });

  await step("works within a namespace", async ({ client, key }) => {
    await fill(client, key, 12);
    const app = client.namespace(key);
    const seen = await Array.fromAsync(app.scan({ prefix: "", pageSize: 5 }));
    assertEquals(seen.map((one) => one.key).slice(0, 2), ["00000", "00001"]);
    assertEquals(seen.length, 12);
  });

  await step("pages of large values have few keys", async ({ client, key }) => {
    const value = "x".repeat(500_000);
    for (let i = 0; i < 30; i++) await client.put({ key: key + i, value });
    const pages = await Array.fromAsync(client.scan({ prefix: key, pageSize: 10 }).pages());
    assertEquals(pages.map((page) => page.length), [10, 8, 8, 4]);
  });

  await step(
    "says that its revision was compacted, or goes on if it may",
    async ({ client, key }) => {
      await fill(client, key, 100);
      for (const consistent of [true, false]) {
        const seen: string[] = [];
        const run = async () => {
          for await (const one of client.scan({ prefix: key, pageSize: 10, consistent })) {
            if (seen.length === 5) {
              const { header } = await client.put({ key: `${key}00099`, value: "new" });
              await client.compact({ revision: header.revision });
            }
            seen.push(one.key + one.value);
          }
        };
        if (!consistent) await run();
        else {
          const error = await rejected(run(), kv.CompactedError);
          assert(seen.length < 100, error.message);
          continue;
        }
        assertEquals([seen.length, seen.at(-1)], [100, `${key}00099new`]);
      }
    },
  );

  await step(
    "ends what it fetches when the loop is left, and by a signal",
    async ({ client, key }) => {
      await fill(client, key, 30);
      for await (const _ of client.scan({ prefix: key, pageSize: 10 })) break;
      const abort = new AbortController();
      const scan = client.scan({ prefix: key, pageSize: 10 }, { signal: abort.signal });
      const error = await rejected(
        (async () => {
          for await (const _ of scan) abort.abort();
        })(),
        kv.KvError,
      );
      assertEquals(error.code, grpc.code.CANCELLED);
    },
  );

  await step("refuses wrong requests by name", async ({ client, key }) => {
    const wrong = [
      {},
      null,
      { prefix: key, key },
      { prefix: key, fromKey: true },
      { key: 5 },
      { key, pageSize: 0 },
      { key, pageSize: 1.5 },
      { key, revision: "x" },
      { key, page_size: 5 },
      { key, consistent: 1 },
      { key, prefix: true, fromKey: true },
    ];
    for (const request of wrong) {
      let thrown: unknown;
      try {
        client.scan(request as kv.ScanRequest);
      } catch (error) {
        thrown = error;
      }
      assert(thrown instanceof TypeError, `${Deno.inspect(request)}: ${thrown}`);
    }
    await rejected(Array.fromAsync(client.scan({ prefix: key }, -5)), TypeError);
  });
});

etcdTest("getStream()", async (step) => {
  await step("gives a range in order, at one revision, whatever the server can", async (scene) => {
    const { client, key } = scene;
    await fill(client, key, 2_500, "x".repeat(100));
    const seen: string[] = [];
    for await (const one of client.getStream({ prefix: key })) {
      // What changes behind it is not seen.
      if (seen.length === 0) await client.delete({ key, prefix: true });
      seen.push(one.key);
      assertEquals(one.value.length, 100);
    }
    assertEquals(seen, Array.from({ length: 2_500 }, (_, i) => key + String(i).padStart(5, "0")));
    assertEquals(await Array.fromAsync(client.getStream({ prefix: key })), []);
    await rejected(Array.fromAsync(client.getStream({ prefix: 5 } as never)), TypeError);
  });

  await step("takes ranges, works within a namespace, and may be left", async ({ client, key }) => {
    await fill(client, key, 30);
    const app = client.namespace(key);
    const some = await Array.fromAsync(app.getStream({ key: "00003", rangeEnd: "00006" }));
    assertEquals(some.map((one) => one.key), ["00003", "00004", "00005"]);
    for await (const _ of app.getStream({ prefix: "" })) break;
    const bare = await Array.fromAsync(app.getStream({ prefix: "0000", keysOnly: true }));
    assertEquals(bare.length, 10);
  });

  await step("goes on behind the last key when its connection is cut", async ({ etcd, key }) => {
    await using proxy = new FaultProxy({ target: etcd.endpoint });
    await using client = kv.newClient({ endpoints: [proxy.endpoint], retrySleep: 10 });
    await fill(client, key, 2_000, "x".repeat(5_000));
    let seen = 0;
    for await (const one of client.getStream({ prefix: key })) {
      assertEquals(one.key, key + String(seen++).padStart(5, "0"));
      if (seen === 200 || seen === 900) proxy.drop();
    }
    assertEquals(seen, 2_000);
  });
});
