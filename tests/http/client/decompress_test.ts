/** Bodies in codings: whole, cut, damaged, too large. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { BodyTooLargeError, ProtocolError } from "../../../http/mod.ts";
import { always, OK, pause, readRequest, send, using } from "../../../support/raw_server.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

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
        const outcome = await client.get(server.url, null, { timeout: 30_000 }).then(
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
