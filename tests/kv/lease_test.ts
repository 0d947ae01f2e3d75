import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";
import { fakeEtcd, header } from "../../support/fake_etcd.ts";
import { until } from "../../support/kv.ts";

type Renewals = AsyncIterable<{ ID: bigint }>;

/** A client, and a server whose keepalive streams a test writes. */
async function withLeases(
  stream: (requests: Renewals, stream: number) => AsyncIterable<unknown>,
  run: (client: kv.Client, lost: kv.LeaseLostError[]) => Promise<void>,
  lease: Parameters<typeof fakeEtcd>[0]["lease"] = {},
): Promise<void> {
  let streams = 0;
  let next = 0n;
  await using server = fakeEtcd({
    lease: {
      LeaseGrant: ({ TTL, ID }: { TTL: bigint; ID: bigint }) => ({
        header: header(1n),
        ID: ID || ++next,
        TTL,
      }),
      LeaseRevoke: () => ({ header: header(1n) }),
      LeaseKeepAlive: (requests: unknown) => stream(requests as Renewals, streams++),
      ...lease,
    },
  });
  const lost: kv.LeaseLostError[] = [];
  await using client = kv.newClient({
    endpoints: [server.addr],
    onLeaseLost: (error) => lost.push(error),
  });
  await run(client, lost);
}

async function* renew(requests: Renewals, TTL = 1n) {
  for await (const { ID } of requests) yield { header: header(1n), ID, TTL };
}

Deno.test("a lease is renewed when a third of its time is over", async () => {
  const times: number[] = [];
  await withLeases(async function* (requests) {
    for await (const { ID } of requests) {
      times.push(performance.now());
      yield { header: header(1n), ID, TTL: 1n };
    }
  }, async (client, lost) => {
    const start = performance.now();
    await client.grant({ TTL: 1 });
    await until("four renewals", () => times.length === 4);
    times.forEach((time, i) => {
      const after = time - (times[i - 1] ?? start);
      assert(after >= 250 && after <= 900, `renewal ${i} after ${after} ms`);
    });
    assertEquals(lost, []);
  });
});

Deno.test("500 leases share one stream (E9)", async () => {
  let streams = 0;
  const renewed = new Set<bigint>();
  await withLeases(async function* (requests) {
    streams++;
    for await (const { ID } of requests) {
      renewed.add(ID);
      yield { header: header(1n), ID, TTL: 1n };
    }
  }, async (client) => {
    await Promise.all(Array.from({ length: 500 }, () => client.grant({ TTL: 1 })));
    await until("all are renewed", () => renewed.size === 500);
    assertEquals(streams, 1);
  });
});

Deno.test("a lease whose renewals nobody answers is lost when its time is over", async () => {
  let streams = 0;
  await withLeases(async function* (requests) {
    streams++;
    for await (const { ID } of requests) if (ID === 0n) yield { header: header(1n), ID };
  }, async (client, lost) => {
    const start = performance.now();
    const { ID } = await client.grant({ TTL: 1 });
    const signal = client.leaseSignal(ID);
    await until("it is lost", () => lost.length === 1);
    const took = performance.now() - start;
    assert(took >= 990 && took <= 1_300, `it took ${took} ms`);
    assertEquals([lost[0]!.how, lost[0]!.ID, signal.reason], ["unrenewed", ID, lost[0]]);
    // Another stream was tried meanwhile, and none is left open for nothing.
    assertEquals(streams, 2);
  });
});

Deno.test("a lease's time runs from when its renewal was sent, not from the answer", async () => {
  let received = 0;
  await withLeases(async function* (requests, stream) {
    let answered = stream > 0;
    for await (const { ID } of requests) {
      if (answered) continue;
      answered = true;
      received = performance.now();
      await delay(300);
      yield { header: header(1n), ID, TTL: 1n };
    }
  }, async (client, lost) => {
    await client.grant({ TTL: 1 });
    await until("it is lost", () => lost.length === 1);
    const took = performance.now() - received;
    assert(took >= 900 && took < 1_290, `it took ${took} ms from the renewal`);
  });
});

Deno.test("a stream that breaks is opened again and the leases are renewed on it", async () => {
  let streams = 0;
  await withLeases(async function* (requests, stream) {
    streams++;
    let n = 0;
    for await (const renewal of renew(requests)) {
      yield renewal;
      if (stream < 3 && ++n === 2) return;
    }
  }, async (client, lost) => {
    await client.grant({ TTL: 1 });
    await client.grant({ TTL: 1 });
    await delay(1_700);
    assertEquals(lost, []);
    assert(streams >= 3, `${streams} streams`);
  });
});

