/** Every wait has its limit and its name; a signal ends whatever is under way. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type ClientStream, DialError, newClient, TimeoutError } from "../../../http/mod.ts";
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
    let running = 0;
    let moved = 0;
    await using p = await pair(transport, async (stream) => {
      running++;
      try {
        if (stream.path === "/busy") stream.respond(503);
        else if (stream.path === "/moved") {
          stream.respond(302, { location: `/moved?${moved++}` });
        } else {
          stream.respond(200);
          while (!stream.aborted) {
            await stream.write("x").catch(() => {});
            await pause(15);
          }
        }
        stream.closeWrite();
      } finally {
        running--;
      }
    });
    const options = {
      timeout: 100,
      // None of these ends by itself.
      retry: { limit: 1e6, backoff: 20 },
      maxRedirects: Infinity,
    };
    for (const path of ["/busy", "/moved", "/body"]) {
      const begun = performance.now();
      const error = await assertRejects(
        () => p.client.get(p.url + path, null, options),
        TimeoutError,
      );
      assertEquals([error.phase, error.ms], ["timeout", 100]);
      const took = performance.now() - begun;
      assert(took >= 95, `${path} took ${took} ms`);
    }
    const error = await assertRejects(async () => {
      using stream = await p.client.send("GET", `${p.url}/body`, { timeout: 80 });
      await stream.readAll();
    }, TimeoutError);
    assertEquals(error.phase, "timeout");
    await until(() => running === 0);
  });

  test("a stream nobody reads ends at its timeout", async () => {
    let begun = 0;
    let aborted = 0;
    await using p = await pair(transport, async (stream) => {
      begun++;
      const gone = new Promise((resolve) => stream.signal.addEventListener("abort", resolve));
      if (!stream.aborted) {
        stream.respond(200);
        await stream.write("x").catch(() => {});
        await gone;
      }
      aborted++;
    });
    // The head may come too late for a short time on a busy machine.
    const open = (timeout: number): Promise<ClientStream> =>
      p.client.send("GET", p.url, { timeout }).catch((error) => {
        if (error instanceof TimeoutError) return open(2 * timeout);
        throw error;
      });
    const stream = await open(60);
    await until(() => begun > 0 && aborted === begun);
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
  const refused = Promise.withResolvers<void>();
  await using(async (conn) => {
    await readRequest(conn);
    await refused.promise;
    await send(conn, `${OK}Content-Length: 2\r\n\r\nok`);
  }, async (client, server) => {
    const first = client.get(server.url);
    const error = await assertRejects(
      () => client.get(server.url, null, { queueTimeout: 50 }),
      TimeoutError,
    );
    assertEquals(error.phase, "queueTimeout");
    refused.resolve();
    assertEquals((await first).body, "ok");
  }, { maxPerHost: 1 });
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
      const error = await assertRejects(() => client.get(server.url), TimeoutError);
      assertEquals(error.phase, "queueTimeout");
    },
    { alpnProtos: ["h2"], queueTimeout: 50 },
  );
});

Deno.test("a connection on which nothing comes any more is not used for new requests", async () => {
  await using(
    frames(async (conn, nth) => {
      await conn.start();
      for (;;) {
        const id = await conn.request();
        // As when the network is gone: no answer, no end.
        if (nth > 1) await conn.answer(id, `from ${nth}`);
      }
    }),
    async (client, server) => {
      await assertRejects(() => client.get(server.url, null, { headTimeout: 50 }), TimeoutError);
      assertEquals((await client.get(server.url)).body, "from 2");
      assertEquals((await client.get(server.url)).body, "from 2");
      assertEquals(server.connections, 2);
      await until(() => client.connections.open === 1);
    },
    { alpnProtos: ["h2"], http2: { keepalive: { interval: 60_000, timeout: 50 } } },
  );
});

Deno.test("a slow answer does not cost a connection that lives its other requests", async () => {
  await using(
    frames(async (conn) => {
      await conn.start();
      for (let n = 0;; n++) {
        const id = await conn.request();
        if (n !== 1) await conn.answer(id);
      }
    }),
    async (client, server) => {
      await client.get(server.url);
      const slow = assertRejects(
        () => client.get(server.url, null, { headTimeout: 400 }),
        TimeoutError,
      );
      let over = false;
      const ended = slow.finally(() => over = true);
      while (!over) {
        await client.get(server.url);
        await pause(5);
      }
      await ended;
      await client.get(server.url);
      assertEquals(server.connections, 1);
    },
    { alpnProtos: ["h2"] },
  );
});
