/** What a client says when no answer comes: where, what, and what to change. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { kv } from "@sluice/sluice";
import { BlackHole } from "../../support/black_hole.ts";
import { makeCertificate, OPENSSL } from "../../support/certificate.ts";
import { Etcd, findEtcd } from "../../support/etcd.ts";
import { peerTest } from "../../support/peers.ts";
import { rejected } from "../../support/kv.ts";

const ETCD = [
  "etcd",
  await findEtcd(),
  "install etcd-server, or set ETCD to the program",
] as const;

/** The error of a put, and of a watch; and how long they took together. */
async function errorOf(options: kv.ClientOptions): Promise<{ error: kv.KvError; took: number }> {
  await using client = kv.newClient({ retrySleep: 500, retry: 20, ...options });
  const start = performance.now();
  const error = await rejected(client.put({ key: "a", value: "" }), kv.KvError);
  const watching = await rejected(client.watch({ key: "a", revision: 1 }), kv.KvError);
  assertEquals(watching.reason, error.reason, `${watching.message} | ${error.message}`);
  return { error, took: performance.now() - start };
}

/** Milliseconds in which a failure must be told that would only come again. */
const AT_ONCE_MS = 2_500;

peerTest("errors of connections", { needs: [ETCD, OPENSSL] }, async (t) => {
  await using files = await makeCertificate();
  const { ca, cert, key } = files;
  await using secure = await Etcd.start({
    scheme: "https",
    flags: [
      `--cert-file=${files.certFile}`,
      `--key-file=${files.keyFile}`,
      "--client-cert-auth",
      `--trusted-ca-file=${files.caFile}`,
    ],
  });
  await using plain = await Etcd.start();
  const lasting: [string, kv.ClientOptions, kv.ErrorReason, string][] = [
    [
      "a server that wants a certificate",
      { endpoints: [`https://${secure.endpoint}`], tls: { caCerts: [ca] } },
      "CERTIFICATE_REFUSED",
      "tls: { cert, key }",
    ],
    [
      "an authority nobody knows",
      { endpoints: [`https://${secure.endpoint}`] },
      "CERTIFICATE_INVALID",
      "tls: { caCerts }",
    ],
    [
      "a certificate of somebody else",
      {
        endpoints: [`https://${secure.endpoint}`],
        tls: { caCerts: [ca], cert, key, serverName: "other.example" },
      },
      "CERTIFICATE_INVALID",
      "tls: { serverName }",
    ],
    [
      "a name that does not exist",
      { endpoints: ["sluice.invalid:2379"] },
      "HOST_NOT_FOUND",
      "name",
    ],
  ];
  for (const [name, options, reason, advice] of lasting) {
    await t.step(`${name}: told at once, with what to change`, async () => {
      const { error, took } = await errorOf(options);
      assertEquals(error.reason, reason, error.message);
      assertStringIncludes(error.message, advice);
      assertStringIncludes(
        error.message,
        (options.endpoints as string[])[0]!.replace("https://", ""),
      );
      assert(took < AT_ONCE_MS, `it took ${took} ms`);
    });
  }

  await t.step(
    "plain to a port with TLS, and TLS to one without: both name the other",
    async () => {
      const few = { retry: 1, retrySleep: 10 };
      const one = await errorOf({ ...few, endpoints: [secure.endpoint] });
      assertStringIncludes(one.error.message, secure.endpoint);
      assertStringIncludes(one.error.message, "tls: true");
      const two = await errorOf({ ...few, endpoints: [`https://${plain.endpoint}`] });
      assertStringIncludes(two.error.message, plain.endpoint);
      assertStringIncludes(two.error.message, "http://");
      assertEquals(two.error.reason, "TLS_FAILED");
    },
  );

  await t.step("with several endpoints another may do better: it is tried again", async () => {
    await using client = kv.newClient({
      endpoints: ["sluice.invalid:2379", plain.endpoint],
      retrySleep: 10,
    });
    await client.put({ key: "a", value: "1" });
  });

  await t.step(
    "a response that is too large names maxReceiveSize and what else helps",
    async () => {
      await using client = kv.newClient({ endpoints: [plain.endpoint], maxReceiveSize: 3 << 20 });
      for (let i = 0; i < 4; i++) {
        await client.put({ key: `big${i}`, value: new Uint8Array(1_000_000) });
      }
      const error = await rejected(client.get({ key: "big", prefix: true }), kv.KvError);
      assertEquals(error.reason, "RESPONSE_TOO_LARGE");
      assertStringIncludes(error.message, "maxReceiveSize");
      assertEquals((await Array.fromAsync(client.scan({ prefix: "big", pageSize: 2 }))).length, 4);
    },
  );
});

Deno.test("a server that says nothing: connectTimeout is named", async () => {
  await using hole = await BlackHole.open();
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  for (const endpoint of [hole.endpoint, `127.0.0.1:${silent.addr.port}`]) {
    const { error } = await errorOf({ endpoints: [endpoint], connectTimeout: 100, retry: 0 });
    assertEquals(error.reason, "CONNECT_TIMEOUT", error.message);
    assertStringIncludes(error.message, endpoint);
    assertStringIncludes(error.message, "connectTimeout, 100 ms");
    await using client = kv.newClient({ endpoints: [endpoint] });
    const late = await rejected(client.get({ key: "a" }, 50), kv.KvError);
    assertStringIncludes(late.message, endpoint);
  }
});

Deno.test("integers below zero are refused where none can be meant", async () => {
  await using client = kv.newClient({ endpoints: ["127.0.0.1:1"], retry: 0 });
  const calls = {
    limit: () => client.get({ key: "a", limit: -1 }),
    revision: () => client.get({ key: "a", revision: -1n }),
    minModRevision: () => client.get({ key: "a", minModRevision: -1 }),
    "compact as revision": () => client.compact({ revision: -1 }),
    "watch as revision": () => client.watch({ key: "a", revision: -1 }),
    TTL: () => client.grant({ TTL: -1 }),
    onNotice: () => client.watch({ key: "a", onNotice: 5 as unknown as () => void }),
  };
  for (const [what, call] of Object.entries(calls)) {
    const error = await rejected(call(), TypeError);
    assertStringIncludes(error.message, what);
  }
});
