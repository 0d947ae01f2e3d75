/** Responses: text, bytes, JSON, streams, codings, and what is not read of them. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import {
  BodyTooLargeError,
  ConnectionLostError,
  ProtocolError,
  type ServerStream,
} from "../../../http/mod.ts";
import { always, OK, pause, readRequest, send, until, using } from "../raw_server.ts";
import { pair, TRANSPORTS } from "../transports.ts";

const encoder = new TextEncoder();

/** An answer as octets. */
function answer(fields: string, body: string | Uint8Array, length = true): Uint8Array {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const head = `${OK}${fields}${length ? `Content-Length: ${bytes.length}\r\n` : ""}\r\n`;
  const out = new Uint8Array(head.length + bytes.length);
  out.set(encoder.encode(head));
  out.set(bytes, head.length);
  return out;
}

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

// ---- codings -----------------------------------------------------------------------------------

const TEXT = "hello decoded world ".repeat(500);

const QUICK = { [constants.BROTLI_PARAM_QUALITY]: 4 };
type Coder = (text: string | Uint8Array) => Uint8Array;

const CODERS: readonly (readonly [string, string, Coder])[] = [
  ["gzip", "gzip", gzipSync],
  ["zlib", "deflate", deflateSync],
  ["bare deflate", "deflate", deflateRawSync],
  ["brotli", "br", (text) => brotliCompressSync(text, { params: QUICK })],
  ["zstd", "zstd", zstdCompressSync],
];

for (const [format, coding, code] of CODERS) {
  const fields = `Content-Encoding: ${coding}\r\n`;

  Deno.test(`a body of ${format} is decoded however it is cut`, async () => {
    const bytes = answer(`${fields}Connection: close\r\n`, code(TEXT));
    await using(async (conn) => {
      conn.setNoDelay(true);
      await readRequest(conn);
      for (let at = 0; at < bytes.length; at += 1 + at % 5) {
        await send(conn, bytes.subarray(at, at + 1 + at % 5));
        if (at < 120) await pause(0);
      }
    }, async (client, server) => {
      assertEquals((await client.get(server.url)).body, TEXT);
    });
  });

  Deno.test(`a body of ${format} that is cut short or damaged is an error`, async () => {
    const whole = Uint8Array.from(code(TEXT));
    const broken = whole.slice();
    broken.fill(0xff, 4, 12);
    for (const bytes of [whole.slice(0, -1), whole.slice(0, -6), whole.slice(0, 3), broken]) {
      await using(always(answer(fields, bytes)), async (client, server) => {
        const error = await assertRejects(() => client.get(server.url), ProtocolError);
        assert(error.message.includes(coding), error.message);
      });
    }
  });

  Deno.test(`a body of ${format} with garbage after it ends, and costs nothing else`, async () => {
    for (const length of [1, 10_000, 1 << 20]) {
      const coded = code(TEXT);
      const bytes = new Uint8Array(coded.length + length).fill(0x41);
      bytes.set(coded);
      await using(always(answer(fields, bytes)), async (client, server) => {
        const outcome = await client.get(server.url, null, { timeout: 3000 }).then(
          (response) => response.body === TEXT ? "passed over" : "wrong",
          (error) => error instanceof ProtocolError ? "refused" : String(error),
        );
        // What follows a member of gzip is another member.
        const refused = length === 1 << 20 || coding === "gzip";
        assertEquals(outcome, refused ? "refused" : "passed over");
        if (!refused) assertEquals(client.connections.open, 1);
      });
    }
  });

  Deno.test(`a bomb of ${format} stops at the limit`, async () => {
    const bomb = code(new Uint8Array(48 << 20));
    await using(always(answer(fields, bomb)), async (client, server) => {
      const error = await assertRejects(
        () => client.get(server.url, null, { maxResponseBytes: 1 << 20 }),
        BodyTooLargeError,
      );
      assertEquals(error.limit, 1 << 20);
    });
  });
}

Deno.test("codings may come in several fields; an unknown one leaves the body alone", async () => {
  const both = brotliCompressSync(gzipSync(TEXT));
  await using(
    always(answer("Content-Encoding: gzip\r\nContent-Encoding: br\r\n", both)),
    async (client, server) => assertEquals((await client.get(server.url)).body, TEXT),
  );
  await using(
    always(answer("Content-Encoding: gzip, rot13\r\n", "uryyb")),
    async (client, server) => {
      const response = await client.get(server.url);
      assertEquals([response.body, response.header["content-encoding"]], ["uryyb", "gzip, rot13"]);
    },
  );
});

