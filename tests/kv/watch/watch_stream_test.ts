import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, kv } from "@sluice/sluice";
import type { WatchCreateMessage, WatchResult } from "../../../kv/wire.ts";
import {
  creates,
  drain,
  fakeEtcd,
  type FakeOptions,
  header,
  put,
} from "../../../support/fake_etcd.ts";
import { rejected, until } from "../../../support/kv.ts";

/** A client of a server that answers as a test says. */
async function withFake(
  options: FakeOptions,
  run: (client: kv.Client) => Promise<void>,
): Promise<void> {
  await using server = fakeEtcd(options);
  await using client = kv.newClient({ endpoints: [server.addr], retry: 1, retrySleep: 10 });
  await run(client);
}

const created = (revision: bigint, watchId = 0n): Partial<WatchResult> => ({
  header: header(revision),
  watchId,
  created: true,
});

Deno.test("a watch from now is pinned behind the revision of a read", async () => {
  const starts: bigint[] = [];
  await withFake({
    kv: { Range: () => ({ header: header(41n) }) },
    async *watch(requests) {
      for await (const { startRevision } of creates(requests)) {
        starts.push(startRevision);
        // By now the store has gone on, and what happened in between belongs to the watch.
        yield created(43n);
        yield {
          header: header(43n),
          events: [put("a", 41n), put("a", 42n), put("a", 43n)],
        };
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a" });
    const { events } = (await watch.read(1_000))!;
    assertEquals(events.map((event) => event.kv.modRevision), [42n, 43n]);
    // At the revision that was read: etcd since 3.5 tells no progress to watches of the future.
    assertEquals(starts, [41n]);
  });
});

Deno.test("a watch from now outlives a compaction of what it does not need", async () => {
  const starts: bigint[] = [];
  await withFake({
    kv: { Range: () => ({ header: header(41n) }) },
    async *watch(requests) {
      for await (const { startRevision } of creates(requests)) {
        starts.push(startRevision);
        if (startRevision === 41n) {
          yield { header: header(45n), watchId: 0n, created: true };
          yield { header: header(45n), watchId: 0n, canceled: true, compactRevision: 42n };
        } else {
          yield created(45n, 1n);
          yield { header: header(45n), watchId: 1n, events: [put("a", 42n)] };
        }
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a" });
    const { events } = (await watch.read(1_000))!;
    assertEquals(events.map((event) => event.kv.modRevision), [42n]);
    assertEquals(starts, [41n, 42n]);
  });
});

Deno.test("a stream that delivered and breaks again and again is opened with pauses", async () => {
  let opened = 0;
  await withFake({
    async *watch(requests) {
      opened++;
      for await (const _ of creates(requests)) {
        if (opened > 1) throw new ConnectError("no", Code.Unavailable);
        yield created(9n);
        yield { header: header(9n), events: [put("a", 9n)] };
        return;
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 9 });
    await watch.read(1_000);
    await delay(300);
    // At once, after 0, 50, 100, 200 ms …; without pauses it was hundreds.
    assert(opened <= 8, `${opened} streams in 300 ms`);
  });
});

Deno.test("a watch goes on behind its last event, not behind the header's revision", async () => {
  const starts: bigint[] = [];
  await withFake({
    async *watch(requests, stream) {
      for await (const { startRevision } of creates(requests)) {
        starts.push(startRevision);
        yield created(100n);
        yield { header: header(100n), events: [put("a", startRevision), put("b", startRevision)] };
        // An orderly end of the stream is an interruption like any other.
        if (stream < 3) return;
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", prefix: true, revision: 5 });
    const revisions: bigint[] = [];
    while (revisions.length < 8) {
      const { events } = (await watch.read(1_000))!;
      revisions.push(...events.map((event) => event.kv.modRevision));
    }
    assertEquals(revisions, [5n, 5n, 6n, 6n, 7n, 7n, 8n, 8n]);
    assertEquals(starts, [5n, 6n, 7n, 8n]);
  });
});

Deno.test("progress of the watch moves it, progress of the stream does not", async () => {
  const starts: bigint[] = [];
  await withFake({
    async *watch(requests, stream) {
      for await (const create of creates(requests)) {
        starts.push(create.startRevision);
        assertEquals(create.progressNotify, true);
        yield created(10n, 3n);
        yield { header: header(20n), watchId: 3n };
        yield { header: header(30n), watchId: -1n };
        if (stream === 0) return;
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 5, progressNotify: true });
    const { progressNotify, events, header } = (await watch.read(1_000))!;
    assertEquals([progressNotify, events, header.revision], [true, [], 20n]);
    await until("the second stream", () => starts.length === 2);
    assertEquals(starts, [5n, 20n]);
  });
});

Deno.test("pieces of a revision are joined; without their end they count for nothing", async () => {
  const starts: bigint[] = [];
  await withFake({
    async *watch(requests, stream) {
      for await (const { startRevision } of creates(requests)) {
        starts.push(startRevision);
        yield created(9n);
        if (startRevision === 7n) {
          yield { header: header(9n), fragment: true, events: [put("a", 7n), put("b", 8n)] };
        } else yield { header: header(9n), fragment: true, events: [put("b", 8n)] };
        if (stream === 0) return;
        yield { header: header(9n), fragment: true, events: [put("c", 8n)] };
        yield { header: header(9n), events: [put("d", 8n), put("e", 9n)] };
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", fromKey: true, revision: 7 });
    // What is complete is given at once; the rest of a revision comes in one response.
    const texts: string[] = [];
    while (texts.join("").length < 5) {
      texts.push((await watch.read(1_000))!.events.map(({ kv }) => kv.key).join(""));
    }
    assertEquals(texts, ["a", "bcde"]);
    assertEquals([starts, watch.startRevision, watch.revision], [[7n, 8n], 7n, 10n]);
  });
});

Deno.test("a watch tells what happens to it beside its events", async () => {
  const notices: kv.WatchNotice[] = [];
  const cut = Promise.withResolvers<void>();
  await withFake({
    async *watch(requests, stream) {
      for await (const _ of creates(requests)) {
        yield created(stream === 0 ? 9n : 11n);
        yield { header: header(11n), watchId: 0n };
        if (stream === 0) await cut.promise;
        if (stream < 3) return;
        await drain(requests);
      }
    },
  }, async (client) => {
    await client.watch({
      key: "a",
      revision: 3,
      onNotice(notice) {
        notices.push(notice);
        if (notice.kind === "progress") cut.resolve();
        if (notices.length === 1) throw new Error("printed, and of no interest to the watch");
      },
    });
    const kinds = () => notices.map(({ kind }) => kind).join(" ");
    const back = "disconnected reconnected progress";
    await until("it is back", () => kinds().endsWith(`${back} ${back} ${back}`));
    assertEquals(kinds(), `created progress ${back} ${back} ${back}`);
    const [first, progress, gone, again] = notices;
    assertEquals([first, progress], [{ kind: "created", revision: 9n }, {
      kind: "progress",
      revision: 11n,
    }]);
    assert(gone?.kind === "disconnected" && gone.error instanceof kv.KvError && gone.attempt === 1);
    assert(again?.kind === "reconnected" && again.after >= 0);
  });
});

Deno.test("requestProgress() asks until the server says how far the watch is", async () => {
  let asked = 0;
  await withFake({
    async *watch(requests) {
      for await (const { requestUnion } of requests) {
        if (requestUnion.case === "createRequest") yield created(9n);
        // Servers say nothing while one of the watches catches up, and old ones lag.
        else if (requestUnion.case === "progressRequest" && ++asked > 1) {
          yield { header: header(asked === 2 ? 8n : 12n), watchId: -1n };
        }
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 3, progressNotify: true });
    assertEquals(await watch.requestProgress(), 12n);
    assertEquals(asked, 3);
    const response = (await watch.read(0))!;
    assertEquals([response.progressNotify, response.header.revision], [true, 12n]);
    // Servers have said so too early: where the watch goes on is not made of it.
    assertEquals(watch.revision, 3n);
    await rejected(watch.requestProgress(-1), TypeError);
    const abort = new AbortController();
    const given = rejected(watch.requestProgress({ signal: abort.signal }), kv.KvError);
    abort.abort();
    assertEquals((await given).code, grpc.code.CANCELLED);
    const ended = rejected(watch.requestProgress(), kv.KvError);
    watch.close();
    assertEquals((await ended).code, grpc.code.CANCELLED);
    await rejected(watch.requestProgress(), kv.KvError);
  });
});

Deno.test("requestProgress() gives up when its time is over", async () => {
  await withFake({
    async *watch(requests) {
      for await (const _ of creates(requests)) yield created(9n);
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 3 });
    const error = await rejected(watch.requestProgress(20), kv.KvError);
    assertEquals(error.code, grpc.code.DEADLINE_EXCEEDED);
  });
});

Deno.test("events from before the start are left out", async () => {
  await withFake({
    async *watch(requests) {
      for await (const _ of creates(requests)) {
        yield created(9n);
        yield { header: header(9n), events: [put("a", 3n), put("a", 4n)] };
        yield { header: header(9n), events: [put("a", 4n), put("a", 5n), put("a", 6n)] };
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 5 });
    const { events } = (await watch.read(1_000))!;
    assertEquals(events.map(({ kv }) => kv.modRevision), [5n, 6n]);
  });
});

Deno.test("a member that lags is waited for, a store that lost revisions is an error", async () => {
  for (const lost of [false, true]) {
    await withFake({
      kv: { Range: () => ({ header: header(lost ? 3n : 20n) }) },
      async *watch(requests, stream) {
        for await (const _ of creates(requests)) {
          yield created(stream === 0 ? 20n : 3n);
          if (stream === 0) return;
          if (!lost) yield { header: header(21n), events: [put("a", 21n)] };
        }
      },
    }, async (client) => {
      const watch = await client.watch({ key: "a", revision: 20 });
      if (lost) {
        const error = await rejected(watch.read(1_000), kv.HistoryLostError);
        assertEquals(
          [error.by, error.message],
          ["revision", "the watch has seen revision 20, and now the store is at 3"],
        );
      } else {
        assertEquals((await watch.read(1_000))!.events[0]!.kv.modRevision, 21n);
      }
    });
  }
});

Deno.test("another cluster behind the same address is an error", async () => {
  await withFake({
    async *watch(requests, stream) {
      for await (const _ of creates(requests)) {
        yield { header: header(9n, stream === 0 ? 7n : 8n), created: true };
        if (stream === 0) return;
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 1 });
    const error = await rejected(watch.read(1_000), kv.HistoryLostError);
    assertEquals(
      [error.by, error.message],
      ["cluster", "the watch followed cluster 7, and now 8 answers"],
    );
  });
});

Deno.test("a watch the server cancels ends with its reason, others go on", async () => {
  const reason = "rpc error: code = PermissionDenied desc = etcdserver: permission denied";
  await withFake({
    async *watch(requests) {
      let id = 0n;
      for await (const _ of creates(requests)) {
        if (id === 1n) {
          yield { ...created(9n, -1n), canceled: true, cancelReason: reason };
          yield { header: header(10n), watchId: 0n, events: [put("a", 10n)] };
          yield { header: header(10n), watchId: 0n, canceled: true };
        } else yield created(9n, id);
        id++;
      }
    },
  }, async (client) => {
    const first = await client.watch({ key: "a", revision: 1 });
    const denied = await rejected(
      client.watch({ key: "b", revision: 1 }),
      kv.WatchCanceledError,
    );
    assertEquals([denied.reason, denied.code], ["PERMISSION_DENIED", grpc.code.PERMISSION_DENIED]);
    assertEquals(denied.message, "etcdserver: permission denied");
    assertEquals((await first.read(1_000))!.events.length, 1);
    const error = await rejected(first.read(1_000), kv.WatchCanceledError);
    assertEquals(error.message, "the server ended the watch");
  });
});

Deno.test("a watch closed before the server knew it is cancelled once it has an id", async () => {
  const cancelled: bigint[] = [];
  const gate = Promise.withResolvers<void>();
  await withFake({
    async *watch(requests) {
      let id = 0n;
      for await (const { requestUnion } of requests) {
        if (requestUnion.case === "cancelRequest") cancelled.push(requestUnion.value.watchId);
        else {
          if (id === 1n) await gate.promise;
          yield created(9n, id++);
        }
      }
    },
  }, async (client) => {
    await client.watch({ key: "a", revision: 1 });
    const controller = new AbortController();
    const second = client.watch({ key: "b", revision: 1 }, { signal: controller.signal });
    const third = client.watch({ key: "c", revision: 1 });
    const ended = rejected(second, kv.KvError);
    await delay(10);
    controller.abort();
    assertEquals((await ended).code, grpc.code.CANCELLED);
    gate.resolve();
    (await third).close();
    await until("both cancels", () => cancelled.length === 2);
    assertEquals(cancelled, [1n, 2n]);
  });
});

Deno.test("a server that ends every stream is asked again at a bearable pace", async () => {
  let streams = 0;
  await withFake({
    async *watch(requests) {
      streams++;
      for await (const _ of creates(requests)) {
        yield created(9n);
        throw new ConnectError("etcdserver: no leader", Code.Unavailable);
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 1 });
    await delay(600);
    assert(streams >= 3 && streams <= 7, `${streams} streams in 600 ms`);
    watch.close();
  });
});

Deno.test("a server without watches is a final error for new watches and old ones", async () => {
  await withFake({
    async *watch(requests, stream) {
      for await (const _ of creates(requests)) {
        if (stream > 0) throw new ConnectError("unknown service Watch", Code.Unimplemented);
        yield created(9n);
        await delay(20);
        return;
      }
    },
  }, async (client) => {
    const watch = await client.watch({ key: "a", revision: 1 });
    const error = await rejected(watch.read(1_000), kv.KvError);
    assertEquals(error.code, grpc.code.UNIMPLEMENTED);
    const again = await rejected(client.watch({ key: "a", revision: 1 }), kv.KvError);
    assertEquals(again.message, "unknown service Watch");
  });
});

Deno.test("a hundred watches are one stream, and none is left when the last is closed", async () => {
  let open = 0;
  let most = 0;
  const seen: WatchCreateMessage[] = [];
  await withFake({
    async *watch(requests) {
      most = Math.max(most, ++open);
      try {
        let id = 0n;
        for await (const create of creates(requests)) {
          seen.push(create);
          yield created(9n, id++);
        }
      } finally {
        open--;
      }
    },
  }, async (client) => {
    const watches = await Promise.all(
      Array.from({ length: 100 }, (_, i) => client.watch({ key: `k${i}`, revision: 1 })),
    );
    assertEquals([seen.length, open, most], [100, 1, 1]);
    for (const watch of watches) watch.close();
    await until("the stream is gone", () => open === 0);
    const again = await client.watch({ key: "k", revision: 1 });
    assertEquals([open, most], [1, 1]);
    again.close();
    await until("the stream is gone", () => open === 0);
  });
});

Deno.test("watches and leases ask for a member that has a leader", async () => {
  const registered: string[] = [];
  const registrar = new grpc.Registrar();
  const { schemaFile } = await import("../../../kv/schema.ts");
  registrar.register(schemaFile("watch"), "Watch", {
    async *Watch(requests: AsyncIterable<unknown>, context: grpc.CallContext) {
      registered.push(`watch ${context.requestHeader.get("hasleader")}`);
      yield created(9n);
      await drain(requests);
    },
  });
  registrar.register(schemaFile("lease"), "Lease", {
    async *LeaseKeepAlive(requests: AsyncIterable<{ ID: bigint }>, context: grpc.CallContext) {
      registered.push(`lease ${context.requestHeader.get("hasleader")}`);
      for await (const { ID } of requests) yield { header: header(1n), ID, TTL: 60n };
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  await using client = kv.newClient({ endpoints: [server.addr] });
  await client.watch({ key: "a", revision: 1 });
  await client.keepalive(1);
  await until("both streams", () => registered.length === 2);
  assertEquals(registered.sort(), ["lease true", "watch true"]);
});
