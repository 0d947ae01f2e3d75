/** What a store is told: names that are none are refused, and every value that cannot be meant. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { closestName } from "../../../http/engine.ts";
import { KvError, newClient } from "../../../kv/mod.ts";
import { parseArguments, UsageError } from "../../../kv/server/cli/arguments.ts";
import { listen, type StoreOptions } from "../../../kv/server/mod.ts";
import { NAMES } from "../../../kv/server/options.ts";
import { http } from "@sluice/sluice";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";
import { peerTest } from "../../../support/peers.ts";

Deno.test("unknown options are refused by name, with the nearest one", () => {
  for (const name of NAMES) {
    const wrong = `${name}x`;
    assertEquals(closestName(wrong, NAMES), name);
    const { message } = assertThrows(() => listen({ [wrong]: 1 } as StoreOptions), TypeError);
    assertStringIncludes(message, `did you mean "${name}"?`);
  }
  assertThrows(() => listen({ limits: { maxTxnOp: 1 } as object }), TypeError, '"maxTxnOps"');
  assertThrows(() => listen(5 as StoreOptions), TypeError, "must be an object");
});

Deno.test("values that cannot be meant are refused, and nothing is left open", () => {
  const wrong: [StoreOptions | object, string][] = [
    [{ addr: 5 }, "addr"],
    [{ addr: "nowhere" }, "host:port"],
    [{ name: 5 }, "name must be a string"],
    [{ path: 5 }, "path must be a string"],
    [{ snapshot: "x" }, "snapshot must be a Uint8Array"],
    [{ cors: "x" }, "cors must be a list"],
    [{ cors: [5] }, "cors must be a list"],
    [{ onFailed: 5 }, "onFailed must be a function"],
    [{ history: 5 }, "history"],
    [{ history: {} }, "{ revisions } or { time }"],
    [{ history: { revisions: 1, time: 500 } }, "{ revisions } or { time }"],
    [{ history: { revisions: 0 } }, "history.revisions"],
    [{ history: { time: 5 } }, "history.time"],
    [{ limits: 5 }, "must be an object"],
    [{ limits: { maxRequestBytes: 0 } }, "limits.maxRequestBytes"],
    [{ limits: { maxRequestBytes: 2 ** 31 } }, "limits.maxRequestBytes"],
    [{ limits: { maxTxnOps: 1.5 } }, "limits.maxTxnOps"],
    [{ limits: { maxWatches: -1 } }, "limits.maxWatches"],
    [{ limits: { maxStreams: 0 } }, "limits.maxStreams"],
    [{ limits: { maxConnections: "1" } }, "limits.maxConnections"],
    [{ limits: { maxTokens: NaN } }, "limits.maxTokens"],
    [{ limits: { minLeaseTtl: 0 } }, "limits.minLeaseTtl"],
    [{ limits: { quotaBytes: "2G" } }, "limits.quotaBytes"],
    [{ limits: { tokenTtl: 0 } }, "limits.tokenTtl"],
    [{ limits: { progressInterval: "10m" } }, "limits.progressInterval"],
    [{ requireClientCert: true }, "set tls to true"],
    [{ tls: true }, "certs"],
    [{ addr: "memory:", tls: true, certs: [{ cert: "x", key: "y" }] }, ""],
  ];
  for (const [options, why] of wrong) {
    const { message } = assertThrows(() => listen(options as StoreOptions), TypeError);
    assertStringIncludes(message, why);
  }
});

Deno.test("limits that are set hold", async () => {
  await using store = listen({
    addr: "memory:",
    limits: { maxTxnOps: 1, maxRequestBytes: 100, maxTokens: 1, maxConnections: 1 },
  });
  await using client = newClient({ endpoints: store, retry: 0 });
  const put = (key: string) => ({ put: { key, value: "" } });
  const two = client.txn({ success: [put("a"), put("b")] });
  assertEquals((await assertRejects(() => two, KvError)).reason, "TOO_MANY_OPS");
  const long = client.put({ key: "a", value: "x".repeat(200) });
  assertEquals((await assertRejects(() => long, KvError)).reason, "REQUEST_TOO_LARGE");
  await client.auth.userAdd({ name: "root", password: "secret" });
  await client.auth.roleAdd({ role: "root" });
  await client.auth.userGrantRole({ name: "root", role: "root" });
  await client.auth.enable();
  await using second = newClient({ endpoints: store, retry: 0 });
  await assertRejects(() => second.get({ key: "a" }), KvError);
});

peerTest(
  "a store with TLS asks for certificates and is as others",
  { needs: [OPENSSL] },
  async () => {
    await using files = await makeCertificate();
    const { ca, cert, key } = files;
    await using store = listen({
      tls: true,
      certs: [{ cert, key }],
      clientCa: ca,
      requireClientCert: true,
    });
    const port = store.addr.split(":")[1];
    const endpoints = `https://localhost:${port}`;
    await using client = newClient({ endpoints, tls: { caCerts: [ca], cert, key } });
    await client.put({ key: "a", value: "1" });
    assertEquals((await client.cluster.memberList()).members[0]?.clientURLs, [
      `https://${store.addr}`,
    ]);
    await using web = http.newClient({ caCerts: [ca], cert, key });
    const response = await web.fetch(`${endpoints}/v3/kv/range`, {
      method: "POST",
      body: '{"key":"YQ=="}',
    });
    assertStringIncludes(await response.text(), '"value":"MQ=="');
    await using stranger = newClient({ endpoints, retry: 0, tls: { caCerts: [ca] } });
    await assertRejects(() => stranger.get({ key: "a" }, 5), KvError);
  },
);

Deno.test("the command takes TLS, origins and limits in etcd's words", () => {
  const parsed = parseArguments([
    "--listen-client-urls=https://127.0.0.1:0",
    "--cert-file=c.pem",
    "--key-file=k.pem",
    "--trusted-ca-file=ca.pem",
    "--client-cert-auth",
    "--cors=https://a.example,https://b.example",
    "--max-concurrent-streams=7",
    "--watch-progress-notify-interval=1m30s",
    "--auto-compaction-retention=2",
  ]);
  assertEquals(parsed.addr, "127.0.0.1:0");
  assertEquals(parsed.tls, {
    cert: "c.pem",
    key: "k.pem",
    clientCa: "ca.pem",
    requireClientCert: true,
  });
  assertEquals(parsed.cors, ["https://a.example", "https://b.example"]);
  assertEquals(parsed.limits, { maxStreams: 7, progressInterval: 90_000 });
  assertEquals(parsed.history, { time: 7_200_000 });
  for (
    const args of [
      ["--cert-file=c.pem"],
      ["--client-cert-auth"],
      ["--trusted-ca-file=ca.pem"],
      ["--listen-client-urls=https://127.0.0.1:0"],
      ["--listen-client-urls=http://127.0.0.1:0", "--cert-file=c.pem", "--key-file=k.pem"],
      ["--cert-file=c.pem", "--key-file=k.pem", "--client-cert-auth"],
      ["--watch-progress-notify-interval=soon"],
      ["--max-txn-ops=many"],
      ["--nonsense"],
    ]
  ) assertThrows(() => parseArguments(args), UsageError);
  assert(parseArguments([]).tls === undefined);
});
