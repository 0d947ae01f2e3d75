import { assert, assertEquals, assertThrows } from "@std/assert";
import { CloseCode, WebSocketError } from "../../../http/websocket/close_code.ts";
import { deflate } from "../../../http/websocket/deflate.ts";
import { Found, FrameReader, parseClose } from "../../../http/websocket/frame_reader.ts";
import { makeCloseFrame, makeFrame, makeTextFrame } from "../../../http/websocket/frame_writer.ts";
import { unmask } from "../../../http/websocket/mask.ts";
import { Utf8Check } from "../../../http/websocket/utf8.ts";
import { concat } from "../../../support/frames.ts";
import { Random } from "../../../support/random.ts";
import { maskedFrame } from "../../../support/websocket_peer.ts";

/** All that is found in pieces of a stream, as text; and the code it breaks with. */
function found(reader: FrameReader, pieces: Iterable<Uint8Array>): string[] {
  const all: string[] = [];
  let rest = new Uint8Array(0);
  try {
    for (const piece of pieces) {
      const buf = concat(rest, piece);
      let start = 0;
      for (;;) {
        const what = reader.next(buf, start, buf.length);
        start = reader.at;
        if (what === Found.NEED_MORE) break;
        const name = Object.keys(Found).find((key) => Found[key as keyof typeof Found] === what);
        all.push(`${name} ${what === Found.TEXT ? reader.text : [...reader.bytes].join()}`);
      }
      rest = buf.slice(start);
    }
  } catch (error) {
    if (!(error instanceof WebSocketError)) throw error;
    all.push(`broken ${error.code}`);
  }
  return all;
}

function* cut(random: Random, bytes: Uint8Array, most: number): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const n = 1 + random.below(most);
    yield bytes.slice(at, at + n);
    at += n;
  }
}

Deno.test("FrameReader finds the same however the bytes are cut", () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = new Random(seed);
    const frames: Uint8Array[] = [];
    const expected: string[] = [];
    const ping = () => {
      const n = random.below(126);
      frames.push(maskedFrame(0x89, new Uint8Array(n).fill(n), undefined, random.below(2 ** 32)));
      expected.push(`PING ${new Array(n).fill(n).join()}`);
    };
    for (let i = 0; i < 6; i++) {
      const text = random.pick(["", "grüße", "😀 and ASCII", "x".repeat(random.below(70_000))]);
      const binary = random.below(2) === 0;
      const bytes = new TextEncoder().encode(text);
      const parts = random.below(4);
      let at = 0;
      for (let part = 0; part <= parts; part++) {
        const last = part === parts;
        const to = last ? bytes.length : at + random.below(bytes.length - at + 1);
        const opcode = part > 0 ? 0 : binary ? 2 : 1;
        frames.push(
          maskedFrame(
            (last ? 0x80 : 0) | opcode,
            bytes.slice(at, to),
            undefined,
            random.below(2 ** 32),
          ),
        );
        at = to;
        if (!last && random.below(2) === 0) ping();
      }
      expected.push(binary ? `BINARY ${[...bytes].join()}` : `TEXT ${text}`);
    }
    const reader = new FrameReader(1 << 20, false);
    const most = random.pick([1, 3, 200, 40_000, 1 << 20]);
    const bytes = concat(...frames);
    // Byte by byte is slow in this test's own joining of pieces.
    if (most <= 3 && bytes.length > 50_000) continue;
    assertEquals(found(reader, cut(random, bytes, most)), expected, `seed ${seed}`);
    assertEquals(reader.held, 0);
  }
});

