/**
 * The client against recorded answers of etcd 3.4.23, read through another client: the same calls in
 * the same order on a fresh store have to give the same revisions, keys, counts and errors. Later
 * versions answer the same, up to the text.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { kv } from "@sluice/sluice";
import { Etcd, findServer } from "../../support/etcd.ts";
import { peerTest } from "../../support/peers.ts";

const path = Deno.env.get("KV_PROBES");
const etcd = await findServer();
const needs = [
  ["etcd", etcd, "install etcd-server, or set ETCD to the program"],
  ["recorded answers", path, "set KV_PROBES to kv-probes-3.4.23.json"],
] as const;

interface Probe {
  readonly name: string;
  readonly v: unknown;
}

/** Keys that are no text are written as Latin-1 there. */
const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);

function keyValue(one: kv.KeyValue) {
  return {
    key: latin1(one.keyBytes),
    create_revision: String(one.createRevision),
    mod_revision: String(one.modRevision),
    version: String(one.version),
    value: one.value,
    lease: String(one.lease),
  };
}

const at = (header: kv.ResponseHeader) => ({ revision: String(header.revision) });

const got = ({ kvs, header, more, count }: kv.GetResponse) => ({
  kvs: kvs.map(keyValue),
  header: at(header),
  more,
  count: String(count),
});

const stored = ({ header, prevKv }: kv.PutResponse) => ({
  header: at(header),
  prev_kv: prevKv === undefined ? null : keyValue(prevKv),
});

const removed = ({ header, deleted, prevKvs }: kv.DeleteResponse) => ({
  prev_kvs: prevKvs.map(keyValue),
  header: at(header),
  deleted: String(deleted),
});

const granted = ({ TTL, error }: kv.GrantResponse) => ({ TTL: String(TTL), error: error ?? "" });