Deno.test("a lease the server does not know is lost at once, the others live", async () => {
  await withLeases(async function* (requests) {
    for await (const { ID } of requests) {
      yield { header: header(1n), ID, TTL: ID === 1n ? 0n : 1n };
    }
  }, async (client, lost) => {
    await client.grant({ TTL: 1 });
    const { ID } = await client.grant({ TTL: 1 });
    await until("it is lost", () => lost.length === 1);
    assertEquals([lost[0]!.ID, lost[0]!.how], [1n, "expired"]);
    await delay(800);
    assertEquals([lost.length, client.leaseSignal(ID).aborted], [1, false]);
  });
});

Deno.test("the stream is closed with its last lease and opened for the next", async () => {
  let open = 0;
  await withLeases(async function* (requests) {
    open++;
    try {
      yield* renew(requests);
    } finally {
      open--;
    }
  }, async (client, lost) => {
    for (const ID of [1, 2]) {
      await client.keepalive(ID);
      await until("the stream is open", () => open === 1);
      await client.revoke({ ID });
      await until("the stream is closed", () => open === 0);
    }
    assertEquals(lost, []);
  });
});

Deno.test("a lease granted with keepAlive: false is never renewed; keepAliveOnce renews it once", async () => {
  const renewals: bigint[] = [];
  await withLeases(async function* (requests) {
    for await (const { ID } of requests) {
      renewals.push(ID);
      yield { header: header(1n), ID, TTL: ID === 7n ? 3n : 0n };
    }
  }, async (client, lost) => {
    const { ID } = await client.grantOnly({ TTL: 1, ID: 7 });
    assert(client.leaseSignal(ID).aborted);
    const { TTL } = await client.keepAliveOnce(ID);
    assertEquals(TTL, 3);
    const [, error] = await kv.attempt(client.keepAliveOnce(9n));
    assertEquals((error as kv.KvError).reason, "LEASE_NOT_FOUND");
    assertEquals(renewals, [7n, 9n]);
    assertEquals(lost, []);
  });
});

Deno.test("a lease that is no longer kept alive aborts its signal, and nobody hears of a loss", async () => {
  await withLeases((requests) => renew(requests, 60n), async (client, lost) => {
    const { ID } = await client.grant({ TTL: 60 });
    const signal = client.leaseSignal(ID);
    client.stopKeepAlive(ID);
    assertEquals((signal.reason as kv.LeaseLostError).how, "released");
    client.stopKeepAlive(ID);
    await client.keepalive(ID);
    assert(!client.leaseSignal(ID).aborted);
    assertEquals(lost, []);
  });
});

Deno.test("a lease a member does not know is asked after at another, and lives if that one knows it", async () => {
  const answers: bigint[] = [];
  let asked = 0;
  await withLeases(async function* (requests, stream) {
    for await (const { ID } of requests) {
      const TTL = stream === 0 ? 0n : 1n;
      answers.push(TTL);
      yield { header: header(1n), ID, TTL };
    }
  }, async (client, lost) => {
    const { ID } = await client.grant({ TTL: 1 });
    const signal = client.leaseSignal(ID);
    await until("it is renewed by another stream", () => answers.length >= 3);
    assertEquals([answers.slice(0, 3), asked, lost, signal.aborted], [[0n, 1n, 1n], 1, [], false]);
  }, {
    LeaseTimeToLive: ({ ID }) => {
      asked++;
      return { header: { ...header(1n), memberId: 2n }, ID, TTL: 1n, grantedTTL: 1n, keys: [] };
    },
  });
});

Deno.test("a lease that two members do not know is lost", async () => {
  let asked = 0;
  await withLeases((requests) => renew(requests, 0n), async (client, lost) => {
    await client.grant({ TTL: 60, ID: 5n });
    await client.keepalive(6n);
    await until("one is lost", () => lost.length === 1);
    assertEquals([lost[0]!.ID, lost[0]!.how, asked], [6n, "expired", 1]);
  }, {
    LeaseTimeToLive: ({ ID }) => {
      asked++;
      return { header: { ...header(1n), memberId: 2n }, ID, TTL: -1n, grantedTTL: 0n, keys: [] };
    },
  });
});
