/** Cases of integration/v3_grpc_test.go, v3_grpc_inflight_test.go and v3_kv_test.go. */
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import type { Answer, Fields } from "../recorded/player.ts";
import { storeCase, zeros } from "./case.ts";

const [EQUAL, GREATER, LESS] = [0, 1, 2];
const [VERSION, CREATE, VALUE, LEASE] = [0, 1, 3, 4];
const [READ_ONLY_OPS, TOO_MANY] = [128, "etcdserver: too many operations in txn request"];

const opPut = (key: string, more: Fields = {}) => ({ requestPut: { key, value: "bar", ...more } });
const opGet = (key: string, more: Fields = {}) => ({ requestRange: { key, ...more } });
const opDelete = (key: string, more: Fields = {}) => ({ requestDeleteRange: { key, ...more } });
const keysOf = ({ kvs }: Answer): string[] => kvs.map(({ key }: Answer) => key);

storeCase("TestV3PutOverwrite", async (stage) => {
  const first = await stage.put("foo", "bar", { prevKv: true });
  assertEquals(first.prev_kv, null);
  const second = await stage.put("foo", "baz", { prevKv: true });
  assert(Number(second.header.revision) > Number(first.header.revision));
  assertEquals(second.prev_kv.value, "bar");
  const { kvs: [found] } = await stage.range("foo");
  assertEquals(
    [found.value, found.version, found.mod_revision],
    ["baz", "2", second.header.revision],
  );
  assertEquals(found.create_revision, first.header.revision);
});

storeCase("TestV3PutRestart", async (stage) => {
  const { header } = await stage.put("foo");
  await stage.restart();
  const again = await stage.put("foo", "again", { prevKv: true });
  assertEquals(again.prev_kv.value, "bar");
  assertEquals(Number(again.header.revision), Number(header.revision) + 1);
});

storeCase("TestV3CompactCurrentRev", async (stage) => {
  for (let i = 0; i < 3; i++) await stage.put("foo");
  assertEquals((await stage.ask("KV", "Compact", { revision: 4 })).code, undefined);
  for (const serializable of [false, true]) {
    assertEquals((await stage.range("foo", { serializable })).count, "1");
  }
});

storeCase("TestV3HashKV", async (stage) => {
  const hash = () => stage.ask("Maintenance", "HashKV");
  const seen = new Set<number>();
  for (let i = 0; i < 10; i++) {
    const { header } = await stage.put("foo", `bar${i}`);
    const first = await hash();
    assertEquals(first.header, header);
    seen.add(first.hash);
    for (let j = 0; j < 10; j++) assertEquals(await hash(), first);
  }
  assertEquals(seen.size, 10);
});

storeCase("TestV3TxnTooManyOps", async (stage) => {
  const many = <T>(make: (i: number) => T): T[] =>
    Array.from({ length: READ_ONLY_OPS + 1 }, (_, i) => make(i));
  const compare = { key: "foo", target: CREATE, result: GREATER, createRevision: 0 };
  const wrong: Fields[] = [
    { compare: many(() => compare) },
    { success: many((i) => opPut(`${i}`)) },
    { failure: many((i) => opPut(`${i}`)) },
    { success: [{ requestTxn: { success: many((i) => opPut(`${i}`)) } }] },
    { success: [{ requestTxn: { compare: many(() => compare) } }] },
    { success: [{ requestTxn: { failure: many((i) => opPut(`${i}`)) } }] },
  ];
  for (const txn of wrong) assertEquals((await stage.txn(txn)).msg, TOO_MANY);
});

storeCase("TestV3TxnDuplicateKeys", async (stage) => {
  const put = opPut("abc");
  const range = opDelete("a", { rangeEnd: "b" });
  const nested = (success: Fields[], failure: Fields[] = []) => ({
    requestTxn: { success, failure },
  });
  const cases: [Fields[], boolean][] = [
    [[put, put], true],
    [[put, opDelete("abc")], true],
    [[put, range], true],
    [[put, nested([put], [put])], true],
    [[nested([put]), nested([put])], true],
    [[opDelete("abc"), opDelete("abc")], false],
    [[opDelete("abc"), opDelete("a", { rangeEnd: "b" })], false],
    [[put, opDelete("d"), range], true],
    [[put, opDelete("abb", { rangeEnd: "abc" })], false],
    [[nested([put], [put])], false],
    [[nested([opDelete("abc")], [opDelete("abc")]), put], true],
  ];
  for (const [success, refused] of cases) {
    const { msg } = await stage.txn({ success });
    assertEquals(msg, refused ? "etcdserver: duplicate key given in txn request" : undefined);
  }
});

