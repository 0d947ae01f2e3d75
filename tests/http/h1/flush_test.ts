import { assertEquals } from "@std/assert";
import { Flush } from "../../../http/h1/flush.ts";
import { ResponseWriter } from "../../../http/h1/response_writer.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import { SocketWriter } from "../../../http/net/socket_writer.ts";
import { FakeClock, settle } from "../../../support/fake_clock.ts";
import { text } from "./support.ts";

/** A response on a connection, and the writes that came of it. */
function open() {
  const [socket, peer] = memorySocketPair();
  const writes: string[] = [];
  (async () => {
    const buffer = new Uint8Array(1 << 16);
    for (;;) {
      const n = await peer.read(buffer);
      if (n === null) return;
      writes.push(text(buffer.subarray(0, n)));
    }
  })();
  const output = new SocketWriter(
    socket,
    { writeTimeout: 0, minWriteRate: 0 },
    { onWriteError: () => {} },
    new FakeClock().time,
  );
  const flush = new Flush(output);
  const response = () =>
    new ResponseWriter(output.out, { method: "GET", minor: 1 }, false, { lasting: true });
  return { output, flush, response, writes };
}

const HEAD = "HTTP/1.1 200 OK\r\ndate: x\r\n";

Deno.test("a head that nothing follows leaves by itself", async () => {
  const { flush, response, writes } = open();
  const writer = response();
  writer.giveHead(200, ["date", "x"]);
  flush.defer(writer);
  flush.defer(writer);
  assertEquals(writes, []);
  await settle();
  assertEquals(writes, [`${HEAD}transfer-encoding: chunked\r\n\r\n`]);
});

Deno.test("a head whose body comes some awaits later leaves with it", async () => {
  const { output, flush, response, writes } = open();
  const writer = response();
  writer.giveHead(200, ["date", "x"]);
  flush.defer(writer);
  for (let i = 0; i < 3; i++) await null;
  writer.end("hello", null);
  flush.forget(writer);
  output.flush();
  await settle();
  assertEquals(writes, [`${HEAD}content-length: 5\r\n\r\nhello`]);
});

Deno.test("a head that was taken back does not leave, the one that replaces it does", async () => {
  const { flush, response, writes } = open();
  const writer = response();
  writer.giveHead(200, ["date", "x"]);
  flush.defer(writer);
  writer.drop();
  await settle();
  assertEquals(writes, []);
  writer.giveHead(200, ["date", "x"]);
  flush.defer(writer);
  await settle();
  assertEquals(writes.length, 1);
});

Deno.test("a head of an exchange that is over does not leave", async () => {
  const { flush, response, writes } = open();
  const writer = response();
  writer.giveHead(200, ["date", "x"]);
  flush.defer(writer);
  flush.forget(writer);
  await settle();
  assertEquals(writes, []);
});

Deno.test("answers that end in one turn of the event loop leave together", async () => {
  const { flush, response, writes } = open();
  for (const body of ["one", "two"]) {
    const writer = response();
    writer.giveHead(200, ["date", "x"]);
    flush.defer(writer);
    writer.end(body, null);
    flush.forget(writer);
    flush.soon();
    await null;
  }
  await settle();
  assertEquals(writes, [
    `${HEAD}content-length: 3\r\n\r\none${HEAD}content-length: 3\r\n\r\ntwo`,
  ]);
});
