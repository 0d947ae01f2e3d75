/** Heads and bodies that are written, read back by the readers of this module. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { BodyReader, Found } from "../../../http/h1/body.ts";
import { readRequestHead, readResponseHead } from "../../../http/h1/read.ts";
import { RequestWriter } from "../../../http/h1/request_writer.ts";
import { ResponseWriter } from "../../../http/h1/response_writer.ts";
import { OutBuffer } from "../../../http/net/out_buffer.ts";
import { Random } from "../../../support/random.ts";
import { bytes, text } from "./support.ts";

const LIMITS = { maxHeaderBytes: 1 << 16, maxHeaderFields: 100, maxTargetBytes: 1 << 10 };

/** Everything that was written since the last look. */
function written(out: OutBuffer): string {
  let all = "";
  while (out.pending > 0) {
    all += text(out.take());
    out.release();
  }
  return all;
}

/** Body and trailers behind a head, which must end with the message. */
function bodyOf(wire: string, framing: number | "chunked" | "eof"): [string, readonly string[]] {
  const reader = new BodyReader(framing);
  const buf = bytes(wire);
  let at = 0;
  let body = "";
  for (;;) {
    const found = reader.next(buf, at, buf.length);
    at += reader.consumed;
    if (found !== Found.DATA) break;
    body += text(buf.subarray(reader.dataStart, reader.dataEnd));
  }
  if (framing === "eof") reader.eof();
  assert(reader.done && at === buf.length, "the message must end where its body does");
  return [body, reader.trailers];
}

/** A response as a client reads it. */
function readResponse(wire: string, method: string) {
  const end = wire.indexOf("\r\n\r\n") + 4;
  const { status, block } = readResponseHead(bytes(wire), 0, end, LIMITS);
  const none = method === "HEAD" || status === 204 || status === 304;
  const [body, trailers] = bodyOf(
    wire.slice(end),
    none ? 0 : block.chunked ? "chunked" : block.contentLength >= 0 ? block.contentLength : "eof",
  );
  return { status, block, body, trailers };
}

function response(method = "GET", { minor = 1, close = false, lasting = true } = {}) {
  const out = new OutBuffer();
  return { out, writer: new ResponseWriter(out, { method, minor }, close, { lasting }) };
}

Deno.test("a response that is whole at once has a content-length", () => {
  const { out, writer } = response();
  writer.giveHead(200, ["date", "x", "a", "1"]);
  assert(writer.headWaits && writer.headAlone);
  assertEquals(writer.write("hällo"), false);
  assertEquals([writer.headAlone, out.pending], [false, 0]);
  writer.end(null, null);
  assertEquals(
    written(out),
    "HTTP/1.1 200 OK\r\ndate: x\r\na: 1\r\ncontent-length: 6\r\n\r\nh\xc3\xa4llo",
  );
  assert(!writer.headWaits && !writer.close);
});

Deno.test("a response that goes on is chunked, what was held back first", () => {
  const { out, writer } = response();
  writer.giveHead(200, ["date", "x"]);
  assertEquals([writer.write("one"), writer.write(bytes("two")), writer.write("")], [
    false,
    true,
    true,
  ]);
  writer.end("three", ["t", "1"]);
  assertEquals(
    written(out),
    "HTTP/1.1 200 OK\r\ndate: x\r\ntransfer-encoding: chunked\r\n\r\n" +
      "3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\nt: 1\r\n\r\n",
  );
});

Deno.test("a piece that is held back is a copy", () => {
  const { out, writer } = response();
  writer.giveHead(200, ["date", "x"]);
  const piece = bytes("one");
  writer.write(piece);
  piece.fill(0);
  writer.end(null, null);
  assert(written(out).endsWith("\r\n\r\none"));
});

Deno.test("a head can be taken back with what waits with it, until it is written", () => {
  const { out, writer } = response();
  writer.giveHead(200, ["date", "x", "content-length", "5"]);
  assert(writer.drop());
  writer.giveHead(200, ["date", "x"]);
  writer.write("half");
  assert(writer.drop());
  writer.giveHead(500, ["date", "x"]);
  writer.end("whole", null);
  assert(!writer.drop());
  assertEquals(
    written(out),
    "HTTP/1.1 500 Internal Server Error\r\ndate: x\r\ncontent-length: 5\r\n\r\nwhole",
  );
});

Deno.test("a body that does not fit its content-length is refused before anything is written", () => {
  const { out, writer } = response();
  writer.giveHead(200, ["date", "x", "content-length", "3"]);
  assertThrows(() => writer.write("four"), RangeError, "3 bytes, with this piece 4");
  assertThrows(() => writer.end("no", null), RangeError, "3 bytes: sent were 2");
  assertEquals([out.pending, writer.headWaits], [0, true]);
  writer.write("tw");
  assertThrows(() => writer.write("oo"), RangeError, "3 bytes, with this piece 4");
  assertThrows(() => writer.end(null, null), RangeError, "sent were 2");
  writer.end("o", null);
  assertEquals(
    written(out),
    "HTTP/1.1 200 OK\r\ndate: x\r\ncontent-length: 3\r\n\r\ntwo",
  );
});

