/** The recorded calls about keys, transactions and compactions, in their order. */
import type { Answer, Fields, Player } from "./player.ts";

/** The calls by the names of their answers; each is given what was recorded. */
export type Calls = Readonly<Record<string, (recorded: Answer) => Promise<Answer>>>;

/** Calls of `KV`. */
export function keyCalls(player: Player): Calls {
  const ask = (method: string, fields: Fields) => player.ask("KV", method, fields);
  const put = (key: string, value = "", more: Fields = {}) => ask("Put", { key, value, ...more });
  const range = (key: string, more: Fields = {}) => ask("Range", { key, ...more });
  const remove = (key: string, more: Fields = {}) => ask("DeleteRange", { key, ...more });
  const P = { rangeEnd: "p0" };
  const keys = async (more: Fields) =>
    (await range("p/", { ...P, ...more })).kvs.map(({ key }: Answer) => key);
  const success = (...ops: Fields[]) => ask("Txn", { success: ops });
  const opPut = (key: string, value = "v") => ({ requestPut: { key, value } });
  const opGet = (key: string, more: Fields = {}) => ({ requestRange: { key, ...more } });
  const opDelete = (key: string, more: Fields = {}) => ({
    requestDeleteRange: { key, ...more },
  });
  const holds = async (compare: Fields) => (await ask("Txn", { compare: [compare] })).succeeded;
  const succeeded = ({ succeeded, code, msg }: Answer) =>
    code === undefined ? { succeeded } : { code, msg };
  const ok = (answer: Answer) => answer.code === undefined ? "ok" : answer;
  const [EQUAL, GREATER, NOT_EQUAL] = [0, 1, 3];
  const [VERSION, CREATE, VALUE, LEASE] = [0, 1, 3, 4];
  return {
    "fresh range (revision starts at)": () => range("a"),
    "put empty key": () => put("", "x"),
    "range empty key": () => range(""),
    "delete empty key": () => remove(""),
    "put a=1": () => put("a", "1"),
    "put a=2 prev_kv": () => put("a", "2", { prevKv: true }),
    "put empty value": () => put("ev"),
    "get empty value": () => range("ev"),
    "put ignore_value on existing": () => put("a", "", { ignoreValue: true }),
    "get a": () => range("a"),
    "put ignore_value+value": () => put("a", "x", { ignoreValue: true }),
    "put ignore_value missing key": () => put("none", "", { ignoreValue: true }),
    "put ignore_lease+lease": () => put("a", "x", { ignoreLease: true, lease: 5 }),
    "put ignore_lease missing key": () => put("none", "x", { ignoreLease: true }),
    "put unknown lease": () => put("a", "x", { lease: 4242 }),
    "delete missing key": () => remove("none"),
    "delete range_end<key": () => remove("b", { rangeEnd: "a" }),
    "range range_end<key": () => range("b", { rangeEnd: "a" }),
    "range range_end==key": () => range("a", { rangeEnd: "a" }),
    "range future rev": () => range("a", { revision: 9999 }),
    "range negative rev": () => range("a", { revision: -1 }),
    "prefix limit 2": async () => {
      for (let i = 1; i <= 5; i++) await put(`p/k${i}`, `k${i}`);
      await put("p/k1", "again");
      await put("p/k\xff", "ff");
      return await range("p/", { ...P, limit: 2 });
    },
    "prefix limit 100": async () => {
      const { more, count, kvs } = await range("p/", { ...P, limit: 100 });
      return { more, count, n: kvs.length };
    },
    "count_only": () => range("p/", { ...P, countOnly: true }),
    "count_only+limit": () => range("p/", { ...P, countOnly: true, limit: 2 }),
    "keys_only": async () => (await range("p/", { ...P, keysOnly: true, limit: 1 })).kvs,
    "keys_only+count_only": () => range("p/", { ...P, keysOnly: true, countOnly: true }),
    "sort MOD DESCEND limit 1": () => range("p/", { ...P, sortTarget: 3, sortOrder: 2, limit: 1 }),
    "sort target VERSION order NONE": async () =>
      (await range("p/", { ...P, sortTarget: 1 })).kvs
        .map(({ key, version }: Answer) => `${key}:${version}`),
    "sort target KEY DESCEND": () => keys({ sortTarget: 0, sortOrder: 2 }),
    "min_mod_revision filter count": async () => {
      const { count, more, kvs } = await range("p/", { ...P, minModRevision: 8, limit: 2 });
      return { count, more, keys: kvs.map(({ key }: Answer) => key) };
    },
    "all keys \\0 \\0 count": async () => (await range("\0", { rangeEnd: "\0" })).count,
    "fromkey p/k3": async () =>
      (await range("p/k3", { rangeEnd: "\0" })).kvs.map(({ key }: Answer) => key),
    "txn empty": () => success(),
    "txn read-only revision": () => success(opGet("a")),
    "txn dup put": () => success(opPut("x"), opPut("x")),
    "txn put + del same": () => success(opPut("x"), opDelete("x")),
    "txn put in del range": () => success(opDelete("x", { rangeEnd: "y" }), opPut("x1")),
    "txn del del overlap": () => success(opDelete("x"), opDelete("x", { rangeEnd: "y" })),
    "txn dup in failure branch only": () => ask("Txn", { failure: [opPut("x"), opPut("x")] }),
    "txn 128 ops ok?": async () =>
      succeeded(await success(...Array.from({ length: 128 }, (_, i) => opPut(`t/${i}`)))),
    "txn 129 ops": () => success(...Array.from({ length: 129 }, (_, i) => opPut(`t/${i}`))),
    "txn 129 compares": () =>
      ask("Txn", {
        compare: Array.from({ length: 129 }, () => ({ key: "a", target: VERSION, version: 1 })),
      }),
    "txn compare empty key": () =>
      ask("Txn", { compare: [{ key: "", target: VERSION, version: 1 }] }),
    "txn op empty (no oneof)": () => success({}),
    "txn op put empty key": () => success(opPut("")),
    "txn range future rev": () => success(opGet("a", { revision: 9999 })),
    "txn put unknown lease": () => success({ requestPut: { key: "a", value: "x", lease: 4242 } }),
    "txn get-put-get order": () => success(opGet("a"), opPut("a", "new"), opGet("a")),
    'cmp VALUE on missing EQUAL ""': () =>
      holds({ key: "none", target: VALUE, result: EQUAL, value: "" }),
    "cmp VALUE on missing NOT_EQUAL x": () =>
      holds({ key: "none", target: VALUE, result: NOT_EQUAL, value: "x" }),
    "cmp VERSION on missing EQUAL 0": () =>
      holds({ key: "none", target: VERSION, result: EQUAL, version: 0 }),
    "cmp LEASE on missing EQUAL 0": () =>
      holds({ key: "none", target: LEASE, result: EQUAL, lease: 0 }),
    "cmp range all CREATE>0": () =>
      holds({ key: "p/", ...P, target: CREATE, result: GREATER, createRevision: 0 }),
    "nested txn": () => success({ requestTxn: { success: [opPut("n/1")] } }),
    "nested dup then/else same key ok": async () =>
      (await success({ requestTxn: { success: [opPut("n/2")], failure: [opPut("n/2")] } }))
        .succeeded,
    "nested dup parent+child": () =>
      success(opPut("n/3"), { requestTxn: { success: [opPut("n/3")] } }),
    "put 1.5MiB-512": async () => ok(await put("big", "x".repeat(1.5 * 2 ** 20 - 512))),
    "put 1.5MiB+1": () => put("big", "x".repeat(1.5 * 2 ** 20 + 1)),
    "put 2MiB": () => put("big", "x".repeat(2 * 2 ** 20)),
    "put 3MiB": () => put("big", "x".repeat(3 * 2 ** 20)),
    "compact future": () => ask("Compact", { revision: 9999 }),
    "compact rv-3": async () => {
      await remove("big");
      return await ask("Compact", { revision: 15 });
    },
    "compact same again": () => ask("Compact", { revision: 15 }),
    "compact lower": () => ask("Compact", { revision: 14 }),
    "compact 0": () => ask("Compact", { revision: 0 }),
    "compact -1": () => ask("Compact", { revision: -1 }),
    "range at compacted rev-1": () => range("a", { revision: 14 }),
    "range at compact rev": async () => ok(await range("a", { revision: 15 })),
    "txn range compacted": () => success(opGet("a", { revision: 14 })),
    "compact current physical": () => ask("Compact", { revision: 18, physical: true }),
  };
}
