/** Redirects as servers send them, over connections. The rules alone are tested in `pure_test.ts`. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { RedirectError, type ServerStream } from "../../../http/mod.ts";
import { always, OK, pause, readRequest, send, using } from "../../../support/raw_server.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

/** Redirects `/to?l=…&s=…` there, and shows what came elsewhere. */
const handler = async (stream: ServerStream) => {
  const body = await stream.readAll();
  if (stream.path === "/to") {
    stream.respond(Number(stream.query["s"] ?? "302"), { location: stream.query["l"]! });
    stream.closeWrite("moved".repeat(Number(stream.query["n"] ?? "1")));
    return;
  }
  stream.respond(200, { "content-type": "text/plain" });
  stream.closeWrite(`${stream.method} ${stream.path} ${body}`);
};

const to = (url: string, location: string, more = "") =>
  `${url}/to?l=${encodeURIComponent(location)}${more}`;

for (const transport of TRANSPORTS) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`${name} (${transport.name})`, run);
  const h1 = transport.version === "HTTP/1.1";

  test("a Location that leads nowhere is an error that says why", async () => {
    await using p = await pair(transport, handler);
    const faults: [string, string][] = [
      ["ftp://h/x", "scheme"],
      ["data:text/plain,x", "scheme"],
      ["javascript:alert(1)", "scheme"],
      ["http://", "url"],
      ["http://[::1/", "url"],
      ["http://a b/", "url"],
      ["//:99999/", "url"],
    ];
    for (const [location, fault] of faults) {
      const error = await assertRejects(() => p.client.get(to(p.url, location)), RedirectError);
      assertEquals(error.fault, fault, location);
      assertEquals(error.urls.length, 1);
    }
    assertEquals((await p.client.get(to(p.url, ""))).status, 302);
  });

  test("HEAD stays HEAD, and 303 makes GET of all else", async () => {
    await using p = await pair(transport, handler);
    for (const status of [301, 302, 303, 307, 308]) {
      const url = to(p.url, "/x", `&s=${status}`);
      const head = await p.client.head(url);
      assertEquals([head.status, head.body, head.redirects], [200, "", 1]);
      assertEquals(
        (await p.client.put(url, null, "body")).body,
        status < 307 ? "GET /x " : "PUT /x body",
      );
      assertEquals(
        (await p.client.delete(url, null, "body")).body,
        status < 307 ? "GET /x " : "DELETE /x body",
      );
    }
  });

  test("a redirect's short body is read for its connection's sake, a long one is not", async () => {
    let handled = 0;
    await using p = await pair(transport, (stream) => {
      handled++;
      return handler(stream);
    });
    for (const n of [0, 1, 1000]) {
      assertEquals((await p.client.get(to(p.url, "/x", `&n=${n}`))).body, "GET /x ");
    }
    assertEquals(p.client.connections.open, 1);
    assertEquals((await p.client.get(to(p.url, "/x", "&n=1000000"))).body, "GET /x ");
    assertEquals([p.client.connections.open, handled], [1, 8]);
  });

  test("onRedirect sees each step, may end the chain, and may take its time", async () => {
    await using p = await pair(transport, handler);
    const seen: string[] = [];
    const response = await p.client.get(to(p.url, to(p.url, "/x#there", "&s=308")), null, {
      onRedirect: (url, status, from) =>
        void seen.push(
          `${status} ${from.slice(p.url.length, p.url.length + 3)} ${url === `${p.url}/x`}`,
        ),
    });
    assertEquals([response.body, response.redirects], ["GET /x ", 2]);
    assertEquals(seen, ["302 /to false", "308 /to true"]);
    for (const veto of [() => false, () => pause(5).then(() => false)]) {
      const kept = await p.client.get(to(p.url, "/x"), null, { onRedirect: veto });
      assertEquals([kept.status, kept.body, kept.redirects], [302, "moved", 0]);
    }
    const reason = new Error("not there");
    for (
      const fail of [() => {
        throw reason;
      }, () => Promise.reject(reason)]
    ) {
      assertEquals(
        await assertRejects(() => p.client.get(to(p.url, "/x"), null, { onRedirect: fail })),
        reason,
      );
    }
    assertEquals((await p.client.get(p.url)).body, "GET / ");
    assert(p.client.connections.open <= 1);
  });

  test(`redirect: "error" and "manual" do as they say, maxRedirects: 0 follows none`, async () => {
    await using p = await pair(transport, handler);
    const refused = await assertRejects(
      () => p.client.get(to(p.url, "/x"), null, { redirect: "error" }),
      RedirectError,
      "error",
    );
    assertEquals(refused.fault, "refused");
    const manual = await p.client.get(to(p.url, "/x"), null, { redirect: "manual" });
    assertEquals([manual.status, manual.body], [302, "moved"]);
    const none = await assertRejects(
      () => p.client.get(to(p.url, "/x"), null, { maxRedirects: 0 }),
      RedirectError,
    );
    assertEquals(none.fault, "count");
    using stream = await p.client.send("GET", to(p.url, "/x"));
    assertEquals([stream.redirects, await stream.readAll()], [1, "GET /x "]);
  });

  test("a body that comes once cannot follow 307, and may follow 303", async () => {
    await using p = await pair(transport, handler);
    const body = () => ReadableStream.from(["once"]);
    await assertRejects(
      () => p.client.post(to(p.url, "/x", "&s=307"), null, body()),
      TypeError,
      "stream",
    );
    assertEquals((await p.client.post(to(p.url, "/x", "&s=303"), null, body())).body, "GET /x ");
    assertEquals((await p.client.post(to(p.url, "/x"), null, "again")).body, "GET /x ");
    if (!h1) assertEquals(p.client.connections.open, 1);
  });

  test("a chain that grows ends at ten, one that turns in a circle at once", async () => {
    let requests = 0;
    await using p = await pair(transport, (stream) => {
      requests++;
      const next: Record<string, string> = { "/a": "/b", "/b": "/c", "/c": "/a#x" };
      stream.respond(302, { location: next[stream.path] ?? `/g?n=${requests}` });
      stream.closeWrite();
    });
    const loop = await assertRejects(() => p.client.get(`${p.url}/a`), RedirectError);
    assertEquals([loop.fault, requests, loop.urls.length], ["loop", 3, 4]);
    requests = 0;
    const grown = await assertRejects(() => p.client.get(`${p.url}/g`), RedirectError);
    assertEquals([grown.fault, requests], ["count", 11]);
  });
}

