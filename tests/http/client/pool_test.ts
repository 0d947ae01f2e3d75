/** Connections: how many are opened, what they carry, when they go. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createServer, type ServerHttp2Session } from "node:http2";
import {
  type Client,
  ConnectionLostError,
  DialError,
  newClient,
  ProtocolError,
  StreamResetError,
} from "../../../http/mod.ts";
import { FrameType } from "../../../http/h2/frame.ts";
import { SettingId } from "../../../http/h2/settings.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { goAway, rstStream, windowUpdate } from "../../../support/frames.ts";
import {
  always,
  type FrameConn,
  frames,
  OK,
  pause,
  RawServer,
  readRequest,
  send,
  until,
  using,
} from "../../../support/raw_server.ts";
import { pair, testCertificate, TRANSPORTS } from "../../../support/transports.ts";

const H2 = { alpnProtos: ["h2"] };
const burst = (n: number, one: () => Promise<{ body: string }>) =>
  Promise.all(Array.from({ length: n }, () => one().then((r) => r.body, (e) => String(e))));
const tally = (bodies: string[]) => {
  const counts: Record<string, number> = {};
  for (const body of bodies) counts[body] = (counts[body] ?? 0) + 1;
  return counts;
};

/** A server of frames that answers each request, and counts them. */
const answering = (
  requests: { count: number },
  take: (conn: FrameConn, id: number, nth: number) => Promise<boolean>,
) =>
  frames(async (conn) => {
    await conn.start();
    await conn.send(windowUpdate(0, 1 << 24));
    for (let nth = 1;; nth++) {
      const id = await conn.request();
      requests.count++;
      if (!await take(conn, id, nth)) await conn.answer(id);
    }
  });

for (const transport of TRANSPORTS) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`${name} (${transport.name})`, run);
  const h1 = transport.version === "HTTP/1.1";

  test("a cold burst opens as many connections as its version needs", async () => {
    await using p = await pair(
      transport,
      async (stream) => {
        await pause(20);
        stream.respond(200);
        stream.closeWrite("ok");
      },
      {},
      transport.tls ? { alpnProtos: h1 ? ["http/1.1"] : ["http/1.1", "h2"] } : {},
    );
    let most = 0;
    const watching = setInterval(() => most = Math.max(most, p.server.connections), 2);
    assertEquals(tally(await burst(50, () => p.client.get(p.url))), { ok: 50 });
    clearInterval(watching);
    assertEquals(most, h1 ? 50 : 1);
    await until(() => p.server.connections === (h1 ? 10 : 1));
  });

  test("maxPerHost bounds connections, maxIdlePerHost what is kept of them", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    let running = 0;
    let most = 0;
    await using p = await pair(
      transport,
      async (stream) => {
        most = Math.max(most, ++running);
        await pause(5);
        running--;
        stream.respond(200);
        stream.closeWrite("ok");
      },
      {},
      { maxPerHost: 4, maxIdlePerHost: 2 },
      clock,
    );
    const connections = new Set<number>();
    for (let i = 0; i < 3; i++) {
      assertEquals(tally(await burst(20, () => p.client.get(p.url))), { ok: 20 });
      if (h1) assertEquals(most, 4);
      connections.add(p.client.connections.open);
    }
    // One burst behind the other finds them all again; what is too much goes when they stop.
    assertEquals([...connections], [h1 ? 4 : 1]);
    await clock.advance(1_500);
    await until(() => p.client.connections.open === (h1 ? 2 : 1));
  });

  test("idleTimeout and maxIdlePerHost of 0 keep no connection", async () => {
    for (const options of [{ idleTimeout: 0 }, { maxIdlePerHost: 0 }, { idleTimeout: 20 }]) {
      await using p = await pair(
        transport,
        (stream) => {
          stream.respond(200);
          stream.closeWrite("ok");
        },
        {},
        options,
      );
      for (let i = 0; i < 3; i++) {
        assertEquals((await p.client.get(p.url)).body, "ok");
        await until(() => p.client.connections.open === 0);
        await until(() => p.server.connections === 0);
      }
      assertEquals(p.client.connections.origins, 0);
    }
  });

  test("close() lets finish what runs, fails what waits, refuses what comes", async () => {
    let go!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    let started = 0;
    await using p = await pair(
      transport,
      async (stream) => {
        started++;
        await gone;
        stream.respond(200);
        stream.closeWrite("finished");
      },
      {},
      { maxPerHost: 1 },
    );
    const running = p.client.get(p.url);
    await until(() => started === 1);
    const waiting = h1
      ? assertRejects(() => p.client.get(p.url), ConnectionLostError, "closed")
      : null;
    let closed = false;
    const closing = p.client.close().then(() => closed = true);
    await waiting;
    await assertRejects(
      () => p.client.get(p.url),
      TypeError,
      "Cannot request as the client is closed",
    );
    await pause(10);
    assert(!closed, "close() did not wait");
    go();
    assertEquals((await running).body, "finished");
    await closing;
    assertEquals(p.client.connections, { open: 0, idle: 0, origins: 0 });
    await p.client.close();
  });

  test("a server that stops and one that starts in its place cost no request", async () => {
    await using p = await pair(transport, (stream) => {
      stream.respond(200);
      stream.closeWrite("one");
    });
    assertEquals((await p.client.get(p.url)).body, "one");
    await p.server.close();
    await assertRejects(() => p.client.get(p.url), Error, "Cannot connect to 127.0.0.1:");
    assertEquals(p.client.connections.open, 0);
  });
}

