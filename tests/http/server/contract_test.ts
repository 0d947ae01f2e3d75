/** The contract of server and client, row by row, over both versions, plain and TLS. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  BodyTooLargeError,
  ConnectionLostError,
  DEFAULT_SERVER_LIMITS,
  del,
  listen,
  newClient,
  RedirectError,
  type ServerStream,
  StreamResetError,
  TimeoutError,
} from "../../../http/mod.ts";
import { until } from "../../../support/raw_server.ts";
import {
  pair,
  PLATFORM_CLIENTS,
  PLATFORM_SERVERS,
  testCertificate,
  TRANSPORTS,
} from "../../../support/transports.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

const encoder = new TextEncoder();
const text = { "content-type": "text/plain" };

/** Answers with `body`. */
const answer =
  (status: number, body: string, headers: Record<string, string> = text) =>
  (stream: ServerStream) => {
    stream.respond(status, headers);
    stream.closeWrite(body);
  };

for (const transport of [...TRANSPORTS, ...PLATFORM_SERVERS, ...PLATFORM_CLIENTS]) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`${name} (${transport.name})`, run);
  const h1 = transport.version === "HTTP/1.1";
  /** What Deno.serve cannot do must be refused, with its name. */
  const platform = transport.platform === "server";

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

  test("stream.write() sends the body in pieces and closeWrite() ends it", async () => {
    await using p = await pair(transport, async (stream) => {
      await stream.respond(200, text);
      await stream.write("one ");
      await stream.write(encoder.encode("two "));
      stream.closeWrite("three");
    });
    const response = await p.client.get(p.url);
    assertEquals(response.body, "one two three");
    assertEquals(response.header["transfer-encoding"], h1 ? "chunked" : undefined);
  });

  test("pieces arrive when they are written, not when the response ends", async () => {
    let go!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    await using p = await pair(transport, async (stream) => {
      await stream.respond(200, { "content-type": "text/event-stream" });
      await stream.write("data: 1\n\n");
      await gone;
      stream.closeWrite("data: 2\n\n");
    });
    using stream = await p.client.send("GET", p.url);
    const first = await stream.read();
    assertEquals(new TextDecoder().decode(first!), "data: 1\n\n");
    go();
    assertEquals(await stream.readAll(), "data: 2\n\n");
  });

  test("a head given alone arrives before any body", async () => {
    let go!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    await using p = await pair(transport, async (stream) => {
      await stream.respond(200, text);
      await gone;
      stream.closeWrite("late");
    });
    using stream = await p.client.send("GET", p.url);
    assertEquals(stream.status, 200);
    go();
    assertEquals(await stream.readAll(), "late");
  });

  test("respond() with close ends the response without a body", async () => {
    await using p = await pair(transport, (stream) => {
      stream.respond(403, text, true);
      assertThrows(() => stream.closeWrite("x"), TypeError, "finished");
    });
    const response = await p.client.get(p.url);
    assertEquals([response.status, response.body], [403, ""]);
    if (h1) {
      assertEquals(response.header["connection"], "close");
      assertEquals(p.client.connections.open, 0);
    }
  });

  test("a stream that is finished refuses every use with a clear error", async () => {
    const errors: string[] = [];
    await using p = await pair(transport, async (stream) => {
      await stream.respond(200);
      stream.closeWrite("done");
      for (
        const use of [
          () => stream.respond(200),
          () => stream.write("x"),
          () => Promise.resolve().then(() => stream.closeWrite()),
        ]
      ) {
        errors.push((await assertRejects(use, TypeError)).message);
      }
    });
    assertEquals((await p.client.get(p.url)).body, "done");
    assertEquals(errors, [
      "Cannot respond as the stream is finished",
      "Cannot write as the stream is finished",
      "Cannot closeWrite as the stream is finished",
    ]);
  });

  test("respond() refuses statuses and header fields that may not be sent", async () => {
    const errors: string[] = [];
    await using p = await pair(transport, async (stream) => {
      for (const status of [99, 100, 101, 199, 600, 999, 200.5]) {
        errors.push((await assertRejects(() => stream.respond(status), RangeError)).name);
      }
      for (
        const headers of [
          { "x y": "1" },
          { "": "1" },
          { x: "a\r\nb: c" },
          { x: "a\0" },
          { x: "\x01" },
          { x: "\x7f" },
          { x: "€" },
          { "content-length": "x" },
        ]
      ) {
        errors.push((await assertRejects(() => stream.respond(200, headers), TypeError)).name);
      }
      await stream.respond(200, { "X-Ok": "é\t", "set-cookie": ["a=1", "b=2"] });
      stream.closeWrite("ok");
    });
    const response = await p.client.get(p.url);
    assertEquals(response.header["x-ok"], "é");
    assertEquals(response.header["set-cookie"], ["a=1", "b=2"]);
    assertEquals(errors, [...Array(7).fill("RangeError"), ...Array(8).fill("TypeError")]);
  });

  test("a handler that throws answers 500 without its text, and the server lives", async () => {
    const told: unknown[] = [];
    await using p = await pair(transport, (stream) => {
      if (stream.path === "/sync") throw new Error("secret 1");
      if (stream.path === "/async") return Promise.reject(new Error("secret 2"));
      if (stream.path === "/nothing") return;
      answer(200, "ok")(stream);
    }, { onError: (error) => told.push(error instanceof Error ? error.message : error) });
    for (const path of ["/sync", "/async", "/nothing"]) {
      const response = await p.client.get(p.url + path);
      assertEquals([response.status, response.body], [500, "Internal Server Error"]);
    }
    assertEquals((await p.client.get(p.url)).body, "ok");
    assertEquals(told.length, 3);
    assertEquals(told.slice(0, 2), ["secret 1", "secret 2"]);
  });

  test("a handler that throws in the middle of a response breaks it off", async () => {
    await using p = await pair(transport, async (stream) => {
      await stream.respond(200, text);
      await stream.write("half");
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Error("no more");
    });
    const error = await assertRejects(() => p.client.get(p.url));
    assert(error instanceof (h1 ? ConnectionLostError : StreamResetError), String(error));
  });

  test("a body that differs from content-length never looks whole", async () => {
    const lengths: Record<string, [string, string]> = {
      "/short": ["10", "hello"],
      "/long": ["3", "hello"],
    };
    await using p = await pair(transport, async (stream) => {
      const [length, body] = lengths[stream.path]!;
      await stream.respond(200, { "content-length": length });
      await stream.write(body);
      stream.closeWrite();
    });
    await assertRejects(() => p.client.get(`${p.url}/short`));
    const long = await p.client.get(`${p.url}/long`).then((r) => r.status, () => "error");
    assert(long === 500 || long === "error", String(long));
  });

  test("responses to HEAD, 204 and 304 have no body", async () => {
    await using p = await pair(transport, (stream) => {
      const status = Number(stream.path.slice(1));
      stream.respond(status, text);
      stream.closeWrite(status === 200 ? "hello" : undefined);
    });
    const head = await p.client.head(`${p.url}/200`);
    assertEquals([head.status, head.body, head.header["content-length"]], [200, "", "5"]);
    for (const status of [204, 304]) {
      const response = await p.client.get(`${p.url}/${status}`);
      assertEquals([response.status, response.body], [status, ""]);
    }
    assertEquals((await p.client.get(`${p.url}/200`)).body, "hello");
    assertEquals(p.client.connections.open, 1);
  });

  if (platform) {
    test("trailers are refused by name, and no answer looks whole without them", async () => {
      await using p = await pair(transport, async (stream) => {
        assertEquals({ ...stream.trailers }, {});
        await stream.respond(200, text);
        assertThrows(() => stream.closeWrite("x", { "x-a": "1" }), TypeError, "Deno.serve");
        stream.abort();
      });
      await assertRejects(() => p.client.get(p.url));
    });
  } else {test("trailers go both ways", async () => {
      await using p = await pair(transport, async (stream) => {
        const body = await stream.readAll();
        await stream.respond(200, text);
        stream.closeWrite(`${body} ${stream.trailers["x-sum"]}`, { "X-Total": "7" });
      });
      using raw = await p.client.request("POST", p.url);
      await raw.write("hello");
      raw.closeWrite(null, { "x-sum": "5" });
      await raw.waitResponse();
      assertEquals(await raw.readAll(), "hello 5");
      assertEquals(raw.trailers["x-total"], "7");
    });}

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

  test("stream.signal aborts when the client goes away", async () => {
    let aborted!: () => void;
    const gone = new Promise<void>((resolve) => aborted = resolve);
    await using p = await pair(transport, async (stream) => {
      stream.signal.addEventListener("abort", () => aborted());
      await stream.respond(200, text);
      await stream.write("x");
      await gone;
    });
    const stream = await p.client.send("GET", p.url);
    await stream.read();
    stream.close();
    await gone;
  });

  test("server.close() lets what runs finish", async () => {
    let go!: () => void;
    let started!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    const running = new Promise<void>((resolve) => started = resolve);
    await using p = await pair(transport, async (stream) => {
      started();
      await gone;
      answer(200, "finished")(stream);
    });
    const response = p.client.get(p.url);
    await running;
    const closed = p.server.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    go();
    assertEquals((await response).body, "finished");
    await closed;
    await assertRejects(() => p.client.get(p.url));
  });

  test("server.close() cuts what does not finish within drainTimeout", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    let started!: () => void;
    const running = new Promise<void>((resolve) => started = resolve);
    let release!: () => void;
    await using p = await pair(
      transport,
      (stream) => {
        started();
        return new Promise<void>((resolve) => release = resolve).then(() =>
          answer(200, "")(stream)
        );
      },
      { limits: { drainTimeout: 50_000 } },
      {},
      clock,
    );
    const response = assertRejects(() => p.client.get(p.url));
    await running;
    const took = await clock.until(p.server.close());
    assert(took >= 50_000, `${took} ms`);
    await response;
    release();
  });

  test("a body over maxBodyBytes is answered with 413", async () => {
    await using p = await pair(transport, async (stream) => {
      await stream.readAll();
      answer(200, "ok")(stream);
    }, { limits: { maxBodyBytes: 1000 } });
    assertEquals((await p.client.post(p.url, null, "x".repeat(1000))).status, 200);
    assertEquals((await p.client.post(p.url, null, "x".repeat(1001))).status, 413);
    const unknown = (async function* () {
      yield "x".repeat(600);
      yield "x".repeat(600);
    })();
    assertEquals((await p.client.post(p.url, null, unknown)).status, 413);
  });

  test("a body that stops coming is answered with 408", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    const begun = Promise.withResolvers<void>();
    await using p = await pair(
      transport,
      async (stream) => {
        begun.resolve();
        await stream.readAll();
        answer(200, "ok")(stream);
      },
      { limits: { bodyTimeout: 20_000 } },
      {},
      clock,
    );
    using raw = await p.client.request("POST", p.url);
    await raw.write("begun");
    await begun.promise;
    const took = await clock.until(raw.waitResponse());
    assert(took >= 20_000, `${took} ms`);
    assertEquals(raw.status, 408);
  });

  test("more handlers than maxHandlers are answered with 503", async () => {
    let go!: () => void;
    let started!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    const running = new Promise<void>((resolve) => started = resolve);
    await using p = await pair(transport, async (stream) => {
      started();
      await gone;
      answer(200, "ok")(stream);
    }, { limits: { maxHandlers: 1 } });
    const first = p.client.get(p.url);
    await running;
    assertEquals((await p.client.get(p.url)).status, 503);
    go();
    assertEquals((await first).status, 200);
    assertEquals(p.server.handlers, 0);
  });

  if (platform) {
    test("limits that Deno.serve cannot keep are refused by name", async () => {
      for (const name of Object.keys(DEFAULT_SERVER_LIMITS)) {
        const kept = ["maxBodyBytes", "bodyTimeout", "minBodyRate", "maxHandlers", "drainTimeout"];
        const made = pair(transport, answer(200, "ok"), { limits: { [name]: 1000 } });
        if (kept.includes(name)) await (await made)[Symbol.asyncDispose]();
        else await assertRejects(() => made, TypeError, `limits.${name} on Deno.serve`);
      }
    });
  } else {test("an idle connection is closed after idleTimeout, and the client dials anew", async () => {
      const clock = new FakeClock(OVER_SOCKETS);
      await using p = await pair(
        transport,
        answer(200, "ok"),
        { limits: { idleTimeout: 20_000 } },
        { idleTimeout: 300_000 },
        clock,
      );
      assertEquals((await p.client.get(p.url)).body, "ok");
      await clock.advance(19_000);
      assertEquals(p.server.connections, 1);
      await clock.advance(2000);
      await until(() =>
        p.server.connections === 0
      );
      assertEquals((await p.client.get(p.url)).body, "ok");
    });}

  // ---- client --------------------------------------------------------------------------------

  test("post() sets content-length; a stream has none", async () => {
    await using p = await pair(transport, async (stream) => {
      await stream.readAll();
      answer(200, `${stream.header["content-length"]}`)(stream);
    });
    assertEquals((await p.client.post(p.url, null, "héllo")).body, "6");
    assertEquals((await p.client.put(p.url, { "content-length": "2" }, "hi")).body, "2");
    await assertRejects(() => p.client.post(p.url, { "content-length": "3" }, "hi"), TypeError);
    const pieces = (async function* () {
      yield "x";
    })();
    assertEquals((await p.client.post(p.url, null, pieces)).body, "undefined");
  });

  test("every method has its call, and json its content-type", async () => {
    await using p = await pair(transport, async (stream) => {
      const body = await stream.readAll();
      answer(200, `${stream.method} ${stream.header["content-type"]} ${body}`)(stream);
    });
    const { client } = p;
    assertEquals((await client.put(p.url, null, "a")).body, "PUT undefined a");
    assertEquals((await client.patch(p.url, null, "b")).body, "PATCH undefined b");
    assertEquals((await client.delete(p.url)).body, "DELETE undefined ");
    assertEquals(
      (await client.post(p.url, null, null, { json: { a: 1 } })).body,
      'POST application/json {"a":1}',
    );
    assertEquals(
      (await client.post(p.url, null, new URLSearchParams({ a: "b c" }))).body,
      "POST application/x-www-form-urlencoded;charset=UTF-8 a=b+c",
    );
    const form = new FormData();
    form.set("a", "b");
    assert((await client.post(p.url, null, form)).body.includes('name="a"'));
  });

  test("redirects 301, 302, 303 become GET without body; 307, 308 keep both", async () => {
    await using p = await pair(transport, async (stream) => {
      const body = await stream.readAll();
      const status = Number(stream.path.slice(1));
      if (status > 0) {
        stream.respond(status, { location: "/" });
        stream.closeWrite("moved");
      } else answer(200, `${stream.method} ${body} ${stream.header["content-type"]}`)(stream);
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const response = await p.client.post(`${p.url}/${status}`, { "content-type": "a/b" }, "body");
      assertEquals(response.body, status < 307 ? "GET  undefined" : "POST body a/b");
      assertEquals([response.redirects, response.url], [1, `${p.url}/`]);
    }
    assertEquals((await p.client.get(`${p.url}/302`, null, { redirect: "manual" })).status, 302);
    assertEquals(p.client.connections.open, 1);
    using raw = await p.client.request("GET", `${p.url}/302`);
    raw.closeWrite();
    await raw.waitResponse();
    assertEquals([raw.status, raw.header["location"], await raw.readAll()], [302, "/", "moved"]);
  });

  test("10 redirects are followed, the 11th and a loop are errors", async () => {
    await using p = await pair(transport, (stream) => {
      const n = Number(stream.path.slice(1));
      if (stream.path === "/loop") stream.respond(302, { location: "/loop" });
      else if (n > 0) stream.respond(302, { location: `/${n - 1}` });
      else stream.respond(200);
      stream.closeWrite();
    });
    assertEquals((await p.client.get(`${p.url}/10`)).redirects, 10);
    const many = await assertRejects(() => p.client.get(`${p.url}/11`), RedirectError);
    assertEquals(many.fault, "count");
    const loop = await assertRejects(() => p.client.get(`${p.url}/loop`), RedirectError);
    assertEquals(loop.fault, "loop");
  });

  test("connections are reused, and concurrent requests share or fan out", async () => {
    await using p = await pair(transport, async (stream) => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      answer(200, "ok")(stream);
    });
    for (let i = 0; i < 3; i++) await p.client.get(p.url);
    assertEquals(p.client.connections.open, 1);
    await Promise.all(Array.from({ length: 20 }, () => p.client.get(p.url)));
    assertEquals(p.client.connections.open, h1 ? 10 : 1);
  });

  test("signal and timeouts end a request with their reason", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    let arrived = Promise.withResolvers<void>();
    await using p = await pair(
      transport,
      async (stream) => {
        if (stream.path === "/body") {
          await stream.respond(200, text);
          await stream.write("x");
        }
        arrived.resolve();
        await new Promise<void>((resolve) =>
          stream.signal.addEventListener("abort", () => resolve(), { once: true })
        );
      },
      {},
      {},
      clock,
    );
    const phase = async (path: string, options: Record<string, number>) => {
      arrived = Promise.withResolvers();
      const failed = assertRejects(() => p.client.get(p.url + path, null, options), TimeoutError);
      await arrived.promise;
      await clock.until(failed);
      return (await failed).phase;
    };
    assertEquals(await phase("/", { timeout: 10_000 }), "timeout");
    assertEquals(await phase("/body", { timeout: 10_000 }), "timeout");
    assertEquals(await phase("/", { headTimeout: 10_000 }), "headTimeout");
    assertEquals(await phase("/body", { bodyTimeout: 10_000 }), "bodyTimeout");
    const controller = new AbortController();
    const reason = new Error("enough");
    const pending = assertRejects(
      () => p.client.get(p.url, null, { signal: controller.signal }),
      Error,
      "enough",
    );
    setTimeout(() => controller.abort(reason), 20);
    assertEquals(await pending, reason);
    assertEquals(
      await assertRejects(() => p.client.get(p.url, null, { signal: AbortSignal.abort(reason) })),
      reason,
    );
  });

  test("a response over maxResponseBytes is an error", async () => {
    await using p = await pair(transport, answer(200, "x".repeat(5000)));
    await assertRejects(
      () => p.client.get(p.url, null, { maxResponseBytes: 4999 }),
      BodyTooLargeError,
    );
    assertEquals((await p.client.get(p.url, null, { maxResponseBytes: 5000 })).body.length, 5000);
  });

  test("progress of upload and download is reported", async () => {
    await using p = await pair(transport, async (stream) => {
      const body = await stream.readBytes();
      await stream.respond(200, { "content-length": `${body.length}` });
      stream.closeWrite(body);
    });
    let up = 0;
    let down = 0;
    await p.client.post(p.url, null, new Uint8Array(200_000), {
      onUpload: ({ transferred, total }) => {
        assertEquals(total, 200_000);
        up = transferred;
      },
      onDownload: ({ transferred }) => {
        down = transferred;
      },
    });
    assertEquals([up, down], [200_000, 200_000]);
  });

  test("inform() sends early hints before the answer", async () => {
    await using p = await pair(transport, (stream) => {
      const inform = () => stream.inform(103, { link: "</a.css>; rel=preload" });
      if (platform) assertThrows(inform, TypeError, "Deno.serve");
      else inform();
      answer(200, "ok")(stream);
    });
    assertEquals((await p.client.get(p.url)).body, "ok");
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
}

for (const transport of [...TRANSPORTS, ...PLATFORM_SERVERS, ...PLATFORM_CLIENTS]) {
  Deno.test(`compress puts whole responses in a coding the client takes (${transport.name})`, async () => {
    const body = "compress me ".repeat(500);
    await using p = await pair(transport, async (stream) => {
      if (stream.path === "/response") return new Response(body);
      await stream.respond(200, {
        "content-type": stream.path === "/image" ? "image/png" : "text/plain",
        "content-length": String(stream.path === "/short" ? 5 : body.length),
        etag: '"1"',
      });
      if (stream.path === "/pieces") {
        await stream.write(body.slice(0, 100));
        stream.closeWrite(body.slice(100));
      } else stream.closeWrite(stream.path === "/short" ? "short" : body);
    }, { compress: true });
    const get = async (path: string, accept = "gzip, br") => {
      const response = await p.client.get(p.url + path, { "accept-encoding": accept });
      assertEquals(response.body.length, path === "/short" ? 5 : body.length);
      return response.header["content-encoding"];
    };
    assertEquals(await get("/"), "br");
    assertEquals(await get("/", "gzip"), "gzip");
    assertEquals(await get("/", "br;q=0, gzip;q=0.5"), "gzip");
    assertEquals(await get("/", "identity"), undefined);
    assertEquals(await get("/response"), "br");
    for (const path of ["/image", "/short", "/pieces"]) assertEquals(await get(path), undefined);
    const coded = await p.client.get(p.url, { "accept-encoding": "gzip" });
    assertEquals([coded.header["vary"], coded.header["etag"]], ["accept-encoding", 'W/"1"']);
  });
}

Deno.test("listen() chooses the certificate by the server name and replaces it", async () => {
  const one = await testCertificate();
  await using server = listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [one],
    handler: answer(200, "ok"),
  });
  await using client = newClient({ caCerts: [one.ca], serverName: "localhost" });
  assertEquals((await client.get(`https://${server.addr}`)).body, "ok");
  server.setCerts([one]);
  await client.close();
  await using again = newClient({ caCerts: [one.ca], serverName: "localhost" });
  assertEquals((await again.get(`https://${server.addr}`)).body, "ok");
});

