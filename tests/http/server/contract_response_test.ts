/** What handlers send and clients get, over both versions, plain and TLS, and on each engine. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConnectionLostError, StreamResetError } from "../../../http/mod.ts";
import { answer, contract, text } from "../contract.ts";
import { pair } from "../../../support/transports.ts";

const encoder = new TextEncoder();

contract((test, { transport, h1, platform }) => {
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

  test("inform() sends early hints before the answer", async () => {
    await using p = await pair(transport, (stream) => {
      const inform = () => stream.inform(103, { link: "</a.css>; rel=preload" });
      if (platform) assertThrows(inform, TypeError, "Deno.serve");
      else inform();
      answer(200, "ok")(stream);
    });
    assertEquals((await p.client.get(p.url)).body, "ok");
  });
});

contract((test, { transport }) => {
  test("compress puts whole responses in a coding the client takes", async () => {
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
});
