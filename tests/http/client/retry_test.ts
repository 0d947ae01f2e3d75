/** Requests that are sent again because the caller wants it so. */
import { assertEquals } from "@std/assert";
import { OK, readRequest, send, using } from "../../../support/raw_server.ts";

Deno.test("retry() waits as it is told, stops at its limits, and leaves alone what may not be repeated", async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const cases: [string, string, object, number, number][] = [
    ["GET", "Retry-After: 0\r\n", { retry: 2 }, 503, 3],
    ["POST", "Retry-After: 0\r\n", { retry: 2 }, 503, 1],
    ["POST", "Retry-After: 0\r\n", { retry: { methods: ["POST"], limit: 1 } }, 503, 2],
    ["GET", `Retry-After: ${date}\r\n`, { retry: 2 }, 503, 1],
    ["GET", "Retry-After: 100\r\n", { retry: { maxBackoff: 99_000 } }, 503, 1],
    ["GET", "", { retry: { limit: 3, backoff: 5 } }, 503, 4],
    ["GET", "Retry-After: 1.5\r\n", { retry: { limit: 1, backoff: 5 } }, 503, 2],
    ["GET", "", { retry: { statuses: [429], backoff: 5 } }, 503, 1],
    ["GET", "", { retry: 0 }, 503, 1],
  ];
  for (const [method, fields, options, status, times] of cases) {
    let requests = 0;
    await using(async (conn) => {
      for (;;) {
        await readRequest(conn);
        requests++;
        await send(conn, `HTTP/1.1 503 Busy\r\n${fields}Content-Length: 4\r\n\r\nbusy`);
      }
    }, async (client, server) => {
      using response = await client.send(method, server.url, options);
      assertEquals(
        [response.status, requests],
        [status, times],
        JSON.stringify([method, fields, options]),
      );
      assertEquals([await response.readAll(), server.connections], ["busy", 1]);
    });
  }
  let begun = 0;
  await using(async (conn, nth) => {
    await readRequest(conn);
    begun++;
    if (nth === 3) await send(conn, `${OK}Content-Length: 2\r\n\r\nok`);
  }, async (client, server) => {
    const retry = { limit: 2, backoff: 1 };
    assertEquals((await client.get(server.url, null, { retry })).body, "ok");
    assertEquals(begun, 3);
  });
});