Deno.test("a coded body to HEAD, 204 and 304 is no body", async () => {
  for (const status of ["200 OK", "204 No Content", "304 Not Modified"]) {
    const head = `HTTP/1.1 ${status}\r\nContent-Encoding: gzip\r\n${
      status[0] === "3" || status === "200 OK" ? "Content-Length: 100\r\n" : ""
    }\r\n`;
    await using(always(head), async (client, server) => {
      for (let i = 0; i < 2; i++) {
        const response = status === "200 OK"
          ? await client.head(server.url)
          : await client.get(server.url);
        assertEquals(response.body, "");
      }
      assertEquals(server.connections, 1);
    });
  }
});

Deno.test("a body in zstd may have several frames, in whatever pieces", async () => {
  const skipped = Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3);
  const frames = [zstdCompressSync(TEXT), skipped, zstdCompressSync("more"), zstdCompressSync("!")];
  const whole = Uint8Array.from(frames.flatMap((frame) => [...frame]));
  const bytes = answer("Content-Encoding: zstd\r\nConnection: close\r\n", whole);
  for (const step of [1, 7, 1000]) {
    await using(async (conn) => {
      conn.setNoDelay(true);
      await readRequest(conn);
      for (let at = 0; at < bytes.length; at += step) {
        await send(conn, bytes.subarray(at, at + step));
        await pause(0);
      }
    }, async (client, server) => {
      assertEquals((await client.get(server.url)).body, `${TEXT}more!`);
    });
  }
  const cut = answer("Content-Encoding: zstd\r\n", whole.slice(0, -2));
  await using(always(cut), async (client, server) => {
    await assertRejects(() => client.get(server.url), ProtocolError, "unexpected end");
  });
});

Deno.test("a zstd frame that asks for a window of more than 8 MiB is refused (RFC 9659)", async () => {
  const big = zstdCompressSync(new Uint8Array(32 << 20), {
    params: { [constants.ZSTD_c_windowLog]: 25, [constants.ZSTD_c_contentSizeFlag]: 0 },
  });
  const fine = zstdCompressSync(TEXT, { params: { [constants.ZSTD_c_windowLog]: 23 } });
  await using(always(answer("Content-Encoding: zstd\r\n", big)), async (client, server) => {
    await assertRejects(() => client.get(server.url), ProtocolError, "zstd");
  });
  await using(always(answer("Content-Encoding: zstd\r\n", fine)), async (client, server) => {
    assertEquals((await client.get(server.url)).body, TEXT);
  });
});

Deno.test("pieces of a coded stream come out as they come in", async () => {
  for (const transport of TRANSPORTS) {
    let go!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    await using p = await pair(transport, async (stream) => {
      stream.respond(200, { "content-encoding": "gzip" });
      const begun = { finishFlush: constants.Z_SYNC_FLUSH };
      await stream.write(gzipSync("data: 1\n\n", begun));
      await gone;
      stream.closeWrite();
    });
    using stream = await p.client.send("GET", p.url);
    assertEquals(new TextDecoder().decode((await stream.read())!), "data: 1\n\n");
    go();
    await assertRejects(() => stream.read(), ProtocolError, "gzip");
  }
});

Deno.test("a long coded body leaves no listeners behind", async () => {
  const noise = new Uint8Array(4 << 20);
  for (let at = 0; at < noise.length; at += 65536) {
    crypto.getRandomValues(noise.subarray(at, at + 65536));
  }
  const warnings: string[] = [];
  const { default: process } = await import("node:process");
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on("warning", onWarning);
  await using(
    always(answer("Content-Encoding: gzip\r\n", gzipSync(noise))),
    async (client, server) => {
      using stream = await client.send("GET", server.url);
      let length = 0;
      for await (const piece of stream) {
        length += piece.length;
        if (length % (1 << 18) < 16384) await pause(0);
      }
      assertEquals(length, noise.length);
    },
  );
  await pause(0);
  process.off("warning", onWarning);
  assertEquals(warnings, []);
});

Deno.test("a part of a body is asked for as it is", async () => {
  await using(async (conn) => {
    for (;;) {
      const coding = /accept-encoding: (.*)\r/.exec(await readRequest(conn))?.[1] ?? "none";
      await send(conn, answer("", coding));
    }
  }, async (client, server) => {
    const get = async (headers?: Record<string, string>, options = {}) =>
      (await client.get(server.url, headers, options)).body;
    assertEquals(await get(), "gzip, deflate, br, zstd");
    assertEquals(await get({ range: "bytes=0-9" }), "identity");
    assertEquals(await get({ range: "bytes=0-9", "accept-encoding": "br" }), "br");
    assertEquals(await get({}, { decompress: false }), "none");
  });
});

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
