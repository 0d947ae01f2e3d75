/** Limits of servers, and their end, over both versions, plain and TLS, and on each engine. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DEFAULT_SERVER_LIMITS } from "../../../http/mod.ts";
import { answer, contract, text } from "../contract.ts";
import { until } from "../../../support/raw_server.ts";
import { pair } from "../../../support/transports.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

contract((test, { transport, platform }) => {
  test("stream.signal aborts when the client goes away", async () => {
    let aborted!: () => void;
    const gone = new Promise<void>((resolve) => aborted = resolve);
    await using p = await pair(transport, async (stream) => {
      stream.signal.addEventListener("abort", () => aborted());
      await stream.respond(200, text);
      await stream.write("x");
      await gone;
    });
    const stream = await p.client.send("GET", p.url);
    await stream.read();
    stream.close();
    await gone;
  });

  test("stream.signal aborts too when the request was read long after the handler began", async () => {
    const gone = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    await using p = await pair(transport, async (stream) => {
      stream.signal.addEventListener("abort", () => gone.resolve());
      await new Promise((resolve) => setTimeout(resolve, 1));
      await stream.readAll();
      read.resolve();
      await gone.promise;
    });
    const stream = await p.client.request("POST", p.url);
    await stream.write("a piece");
    stream.closeWrite("the last");
    await read.promise;
    stream.close();
    await gone.promise;
  });

  test("server.close() lets what runs finish", async () => {
    let go!: () => void;
    let started!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    const running = new Promise<void>((resolve) => started = resolve);
    await using p = await pair(transport, async (stream) => {
      started();
      await gone;
      answer(200, "finished")(stream);
    });
    const response = p.client.get(p.url);
    await running;
    const closed = p.server.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    go();
    assertEquals((await response).body, "finished");
    await closed;
    await assertRejects(() => p.client.get(p.url));
  });

  test("server.close() cuts what does not finish within drainTimeout", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    let started!: () => void;
    const running = new Promise<void>((resolve) => started = resolve);
    let release!: () => void;
    await using p = await pair(
      transport,
      (stream) => {
        started();
        return new Promise<void>((resolve) => release = resolve).then(() =>
          answer(200, "")(stream)
        );
      },
      { limits: { drainTimeout: 50_000 } },
      {},
      clock,
    );
    const response = assertRejects(() => p.client.get(p.url));
    await running;
    const took = await clock.until(p.server.close());
    assert(took >= 50_000, `${took} ms`);
    await response;
    release();
  });

  test("a body over maxBodyBytes is answered with 413", async () => {
    await using p = await pair(transport, async (stream) => {
      await stream.readAll();
      answer(200, "ok")(stream);
    }, { limits: { maxBodyBytes: 1000 } });
    assertEquals((await p.client.post(p.url, null, "x".repeat(1000))).status, 200);
    assertEquals((await p.client.post(p.url, null, "x".repeat(1001))).status, 413);
    const unknown = (async function* () {
      yield "x".repeat(600);
      yield "x".repeat(600);
    })();
    assertEquals((await p.client.post(p.url, null, unknown)).status, 413);
  });

  test("a body that stops coming is answered with 408", async () => {
    const clock = new FakeClock(OVER_SOCKETS);
    const begun = Promise.withResolvers<void>();
    await using p = await pair(
      transport,
      async (stream) => {
        begun.resolve();
        await stream.readAll();
        answer(200, "ok")(stream);
      },
      { limits: { bodyTimeout: 20_000 } },
      {},
      clock,
    );
    using raw = await p.client.request("POST", p.url);
    await raw.write("begun");
    await begun.promise;
    const took = await clock.until(raw.waitResponse());
    assert(took >= 20_000, `${took} ms`);
    assertEquals(raw.status, 408);
  });

  test("more handlers than maxHandlers are answered with 503", async () => {
    let go!: () => void;
    let started!: () => void;
    const gone = new Promise<void>((resolve) => go = resolve);
    const running = new Promise<void>((resolve) => started = resolve);
    await using p = await pair(transport, async (stream) => {
      started();
      await gone;
      answer(200, "ok")(stream);
    }, { limits: { maxHandlers: 1 } });
    const first = p.client.get(p.url);
    await running;
    assertEquals((await p.client.get(p.url)).status, 503);
    go();
    assertEquals((await first).status, 200);
    assertEquals(p.server.handlers, 0);
  });

  if (platform) {
    test("limits that Deno.serve cannot keep are refused by name", async () => {
      for (const name of Object.keys(DEFAULT_SERVER_LIMITS)) {
        const kept = ["maxBodyBytes", "bodyTimeout", "minBodyRate", "maxHandlers", "drainTimeout"];
        const made = pair(transport, answer(200, "ok"), { limits: { [name]: 1000 } });
        if (kept.includes(name)) await (await made)[Symbol.asyncDispose]();
        else await assertRejects(() => made, TypeError, `limits.${name} on Deno.serve`);
      }
    });
  } else {test("an idle connection is closed after idleTimeout, and the client dials anew", async () => {
      const clock = new FakeClock(OVER_SOCKETS);
      await using p = await pair(
        transport,
        answer(200, "ok"),
        { limits: { idleTimeout: 20_000 } },
        { idleTimeout: 300_000 },
        clock,
      );
      assertEquals((await p.client.get(p.url)).body, "ok");
      await clock.advance(19_000);
      assertEquals(p.server.connections, 1);
      await clock.advance(2000);
      await until(() =>
        p.server.connections === 0
      );
      assertEquals((await p.client.get(p.url)).body, "ok");
    });}
});