Deno.test("FrameReader breaks with the code of the rule, as soon as it is broken", () => {
  const huge = 1n << 62n;
  const cases: [string, Uint8Array, string[]][] = [
    ["unmasked", Uint8Array.of(0x81, 1, 65), ["broken 1002"]],
    ["reserved bit", maskedFrame(0xc1), ["broken 1002"]],
    ["reserved opcode", maskedFrame(0x83), ["broken 1002"]],
    ["reserved control opcode", maskedFrame(0x8b), ["broken 1002"]],
    ["fragmented ping", maskedFrame(0x09), ["broken 1002"]],
    ["ping of 126 bytes, head cut", Uint8Array.of(0x89, 0xfe), ["broken 1002"]],
    ["continuation of nothing", maskedFrame(0x80), ["broken 1002"]],
    ["message in a message", concat(maskedFrame(0x01), maskedFrame(0x81)), ["broken 1002"]],
    ["length in 16 bits too long a form", Uint8Array.of(0x82, 0xfe, 0, 125, 0, 0, 0, 0), [
      "broken 1002",
    ]],
    [
      "length in 64 bits too long a form",
      Uint8Array.of(0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0),
      ["broken 1002"],
    ],
    ["length of 2^63", maskedFrame(0x82, "", 1n << 63n), ["broken 1002"]],
    ["length of 2^62", maskedFrame(0x82, "", huge), ["broken 1009"]],
    ["continuation of 2^62", concat(maskedFrame(0x02, "x"), maskedFrame(0x80, "", huge)), [
      "broken 1009",
    ]],
    ["one byte too many", maskedFrame(0x82, new Uint8Array(1001)), ["broken 1009"]],
    ["as many as allowed", maskedFrame(0x82, new Uint8Array(1000)).slice(0, 500), []],
    ["no UTF-8", maskedFrame(0x81, Uint8Array.of(0xff)), ["broken 1007"]],
    ["surrogate", maskedFrame(0x81, Uint8Array.of(0xed, 0xa0, 0x80)), ["broken 1007"]],
    ["cut character", maskedFrame(0x81, Uint8Array.of(0xe2, 0x82)), ["broken 1007"]],
    ["no UTF-8 in a fragment that is not the last", maskedFrame(0x01, Uint8Array.of(0xf5)), [
      "broken 1007",
    ]],
    ["no UTF-8 in a frame that is not all there", maskedFrame(0x81, Uint8Array.of(0xc0), 500n), [
      "broken 1007",
    ]],
  ];
  for (const [name, bytes, expected] of cases) {
    assertEquals(found(new FrameReader(1000, false), [bytes]), expected, name);
  }
});

Deno.test("FrameReader inflates within the limit, and breaks on what is damaged", () => {
  const text = "compress me ".repeat(1000);
  const short = deflate(new TextEncoder().encode(text), 15)!;
  const head = (max: number, ...frames: Uint8Array[]) => found(new FrameReader(max, true), frames);
  assertEquals(head(12_000, maskedFrame(0xc1, short)), [`TEXT ${text}`]);
  const half = short.length >> 1;
  assertEquals(
    head(12_000, maskedFrame(0x41, short.slice(0, half)), maskedFrame(0x80, short.slice(half))),
    [`TEXT ${text}`],
  );
  assertEquals(head(11_999, maskedFrame(0xc1, short)), ["broken 1009"]);
  assertEquals(head(12_000, maskedFrame(0xc2, Uint8Array.of(0xff, 0xff))), ["broken 1007"]);
  const latin1 = deflate(new Uint8Array(600).fill(0xe9), 15)!;
  assertEquals(head(12_000, maskedFrame(0xc1, latin1)), ["broken 1007"]);
  // The bit may stand in the first frame of a message only.
  assertEquals(head(100, maskedFrame(0xc9)), ["broken 1002"]);
  assertEquals(head(100, maskedFrame(0x01), maskedFrame(0xc0)), ["broken 1002"]);
  assertEquals(head(100, maskedFrame(0x81, "plain")), ["TEXT plain"]);
  // What cannot be compressed may be longer on the way than its limit.
  const random = crypto.getRandomValues(new Uint8Array(60_000));
  const stored = concat(Uint8Array.of(0, 0x60, 0xea, 0x9f, 0x15), random, Uint8Array.of(0));
  assertEquals(head(60_000, maskedFrame(0xc2, stored)), [`BINARY ${[...random].join()}`]);
});

