/** Handlers that fail after they began to answer: what has not left is taken back. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { fetchHandler, type Handler, type ServerStream } from "../../../http/mod.ts";
import { pair, TRANSPORTS } from "../../../support/transports.ts";

/** Ways to fail while nothing has left. Each is told once, by its own error. */
const FAILING: readonly [name: string, handler: Handler, message: string][] = [
  ["a body shorter than content-length", (stream) => {
    stream.respond(200, { "content-length": 10, "x-first": "1" });
    stream.closeWrite("hello");
  }, "content-length says 10 bytes: sent were 5"],
  ["a body longer than content-length", (stream) => {
    stream.respond(200, { "content-length": 4 });
    stream.closeWrite("hello");
  }, "content-length says 4 bytes: sent were 5"],
  ["no body for content-length", (stream) => {
    stream.respond(200, { "content-length": 4 });
  }, "content-length says 4 bytes: sent were 0"],
  ["content-length with close", (stream) => {
    stream.respond(200, { "content-length": 4 }, true);
  }, "content-length says 4 bytes: sent were 0"],
  ["a piece longer than content-length", async (stream) => {
    await stream.respond(200, { "content-length": 4 });
    await stream.write("hello");
  }, "Cannot send more than content-length says: 4 bytes"],
  ["a wrong length nobody waits for", async (stream) => {
    await stream.respond(200, { "content-length": 4 });
    stream.write("hello");
  }, "Cannot send more than content-length says: 4 bytes"],
  ["a wrong length caught by the handler", (stream) => {
    stream.respond(200, { "content-length": 10 });
    try {
      stream.closeWrite("hello");
    } catch {
      // Ignored, and the stream left at that.
    }
  }, "content-length says 10 bytes: sent were 5"],
  ["a wrong length, tried twice", (stream) => {
    stream.respond(200, { "content-length": 10 });
    try {
      stream.closeWrite("hello");
    } catch {
      stream.closeWrite("hello");
    }
  }, "content-length says 10 bytes: sent were 5"],
  ["a wrong length with trailers", (stream) => {
    stream.respond(200, { "content-length": 10 });
    stream.closeWrite("hello", { "x-t": "1" });
  }, "content-length says 10 bytes: sent were 5"],
  ["a throw after respond", (stream) => {
    stream.respond(200, { "x-first": "1" });
    throw new Error("thrown");
  }, "thrown"],
  ["a rejection after respond", async (stream) => {
    await stream.respond(200, { "x-first": "1" });
    throw new Error("rejected");
  }, "rejected"],
  ["a field name that is no token", (stream) => {
    stream.respond(404, { "bad name": "1" });
    stream.closeWrite("not found");
  }, "must be a token"],
  ["a field value with a line break, nobody waits", (stream) => {
    stream.respond(404, { "x-a": "a\r\nb: c" });
  }, "must be text of HTAB"],
  ["a status that is none", async (stream) => {
    await stream.respond(99);
  }, "from 200 to 599"],
  ["a content-length that is none", (stream) => {
    stream.respond(200, { date: "today", "content-length": "ten" });
    stream.closeWrite("hello");
  }, "content-length must be one decimal number"],
  ["two content-lengths", (stream) => {
    stream.respond(200, [["content-length", "5"], ["content-length", "6"]]);
    stream.closeWrite("hello");
  }, "content-length must be one decimal number"],
  ["a transfer-encoding that is none", (stream) => {
    stream.respond(200, { "transfer-encoding": "gzip" });
    stream.closeWrite("hello");
  }, 'transfer-encoding must be "chunked"'],
  ["content-length beside transfer-encoding", (stream) => {
    stream.respond(200, { "transfer-encoding": "chunked", "content-length": "5" });
    stream.closeWrite("hello");
  }, "both content-length and transfer-encoding"],
  ["a trailer that must come before the body", (stream) => {
    stream.respond(200);
    stream.closeWrite("hello", { "content-length": "5" });
  }, 'Cannot send "content-length" as a trailer'],
  ["a body that is none", (stream) => {
    stream.respond(200);
    stream.closeWrite(5 as unknown as string);
  }, "must be a string or Uint8Array"],
  ["a piece that is none, nobody waits", (stream) => {
    stream.respond(200);
    stream.write({} as unknown as string);
    stream.closeWrite("rest");
  }, "must be a string or Uint8Array"],
  ["a Response that cannot be sent", () => Response.error(), "from 200 to 599"],
  ["a Response after respond", (stream) => {
    stream.respond(200);
    return new Response("too");
  }, "status 200 was sent before"],
];