Deno.test("a response says close where its connection ends, and only there", () => {
  const said = (options: Parameters<typeof response>[1], fields: string[] = []) => {
    const { out, writer } = response("GET", options);
    writer.giveHead(200, ["date", "x", ...fields]);
    writer.end("x", null);
    const wire = written(out);
    assertEquals(/^connection: (.*)\r$/m.exec(wire)?.[1]?.includes("close") ?? false, writer.close);
    return writer.close;
  };
  assertEquals(said({}), false);
  assertEquals(said({ close: true }), true);
  assertEquals(said({ lasting: false }), true);
  assertEquals(said({}, ["connection", "close"]), true);
  assertEquals(said({}, ["upgrade", "h2c"]), false);
  assertEquals(said({ close: true }, ["upgrade", "h2c"]), true);
});

Deno.test("HTTP/1.0 gets no chunks: what goes on ends with the connection", () => {
  const { out, writer } = response("GET", { minor: 0 });
  writer.giveHead(200, ["date", "x"]);
  writer.write("one");
  writer.write("two");
  writer.end(null, ["t", "1"]);
  assertEquals(written(out), "HTTP/1.1 200 OK\r\ndate: x\r\nconnection: close\r\n\r\nonetwo");
  assert(writer.close);
});

Deno.test("what a handler sends of a response is what a client reads of it", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = new Random(seed);
    const method = random.pick(["GET", "HEAD", "POST"]);
    const status = random.pick([200, 404, 204, 304]);
    const bodiless = method === "HEAD" || status === 204 || status === 304;
    const pieces = Array.from(
      { length: random.below(4) },
      () => "ab".repeat(random.pick([0, 1, 100, 40_000])),
    );
    const last = random.below(2) === 0 ? "end" : null;
    const body = pieces.join("") + (last ?? "");
    const fields = ["x-a", "1"];
    const framed = random.below(4);
    if (framed === 0) fields.push("content-length", String(body.length));
    if (framed === 1) fields.push("transfer-encoding", "chunked");
    const trailers = framed !== 0 && random.below(4) === 0 ? ["x-t", "2"] : null;
    const { out, writer } = response(method, { minor: random.pick([1, 1, 0]) });
    writer.giveHead(status, fields);
    for (const piece of pieces) {
      writer.write(random.below(2) === 0 ? piece : bytes(piece));
      if (random.below(5) === 0) writer.commit();
    }
    writer.end(last, trailers);
    const wire = written(out);
    const got = readResponse(wire, method);
    assertEquals(got.status, status);
    assert(got.body === (bodiless ? "" : body), `seed ${seed}`);
    assertEquals(got.block.fields.slice(0, 2), ["x-a", "1"]);
    assert(got.block.fields.includes("date"));
    // RFC 9112 §6.1, §6.2: a 204 tells of no body, and nothing tells of it twice.
    if (status === 204) assert(!got.block.chunked && got.block.contentLength < 0, `seed ${seed}`);
    if (framed === 0 && status !== 204) assertEquals(got.block.contentLength, body.length);
    if (got.block.chunked && trailers !== null && !bodiless) assertEquals(got.trailers, trailers);
    assertEquals(got.block.close, writer.close);
    assertEquals(writer.headWaits, false);
  }
});

Deno.test("what a client sends of a request is what a server reads of it", () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = new Random(seed);
    const method = random.pick(["GET", "POST", "PUT", "DELETE"]);
    const pieces = Array.from({ length: random.below(4) }, () => "ab".repeat(random.below(3000)));
    const last = random.below(2) === 0 ? "end" : null;
    const body = pieces.join("") + (last ?? "");
    const known = random.below(2) === 0;
    const trailers = !known && random.below(4) === 0 ? ["x-t", "2"] : null;
    const close = random.below(4) === 0;
    const out = new OutBuffer();
    const writer = new RequestWriter(out, {
      method,
      target: "/a?b",
      authority: "h:1",
      fields: ["x-a", "1"],
      close,
    }, known ? body.length : -1);
    if (known && random.below(2) === 0) writer.commit();
    for (const piece of pieces) assert(writer.write(bytes(piece)), "nothing is held back");
    writer.end(last, trailers);
    const wire = written(out);
    const end = wire.indexOf("\r\n\r\n") + 4;
    const { block, ...head } = readRequestHead(bytes(wire), 0, end, LIMITS);
    assertEquals(head, { method, target: "/a?b", authority: "h:1", minor: 1 });
    assertEquals(block.close, close);
    const [got, gotTrailers] = bodyOf(
      wire.slice(end),
      block.chunked ? "chunked" : Math.max(0, block.contentLength),
    );
    assert(got === body, `seed ${seed}`);
    // What is whole at once tells its length.
    const whole = known || (pieces.length === 0 && trailers === null);
    assertEquals(block.chunked, !whole, `seed ${seed}`);
    if (trailers !== null) assertEquals(gotTrailers, trailers);
    // RFC 9110 §8.6: also of no body, where the method means one.
    if (whole && body === "") {
      assertEquals(block.contentLength, method === "POST" || method === "PUT" ? 0 : -1);
    }
  }
});

Deno.test("a request that is not as long as told is refused", () => {
  const head = { method: "PUT", target: "/", authority: "h", fields: [], close: false };
  const writer = new RequestWriter(new OutBuffer(), head, 3);
  assertThrows(() => writer.write(bytes("four")), RangeError, "3 bytes, with this piece 4");
  writer.write(bytes("tw"));
  assertThrows(() => writer.end(null, null), RangeError, "Cannot end the request");
});
