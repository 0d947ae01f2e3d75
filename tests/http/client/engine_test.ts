/** A client on the platform's own calls: what it can, and what it refuses by name. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import {
  type ClientOptions,
  DialError,
  listen,
  newClient,
  type ServerOptions,
  TimeoutError,
} from "../../../http/mod.ts";
import { Authority, sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { ForwardProxy } from "../../../support/forward_proxy.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { peerTest } from "../../../support/peers.ts";
import { run } from "../../../support/process.ts";
import { Relay } from "../../../support/relay.ts";

const needs = [OPENSSL];
const engine = "deno";

/** A server that tells who the client is. */
async function serve(options: Partial<ServerOptions> = {}) {
  const ours = await sharedAuthority();
  return listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [await ours.leaf()],
    clientCa: ours.ca,
    handler: async (stream) => {
      const body = await stream.readBytes();
      return new Response(
        `${stream.version} ${stream.peerCertificate?.subject ?? "nobody"} ${body.length}`,
      );
    },
    ...options,
  });
}

peerTest("a client on the platform's calls shows its certificate, over both versions", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  await using theirs = await Authority.make("Another authority");
  await using server = await serve({ requireClientCert: true, onError: () => {} });
  const { cert, key } = await ours.leaf({ names: ["alice"], usage: "clientAuth" });
  for (const host of ["localhost", "127.0.0.1"]) {
    const url = `https://${host}:${server.port}/`;
    for (const [protocol, version] of [["h2", "HTTP/2"], ["http/1.1", "HTTP/1.1"]] as const) {
      const options = { engine, alpnProtos: [protocol], caCerts: [ours.ca] } as const;
      await using client = newClient({ ...options, cert, key });
      const body = new Uint8Array(300_000);
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => client.post(url, null, body)),
      );
      for (const answer of answers) assertEquals(answer.body, `${version} CN=alice 300000`);
      await using absent = newClient(options);
      await assertRejects(() => absent.get(url));
      await using untrusting = newClient({ ...options, caCerts: [theirs.ca], cert, key });
      const error = await assertRejects(() => untrusting.get(url), DialError);
      assertEquals(error.phase, "tls");
    }
  }
});

peerTest("errors of the platform's calls have the phase they belong to", { needs }, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  await using h1Only = await serve({ alpnProtos: ["http/1.1"], onError: () => {} });
  await using silent = new Relay(
    Deno.listen({ hostname: "127.0.0.1", port: 0 }),
    async (conn) => {
      const buf = new Uint8Array(4096);
      while (await conn.read(buf).catch(() => null) !== null);
    },
  );
  for (const shown of [{}, { cert, key }]) {
    const failure = async (host: string, options: ClientOptions = {}) => {
      await using client = newClient({ engine, caCerts: [ours.ca], ...shown, ...options });
      return await assertRejects(() => client.get(`https://${host}/`), DialError) as DialError;
    };
    assertEquals((await failure("127.0.0.1:1")).phase, "connect");
    assertEquals((await failure("nowhere.invalid")).phase, "dns");
    assertEquals((await failure(h1Only.addr, { alpnProtos: ["h2"] })).phase, "alpn");
    const hung = await failure(`127.0.0.1:${silent.port}`, { connectTimeout: 100 });
    assertEquals(hung.phase, "tls");
    assert(hung.cause instanceof TimeoutError);
    await using client = newClient({ engine, caCerts: [ours.ca], ...shown });
    const controller = new AbortController();
    const pending = assertRejects(
      () => client.get(`https://127.0.0.1:${silent.port}/`, null, { signal: controller.signal }),
      Error,
      "enough",
    );
    controller.abort(new Error("enough"));
    await pending;
  }
});

