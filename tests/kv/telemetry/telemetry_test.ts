/** What a client tells of itself: counts, events, spans and metrics. */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { grpc, kv } from "@sluice/sluice";
import { printed } from "../../../support/console.ts";
import { fakeEtcd, header } from "../../../support/fake_etcd.ts";
import { etcdTest, readEvents, rejected, until } from "../../../support/kv.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { run } from "../../../support/process.ts";

etcdTest("a client counts its calls and what happens to it", async (step, etcd) => {
  await step("calls, by method, with their failures", async ({ client, key }) => {
    for (let i = 0; i < 3; i++) await client.put({ key, value: "" });
    await rejected(client.get({ key, revision: 1_000_000 }), kv.KvError);
    await rejected(client.auth.userGet({ name: "nobody" }), kv.KvError);
    const { calls, leases, watches } = client.stats();
    assertEquals(calls.put, { calls: 3, running: 0, failed: 0, attempts: 3 });
    assertEquals(calls.get, { calls: 1, running: 0, failed: 1, attempts: 1 });
    assertEquals(calls["auth.userGet"]?.failed, 1);
    assertEquals([leases, watches], [0, 0]);
    JSON.stringify(client.stats());
  });

  await step("watches and leases it holds, endpoints and their connections", async () => {
    await using proxy = new FaultProxy({ target: etcd.endpoint });
    const events: kv.KvEvent[] = [];
    await using client = kv.newClient({
      endpoints: [proxy.endpoint],
      retrySleep: 20,
      observer: { event: (event) => events.push(event) },
    });
    const watch = await client.watch({ key: "w" });
    const { ID } = await client.grant({ TTL: 60 });
    assertEquals(client.stats().watches, 1);
    assertEquals(client.stats().leases, 1);
    assertEquals(client.stats().endpoints, { [proxy.endpoint]: true });
    proxy.mode = "refuse";
    proxy.drop();
    await until("the endpoint is down", () => client.stats().endpoints[proxy.endpoint] === false);
    proxy.mode = "pass";
    await until("it is up again", () => client.stats().endpoints[proxy.endpoint] === true);
    await client.put({ key: "w", value: "1" });
    await readEvents(watch, 1);
    const kinds = events.map(({ kind }) => kind);
    for (
      const kind of ["endpoint-up", "endpoint-down", "watch-disconnected", "watch-reconnected"]
    ) {
      assert((kinds as string[]).includes(kind), `${kind} is not among ${kinds}`);
    }
    const back = events.find((event) => event.kind === "watch-reconnected");
    assert(back?.kind === "watch-reconnected" && back.after > 0 && back.watches === 1);
    assertEquals(client.stats().events["watch-reconnected"], 1);
    watch.close();
    await client.revoke({ ID });
    assertEquals([client.stats().watches, client.stats().leases], [0, 0]);
  });
});

Deno.test("attempts are counted, a member without a leader is told", async () => {
  let calls = 0;
  await using server = fakeEtcd({
    kv: {
      Put: () => {
        if (++calls < 3) {
          throw new grpc.ConnectError("etcdserver: no leader", grpc.Code.Unavailable);
        }
        return { header: header(2n) };
      },
    },
  });
  const events: kv.KvEvent[] = [];
  const outcomes: kv.CallOutcome[] = [];
  await using client = kv.newClient({
    endpoints: [server.addr],
    retrySleep: 1,
    observer: {
      callStarted: (operation) => ({
        ended: (outcome) => (assertEquals(operation, "put"), outcomes.push(outcome)),
      }),
      event: (event) => events.push(event),
    },
  });
  await client.put({ key: "a", value: "" });
  assertEquals(outcomes, [{ attempts: 3, error: undefined }]);
  assertEquals(client.stats().calls.put?.attempts, 3);
  const lost = events.filter(({ kind }) => kind === "leader-lost");
  assertEquals(lost.length, 2);
});

Deno.test("an observer that throws is printed, and harms no call", async () => {
  const fail = () => {
    throw new Error("observer is broken");
  };
  await using server = fakeEtcd({ kv: { Put: () => ({ header: header(2n) }) } });
  for (const observer of [{ callStarted: fail }, { callStarted: () => ({ ended: fail }) }]) {
    const lines = await printed(async () => {
      await using client = kv.newClient({ endpoints: [server.addr], observer });
      await client.put({ key: "a", value: "" });
    });
    assertEquals(lines.length, 1, lines.join());
    assertStringIncludes(lines[0]!, "observer is broken");
  }
  const options = { endpoints: ["127.0.0.1:1"] };
  assertThrows(() => kv.newClient({ ...options, observer: 5 as never }), TypeError, "an object");
  assertThrows(
    () => kv.newClient({ ...options, observer: { event: 5 as never } }),
    TypeError,
    "observer.event must be a function",
  );
});

Deno.test("OTEL_DENO=true shows spans and metrics, and the server is told of the trace", async () => {
  const seen: (string | null)[] = [];
  await using server = fakeEtcd({
    kv: {
      Put: (_, context) => {
        seen.push(context.requestHeader.get("traceparent"));
        return { header: header(2n) };
      },
    },
  });
  const root = new URL("../../../", import.meta.url);
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(
    `${folder}/main.ts`,
    `import { attempt, newClient, openTelemetry } from ${JSON.stringify(`${root}kv/mod.ts`)};
    const options = { endpoints: [${JSON.stringify(server.addr)}], retry: 0 };
    {
      await using client = newClient({ ...options, observer: await openTelemetry() });
      await client.put({ key: "a secret", value: "" });
      await attempt(client.delete({ key: "a secret" }));
    }
    {
      await using client = newClient({ ...options, telemetry: false });
      await client.put({ key: "not traced", value: "" });
    }
    `,
  );
  const { code, stdout, stderr } = await run({
    command: Deno.execPath(),
    args: ["run", "-A", `--config=${root.pathname}deno.json`, `${folder}/main.ts`],
    env: { OTEL_DENO: "true", OTEL_EXPORTER_OTLP_PROTOCOL: "console", NO_COLOR: "1" },
  }, 60_000);
  await Deno.remove(folder, { recursive: true });
  assertEquals(code, 0, stderr);
  const text = stdout + stderr;
  assertMatch(text, /SPAN\S* put/);
  assertMatch(text, /SPAN\S* delete/);
  assertStringIncludes(text, "db.system.name: etcd");
  assertStringIncludes(text, "db.operation.name: put");
  assertStringIncludes(text, "db.response.status_code: UNIMPLEMENTED");
  assertStringIncludes(text, "db.client.operation.duration");
  assertStringIncludes(text, "0.001, 0.005");
  assertStringIncludes(text, "etcd.client.event=endpoint-up");
  assert(!text.includes("secret"), "keys are told");
  assertMatch(seen[0]!, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  assertEquals(seen[1], null);
});
