/** TLS of a client: whom it trusts, what it shows, and what it says when it does not connect. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type ClientOptions,
  ConnectionLostError,
  DialError,
  listen,
  newClient,
  type ServerOptions,
  TimeoutError,
} from "../../../http/mod.ts";
import { Authority, type Leaf, sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { peerTest } from "../../../support/peers.ts";
import { run } from "../../../support/process.ts";
import { Relay } from "../../../support/relay.ts";

const needs = [OPENSSL];
const VERSIONS = ["http/1.1", "h2"] as const;

/** A server whose answer tells the client's certificate and the server name it asked for. */
async function serve(leaf?: Leaf, options: Partial<ServerOptions> = {}) {
  return listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [leaf ?? await (await sharedAuthority()).leaf()],
    handler: async (stream) => {
      const body = await stream.readBytes();
      stream.respond(200);
      stream.closeWrite(
        `${stream.version} ${stream.peerCertificate?.subject ?? "nobody"} ${body.length}`,
      );
    },
    ...options,
  });
}

/** The error of a request that must fail to connect. */
async function failure(url: string, options: ClientOptions): Promise<DialError> {
  await using client = newClient(options);
  return await assertRejects(() => client.get(url), DialError) as DialError;
}

/** Runs a program that has `newClient`. */
async function program(code: string, ...args: string[]): Promise<{ stdout: string; ms: number }> {
  const { folder } = await sharedAuthority();
  const file = `${folder}/program.ts`;
  const module = new URL("../../../http/mod.ts", import.meta.url).href;
  await Deno.writeTextFile(file, `import { newClient } from ${JSON.stringify(module)};${code}`);
  const since = performance.now();
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const { code: exit, stdout, stderr } = await run({
    command: Deno.execPath(),
    args: ["run", "-A", "--no-check", `--config=${config}`, ...args, file],
  });
  assertEquals(exit, 0, stderr);
  return { stdout, ms: performance.now() - since };
}

peerTest("a certificate that does not verify is refused with the reason", { needs }, async () => {
  const ours = await sharedAuthority();
  await using theirs = await Authority.make("Another authority");
  const me = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  const self = await run({
    command: "openssl",
    args: [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost", "-keyout", `${ours.folder}/self.key`],
    ],
  });
  const selfSigned = {
    ...me,
    cert: self.stdout,
    key: await Deno.readTextFile(`${ours.folder}/self.key`),
  };
  const cases: [string, Leaf, string, RegExp][] = [
    ["unknown authority", await theirs.leaf(), "127.0.0.1", /UnknownIssuer|self-signed|verify/],
    ["self-signed", selfSigned, "localhost", /UnknownIssuer|CaUsed|self-signed/],
    ["another name", await ours.leaf({ names: ["other.test"] }), "localhost", /other\.test/],
    ["another address", await ours.leaf({ names: ["IP:127.0.0.9"] }), "127.0.0.1", /127\.0\.0\.9/],
    ["expired", await ours.leaf({ days: -1 }), "127.0.0.1", /[Ee]xpired/],
    ["for clients", await ours.leaf({ usage: "clientAuth" }), "127.0.0.1", /./],
  ];
  for (const [name, leaf, host, reason] of cases) {
    await using server = await serve(leaf);
    const url = `https://${host}:${server.port}/`;
    // Both ways a handshake is made here, and both versions.
    for (const alpnProtos of VERSIONS.map((version) => [version])) {
      for (const more of [{}, { cert: me.cert, key: me.key }]) {
        const error = await failure(url, { caCerts: [ours.ca], alpnProtos, ...more });
        assertEquals(error.phase, "tls", name);
        assertEquals(error.address, `${host}:${server.port}`, name);
        assert(reason.test(error.message), `${name}: ${error.message}`);
        assert(error.cause instanceof Error, name);
      }
    }
  }
});

peerTest("caCerts and serverName decide whom a client trusts", { needs }, async () => {
  const ours = await sharedAuthority();
  await using theirs = await Authority.make("Another authority");
  await using server = await serve(await ours.leaf({ names: ["name.test"] }));
  const url = `https://${server.addr}/`;
  const me = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  for (const more of [{}, { cert: me.cert, key: me.key }]) {
    for (const caCerts of [[ours.ca], [theirs.ca, ours.ca], [theirs.ca + ours.ca]]) {
      await using client = newClient({ caCerts, serverName: "name.test", ...more });
      assertEquals((await client.get(url)).status, 200);
    }
    const error = await failure(url, { caCerts: [ours.ca], ...more });
    assert(/not (valid for name "127\.0\.0\.1"|in the cert)/.test(error.message), error.message);
  }
});

