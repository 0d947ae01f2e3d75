/** Responses: text, bytes, JSON, streams, codings, and what is not read of them. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { gzipSync } from "node:zlib";
import { BodyTooLargeError, ConnectionLostError, type ServerStream } from "../../../http/mod.ts";
import { OK, pause, readRequest, send, until, using } from "../../../support/raw_server.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

const encoder = new TextEncoder();

for (const transport of TRANSPORTS) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`${name} (${transport.name})`, run);
  const h1 = transport.version === "HTTP/1.1";

  test("a response is text in its charset, bytes and JSON", async () => {
    const texts: Record<string, [string | undefined, Uint8Array, string]> = {
      "/utf8": [undefined, encoder.encode("hé€"), "hé€"],
      "/bom": ["text/plain", Uint8Array.of(0xef, 0xbb, 0xbf, 0x61), "a"],
      "/latin1": ["text/plain; charset=iso-8859-1", Uint8Array.of(0x68, 0xe9), "hé"],
      "/utf16": ["text/plain; charset=utf-16le", Uint8Array.of(0x68, 0, 0x69, 0), "hi"],
      "/ucs2": ["text/plain; charset=ucs-2", Uint8Array.of(0x68, 0, 0x69, 0), "hi"],
      "/quoted": ['text/plain; charset="ISO-2022-JP"', encoder.encode('\x1b$B$"\x1b(B'), "あ"],
      "/unknown": ["text/plain; charset=klingon", encoder.encode("hé"), "hé"],
    };
    await using p = await pair(transport, (stream) => {
      const [type, body] = texts[stream.path]!;
      stream.respond(200, type === undefined ? {} : { "content-type": type });
      stream.closeWrite(body);
    });
    for (const [path, [, bytes, text]] of Object.entries(texts)) {
      const response = await p.client.get(p.url + path);
      assertEquals(response.body, text, path);
      assertEquals(new Uint8Array(response.bytes), bytes);
      using stream = await p.client.send("GET", p.url + path);
      assertEquals(await stream.readAll(), text, path);
    }
  });

  test("JSON that is none is an error that says what came instead", async () => {
    await using p = await pair(transport, (stream) => {
      stream.respond(502, { "content-type": "text/html" });
      stream.closeWrite("<html>Bad Gateway</html>");
    });
    const response = await p.client.get(`${p.url}/api?key=secret`);
    const error = assertThrows(() => response.json(), SyntaxError);
    for (const part of ["502", "text/html", `${p.url}/api`, "<html>"]) {
      assert(error.message.includes(part), error.message);
    }
    assert(!error.message.includes("secret"), error.message);
    assert(error.cause instanceof SyntaxError);
    using stream = await p.client.send("GET", p.url);
    await assertRejects(() => stream.json(), SyntaxError, "502");
  });

  test("a stream that is left midway frees its connection", async () => {
    let aborted = 0;
    await using p = await pair(transport, async (stream) => {
      stream.signal.addEventListener("abort", () => aborted++);
      stream.respond(200);
      for (let i = 0; i < 1000 && !stream.signal.aborted; i++) {
        await stream.write(new Uint8Array(10_000)).catch(() => {});
        await pause(1);
      }
    });
    const leave = [
      async () => {
        for await (const _ of await p.client.send("GET", p.url)) break;
      },
      async () => {
        const stream = await p.client.send("GET", p.url);
        await stream.read();
        stream.close();
        await assertRejects(() => stream.read(), TypeError, "closed");
      },
      async () => {
        using stream = await p.client.send("GET", p.url);
        await stream.read();
      },
      async () => {
        const response = await p.client.fetch(p.url);
        const reader = response.body!.getReader();
        await reader.read();
        await reader.cancel();
      },
      async () => {
        // Not read at all.
        (await p.client.send("GET", p.url)).close();
      },
    ];
    for (const [i, way] of leave.entries()) {
      await way();
      await until(() => aborted === i + 1);
      await until(() => p.client.connections.open === (h1 ? 0 : 1));
    }
  });

  test("a response that was given up never looks complete", async () => {
    await using p = await pair(transport, async (stream) => {
      stream.respond(200);
      await stream.write("first");
      if (stream.path === "/more") await pause(100);
      stream.closeWrite("last");
    });
    for (const path of ["/", "/more"]) {
      const controller = new AbortController();
      const stream = await p.client.send("GET", p.url + path, { signal: controller.signal });
      await stream.read();
      await pause(10);
      const reason = new Error("enough");
      controller.abort(reason);
      let length = 5;
      let error: unknown;
      try {
        for (let piece = await stream.read(); piece !== null; piece = await stream.read()) {
          length += piece.length;
        }
      } catch (caught) {
        error = caught;
      }
      assert(error === reason || length === 9, `${length} octets and ${error}`);
      if (error !== undefined) {
        assertEquals(await assertRejects(() => stream.read()), reason);
      }
    }
    await pause(100);
  });

  test("maxResponseBytes holds for short and long, known and unknown lengths", async () => {
    await using p = await pair(transport, (stream) => {
      const body = "x".repeat(Number(stream.query["n"]));
      stream.respond(200, stream.path === "/known" ? { "content-length": `${body.length}` } : {});
      stream.closeWrite(body);
    });
    for (const path of ["/known", "/"]) {
      for (const n of [2, 500, 100_000]) {
        const url = `${p.url}${path}?n=${n}`;
        const fine = await p.client.get(url, null, { maxResponseBytes: n });
        assertEquals(fine.body.length, n);
        const error = await assertRejects(
          () => p.client.get(url, null, { maxResponseBytes: n - 1 }),
          BodyTooLargeError,
        );
        assertEquals(error.limit, n - 1);
        using stream = await p.client.send("GET", url, { maxResponseBytes: n - 1 });
        await assertRejects(() => stream.readBytes(), BodyTooLargeError);
        await assertRejects(() => stream.readBytes(), BodyTooLargeError);
      }
    }
  });

  test("a callback that throws ends its request with its error", async () => {
    await using p = await pair(transport, async (stream) => {
      const body = await stream.readBytes();
      stream.respond(200);
      stream.closeWrite(body);
    });
    const reason = new Error("callback");
    const fail = () => {
      throw reason;
    };
    const body = new Uint8Array(300_000);
    for (const option of ["onUpload", "onDownload"]) {
      assertEquals(
        await assertRejects(() => p.client.post(p.url, null, body, { [option]: fail })),
        reason,
      );
    }
    assertEquals((await p.client.post(p.url, null, "ok")).body, "ok");
  });

  test("fetch() hides codings, ends requests without a body, and says what was redirected", async () => {
    await using p = await pair(transport, (stream: ServerStream) => {
      const status = Number(stream.path.slice(1));
      if (status === 302) stream.respond(302, { location: "/200" });
      else if (status === 200) {
        const coded = gzipSync("hello");
        stream.respond(200, { "content-encoding": "gzip", "content-length": `${coded.length}` });
        stream.closeWrite(coded);
        return;
      } else stream.respond(status);
      stream.closeWrite(status === 205 ? "x" : undefined);
    });
    const response = await p.client.fetch(`${p.url}/302`);
    assertEquals([response.redirected, response.url], [true, `${p.url}/200`]);
    assertEquals(response.headers.get("content-encoding"), null);
    assertEquals(response.headers.get("content-length"), null);
    assertEquals(await response.text(), "hello");
    const listening = new AbortController();
    for (const status of [204, 205, 304]) {
      const empty = await p.client.fetch(`${p.url}/${status}`, { signal: listening.signal });
      assertEquals([empty.status, empty.body], [status, null]);
    }
    await p.client.close();
  });
}

Deno.test("a response that breaks off says so, in the stream and its iterator too", async () => {
  await using(async (conn) => {
    await readRequest(conn);
    await send(conn, `${OK}Content-Length: 100\r\n\r\nhalf`);
  }, async (client, server) => {
    const stream = await client.send("GET", server.url);
    const error = await assertRejects(async () => {
      for await (const _ of stream);
    }, ConnectionLostError);
    assertEquals(await assertRejects(() => stream.read()), error);
    const response = await client.fetch(server.url);
    await assertRejects(() => response.text(), ConnectionLostError);
  });
});
