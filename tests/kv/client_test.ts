import { assert, assertEquals, assertThrows } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { clientWith } from "../../kv/client.ts";
import { NAMES } from "../../kv/endpoints.ts";
import { FakeClock, OVER_SOCKETS } from "../../support/fake_clock.ts";
import { FaultProxy } from "../../support/fault_proxy.ts";
import { etcdTest, readEvents, rejected } from "../../support/kv.ts";

const { code } = grpc;
const bytes = (text: string) => new TextEncoder().encode(text);
const keysOf = (kvs: readonly kv.KeyValue[]) => kvs.map((one) => one.key);

etcdTest("keys", async (step) => {
  await step("put() stores text, and get() gives it back as text and bytes", async (s) => {
    const put = await s.client.put({ key: `${s.key}ä`, value: "ü" });
    assertEquals(put.prevKv, undefined);
    assert(put.header.revision > 1n && put.header.clusterId !== 0n && put.header.memberId !== 0n);
    assert(put.header.raftTerm > 0n);
    const { kvs, more, count, header } = await s.client.get({ key: `${s.key}ä` });
    assertEquals([kvs.length, more, count, header.revision], [1, false, 1, put.header.revision]);
    const one = kvs[0]!;
    assertEquals([one.key, one.value], [`${s.key}ä`, "ü"]);
    assertEquals([one.keyBytes, one.valueBytes], [bytes(`${s.key}ä`), bytes("ü")]);
    assertEquals([one.version, one.lease], [1, 0n]);
    assertEquals([one.createRevision, one.modRevision], [put.header.revision, put.header.revision]);
    assertEquals(
      JSON.stringify(one),
      JSON.stringify({
        key: `${s.key}ä`,
        value: "ü",
        version: 1,
        createRevision: String(put.header.revision),
        modRevision: String(put.header.revision),
        lease: "0",
      }),
    );
  });

  await step("text keeps a byte order mark at its start", async (s) => {
    const key = `\ufeff${s.key}`;
    await s.client.put({ key, value: "\ufeffA" });
    const one = (await s.client.get({ key })).kvs[0]!;
    assertEquals([one.key, one.value], [key, "\ufeffA"]);
    assertEquals((await s.client.delete({ key: one.key })).deleted, 1);
  });

  await step("put() stores bytes that are no text", async (s) => {
    const key = new Uint8Array([...bytes(s.key), 0xff, 0, 1]);
    await s.client.put({ key, value: new Uint8Array([0, 255, 128]) });
    const { kvs } = await s.client.get({ key });
    assertEquals(kvs[0]!.keyBytes, key);
    assertEquals(kvs[0]!.valueBytes, new Uint8Array([0, 255, 128]));
    assertEquals(kvs[0]!.value, "\0\uFFFD\uFFFD");
  });

  await step("put() with prevKv gives what was there before", async (s) => {
    await s.client.put({ key: s.key, value: "1" });
    const { prevKv } = await s.client.put({ key: s.key, value: "2", prevKv: true });
    assertEquals([prevKv?.value, prevKv?.version], ["1", 1]);
  });

  await step("put() with ignoreValue keeps the value, with ignoreLease the lease", async (s) => {
    const { ID } = await s.client.grant({ TTL: 60 });
    await s.client.put({ key: s.key, value: "kept", lease: ID });
    await s.client.put({ key: s.key, ignoreValue: true, ignoreLease: true });
    let one = (await s.client.get({ key: s.key })).kvs[0]!;
    assertEquals([one.value, one.version, one.lease], ["kept", 2, ID]);
    await s.client.put({ key: s.key, value: "new", ignoreLease: true });
    one = (await s.client.get({ key: s.key })).kvs[0]!;
    assertEquals([one.value, one.lease], ["new", ID]);
    await s.client.put({ key: s.key, value: "free" });
    one = (await s.client.get({ key: s.key })).kvs[0]!;
    assertEquals(one.lease, 0n);
    const error = await rejected(
      s.client.put({ key: `${s.key}none`, ignoreValue: true }),
      kv.KvError,
    );
    assertEquals([error.reason, error.code], ["KEY_NOT_FOUND", code.INVALID_ARGUMENT]);
    assertEquals(error.message, "etcdserver: key not found");
  });

  await step("put() on a lease that does not exist is refused", async (s) => {
    const error = await rejected(s.client.put({ key: s.key, value: "", lease: 4242 }), kv.KvError);
    assertEquals([error.reason, error.code], ["LEASE_NOT_FOUND", code.NOT_FOUND]);
  });

  await step("get() with prefix, fromKey, rangeEnd and limit chooses keys", async (s) => {
    for (const name of ["a", "b", "c", "d"]) {
      await s.client.put({ key: s.key + name, value: name });
    }
    const all = await s.client.get({ key: s.key, prefix: true });
    assertEquals(all.kvs.map((one) => one.value), ["a", "b", "c", "d"]);
    const some = await s.client.get({ key: s.key, prefix: true, limit: 3 });
    assertEquals([some.kvs.length, some.more, some.count], [3, true, 4]);
    const from = await s.client.get({ key: `${s.key}c`, fromKey: true });
    assertEquals(keysOf(from.kvs).slice(0, 2), [`${s.key}c`, `${s.key}d`]);
    const between = await s.client.get({ key: `${s.key}b`, rangeEnd: `${s.key}d` });
    assertEquals(keysOf(between.kvs), [`${s.key}b`, `${s.key}c`]);
    const every = await s.client.get({ key: "", prefix: true, countOnly: true });
    assertEquals(every.count, (await s.client.get({ key: "", fromKey: true })).count);
    assertEquals(every.kvs, []);
  });

  await step("get() sorts by every target in both directions", async (s) => {
    // Ordered by key, version, creation, change and value in five different ways.
    const put = (name: string, value: string) => s.client.put({ key: s.key + name, value });
    await put("b", "3");
    await put("a", "1");
    await put("c", "2");
    await put("a", "1");
    await put("a", "1");
    await put("c", "2");
    const order = async (sortTarget: kv.SortTarget, sortOrder: kv.SortOrder) => {
      const { kvs } = await s.client.get({ key: s.key, prefix: true, sortTarget, sortOrder });
      return kvs.map((one) => one.key.at(-1)).join("");
    };
    const expected = { KEY: "abc", VERSION: "bca", CREATE: "bac", MOD: "bac", VALUE: "acb" };
    for (const [target, ascending] of Object.entries(expected)) {
      const name = target as kv.SortTarget;
      assertEquals(await order(name, "ASCEND"), ascending, target);
      assertEquals(await order(name, "NONE"), ascending, target);
      assertEquals(await order(name, "DESCEND"), [...ascending].reverse().join(""), target);
    }
  });

  await step("get() reads history, and the header has the present revision", async (s) => {
    const first = (await s.client.put({ key: s.key, value: "1" })).header.revision;
    const second = (await s.client.put({ key: s.key, value: "2" })).header.revision;
    const old = await s.client.get({ key: s.key, revision: first });
    assertEquals([old.kvs[0]!.value, old.header.revision], ["1", second]);
    const asNumber = await s.client.get({ key: s.key, revision: Number(first) });
    assertEquals(asNumber.kvs[0]!.value, "1");
    const error = await rejected(
      s.client.get({ key: s.key, revision: second + 100n }),
      kv.KvError,
    );
    assertEquals([error.reason, error.code], ["FUTURE_REVISION", code.OUT_OF_RANGE]);
  });

  await step("get() leaves out what the revision filters say, but counts it", async (s) => {
    const { header: { revision } } = await s.client.put({ key: `${s.key}1`, value: "" });
    await s.client.put({ key: `${s.key}2`, value: "" });
    await s.client.put({ key: `${s.key}3`, value: "" });
    await s.client.put({ key: `${s.key}1`, value: "" });
    const names = async (filter: Partial<kv.GetRequest>) => {
      const { kvs, count } = await s.client.get({ key: s.key, prefix: true, ...filter });
      assertEquals(count, 3);
      return kvs.map((one) => one.key.at(-1)).join("");
    };
    assertEquals(await names({ minModRevision: revision + 2n }), "13");
    assertEquals(await names({ maxModRevision: revision + 2n }), "23");
    assertEquals(await names({ minCreateRevision: revision + 1n }), "23");
    assertEquals(await names({ maxCreateRevision: Number(revision) + 1 }), "12");
  });

  await step("get() with keysOnly, countOnly and serializable", async (s) => {
    await s.client.put({ key: s.key, value: "value" });
    const { kvs } = await s.client.get({ key: s.key, keysOnly: true });
    assertEquals([kvs[0]!.key, kvs[0]!.value, kvs[0]!.version], [s.key, "", 1]);
    assertEquals((await s.client.get({ key: s.key, countOnly: true })).count, 1);
    assertEquals((await s.client.get({ key: s.key, serializable: true })).kvs[0]!.value, "value");
  });

  await step("get() takes a value and ignores it", async (s) => {
    await s.client.put({ key: s.key, value: "1" });
    const request = { key: s.key, value: "means nothing" };
    assertEquals((await s.client.get(request)).kvs[0]!.value, "1");
  });

  await step("delete() counts what it removed and gives it with prevKv", async (s) => {
    for (const name of ["a", "b", "c"]) await s.client.put({ key: s.key + name, value: name });
    const one = await s.client.delete({ key: `${s.key}a` });
    assertEquals([one.deleted, one.prevKvs], [1, []]);
    const rest = await s.client.delete({ key: s.key, prefix: true, prevKv: true });
    assertEquals([rest.deleted, rest.prevKvs.map((one) => one.value)], [2, ["b", "c"]]);
    const none = await s.client.delete({ key: s.key, prefix: true });
    assertEquals([none.deleted, none.header.revision], [0, rest.header.revision]);
    await s.client.put({ key: "~1", value: "" });
    await s.client.put({ key: "~2", value: "" });
    assertEquals((await s.client.delete({ key: "~", fromKey: true })).deleted, 2);
  });

  await step("compact() drops history", async (s) => {
    const first = (await s.client.put({ key: s.key, value: "1" })).header.revision;
    const second = (await s.client.put({ key: s.key, value: "2" })).header.revision;
    const { header } = await s.client.compact({ revision: second, physical: true });
    assertEquals(header.revision, second);
    const error = await rejected(s.client.get({ key: s.key, revision: first }), kv.CompactedError);
    assertEquals([error.reason, error.code], ["COMPACTED", code.OUT_OF_RANGE]);
    assertEquals((await s.client.get({ key: s.key, revision: second })).count, 1);
    await rejected(s.client.compact({ revision: second }), kv.CompactedError);
    const future = await rejected(s.client.compact({ revision: second + 9n }), kv.KvError);
    assertEquals(future.reason, "FUTURE_REVISION");
  });

  await step("txn() carries out one list or the other, all in one revision", async (s) => {
    const create = (value: string) =>
      s.client.txn({
        compare: [{ key: s.key, createRevision: 0 }],
        success: [{ put: { key: s.key, value } }, { put: { key: `${s.key}2`, value } }],
        failure: [{ get: { key: s.key } }, { delete: { key: `${s.key}2`, prevKv: true } }],
      });
    const first = await create("1");
    assertEquals([first.succeeded, first.responses.length], [true, 2]);
    const { kvs } = await s.client.get({ key: s.key, prefix: true });
    assertEquals(kvs.map((one) => one.modRevision), Array(2).fill(first.header.revision));
    const second = await create("2");
    assertEquals(second.succeeded, false);
    const [got, deleted] = second.responses as [{ get: kv.GetResponse }, {
      delete: kv.DeleteResponse;
    }];
    assertEquals([got.get.kvs[0]!.value, deleted.delete.prevKvs[0]!.value], ["1", "1"]);
  });

  await step("txn() compares everything that can be compared", async (s) => {
    const { ID } = await s.client.grant({ TTL: 60 });
    const { header: { revision } } = await s.client.put({ key: s.key, value: "m", lease: ID });
    const holds = async (...compare: kv.Comparison[]) =>
      (await s.client.txn({ compare })).succeeded;
    const key = s.key;
    assert(
      await holds(
        { key, version: 1 },
        { key, createRevision: revision },
        { key, modRevision: Number(revision), result: "EQUAL" },
        { key, value: "m" },
        { key, value: new Uint8Array([0x6d]) },
        { key, lease: ID },
        { key, value: "l", result: "GREATER" },
        { key, value: "n", result: "LESS" },
        { key, version: 2, result: "NOT_EQUAL" },
        { key, prefix: true, modRevision: 0, result: "GREATER" },
        { key: `${key}none`, version: 0 },
      ),
    );
    assertEquals(await holds({ key: `${key}none`, value: "x", result: "NOT_EQUAL" }), false);
    assertEquals(await holds({ key, version: 1 }, { key, version: 2 }), false);
  });

  await step("txn() nests, and is refused where etcd refuses it", async (s) => {
    const put = (key: string) => ({ put: { key: s.key + key, value: "" } });
    const { responses } = await s.client.txn({
      success: [put("a"), { txn: { success: [put("b"), { get: { key: `${s.key}a` } }] } }],
    });
    const inner = (responses[1] as { txn: kv.TxnResponse }).txn;
    assertEquals((inner.responses[1] as { get: kv.GetResponse }).get.count, 1);
    const twice = await rejected(s.client.txn({ success: [put("a"), put("a")] }), kv.KvError);
    assertEquals([twice.reason, twice.name], ["DUPLICATE_KEY", "KvError"]);
    const many = Array.from({ length: 129 }, (_, i) => put(String(i)));
    assertEquals(
      (await rejected(s.client.txn({ success: many }), kv.KvError)).reason,
      "TOO_MANY_OPS",
    );
    for (
      const [request, message] of [
        [
          { compare: [{ key: "a" }] },
          "Cannot compare as one of version, createRevision, modRevision, value, lease must be " +
          "given: given are none",
        ],
        [
          { compare: [{ key: "a", version: 1, result: "equal" }] },
          "Cannot compare as result must be one of EQUAL, GREATER, LESS, NOT_EQUAL: current " +
          'value is "equal"',
        ],
        [
          { success: [{ remove: {} }] },
          "Cannot txn with an operation that is not one of { put }, { get }, { delete }, { txn }: " +
          "given are remove",
        ],
        [
          { success: {} },
          "Cannot txn as success must be an array: current value is object",
        ],
      ] as [kv.TxnRequest, string][]
    ) {
      assertEquals((await rejected(s.client.txn(request), TypeError)).message, message);
    }
  });

  await step("put() larger than etcd takes is refused with a reason", async (s) => {
    const large = await rejected(
      s.client.put({ key: s.key, value: new Uint8Array(1_600_000) }),
      kv.KvError,
    );
    assertEquals([large.reason, large.code], ["REQUEST_TOO_LARGE", code.INVALID_ARGUMENT]);
    const larger = await rejected(
      s.client.put({ key: s.key, value: new Uint8Array(3_000_000) }),
      kv.KvError,
    );
    assertEquals([larger.reason, larger.code], ["REQUEST_TOO_LARGE", code.RESOURCE_EXHAUSTED]);
    assertEquals(larger.name, "KvError");
  });

  await step("an empty key is refused with a reason", async (s) => {
    const calls = [
      () => s.client.put({ key: "", value: "" }),
      () => s.client.get({ key: "" }),
      () => s.client.delete({ key: "" }),
    ];
    for (const call of calls) {
      assertEquals((await rejected(call(), kv.KvError)).reason, "KEY_NOT_PROVIDED");
    }
  });

  await step("calls side by side are carried out each once", async (s) => {
    await Promise.all(
      Array.from({ length: 1000 }, (_, i) => s.client.put({ key: s.key + i, value: String(i) })),
    );
    const { kvs } = await s.client.get({ key: s.key, prefix: true });
    assertEquals(kvs.length, 1000);
    assert(kvs.every((one) => one.version === 1 && one.key === s.key + one.value));
  });

  await step("get() takes a response of more than 4 MiB", async (s) => {
    const value = new Uint8Array(1 << 20);
    for (let i = 0; i < 6; i++) await s.client.put({ key: s.key + i, value });
    const { kvs } = await s.client.get({ key: s.key, prefix: true });
    assertEquals(kvs.map((one) => one.valueBytes.length), Array(6).fill(1 << 20));
  });
});