Deno.test("a redirect whose body never ends is followed nevertheless", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const begun = Promise.withResolvers<void>();
  await using(
    async (conn) => {
      const request = await readRequest(conn);
      if (request.startsWith("GET /x")) return await send(conn, `${OK}Content-Length: 2\r\n\r\nok`);
      await send(conn, "HTTP/1.1 302 Found\r\nLocation: /x\r\nTransfer-Encoding: chunked\r\n\r\n");
      begun.resolve();
      // Until the client hangs up.
      for (;;) {
        await send(conn, "1\r\nx\r\n");
        await pause(10);
      }
    },
    async (client, server) => {
      const response = client.get(server.url);
      await begun.promise;
      const took = await clock.until(response);
      assertEquals((await response).body, "ok");
      assert(took < 1500, `${took} ms`);
    },
    {},
    clock,
  );
});

Deno.test("two Locations are one too many", async () => {
  const answer = "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n";
  await using(always(answer), async (client, server) => {
    const error = await assertRejects(() => client.get(server.url), RedirectError, "/b");
    assertEquals(error.fault, "url");
  });
});

Deno.test("userinfo that is not percent-encoded right is sent as it is", async () => {
  await using(async (conn) => {
    const request = await readRequest(conn);
    const credentials = atob(/authorization: Basic (.*)\r/.exec(request)![1]!);
    await send(conn, `${OK}Content-Length: ${credentials.length}\r\n\r\n${credentials}`);
  }, async (client, server) => {
    const url = server.url.replace("//", "//us%zzer:100%@");
    assertEquals((await client.get(url)).body, "us%zzer:100%");
  });
});