Deno.test("FrameReader holds little more than a message in a million fragments has bytes", () => {
  const reader = new FrameReader(4 << 20, false);
  const count = 1_000_000;
  for (const payload of ["", "x"]) {
    const unit = maskedFrame(0x00, payload);
    const buf = new Uint8Array(1000 * unit.length);
    const start = maskedFrame(0x01, payload);
    reader.next(start, 0, start.length);
    const before = Deno.memoryUsage();
    for (let i = 0; i < count; i += 1000) {
      for (let at = 0; at < buf.length; at += unit.length) buf.set(unit, at);
      assertEquals(reader.next(buf, 0, buf.length), Found.NEED_MORE);
      assertEquals(reader.at, buf.length);
    }
    const after = Deno.memoryUsage();
    const grown = after.heapUsed + after.external - before.heapUsed - before.external;
    assert(grown < 8 << 20, `${grown} bytes`);
    const end = maskedFrame(0x80);
    assertEquals(reader.next(end, 0, end.length), Found.TEXT);
    assertEquals(reader.text.length, payload.length * (count + 1));
  }
});

Deno.test("unmask() is its own inverse, at any place and in any pieces", () => {
  const random = new Random(7);
  for (let i = 0; i < 500; i++) {
    const n = random.below(300);
    const offset = random.below(8);
    const key = random.below(2 ** 32) | 0;
    const buf = crypto.getRandomValues(new Uint8Array(offset + n));
    const expected = buf.map((byte, j) =>
      j < offset ? byte : byte ^ (key >>> (((j - offset) & 3) * 8))
    );
    const middle = offset + random.below(n + 1);
    unmask(buf, middle, buf.length, unmask(buf, offset, middle, key));
    assertEquals(buf, expected);
  }
});

Deno.test("Utf8Check takes what TextDecoder takes", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const valid = (bytes: Uint8Array) => {
    try {
      decoder.decode(bytes);
      return true;
    } catch {
      return false;
    }
  };
  const random = new Random(11);
  const edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0];
  edges.push(0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff);
  const check = new Utf8Check();
  let good = 0;
  for (let i = 0; i < 50_000; i++) {
    const bytes = Uint8Array.from({ length: 1 + random.below(5) }, () => random.pick(edges));
    check.reset();
    const middle = random.below(bytes.length + 1);
    const ok = check.push(bytes, 0, middle) && check.push(bytes, middle, bytes.length) &&
      check.complete;
    assertEquals(ok, valid(bytes), String(bytes));
    if (ok) good++;
  }
  assert(good > 100);
});

Deno.test("frames that are written are those of RFC 6455 §5.7", () => {
  assertEquals([...makeTextFrame("Hello")], [0x81, 5, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
  assertEquals([...makeTextFrame("\ud800")], [0x81, 3, 0xef, 0xbf, 0xbd]);
  for (
    const [length, head] of [[125, [125]], [126, [126, 0, 126]], [65535, [126, 255, 255]], [
      65536,
      [127, 0, 0, 0, 0, 0, 1, 0, 0],
    ]] as const
  ) {
    assertEquals([...makeFrame(2, new Uint8Array(length)).subarray(0, head.length + 1)], [
      0x82,
      ...head,
    ]);
    assertEquals(makeTextFrame("x".repeat(length)).length, length + head.length + 1);
  }
  const bytes = Uint8Array.of(1, 2, 3);
  const frame = makeFrame(2, bytes);
  bytes.fill(9);
  assertEquals([...frame], [0x82, 3, 1, 2, 3]);
  assertEquals([...makeCloseFrame(undefined, new Uint8Array(0))], [0x88, 0]);
  // Small frames share an array: they must not share bytes.
  const many = Array.from({ length: 5000 }, (_, i) => makeTextFrame(`text ${i}`));
  many.forEach((one, i) => assertEquals(new TextDecoder().decode(one.subarray(2)), `text ${i}`));
});

Deno.test("parseClose() takes the codes that may be sent, and text", () => {
  assertEquals(parseClose(new Uint8Array(0)), { code: CloseCode.NO_STATUS, reason: "" });
  for (let code = 0; code < 65536; code++) {
    const payload = Uint8Array.of(code >> 8, code, 0x6f, 0x6b);
    const good = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
      (code >= 3000 && code <= 4999);
    if (good) assertEquals(parseClose(payload), { code, reason: "ok" });
    else assertThrows(() => parseClose(payload), WebSocketError, String(code));
  }
  assertThrows(() => parseClose(Uint8Array.of(3)), WebSocketError);
  assertThrows(() => parseClose(Uint8Array.of(3, 0xe8, 0xff)), WebSocketError, "UTF-8");
});
