import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { effectOf, judgeRepeatable, judgeWrite, pauseBetween, Rounds } from "../../kv/retry.ts";
import { KvError, newClient } from "../../kv/mod.ts";
import { fakeEtcd, header } from "../../support/fake_etcd.ts";
import { freePorts } from "../../support/ports.ts";
import { ConnectionLostError, DialError, StreamResetError } from "../../http/mod.ts";

const error = (message: string, code: Code, cause?: unknown) =>
  new ConnectError(message, code, undefined, undefined, cause);
const etcd = (text: string, code: Code) => error(`etcdserver: ${text}`, code);

/** What failed, what it says of a write, and what becomes of a write and of a read. */
const CASES: [string, unknown, string, string, string][] = [
  // The transport
  [
    "no connection came about",
    error("x", Code.Unavailable, new DialError("a:1", "connect", "refused")),
    "unprocessed",
    "retry",
    "retry",
  ],
  [
    "the connection was lost before the request was sent",
    error("x", Code.Unavailable, new ConnectionLostError("x", "no")),
    "unprocessed",
    "retry",
    "retry",
  ],
  [
    "the connection was lost with the request under way",
    error("x", Code.Unavailable, new ConnectionLostError("x", "maybe")),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  [
    "the stream was refused",
    error("x", Code.Unavailable, new StreamResetError(7, "peer")),
    "unprocessed",
    "retry",
    "retry",
  ],
  [
    "the stream was reset for another reason",
    error("x", Code.Internal, new StreamResetError(2, "peer")),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  [
    "this side reset the stream",
    error("x", Code.Unavailable, new StreamResetError(7, "local")),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  // What etcd says
  [
    "there was no leader",
    etcd("no leader", Code.Unavailable),
    "unprocessed",
    "retry",
    "retry",
  ],
  [
    "there was too much to do",
    etcd("too many requests", Code.ResourceExhausted),
    "unprocessed",
    "retry",
    "retry",
  ],
  [
    "the leader changed",
    etcd("leader changed", Code.Unavailable),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  [
    "etcd ran out of time",
    etcd("request timed out", Code.Unavailable),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  [
    "etcd ran out of time, possibly due to connection lost",
    etcd("request timed out, possibly due to connection lost", Code.Unavailable),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  [
    "etcd was stopped",
    etcd("server stopped", Code.Unavailable),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  [
    "etcd ran out of space, maybe while it applied the put",
    etcd("mvcc: database space exceeded", Code.ResourceExhausted),
    "unknown",
    "unknown-outcome",
    "fail",
  ],
  [
    "the lease is not there",
    etcd("requested lease not found", Code.NotFound),
    "rejected",
    "fail",
    "fail",
  ],
  [
    "the key is missing",
    etcd("key is not provided", Code.InvalidArgument),
    "rejected",
    "fail",
    "fail",
  ],
  [
    "the request was too large for etcd's gRPC",
    error("grpc: received message larger than max (3 vs. 2)", Code.ResourceExhausted),
    "rejected",
    "fail",
    "fail",
  ],
  [
    "the response was too large for this client",
    error("received message larger than max (3 vs. 2)", Code.ResourceExhausted),
    "unknown",
    "unknown-outcome",
    "fail",
  ],
  [
    "the method does not exist",
    error("unknown method Put for service etcdserverpb.KV", Code.Unimplemented),
    "rejected",
    "fail",
    "fail",
  ],
  [
    "the server sent no message",
    error("the server sent no response message", Code.Unimplemented),
    "unknown",
    "unknown-outcome",
    "fail",
  ],
  [
    "UNAVAILABLE, and nobody knows why",
    error("x", Code.Unavailable),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  // The caller
  [
    "the deadline passed",
    error("x", Code.DeadlineExceeded),
    "unknown",
    "unknown-outcome",
    "fail",
  ],
  [
    "the deadline passed before the request was sent",
    error("x", Code.DeadlineExceeded, new ConnectionLostError("x", "no")),
    "unprocessed",
    "fail",
    "fail",
  ],
  [
    "the caller gave up before the request was sent",
    error("x", Code.Canceled, new ConnectionLostError("x", "no")),
    "unprocessed",
    "fail",
    "fail",
  ],
  [
    "the server cut the stream",
    error("x", Code.Canceled, new StreamResetError(8, "peer")),
    "unknown",
    "unknown-outcome",
    "retry",
  ],
  [
    "the caller gave up",
    error("x", Code.Canceled, new DOMException("x", "AbortError")),
    "unknown",
    "unknown-outcome",
    "fail",
  ],
];

for (const [name, reason, effect, write, read] of CASES) {
  Deno.test(`a write is ${write} and a read ${read} when ${name}`, () => {
    assertEquals(effectOf(reason), effect);
    assertEquals(judgeWrite(reason), write);
    assertEquals(judgeRepeatable(reason), read);
  });
}

Deno.test("a round is over when every endpoint had its try, or none can be reached", () => {
  const lost = error("lost", Code.Unavailable, new ConnectionLostError("x", "no"));
  const none = error("none", Code.Unavailable, new DialError("a:1", "connect", "refused"));
  const over = (endpoints: number, errors: unknown[]) => {
    const rounds = new Rounds(endpoints);
    return [errors.map((error) => rounds.failed(error)), rounds.done];
  };
  assertEquals(over(1, [lost, none, lost]), [[true, true, true], 3]);
  assertEquals(over(3, [lost, lost, lost, lost]), [[false, false, true, false], 1]);
  assertEquals(over(3, [none, none]), [[true, true], 2]);
  assertEquals(over(3, [lost, none, lost]), [[false, true, false], 1]);
});

Deno.test("pauseBetween() differs by a tenth, so that clients do not come back all at once", () => {
  const pauses = Array.from({ length: 1000 }, () => pauseBetween(100));
  assert(pauses.every((pause) => pause >= 90 && pause <= 110));
  assert(new Set(pauses).size > 900);
});

Deno.test("a learner among the endpoints is left for a voter", async () => {
  let asked = 0;
  await using learner = fakeEtcd({
    kv: {
      Range: () => {
        asked++;
        throw etcd("rpc not supported for learner", Code.FailedPrecondition);
      },
    },
  });
  await using voter = fakeEtcd({ kv: { Range: () => ({ header: header(9n) }) } });
  await using client = newClient({ endpoints: [learner.addr, voter.addr] });
  for (let i = 0; i < 6; i++) {
    assertEquals((await client.get({ key: "a" })).header.revision, 9n);
  }
  assert(asked > 0);
});

Deno.test("the retry budget is the same for any number of endpoints", async () => {
  for (const count of [1, 3]) {
    const endpoints = freePorts(count).map((port) => `127.0.0.1:${port}`);
    await using client = newClient({ endpoints, retry: 3, retrySleep: 50 });
    const begun = performance.now();
    await assertRejects(() => client.get({ key: "a" }), KvError);
    const took = performance.now() - begun;
    assert(took >= 3 * 45, `${count} endpoints: given up after ${took} ms`);
  }
});
