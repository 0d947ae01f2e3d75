/** What the client makes of servers that are broken, hostile or gone. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import {
  BodyTooLargeError,
  ConnectionLostError,
  DialError,
  listen,
  MessageError,
  newClient,
  ProtocolError,
  RedirectError,
} from "../../../http/mod.ts";
import {
  always,
  OK,
  RawServer,
  readRequest,
  type Script,
  send,
  using,
} from "../../../support/raw_server.ts";
import { testCertificate } from "../../../support/transports.ts";

const encoder = new TextEncoder();

const BROKEN: readonly (readonly [string, string])[] = [
  [
    "content-length and transfer-encoding",
    `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  ],
  ["two content-lengths", `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi`],
  ["a signed content-length", `${OK}Content-Length: +2\r\n\r\nhi`],
  ["transfer-encoding gzip", `${OK}Transfer-Encoding: gzip\r\n\r\nhi`],
  ["a folded header", `${OK}X: 1\r\n 2\r\nContent-Length: 0\r\n\r\n`],
  ["a blank before the colon", `${OK}Content-Length : 0\r\n\r\n`],
  ["bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"],
  ["a NUL in a value", `${OK}X: \0\r\nContent-Length: 0\r\n\r\n`],
  ["a broken chunk size", `${OK}Transfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n`],
  ["a chunk without end", `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi0\r\n\r\n`],
  [
    "transfer-encoding in HTTP/1.0",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
  ],
  [
    "an informational response with transfer-encoding",
    `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n${OK}Content-Length: 0\r\n\r\n`,
  ],
  [
    "an informational response with a body",
    `HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\nhi${OK}Content-Length: 0\r\n\r\n`,
  ],
  [
    "a chunk extension without name",
    `${OK}Transfer-Encoding: chunked\r\n\r\n2;\r\nhi\r\n0\r\n\r\n`,
  ],
  [
    "content-length among trailers",
    `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 2\r\n\r\n`,
  ],
  ["an empty line first", `\r\n${OK}Content-Length: 0\r\n\r\n`],
  ["no status", "HTTP/1.1 OK\r\n\r\n"],
  ["HTTP/2.0 in a status line", "HTTP/2.0 200 OK\r\n\r\n"],
  ["something else altogether", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
  ["101 nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"],
  [
    "a thousand informational responses",
    "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000) + OK + "\r\n",
  ],
  ["a head of 300 KB", `${OK}X: ${"a".repeat(300_000)}\r\n\r\n`],
  ["600 header fields", `${OK}${"X: 1\r\n".repeat(600)}\r\n`],
];

for (const [name, answer] of BROKEN) {
  Deno.test(`the client refuses a response with ${name} and drops the connection`, async () => {
    await using(always(answer), async (client, server) => {
      const error = await assertRejects(() => client.get(server.url), ProtocolError);
      // What a server would answer with must not be taken for the response's status.
      if (error instanceof MessageError) assertEquals(error.status, undefined);
      assertEquals(client.connections.open, 0);
    });
  });
}

Deno.test("a body behind 204 reaches no other request, however late it comes", async () => {
  const poison = `${OK}Content-Length: 6\r\n\r\npoison`;
  for (const framing of [`Content-Length: ${poison.length}`, "Transfer-Encoding: chunked"]) {
    await using(async (conn, nth) => {
      await readRequest(conn);
      if (nth > 1) return await send(conn, `${OK}Content-Length: 2\r\n\r\nhi`);
      await send(conn, `HTTP/1.1 204 No Content\r\n${framing}\r\n\r\n`);
      // Sent when the next request is there already, if it comes here.
      await readRequest(conn);
      await send(conn, poison);
    }, async (client, server) => {
      assertEquals((await client.get(server.url)).status, 204);
      assertEquals((await client.get(server.url)).body, "hi");
      assertEquals(server.connections, 2);
    });
  }
});

Deno.test("trailers that must come before the body are dropped", async () => {
  const answer = `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n` +
    "Content-Type: text/html\r\nX-T: 1\r\nSet-Cookie: a=b\r\nX-T: 2\r\n\r\n";
  await using(always(answer), async (client, server) => {
    const response = await client.get(server.url);
    assertEquals([response.body, { ...response.trailers }], ["hi", { "x-t": "1, 2" }]);
    assertEquals((await client.get(server.url)).body, "hi");
    assertEquals(server.connections, 1);
  });
});

for (
  const [name, answer] of [
    ["a body cut short", `${OK}Content-Length: 10\r\n\r\nhello`],
    ["chunks cut short", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`],
    ["no last chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`],
    ["a head cut short", "HTTP/1.1 200 OK\r\nX: 1\r\n"],
    ["nothing", ""],
  ] as const
) {
  Deno.test(`the client reports ${name} as a lost connection`, async () => {
    await using(always(answer, true), async (client, server) => {
      await assertRejects(() => client.get(server.url), ConnectionLostError);
      assertEquals(client.connections.open, 0);
    });
  });
}

Deno.test("octets after a response end its connection and reach no other request", async () => {
  const poison = `${OK}Content-Length: 6\r\n\r\npoison`;
  await using(always(`${OK}Content-Length: 2\r\n\r\nhi${poison}`), async (client, server) => {
    for (let i = 0; i < 3; i++) assertEquals((await client.get(server.url)).body, "hi");
    assertEquals(server.connections, 3);
  });
});

Deno.test("octets on an idle connection end it", async () => {
  await using(async (conn, nth) => {
    await readRequest(conn);
    await send(conn, `${OK}Content-Length: 1\r\n\r\n${nth}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
    await send(conn, `${OK}Content-Length: 6\r\n\r\npoison`);
    await readRequest(conn);
  }, async (client, server) => {
    assertEquals((await client.get(server.url)).body, "1");
    await new Promise((resolve) => setTimeout(resolve, 40));
    assertEquals(client.connections.open, 0);
    assertEquals((await client.get(server.url)).body, "2");
  });
});

Deno.test("a body that ends with the connection is read to its end", async () => {
  await using(always(`${OK}\r\nhello`, true), async (client, server) => {
    assertEquals((await client.get(server.url)).body, "hello");
    assertEquals(client.connections.open, 0);
  });
});

Deno.test("informational responses are passed over", async () => {
  const answer = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`;
  await using(always(answer), async (client, server) => {
    assertEquals((await client.get(server.url)).body, "hi");
    assertEquals((await client.get(server.url)).body, "hi");
    assertEquals(server.connections, 1);
  });
});

Deno.test("a request on a connection the server closed is sent again, once and if idempotent", async () => {
  // Answers one request a connection; the second is read and the connection closed.
  const script: Script = async (conn) => {
    await readRequest(conn);
    await send(conn, `${OK}Content-Length: 2\r\n\r\nhi`);
    await readRequest(conn);
  };
  await using(script, async (client, server) => {
    await client.get(server.url);
    assertEquals((await client.get(server.url)).body, "hi");
    assertEquals(server.connections, 2);
    await assertRejects(() => client.post(server.url, null, "x"), ConnectionLostError);
    assertEquals(server.connections, 2);
    assertEquals(
      (await client.post(server.url, { "idempotency-key": "1" }, "x")).body,
      "hi",
    );
  });
});

Deno.test("keep-alive: timeout of the server is honoured", async () => {
  await using(
    always(`${OK}Keep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nhi`),
    async (client, server) => {
      await client.get(server.url);
      assertEquals(client.connections.open, 0);
      await client.get(server.url);
      assertEquals(server.connections, 2);
    },
  );
});

Deno.test("an answer before the request was sent is read, and the connection not used again", async () => {
  await using(async (conn) => {
    await readRequest(conn);
    await send(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }, async (client, server) => {
    const endless = async function* () {
      for (let i = 0; i < 1000; i++) {
        yield new Uint8Array(1000);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    const response = await client.post(server.url, null, endless());
    assertEquals([response.status, response.body], [413, "big"]);
    assertEquals(client.connections.open, 0);
    // The source hears of it with its next piece.
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
});

Deno.test("retries follow retry-after and stop at the limit", async () => {
  await using(async (conn, nth) => {
    await readRequest(conn);
    await send(
      conn,
      nth < 3
        ? "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        : `${OK}Connection: close\r\nContent-Length: 2\r\n\r\nhi`,
    );
  }, async (client, server) => {
    assertEquals((await client.get(server.url)).status, 503);
    const response = await client.get(server.url, null, { retry: 2 });
    assertEquals(response.body, "hi");
    assertEquals(server.connections, 3);
  });
});

// ---- redirects ---------------------------------------------------------------------------------

Deno.test("credentials do not cross to another origin and do not come back", async () => {
  const seen: string[] = [];
  let home = "";
  let away = "";
  const record = (stream: { path: string; header: { readonly [n: string]: string } }) =>
    seen.push(
      `${stream.path} ${stream.header["authorization"]} ${stream.header["cookie"]} ${
        stream.header["x-key"]
      }`,
    );
  await using a = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => {
      record(stream);
      if (stream.path === "/a") stream.respond(302, { location: "/b" }, true);
      else if (stream.path === "/b") {
        stream.respond(307, { location: `http://user:secret@${away}/c` }, true);
      } else stream.respond(200, {}, true);
    },
  });
  await using b = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => {
      record(stream);
      stream.respond(302, { location: `http://${home}/d` }, true);
    },
  });
  home = a.addr;
  away = b.addr;
  await using client = newClient();
  const response = await client.get(`http://${home}/a`, {
    authorization: "Bearer t",
    cookie: "c=1",
    "x-key": "k",
  });
  assertEquals(seen, [
    "/a Bearer t c=1 k",
    "/b Bearer t c=1 k",
    "/c undefined undefined k",
    "/d undefined undefined k",
  ]);
  assertEquals(response.url, `http://${home}/d`);
  const login = await client.get(`http://me:pw@${home}/d`);
  assertEquals(seen.at(-1), `/d Basic ${btoa("me:pw")} undefined undefined`);
  assertEquals(login.url, `http://${home}/d`);
});

Deno.test("redirects to other schemes and from https to http are refused", async () => {
  const files = await testCertificate();
  await using secure = listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [files],
    handler: (stream) => {
      stream.respond(302, { location: decodeURIComponent(stream.query["to"]!) });
    },
  });
  await using client = newClient({ caCerts: [files.ca] });
  const fault = async (to: string, options = {}) =>
    (await assertRejects(
      () => client.get(`https://${secure.addr}/?to=${encodeURIComponent(to)}`, null, options),
      RedirectError,
    )).fault;
  assertEquals(await fault("http://127.0.0.1:1/"), "downgrade");
  assertEquals(await fault("file:///etc/passwd"), "scheme");
  assertEquals(await fault("gopher://h/"), "scheme");
  assertEquals(await fault("http://"), "url");
  const seen: string[] = [];
  await assertRejects(
    () =>
      client.get(`https://${secure.addr}/?to=${encodeURIComponent("http://127.0.0.1:1/x")}`, null, {
        allowDowngrade: true,
        onRedirect: (url) => {
          seen.push(url);
        },
      }),
    DialError,
  );
  assertEquals(seen, ["http://127.0.0.1:1/x"]);
});

// ---- codings -----------------------------------------------------------------------------------

const TEXT = "hello decoded world ".repeat(500);
const CODED: readonly (readonly [string, Uint8Array])[] = [
  ["gzip", gzipSync(TEXT)],
  ["x-gzip", gzipSync(TEXT)],
  ["deflate", deflateSync(TEXT)],
  ["deflate", deflateRawSync(TEXT)],
  ["br", brotliCompressSync(TEXT)],
  ["zstd", zstdCompressSync(TEXT)],
  ["gzip, br", brotliCompressSync(gzipSync(TEXT))],
  ["gzip", Uint8Array.from([...gzipSync(TEXT.slice(0, 100)), ...gzipSync(TEXT.slice(100))])],
  ["identity", encoder.encode(TEXT)],
];

for (const [coding, coded] of CODED) {
  const bytes = new Uint8Array(coded);
  Deno.test(`a body in ${coding} of ${bytes.length} octets is decoded`, async () => {
    const head = `${OK}Content-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    const answer = Uint8Array.from([...encoder.encode(head), ...bytes]);
    await using(always(answer), async (client, server) => {
      assertEquals((await client.get(server.url)).body, TEXT);
      const raw = await client.get(server.url, null, { decompress: false });
      assertEquals(raw.bytes, bytes);
      assertEquals(server.connections, 1);
    });
  });
}

Deno.test("a body that decodes to more than the limit is an error, early", async () => {
  const bomb = gzipSync(gzipSync(new Uint8Array(50 << 20)));
  const head = `${OK}Content-Encoding: gzip, gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
  const answer = Uint8Array.from([...encoder.encode(head), ...bomb]);
  await using(always(answer), async (client, server) => {
    await assertRejects(
      () => client.get(server.url, null, { maxResponseBytes: 1 << 20 }),
      BodyTooLargeError,
    );
  });
});

Deno.test("a damaged, a truncated and a much too often coded body are errors; an empty one is not", async () => {
  const coded = gzipSync(TEXT);
  const broken = coded.slice();
  broken[40]! ^= 0xff;
  const cases: [string, Uint8Array, boolean][] = [
    ["gzip", broken, false],
    ["gzip", coded.slice(0, 50), false],
    ["gzip, gzip, gzip, gzip, gzip, gzip", coded, false],
    ["gzip", new Uint8Array(0), true],
  ];
  for (const [coding, bytes, fine] of cases) {
    const head = `${OK}Content-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    const answer = Uint8Array.from([...encoder.encode(head), ...bytes]);
    await using(always(answer), async (client, server) => {
      if (fine) assertEquals((await client.get(server.url)).body, "");
      else await assertRejects(() => client.get(server.url), ProtocolError);
    });
  }
});

// ---- connecting --------------------------------------------------------------------------------

Deno.test("errors of connecting say what failed and where", async () => {
  await using client = newClient({ connectTimeout: 2000 });
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = closed.addr;
  closed.close();
  const refused = await assertRejects(() => client.get(`http://127.0.0.1:${port}/`), DialError);
  assertEquals([refused.phase, refused.address], ["connect", `127.0.0.1:${port}`]);
  assert(refused.cause instanceof Error);
  const lookup = await assertRejects(() => client.get("http://nowhere.invalid/"), DialError);
  assertEquals(lookup.phase, "dns");
  const files = await testCertificate();
  await using server = listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [files],
    handler: (stream) => void stream.respond(200),
  });
  const unknown = await assertRejects(() => client.get(`https://${server.addr}/`), DialError);
  assertEquals(unknown.phase, "tls");
  assert(/UnknownIssuer|unknown/i.test(unknown.message), unknown.message);
  await using wrong = newClient({ caCerts: [files.ca], serverName: "other.test" });
  const name = await assertRejects(() => wrong.get(`https://${server.addr}/`), DialError);
  assert(/NotValidForName|name/i.test(name.message), name.message);
});

Deno.test("requests go over a Unix socket", async () => {
  const folder = await Deno.makeTempDir();
  const listener = Deno.listen({ transport: "unix", path: `${folder}/s` });
  const serving = (async () => {
    const conn = await listener.accept();
    await readRequest(conn);
    await send(conn, `${OK}Connection: close\r\nContent-Length: 4\r\n\r\nunix`);
    conn.close();
  })();
  await using client = newClient({ unixSocket: `${folder}/s` });
  assertEquals((await client.get("http://somewhere/path")).body, "unix");
  await serving;
  listener.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("http goes through a proxy by absolute-form, https by CONNECT", async () => {
  const files = await testCertificate();
  await using origin = listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [files],
    handler: (stream) => {
      stream.respond(200);
      stream.closeWrite(`secure ${stream.header["proxy-authorization"]}`);
    },
  });
  const asked: string[] = [];
  await using proxy = new RawServer(async (conn) => {
    const request = await readRequest(conn);
    asked.push(request.split("\r\n")[0]!);
    asked.push(/proxy-authorization: (.*)/.exec(request)?.[1] ?? "none");
    if (!request.startsWith("CONNECT")) {
      return await send(conn, `${OK}Connection: close\r\nContent-Length: 5\r\n\r\nplain`);
    }
    const upstream = await Deno.connect({ hostname: "127.0.0.1", port: origin.port });
    await send(conn, "HTTP/1.1 200 Connection established\r\n\r\n");
    await Promise.allSettled([
      conn.readable.pipeTo(upstream.writable),
      upstream.readable.pipeTo(conn.writable),
    ]);
  });
  const url = proxy.url.replace("http://", "http://u:p@");
  await using client = newClient({
    caCerts: [files.ca],
    proxy: { http: url, https: url, noProxy: ["direct.test"] },
  });
  assertEquals((await client.get("http://example.test/path?x=1")).body, "plain");
  assertEquals((await client.get(`https://localhost:${origin.port}/`)).body, "secure undefined");
  assertEquals(asked, [
    "GET http://example.test/path?x=1 HTTP/1.1",
    `Basic ${btoa("u:p")}`,
    `CONNECT localhost:${origin.port} HTTP/1.1`,
    `Basic ${btoa("u:p")}`,
  ]);
});

Deno.test("a proxy that refuses is named in the error", async () => {
  await using proxy = new RawServer(always("HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n", true));
  await using client = newClient({ proxy: { https: proxy.url } });
  const error = await assertRejects(() => client.get("https://example.test/"), DialError);
  assertEquals(error.phase, "proxy");
  assert(error.message.includes("407"), error.message);
});

Deno.test("client.fetch() works like the platform's", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      if (stream.path === "/r") return void stream.respond(302, { location: "/x" });
      stream.respond(200, { "content-type": "application/json" });
      stream.closeWrite(JSON.stringify({ method: stream.method, body: await stream.readAll() }));
    },
  });
  await using client = newClient();
  const response = await client.fetch(`http://${server.addr}/`, { method: "POST", body: "hi" });
  assertEquals(await response.json(), { method: "POST", body: "hi" });
  const moved = await client.fetch(`http://${server.addr}/r`);
  assertEquals([moved.url, (await moved.json()).method], [`http://${server.addr}/x`, "GET"]);
});

Deno.test("a request given up while connecting does not fail the next one", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => {
      stream.respond(200);
      stream.closeWrite("ok");
    },
  });
  for (const alpnProtos of [["http/1.1"], ["h2"]]) {
    await using client = newClient({ alpnProtos });
    for (let i = 0; i < 20; i++) {
      const controller = new AbortController();
      const reason = new Error("given up");
      const first = assertRejects(
        () => client.get(`http://${server.addr}/`, null, { signal: controller.signal }),
        Error,
        "given up",
      );
      const url = `http://${server.addr}/`;
      await Promise.resolve();
      controller.abort(reason);
      assertEquals((await client.get(url)).body, "ok");
      await first;
      client.closeIdle();
    }
  }
});
