import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { del, listen, newClient } from "../../../http/mod.ts";
import { answer } from "../contract.ts";

Deno.test("newClient() refuses options it cannot keep", () => {
  assertThrows(() => newClient({ maxIdlePerHost: -1 }), TypeError);
  assertThrows(() => newClient({ alpnProtos: [] }), TypeError);
  assertThrows(() => newClient({ alpnProtos: ["h3"] }), TypeError);
  assertThrows(() => newClient({ cert: "x" }), TypeError);
});

Deno.test("a client that is closed refuses requests; close() may be called again", async () => {
  const client = newClient();
  await client.close();
  await client.close();
  await assertRejects(() => client.get("http://127.0.0.1:1/"), TypeError, "closed");
});

Deno.test("requests refuse URLs, methods and headers that cannot be sent", async () => {
  await using client = newClient();
  for (const url of ["/path", "ftp://h/", "http://", "nonsense"]) {
    await assertRejects(() => client.get(url), TypeError);
  }
  for (
    const headers of [
      { "a b": "1" },
      { a: "1\r\nb: 2" },
      { host: "a/b" },
      { te: "gzip" },
      { upgrade: "h2c" },
      { "transfer-encoding": "gzip" },
    ]
  ) {
    await assertRejects(
      () => client.get("http://127.0.0.1:1/", headers as Record<string, string>),
      TypeError,
    );
  }
  await assertRejects(() => client.request("G T", "http://127.0.0.1:1/"), TypeError);
});

Deno.test("the plain functions work on the default client", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: answer(200, "ok") });
  assertEquals((await del(`http://${server.addr}/`, { connection: "close" })).body, "ok");
});
