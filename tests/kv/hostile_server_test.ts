/**
 * Servers whose responses fit no request, and functions of users that misbehave: each is told as such,
 * and nothing is made of it.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import type { HeaderMessage, WatchResult } from "../../kv/wire.ts";
import { creates, fakeEtcd, type FakeOptions, header, put } from "../../support/fake_etcd.ts";
import { printed } from "../../support/console.ts";
import { rejected } from "../../support/kv.ts";

const { code } = grpc;

async function withFake(
  options: FakeOptions,
  use: (client: kv.Client) => Promise<void>,
): Promise<void> {
  await using server = fakeEtcd(options);
  await using client = kv.newClient({
    endpoints: [server.addr],
    retry: 1,
    retrySleep: 10,
    timeout: 20_000,
    onLeaseLost: null,
  });
  await use(client);
}

/** Key values as a range gives them. */
const kvs = (...keys: string[]) => keys.map((key) => put(key, 1n).kv);

async function misfits(promise: Promise<unknown>, text: string): Promise<void> {
  const error = await rejected(promise, kv.KvError);
  assertEquals([error.name, error.code], ["KvError", code.DATA_LOSS], error.message);
  assertStringIncludes(error.message, "does not fit the request");
  assertStringIncludes(error.message, text);
}

async function readAll(iterable: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of iterable) assert(++count < 1_000, "it has no end");
  return count;
}

Deno.test("a scan ends though the server has always more", async () => {
  const pages: [readonly unknown[], string][] = [
    [kvs("a"), "not of the range, or not in order"],
    [kvs("ab", "aa"), "not of the range, or not in order"],
    [kvs("aa", "aa"), "not of the range, or not in order"],
    [kvs("b"), "not of the range, or not in order"],
    [[], "a page without keys that is not the last"],
  ];
  for (const [page, text] of pages) {
    const Range = () => ({ header: header(5n), kvs: page, more: true, count: 9n });
    await withFake({ kv: { Range } }, async (client) => {
      await misfits(readAll(client.scan({ prefix: "a" })), text);
      await misfits(readAll(client.getStream({ prefix: "a" })), text);
      await misfits(client.cache({ prefix: "a" }).ready(), text);
    });
  }
});

Deno.test("streams of a range give its keys, in order", async () => {
  for (const keys of [["b"], ["ab", "aa"], ["aa", "aa"]]) {
    await withFake({
      kv: {
        async *RangeStream() {
          for (;;) yield { rangeResponse: { header: header(5n), kvs: kvs(...keys) } };
        },
      },
    }, async (client) => {
      await misfits(readAll(client.getStream({ prefix: "a", revision: 5n })), "not in order");
    });
  }
});

Deno.test("a namespace gives no key without its prefix", async () => {
  const Range = () => ({ header: header(5n), kvs: kvs("other"), more: false, count: 1n });
  const one = { case: "responseRange", value: Range() };
  const Txn = () => ({ header: header(5n), succeeded: true, responses: [{ response: one }] });
  await withFake({ kv: { Range, Txn } }, async (client) => {
    const app = client.namespace("app/");
    await misfits(app.get({ key: "a" }), "a key without the prefix");
    await misfits(app.txn({ success: [{ get: { key: "a" } }] }), "a key without the prefix");
  });
});

Deno.test("a transaction takes one response an operation, of its kind", async () => {
  const range = { case: "responseRange", value: { header: header(5n), kvs: [] } };
  const wrote = { case: "responsePut", value: { header: header(5n) } };
  const wrong: [readonly unknown[], string][] = [
    [[], "0 responses to 1 operations"],
    [[{ response: range }, { response: range }], "2 responses to 1 operations"],
    [[{ response: wrote }], "responsePut to a requestRange"],
    [[{}], "nothing to a requestRange"],
  ];
  for (const [responses, text] of wrong) {
    const Txn = () => ({ header: header(5n), succeeded: true, responses });
    await withFake({ kv: { Txn } }, async (client) => {
      await misfits(client.txn({ success: [{ get: { key: "a" } }] }), text);
      await misfits(client.transaction((tx) => tx.get("a")), text);
    });
  }
});

Deno.test("revisions are those a store can be at", async () => {
  for (const revision of [-1n, -(2n ** 63n), 2n ** 63n - 1n]) {
    const answer = { header: header(revision) };
    await withFake({
      kv: { Range: () => answer, Put: () => answer },
      async *watch(requests) {
        for await (const _ of creates(requests)) {
          yield { ...answer, watchId: 0n, created: true } as Partial<WatchResult> as WatchResult;
        }
      },
    }, async (client) => {
      const text = `the store is at revision ${revision}`;
      await misfits(client.get({ key: "a" }), text);
      await misfits(client.put({ key: "a", value: "" }), text);
      await misfits(client.watch({ key: "a" }), text);
      await misfits(client.watch({ key: "a", revision: 1 }), text);
      await misfits(client.cache({ prefix: "a" }).ready(), text);
    });
  }
});

