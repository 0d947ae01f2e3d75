/** What the client makes of frames no server should send. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProtocolError, StreamResetError } from "../../../http/mod.ts";
import { headers, ping, windowUpdate } from "../../../support/frames.ts";
import { frames, using } from "../../../support/raw_server.ts";

const H2 = { alpnProtos: ["h2"] };

const BAD_FRAMES: [string, (id: number) => Uint8Array[]][] = [
  ["PUSH_PROMISE", (id) => [Uint8Array.of(0, 0, 4, 5, 4, 0, 0, 0, id, 0, 0, 0, 2)]],
  ["DATA before HEADERS", (id) => [Uint8Array.of(0, 0, 1, 0, 1, 0, 0, 0, id, 65)]],
  ["a status of two digits", (id) => [headers(id, [":status", "20"], { end: true })]],
  ["no status", (id) => [headers(id, ["a", "b"], { end: true })]],
  ["101", (id) => [headers(id, [":status", "101"])]],
  ["a field of HTTP/1.1", (id) => [
    headers(id, [":status", "200", "connection", "close"], { end: true }),
  ]],
  ["a name in upper case", (id) => [headers(id, [":status", "200", "X", "1"], { end: true })]],
  [
    "a line break in a value",
    (id) => [headers(id, [":status", "200", "x", "a\nb"], { end: true })],
  ],
  ["two lengths", (id) => [
    headers(id, [":status", "200", "content-length", "1", "content-length", "2"]),
  ]],
  ["a length that is not reached", (id) => [
    headers(id, [":status", "200", "content-length", "1"], { end: true }),
  ]],
  ["an end of informational headers", (id) => [headers(id, [":status", "103"], { end: true })]],
  ["HEADERS on a stream nobody opened", () => [headers(99, [":status", "200"], { end: true })]],
  ["a window beyond its bound", (id) => [
    windowUpdate(id, 0x7fffffff),
    windowUpdate(id, 0x7fffffff),
    windowUpdate(0, 0x7fffffff),
  ]],
  ["an oversized frame", (id) => [Uint8Array.of(0xff, 0xff, 0xff, 0, 0, 0, 0, 0, id)]],
  ["a block that is not HPACK", (id) => [Uint8Array.of(0, 0, 2, 1, 5, 0, 0, 0, id, 0xff, 0xff)]],
];

for (const [name, bad] of BAD_FRAMES) {
  Deno.test(`the client refuses a response with ${name} (HTTP/2)`, async () => {
    await using(
      frames(async (conn) => {
        await conn.start();
        await conn.send(...bad(await conn.request()));
        for (;;) await conn.frame();
      }),
      async (client, server) => {
        const error = await assertRejects(
          () => client.get(server.url, null, { headTimeout: 1000 }),
          ProtocolError,
        );
        assert(error.message.length > 20, error.message);
      },
      H2,
    );
  });
}

Deno.test("a thousand informational responses and a flood of PINGs do not go on for ever (HTTP/2)", async () => {
  await using(
    frames(async (conn) => {
      await conn.start();
      const id = await conn.request();
      for (let i = 0; i < 1000; i++) await conn.send(headers(id, [":status", "103"]));
      for (;;) await conn.frame();
    }),
    async (client, server) => {
      await assertRejects(() => client.get(server.url), StreamResetError, "informational");
    },
    H2,
  );
  await using(
    frames(async (conn) => {
      await conn.start();
      const id = await conn.request();
      for (let i = 0; i < 5000; i++) await conn.send(ping());
      await conn.answer(id);
      for (;;) await conn.frame();
    }),
    async (client, server) => assertEquals((await client.get(server.url)).body, "ok"),
    H2,
  );
});
