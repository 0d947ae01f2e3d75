import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { fetchHandler, listen, newClient } from "../../../http/mod.ts";

const call = (handler: Parameters<typeof fetchHandler>[0], init?: RequestInit) =>
  fetchHandler(handler)(new Request("http://h/p?x=1", init));

Deno.test("fetchHandler() runs a handler on a web Request", async () => {
  const response = await call(async (stream) => {
    const body = await stream.readAll();
    await stream.respond(201, { "x-a": "1", "set-cookie": ["a=1", "b=2"] });
    stream.closeWrite(`${stream.method} ${stream.path} ${stream.query["x"]} ${body}`);
  }, { method: "POST", body: "hi" });
  assertEquals([response.status, response.headers.get("x-a")], [201, "1"]);
  assertEquals(response.headers.getSetCookie(), ["a=1", "b=2"]);
  assertEquals(await response.text(), "POST /p 1 hi");
});

Deno.test("fetchHandler() streams what is written in pieces", async () => {
  const response = await call(async (stream) => {
    await stream.respond(200);
    await stream.write("one ");
    await stream.write("two ");
    stream.closeWrite("three");
  });
  assertEquals(await response.text(), "one two three");
});

Deno.test("fetchHandler() takes a Response, and answers 500 for errors", async () => {
  assertEquals(await (await call(() => new Response("r"))).text(), "r");
  assertEquals((await call(() => Promise.reject(new Error("x")))).status, 500);
});

Deno.test("listen() with engine deno serves, and a bad header value does not end the process", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    engine: "deno",
    handler: async (stream) => {
      await assertRejects(() => stream.respond(200, { x: "\x01" }), TypeError);
      await stream.respond(200, { "x-version": stream.version });
      stream.closeWrite("from Deno.serve");
    },
  });
  await using client = newClient();
  const response = await client.get(`http://${server.addr}/`);
  assertEquals([response.body, response.header["x-version"]], ["from Deno.serve", "HTTP/1.1"]);
});

Deno.test("listen() with engine deno refuses what Deno.serve cannot do", () => {
  const conf = { addr: "127.0.0.1:0", engine: "deno", handler: () => {} } as const;
  assertThrows(() => listen({ ...conf, alpnProtos: ["h2"] }), TypeError, "alpnProtos");
  assertThrows(() => listen({ ...conf, tls: true, certs: [] }), TypeError, "certs");
});
