/** Requests through proxies: plain and over TLS, with passwords, and proxies that misbehave. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type ClientOptions,
  DialError,
  listen,
  newClient,
  proxyFromEnv,
  TimeoutError,
} from "../../../http/mod.ts";
import { matchesNoProxy } from "../../../http/client/no_proxy.ts";
import { Authority, sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { ForwardProxy, readHead, sendText } from "../../../support/forward_proxy.ts";
import { peerTest } from "../../../support/peers.ts";
import { Relay } from "../../../support/relay.ts";

const needs = [OPENSSL];

/** A server that keeps the fields it was sent. */
async function origin(tls: boolean) {
  const ours = await sharedAuthority();
  const seen: Record<string, unknown>[] = [];
  const server = listen({
    addr: "127.0.0.1:0",
    tls,
    ...(tls ? { certs: [await ours.leaf()], clientCa: ours.ca } : {}),
    handler: async (stream) => {
      seen.push({ ...stream.header });
      const body = await stream.readBytes();
      stream.respond(200);
      stream.closeWrite(
        `${stream.version} ${stream.peerCertificate?.subject ?? "nobody"} ${body.length}`,
      );
    },
  });
  return {
    server,
    seen,
    url: `${tls ? "https" : "http"}://localhost:${server.port}/path?x=1`,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function failure(url: string, options: ClientOptions): Promise<DialError> {
  await using client = newClient(options);
  return await assertRejects(() => client.get(url), DialError) as DialError;
}

for (const kind of ["http", "https"] as const) {
  peerTest(`requests go through a proxy that speaks ${kind}`, { needs }, async () => {
    const ours = await sharedAuthority();
    await using secure = await origin(true);
    await using plain = await origin(false);
    await using proxy = new ForwardProxy({
      credentials: "user:p@ss",
      ...(kind === "https" ? { leaf: await ours.leaf() } : {}),
    });
    const url = proxy.url("user:p%40ss");
    const { cert, key } = await ours.leaf({ names: ["alice"], usage: "clientAuth" });
    const field = `proxy-authorization: Basic ${btoa("user:p@ss")}`;

    await using client = newClient({ caCerts: [ours.ca], proxy: { http: url, https: url } });
    assertEquals((await client.get(plain.url)).body, "HTTP/1.1 nobody 0");
    assertEquals(
      proxy.heads[0]!.split("\r\n")[0],
      `GET http://localhost:${plain.server.port}/path?x=1 HTTP/1.1`,
    );
    assert(proxy.heads[0]!.includes(`\r\n${field}\r\n`), proxy.heads[0]);

    // A request's own goes to the proxy at most, in place of nothing but never beside the URL's.
    const headers = { "proxy-authorization": "Basic other" };
    assertEquals((await client.get(plain.url, headers)).status, 200);
    assertEquals(proxy.heads[1]!.match(/^proxy-authorization: .*$/gm), [field]);

    const body = new Uint8Array(2 << 20);
    for (const version of ["http/1.1", "h2"]) {
      for (const more of [{}, { cert, key }]) {
        proxy.heads.length = 0;
        await using client = newClient({
          caCerts: [ours.ca],
          proxy: { https: url },
          alpnProtos: [version],
          ...more,
        });
        const who = "cert" in more ? "CN=alice" : "nobody";
        const expected = `${version === "h2" ? "HTTP/2" : "HTTP/1.1"} ${who}`;
        assertEquals((await client.post(secure.url, headers, body)).body, `${expected} ${2 << 20}`);
        // The tunnel is kept.
        assertEquals((await client.get(secure.url)).body, `${expected} 0`);
        assertEquals(proxy.heads, [
          `CONNECT localhost:${secure.server.port} HTTP/1.1\r\n` +
          `host: localhost:${secure.server.port}\r\n${field}\r\n\r\n`,
        ]);
      }
    }
    for (const fields of [...secure.seen, ...plain.seen]) {
      assertEquals(fields["proxy-authorization"], undefined);
    }
  });
}

peerTest("proxy-authorization goes to no server that noProxy leads to", { needs }, async () => {
  const ours = await sharedAuthority();
  for (const tls of [true, false]) {
    await using server = await origin(tls);
    await using proxy = new ForwardProxy();
    await using client = newClient({
      caCerts: [ours.ca],
      headers: { "proxy-authorization": "Basic secret" },
      proxy: { http: proxy.url(), https: proxy.url(), noProxy: ["localhost"] },
    });
    await client.get(server.url);
    assertEquals(server.seen[0]!["proxy-authorization"], undefined);
    assertEquals(proxy.accepted, 0);
  }
});

peerTest("TLS errors inside a tunnel are the server's, those before it the proxy's", {
  needs,
}, async () => {
  const ours = await sharedAuthority();
  await using theirs = await Authority.make("Another authority");
  await using secure = await origin(true);
  await using plainProxy = new ForwardProxy();
  const inside = await failure(secure.url, { proxy: { https: plainProxy.url() } });
  assertEquals([inside.phase, inside.address], ["tls", `localhost:${secure.server.port}`]);
  assert(/UnknownIssuer/.test(inside.message), inside.message);

  await using tlsProxy = new ForwardProxy({ leaf: await theirs.leaf() });
  for (const target of [secure.url, "http://localhost/"]) {
    const url = tlsProxy.url();
    const before = await failure(target, { caCerts: [ours.ca], proxy: { http: url, https: url } });
    assertEquals(before.phase, "proxy", before.message);
    assert(/UnknownIssuer/.test(before.message), before.message);
    assert(before.message.includes(url.slice("https://".length)), before.message);
  }
  assertEquals(tlsProxy.heads, []);
});

peerTest("a proxy that asks for a password says so", { needs }, async () => {
  await using proxy = new ForwardProxy({ credentials: "user:right" });
  const without = await failure("https://server.test/", { proxy: { https: proxy.url() } });
  assertEquals(without.phase, "proxy");
  const answer = "the proxy answered 407 Proxy Authentication Required: ";
  assert(without.message.endsWith(`${answer}put user and password into its URL`), without.message);
  const https = proxy.url("user:wrong");
  const wrong = await failure("https://server.test/", { proxy: { https } });
  assert(
    wrong.message.endsWith(`${answer}the user or password in its URL is wrong`),
    wrong.message,
  );
  assert(!wrong.message.includes("wrong@"), wrong.message);
  // With a whole URL the proxy answers instead of the server, and that is the response.
  await using client = newClient({ proxy: { http: proxy.url() } });
  const response = await client.get("http://server.test/");
  assertEquals([response.status, response.body], [407, "denied"]);
});

/** A proxy that does one thing with each connection. */
function odd(serve: (conn: Deno.Conn) => Promise<void>): Relay<Deno.TcpConn> {
  return new Relay(Deno.listen({ hostname: "127.0.0.1", port: 0 }), serve);
}

/** Answers CONNECT with a text and waits for the client to leave. */
function answers(text: string): (conn: Deno.Conn) => Promise<void> {
  return async (conn) => {
    await readHead(conn);
    await sendText(conn, text);
    await conn.read(new Uint8Array(1));
  };
}

Deno.test("a proxy that misbehaves is a DialError of phase proxy, with the reason", async () => {
  const cases: [string, (conn: Deno.Conn) => Promise<void>, RegExp][] = [
    ["refuses", answers("HTTP/1.1 502 Bad Gateway\r\n\r\n"), /the proxy answered 502 Bad Gateway$/],
    ["odd status", answers("HTTP/1.1 799 x\r\n\r\n"), /the proxy answered 799$/],
    ["101", answers("HTTP/1.1 101 Switching\r\n\r\n"), /the proxy answered 101/],
    [
      "redirects",
      answers("HTTP/1.1 302 F\r\nlocation: /\r\n\r\n"),
      /the proxy answered 302 Found$/,
    ],
    ["garbage", answers("SSH-2.0-OpenSSH\r\n\r\n"), /proxy failed: /],
    ["bare LF", answers("HTTP/1.1 200 OK\n\n"), /CRLF/],
    ["closes", () => Promise.resolve(), /the proxy closed the connection|reset/i],
    ["closes later", async (conn) => void await readHead(conn), /the proxy closed the connection/],
    [
      "endless",
      async (conn) => {
        await readHead(conn);
        await sendText(conn, "HTTP/1.1 200 OK\r\n");
        for (;;) await sendText(conn, `x: ${"y".repeat(1000)}\r\n`);
      },
      /must be <= 8192 bytes/,
    ],
    ["talks on", answers("HTTP/1.1 200 OK\r\n\r\nhello"), /bytes before the tunnel was used/],
  ];
  for (const [name, serve, reason] of cases) {
    await using proxy = odd(serve);
    const https = `http://127.0.0.1:${proxy.port}`;
    const error = await failure("https://server.test/", { proxy: { https } });
    assertEquals([error.phase, error.address], ["proxy", "server.test:443"], name);
    assert(reason.test(error.message), `${name}: ${error.message}`);
    assert(error.message.includes(`127.0.0.1:${proxy.port}`), error.message);
  }
});

Deno.test("interim answers of a proxy are passed over", async () => {
  await using proxy = odd(
    answers(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nx: y\r\n\r\nHTTP/1.1 503 x\r\n\r\n",
    ),
  );
  const https = `http://127.0.0.1:${proxy.port}`;
  const error = await failure("https://server.test/", { proxy: { https } });
  assert(/the proxy answered 503/.test(error.message), error.message);
});

Deno.test("a proxy that hangs ends at connectTimeout, or with the signal", async () => {
  let left = 0;
  const serve = async (conn: Deno.Conn) => {
    const buf = new Uint8Array(1024);
    while (await conn.read(buf).catch(() => null) !== null);
    left++;
  };
  await using proxy = odd(serve);
  const https = `http://127.0.0.1:${proxy.port}`;
  const error = await failure("https://server.test/", { proxy: { https }, connectTimeout: 100 });
  assertEquals(error.phase, "proxy");
  assert(error.cause instanceof TimeoutError, `${error.cause}`);
  // 0 is no limit.
  await using client = newClient({ proxy: { https }, connectTimeout: 0 });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 100);
  const pending = client.get("https://server.test/", {}, { signal: controller.signal });
  await assertRejects(() => pending, Error, "enough");
  for (let tries = 0; left < 2; tries++) {
    assert(tries < 100, "a connection was left open");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

Deno.test("a proxy that is not there is the proxy's error", async () => {
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${closed.addr.port}`;
  closed.close();
  for (const proxy of [address, `http://${address}`, `https://${address}`]) {
    for (const url of ["http://server.test/", "https://server.test/"]) {
      const error = await failure(url, { proxy: { http: proxy, https: proxy } });
      assertEquals(error.phase, "proxy");
      assert(error.message.includes(address), error.message);
    }
  }
  const nowhere = { https: "http://proxy.invalid:3128" };
  const error = await failure("https://server.test/", { proxy: nowhere });
  assertEquals(error.phase, "proxy");
  assert(error.message.includes("proxy.invalid:3128"), error.message);
});

Deno.test("newClient() refuses proxies it cannot use, and keeps their passwords to itself", () => {
  const wrong: [ClientOptions, string][] = [
    [{ proxy: { https: "socks5://user:secret@host:1080" } }, `is "socks5://***@host:1080"`],
    [{ proxy: { http: "http://user:secret@host:port" } }, `is "http://***@host:port"`],
    [{ proxy: { http: "http://" } }, `must be a URL like "http://user:password@host:port"`],
    [{ proxy: { http: 8080 as unknown as string } }, "current value is 8080"],
    [{ proxy: { noProxy: "host" as unknown as string[] } }, "noProxy must be a list"],
    [{ proxy: { http: "http://p" }, unixSocket: "/s" }, "either proxy or unixSocket"],
  ];
  for (const [options, message] of wrong) {
    const error = assertThrows(() => newClient(options), TypeError, message);
    assert(!error.message.includes("secret"), error.message);
  }
});

Deno.test("a host of its own is refused where a proxy would go by the URL", async () => {
  await using client = newClient({ proxy: { http: "http://127.0.0.1:1" } });
  const error = await assertRejects(
    () => client.get("http://server.test/", { host: "other.test" }),
    TypeError,
  );
  assertEquals(
    error.message,
    'Cannot request with a host of its own through an http proxy, which goes by the URL: host is "other.test", the URL\'s is "server.test"',
  );
  await assertRejects(() => client.get("http://server.test/", { host: "server.test" }), DialError);
});

Deno.test("proxies of the environment are used only if asked for", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => void stream.respond(200, {}, true),
  });
  await using proxy = new ForwardProxy();
  const variables = { "http_proxy": proxy.url(), "no_proxy": "", NO_PROXY: "" };
  const before = Object.keys(variables).map((name) => [name, Deno.env.get(name)] as const);
  for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
  try {
    await using direct = newClient();
    assertEquals((await direct.get(`http://${server.addr}/`)).status, 200);
    assertEquals(proxy.accepted, 0);
    await using through = newClient({ proxy: proxyFromEnv() });
    assertEquals((await through.get(`http://${server.addr}/`)).status, 200);
    assertEquals(proxy.accepted, 1);
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
});

Deno.test("a redirect from http to https changes how the proxy is used", async () => {
  await using proxy = odd(async (conn) => {
    const head = await readHead(conn);
    if (head.startsWith("CONNECT")) {
      assert(!head.includes("authorization: Bearer"));
      return await sendText(conn, "HTTP/1.1 503 x\r\n\r\n");
    }
    await sendText(
      conn,
      "HTTP/1.1 301 x\r\nlocation: https://server.test/\r\ncontent-length: 0\r\n\r\n",
    );
    await conn.read(new Uint8Array(1));
  });
  const url = `http://127.0.0.1:${proxy.port}`;
  const error = await failure("http://server.test/", { proxy: { http: url, https: url } });
  assertEquals([error.phase, error.address], ["proxy", "server.test:443"]);
});

Deno.test("matchesNoProxy() follows curl's and Go's rules", () => {
  const yes: [rule: string, host: string, port: number][] = [
    ["*", "anything.test", 80],
    ["example.com", "example.com", 80],
    ["example.com", "a.b.example.com", 443],
    [".example.com", "a.example.com", 80],
    [".example.com", "example.com", 80],
    ["*.example.com", "a.example.com", 80],
    ["EXAMPLE.com", "example.com", 80],
    ["example.com.", "example.com", 80],
    ["example.com", "example.com.", 80],
    [" example.com ", "example.com", 80],
    ["example.com:8080", "example.com", 8080],
    ["bücher.example", "xn--bcher-kva.example", 80],
    ["10.1.2.3", "10.1.2.3", 80],
    ["10.1.2.3:81", "10.1.2.3", 81],
    ["10.0.0.0/8", "10.255.0.1", 80],
    ["0.0.0.0/0", "8.8.8.8", 80],
    ["10.1.2.3/32", "10.1.2.3", 80],
    ["::1", "::1", 80],
    ["[::1]", "::1", 80],
    ["[::1]:81", "::1", 81],
    ["0:0:0:0:0:0:0:1", "::1", 80],
    ["fd00::/8", "fd12:3456::1", 80],
    ["2001:db8::/32", "2001:db8:1::1", 80],
  ];
  const no: typeof yes = [
    ["", "example.com", 80],
    [".", "example.com", 80],
    ["example.com", "notexample.com", 80],
    ["example.com", "example.com.evil.test", 80],
    ["a.example.com", "example.com", 80],
    ["example.com:8080", "example.com", 80],
    ["10.1.2.3", "10.1.2.30", 80],
    // An address is no domain.
    ["2.3", "10.1.2.3", 80],
    ["2.3.4", "1.2.3.4", 80],
    ["10.1.2.3:81", "10.1.2.3", 80],
    ["10.0.0.0/8", "11.0.0.1", 80],
    ["10.0.0.0/8", "ten.test", 80],
    ["10.0.0.0/33", "10.0.0.0", 80],
    ["10.0.0.0/", "10.0.0.0", 80],
    ["fd00::/8", "fe00::1", 80],
    ["fd00::/129", "fd00::", 80],
    ["[::1]:81", "::1", 80],
    ["::1", "::2", 80],
    ["[::1", "::1", 80],
  ];
  for (const [rule, host, port] of yes) {
    assert(matchesNoProxy(rule, host, port), `${rule} must cover ${host}:${port}`);
  }
  for (const [rule, host, port] of no) {
    assert(!matchesNoProxy(rule, host, port), `${rule} must not cover ${host}:${port}`);
  }
});
