/** Bodies of requests over HTTP/2 that come slowly: see the same for HTTP/1.1 in session_test.ts. */
import { assert, assertEquals } from "@std/assert";
import { TimeoutError } from "../../../http/mod.ts";
import { listenAt } from "../../../http/server/listen.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { data, headers, REQUEST } from "../../../support/frames.ts";
import { RawH2 } from "../../../support/raw_h2.ts";

/** Sends pieces of `size` bytes, one each `pauseMs`; what the handler got, or the phase that ended it. */
async function post(
  pieces: number,
  size: number,
  pauseMs: number,
): Promise<{ result: unknown; took: number }> {
  const clock = new FakeClock(OVER_SOCKETS);
  const result = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<void>();
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    limits: { minBodyRate: 1000, bodyTimeout: 60_000, keepaliveInterval: 0 },
    handler: async (stream) => {
      begun.resolve();
      try {
        result.resolve((await stream.readBytes()).length);
      } catch (error) {
        result.resolve(error instanceof TimeoutError ? error.phase : error);
      }
      stream.respond(204);
    },
  });
  const raw = await RawH2.open(server.port);
  await raw.send(headers(1, REQUEST));
  await begun.promise;
  const since = clock.now();
  for (let i = 0; i < pieces && !await clock.within(pauseMs, result.promise); i++) {
    await raw.send(data(1, new Uint8Array(size), i === pieces - 1));
    await raw.heard();
  }
  const outcome = await result.promise;
  const took = clock.now() - since;
  await raw.close();
  await clock.until(server.close());
  return { result: outcome, took };
}

Deno.test("minBodyRate leaves a steady body over HTTP/2 alone, however long it takes", async () => {
  // 1250 bytes a second, for more than a minute.
  const { result, took } = await post(30, 2750, 2200);
  assertEquals([result, took >= 66_000], [82_500, true]);
});

Deno.test("minBodyRate cuts a body over HTTP/2 that drips, long before its end", async () => {
  const { result, took } = await post(1000, 100, 1000);
  assertEquals(result, "minBodyRate");
  assert(took < 30_000, `${took} ms`);
});

Deno.test("minBodyRate counts what has just come of a body over HTTP/2", async () => {
  // A pause beyond the grace of 5 seconds, for which the bytes behind it make up, or too few do not.
  assertEquals((await post(1, 3000, 7000)).result, 3000);
  assertEquals((await post(1, 1000, 7000)).result, "minBodyRate");
});