storeCase("TestV3TxnRevision", async (stage) => {
  const { header: { revision } } = await stage.put("abc");
  const after = async (op: Fields) => (await stage.txn({ success: [op] })).header.revision;
  assertEquals(await after(opGet("abc")), revision);
  assertEquals(await after(opDelete("def")), revision);
  assertEquals(await after(opPut("abc")), `${Number(revision) + 1}`);
});

storeCase("TestV3TxnCmpHeaderRev", async (stage) => {
  for (let i = 0; i < 10; i++) {
    const compare = [{ key: "k", target: VERSION, result: EQUAL, version: i }];
    const [put, txn] = await Promise.all([
      stage.put("k"),
      stage.txn({ compare, success: [opGet("k")] }),
    ]);
    const [written, read] = [Number(put.header.revision), Number(txn.header.revision)];
    assertEquals(txn.succeeded, read < written);
  }
});

storeCase("TestV3TxnRangeCompare", async (stage) => {
  for (const key of ["/a/2", "/a/3", "/a/4", "/f/5"]) await stage.put(key, "x");
  const A = { key: "/a/", rangeEnd: "/a0" };
  const cases: [Fields, boolean][] = [
    [{ key: "/a/", rangeEnd: "\0", target: CREATE, result: LESS, createRevision: 6 }, true],
    [{ key: "/a/", rangeEnd: "\0", target: CREATE, result: LESS, createRevision: 5 }, false],
    [{ ...A, target: CREATE, result: LESS, createRevision: 5 }, true],
    [{ ...A, target: CREATE, result: LESS, createRevision: 4 }, false],
    [{ key: "/b/", rangeEnd: "/b0", target: VALUE, result: EQUAL, value: "x" }, false],
    [{ ...A, target: LEASE, result: GREATER, lease: 0 }, false],
    [{ ...A, target: LEASE, result: EQUAL, lease: 0 }, true],
  ];
  for (const [compare, holds] of cases) {
    assertEquals((await stage.txn({ compare: [compare] })).succeeded, holds);
  }
});

storeCase("TestV3TxnNestedPath", async (stage) => {
  const path = Array.from({ length: 10 }, (_, i) => (i * 7) % 3 === 0);
  let txn: Fields = {};
  for (const holds of path.toReversed()) {
    txn = {
      compare: [{ key: "k", target: VERSION, result: EQUAL, version: holds ? 0 : 1 }],
      [holds ? "success" : "failure"]: [{ requestTxn: txn }],
    };
  }
  let answer = await stage.txn(txn);
  for (const holds of path) {
    assertEquals(answer.succeeded, holds);
    answer = answer.responses[0].response_txn;
  }
});

storeCase("TestV3PutIgnoreValue", async (stage) => {
  const missing = "etcdserver: key not found";
  assertEquals((await stage.put("foo", "", { ignoreValue: true })).msg, missing);
  assertEquals(
    (await stage.txn({ success: [opPut("foo", { value: "", ignoreValue: true })] })).msg,
    missing,
  );
  await stage.put("foo");
  assertEquals(
    (await stage.put("foo", "x", { ignoreValue: true })).msg,
    "etcdserver: value is provided",
  );
  await stage.txn({ success: [opPut("foo", { value: "", ignoreValue: true })] });
  await stage.lease("Grant", { ID: 7, TTL: 60 });
  await stage.put("foo", "", { ignoreValue: true, lease: 7 });
  const { kvs: [kv] } = await stage.range("foo");
  assertEquals([kv.value, kv.version, kv.lease], ["bar", "3", "7"]);
  await stage.lease("Revoke", { ID: 7 });
  assertEquals((await stage.range("foo")).count, "0");
  assertEquals((await stage.put("foo", "", { ignoreValue: true })).msg, missing);
});

storeCase("TestV3PutIgnoreLease", async (stage) => {
  const missing = "etcdserver: key not found";
  await stage.lease("Grant", { ID: 7, TTL: 60 });
  assertEquals((await stage.put("foo", "x", { ignoreLease: true })).msg, missing);
  await stage.put("foo", "bar", { lease: 7 });
  assertEquals(
    (await stage.put("foo", "x", { ignoreLease: true, lease: 7 })).msg,
    "etcdserver: lease is provided",
  );
  await stage.put("foo", "baz", { ignoreLease: true });
  const { kvs: [kv] } = await stage.range("foo");
  assertEquals([kv.value, kv.lease], ["baz", "7"]);
  await stage.lease("Revoke", { ID: 7 });
  assertEquals((await stage.put("foo", "x", { ignoreLease: true })).msg, missing);
});

