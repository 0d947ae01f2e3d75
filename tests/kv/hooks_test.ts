/** What other rooms hang into a client: who asks, and who looks on. */
import { assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { MAX_RENEWALS } from "../../kv/calls.ts";
import { type Client, clientWith } from "../../kv/client.ts";
import type { Credentials } from "../../kv/credentials.ts";
import { creates, drain, fakeEtcd, header, put } from "../../support/fake_etcd.ts";
import { until } from "../../support/kv.ts";

/** Tokens `t1`, `t2`, …: a refused one is never given again. */
class Tokens implements Credentials {
  given = 1;
  readonly refusals: string[] = [];

  token(): string {
    return `t${this.given}`;
  }

  refused(token: string | undefined, reason: string): Promise<boolean> {
    this.refusals.push(`${token} ${reason}`);
    this.given++;
    return Promise.resolve(true);
  }
}

function clientOf(server: grpc.GrpcServer, parts: Parameters<typeof clientWith>[1]): Client {
  return clientWith({ endpoints: [server.addr], retry: 0, timeout: 30 }, parts);
}

/** A handler that takes the token `good` alone, and notes those it saw. */
function guard(seen: (string | null)[], good: string | null, answer: unknown) {
  return (_request: unknown, context: grpc.CallContext) => {
    const token = context.requestHeader.get("token");
    seen.push(token);
    if (token === good) return answer;
    throw new grpc.ConnectError("etcdserver: invalid auth token", grpc.Code.Unauthenticated);
  };
}

Deno.test("a call whose token is refused is sent again with another, writes too", async () => {
  const seen: (string | null)[] = [];
  await using server = fakeEtcd({ kv: { Put: guard(seen, "t3", { header: header(5n) }) } });
  const credentials = new Tokens();
  await using client = clientOf(server, { credentials });
  await client.put({ key: "a", value: "1" });
  assertEquals(seen, ["t1", "t2", "t3"]);
  assertEquals(credentials.refusals, ["t1 INVALID_AUTH_TOKEN", "t2 INVALID_AUTH_TOKEN"]);
});

Deno.test("a call gives up when no token is taken", async () => {
  const seen: (string | null)[] = [];
  await using server = fakeEtcd({ kv: { Put: guard(seen, null, {}) } });
  await using client = clientOf(server, { credentials: new Tokens() });
  const error = await client.put({ key: "a", value: "1" }).then(() => null, (error) => error);
  assertEquals(error?.reason, "INVALID_AUTH_TOKEN");
  assertEquals(seen, Array.from({ length: MAX_RENEWALS + 1 }, (_, i) => `t${i + 1}`));
});

Deno.test("a call waits for its token no longer than it has time", async () => {
  await using server = fakeEtcd({});
  const credentials: Credentials = {
    token: () => new Promise(() => {}),
    refused: () => Promise.resolve(false),
  };
  await using client = clientOf(server, { credentials });
  const late = await client.get({ key: "a" }, 20).then(() => null, (error) => error);
  assertEquals(late?.code, grpc.code.DEADLINE_EXCEEDED);
  const abort = new AbortController();
  const given = client.get({ key: "a" }, { signal: abort.signal }).then(() => null, (e) => e);
  abort.abort();
  assertEquals((await given)?.code, grpc.code.CANCELLED);
});

Deno.test("an observer follows each call, with all its attempts", async () => {
  let failures = 2;
  await using server = fakeEtcd({
    kv: {
      Range: (_request: unknown, context: grpc.CallContext) => {
        headers.push(context.requestHeader.get("traceparent"));
        if (failures-- <= 0) return { header: header(1n) };
        throw new grpc.ConnectError("etcdserver: no leader", grpc.Code.Unavailable);
      },
    },
  });
  const headers: (string | null)[] = [];
  const told: unknown[] = [];
  await using client = clientWith(
    { endpoints: [server.addr], retrySleep: 1 },
    {
      observer: {
        callStarted: (operation) => ({
          headers: { traceparent: "00-1" },
          ended: ({ attempts, error }) => told.push([operation, attempts, error]),
        }),
        event: ({ kind }) => kind.startsWith("endpoint") || told.push(kind),
      },
    },
  );
  await client.get({ key: "a" });
  assertEquals(told, ["leader-lost", "leader-lost", ["get", 3, undefined]]);
  assertEquals(headers, ["00-1", "00-1", "00-1"]);
});

Deno.test("a watch whose token is refused is made again on a stream with another", async () => {
  const tokens: (string | null)[] = [];
  await using server = fakeEtcd({
    async *watch(requests, stream, context) {
      tokens.push(context.requestHeader.get("token"));
      let watchId = 0n;
      for await (const { startRevision } of creates(requests)) {
        // The token runs out when the first watch is in place.
        if (stream === 0 && watchId > 0n) {
          const cancelReason =
            "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token";
          yield { header: header(9n), watchId: -1n, created: true, canceled: true, cancelReason };
          continue;
        }
        yield { header: header(9n), watchId, created: true };
        yield { header: header(9n), watchId, events: [put("a", startRevision)] };
        watchId++;
      }
    },
  });
  const credentials = new Tokens();
  await using client = clientOf(server, { credentials });
  const first = await client.watch({ key: "a", revision: 3 });
  assertEquals((await first.read())?.events[0]?.kv.modRevision, 3n);
  const second = await client.watch({ key: "b", revision: 5 });
  assertEquals((await second.read())?.events[0]?.kv.modRevision, 5n);
  assertEquals((await first.read())?.events[0]?.kv.modRevision, 4n);
  assertEquals([tokens, credentials.refusals], [["t1", "t2"], ["t1 INVALID_AUTH_TOKEN"]]);
});

Deno.test("a watch ends when no token is taken, and without credentials at once", async () => {
  const cancelReason = "rpc error: code = Unauthenticated desc = etcdserver: invalid auth token";
  let streams = 0;
  await using server = fakeEtcd({
    async *watch(requests) {
      streams++;
      for await (const _ of creates(requests)) {
        yield { header: header(9n), watchId: -1n, created: true, canceled: true, cancelReason };
      }
    },
  });
  for (
    const [parts, opened] of [[{}, 1], [{ credentials: new Tokens() }, MAX_RENEWALS + 1]] as const
  ) {
    streams = 0;
    await using client = clientOf(server, parts);
    const error = await client.watch({ key: "a", revision: 3 }).then(() => null, (e) => e);
    assertEquals([error?.reason, streams], ["INVALID_AUTH_TOKEN", opened]);
  }
});

Deno.test("an observer is told when watches are cut off, and when they are back", async () => {
  const told: unknown[] = [];
  await using server = fakeEtcd({
    async *watch(requests, stream) {
      for await (const _ of creates(requests)) {
        yield { header: header(9n), watchId: 0n, created: true };
        if (stream === 0) return;
        await drain(requests);
      }
    },
  });
  await using client = clientOf(server, {
    observer: {
      callStarted: () => undefined,
      event: ({ kind, ...rest }) => "watches" in rest && told.push([kind, rest.watches]),
    },
  });
  await client.watch({ key: "a", revision: 3 });
  await until("it is back", () => told.length === 2);
  assertEquals(told, [["watch-disconnected", 1], ["watch-reconnected", 1]]);
});
