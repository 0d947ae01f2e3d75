/** What a client of etcd is told: unknown names are refused, callbacks and losses are heard of. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { kv } from "@sluice/sluice";
import { printed } from "../../support/console.ts";
import { fakeEtcd, header } from "../../support/fake_etcd.ts";
import { rejected } from "../../support/kv.ts";

Deno.test("misspelt options and fields are refused with the nearest name", async () => {
  const wrong: [unknown, string][] = [
    [{ retyr: 1 }, 'did you mean "retry"?'],
    [{ tls: { caCert: [] } }, 'did you mean "caCerts"?'],
    [{ keepalive: { intervall: 1 } }, 'did you mean "interval"?'],
    [{ keepalive: 5 }, "must be an object"],
    [{ onLeaseLost: "x" }, "onLeaseLost must be a function"],
  ];
  for (const [options, hint] of wrong) {
    const { message } = assertThrows(
      () => kv.newClient({ endpoints: ["127.0.0.1:1"], ...options as object }),
      TypeError,
    );
    assertStringIncludes(message, hint);
  }
  await using client = kv.newClient({ endpoints: ["127.0.0.1:1"] });
  const request = { key: "a", limt: 1 } as kv.GetRequest;
  assertStringIncludes((await rejected(client.get(request), TypeError)).message, "mean limit?");
  for (
    const [options, hint] of [
      [{ timout: 5 }, 'did you mean "timeout"?'],
      [{ timeout: "5" }, "timeout must be a number >= 0"],
      [{ signal: 5 }, "signal must be an AbortSignal"],
      [{ idempotent: 1 }, "idempotent must be true or false"],
      [NaN, "timeout must be a number >= 0"],
    ] as [number, string][]
  ) {
    const { message } = await rejected(client.get({ key: "a" }, options), TypeError);
    assertStringIncludes(message, hint);
  }
});

Deno.test("a lost lease is told, printed or silenced; a listener that fails ends nothing", async () => {
  const fail = {
    throws: () => {
      throw new Error("listener is broken");
    },
    rejects: () => Promise.reject(new Error("listener is broken")),
  };
  const cases: [kv.ClientOptions["onLeaseLost"], string | null][] = [
    [undefined, "A lease that was kept alive is lost: LeaseLostError"],
    [null, null],
    [() => {}, null],
    [fail.throws, "listener is broken"],
    [fail.rejects, "listener is broken"],
  ];
  for (const [onLeaseLost, line] of cases) {
    const lines = await printed(async () => {
      await using server = fakeEtcd({
        lease: {
          LeaseGrant: () => ({ header: header(1n), ID: 7n, TTL: 1n }),
          // TTL 0: there is no such lease any more.
          LeaseKeepAlive: async function* (requests: AsyncIterable<{ ID: bigint }>) {
            for await (const { ID } of requests) yield { header: header(1n), ID, TTL: 0n };
          },
        },
      } as never);
      await using client = kv.newClient({ endpoints: [server.addr], onLeaseLost });
      const { ID } = await client.grant({ TTL: 1 });
      const signal = client.leaseSignal(ID);
      const heard = new Promise((resolve) => signal.addEventListener("abort", resolve));
      // What listeners of the signal throw is printed too, and keeps nobody from hearing.
      if (onLeaseLost === null) signal.addEventListener("abort", fail.throws);
      await heard;
      await new Promise((resolve) => setTimeout(resolve, 0));
    });
    assertEquals(lines.length, line === null ? (onLeaseLost === null ? 1 : 0) : 1, lines.join());
    if (line !== null) assertStringIncludes(lines[0]!, line);
  }
});
