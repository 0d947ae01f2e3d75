/**
 * What a bad network or a bad moment does to the client: E1 to E9 are faults that lose events, apply
 * writes twice or go unnoticed in other clients.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { FaultProxy } from "../../support/fault_proxy.ts";
import { etcdTest, readEvents, rejected, type Scene, until } from "../../support/kv.ts";
import { findEtcd } from "../../support/etcd.ts";

/** Whether the tests run on an etcd, and not on the store. */
const real = await findEtcd() !== undefined;

const { code } = grpc;

/** A proxy to the step's etcd, and a client that goes through it. */
async function through(
  { etcd }: Scene,
  run: (proxy: FaultProxy, client: kv.Client) => Promise<void>,
  options: Partial<kv.ClientOptions> = {},
): Promise<void> {
  await using proxy = new FaultProxy({ target: etcd.endpoint });
  await using client = kv.newClient({
    endpoints: [proxy.endpoint],
    retrySleep: 100,
    ...options,
  });
  await run(proxy, client);
}

etcdTest("faults", async (step) => {
  await step("a watch that replays 5,000 revisions survives a TCP drop (E1)", async (s) => {
    const { header } = await s.client.get({ key: s.key });
    for (let i = 0; i < 50; i++) {
      await Promise.all(
        Array.from({ length: 100 }, () => s.client.put({ key: s.key, value: "x".repeat(100) })),
      );
    }
    await through(s, async (proxy, client) => {
      const watch = await client.watch({ key: s.key, revision: header.revision + 1n });
      const events = (await watch.read(5_000))!.events.slice();
      assert(events.length < 5_000, "the replay was over before the drop");
      proxy.drop();
      events.push(...await readEvents(watch, 5_000 - events.length));
      assertEquals(events.length, 5_000);
      const first = header.revision + 1n;
      assert(events.every((event, i) => event.kv.modRevision === first + BigInt(i)));
      assertEquals(proxy.accepted, 2);
    });
  });

  await step("a watch that is dropped again and again gives each event once", async (s) => {
    const { header } = await s.client.get({ key: s.key });
    await through(s, async (proxy, client) => {
      const watch = await client.watch({ key: s.key, prefix: true });
      let mark = watch.revision;
      const reading = readEvents(watch, 2_000);
      for (let i = 0; i < 1_000; i++) {
        await s.client.put({ key: `${s.key}${i % 7}`, value: String(i) });
        await s.client.delete({ key: `${s.key}${i % 7}` });
        if (i % 50 !== 0) continue;
        await until("events on this connection", () => watch.revision > mark);
        mark = watch.revision;
        proxy.drop();
      }
      const events = await reading;
      assert(
        events.every((event, i) => event.kv.modRevision === header.revision + BigInt(i) + 1n),
      );
      assert(proxy.accepted >= 20, `only ${proxy.accepted} connections`);
    });
  });

  await step("a replay of 40,000 events in one response of 5 MB is complete (E2)", async (s) => {
    const value = "v".repeat(100);
    const { header } = await s.client.get({ key: s.key });
    const puts = Array.from({ length: 100 }, (_, i) => ({ put: { key: s.key + i, value } }));
    for (let i = 0; i < 400; i++) await s.client.txn({ success: puts });
    await through(s, async (_, client) => {
      const revision = header.revision + 1n;
      const watch = await client.watch({ key: s.key, prefix: true, revision });
      const responses = [(await watch.read(10_000))!];
      let seen = responses[0]!.events.length;
      for (; seen < 40_000; seen += responses.at(-1)!.events.length) {
        responses.push((await watch.read(10_000))!);
      }
      assertEquals(seen, 40_000);
      const events = responses.flatMap((response) => response.events);
      assert(
        events.every(({ kv }, i) => kv.modRevision === revision + BigInt(Math.floor(i / 100))),
      );
      // The store answers in pieces of a megabyte, etcd all at once.
      assert(!real || responses.some((response) => response.events.length > 20_000));
    });
  });

  await step("a put whose answer is lost is not sent twice (E8)", async (s) => {
    await through(s, async (proxy, client) => {
      await client.get({ key: s.key });
      const watch = await s.client.watch({ key: s.key });
      proxy.delay = 300;
      const putting = client.put({ key: s.key, value: "1" });
      // It is committed, and its answer is in the proxy.
      await readEvents(watch, 1);
      proxy.drop();
      proxy.delay = 0;
      const error = await rejected(putting, kv.UnknownOutcomeError);
      assertEquals(error.code, code.UNAVAILABLE);
      assert(error.message.startsWith("outcome of put is unknown: "), error.message);
      assert(error.cause instanceof kv.KvError);
      await client.get({ key: s.key });
      assertEquals((await s.client.get({ key: s.key })).kvs[0]!.version, 1);
    });
  });

  await step("writes under dropped connections are carried out once at most", async (s) => {
    await through(s, async (proxy, client) => {
      let sure = 0;
      let unsure = 0;
      let failed = 0;
      let running = true;
      const writer = async (key: string) => {
        while (running) {
          const [, error] = await kv.attempt(client.put({ key, value: "" }));
          if (error === undefined) sure++;
          else if (error instanceof kv.UnknownOutcomeError) unsure++;
          else failed++;
        }
      };
      const keys = Array.from({ length: 16 }, (_, i) => `${s.key}${i}`);
      const writers = Promise.all(keys.map(writer));
      for (let i = 0; i < 20; i++) {
        const before = sure;
        await until("writes on this connection", () => sure > before + 16);
        proxy.drop();
      }
      running = false;
      await writers;
      const { kvs } = await s.client.get({ key: s.key, prefix: true });
      const carriedOut = kvs.reduce((sum, one) => sum + one.version, 0);
      assert(
        carriedOut >= sure && carriedOut <= sure + unsure,
        `${carriedOut} were carried out: ${sure} for sure, ${unsure} perhaps`,
      );
      assert(unsure > 0, "no drop hit a write under way");
      assertEquals(failed, 0);
    });
  });

  await step("a put marked idempotent is sent again, and a delete too", async (s) => {
    await through(s, async (proxy, client) => {
      await client.get({ key: s.key });
      for (
        const call of [
          () => client.put({ key: s.key, value: "1" }, { idempotent: true }),
          () => client.delete({ key: s.key }, { idempotent: true }),
        ]
      ) {
        const watch = await s.client.watch({ key: s.key });
        proxy.delay = 100;
        const calling = call();
        await readEvents(watch, 1);
        proxy.drop();
        proxy.delay = 0;
        await calling;
      }
    });
  });

  await step("reads, grant and revoke whose answers are lost are sent again", async (s) => {
    await through(s, async (proxy, client) => {
      const { ID } = await client.grant({ TTL: 60 });
      for (
        const call of [
          () => client.get({ key: s.key }),
          () => client.ttl({ ID }),
          () => client.leases(),
          () => client.grant({ TTL: 60 }),
          () => client.revoke({ ID }),
        ]
      ) {
        proxy.delay = 60;
        const calling = call();
        await new Promise((resolve) => setTimeout(resolve, 90));
        proxy.drop();
        proxy.delay = 0;
        assert((await calling).header.revision > 0n);
      }
    });
  });

  await step("a write to an endpoint that hangs up before it is sent is tried again", async (s) => {
    await through(s, async (proxy, client) => {
      proxy.mode = "refuse";
      setTimeout(() => proxy.mode = "pass", 250);
      await client.put({ key: s.key, value: "1" });
      assertEquals((await s.client.get({ key: s.key })).kvs[0]!.version, 1);
    }, { retry: 20 });
  });

  await step("a write that never left is no unknown outcome when its time is over", async (s) => {
    await through(s, async (proxy, client) => {
      proxy.mode = "hold";
      const late = await rejected(client.put({ key: s.key, value: "" }, 100), kv.KvError);
      assertEquals([late.name, late.code], ["KvError", code.DEADLINE_EXCEEDED]);
      const signal = AbortSignal.timeout(100);
      const given = await rejected(client.put({ key: s.key, value: "" }, { signal }), kv.KvError);
      assertEquals([given.name, given.code], ["KvError", code.CANCELLED]);
    });
  });

  await step("a silent network is noticed, and the watch goes on elsewhere (E3)", async (s) => {
    await through(s, async (proxy, client) => {
      const watch = await client.watch({ key: s.key });
      proxy.mode = "hold";
      const { header } = await s.client.put({ key: s.key, value: "1" });
      await until("the dead connection is given up", () => proxy.accepted > 1);
      proxy.mode = "pass";
      const [event] = await readEvents(watch, 1);
      assertEquals(event!.kv.modRevision, header.revision);
    }, { keepalive: { interval: 500, timeout: 200 } });
  });

  await step("reads, watches and leases move on from an endpoint that falls silent", async (s) => {
    await using other = new FaultProxy({ target: s.etcd.endpoint });
    const lost: kv.LeaseLostError[] = [];
    await through(s, async (first) => {
      await using client = kv.newClient({
        endpoints: [first.endpoint, other.endpoint],
        keepalive: { interval: 300, timeout: 200 },
        onLeaseLost: (error) => lost.push(error),
      });
      await Promise.all([client.get({ key: s.key }), client.get({ key: s.key })]);
      const watch = await client.watch({ key: s.key });
      const { ID } = await client.grant({ TTL: 3 });
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      // Whichever of the two carries the watch: each falls silent once.
      for (const proxy of [first, other]) {
        proxy.mode = "hold";
        const reads = Array.from({ length: 4 }, () => client.get({ key: s.key }, 5_000));
        const { header } = await s.client.put({ key: s.key, value: "1" });
        assertEquals((await readEvents(watch, 1))[0]!.kv.modRevision, header.revision);
        await Promise.all(reads);
        proxy.mode = "pass";
      }
      assert((await s.client.ttl({ ID })).TTL >= 0);
      assertEquals(lost, []);
    });
  });

  await step("a lease in a silent network is lost here before it is there (E5)", async (s) => {
    const lost = Promise.withResolvers<kv.LeaseLostError>();
    await through(s, async (proxy, client) => {
      const { ID } = await client.grant({ TTL: 2 });
      await s.client.put({ key: s.key, value: "", lease: ID });
      const watch = await s.client.watch({ key: s.key });
      const signal = client.leaseSignal(ID);
      await new Promise((resolve) => setTimeout(resolve, 300));
      proxy.mode = "hold";
      const cut = performance.now();
      const error = await lost.promise;
      const here = performance.now() - cut;
      assertEquals([error.ID, error.how], [ID, "unrenewed"]);
      assertEquals([signal.aborted, signal.reason], [true, error]);
      // At this moment the server still has it.
      assertEquals((await s.client.get({ key: s.key })).count, 1);
      assert(here <= 2_050, `it took ${here} ms`);
      assertEquals((await readEvents(watch, 1))[0]!.type, "DELETE");
    }, { onLeaseLost: lost.resolve });
  });

  await step("leases survive dropped connections", async (s) => {
    const lost: kv.LeaseLostError[] = [];
    await through(s, async (proxy, client) => {
      const leases = await Promise.all(
        Array.from({ length: 20 }, () => client.grant({ TTL: 2 })),
      );
      for (let i = 0; i < 25; i++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        proxy.drop();
      }
      for (const { ID } of leases) assert((await s.client.ttl({ ID })).TTL >= 0);
      assertEquals(lost, []);
    }, { onLeaseLost: (error) => lost.push(error) });
  });

  await step("a watch whose history goes away while it is cut off says so", async (s) => {
    await through(s, async (proxy, client) => {
      const watch = await client.watch({ key: s.key });
      proxy.mode = "refuse";
      proxy.drop();
      for (let i = 0; i < 5; i++) await s.client.put({ key: s.key, value: String(i) });
      const { header } = await s.client.get({ key: s.key });
      await s.client.compact({ revision: header.revision });
      proxy.mode = "pass";
      const error = await rejected(watch.read(10_000), kv.CompactedError);
      assertEquals(error.compactRevision, header.revision);
    });
  });

  await step("close() does not wait for a silent network", async (s) => {
    await through(s, async (proxy, client) => {
      await client.grant({ TTL: 60 });
      const watch = await client.watch({ key: s.key });
      proxy.mode = "hold";
      const reading = rejected(client.get({ key: s.key }), kv.ClientClosedError);
      const start = performance.now();
      await client.close();
      assert(performance.now() - start < 500);
      assertEquals(await watch.read(), null);
      await reading;
    });
  });
});

etcdTest("etcd itself", async (step) => {
  await step("a watch and a lease go on when etcd is killed and comes back", async (s) => {
    const watch = await s.client.watch({ key: s.key });
    const { ID } = await s.client.grant({ TTL: 5 });
    await s.client.put({ key: s.key, value: "before" });
    await s.etcd.halt();
    const reading = s.client.get({ key: s.key });
    await s.etcd.restart();
    assertEquals((await reading).kvs[0]!.value, "before");
    await s.client.put({ key: s.key, value: "after", lease: ID });
    const events = await readEvents(watch, 2);
    assertEquals(events.map((event) => event.kv.value), ["before", "after"]);
    assertEquals(s.client.leaseSignal(ID).aborted, false);
  }, { retry: 50, retrySleep: 100 });
});