etcdTest("leases", async (step) => {
  await step("grant() gives a lease with the server's choice of ID and TTL", async (s) => {
    const { ID, TTL, header, error } = await s.client.grant({ TTL: 60 });
    assertEquals([typeof ID, TTL, error], ["bigint", 60, undefined]);
    assert(ID !== 0n && header.revision >= 1n);
    assertEquals((await s.client.grant({ TTL: 1 })).TTL, 2);
    assertEquals((await s.client.grant({ TTL: 60n, ID: 0n })).TTL, 60);
  });

  await step("grant() with an ID of 63 bits keeps every bit of it", async (s) => {
    const ID = 0x7fff_ffff_ffff_fff1n;
    assertEquals((await s.client.grant({ TTL: 60, ID })).ID, ID);
    assert((await s.client.leases()).leases.some((lease) => lease.ID === ID));
    assertEquals((await s.client.revoke({ ID })).header.revision >= 1n, true);
    assertEquals((await s.client.grant({ TTL: 60, ID: -5 })).ID, -5n);
  });

  await step("grant() refuses an ID that is taken and a TTL that is too large", async (s) => {
    const { ID } = await s.client.grant({ TTL: 60 });
    const taken = await rejected(s.client.grant({ TTL: 60, ID }), kv.KvError);
    assertEquals([taken.reason, taken.name], ["LEASE_EXISTS", "KvError"]);
    const large = await rejected(s.client.grant({ TTL: 9_000_000_001 }), kv.KvError);
    assertEquals(large.reason, "LEASE_TTL_TOO_LARGE");
  });

  await step("ttl() tells what remains, and the keys when asked", async (s) => {
    const { ID } = await s.client.grant({ TTL: 60 });
    await s.client.put({ key: `${s.key}a`, value: "", lease: ID });
    await s.client.put({ key: `${s.key}b`, value: "", lease: ID });
    const without = await s.client.ttl({ ID });
    assertEquals([without.ID, without.grantedTTL, without.keys], [ID, 60, []]);
    assert(without.TTL === 59 || without.TTL === 60);
    const { keys, keysBytes } = await s.client.ttl({ ID, keys: true });
    assertEquals(keys.sort(), [`${s.key}a`, `${s.key}b`]);
    assertEquals(keysBytes.length, 2);
    const none = await s.client.ttl({ ID: 4242 });
    assertEquals([none.TTL, none.grantedTTL, none.ID], [-1, 0, 4242n]);
  });

  await step("leases() lists every lease", async (s) => {
    const { ID } = await s.client.grant({ TTL: 60 });
    const { leases, header } = await s.client.leases();
    assert(leases.some((lease) => lease.ID === ID));
    assert(header.revision >= 1n);
  });

  await step("revoke() removes the keys of a lease in one revision", async (s) => {
    const { ID } = await s.client.grant({ TTL: 60 });
    await s.client.put({ key: `${s.key}b`, value: "", lease: ID });
    const last = await s.client.put({ key: `${s.key}a`, value: "", lease: ID });
    const watch = await s.client.watch({ key: s.key, prefix: true });
    const { header } = await s.client.revoke({ ID });
    assertEquals(header.revision, last.header.revision + 1n);
    const response = (await watch.read(5_000))!;
    assertEquals(
      response.events.map(({ type, kv }) => [type, kv.key, kv.modRevision]),
      [["DELETE", `${s.key}a`, header.revision], ["DELETE", `${s.key}b`, header.revision]],
    );
    const error = await rejected(s.client.revoke({ ID }), kv.KvError);
    assertEquals([error.reason, error.code], ["LEASE_NOT_FOUND", code.NOT_FOUND]);
  });

  await step("grant() and keepalive() keep leases alive beyond their time", async (s) => {
    const maker = kv.newClient({ endpoints: [s.etcd.endpoint] });
    const made = await maker.grant({ TTL: 2 });
    const left = await maker.grant({ TTL: 2 });
    await maker.close();
    assertEquals(maker.leaseSignal(made.ID).reason.how, "unrenewed");
    await s.client.keepalive(made.ID);
    await s.client.keepalive(made.ID);
    const own = await s.client.grant({ TTL: 2 });
    for (const { ID } of [made, left, own]) {
      await s.client.put({ key: `${s.key}${ID}`, value: "", lease: ID });
    }
    const watch = await s.client.watch({ key: s.key, prefix: true });
    // What nobody keeps alive any more is deleted, and nothing else.
    const [event] = await readEvents(watch, 1);
    assertEquals([event?.type, event?.kv.key], ["DELETE", `${s.key}${left.ID}`]);
    assertEquals((await rejected(watch.read(500), kv.KvError)).code, code.DEADLINE_EXCEEDED);
    for (const { ID } of [made, own]) {
      assert((await s.client.ttl({ ID })).TTL >= 1);
      assertEquals(s.client.leaseSignal(ID).aborted, false);
    }
  });

  await step("onLeaseLost and leaseSignal() tell of a lease revoked elsewhere", async (s) => {
    const lost = Promise.withResolvers<kv.LeaseLostError>();
    await using keeper = kv.newClient({
      endpoints: [s.etcd.endpoint],
      onLeaseLost: (error) => {
        lost.resolve(error);
        throw new Error("ignored");
      },
    });
    const { ID } = await keeper.grant({ TTL: 2 });
    const signal = keeper.leaseSignal(ID);
    await s.client.revoke({ ID });
    const error = await lost.promise;
    assertEquals([error.ID, error.how, error.code], [ID, "expired", code.NOT_FOUND]);
    assertEquals(signal.reason, error);
    assertEquals(keeper.leaseSignal(ID).aborted, true);
  });

  await step("keepalive() of a lease that does not exist tells that it is lost", async (s) => {
    const lost = Promise.withResolvers<kv.LeaseLostError>();
    await using keeper = kv.newClient({
      endpoints: [s.etcd.endpoint],
      onLeaseLost: lost.resolve,
    });
    await keeper.keepalive(4242);
    assertEquals((await lost.promise).message, "lease 4242 is lost: the server does not know it");
  });

  await step("revoke() aborts the lease's signal and does not call onLeaseLost", async (s) => {
    let calls = 0;
    await using keeper = kv.newClient({
      endpoints: [s.etcd.endpoint],
      onLeaseLost: () => calls++,
    });
    const { ID } = await keeper.grant({ TTL: 60 });
    const signal = keeper.leaseSignal(ID);
    await keeper.revoke({ ID });
    assertEquals([signal.reason.how, calls], ["revoked", 0]);
  });
});

