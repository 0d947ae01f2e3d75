import { assert, assertEquals, assertThrows } from "@std/assert";
import { Decoder, Encoder, Template } from "../../../http/hpack/mod.ts";
import { toHex } from "./hex.ts";

function encode(encoder: Encoder, fields: readonly string[] | Template): string {
  const template = fields instanceof Template;
  const out = new Uint8Array(template ? encoder.boundTemplate(fields) : encoder.bound(fields));
  const end = template ? encoder.encodeTemplate(out, 0, fields) : encoder.encode(out, 0, fields);
  return toHex(out.subarray(0, end));
}

/** The pattern of the representation, by its first octet. */
function kind(hex: string): "indexed" | "inserted" | "update" | "never" | "without" {
  const first = parseInt(hex.slice(0, 2), 16);
  if (first >= 0x80) return "indexed";
  if (first >= 0x40) return "inserted";
  if (first >= 0x20) return "update";
  return first >= 0x10 ? "never" : "without";
}

/** How the field is represented the first, second and third time. */
function kinds(name: string, values: readonly string[]): string[] {
  const encoder = new Encoder();
  return values.map((value) => kind(encode(encoder, [name, value])));
}

Deno.test("encodeTemplate() writes C.2.1: a literal with indexing", () => {
  assertEquals(
    encode(new Encoder(), new Template(["custom-key", "custom-header"])),
    "400a637573746f6d2d6b65790d637573746f6d2d686561646572",
  );
});

Deno.test("encode() writes C.2.2: a literal without indexing", () => {
  assertEquals(encode(new Encoder(), [":path", "/sample/path"]), "040c2f73616d706c652f70617468");
});

Deno.test("encode() writes C.2.4: an indexed field", () => {
  assertEquals(encode(new Encoder(), [":method", "GET"]), "82");
});

Deno.test("encode() and encodeTemplate() write C.3: requests without Huffman coding", () => {
  const encoder = new Encoder();
  const first = [
    ":method",
    "GET",
    ":scheme",
    "http",
    ":path",
    "/",
    ":authority",
    "www.example.com",
  ];
  assertEquals(encode(encoder, first), "828684410f7777772e6578616d706c652e636f6d");
  const second = [...first, "cache-control", "no-cache"];
  assertEquals(encode(encoder, second), "828684be58086e6f2d6361636865");
  const third = new Template([
    ...[":method", "GET", ":scheme", "https", ":path", "/index.html"],
    ...[":authority", "www.example.com", "custom-key", "custom-value"],
  ]);
  assertEquals(
    encode(encoder, third),
    "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
  );
});

Deno.test("encodeTemplate() writes C.5.1 and C.5.2: responses with eviction", () => {
  const encoder = new Encoder({ maxTableSize: 256 });
  assertEquals(encode(encoder, []), "3fe101");
  const fields = [
    ...["cache-control", "private", "date", "Mon, 21 Oct 2013 20:13:21 GMT"],
    ...["location", "https://www.example.com"],
  ];
  assertEquals(
    encode(encoder, new Template([":status", "302", ...fields])),
    "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54" +
      "6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
  );
  assertEquals(encode(encoder, new Template([":status", "307", ...fields])), "4803333037c1c0bf");
});

Deno.test("encode() marks credentials and cookies as never indexed, whatever was sent before", () => {
  for (const name of ["authorization", "proxy-authorization", "cookie", "set-cookie"]) {
    assertEquals(kinds(name, ["secret", "secret", "secret"]), ["never", "never", "never"]);
    const encoder = new Encoder();
    const template = new Template([name, "secret"]);
    assertEquals(kind(encode(encoder, template)), "never");
    assertEquals(kind(encode(encoder, template)), "never");
  }
});

Deno.test("encode() inserts at once what has few values", () => {
  for (const name of [":authority", "content-type", "te", "user-agent", "grpc-encoding"]) {
    assertEquals(kinds(name, ["x", "x", "y"]), ["inserted", "indexed", "inserted"]);
  }
});

Deno.test("encode() inserts other fields when they come again", () => {
  for (const name of ["date", "content-length", "etag", "grpc-timeout", "x-own"]) {
    assertEquals(kinds(name, ["x", "x", "x"]), ["without", "inserted", "indexed"]);
  }
  const path = ["/a.B/C", "/a.B/D", "/a.B/C", "/a.B/D", "/a.B/C", "/a.B/D"];
  assertEquals(kinds(":path", path), [
    ...["without", "without", "inserted", "inserted", "indexed", "indexed"],
  ]);
});

