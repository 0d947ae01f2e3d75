/** What one HTTP/1.1 connection of a server bears, and for how long. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { bytes, connect, converse, readAll } from "./support.ts";
import type { ServerStream } from "../../../http/mod.ts";

const GET = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

const ok = (stream: ServerStream) => {
  stream.respond(200);
  stream.closeWrite("ok");
};

const echo = async (stream: ServerStream) => {
  const body = await stream.readAll();
  await stream.respond(200);
  stream.closeWrite(body);
};

Deno.test("ServerSession closes a connection that says nothing within headerTimeout", async () => {
  const outcome = await converse(ok, [], { limits: { headerTimeout: 30 }, quiet: 200 });
  assertEquals([outcome.answer, outcome.closed], ["", true]);
});

Deno.test("ServerSession answers 408 to a head that does not come whole", async () => {
  const { client, session, done } = connect(ok, { headerTimeout: 60 });
  const begun = performance.now();
  const slow = (async () => {
    for (const octet of GET.slice(0, -2)) {
      await client.write(bytes(octet)).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (performance.now() - begun > 300) return;
    }
  })();
  const [answer, closed] = await readAll(client, 400);
  assertStringIncludes(answer, "HTTP/1.1 408 Request Timeout");
  assert(closed && performance.now() - begun < 1500);
  client.close();
  session.destroy();
  await done;
  await slow;
});

Deno.test("ServerSession answers 408 to a body that drips slower than minBodyRate", async () => {
  const { client, session, done } = connect(echo, { minBodyRate: 1000, bodyTimeout: 60 });
  await client.write(bytes("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx"));
  const [answer] = await readAll(client, 300);
  assertStringIncludes(answer, "HTTP/1.1 408 ");
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession closes an idle connection after idleTimeout", async () => {
  const { client, session, done } = connect(ok, { idleTimeout: 50 });
  await client.write(bytes(GET));
  const [answer, closed] = await readAll(client, 300);
  assertStringIncludes(answer, "200 OK");
  assert(closed);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession answers pipelined requests in order, whatever the handlers' pace", async () => {
  const outcome = await converse(async (stream) => {
    await new Promise((resolve) => setTimeout(resolve, stream.path === "/1" ? 15 : 0));
    await stream.respond(200);
    stream.closeWrite(`<${stream.path}>`);
  }, [
    ["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`).join(""),
  ]);
  assertEquals(outcome.answer.match(/<\/\d>/g), ["</1>", "</2>", "</3>"]);
});

Deno.test("ServerSession runs one handler at a time for ten thousand pipelined requests", async () => {
  let running = 0;
  let most = 0;
  let handled = 0;
  const { client, session, done } = connect(async (stream) => {
    most = Math.max(most, ++running);
    handled++;
    await stream.respond(200);
    stream.closeWrite("x".repeat(100));
    running--;
  });
  await client.write(bytes(GET.repeat(10_000)));
  const [answer] = await readAll(client, 1000);
  assertEquals(answer.match(/200 OK/g)?.length, 10_000);
  assertEquals([most, handled], [1, 10_000]);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession reads and drops a short body nobody read, and keeps the connection", async () => {
  const outcome = await converse(ok, [
    `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n${"x".repeat(1000)}${GET}`,
  ]);
  assertEquals([outcome.statuses, outcome.closed], [[200, 200], false]);
});

Deno.test("ServerSession keeps the connection when the handler left a read behind", async () => {
  const { client, session, done } = connect((stream) => {
    stream.read().catch(() => {});
    ok(stream);
  });
  await client.write(bytes("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
  assertStringIncludes((await readAll(client, 20))[0], "200 OK");
  await client.write(bytes(`5\r\nhello\r\n0\r\n\r\n${GET}`));
  const [answer, closed] = await readAll(client, 20);
  assertStringIncludes(answer, "200 OK");
  assert(!closed);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession keeps its promise to keep the connection for a chunked body", async () => {
  const { client, session, done } = connect(ok);
  await client.write(bytes("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const [answer] = await readAll(client, 20);
  assertStringIncludes(answer, "200 OK");
  assert(!answer.includes("connection: close"));
  // More than is read of a body whose length says in advance what it costs.
  const chunk = `10000\r\n${"x".repeat(1 << 16)}\r\n`;
  await client.write(bytes(`${chunk.repeat(8)}0\r\n\r\n${GET}`));
  const [next, closed] = await readAll(client, 50);
  assertStringIncludes(next, "200 OK");
  assert(!closed);
  client.close();
  session.destroy();
  await done;
});

Deno.test("ServerSession closes rather than read a long body nobody wants", async () => {
  const outcome = await converse(ok, [
    `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n\r\n${"x".repeat(1000)}`,
  ], { quiet: 1500 });
  assertStringIncludes(outcome.answer, "connection: close");
  assertEquals([outcome.statuses, outcome.closed], [[200], true]);
});

Deno.test("ServerSession sends 100 only when the body is read, and closes if it is not", async () => {
  const head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  const read = connect(echo);
  await read.client.write(bytes(head));
  assertStringIncludes((await readAll(read.client, 20))[0], "HTTP/1.1 100 Continue\r\n\r\n");
  await read.client.write(bytes("hello"));
  assertStringIncludes((await readAll(read.client, 20))[0], "hello");
  read.client.close();
  read.session.destroy();
  await read.done;
  const outcome = await converse(ok, [head], { quiet: 1500 });
  assert(!outcome.answer.includes("100 Continue"));
  assertEquals([outcome.statuses, outcome.closed], [[200], true]);
});

Deno.test("ServerSession finishes the exchange under way when it is closed, and says so", async () => {
  let go!: () => void;
  const gone = new Promise<void>((resolve) => go = resolve);
  const { client, session, done } = connect(async (stream) => {
    await gone;
    await ok(stream);
  });
  await client.write(bytes(GET));
  await new Promise((resolve) => setTimeout(resolve, 5));
  session.close();
  go();
  const [answer, closed] = await readAll(client, 1500);
  assertStringIncludes(answer, "connection: close\r\n");
  assertStringIncludes(answer, "ok");
  assert(closed);
  client.close();
  await done;
});

Deno.test("ServerSession lets no handler split the response", async () => {
  const outcome = await converse(async (stream) => {
    for (const value of ["a\r\nSet-Cookie: x", "a\nb", "a\0", "a\x0b"]) {
      await stream.respond(200, { "x-a": value }).catch(() => {});
    }
    stream.closeWrite("clean");
  }, [GET]);
  assertEquals(outcome.statuses, [200]);
  assert(!outcome.answer.includes("Set-Cookie"));
});

Deno.test("ServerSession ends what a handler began, and answers 500 for nothing", async () => {
  const begun = await converse((stream) => void stream.respond(201), [GET]);
  assertEquals([begun.statuses, begun.closed], [[201], false]);
  const nothing = await converse(() => {}, [GET]);
  assertEquals(nothing.statuses, [500]);
});

Deno.test("ServerSession answers HTTP/1.0 without chunks and closes", async () => {
  const outcome = await converse(async (stream) => {
    await stream.respond(200);
    await stream.write("one ");
    await stream.write("two");
    stream.closeWrite();
  }, ["GET / HTTP/1.0\r\n\r\n"]);
  assert(!/transfer-encoding/.test(outcome.answer));
  assert(outcome.answer.endsWith("\r\n\r\none two") && outcome.closed);
});

Deno.test("a promise of the stream that nobody awaits does not end the process", async () => {
  const outcome = await converse((stream) => {
    stream.respond(200);
    stream.respond(200);
    stream.closeWrite("ok");
    stream.write("late");
  }, [GET]);
  assertEquals(outcome.statuses, [200]);
  await new Promise((resolve) => setTimeout(resolve, 5));
});

Deno.test("a response head of 32 KiB sent one octet at a time is read once, not again and again", async () => {
  const head = `GET / HTTP/1.1\r\nHost: h\r\nX: ${"a".repeat(30_000)}\r\n\r\n`;
  const { client, session, done } = connect(ok);
  const begun = performance.now();
  const all = bytes(head);
  for (let i = 0; i < all.length; i++) await client.write(all.subarray(i, i + 1));
  const [answer] = await readAll(client, 50);
  assertStringIncludes(answer, "200 OK");
  assert(performance.now() - begun < 3000);
  client.close();
  session.destroy();
  await done;
});