etcdTest("the client", async (step, etcd) => {
  await step("close() ends everything, and later calls fail", async (s) => {
    const client = kv.newClient({ endpoints: [etcd.endpoint], retrySleep: 50 });
    const { ID } = await client.grant({ TTL: 60 });
    const watch = await client.watch({ key: s.key });
    const reading = watch.read();
    const running = client.get({ key: s.key });
    const closing = client.close();
    assertEquals(await reading, null);
    assertEquals((await rejected(running, kv.ClientClosedError)).code, code.CANCELLED);
    await closing;
    await client.close();
    assertEquals(await watch.read(), null);
    // Nobody has to wait for it, so nobody has to catch this.
    client.keepalive(ID);
    await rejected(client.keepalive(0.5), TypeError);
    const calls = [
      () => client.put({ key: s.key, value: "" }),
      () => client.get({ key: s.key }),
      () => client.delete({ key: s.key }),
      () => client.compact({ revision: 1 }),
      () => client.grant({ TTL: 2 }),
      () => client.revoke({ ID }),
      () => client.ttl({ ID }),
      () => client.leases(),
      () => client.keepalive(ID),
      () => client.watch({ key: s.key }),
    ];
    for (const call of calls) {
      const error = await rejected(call(), kv.ClientClosedError);
      assertEquals(
        error.message,
        `cannot ${error.message.split(" ")[1]?.slice(0, -1)}: the client was closed`,
      );
    }
  });

  await step("close() before the first call returns at once", async () => {
    const client = kv.newClient({ endpoints: [etcd.endpoint] });
    await client.close();
    await client.close();
  });

  await step("timeout, as a number or an option, ends a call in time", async (s) => {
    await using proxy = new FaultProxy({ target: etcd.endpoint });
    await using client = kv.newClient({ endpoints: [proxy.endpoint] });
    await using hasty = kv.newClient({ endpoints: [proxy.endpoint], timeout: 0.2 });
    await Promise.all([client.get({ key: s.key }), hasty.get({ key: s.key })]);
    proxy.mode = "hold";
    for (const options of [200, { timeout: 200 }]) {
      const start = performance.now();
      const error = await rejected(client.get({ key: s.key }, options), kv.KvError);
      assertEquals([error.name, error.code], ["KvError", code.DEADLINE_EXCEEDED]);
      assert(performance.now() - start < 1_000);
    }
    const start = performance.now();
    const error = await rejected(hasty.get({ key: s.key }), kv.KvError);
    assertEquals(error.code, code.DEADLINE_EXCEEDED);
    assert(performance.now() - start < 1_000);
    const watching = client.watch({ key: s.key, revision: 1 }, 200);
    assertEquals((await rejected(watching, kv.KvError)).code, code.DEADLINE_EXCEEDED);
    proxy.mode = "pass";
    await client.get({ key: s.key }, 5_000);
  });

  await step("a signal gives a call up, and its reason stays reachable", async (s) => {
    const reason = new Error("changed my mind");
    const early = await rejected(
      s.client.put({ key: s.key, value: "" }, { signal: AbortSignal.abort(reason) }),
      kv.KvError,
    );
    assertEquals([early.name, early.code, early.cause], ["KvError", code.CANCELLED, reason]);
    await using proxy = new FaultProxy({ target: etcd.endpoint });
    await using client = kv.newClient({ endpoints: [proxy.endpoint] });
    await client.get({ key: s.key });
    proxy.mode = "hold";
    const controller = new AbortController();
    const { signal } = controller;
    const ended = Promise.all([
      rejected(client.get({ key: s.key }, { signal }), kv.KvError),
      rejected(client.put({ key: s.key, value: "" }, { signal }), kv.UnknownOutcomeError),
    ]);
    setTimeout(() => controller.abort(reason), 100);
    const [read, write] = await ended;
    assertEquals([read.name, read.code], ["KvError", code.CANCELLED]);
    assertEquals(write.code, code.CANCELLED);
  });

  await step("attempt() gives a pair", async (s) => {
    const [value, none] = await kv.attempt(s.client.get({ key: s.key }));
    assertEquals([value?.count, none], [0, undefined]);
    const [nothing, error] = await kv.attempt(s.client.get({ key: "" }));
    assertEquals([nothing, error?.message], [undefined, "etcdserver: key is not provided"]);
  });

  await step("an endpoint that cannot be reached is passed over", async (s) => {
    await using client = kv.newClient({
      endpoints: ["127.0.0.1:1", etcd.endpoint],
      retrySleep: 10_000,
    });
    for (let i = 0; i < 10; i++) await client.put({ key: s.key, value: String(i) });
    assertEquals((await client.get({ key: s.key })).kvs[0]!.version, 10);
    const watch = await client.watch({ key: s.key, revision: 1 });
    assertEquals((await readEvents(watch, 10)).length, 10);
  });

  await step("endpoints may have http:// in front", async (s) => {
    await using client = kv.newClient({ endpoints: [`http://${etcd.endpoint}/`] });
    assertEquals((await client.get({ key: s.key })).count, 0);
  });
});

