import { assert, assertEquals, assertRejects } from "@std/assert";
import { kv } from "@sluice/sluice";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { etcdTest, rejected, until } from "../../../support/kv.ts";

/** Follows an election; `seen` grows. */
function follow(election: kv.Election): { seen: string[]; end: () => Promise<void> } {
  const seen: string[] = [];
  const ended = new AbortController();
  const following = (async () => {
    for await (const { value } of election.observe({ signal: ended.signal })) seen.push(value);
  })();
  return {
    seen,
    end: async () => {
      ended.abort();
      await following;
    },
  };
}

etcdTest("elections", async (step) => {
  await step("who campaigns first leads, then who waits the longest", async ({ client, key }) => {
    const election = client.election(`${key}election`);
    assertEquals(await election.leader(), null);
    const { seen, end } = follow(election);
    const first = await election.campaign("first", { ttl: 10 });
    assertEquals((await election.leader())!.value, "first");
    const waiting = Array.from({ length: 3 }, (_, i) => i);
    const order: string[] = [];
    const campaigns: Promise<void>[] = [];
    for (const i of waiting) {
      campaigns.push(
        election.campaign(`waiter ${i}`, { ttl: 10 }).then(async (leadership) => {
          order.push(leadership.value);
          await leadership.resign();
        }),
      );
      while ((await client.get({ key: `${key}election/`, prefix: true })).count < i + 2);
    }
    await first.resign();
    await Promise.all(campaigns);
    assertEquals(order, ["waiter 0", "waiter 1", "waiter 2"]);
    const last = await election.campaign("last", { ttl: 10 });
    await until("all are seen", () => seen.at(-1) === "last");
    assertEquals(seen, ["first", ...order, "last"]);
    await last.resign();
    await end();
    assertEquals(await election.leader(), null);
  });

  await step("proclaims take effect in order, each once", async ({ client, key }) => {
    const election = client.election(`${key}election`);
    const { seen, end } = follow(election);
    const leadership = await election.campaign("0", { ttl: 10 });
    await until("the first is seen", () => seen.length === 1);
    await Promise.all(["1", "2", "3"].map((value) => leadership.proclaim(value)));
    assertEquals(leadership.value, "3");
    await until("all are seen", () => seen.length === 4);
    assertEquals(seen, ["0", "1", "2", "3"]);
    assertEquals((await election.leader())!.version, 4);
    await leadership.resign();
    const error = await rejected(leadership.proclaim("4"), kv.OwnershipLostError);
    assertEquals(error.how, "released");
    await end();
  });

  await step("a proclaim without an answer is carried out once", async ({ etcd, client, key }) => {
    await using proxy = new FaultProxy({ target: etcd.endpoint });
    await using harmed = kv.newClient({ endpoints: [proxy.endpoint], retrySleep: 50 });
    const election = harmed.election(`${key}election`);
    const leadership = await election.campaign("0", { ttl: 10 });
    for (let i = 1; i <= 3; i++) {
      const watch = await client.watch({ key: leadership.key });
      proxy.delay = 100;
      const proclaiming = leadership.proclaim(String(i));
      // It is carried out, and its answer is in the proxy.
      await watch.read(5_000);
      proxy.drop();
      proxy.delay = 0;
      await proclaiming;
      watch.close();
    }
    const leader = (await client.election(`${key}election`).leader())!;
    assertEquals([leader.value, leader.version], ["3", 4]);
    await leadership.resign();
  });

  await step("who stands again in one session proclaims another value", async ({ client, key }) => {
    await using session = await client.session({ ttl: 10 });
    const election = client.election(`${key}election`);
    const first = await election.campaign("abc", { session });
    const again = await client.election(`${key}election`).campaign("def", { session });
    assertEquals([again === first, first.value], [true, "def"]);
    assertEquals((await election.leader())!.value, "def");
    await first.resign();
    const third = await election.campaign("ghi", { session });
    assert(third !== first && third.revision > first.revision);
  });

  await step("a leader that starts anew with its lease leads on", async ({ client, key }) => {
    const { ID: lease } = await client.grantOnly({ TTL: 10 });
    const election = client.election(`${key}election`);
    await using first = await client.session({ lease });
    const before = await election.campaign("abc", { session: first });
    const waiting = new AbortController();
    const other = election.campaign("123", { ttl: 10, signal: waiting.signal });
    await using second = await client.session({ lease });
    const after = await election.campaign("def", { session: second });
    assertEquals(after.revision, before.revision);
    assertEquals((await election.leader())!.value, "def");
    waiting.abort();
    await assertRejects(() => other, kv.KvError);
  });

  await step("a key that begins like its name is no candidate", async ({ client, key }) => {
    await client.put({ key: `${key}electiona`, value: "x" });
    await using _ = await client.election(`${key}election`).campaign("x", { timeout: 5_000 });
  });

  await step("history that is compacted is no end of observing", async ({ client, key }) => {
    const election = client.election(`${key}election`);
    await using leadership = await election.campaign("abc", { ttl: 10 });
    const { header } = await client.put({ key: `${key}x`, value: "" });
    await client.compact({ revision: header.revision });
    const { seen, end } = follow(election);
    await until("the leader is seen", () => seen.length === 1);
    await leadership.proclaim("def");
    await until("its next value is seen", () => seen.length === 2);
    assertEquals(seen, ["abc", "def"]);
    await end();
  });

  await step("who gives up is out of line", async ({ client, key }) => {
    const election = client.election(`${key}election`);
    const leadership = await election.campaign("leads", { ttl: 10 });
    await using session = await client.session({ ttl: 10 });
    for (const options of [{ session }, { ttl: 10 }]) {
      const error = await rejected(
        election.campaign("waits", { ...options, timeout: 80 }),
        kv.KvError,
      );
      assertEquals(error.code, 4);
    }
    while ((await client.get({ key: `${key}election/`, prefix: true })).count > 1);
    await leadership.resign();
    assertEquals(await election.leader(), null);
  });

  await step("the end of the session ends the leadership", async ({ client, key }) => {
    const election = client.election(`${key}election`);
    const session = await client.session({ ttl: 10 });
    const leadership = await election.campaign("leads", { session });
    const next = election.campaign("next", { ttl: 10 });
    await session.close();
    assert(leadership.signal.reason instanceof kv.LeaseLostError);
    await (await next).resign();
    await leadership.resign();
  });

  await step("wrong requests are told what to change", async ({ client, key }) => {
    // deno-lint-ignore no-explicit-any
    const election = client.election(key) as any;
    for (
      const [call, message] of [
        [() => election.campaign(), "value must be a string: got undefined"],
        [() => election.campaign("a", { sesion: 1 }), 'did you mean "session"?'],
        [() => election.observe({ signl: 1 }).next(), 'did you mean "signal"?'],
      ] as const
    ) {
      const error = await assertRejects(call, TypeError);
      assert(error.message.includes(message), error.message);
    }
  });
});