Deno.test("encode() never inserts what is new every time, or may be secret", () => {
  for (const name of ["traceparent", "x-request-id"]) {
    assertEquals(kinds(name, ["x", "x", "x"]), ["without", "without", "without"]);
  }
  assertEquals(kinds(":path", ["/a?b", "/a?b", "/a?b"]), ["without", "without", "without"]);
  const encoder = new Encoder();
  const template = new Template([":path", "/a?b"]);
  assertEquals(kind(encode(encoder, template)), "without");
});

Deno.test("encode() leaves the table alone while 10,000 paths come once each", () => {
  const encoder = new Encoder();
  const template = new Template(["content-type", "application/grpc"]);
  encode(encoder, template);
  for (let i = 0; i < 10_000; i++) encode(encoder, [":path", `/users/${i}`]);
  assertEquals(encode(encoder, template), "be");
});

Deno.test("encode() does not insert a field of more than half the table", () => {
  assertEquals(kinds("server", ["x".repeat(2010), "x".repeat(2010)]), ["inserted", "indexed"]);
  assertEquals(kinds("server", ["x".repeat(2011), "x".repeat(2011)]), ["without", "without"]);
});

Deno.test("encode() uses the name of an entry that is about to be evicted", () => {
  const encoder = new Encoder({ maxTableSize: 80 });
  const decoder = new Decoder();
  const out = new Uint8Array(200);
  for (let i = 0; i < 20; i++) {
    const fields = ["grpc-encoding", `${i}`.repeat(1 + i % 2)];
    const end = encoder.encode(out, 0, fields);
    assertEquals(decoder.decode(out, 0, end).fields, fields);
  }
});

Deno.test("encode() Huffman-codes strings from 1024 octets on, where that saves something", () => {
  const token = "a1".repeat(512);
  assert(encode(new Encoder(), ["cookie", token]).length / 2 < 660);
  assert(encode(new Encoder(), ["cookie", token.slice(1)]).length / 2 > 1023);
  assert(encode(new Encoder(), ["cookie", "\x01".repeat(1024)]).length / 2 > 1024);
});

Deno.test("setMaxTableSize() begins the next block with a size update, once", () => {
  const encoder = new Encoder();
  encoder.setMaxTableSize(100);
  assertEquals(encode(encoder, [":method", "GET"]), "3f4582");
  assertEquals(encode(encoder, [":method", "GET"]), "82");
});

Deno.test("setMaxTableSize() to what it is already begins no size update", () => {
  const encoder = new Encoder();
  encoder.setMaxTableSize(4096);
  assertEquals(encode(encoder, [":method", "GET"]), "82");
});

Deno.test("setMaxTableSize() signals the lowest size, then the final one (RFC 7541 §4.2)", () => {
  const encoder = new Encoder();
  for (const size of [1000, 0, 200, 4096]) encoder.setMaxTableSize(size);
  assertEquals(encode(encoder, [":method", "GET"]), "203fe11f82");
  for (const size of [1000, 100]) encoder.setMaxTableSize(size);
  assertEquals(encode(encoder, [":method", "GET"]), "3f4582");
  for (const size of [1000, 200]) encoder.setMaxTableSize(size);
  assertEquals(encode(encoder, [":method", "GET"]), "3fa90182");
});

Deno.test("setMaxTableSize() empties the table on the way down, though it comes up again", () => {
  const encoder = new Encoder();
  const decoder = new Decoder();
  const template = new Template(["content-type", "application/grpc"]);
  const out = new Uint8Array(200);
  for (let i = 0; i < 3; i++) {
    const end = encoder.encodeTemplate(out, 0, template);
    assertEquals(decoder.decode(out, 0, end).fields, template.fields);
  }
  encoder.setMaxTableSize(0);
  encoder.setMaxTableSize(4096);
  assertEquals(encode(encoder, template), "203fe11f5f106170706c69636174696f6e2f67727063");
});

Deno.test("setMaxTableSize() is capped by maxTableSize", () => {
  const encoder = new Encoder();
  encoder.setMaxTableSize(65_536);
  assertEquals(encode(encoder, [":method", "GET"]), "82");
  const large = new Encoder({ maxTableSize: 8192 });
  large.setMaxTableSize(65_536);
  assertEquals(encode(large, [":method", "GET"]), "3fe13f82");
});

Deno.test("Encoder tells the peer at once that it uses a smaller table", () => {
  const encoder = new Encoder({ maxTableSize: 0 });
  assertEquals(encode(encoder, ["server", "x"]), "200f27" + "0178");
  assertEquals(encode(encoder, ["server", "x"]), "0f27" + "0178");
});