for (const transport of TRANSPORTS) {
  for (const [name, handler, message] of FAILING) {
    Deno.test(`${name} is answered 500 and told once (${transport.name})`, async () => {
      const errors: unknown[] = [];
      await using p = await pair(
        transport,
        (stream) => stream.path === "/fine" ? new Response("fine") : handler(stream),
        { onError: (error: unknown) => errors.push(error) },
      );
      const response = await p.client.get(`${p.url}/`, {}, { retry: 0 });
      assertEquals([response.status, response.body], [500, "Internal Server Error"]);
      assertEquals(response.header["content-length"], "21");
      // Nothing of the head that was taken back is left.
      assertEquals(response.header["x-first"], undefined);
      assertEquals(errors.length, 1);
      assert(String(errors[0]).includes(message), String(errors[0]));
      assertEquals((await p.client.get(`${p.url}/fine`)).body, "fine");
    });
  }

  const answered = (stream: ServerStream) => {
    stream.respond(503, { "x-second": "2" });
    stream.closeWrite("try later");
  };

  Deno.test(`a handler may answer anew as long as nothing has left (${transport.name})`, async () => {
    const errors: unknown[] = [];
    await using p = await pair(transport, async (stream) => {
      switch (stream.path) {
        case "/length":
          stream.respond(200, { "content-length": 10, "x-first": "1" });
          assertThrows(() => stream.closeWrite("hello"), RangeError);
          return answered(stream);
        case "/field":
          stream.respond(200, { "bad name": "1" });
          // No other head is made up for it.
          assertThrows(() => stream.closeWrite("hello"), TypeError, "token");
          await assertRejects(() => stream.write("hello"), TypeError, "token");
          return answered(stream);
        case "/status":
          await assertRejects(() => stream.respond(99), RangeError);
          return answered(stream);
        case "/trailers":
          stream.respond(503, { "x-second": "2" });
          assertThrows(() => stream.closeWrite("x", { host: "h" }), TypeError);
          return stream.closeWrite("try later");
        case "/second":
          // A second respond changes nothing while the first can be sent.
          stream.respond(503, { "x-second": "2" });
          await assertRejects(() => stream.respond(200), TypeError, "was sent before");
          return stream.closeWrite("try later");
      }
    }, { onError: (error: unknown) => errors.push(error) });
    for (const path of ["/length", "/field", "/status", "/trailers", "/second"]) {
      const response = await p.client.get(p.url + path);
      assertEquals([response.status, response.body], [503, "try later"], path);
      assertEquals([response.header["x-second"], response.header["x-first"]], ["2", undefined]);
    }
    assertEquals(errors, []);
  });

  Deno.test(`what has left is cut, and told once (${transport.name})`, async () => {
    const errors: string[] = [];
    await using p = await pair(transport, async (stream) => {
      await stream.respond(200, stream.path === "/thrown" ? {} : { "content-length": 10 });
      await stream.write(stream.path === "/thrown" ? "x".repeat(100_000) : "hello");
      if (stream.path === "/short") return;
      if (stream.path === "/long") return await stream.write("too long");
      throw new Error("late");
    }, { onError: (error: unknown) => errors.push(String(error)) });
    for (const path of ["/short", "/long", "/thrown"]) {
      await assertRejects(() => p.client.get(p.url + path, {}, { retry: 0 }));
    }
    assertEquals(errors.length, 3);
    assert(errors[0]!.includes("sent were 5"), errors[0]);
    assert(errors[1]!.includes("with this piece 13"), errors[1]);
    assert(errors[2]!.includes("late"), errors[2]);
  });

  Deno.test(`informational responses are without fields of the connection (${transport.name})`, async () => {
    await using p = await pair(transport, async (stream) => {
      stream.inform(103, {
        link: "</a>",
        connection: "close",
        "content-length": "5",
        "transfer-encoding": "chunked",
      });
      assertThrows(() => stream.inform(103, { "bad name": "1" }), TypeError);
      assertThrows(() => stream.inform(200), RangeError);
      await stream.respond(200);
      stream.closeWrite("ok");
    });
    assertEquals((await p.client.get(p.url)).body, "ok");
    assertEquals((await p.client.get(p.url)).body, "ok");
  });
}

for (const [name, handler, message] of FAILING) {
  Deno.test(`${name} is answered 500 and told once (fetchHandler)`, async () => {
    const errors: unknown[] = [];
    const serve = fetchHandler(handler, { onError: (error) => errors.push(error) });
    const response = await serve(new Request("http://h/"));
    assertEquals([response.status, await response.text()], [500, "Internal Server Error"]);
    assertEquals(errors.length, 1);
    // Trailers are refused there whatever they are.
    if (name !== "a wrong length with trailers") {
      assert(String(errors[0]).includes(message), String(errors[0]));
    }
  });
}