peerTest("the platform's authorities are trusted beside caCerts", { needs }, async () => {
  const ours = await sharedAuthority();
  await using theirs = await Authority.make("Another authority");
  const me = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  await using server = await serve();
  const { stdout } = await program(
    `
    for (const more of [{}, ${JSON.stringify({ cert: me.cert, key: me.key })}]) {
      const client = newClient({ caCerts: [${JSON.stringify(theirs.ca)}], ...more });
      console.log((await client.get("https://${server.addr}/")).status);
      await client.close();
    }`,
    `--cert=${ours.caFile}`,
  );
  assertEquals(stdout, "200\n200\n");
});

peerTest("cert and key show who the client is, over both versions", { needs }, async () => {
  const ours = await sharedAuthority();
  await using theirs = await Authority.make("Another authority");
  const errors: string[] = [];
  await using server = await serve(undefined, {
    clientCa: ours.ca,
    requireClientCert: true,
    onError: (error) => errors.push((error as Error).message),
  });
  const url = `https://${server.addr}/`;
  const { cert, key } = await ours.leaf({ names: ["alice"], usage: "clientAuth" });
  const mallory = await theirs.leaf({ names: ["mallory"], usage: "clientAuth" });
  for (const version of VERSIONS) {
    const options = { caCerts: [ours.ca], alpnProtos: [version] };
    await using client = newClient({ ...options, cert, key });
    const expected = version === "h2" ? "HTTP/2" : "HTTP/1.1";
    assertEquals((await client.get(url)).body, `${expected} CN=alice 0`);
    // Large bodies, many at once, and connections that are used again.
    const body = new Uint8Array(3 << 20).fill(1);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.post(url, {}, body.subarray(0, 100_000))),
    );
    for (const answer of answers) assertEquals(answer.body, `${expected} CN=alice 100000`);
    assertEquals((await client.post(url, {}, body)).body, `${expected} CN=alice ${body.length}`);
    assertEquals(errors, []);

    // In TLS 1.3 the server judges when the client believes the handshake over (RFC 8446 §4.4.2).
    await using absent = newClient(options);
    const none = await assertRejects(() => absent.get(url), ConnectionLostError);
    assert(/CertificateRequired|closed|reset/i.test(none.message), none.message);
    await using wrong = newClient({ ...options, cert: mallory.cert, key: mallory.key });
    await assertRejects(() => wrong.get(url), ConnectionLostError);
    assertEquals(errors.length, 2);
    assert(/sent no certificates/.test(errors[0]!), errors[0]);
    assert(/certificate was refused/.test(errors[1]!), errors[1]);
    errors.length = 0;
  }
});

peerTest(
  "a chain with an intermediate is shown and verified, on both sides",
  { needs },
  async () => {
    const ours = await sharedAuthority();
    const middle = await ours.intermediate("Intermediate");
    const serverLeaf = await middle.leaf();
    const clientLeaf = await middle.leaf({ names: ["deep"], usage: "clientAuth" });
    const chain = ({ cert, key }: Leaf) => ({ cert: cert + middle.ca, key });
    await using server = await serve({ ...serverLeaf, ...chain(serverLeaf) }, {
      clientCa: ours.ca,
      requireClientCert: true,
    });
    await using client = newClient({ caCerts: [ours.ca], ...chain(clientLeaf) });
    assertEquals((await client.get(`https://${server.addr}/`)).body, "HTTP/2 CN=deep 0");
  },
);

peerTest("a client with a certificate takes no more than is read", { needs }, async () => {
  const ours = await sharedAuthority();
  const size = 64 << 20;
  let sent = 0;
  await using server = await serve(undefined, {
    clientCa: ours.ca,
    handler: async (stream) => {
      stream.respond(200);
      const piece = new Uint8Array(64 << 10);
      for (; sent < size; sent += piece.length) await stream.write(piece);
      stream.closeWrite();
    },
  });
  const { cert, key } = await ours.leaf({ names: ["alice"], usage: "clientAuth" });
  await using client = newClient({ caCerts: [ours.ca], alpnProtos: ["http/1.1"], cert, key });
  const response = await client.send("GET", `https://${server.addr}/`);
  for (let before = -1; sent !== before;) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert(sent > 0 && sent < 24 << 20, `${sent >> 20} MiB were taken though nobody reads`);
  assertEquals((await response.readBytes()).length, size);
});