Deno.test("listen() with certs and without tls serves plain HTTP", async () => {
  const files = await testCertificate();
  await using server = listen({ addr: "127.0.0.1:0", certs: [files], handler: answer(200, "ok") });
  await using client = newClient();
  assertEquals((await client.get(`http://${server.addr}`)).body, "ok");
});

Deno.test("listen() refuses a configuration it cannot keep", () => {
  const handler = answer(200, "");
  const refused = (conf: unknown) => assertThrows(() => listen(conf as never), TypeError).message;
  refused({ addr: "127.0.0.1:0" });
  refused({ addr: "127.0.0.1:0", handler: 1 });
  refused({ addr: "127.0.0.1", handler });
  refused({ addr: "127.0.0.1:0", handler, tls: true });
  refused({ addr: "127.0.0.1:0", handler, alpnProtos: ["h3"] });
  refused({ addr: "127.0.0.1:0", handler, limits: { maxBodyBytes: -1 } });
  refused({ addr: "127.0.0.1:0", handler, limits: { nonsense: 1 } });
  refused({ addr: "127.0.0.1:0", handler, engine: "other" });
});

Deno.test("listen() throws when the port is in use", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: answer(200, "") });
  assertThrows(() => listen({ addr: server.addr, handler: answer(200, "") }));
});

