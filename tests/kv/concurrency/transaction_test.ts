import { assert, assertEquals, assertRejects } from "@std/assert";
import { kv } from "@sluice/sluice";
import { etcdTest } from "../../../support/kv.ts";
import { Random } from "../../../support/random.ts";

const ISOLATIONS: readonly kv.Isolation[] = [
  "serializable-snapshot",
  "serializable",
  "repeatable-reads",
  "read-committed",
];

etcdTest("transactions", async (step) => {
  await step("money is neither made nor lost, at any isolation but the last", async (s) => {
    const { client } = s;
    const random = new Random(41);
    for (const isolation of ISOLATIONS.slice(0, 3)) {
      const accounts = [0, 1, 2, 3, 4].map((i) => `${s.key}${isolation}/${i}`);
      await client.txn({ success: accounts.map((key) => ({ put: { key, value: "100" } })) });
      await Promise.all(Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 10; i++) {
          const [from, to] = [random.pick(accounts), random.pick(accounts)];
          if (from === to) continue;
          const amount = random.below(10);
          await client.transaction(async (tx) => {
            tx.put(from, String(Number(await tx.get(from)) - amount));
            tx.put(to, String(Number(await tx.get(to)) + amount));
          }, { isolation, retries: Infinity });
        }
      }));
      const { kvs } = await client.get({ key: `${s.key}${isolation}/`, prefix: true });
      assertEquals(kvs.reduce((sum, { value }) => sum + Number(value), 0), 500);
    }
  });

  await step("it sees its own writes, and what it gives back", async ({ client, key }) => {
    await client.put({ key: `${key}a`, value: "1" });
    const bytes = Uint8Array.of(0xff, 0, 0xc3);
    const { value, header, attempts } = await client.transaction(async (tx) => {
      assertEquals(await tx.get(`${key}a`), "1");
      tx.put(`${key}a`, "2");
      assertEquals(await tx.get(`${key}a`), "2");
      assertEquals(await tx.getAll([`${key}b`, `${key}a`, `${key}b`]), [undefined, "2", undefined]);
      tx.delete(`${key}a`);
      assertEquals(await tx.get(`${key}a`), undefined);
      tx.put(new TextEncoder().encode(`${key}b`), bytes);
      assertEquals(await tx.getBytes(`${key}b`), bytes);
      assertEquals([await tx.revision(`${key}a`) > 0n, await tx.revision(`${key}b`)], [true, 0n]);
      return "done";
    });
    assertEquals([value, attempts], ["done", 1]);
    const { kvs } = await client.get({ key, prefix: true });
    assertEquals(kvs.map((kv) => [kv.key, kv.valueBytes, kv.modRevision]), [
      [`${key}b`, bytes, header!.revision],
    ]);
  });

  await step("what its function throws is passed on, and nothing is written", async (s) => {
    await assertRejects(
      () =>
        s.client.transaction((tx) => {
          tx.put(s.key, "1");
          throw new RangeError("no");
        }),
      RangeError,
      "no",
    );
    assertEquals((await s.client.get({ key: s.key })).count, 0);
  });

  await step("it is tried again when what it read is changed", async ({ client, key }) => {
    for (const isolation of ISOLATIONS.slice(0, 3)) {
      await client.put({ key, value: "0" });
      const { attempts } = await client.transaction(async (tx) => {
        const value = await tx.get(key);
        if (value === "0") await client.put({ key, value: "1" });
        tx.put(`${key}x`, `saw ${value}`);
      }, { isolation });
      assertEquals(attempts, 2);
      assertEquals((await client.get({ key: `${key}x` })).kvs[0]!.value, "saw 1");
    }
  });

  await step("only a snapshot minds that what it writes unread was changed", async (s) => {
    const { client, key } = s;
    for (const isolation of ISOLATIONS) {
      let interfered = false;
      const { attempts } = await client.transaction(async (tx) => {
        await tx.get(`${key}read`);
        if (!interfered) await client.put({ key: `${key}written`, value: "by another" });
        interfered = true;
        tx.put(`${key}written`, "by it");
      }, { isolation });
      assertEquals(attempts, isolation === "serializable-snapshot" ? 2 : 1, isolation);
      assertEquals((await client.get({ key: `${key}written` })).kvs[0]!.value, "by it");
    }
  });

  await step("serializable ones read all keys at one revision", async ({ client, key }) => {
    const keys = ["a", "b"].map((name) => key + name);
    const both = (value: string) =>
      client.txn({ success: keys.map((key) => ({ put: { key, value } })) });
    await both("0");
    for (const isolation of ISOLATIONS) {
      const seen: (string | undefined)[] = [];
      await client.transaction(async (tx) => {
        seen.push(await tx.get(keys[0]!));
        await both(isolation);
        seen.push(await tx.get(keys[1]!));
      }, { isolation, retries: 0 }).catch((error) => {
        assert(error instanceof kv.TransactionConflictError, isolation);
      });
      const snapshot = isolation.startsWith("serializable");
      assertEquals(seen[0] === seen[1], snapshot, isolation);
    }
  });

  let attempt = 0;
  await step("one whose snapshot is compacted is tried again", async ({ client, key }) => {
    await client.txn({ success: ["a", "b"].map((n) => ({ put: { key: key + n, value: n } })) });
    const { value, attempts } = await client.transaction(async (tx) => {
      await tx.get(`${key}a`);
      if (attempt++ === 0) {
        const { header } = await client.put({ key: `${key}x`, value: "" });
        await client.compact({ revision: header.revision });
      }
      return await tx.get(`${key}b`);
    });
    assertEquals([value, attempts], ["b", 2]);
  });

  await step("it gives up after its retries, its time or its signal", async ({ client, key }) => {
    const meddle = async (tx: kv.Transaction) => {
      const value = Number(await tx.get(key) ?? 0);
      await client.put({ key, value: String(value + 1) });
      tx.put(key, "never");
    };
    const error = await assertRejects(
      () => client.transaction(meddle, { retries: 4 }),
      kv.TransactionConflictError,
    );
    assertEquals(error.attempts, 5);
    assertEquals((await client.get({ key })).kvs[0]!.value, "5");
    const late = await assertRejects(
      () => client.transaction(meddle, { retries: Infinity, timeout: 100 }),
      kv.KvError,
    );
    assertEquals(late.code, 4);
    const given = new AbortController();
    const running = client.transaction(meddle, { retries: Infinity, signal: given.signal });
    given.abort();
    assertEquals((await assertRejects(() => running, kv.KvError)).code, 1);
  });

  await step("wrong requests are told what to change", async (s) => {
    // deno-lint-ignore no-explicit-any
    const client = s.client as any;
    let escaped: kv.Transaction;
    await s.client.transaction((tx) => {
      escaped = tx;
    });
    for (
      const [call, message] of [
        [() => client.transaction(), "without the function"],
        [
          () => client.transaction(() => 1, { isolation: "none" }),
          'isolation must be "serializable',
        ],
        [() => client.transaction(() => 1, { isolaton: 1 }), 'did you mean "isolation"?'],
        [() => client.transaction(() => 1, { retries: -1 }), "retries must be"],
        // deno-lint-ignore no-explicit-any
        [() => client.transaction((tx: any) => tx.get(5)), "must be a string or a Uint8Array"],
        // deno-lint-ignore no-explicit-any
        [() => client.transaction((tx: any) => tx.put("a")), "value must be a string"],
        [async () => await escaped.get("a"), "after its function has returned"],
      ] as const
    ) {
      const error = await assertRejects(call as () => Promise<unknown>, TypeError);
      assert(error.message.includes(message), error.message);
    }
  });
});
