/** What handlers see of requests, over both versions, plain and TLS, and on each engine. */
import { assertEquals, assertRejects } from "@std/assert";
import { answer, contract, text } from "../contract.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { pair } from "../../../support/transports.ts";

const encoder = new TextEncoder();

contract((test, { transport, h1, platform }) => {
  test("listen() shows method, path, query, header, version and remoteAddr", async () => {
    let seen: Record<string, unknown> = {};
    await using p = await pair(transport, (stream) => {
      seen = {
        method: stream.method,
        path: stream.path,
        query: { ...stream.query },
        header: stream.header["x-name"],
        version: stream.version,
        remote: /^127\.0\.0\.1:\d+$/.test(stream.remoteAddr),
      };
      answer(200, "ok")(stream);
    });
    const response = await p.client.get(`${p.url}/a/b%20c?x=1&y=two+words&x=2`, { "X-Name": "v" });
    assertEquals([response.status, response.body, response.version], [
      200,
      "ok",
      transport.version,
    ]);
    assertEquals(seen, {
      method: "GET",
      path: "/a/b%20c",
      query: { x: "1", y: "two words" },
      header: "v",
      version: transport.version,
      remote: true,
    });
  });

  test("stream.readAll() and readBytes() read the whole body", async () => {
    await using p = await pair(transport, async (stream) => {
      const body = stream.path === "/bytes"
        ? `${(await stream.readBytes()).length}`
        : await stream.readAll();
      await stream.respond(200, text);
      stream.closeWrite(body);
    });
    assertEquals((await p.client.post(`${p.url}/`, null, "héllo")).body, "héllo");
    const big = new Uint8Array(1_000_000).fill(7);
    assertEquals((await p.client.post(`${p.url}/bytes`, null, big)).body, "1000000");
    assertEquals((await p.client.post(`${p.url}/`)).body, "");
  });

  test("the body of a request can be iterated over", async () => {
    await using p = await pair(transport, async (stream) => {
      let length = 0;
      for await (const piece of stream) length += piece.length;
      await stream.respond(200);
      stream.closeWrite(String(length));
    });
    const pieces = async function* () {
      for (let i = 0; i < 5; i++) yield "x".repeat(1000);
    };
    assertEquals((await p.client.post(p.url, null, pieces())).body, "5000");
    assertEquals(
      (await p.client.post(p.url, null, new Blob(["a".repeat(70000)]).stream())).body,
      "70000",
    );
  });

  test("a handler may use the web Request and return a Response", async () => {
    await using p = await pair(transport, async (stream) => {
      const { request } = stream;
      const url = new URL(request.url);
      if (url.pathname === "/stream") {
        return new Response(
          ReadableStream.from([encoder.encode("a"), encoder.encode("b")]),
          { status: 201, headers: { "x-a": "1" } },
        );
      }
      if (url.pathname === "/empty") return new Response(null, { status: 204 });
      return Response.json({ method: request.method, body: await request.text() });
    });
    assertEquals((await p.client.post(`${p.url}/`, null, "hi")).json(), {
      method: "POST",
      body: "hi",
    });
    const streamed = await p.client.get(`${p.url}/stream`);
    assertEquals([streamed.status, streamed.body, streamed.header["x-a"]], [201, "ab", "1"]);
    assertEquals((await p.client.get(`${p.url}/empty`)).status, 204);
  });

  test("expect: 100-continue is answered when the body is read", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    await using p = await pair(
      transport,
      async (stream) => {
        if (stream.path === "/refuse") stream.respond(403, {}, true);
        else answer(200, await stream.readAll())(stream);
      },
      {},
      {},
      clock,
    );
    const expect = { expect: "100-continue" };
    const response = p.client.post(`${p.url}/`, expect, "body");
    // Over HTTP/2, Deno.serve sends no 100 (Continue): the client's patience ends, and it goes on. From
    // others the body waits for nothing else: no time passes.
    if (platform && !h1) await clock.until(response);
    assertEquals((await response).body, "body");
    assertEquals((await p.client.post(`${p.url}/refuse`, expect, "body")).status, 403);
  });

  test("a host that no URL can have is not sent, and stream.request has the one that came", async () => {
    const errors: unknown[] = [];
    await using p = await pair(
      transport,
      (stream) => new Response(stream.request.url),
      { onError: (error) => errors.push(error) },
    );
    for (const host of ["h:99999", "a/b", "u@h", "h?", "h#", "a\\b", "a b", "%61", ""]) {
      await assertRejects(() => p.client.get(`${p.url}/`, { host }), TypeError, "host must be");
    }
    assertEquals(
      (await p.client.get(`${p.url}/`, { host: "H:1" })).body,
      `${p.url.split(":")[0]}://h:1/`,
    );
    assertEquals(errors, []);
  });
});