storeCase("TestV3PutMissingLease", async (stage) => {
  const gone = "etcdserver: requested lease not found";
  const put = opPut("foo", { lease: 123456 });
  const compare = [{ key: "foo", target: CREATE, result: GREATER, createRevision: 0 }];
  assertEquals((await stage.put("foo", "bar", { lease: 123456 })).msg, gone);
  assertEquals((await stage.txn({ success: [put] })).msg, gone);
  assertEquals((await stage.txn({ compare, failure: [put] })).msg, gone);
  const many = [opGet("a"), opGet("b"), put];
  assertEquals((await stage.txn({ compare, failure: many })).msg, gone);
  assertEquals((await stage.range("foo")).count, "0");
  // The list that is not carried out is not looked at.
  assertEquals((await stage.txn({ compare, success: [put] })).succeeded, false);
});

storeCase("TestV3DeleteRange", async (stage) => {
  const cases: [string[], string, string, boolean, string[], number][] = [
    [["foo", "foo/abc", "fop"], "foo/", "fop", false, ["foo", "fop"], 1],
    [["foo", "foo/abc", "fop"], "foo/", "fop", true, ["foo", "fop"], 1],
    [["foo", "foo/abc", "fop"], "foo", "", false, ["foo/abc", "fop"], 1],
    [["foo", "foo/abc", "fop"], "foo", "\0", false, [], 3],
    [["foo", "foo/abc", "fop"], "foox", "", false, ["foo", "foo/abc", "fop"], 0],
    [["foo", "foo/abc", "fop"], "fop", "foo", false, ["foo", "foo/abc", "fop"], 0],
  ];
  for (const [keys, key, rangeEnd, prevKv, left, deleted] of cases) {
    await stage.ask("KV", "DeleteRange", { key: "\0", rangeEnd: "\0" });
    for (const one of keys) await stage.put(one);
    const { header: { revision } } = await stage.range("a");
    const answer = await stage.ask("KV", "DeleteRange", { key, rangeEnd, prevKv });
    assertEquals(Number(answer.deleted), deleted);
    assertEquals(answer.prev_kvs.length, prevKv ? deleted : 0);
    assertEquals(Number(answer.header.revision), Number(revision) + (deleted > 0 ? 1 : 0));
    assertEquals(keysOf(await stage.range("\0", { rangeEnd: "\0" })), left);
  }
});

storeCase("TestV3TxnInvalidRange", async (stage) => {
  for (let i = 0; i < 3; i++) await stage.put("foo");
  await stage.ask("KV", "Compact", { revision: 2 });
  const at = async (revision: number) =>
    (await stage.txn({ success: [opPut("foo"), opGet("foo", { revision })] })).msg;
  assertEquals(await at(100), "etcdserver: mvcc: required revision is a future revision");
  assertEquals(await at(1), "etcdserver: mvcc: required revision has been compacted");
  assertEquals((await stage.range("foo")).kvs[0].version, "3");
});

storeCase("TestV3TooLargeRequest", async (stage) => {
  const { msg } = await stage.put("foo", zeros(2 * 1024 * 1024 - 1_000));
  assertEquals(msg, "etcdserver: request is too large");
});

storeCase("TestV3Hash", async (stage) => {
  await stage.put("foo");
  const { hash } = await stage.ask("Maintenance", "Hash");
  assert(hash !== 0);
});

storeCase("TestV3HashRestart", async (stage) => {
  for (let i = 0; i < 10; i++) await stage.put(`foo${i}`);
  const hash = async () => (await stage.ask("Maintenance", "Hash")).hash;
  const before = await hash();
  await stage.restart();
  assertEquals(await hash(), before);
});

storeCase("TestV3StorageQuotaAPI", async (stage) => {
  const full = "etcdserver: mvcc: database space exceeded";
  await stage.put("abc", zeros(512));
  const value = zeros(16 * 4096);
  assertEquals((await stage.put("abc", value)).msg, full);
  assertEquals((await stage.txn({ success: [opPut("abc", { value })] })).msg, full);
}, { limits: { quotaBytes: 16 * 4096 } });

