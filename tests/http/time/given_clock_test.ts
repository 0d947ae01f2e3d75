import { assertEquals, assertRejects } from "@std/assert";
import { TimeoutError } from "../../../http/mod.ts";
import { newClientAt } from "../../../http/client/client.ts";
import { listenAt } from "../../../http/server/listen.ts";
import { fetchHandlerAt } from "../../../http/server/serve_deno.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

const LONG_MS = 30_000;

Deno.test("limits of a server go by the clock it is given", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    handler: (stream) => stream.respond(204),
    limits: { idleTimeout: LONG_MS },
  });
  using conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const answer = new Uint8Array(1000);
  for (const ms of [0, LONG_MS - 10]) {
    await clock.advance(ms);
    await conn.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
    assertEquals(await conn.read(answer) !== null, true);
  }
  const took = await clock.until(conn.read(answer).then((n) => assertEquals(n, null)));
  assertEquals([took >= LONG_MS, took <= LONG_MS + 8], [true, true]);
  await server.close();
});

for (const alpn of ["http/1.1", "h2"]) {
  Deno.test(`limits of a client go by the clock it is given, over ${alpn}`, async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    const arrived = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const server = listenAt(clock.time, {
      addr: "127.0.0.1:0",
      handler: async (stream) => {
        arrived.resolve();
        await answer.promise;
        if (!stream.signal.aborted) await stream.respond(204);
      },
    });
    const client = newClientAt(clock.time, { alpnProtos: [alpn], headTimeout: LONG_MS });
    const response = client.get(`http://127.0.0.1:${server.port}/`);
    await arrived.promise;
    const took = await clock.until(response.catch(() => {}));
    const error = await assertRejects(() => response, TimeoutError);
    assertEquals([error.phase, took >= LONG_MS, took <= LONG_MS + 8], ["headTimeout", true, true]);
    answer.resolve();
    await client.close();
    await server.close();
  });
}

Deno.test("limits of a handler for Deno.serve go by the clock it is given", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const handler = fetchHandlerAt(clock.time, async (stream) => {
    const error = await assertRejects(() => stream.readBytes(), TimeoutError);
    await stream.respond(408);
    stream.closeWrite(error.phase);
  }, { limits: { bodyTimeout: LONG_MS } });
  const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  const answer = handler(new Request("http://localhost/", { method: "POST", body }));
  const took = await clock.until(answer);
  assertEquals(await (await answer).text(), "bodyTimeout");
  assertEquals([took >= LONG_MS, took <= LONG_MS + 8], [true, true]);
});