Deno.test("newClient() refuses options it cannot keep", () => {
  assertThrows(() => newClient({ maxIdlePerHost: -1 }), TypeError);
  assertThrows(() => newClient({ alpnProtos: [] }), TypeError);
  assertThrows(() => newClient({ alpnProtos: ["h3"] }), TypeError);
  assertThrows(() => newClient({ cert: "x" }), TypeError);
});

Deno.test("a client that is closed refuses requests; close() may be called again", async () => {
  const client = newClient();
  await client.close();
  await client.close();
  await assertRejects(() => client.get("http://127.0.0.1:1/"), TypeError, "closed");
});

Deno.test("requests refuse URLs, methods and headers that cannot be sent", async () => {
  await using client = newClient();
  for (const url of ["/path", "ftp://h/", "http://", "nonsense"]) {
    await assertRejects(() => client.get(url), TypeError);
  }
  for (
    const headers of [
      { "a b": "1" },
      { a: "1\r\nb: 2" },
      { host: "a/b" },
      { te: "gzip" },
      { upgrade: "h2c" },
      { "transfer-encoding": "gzip" },
    ]
  ) {
    await assertRejects(
      () => client.get("http://127.0.0.1:1/", headers as Record<string, string>),
      TypeError,
    );
  }
  await assertRejects(() => client.request("G T", "http://127.0.0.1:1/"), TypeError);
});

Deno.test("the plain functions work on the default client", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: answer(200, "ok") });
  assertEquals((await del(`http://${server.addr}/`, { connection: "close" })).body, "ok");
});