peerTest("a program ends though it left an idle connection with a certificate", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  await using server = await serve(undefined, { clientCa: ours.ca });
  const options = { caCerts: [ours.ca], cert, key };
  for (const version of VERSIONS) {
    const { stdout, ms } = await program(`
      const client = newClient(${JSON.stringify({ ...options, alpnProtos: [version] })});
      console.log((await client.get("https://${server.addr}/")).body);
    `);
    assertEquals(stdout, `${version === "h2" ? "HTTP/2" : "HTTP/1.1"} CN=me 0\n`);
    assert(ms < 15_000, `it took ${ms} ms`);
  }
});

peerTest("TLS goes over a Unix socket, with and without a client certificate", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  await using server = await serve(undefined, { clientCa: ours.ca });
  const path = `${ours.folder}/relay`;
  await using _relay = Relay.to(Deno.listen({ transport: "unix", path }), server.port);
  const { cert, key } = await ours.leaf({ names: ["unix"], usage: "clientAuth" });
  for (const version of VERSIONS) {
    const options = { caCerts: [ours.ca], unixSocket: path, alpnProtos: [version] };
    const expected = version === "h2" ? "HTTP/2" : "HTTP/1.1";
    await using client = newClient(options);
    const body = new Uint8Array(1 << 20);
    assertEquals(
      (await client.post("https://localhost/", {}, body)).body,
      `${expected} nobody ${body.length}`,
    );
    await using shown = newClient({ ...options, cert, key });
    assertEquals((await shown.get("https://localhost/")).body, `${expected} CN=unix 0`);
    const error = await failure("https://other.test/", options);
    assertEquals([error.phase, error.address], ["tls", `unix:${path}`]);
  }
});

peerTest("a handshake that hangs ends at connectTimeout, or with the signal", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  let closed = 0;
  await using silent = new Relay(
    Deno.listen({ hostname: "127.0.0.1", port: 0 }),
    async (conn) => {
      const buf = new Uint8Array(4096);
      while (await conn.read(buf).catch(() => null) !== null);
      closed++;
    },
  );
  const url = `https://127.0.0.1:${silent.port}/`;
  for (const more of [{}, { cert, key }]) {
    const error = await failure(url, { connectTimeout: 150, ...more });
    assertEquals(error.phase, "tls");
    assert(error.cause instanceof TimeoutError);
    assertEquals(error.cause.phase, "connectTimeout");
    await using client = newClient(more);
    const controller = new AbortController();
    const pending = client.get(url, {}, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await assertRejects(() => pending, Error, "enough");
  }
  // Deno keeps the connection of an unfinished `Deno.startTls` until the peer closes it.
  for (let tries = 0; closed < silent.accepted / 2; tries++) {
    assert(tries < 100, "a connection was left open");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

peerTest("a server that is no TLS server fails the handshake", { needs }, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  await using plain = await serve(undefined, { tls: false });
  await using closing = new Relay(
    Deno.listen({ hostname: "127.0.0.1", port: 0 }),
    () => Promise.resolve(),
  );
  for (const port of [plain.port, closing.port]) {
    for (const more of [{}, { cert, key }]) {
      const error = await failure(`https://127.0.0.1:${port}/`, { connectTimeout: 5000, ...more });
      assertEquals(error.phase, "tls", error.message);
    }
  }
});

peerTest("newClient() says which certificate or key is wrong", { needs }, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf();
  const other = await ours.leaf();
  const wrong: [unknown, RegExp][] = [
    [{ cert }, /cert and key must be given together/],
    [{ key }, /cert and key must be given together/],
    [{ cert, key: other.key }, /^Cannot make client as key is not the private key of its cert/],
    [{ cert: "x", key }, /cert must be a certificate in PEM/],
    [{ caCerts: [key] }, /caCerts\[0\] must be certificates in PEM/],
    [{ caCerts: [ours.ca, "nonsense"] }, /caCerts\[1\] must be certificates in PEM.*"nonsense"/],
    [{ caCerts: ours.ca }, /caCerts must be a list of PEM texts/],
    [{ alpnProtos: [] }, /alpnProtos must be among/],
    [{ alpnProtos: ["h3"] }, /alpnProtos must be among/],
  ];
  for (const [options, message] of wrong) {
    const error = assertThrows(() => newClient(options as ClientOptions), TypeError);
    assert(message.test(error.message), error.message);
    assert(!error.message.includes("PRIVATE KEY-----\nM"), "a key was printed");
  }
});
