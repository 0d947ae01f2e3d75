/** Every wait has its limit and its name; a signal ends whatever is under way. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { DialError, newClient, TimeoutError } from "../../../http/mod.ts";
import { SettingId } from "../../../http/h2/settings.ts";
import {
  frames,
  OK,
  pause,
  RawServer,
  readRequest,
  send,
  until,
  using,
} from "../../../support/raw_server.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

for (const transport of TRANSPORTS) {
  const test = (name: string, run: () => Promise<void>) =>
    Deno.test(`${name} (${transport.name})`, run);
  const h1 = transport.version === "HTTP/1.1";

  test("a signal ends a request before, while and after it runs, wherever it is", async () => {
    await using p = await pair(transport, async (stream) => {
      if (stream.path === "/body") {
        stream.respond(200);
        await stream.write("x");
      }
      if (stream.path === "/") {
        stream.respond(200);
        stream.closeWrite("ok");
        return;
      }
      await new Promise<void>((done) => stream.signal.addEventListener("abort", () => done()));
    });
    for (const reason of [new Error("enough"), "a text", null, undefined]) {
      for (const path of ["/head", "/body"]) {
        for (const after of [-1, 0, 15]) {
          const controller = new AbortController();
          if (after < 0) controller.abort(reason);
          const pending = p.client.get(p.url + path, null, { signal: controller.signal }).then(
            () => "no error",
            (error) => error,
          );
          if (after >= 0) {
            await pause(after);
            controller.abort(reason);
          }
          const error = await pending;
          if (reason === null || reason === undefined) {
            assertEquals((error as Error).name, "AbortError");
          } else assertEquals(error, reason);
        }
      }
    }
    const controller = new AbortController();
    const response = await p.client.get(p.url, null, { signal: controller.signal });
    controller.abort();
    assertEquals(response.body, "ok");
    await until(() => p.client.connections.open <= 1);
    assertEquals((await p.client.get(p.url)).body, "ok");
  });

  test("requests leave no listener on a signal, however they end", async () => {
    await using p = await pair(transport, (stream) => {
      if (stream.path === "/moved") stream.respond(302, { location: "/" }, true);
      else if (stream.path === "/broken") {
        stream.respond(200, { "content-encoding": "gzip" });
        stream.closeWrite("no gzip");
      } else {
        stream.respond(200);
        stream.closeWrite("ok");
      }
    });
    const listeners = new Set<unknown>();
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: unknown[]) => {
      listeners.add(args[1]);
      (add as (...args: unknown[]) => void)(...args);
    };
    signal.removeEventListener = (...args: unknown[]) => {
      listeners.delete(args[1]);
      (remove as (...args: unknown[]) => void)(...args);
    };
    const ways: (() => Promise<unknown>)[] = [
      () => p.client.get(p.url, null, { signal }),
      () => p.client.post(`${p.url}/moved`, null, "x", { signal }),
      () => p.client.get(`${p.url}/broken`, null, { signal }),
      () => p.client.get("http://127.0.0.1:1/", null, { signal }),
      () => p.client.get("nonsense", null, { signal }),
      () => p.client.get(p.url, { "a b": "1" }, { signal }),
      () => p.client.get(`${p.url}/moved`, null, { signal, redirect: "error" }),
      async () => (await p.client.send("GET", p.url, { signal })).close(),
      async () => await (await p.client.send("GET", p.url, { signal })).readAll(),
      async () => {
        using raw = await p.client.request("POST", p.url, null, { signal });
        raw.closeWrite("x");
        await raw.waitResponse();
        await raw.readAll();
      },
    ];
    for (const [i, way] of ways.entries()) {
      await way().catch(() => {});
      assertEquals(listeners.size, 0, `way ${i}`);
    }
  });

  test("timeout covers everything, redirects, retries and the body included", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    let running = 0;
    let moved = 0;
    await using p = await pair(
      transport,
      async (stream) => {
        running++;
        try {
          if (stream.path === "/busy") stream.respond(503);
          else if (stream.path === "/moved") {
            await clock.sleep(500);
            stream.respond(302, { location: `/moved?${moved++}` });
          } else {
            stream.respond(200);
            while (!stream.aborted) {
              await stream.write("x").catch(() => {});
              await clock.sleep(1000);
            }
          }
          stream.closeWrite();
        } finally {
          running--;
        }
      },
      {},
      {},
      clock,
    );
    const options = {
      timeout: 10_000,
      // None of these ends by itself.
      retry: { limit: 1e6, backoff: 2000 },
      maxRedirects: Infinity,
    };
    for (const path of ["/busy", "/moved", "/body"]) {
      const failed = assertRejects(() => p.client.get(p.url + path, null, options), TimeoutError);
      const took = await clock.until(failed);
      const error = await failed;
      assertEquals([error.phase, error.ms], ["timeout", 10_000]);
      assert(took >= 10_000 && took < 12_000, `${path} took ${took} ms`);
    }
    const failed = assertRejects(async () => {
      using stream = await p.client.send("GET", `${p.url}/body`, { timeout: 10_000 });
      await stream.readAll();
    }, TimeoutError);
    await clock.until(failed);
    assertEquals((await failed).phase, "timeout");
    while (running > 0) await clock.advance(1000);
  });

  test("a stream nobody reads ends at its timeout", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    const aborted = Promise.withResolvers<void>();
    await using p = await pair(
      transport,
      async (stream) => {
        stream.signal.addEventListener("abort", () => aborted.resolve());
        stream.respond(200);
        await stream.write("x");
        await aborted.promise;
      },
      {},
      {},
      clock,
    );
    using stream = await p.client.send("GET", p.url, { timeout: 10_000 });
    await clock.until(aborted.promise);
    await assertRejects(() => stream.read(), TimeoutError, "timeout");
    assertEquals(p.client.connections.open, h1 ? 0 : 1);
  });

  test("options of a request that cannot be kept are refused", async () => {
    await using p = await pair(transport, (stream) => stream.closeWrite("ok"));
    for (
      const options of [
        { timeout: -1 },
        { timeout: NaN },
        { headTimeout: "1" },
        { bodyTimeout: null },
        { writeTimeout: -1 },
        { maxResponseBytes: NaN },
        { maxRedirects: -1 },
        { redirect: "folow" },
        { retry: -1 },
        { retry: true },
        { retry: { limit: NaN } },
        { retry: { backoff: "1" } },
      ]
    ) {
      const bad = options as unknown as Record<string, never>;
      const name = Object.keys(options)[0]!;
      await assertRejects(() => p.client.get(p.url, null, bad), TypeError, name);
      await assertRejects(() => p.client.send("GET", p.url, bad), TypeError, name);
      await assertRejects(() => p.client.request("GET", p.url, null, bad), TypeError, name);
      assertThrows(() => newClient(bad), TypeError, name);
    }
    assertEquals(p.client.connections.open, 0);
  });
}

Deno.test("connectTimeout ends a handshake nobody answers, and says so", async () => {
  await using server = new RawServer(async (conn) => {
    while (await conn.read(new Uint8Array(1000)).catch(() => null) !== null);
  });
  await using client = newClient({ connectTimeout: 50 });
  const error = await assertRejects(
    () => client.get(server.url.replace("http:", "https:")),
    DialError,
  );
  assert(error.cause instanceof TimeoutError && error.cause.phase === "connectTimeout");
  assert(error.message.includes(`127.0.0.1:${server.port}`), error.message);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 10);
  await assertRejects(
    () => client.get(server.url.replace("http:", "https:"), null, { signal: controller.signal }),
    Error,
    "enough",
  );
  assertEquals(client.connections, { open: 0, idle: 0, origins: 0 });
});

Deno.test("a request that waits for room on its connections is limited too", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const begun = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<void>();
  await using(
    async (conn) => {
      await readRequest(conn);
      begun.resolve();
      await refused.promise;
      await send(conn, `${OK}Content-Length: 2\r\n\r\nok`);
    },
    async (client, server) => {
      const first = client.get(server.url);
      await begun.promise;
      const waited = assertRejects(
        () => client.get(server.url, null, { queueTimeout: 5000 }),
        TimeoutError,
      );
      const took = await clock.until(waited);
      assert(took >= 5000, `${took} ms`);
      assertEquals((await waited).phase, "queueTimeout");
      refused.resolve();
      assertEquals((await first).body, "ok");
    },
    { maxPerHost: 1 },
    clock,
  );
  // SETTINGS_MAX_CONCURRENT_STREAMS of 0 is a server that never takes a stream.
  await using(
    frames(async (conn) => {
      await conn.start([SettingId.MAX_CONCURRENT_STREAMS, 0]);
      // The first goes out before the client can know.
      await conn.answer(await conn.request());
      for (;;) await conn.frame();
    }),
    async (client, server) => {
      await client.get(server.url);
      const waited = assertRejects(() => client.get(server.url), TimeoutError);
      await clock.until(waited);
      assertEquals((await waited).phase, "queueTimeout");
    },
    { alpnProtos: ["h2"], queueTimeout: 5000 },
    clock,
  );
});

Deno.test("a connection on which nothing comes any more is not used for new requests", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const begun = Promise.withResolvers<void>();
  await using(
    frames(async (conn, nth) => {
      await conn.start();
      for (;;) {
        const id = await conn.request();
        begun.resolve();
        // As when the network is gone: no answer, no end.
        if (nth > 1) await conn.answer(id, `from ${nth}`);
      }
    }),
    async (client, server) => {
      const lost = assertRejects(
        () => client.get(server.url, null, { headTimeout: 5000 }),
        TimeoutError,
      );
      await begun.promise;
      await clock.until(lost);
      assertEquals((await client.get(server.url)).body, "from 2");
      assertEquals((await client.get(server.url)).body, "from 2");
      assertEquals([server.connections, client.connections.open], [2, 2]);
      await clock.advance(5000);
      assertEquals(client.connections.open, 1);
    },
    { alpnProtos: ["h2"], http2: { keepalive: { interval: 60_000, timeout: 4000 } } },
    clock,
  );
});

Deno.test("a slow answer does not cost a connection that lives its other requests", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const begun = Promise.withResolvers<void>();
  await using(
    frames(async (conn) => {
      await conn.start();
      for (let n = 0;; n++) {
        const id = await conn.request();
        if (n === 1) begun.resolve();
        if (n !== 1) await conn.answer(id);
      }
    }),
    async (client, server) => {
      await client.get(server.url);
      const slow = assertRejects(
        () => client.get(server.url, null, { headTimeout: 20_000 }),
        TimeoutError,
      );
      await begun.promise;
      do await client.get(server.url); while (!await clock.within(1000, slow));
      await client.get(server.url);
      assertEquals(server.connections, 1);
    },
    { alpnProtos: ["h2"] },
    clock,
  );
});