Deno.test("newClient() refuses a wrong configuration and says what to change", () => {
  const cases: [unknown, string][] = [
    [undefined, 'Cannot make a client without options: give { endpoints: ["host:port"] }'],
    [{}, 'Cannot make a client without endpoints: give endpoints: ["host:port", …]'],
    [{ endpoints: [] }, 'Cannot make a client without endpoints: give endpoints: ["host:port", …]'],
    [{ endpoints: [7] }, 'Cannot use endpoint as it must be "host:port": current value is 7'],
    [
      { endpoints: ["a:1"], retry: -1 },
      "Cannot use retry as it must be a whole number >= 0: current value is -1",
    ],
    [
      { endpoints: ["a:1"], retrySleep: 0.5 },
      "Cannot use retrySleep as it must be a whole number >= 0: current value is 0.5",
    ],
    [
      { endpoints: ["a:1"], timeout: 0 },
      "Cannot use timeout as it must be a number > 0: current value is 0",
    ],
    [
      { endpoints: ["https://a:1", "http://b:1"] },
      "Cannot make a client of plain and TLS endpoints at once: endpoints are https://a:1, http://b:1",
    ],
    [
      { endpoints: ["https://a:1"], tls: false },
      "Cannot make a client with https:// endpoints and tls: false",
    ],
    [
      { endpoints: ["local host:2379"] },
      'Cannot use endpoint as it must be one "host:port" without blanks: current value is "local host:2379"',
    ],
    [
      { endpoints: ["a:1"], maxReceiveSize: 100 },
      "Cannot use maxReceiveSize as it must be a whole number > 2097152, so that watches can keep to it: current value is 100",
    ],
    [
      { endpoints: ["a:1"], retry_sleep: 5 },
      `Cannot make a client with an option "retry_sleep": its options are ${NAMES.join(", ")}: ` +
      'did you mean "retrySleep"?',
    ],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => kv.newClient(options as kv.ClientOptions), TypeError, message);
  }
  assertThrows(() => kv.newClient({ endpoints: ["no-port"] }), TypeError, "no-port");
});

Deno.test("a server that cannot be reached is a typed error, after the retries", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  await using client = clientWith(
    { endpoints: ["127.0.0.1:1"], retry: 2, retrySleep: 100 },
    { time: clock.time },
  );
  const putting = rejected(client.put({ key: "a", value: "" }), kv.KvError);
  const took = await clock.until(putting);
  const error = await putting;
  assertEquals([error.name, error.code], ["KvError", code.UNAVAILABLE]);
  assert(error.message.includes("127.0.0.1:1"), error.message);
  assert(took >= 180 && took <= 220, `two pauses of 100 ms took ${took} ms`);
  for (const revision of [0, 1]) {
    const watching = rejected(client.watch({ key: "a", revision }), kv.KvError);
    await clock.until(watching);
    assertEquals((await watching).code, code.UNAVAILABLE);
  }
});
