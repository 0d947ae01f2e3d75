/** What clients do with requests and answers, over both versions, plain and TLS, and on each engine. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { BodyTooLargeError, RedirectError, TimeoutError } from "../../../http/mod.ts";
import { answer, contract, text } from "../contract.ts";
import { until } from "../../../support/raw_server.ts";
import { pair } from "../../../support/transports.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

contract((test, { transport, h1 }) => {
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
    const clock = new FakeClock(OVER_SOCKETS);
    await using p = await pair(
      transport,
      async (stream) => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        answer(200, "ok")(stream);
      },
      {},
      {},
      clock,
    );
    for (let i = 0; i < 3; i++) await p.client.get(p.url);
    assertEquals(p.client.connections.open, 1);
    await Promise.all(Array.from({ length: 20 }, () => p.client.get(p.url)));
    assertEquals(p.client.connections.open, h1 ? 20 : 1);
    await clock.advance(1_500);
    await until(() => p.client.connections.open === (h1 ? 10 : 1));
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

  test("a body that is read twice at once goes to one reader whole, or piece by piece to both", async () => {
    const body = "0123456789".repeat(20_000);
    await using p = await pair(transport, async (stream) => {
      const length = { "content-length": String(body.length) };
      await stream.respond(200, stream.path === "/known" ? length : {});
      for (let at = 0; at < body.length; at += 50_000) {
        await stream.write(body.slice(at, at + 50_000));
      }
      stream.closeWrite();
    });
    const known = await p.client.send("GET", `${p.url}/known`);
    const [first, second, third] = await Promise.allSettled([
      known.readAll(),
      known.readAll(),
      known.read(),
    ]);
    assertEquals(first, { status: "fulfilled", value: body });
    for (const other of [second, third]) {
      assert(other.status === "rejected" && other.reason instanceof TypeError);
      assertEquals(other.reason.message, "Cannot read the body as a read is under way");
    }
    const pieces = await p.client.send("GET", p.url);
    let got = "";
    const decoder = new TextDecoder();
    const read = async () => {
      for (let piece = await pieces.read(); piece !== null; piece = await pieces.read()) {
        got += decoder.decode(piece);
      }
    };
    await Promise.all([read(), read(), read()]);
    assertEquals(got.length, body.length);
    assert(got === body);
  });
});