storeCase("TestV3RangeRequest", async (stage) => {
  const puts = ["a", "b", "c", "c", "a", "d", "e"];
  for (const key of puts) await stage.put(key);
  const all = { rangeEnd: "\0" };
  const cases: [string, Fields, string[], boolean, number][] = [
    ["a", {}, ["a"], false, 1],
    ["x", {}, [], false, 0],
    ["a", { rangeEnd: "c" }, ["a", "b"], false, 2],
    ["a", { rangeEnd: "a" }, [], false, 0],
    ["b", { rangeEnd: "a" }, [], false, 0],
    ["b", all, ["b", "c", "d", "e"], false, 4],
    ["\0", all, ["a", "b", "c", "d", "e"], false, 5],
    ["a", { rangeEnd: "z", limit: 1 }, ["a"], true, 5],
    ["a", { rangeEnd: "z", limit: 5 }, ["a", "b", "c", "d", "e"], false, 5],
    ["a", { rangeEnd: "z", limit: -1 }, ["a", "b", "c", "d", "e"], false, 5],
    ["a", { rangeEnd: "z", sortOrder: 2 }, ["e", "d", "c", "b", "a"], false, 5],
    ["a", { rangeEnd: "z", sortOrder: 1, sortTarget: 2 }, ["a", "b", "c", "d", "e"], false, 5],
    ["a", { rangeEnd: "z", sortOrder: 1, sortTarget: 3 }, ["b", "c", "a", "d", "e"], false, 5],
    ["a", { rangeEnd: "z", sortOrder: 2, sortTarget: 3, limit: 2 }, ["e", "d"], true, 5],
    ["a", { rangeEnd: "z", minModRevision: 5 }, ["a", "c", "d", "e"], false, 5],
    ["a", { rangeEnd: "z", maxModRevision: 5 }, ["b", "c"], false, 5],
    ["a", { rangeEnd: "z", minCreateRevision: 4 }, ["c", "d", "e"], false, 5],
    ["a", { rangeEnd: "z", maxCreateRevision: 3 }, ["a", "b"], false, 5],
    ["a", { rangeEnd: "z", minModRevision: 5, maxModRevision: 6, limit: 1 }, ["a"], true, 5],
    ["a", { rangeEnd: "z", countOnly: true }, [], false, 5],
    ["a", { rangeEnd: "z", keysOnly: true, revision: 3 }, ["a", "b"], false, 2],
  ];
  for (const [key, more, keys, rest, count] of cases) {
    const answer = await stage.range(key, more);
    assertEquals([keysOf(answer), answer.more, Number(answer.count)], [keys, rest, count]);
    assertEquals(answer.header.revision, "8");
  }
});

/** The keys and the count of a range in chunks. */
async function streamed(chunks: AsyncIterable<Answer> | Answer[]): Promise<Answer> {
  const keys: string[] = [];
  let last: Answer;
  let count = 0;
  for await (const { range_response: part } of chunks) {
    count++;
    keys.push(...keysOf(part));
    last = part;
  }
  return { keys, chunks: count, last };
}

storeCase("TestV3RangeStreamCount", async (stage) => {
  for (let i = 0; i < 30; i++) await stage.put(`k${String(i).padStart(2, "0")}`);
  for (const more of [{}, { limit: 7 }, { countOnly: true }, { keysOnly: true }]) {
    const plain = await stage.range("k", { rangeEnd: "l", ...more });
    const fields = { key: "k", rangeEnd: "l", ...more };
    const { keys, last } = await streamed(
      await stage.player.collect("KV", "RangeStream", fields),
    );
    assertEquals([keys, last.count, last.more], [keysOf(plain), plain.count, plain.more]);
    assertEquals(last.header, plain.header);
  }
});

storeCase("TestV3RangeStreamPartialThenCompacted", async (stage) => {
  for (let i = 0; i < 300; i++) {
    await stage.put(`stream-${String(i).padStart(4, "0")}`, zeros(40 * 1024));
  }
  const stream = await stage.player.read("KV", "RangeStream", {
    key: "stream-",
    rangeEnd: "stream.",
  });
  const first = await stream.next();
  assert(first.value.range_response.kvs.length > 0);
  const { header } = await stage.put("zz");
  await stage.ask("KV", "Compact", { revision: Number(header.revision), physical: true });
  let refusal = "";
  for (;;) {
    const step = await stream.next().catch((error: Answer) => error);
    if (step instanceof Error) refusal = String(step);
    if (step instanceof Error || step.done) break;
  }
  assert(refusal.includes("required revision has been compacted"), refusal);
});

