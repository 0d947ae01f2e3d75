/** What other rooms hang into a client: who asks, and who looks on. */
import { assertEquals } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { type Client, clientWith } from "../../kv/client.ts";
import type { Credentials } from "../../kv/credentials.ts";
import { fakeEtcd, header } from "../../support/fake_etcd.ts";

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
  return clientWith({ endpoints: [server.addr], retry: 0, timeout: 5 }, parts);
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
  assertEquals(seen, ["t1", "t2", "t3", "t4"]);
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
        event: (event) => told.push(event.kind),
      },
    },
  );
  await client.get({ key: "a" });
  assertEquals(told, ["leader-lost", "leader-lost", ["get", 3, undefined]]);
  assertEquals(headers, ["00-1", "00-1", "00-1"]);
});