Deno.test("responses nobody reads are in nobody's way (HTTP/2)", async () => {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream, head) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    if (head[":path"] === "/") stream.end("ok");
    else stream.write(new Uint8Array(2 << 20));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const client = newClient(H2);
  // More than the windows of the connection and of what may wait on it together.
  const unread = [];
  for (let i = 0; i < 60; i++) unread.push(await client.send("GET", `${url}/big`));
  await pause(500);
  assertEquals((await client.get(`${url}/`, null, { timeout: 20_000 })).body, "ok");
  assertEquals(client.connections.open, 1);
  for (const stream of unread) stream.close();
  await client.close();
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("origins share no connection, by host, port or scheme", async () => {
  const files = await testCertificate();
  await using a = await pair(TRANSPORTS[0]!, (stream) => stream.closeWrite("a"));
  await using b = await pair(TRANSPORTS[0]!, (stream) => stream.closeWrite("b"));
  await using c = await pair(TRANSPORTS[2]!, (stream) => stream.closeWrite("c"));
  await using client = newClient({ caCerts: [files.ca] });
  for (let i = 0; i < 2; i++) {
    assertEquals((await client.get(a.url)).body, "a");
    assertEquals((await client.get(a.url.replace("127.0.0.1", "localhost"))).body, "a");
    assertEquals((await client.get(b.url)).body, "b");
    assertEquals((await client.get(c.url)).body, "c");
  }
  assertEquals(client.connections, { open: 4, idle: 3, origins: 4 });
});

Deno.test("GOAWAY in the middle of a burst costs no request", async () => {
  const requests = { count: 0 };
  await using(
    answering(requests, async (conn, id, nth) => {
      if (nth !== 100) return false;
      await conn.answer(id);
      await conn.send(goAway(id, 0));
      // What was on its way is dropped, as the frame said.
      await pause(20);
      throw new Error("done");
    }),
    async (client, server) => {
      assertEquals(tally(await burst(1000, () => client.get(server.url))), { ok: 1000 });
      assertEquals(tally(await burst(50, () => client.post(server.url, null, "x"))), { ok: 50 });
      assert(server.connections >= 10);
    },
    H2,
  );
});

Deno.test("a server that refuses streams gets them again, no more than it takes at once", async () => {
  let open = 0;
  let refused = 0;
  await using(
    frames(async (conn) => {
      await conn.start([SettingId.MAX_CONCURRENT_STREAMS, 10]);
      for (;;) {
        const id = await conn.request();
        if (open >= 10) {
          refused++;
          await conn.send(rstStream(id, 7));
          continue;
        }
        open++;
        setTimeout(() => {
          open--;
          conn.answer(id).catch(() => {});
        }, 1);
      }
    }),
    async (client, server) => {
      const one = () => client.post(server.url, null, "x");
      assertEquals(tally(await burst(1000, one)), { ok: 1000 });
      const before = refused;
      assertEquals(tally(await burst(200, one)), { ok: 200 });
      assertEquals([refused, server.connections], [before, 1]);
    },
    H2,
  );
});

Deno.test("a server that refuses for ever is an error in the end", async () => {
  const requests = { count: 0 };
  await using(
    answering(requests, (conn, id) => conn.send(rstStream(id, 7)).then(() => true)),
    async (client, server) => {
      const error = await assertRejects(() => client.get(server.url), StreamResetError);
      assert(error.message.includes("REFUSED_STREAM"), error.message);
      assert(requests.count > 1 && requests.count < 50, String(requests.count));
    },
    H2,
  );
});

Deno.test("a connection that breaks loses its requests, repeated only if idempotent and on an old one", async () => {
  await using(
    frames(async (conn, nth) => {
      await conn.start();
      await conn.answer(await conn.request());
      const id = await conn.request();
      if (nth > 1) await conn.answer(id);
      // Else it ends without a word.
    }),
    async (client, server) => {
      await client.get(server.url);
      assertEquals((await client.get(server.url)).body, "ok");
      assertEquals(server.connections, 2);
    },
    H2,
  );
  await using(
    frames(async (conn) => {
      await conn.start();
      await conn.answer(await conn.request());
      await conn.next(FrameType.DATA);
    }),
    async (client, server) => {
      await client.get(server.url);
      await assertRejects(() => client.post(server.url, null, "x"), ConnectionLostError);
      assertEquals(server.connections, 1);
      await until(() => client.connections.open === 0);
    },
    H2,
  );
});

Deno.test("a server of the other version is an error that can be understood", async () => {
  const failure = async (client: Client, url: string) =>
    await assertRejects(() => client.get(url, null, { timeout: 1000 })) as Error;
  await using(
    always("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", true),
    async (client, server) => {
      const error = await failure(client, server.url);
      assert(/HTTP\/1\.1/.test(error.message), error.message);
    },
    H2,
  );
  await using(
    async (conn) => {
      await readRequest(conn);
      await send(conn, Uint8Array.of(0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100));
      await send(conn, Uint8Array.of(0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
    },
    async (client, server) => {
      const error = await failure(client, server.url);
      assert(error instanceof ProtocolError && /HTTP\/2/.test(error.message), error.message);
    },
  );
});

Deno.test("a TLS server that chooses no protocol is spoken to in HTTP/1.1, if that is offered", async () => {
  const { ca, cert, key } = await testCertificate();
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key });
  const serving = (async () => {
    for await (const conn of listener) {
      await readRequest(conn)
        .then(() => send(conn, `${OK}Connection: close\r\nContent-Length: 2\r\n\r\nok`))
        .catch(() => {});
      conn.close();
    }
  })();
  const url = `https://127.0.0.1:${listener.addr.port}/`;
  await using both = newClient({ caCerts: [ca] });
  assertEquals((await both.get(url)).version, "HTTP/1.1");
  await using h2 = newClient({ caCerts: [ca], ...H2 });
  const error = await assertRejects(() => h2.get(url), DialError, "h2");
  assertEquals([error.phase, h2.connections.open], ["alpn", 0]);
  listener.close();
  await serving;
});

Deno.test("errors name whom they came from", async () => {
  await using(async (conn) => void await readRequest(conn), async (client, server) => {
    const error = await assertRejects(() => client.get(server.url), ConnectionLostError);
    assert(error.message.includes(`127.0.0.1:${server.port}`), error.message);
  });
  for (const options of [{}, H2]) {
    await using server = new RawServer(async (conn) => {
      await pause(0);
      for (const buf = new Uint8Array(1000); await conn.read(buf) !== null;);
    });
    await using client = newClient(options);
    for (const limits of [{ headTimeout: 20 }, { timeout: 20 }]) {
      const error = await assertRejects(() => client.get(server.url, null, limits)) as Error;
      assert(error.message.includes(`http://127.0.0.1:${server.port}`), error.message);
    }
  }
});
