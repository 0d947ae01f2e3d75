/** Bodies of requests: every shape, and every way one may go wrong. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ConnectionLostError, newClient, type ServerStream } from "../../../http/mod.ts";
import { FrameType } from "../../../http/h2/frame.ts";
import { SettingId } from "../../../http/h2/settings.ts";
import { data, headers, rstStream, windowUpdate } from "../../../support/frames.ts";
import {
  frames,
  OK,
  pause,
  readRequest,
  readToEnd,
  send,
  until,
  using,
} from "../../../support/raw_server.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

const echo = async (stream: ServerStream) => {
  const body = await stream.readBytes();
  stream.respond(200, { "x-length": stream.header["content-length"] ?? "none" });
  stream.closeWrite(body);
};

for (const transport of TRANSPORTS) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`${name} (${transport.name})`, run);
  const h1 = transport.version === "HTTP/1.1";

  test("a body may be text, bytes, a form, a Blob, a ReadableStream or an async iterable", async () => {
    await using p = await pair(transport, echo);
    const text = "héllo ".repeat(5000);
    const bytes = new TextEncoder().encode(text);
    const bodies = [
      text,
      bytes,
      bytes.buffer,
      new Blob([text]),
      new Blob([text]).stream(),
      ReadableStream.from([
        text.slice(0, 7),
        "",
        bytes.slice(new TextEncoder().encode(text.slice(0, 7)).length),
      ]),
      (async function* () {
        for (let at = 0; at < text.length; at += 999) yield text.slice(at, at + 999);
      })(),
    ];
    for (const body of bodies) {
      assertEquals((await p.client.post(p.url, null, body)).body, text);
    }
    assertEquals((await p.client.get(p.url, null, { json: [1] })).json(), [1]);
    assertEquals((await p.client.post(p.url, null, null, { json: null })).body, "null");
    assertEquals((await p.client.post(p.url, null, (async function* () {})())).body, "");
    assertEquals(p.client.connections.open, 1);
  });

  test("a body that cannot be sent is refused before anything leaves", async () => {
    await using p = await pair(transport, echo);
    for (const body of [1, {}, [1], true, new Map()]) {
      await assertRejects(() => p.client.post(p.url, null, body as never), TypeError, "body");
    }
    await assertRejects(() => p.client.post(p.url, null, "a", { json: 1 }), TypeError, "json");
    await assertRejects(
      () => p.client.post(p.url, null, null, { json: () => {} }),
      TypeError,
      "json",
    );
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    await assertRejects(() => p.client.post(p.url, null, null, { json: cyclic }), TypeError);
    assertEquals(p.client.connections.open, 0);
  });

  test("a body that throws midway resets the request, and its error is the request's", async () => {
    let outcome!: (error: unknown) => void;
    const seen = new Promise<unknown>((resolve) => outcome = resolve);
    await using p = await pair(transport, async (stream) => {
      if (stream.method === "GET") return echo(stream);
      await stream.readAll().then(outcome, outcome);
    });
    const reason = new Error("the disk is gone");
    const failing = async function* () {
      yield "begun";
      await pause(5);
      throw reason;
    };
    assertEquals(await assertRejects(() => p.client.post(p.url, null, failing())), reason);
    assert(await seen instanceof Error, "the server took half a body for a whole one");
    assertEquals(p.client.connections.open, h1 ? 0 : 1);
    assertEquals((await p.client.get(p.url)).status, 200);
  });

  test("pieces of a body that are neither text nor bytes reset the request", async () => {
    await using p = await pair(transport, echo);
    const body = (async function* () {
      yield "a";
      yield 1;
    })() as unknown as AsyncIterable<string>;
    await assertRejects(() => p.client.post(p.url, null, body), TypeError, "piece");
  });

  test("content-length given for a stream is sent and kept to", async () => {
    await using p = await pair(transport, echo);
    const body = (...pieces: string[]) => ReadableStream.from(pieces);
    const length = { "content-length": "6" };
    const response = await p.client.post(p.url, length, body("abc", "def"));
    assertEquals([response.body, response.header["x-length"]], ["abcdef", "6"]);
    await assertRejects(() => p.client.post(p.url, length, body("abc")), RangeError, "6");
    await assertRejects(() => p.client.post(p.url, length, body("abc", "defg")), RangeError, "6");
    assertEquals((await p.client.post(p.url, length, body("abcdef"))).body, "abcdef");
    using raw = await p.client.request("POST", p.url, length);
    await raw.write("abc");
    await assertRejects(() => Promise.resolve().then(() => raw.closeWrite("d")), RangeError, "6");
  });

  test("an answer before the end of an endless body ends the body", async () => {
    await using p = await pair(transport, (stream) => {
      stream.respond(413, {});
      stream.closeWrite("too much");
    });
    let ended = 0;
    const endless = async function* () {
      try {
        for (;;) {
          yield new Uint8Array(1000);
        }
      } finally {
        ended++;
      }
    };
    const response = await p.client.post(p.url, null, endless());
    assertEquals([response.status, response.body], [413, "too much"]);
    await until(() => ended === 1);
    let cancelled = 0;
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => void cancelled++,
    });
    assertEquals((await p.client.post(p.url, null, silent)).status, 413);
    await until(() => cancelled === 1);
  });

  test("a request given up ends its body", async () => {
    await using p = await pair(transport, async (stream) => {
      await stream.readAll().catch(() => {});
    });
    let cancelled: unknown;
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: (reason) => void (cancelled = reason),
    });
    const controller = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 20);
    assertEquals(
      await assertRejects(() => p.client.post(p.url, null, silent, { signal: controller.signal })),
      reason,
    );
    await until(() => cancelled === reason);
  });

  test("a request that fails before its body is read ends it too", async () => {
    await using p = await pair(transport, (stream) => stream.closeWrite());
    const url = "http://127.0.0.1:1/";
    const gone = AbortSignal.abort(new Error("enough"));
    const ways: ((body: ReadableStream<Uint8Array>) => Promise<unknown>)[] = [
      (body) => p.client.post(url, null, body),
      (body) => p.client.post(p.url, null, body, { signal: gone }),
      (body) => p.client.post(p.url, { body, signal: gone }),
      (body) => p.client.send("POST", p.url, { body, signal: gone }),
      (body) => p.client.post("nonsense", null, body),
    ];
    for (const way of ways) {
      const cancelled = Promise.withResolvers<unknown>();
      const body = new ReadableStream<Uint8Array>({ cancel: cancelled.resolve });
      const error = await assertRejects(() => way(body));
      assertEquals(await cancelled.promise, error);
    }
  });

  test("headTimeout counts from the end of the request", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    await using p = await pair(
      transport,
      async (stream) => {
        const body = await stream.readAll();
        if (body.startsWith("silence")) await clock.sleep(150_000);
        stream.respond(200);
        stream.closeWrite(body);
      },
      { limits: { bodyTimeout: 0, minBodyRate: 0 } },
      {},
      clock,
    );
    const slow = async function* (text: string) {
      for (const letter of text) {
        yield letter;
        await clock.sleep(5000);
      }
    };
    const options = { headTimeout: 20_000 };
    const response = p.client.post(p.url, null, slow("slowly"), options);
    const took = await clock.until(response);
    assert(took > 20_000, `${took} ms`);
    assertEquals((await response).body, "slowly");
    const failed = assertRejects(() => p.client.post(p.url, null, slow("silence"), options));
    await clock.until(failed);
    const error = await failed;
    assert(error instanceof Error && error.message.includes("headTimeout"), String(error));
  });

  test("a raw request that has no body needs no closeWrite()", async () => {
    await using p = await pair(transport, echo);
    using raw = await p.client.request("GET", p.url, null, { headTimeout: 500 });
    await raw.waitResponse();
    assertEquals([raw.status, await raw.readAll()], [200, ""]);
  });

  test("expect: 100-continue keeps the body back from a server that refuses", async () => {
    let octets = -1;
    await using p = await pair(transport, async (stream) => {
      if (stream.path === "/refuse") {
        stream.respond(403, {});
        stream.closeWrite("no");
        return;
      }
      octets = (await stream.readBytes()).length;
      stream.respond(200, { "x-expect": stream.header["expect"] ?? "none" });
      stream.closeWrite();
    });
    const expect = { expect: "100-continue" };
    let sent = 0;
    const onUpload = ({ transferred }: { transferred: number }) => void (sent = transferred);
    const refused = await p.client.post(`${p.url}/refuse`, expect, "x".repeat(1000), { onUpload });
    assertEquals([refused.status, refused.body, sent], [403, "no", 0]);
    await p.client.post(p.url, expect, "x".repeat(1000), { onUpload });
    assertEquals([octets, sent], [1000, 1000]);
    // RFC 9110 §10.1.1: not without a body; and there is no other expectation.
    assertEquals((await p.client.post(p.url, expect)).header["x-expect"], "none");
    await assertRejects(() => p.client.post(p.url, { expect: "x" }, "y"), TypeError, "expect");
  });
}

Deno.test("an upload goes on while its answer comes, over both versions", async () => {
  for (const transport of TRANSPORTS) {
    await using p = await pair(transport, async (stream) => {
      stream.respond(200);
      for await (const piece of stream) await stream.write(piece);
      stream.closeWrite();
    });
    using raw = await p.client.request("POST", p.url);
    for (const word of ["one", "two", "three"]) {
      await raw.write(word);
      assertEquals(new TextDecoder().decode((await raw.read())!), word);
    }
    raw.closeWrite();
    assertEquals(await raw.read(), null);
    assertEquals(p.client.connections.open, 1);
  }
});

Deno.test("the answer of a server that then closes is read though the upload fails", async () => {
  await using(async (conn) => {
    await readRequest(conn);
    await send(conn, `HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig`);
    await pause(10);
  }, async (client, server) => {
    for (let i = 0; i < 20; i++) {
      const response = await client.post(server.url, null, new Uint8Array(8 << 20));
      assertEquals([response.status, response.body], [413, "big"]);
    }
    const endless = async function* () {
      for (;;) yield new Uint8Array(1000);
    };
    for (let i = 0; i < 20; i++) {
      const response = await client.post(server.url, null, endless());
      assertEquals([response.status, response.body], [413, "big"]);
    }
    assertEquals(client.connections.open, 0);
  });
});

Deno.test("a connection is not used again while most of a body waits on it", async () => {
  await using(async (conn) => {
    await readRequest(conn);
    await send(conn, `${OK}Content-Length: 2\r\n\r\nok`);
    await pause(20);
    await readToEnd(conn);
  }, async (client, server) => {
    assertEquals((await client.post(server.url, null, new Uint8Array(32 << 20))).body, "ok");
    assertEquals(client.connections.open, 0);
  });
});

Deno.test("a server that takes nothing of a body ends in a writeTimeout (HTTP/1.1)", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  await using(
    async (conn) => {
      await readRequest(conn);
      begun.resolve();
      await ended.promise;
    },
    async (client, server) => {
      const failed = assertRejects(() => client.post(server.url, null, new Uint8Array(32 << 20)));
      await begun.promise;
      await clock.until(failed);
      ended.resolve();
      assertEquals((await failed as { phase?: string }).phase, "writeTimeout");
      assertEquals(client.connections.open, 0);
    },
    { writeTimeout: 10_000 },
    clock,
  );
});

Deno.test("a server that opens no window for a body ends in a writeTimeout (HTTP/2)", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  let begun = Promise.withResolvers<void>();
  await using(
    frames(async (conn) => {
      await conn.start([SettingId.INITIAL_WINDOW_SIZE, 10]);
      for (;;) {
        await conn.request();
        begun.resolve();
      }
    }),
    async (client, server) => {
      const pieces = async function* () {
        for (let i = 0; i < 100; i++) yield new Uint8Array(10_000);
      };
      for (const body of [new Uint8Array(1 << 20), pieces()]) {
        begun = Promise.withResolvers();
        const failed = assertRejects(() => client.post(server.url, null, body));
        await begun.promise;
        await clock.until(failed);
        assertEquals((await failed as { phase?: string }).phase, "writeTimeout");
      }
    },
    { alpnProtos: ["h2"], writeTimeout: 10_000 },
    clock,
  );
});

Deno.test("an answer and RST_STREAM(NO_ERROR) to an upload is an answer (RFC 9113 §8.1)", async () => {
  await using(
    frames(async (conn) => {
      await conn.start();
      for (;;) {
        const id = await conn.request();
        await conn.next(FrameType.DATA);
        await conn.send(
          windowUpdate(0, 1 << 20),
          headers(id, [":status", "413"]),
          data(id, "too much", true),
          rstStream(id, 0),
        );
      }
    }),
    async (client, server) => {
      for (const body of [new Uint8Array(1 << 20), endlessBytes()]) {
        const response = await client.post(server.url, null, body);
        assertEquals([response.status, response.body], [413, "too much"]);
      }
      assertEquals(client.connections.open, 1);
    },
    { alpnProtos: ["h2"] },
  );
});

async function* endlessBytes(): AsyncGenerator<Uint8Array> {
  for (;;) yield new Uint8Array(1000);
}

Deno.test("a stream is not sent a second time when its connection was lost", async () => {
  await using(async (conn, nth) => {
    await readRequest(conn);
    await send(conn, `${OK}Content-Length: 2\r\n\r\nok`);
    await readRequest(conn);
    if (nth > 1) await send(conn, `${OK}Content-Length: 2\r\n\r\nok`);
  }, async (client, server) => {
    await client.get(server.url);
    await assertRejects(
      () => client.put(server.url, null, ReadableStream.from(["x"]), { retry: 3 }),
      ConnectionLostError,
    );
    assertEquals(server.connections, 1);
  });
});

Deno.test("header fields of the client are checked like those of a request", async () => {
  await using(async (conn) => {
    for (;;) {
      const request = await readRequest(conn);
      await send(conn, `${OK}Content-Length: ${request.length}\r\n\r\n${request}`);
    }
  }, async (_, server) => {
    for (
      const headers of [
        { "transfer-encoding": "gzip" },
        { "content-length": "5" },
        { te: "gzip" },
        { upgrade: "h2c" },
        { "a b": "1" },
        { host: "a/b" },
      ] as Record<string, string>[]
    ) {
      await assertRejects(async () => {
        await using client = newClient({ headers });
        await client.get(server.url);
      }, TypeError);
    }
    await using client = newClient({ headers: { connection: "close", "x-a": "1", "x-b": "2" } });
    const { body } = await client.get(server.url, { "X-B": "3" });
    assert(body.includes("x-a: 1\r\n") && body.includes("x-b: 3\r\n") && !body.includes("x-b: 2"));
    assertEquals(body.match(/connection: close\r\n/g)?.length, 1);
    assertEquals(client.connections.open, 0);
  });
});