Deno.test("encodeTemplate() writes a size update before the octets it has kept", () => {
  const encoder = new Encoder();
  const template = new Template([":status", "200"]);
  for (let i = 0; i < 3; i++) assertEquals(encode(encoder, template), "88");
  encoder.setMaxTableSize(0);
  assertEquals(encode(encoder, template), "2088");
  assertEquals(encode(encoder, template), "88");
});

Deno.test("encodeTemplate() keeps the templates of several encoders apart", () => {
  const templates = Array.from({ length: 100 }, (_, i) => new Template([`x-${i}`, `${i}`]));
  const pairs = [256, 1000, 4096].map((maxTableSize) => ({
    encoder: new Encoder({ maxTableSize }),
    decoder: new Decoder(),
  }));
  const out = new Uint8Array(200);
  for (let i = 0; i < 3000; i++) {
    const template = templates[(i * i) % (i % 5 === 0 ? 100 : 4)]!;
    const { encoder, decoder } = pairs[i % 3]!;
    const end = encoder.encodeTemplate(out, 0, template);
    assertEquals(decoder.decode(out, 0, end).fields, template.fields);
  }
});

Deno.test("encode() refuses characters that do not fit an octet, and can be used on", () => {
  const encoder = new Encoder();
  const decoder = new Decoder();
  const out = new Uint8Array(8192);
  const good = ["server", "x", "te", "trailers"];
  decoder.decode(out, 0, encoder.encode(out, 0, good));
  for (const bad of ["a\u0142", "\u{1f600}", "a".repeat(2000) + "\u0142", "\u0142".repeat(2000)]) {
    for (const fields of [["vary", "x", "x-a", bad], ["vary", "y", bad, "a"]]) {
      assertThrows(
        () => encoder.encode(out, 0, fields),
        TypeError,
        "Header field must have characters up to U+00FF",
      );
      // "vary" went into the table, and never to the peer.
      for (let i = 0; i < 3; i++) {
        const end = encoder.encode(out, 0, [...good, "vary", "x"]);
        assertEquals(decoder.decode(out, 0, end).fields, [...good, "vary", "x"]);
      }
    }
  }
});

Deno.test("encode() refuses an output without room, and can be used on", () => {
  const encoder = new Encoder();
  const decoder = new Decoder();
  const out = new Uint8Array(20);
  assertThrows(
    () => encoder.encode(out, 3, ["server", "x".repeat(20)]),
    RangeError,
    "Header block must have room as of bound(): needs 22 bytes, got 17",
  );
  const end = encoder.encode(out, 3, ["server", "x"]);
  assertEquals(decoder.decode(out, 3, end).fields, ["server", "x"]);
  const template = new Template([":status", "200", ":status", "204"]);
  for (let i = 0; i < 3; i++) encoder.encodeTemplate(out, 0, template);
  assertThrows(
    () => encoder.encodeTemplate(out, 19, template),
    RangeError,
    "needs 2 bytes, got 1",
  );
});

Deno.test("encode() refuses a name without a value", () => {
  const message =
    'Header fields must be pairs of name and value: got 3 strings, the last being "te"';
  assertThrows(
    () => new Encoder().encode(new Uint8Array(99), 0, ["a", "b", "te"]),
    TypeError,
    message,
  );
  assertThrows(() => new Template(["a", "b", "te"]), TypeError, message);
});

Deno.test("Template refuses characters that do not fit an octet", () => {
  assertThrows(
    () => new Template(["a", "b\u0142"]),
    TypeError,
    "Header field must have characters up to U+00FF, one for each byte: character 1 is U+0142",
  );
});

Deno.test("Template has a copy of its fields that does not change", () => {
  const fields = ["a", "b"];
  const template = new Template(fields);
  fields[1] = "c";
  assertEquals(template.fields, ["a", "b"]);
  assertThrows(() => (template.fields as string[]).push("c"), TypeError);
});

Deno.test("Encoder and setMaxTableSize() refuse sizes that are not integers of 32 bits", () => {
  for (const size of [-1, 1.5, NaN, Infinity, 2 ** 32]) {
    const message = `Table size must be an integer from 0 to 4294967295: got ${size}`;
    assertThrows(() => new Encoder({ maxTableSize: size }), RangeError, message);
    assertThrows(() => new Encoder().setMaxTableSize(size), RangeError, message);
  }
});