Deno.test("without a revision nothing is watched and no lock is held", async () => {
  for (const given of [undefined, header(0n)] as readonly (HeaderMessage | undefined)[]) {
    const answer = { ...(given === undefined ? {} : { header: given }) };
    const put = { response: { case: "responsePut", value: {} } };
    const range = { response: { case: "responseRange", value: { kvs: [] } } };
    await withFake({
      kv: {
        Range: () => answer,
        Txn: () => ({ ...answer, succeeded: true, responses: [put, range] }),
      },
      lease: {
        LeaseGrant: () => ({ ...answer, ID: 5n, TTL: 60n, error: "" }),
        LeaseRevoke: () => answer,
      },
    }, async (client) => {
      await misfits(client.watch({ key: "a" }), "it has no revision");
      await misfits(client.lock("a"), "it has no revision");
      await misfits(client.election("a").campaign("b"), "it has no revision");
    });
  }
});

Deno.test("events are in order, each of a key that is watched", async () => {
  const key = { type: 0 };
  const wrong: [readonly unknown[], string][] = [
    [[key], "an event without a key"],
    [[put("a", 9n), key], "an event without a key"],
    [[put("a", 9n), put("a", 8n)], "events that are not in order"],
    [[put("a", 2n ** 63n - 1n)], "an event of revision"],
  ];
  for (const fragment of [false, true]) {
    for (const [events, text] of wrong) {
      await withFake({
        async *watch(requests) {
          for await (const _ of creates(requests)) {
            yield { header: header(5n), watchId: 0n, created: true, events: [] };
            yield { header: header(5n), watchId: 0n, events: events as never, fragment };
          }
        },
      }, async (client) => {
        const watch = await client.watch({ key: "a" });
        await misfits(watch.read(), text);
      });
    }
  }
  const empty = { header: header(5n), kvs: [], more: false, count: 0n };
  await withFake({
    kv: { Range: () => empty },
    async *watch(requests) {
      for await (const _ of creates(requests)) {
        yield { header: header(5n), watchId: 0n, created: true, events: [] };
        yield { header: header(6n), watchId: 0n, events: [put("other", 6n)] };
      }
    },
  }, async (client) => {
    await using cache = client.cache({ prefix: "app/" });
    await cache.ready();
    await misfits(readAll(cache.events()), "an event of another key");
    assertEquals(cache.state, "failed");
  });
});

Deno.test("functions of users that do not end are waited for as long as the call has time", async () => {
  const never = () => new Promise<never>(() => {});
  await withFake({
    kv: {
      Range: () => ({ header: header(5n), kvs: [], more: false, count: 0n }),
    },
  }, async (client) => {
    for (
      const make of [
        (options: { timeout?: number; signal?: AbortSignal }) => client.update("a", never, options),
        (options: { timeout?: number; signal?: AbortSignal }) => client.transaction(never, options),
      ]
    ) {
      const late = await rejected(make({ timeout: 30 }), kv.KvError);
      assertEquals(late.code, code.DEADLINE_EXCEEDED);
      const controller = new AbortController();
      const given = rejected(make({ signal: controller.signal }), kv.KvError);
      controller.abort();
      assertEquals((await given).code, code.CANCELLED);
    }
  });
});

Deno.test("promises of functions that must give their value at once harm nobody", async () => {
  const failing = () => Promise.reject(new Error("late"));
  const lines = await printed(async () => {
    await using server = fakeEtcd({
      kv: {
        Range: () => ({ header: header(5n), kvs: kvs("a"), more: false, count: 1n }),
        Put: () => ({ header: header(5n) }),
      },
    });
    const observers = [
      { callStarted: failing },
      { callStarted: () => 5 },
      { callStarted: () => ({ headers: { "no name": "\n" }, ended() {} }) },
      {
        callStarted: () => ({
          headers: {
            get a(): string {
              throw new Error("a");
            },
          },
          ended() {},
        }),
      },
    ];
    for (const observer of observers) {
      await using client = kv.newClient({
        endpoints: [server.addr],
        observer: observer as never,
        onLeaseLost: null,
      });
      assertEquals((await client.put({ key: "a", value: "" })).header.revision, 5n);
      const encoding = client.typed({ encode: failing, decode: failing } as never);
      const wrong = await rejected(encoding.put("a", 1 as never), TypeError);
      assertStringIncludes(wrong.message, "encode must give a value at once");
      const unread = await rejected(encoding.get("a"), kv.ValueError);
      assertStringIncludes(unread.message, "decode must give a value at once");
      const strange = await rejected(client.update("a", () => Object.create(null)), TypeError);
      assertStringIncludes(strange.message, "value must be a string or a Uint8Array");
      const list = client.transaction((tx) => tx.getAll(5 as never));
      assertStringIncludes((await rejected(list, TypeError)).message, "keys must be a list");
    }
  });
  assert(lines.length > 0, "nobody was told");
});