/** What was asked, by the name of the answer. The order is the record's. */
function calls(client: kv.Client): Record<string, () => Promise<unknown>> {
  const P = { key: "p/", prefix: true };
  const put = (key: string, value = "v") => ({ put: { key, value } });
  const txn = async (request: kv.TxnRequest) => ({
    succeeded: (await client.txn(request)).succeeded,
  });
  const holds = async (compare: kv.Comparison) =>
    (await client.txn({ compare: [compare] })).succeeded;
  const keys = async (request: kv.GetRequest) =>
    (await client.get(request)).kvs.map((one) => latin1(one.keyBytes));
  return {
    "fresh range (revision starts at)": async () => got(await client.get({ key: "a" })),
    "put empty key": () => client.put({ key: "", value: "x" }),
    "range empty key": () => client.get({ key: "" }),
    "delete empty key": () => client.delete({ key: "" }),
    "put a=1": async () => stored(await client.put({ key: "a", value: "1" })),
    "put a=2 prev_kv": async () => stored(await client.put({ key: "a", value: "2", prevKv: true })),
    "put empty value": async () => stored(await client.put({ key: "ev", value: "" })),
    "get empty value": async () => got(await client.get({ key: "ev" })),
    "put ignore_value on existing": async () =>
      stored(await client.put({ key: "a", ignoreValue: true })),
    "get a": async () => got(await client.get({ key: "a" })),
    "put ignore_value+value": () => client.put({ key: "a", value: "x", ignoreValue: true }),
    "put ignore_value missing key": () => client.put({ key: "none", ignoreValue: true }),
    "put ignore_lease+lease": () =>
      client.put({ key: "a", value: "x", lease: 5, ignoreLease: true }),
    "put ignore_lease missing key": () =>
      client.put({ key: "none", value: "x", ignoreLease: true }),
    "put unknown lease": () => client.put({ key: "a", value: "x", lease: 4242 }),
    "delete missing key": async () => removed(await client.delete({ key: "none" })),
    "delete range_end<key": async () => removed(await client.delete({ key: "b", rangeEnd: "a" })),
    "range range_end<key": async () => got(await client.get({ key: "b", rangeEnd: "a" })),
    "range range_end==key": async () => got(await client.get({ key: "a", rangeEnd: "a" })),
    "range future rev": () => client.get({ key: "a", revision: 9999 }),
    "prefix limit 2": async () => {
      for (let i = 1; i <= 5; i++) await client.put({ key: `p/k${i}`, value: `k${i}` });
      await client.put({ key: "p/k1", value: "again" });
      await client.put({ key: new Uint8Array([0x70, 0x2f, 0x6b, 0xff]), value: "ff" });
      return got(await client.get({ ...P, limit: 2 }));
    },
    "prefix limit 100": async () => {
      const { more, count, kvs } = await client.get({ ...P, limit: 100 });
      return { more, count: String(count), n: kvs.length };
    },
    "count_only": async () => got(await client.get({ ...P, countOnly: true })),
    "count_only+limit": async () => got(await client.get({ ...P, countOnly: true, limit: 2 })),
    "keys_only": async () =>
      (await client.get({ ...P, keysOnly: true, limit: 1 })).kvs.map(keyValue),
    "keys_only+count_only": async () =>
      got(await client.get({ ...P, countOnly: true, keysOnly: true })),
    "sort MOD DESCEND limit 1": async () =>
      got(await client.get({ ...P, sortTarget: "MOD", sortOrder: "DESCEND", limit: 1 })),
    "sort target VERSION order NONE": async () =>
      (await client.get({ ...P, sortTarget: "VERSION", sortOrder: "NONE" })).kvs.map((one) =>
        `${latin1(one.keyBytes)}:${one.version}`
      ),
    "sort target KEY DESCEND": () => keys({ ...P, sortTarget: "KEY", sortOrder: "DESCEND" }),
    "fromkey p/k3": () => keys({ key: "p/k3", fromKey: true }),
    "txn dup put": () => txn({ success: [put("x"), put("x")] }),
    "txn put + del same": () => txn({ success: [put("x"), { delete: { key: "x" } }] }),
    "txn put in del range": () =>
      txn({ success: [{ delete: { key: "x", prefix: true } }, put("x1")] }),
    "txn dup in failure branch only": () => txn({ failure: [put("x"), put("x")] }),
    "txn 129 ops": () => txn({ success: Array.from({ length: 129 }, (_, i) => put(`t/${i}`)) }),
    "txn 129 compares": () =>
      txn({ compare: Array.from({ length: 129 }, () => ({ key: "a", version: 1 })) }),
    "txn compare empty key": () => txn({ compare: [{ key: "", version: 1 }] }),
    "txn op put empty key": () => txn({ success: [put("")] }),
    "txn range future rev": () => txn({ success: [{ get: { key: "a", revision: 9999 } }] }),
    "txn put unknown lease": () =>
      txn({ success: [{ put: { key: "a", value: "x", lease: 4242 } }] }),
    'cmp VALUE on missing EQUAL ""': () => holds({ key: "none", value: "" }),
    "cmp VALUE on missing NOT_EQUAL x": () =>
      holds({ key: "none", value: "x", result: "NOT_EQUAL" }),
    "cmp VERSION on missing EQUAL 0": () => holds({ key: "none", version: 0 }),
    "cmp LEASE on missing EQUAL 0": () => holds({ key: "none", lease: 0 }),
    "cmp range all CREATE>0": () => holds({ ...P, createRevision: 0, result: "GREATER" }),
    "put 1.5MiB+1": () => client.put({ key: "big", value: new Uint8Array(1.5 * 2 ** 20 + 1) }),
    "compact future": () => client.compact({ revision: 9999 }),
    "grant TTL 0": async () => granted(await client.grant({ TTL: 0 })),
    "grant TTL 1": async () => granted(await client.grant({ TTL: 1 })),
    "grant TTL 2": async () => granted(await client.grant({ TTL: 2 })),
    "grant TTL 3": async () => granted(await client.grant({ TTL: 3 })),
    "grant too large": () => client.grant({ TTL: 9_000_000_001 }),
    "grant max": async () => String((await client.grant({ TTL: 9_000_000_000 })).TTL),
    "revoke missing": () => client.revoke({ ID: 4242 }),
    "revoke ID 0": () => client.revoke({ ID: 0 }),
  };
}

peerTest("the client reads etcd as it was recorded", { needs }, async () => {
  const record = new Map(
    (JSON.parse(await Deno.readTextFile(path!)) as Probe[]).map(({ name, v }) => [name, v]),
  );
  await using server = await Etcd.start();
  await using client = kv.newClient({ endpoints: [server.endpoint] });
  for (const [name, call] of Object.entries(calls(client))) {
    assert(record.has(name), `there is no record of ${name}`);
    const [value, error] = await kv.attempt(call());
    const seen = error === undefined
      ? value
      : error instanceof kv.KvError
      ? { code: error.code, msg: error.message }
      : error;
    assertEquals(seen, record.get(name), name);
  }
});