storeCase("TestV3RangeStreamWriteBetweenChunks", async (stage) => {
  const names = Array.from({ length: 25 }, (_, i) => `k${String(i).padStart(2, "0")}`);
  for (const name of names) await stage.put(name, zeros(200 * 1024));
  const { header } = await stage.range("k00", { limit: 1 });
  const stream = await stage.player.read("KV", "RangeStream", { key: "k00", rangeEnd: "l" });
  const first = (await stream.next()).value;
  await stage.put("k99-new");
  const rest: Answer[] = [first];
  for await (const chunk of stream) rest.push(chunk);
  const { keys, chunks, last } = await streamed(rest);
  assertEquals(keys, names);
  assert(chunks >= 2);
  assertEquals([last.header, last.count], [header, "25"]);
});

storeCase("TestV3RangeStreamLargeValues", async (stage) => {
  for (let i = 0; i < 6; i++) await stage.put(`big-${i}`, zeros(4 * 1024 * 1024));
  await stage.restart({ limits: {} });
  const fields = { key: "big-", rangeEnd: "big." };
  const { keys, chunks } = await streamed(
    await stage.player.collect("KV", "RangeStream", fields),
  );
  assertEquals(keys, Array.from({ length: 6 }, (_, i) => `big-${i}`));
  assert(chunks >= 2);
}, { limits: { maxRequestBytes: 8 * 1024 * 1024 } });

storeCase("TestV3LargeRequests", async (_stage, t) => {
  const tooLarge = "etcdserver: request is too large";
  const MiB = 1024 * 1024;
  for (
    const [limit, size, refused] of [
      [256, 1024, true],
      [10 * MiB, 9 * MiB, false],
      [10 * MiB, 10 * MiB, true],
      [10 * MiB, 10 * MiB + 5, true],
    ] as const
  ) {
    await t.step(`${size} of ${limit}`, async () => {
      const { Stage } = await import("./case.ts");
      await using stage = await Stage.start({ limits: { maxRequestBytes: limit } });
      const { msg } = await stage.put("foo", zeros(size));
      assertEquals(msg, refused ? tooLarge : undefined);
      if (!refused) assertEquals((await stage.range("foo")).kvs[0].value.length, size);
    });
  }
});

storeCase("TestGRPCRequireLeader", async (stage) => {
  stage.store.faults.noLeader = true;
  assertEquals((await stage.put("foo")).msg, "etcdserver: no leader");
});

storeCase("TestGRPCStreamRequireLeader", async (stage) => {
  const stream = await stage.player.open("Watch", "Watch", { hasleader: "true" });
  await stream.send({ createRequest: { key: "foo" } });
  await stream.answers(1, { quiet: 0 });
  stage.store.faults.noLeader = true;
  assertEquals((await stream.ended).msg, "etcdserver: no leader");
  stage.store.faults.noLeader = false;
  const again = await stage.player.open("Watch", "Watch", { hasleader: "true" });
  await again.send({ createRequest: { key: "foo" } });
  assertEquals((await again.answers(1, { quiet: 0 }))[0].created, true);
  await again.close();
});

storeCase("TestV3MaintenanceDefragmentInflightRange", async (stage) => {
  await stage.put("foo");
  const ranges = Array.from({ length: 20 }, () => stage.range("foo"));
  const defragmented = stage.ask("Maintenance", "Defragment");
  for (const answer of await Promise.all(ranges)) assertEquals(answer.count, "1");
  assertEquals((await defragmented).code, undefined);
});

storeCase("TestV3KVInflightRangeRequests", async (stage) => {
  await stage.put("foo");
  const asked = Array.from({ length: 500 }, () => stage.range("foo").catch(() => undefined));
  await delay(5);
  // All are answered, or refused, by a store that ends.
  await stage.restart();
  for (const answer of await Promise.all(asked)) {
    if (answer?.code === undefined && answer !== undefined) assertEquals(answer.count, "1");
  }
});

storeCase("TestKVWithEmptyValue", async (stage) => {
  for (const key of ["my-namespace/foobar", "my-namespace/foobar1", "namespace/foobar1"]) {
    await stage.put(key, "");
  }
  const { kvs, count } = await stage.range("\0", { rangeEnd: "\0" });
  assertEquals([kvs.map(({ value }: Answer) => value), count], [["", "", ""], "3"]);
  assertEquals((await stage.range("my-namespace/", { rangeEnd: "\0" })).count, "3");
  const removed = await stage.ask("KV", "DeleteRange", { key: "my-namespace/", rangeEnd: "\0" });
  assertEquals(removed.deleted, "3");
});