peerTest("a client on the platform's calls refuses by name what these cannot do", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["me"], usage: "clientAuth" });
  const http: [ClientOptions, string][] = [
    [{ cert, key, serverName: "a.test" }, "serverName"],
    [{ cert, key, lookup: () => ["127.0.0.1"] }, "looks hosts up itself"],
    [{ cert, key, proxy: { https: "http://127.0.0.1:1" } }, "proxy"],
    [{ proxy: { https: "https://127.0.0.1:1" } }, "proxy.https"],
  ];
  for (const [options, name] of http) {
    const error = assertThrows(() => newClient({ engine, ...options }), TypeError, name);
    assert(error.message.includes('engine "deno"'), error.message);
    await newClient(options).close();
  }
  assertThrows(() => newClient({ engine: "node" as never }), TypeError, "engine");
  const calls: [grpc.ClientOptions, string][] = [
    [{ targets: ["a:1"], tls: { cert, key, serverName: "a.test" } }, "serverName"],
    [{ targets: ["dns://a:1"], tls: { cert, key } }, "looks hosts up itself"],
    [{ targets: ["unix:/tmp/a"], tls: true }, "Unix sockets"],
  ];
  for (const [options, name] of calls) {
    assertThrows(() => grpc.newClient({ ...options, engine }), TypeError, name);
    await grpc.newClient(options).close();
  }
  const path = `${ours.folder}/socket`;
  await using server = await serve();
  await using _relay = Relay.to(Deno.listen({ transport: "unix", path }), server.port);
  await using overUnix = newClient({ engine, caCerts: [ours.ca], unixSocket: path });
  await assertRejects(() => overUnix.get("https://localhost/"), DialError, "anything but TCP");
});

peerTest("proxies and Unix sockets work where the platform's calls allow them", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  await using secure = await serve();
  await using plain = await serve({ tls: false, certs: [], clientCa: undefined } as never);
  await using proxy = new ForwardProxy();
  await using client = newClient({
    engine,
    caCerts: [ours.ca],
    proxy: { http: proxy.url(), https: proxy.url() },
  });
  assertEquals((await client.get(`https://localhost:${secure.port}/`)).body, "HTTP/2 nobody 0");
  assertEquals((await client.get(`http://localhost:${plain.port}/`)).body, "HTTP/1.1 nobody 0");
  const path = `${ours.folder}/plain`;
  await using _relay = Relay.to(Deno.listen({ transport: "unix", path }), plain.port);
  await using overUnix = newClient({ engine, unixSocket: path });
  assertEquals((await overUnix.get("http://localhost/")).body, "HTTP/1.1 nobody 0");
});

peerTest("gRPC runs on the platform's calls, plain, over TLS and with a certificate", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  const { cert, key } = await ours.leaf({ names: ["alice"], usage: "clientAuth" });
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: ({ name }: Request) => ({ message: `Hello ${name}` }) });
  const listening = { addr: "127.0.0.1:0", registrar, onError: () => {} };
  await using plain = grpc.listen(listening);
  const tls = { tls: true, certs: [await ours.leaf()], clientCa: ours.ca };
  await using secure = grpc.listen({ ...listening, ...tls });
  await using strict = grpc.listen({ ...listening, ...tls, requireClientCert: true });
  const caCerts = [ours.ca];
  const ways: [grpc.ClientOptions, boolean][] = [
    [{ targets: [plain.addr] }, true],
    [{ targets: [secure.addr], tls: { caCerts } }, true],
    [{ targets: [secure.addr], tls: { caCerts, serverName: "localhost" } }, true],
    [{ targets: [`localhost:${strict.port}`], tls: { caCerts, cert, key } }, true],
    [{ targets: [strict.addr], tls: { caCerts, cert, key } }, true],
    [{ targets: [strict.addr], tls: { caCerts } }, false],
    [{ targets: [secure.addr], tls: true }, false],
  ];
  for (const [options, works] of ways) {
    await using conn = grpc.newClient({ ...options, engine });
    const answer = grpc.newService(conn, GREETER).SayHello!({ name: "x" }, 10_000);
    if (works) assertEquals((await answer).message, "Hello x");
    else await assertRejects(() => answer, ConnectError);
  }
});

Deno.test("the platform's TLS is made without a node: module", async () => {
  const root = new URL("../../../", import.meta.url).pathname;
  const { code, stdout, stderr } = await run({
    command: Deno.execPath(),
    args: ["info", "--json", "http/net/platform_tls.ts"],
    cwd: root,
  });
  assertEquals(code, 0, stderr);
  interface Graph {
    modules: { specifier: string; dependencies?: { code?: { specifier: string } }[] }[];
    roots: string[];
  }
  const { modules, roots } = JSON.parse(stdout) as Graph;
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const seen = new Set<string>();
  const visit = (specifier: string) => {
    if (seen.has(specifier)) return;
    seen.add(specifier);
    for (const { code } of known.get(specifier)?.dependencies ?? []) {
      if (code !== undefined) visit(code.specifier);
    }
  };
  roots.forEach(visit);
  assert(seen.size > 1);
  assertEquals([...seen].filter((specifier) => specifier.startsWith("node:")), []);
});
