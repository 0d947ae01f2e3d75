import {
  assert,
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { huffmanEncode, huffmanLength } from "../../../http/hpack/huffman.ts";
import { encodeInteger } from "../../../http/hpack/integer.ts";
import { Decoder, type FieldBlock, HpackError } from "../../../http/hpack/mod.ts";
import { fromHex } from "./hex.ts";
import { cpuTime } from "../../../support/cpu_time.ts";

function decode(decoder: Decoder, hex: string): FieldBlock {
  const octets = fromHex(hex);
  return decoder.decode(octets, 0, octets.length);
}

/** Decodes blocks, one after the other, and compares their fields. */
function assertFields(decoder: Decoder, blocks: [hex: string, fields: string[]][]): void {
  for (const [hex, fields] of blocks) assertEquals(decode(decoder, hex).fields, fields);
}

function assertRefuses(hex: string, message: string, decoder: Decoder = new Decoder()): void {
  const error = assertThrows(() => decode(decoder, hex), HpackError);
  assertEquals(error.message, message);
}

Deno.test("decode() reads C.2.1: a literal with indexing", () => {
  const decoder = new Decoder();
  assertFields(decoder, [
    ["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [
      "custom-key",
      "custom-header",
    ]],
    ["be", ["custom-key", "custom-header"]],
  ]);
});

Deno.test("decode() reads C.2.2: a literal without indexing", () => {
  const decoder = new Decoder();
  assertFields(decoder, [["040c 2f73 616d 706c 652f 7061 7468", [":path", "/sample/path"]]]);
  assertRefuses(
    "be",
    "Index of a field must be at most 61, the entries of both tables: got 62",
    decoder,
  );
});

Deno.test("decode() reads C.2.3: a literal never indexed", () => {
  const decoder = new Decoder();
  assertFields(decoder, [["1008 7061 7373 776f 7264 0673 6563 7265 74", ["password", "secret"]]]);
  assertRefuses(
    "be",
    "Index of a field must be at most 61, the entries of both tables: got 62",
    decoder,
  );
});

Deno.test("decode() reads C.2.4: an indexed field", () => {
  assertFields(new Decoder(), [["82", [":method", "GET"]]]);
});

const REQUESTS = [
  [":method", "GET", ":scheme", "http", ":path", "/", ":authority", "www.example.com"],
  [
    ...[":method", "GET", ":scheme", "http", ":path", "/", ":authority", "www.example.com"],
    ...["cache-control", "no-cache"],
  ],
  [
    ...[":method", "GET", ":scheme", "https", ":path", "/index.html"],
    ...[":authority", "www.example.com", "custom-key", "custom-value"],
  ],
];

Deno.test("decode() reads C.3: requests without Huffman coding", () => {
  assertFields(new Decoder(), [
    ["8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", REQUESTS[0]!],
    ["8286 84be 5808 6e6f 2d63 6163 6865", REQUESTS[1]!],
    [
      "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
      REQUESTS[2]!,
    ],
  ]);
});

Deno.test("decode() reads C.4: requests with Huffman coding", () => {
  assertFields(new Decoder(), [
    ["8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", REQUESTS[0]!],
    ["8286 84be 5886 a8eb 1064 9cbf", REQUESTS[1]!],
    ["8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", REQUESTS[2]!],
  ]);
});

const RESPONSES = [
  [
    ...[":status", "302", "cache-control", "private"],
    ...["date", "Mon, 21 Oct 2013 20:13:21 GMT", "location", "https://www.example.com"],
  ],
  [
    ...[":status", "307", "cache-control", "private"],
    ...["date", "Mon, 21 Oct 2013 20:13:21 GMT", "location", "https://www.example.com"],
  ],
  [
    ...[":status", "200", "cache-control", "private"],
    ...["date", "Mon, 21 Oct 2013 20:13:22 GMT", "location", "https://www.example.com"],
    ...["content-encoding", "gzip"],
    ...["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
  ],
];

Deno.test("decode() reads C.5: responses without Huffman coding, with eviction", () => {
  assertFields(new Decoder({ maxTableSize: 256 }), [
    [
      `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
       2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70
       6c65 2e63 6f6d`,
      RESPONSES[0]!,
    ],
    ["4803 3330 37c1 c0bf", RESPONSES[1]!],
    [
      `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d
       54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049
       5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e
       3d31`,
      RESPONSES[2]!,
    ],
  ]);
});

Deno.test("decode() reads C.6: responses with Huffman coding, with eviction", () => {
  assertFields(new Decoder({ maxTableSize: 256 }), [
    [
      `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
       2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
      RESPONSES[0]!,
    ],
    ["4883 640e ffc1 c0bf", RESPONSES[1]!],
    [
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
       77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
       9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
      RESPONSES[2]!,
    ],
  ]);
});

Deno.test("decode() reads strings of all octets and lengths", () => {
  for (const start of [0, 97]) {
    for (const length of [...Array(40).keys(), 63, 64, 65, 126, 127, 128, 300]) {
      const octets = Uint8Array.from(
        { length },
        (_, i) => (start + i) & (start === 0 ? 0xff : 0x7f),
      );
      const size = length < 127 ? [length] : [
        127,
        ((length - 127) & 0x7f) | (length >= 255 ? 0x80 : 0),
        ...(length >= 255 ? [1] : []),
      ];
      const block = Uint8Array.of(0x00, 0x01, 0x61, ...size, ...octets);
      const { fields } = new Decoder().decode(block, 0, block.length);
      assertEquals(fields, ["a", String.fromCharCode(...octets)]);
    }
  }
});

Deno.test("decode() reads Huffman-coded strings of all lengths, long and short by turns", () => {
  const decoder = new Decoder({ maxHeaderListSize: Infinity });
  for (const length of [3, 1000, 100_000, 0, 70_000, 5, 200_000, 64]) {
    const text = "0aZ".repeat(length);
    const out = new Uint8Array(text.length + 20);
    out[1] = 1;
    out[2] = 0x61;
    const start = encodeInteger(out, 3, 0x80, 7, huffmanLength(text));
    const end = huffmanEncode(text, out, start);
    assertEquals(decoder.decode(out, 0, end).fields, ["a", text]);
  }
});

Deno.test("decode() gives an empty block for no octets", () => {
  const block = decode(new Decoder(), "");
  assertEquals([block.fields, block.size, block.truncated], [[], 0, false]);
});

Deno.test("decode() reads between start and end only", () => {
  const octets = fromHex("ffff 8286 ffff");
  assertEquals(new Decoder().decode(octets, 2, 4).fields, [":method", "GET", ":scheme", "http"]);
  // The string would go on after the end of the block.
  const cut = fromHex("0001 6103 6263 64");
  assertThrows(
    () => new Decoder().decode(cut, 0, 6),
    HpackError,
    "String must end inside its header block: got length 3 with 2 bytes left",
  );
});

Deno.test("decode() refuses index 0", () => {
  assertRefuses("80", "Index of a field must be at least 1: got 0");
});

Deno.test("decode() refuses an index over the entries of both tables, in every representation", () => {
  for (const hex of ["be", "7e 00", "0f2f 00", "1f2f 00"]) {
    assertRefuses(hex, "Index of a field must be at most 61, the entries of both tables: got 62");
  }
  const decoder = new Decoder();
  decode(decoder, "4001 6101 62");
  assertEquals(decode(decoder, "be").fields, ["a", "b"]);
  assertRefuses(
    "bf",
    "Index of a field must be at most 62, the entries of both tables: got 63",
    decoder,
  );
});

Deno.test("decode() refuses an integer that is too long or too large", () => {
  assertRefuses("ff8080808080 00", "Integer must have at most 5 bytes after its prefix");
  assertRefuses("ffffffffff7f", "Integer must be at most 2147483647: got 34359738494");
  assertRefuses("0001 617f ffffffff7f", "Integer must be at most 2147483647: got 34359738494");
});

Deno.test("decode() refuses a block that ends inside a field", () => {
  const whole = fromHex("4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf");
  for (let end = 1; end < whole.length; end++) {
    assertThrows(() => new Decoder().decode(whole, 0, end), HpackError);
  }
  assertEquals(new Decoder().decode(whole, 0, whole.length).fields, ["custom-key", "custom-value"]);
});

Deno.test("decode() refuses faulty Huffman coding", () => {
  assertRefuses(
    "0084 ffffffff 00",
    "Huffman-coded string must not contain the end-of-string symbol",
  );
  const padding =
    "Huffman-coded string must end with a whole code and at most 7 bits of padding, all ones";
  assertRefuses("0081 ff 00", padding);
  assertRefuses("0081 00 00", padding);
});

Deno.test("decode() refuses a size update over maxTableSize", () => {
  assertEquals(decode(new Decoder(), "3fe11f 82").fields, [":method", "GET"]);
  assertRefuses("3fe21f 82", "Dynamic table size must be at most 4096: got an update to 4097");
  const none = new Decoder({ maxTableSize: 0 });
  assertEquals(decode(none, "20 82").fields, [":method", "GET"]);
  assertRefuses("21", "Dynamic table size must be at most 0: got an update to 1", none);
});

Deno.test("decode() refuses a size update after a field", () => {
  const message =
    "Dynamic table size update must be at the beginning of a header block (RFC 7541 §4.2)";
  assertRefuses("82 20", message);
  assertRefuses("0000 00 20", message);
});

Deno.test("decode() refuses a block without the size update that setMaxTableSize() asks for", () => {
  const message =
    "Header block must begin with a dynamic table size update, as SETTINGS_HEADER_TABLE_SIZE is 100 now";
  for (const blocks of [[], ["82", "82", "82"]]) {
    const decoder = new Decoder();
    for (const hex of blocks) decode(decoder, hex);
    decoder.setMaxTableSize(100);
    assertRefuses("82", message, decoder);
  }
  const decoder = new Decoder();
  decoder.setMaxTableSize(100);
  assertEquals(decode(decoder, "3f45 82").fields, [":method", "GET"]);
  assertEquals(decode(decoder, "82").fields, [":method", "GET"]);
  assertRefuses("3f46", "Dynamic table size must be at most 100: got an update to 101", decoder);
});

Deno.test("decode() wants no size update where setMaxTableSize() gives more", () => {
  const decoder = new Decoder();
  decoder.setMaxTableSize(8192);
  assertEquals(decode(decoder, "82").fields, [":method", "GET"]);
  assertEquals(decode(decoder, "3fe13f 82").fields, [":method", "GET"]);
  // Acknowledged, less, but no less than what the peer has chosen.
  decode(decoder, "20");
  decoder.setMaxTableSize(0);
  assertEquals(decode(decoder, "82").fields, [":method", "GET"]);
});

Deno.test("decode() starts with a table of 4096 octets whatever maxTableSize allows", () => {
  const decoder = new Decoder({ maxTableSize: 65_536 });
  // An entry of 1 + 4064 + 32 octets does not fit; of 4063 it does.
  decode(decoder, "4001 617f e11e" + "62".repeat(4064));
  assertRefuses(
    "be",
    "Index of a field must be at most 61, the entries of both tables: got 62",
    decoder,
  );
  const fresh = new Decoder({ maxTableSize: 65_536 });
  decode(fresh, "4001 617f e01e" + "62".repeat(4063));
  assertEquals(decode(fresh, "be").fields, ["a", "b".repeat(4063)]);
});

Deno.test("decode() keeps the name of an entry that its own field evicts (RFC 7541 §4.4)", () => {
  const decoder = new Decoder({ maxTableSize: 40 });
  decode(decoder, "4003 616263 0131");
  assertEquals(decode(decoder, "7e 0232 32").fields, ["abc", "22"]);
  assertEquals(decode(decoder, "be").fields, ["abc", "22"]);
});

Deno.test("FieldBlock.size counts name, value and 32 for each field", () => {
  assertEquals(decode(new Decoder(), "82 0001 6102 6263").size, 7 + 3 + 32 + 1 + 2 + 32);
});

Deno.test("decode() stops collecting at maxHeaderListSize, but goes on decoding", () => {
  const decoder = new Decoder({ maxHeaderListSize: 100 });
  // Three fields of 42, 42 and 43 octets: the third is too much. Then all kinds of them.
  const block = decode(
    decoder,
    "82 82 86" + "4001 7801 79" + "0001 6102 6263" + "0f0d 0131" + "1081 1f81 07" + "be" + "82",
  );
  assertEquals(block.fields, [":method", "GET", ":method", "GET"]);
  assertEquals(block.truncated, true);
  assertEquals(block.size, 42 + 42 + 43 + 34 + 35 + (14 + 1 + 32) + 34 + 34 + 42);
  assertEquals(decode(decoder, "be").fields, ["x", "y"]);
});

Deno.test("decode() collects what is exactly maxHeaderListSize", () => {
  const decoder = new Decoder({ maxHeaderListSize: 84 });
  const block = decode(decoder, "82 82");
  assertEquals([block.fields.length, block.size, block.truncated], [4, 84, false]);
});

Deno.test("decode() stops collecting at maxFields", () => {
  const decoder = new Decoder({ maxFields: 2 });
  assertEquals(decode(decoder, "82 82").truncated, false);
  const block = decode(decoder, "82 82 82");
  assertEquals([block.fields.length, block.size, block.truncated], [4, 126, true]);
});

Deno.test("decode() refuses a malformed field past the limits, too", () => {
  const options = { maxFields: 0 };
  for (const hex of ["82 80", "82 be", "82 0081 00 00", "82 0001 6181 00", "82 0f2f 00", "82 20"]) {
    assertThrows(() => decode(new Decoder(options), hex), HpackError);
  }
  assertEquals(decode(new Decoder(options), "82 0081 07 00 0001 6181 07").truncated, true);
});

Deno.test("decode() takes little memory and time for a block that expands 4,000-fold", () => {
  const decoder = new Decoder({ maxHeaderListSize: 16_384 });
  decode(decoder, "4001 617f 8d1e" + "62".repeat(3980));
  const bomb = new Uint8Array(1_000_000).fill(0xbe);
  const started = cpuTime();
  const block = decoder.decode(bomb, 0, bomb.length);
  assertEquals([block.truncated, block.fields.length], [true, 8]);
  assertEquals(block.size, 4013 * 1_000_000);
  assert(cpuTime() - started < 2000);
});

Deno.test("decode() gives equal blocks as one object, from the third on", () => {
  const decoder = new Decoder();
  decode(decoder, "82 84 86");
  const second = decode(decoder, "82 84 86");
  second.note = "routed";
  const third = decode(decoder, "82 84 86");
  assertStrictEquals(third, second);
  assertEquals(third.note, "routed");
  assertNotStrictEquals(decode(decoder, "82 84 87"), second);
});

Deno.test("decode() forgets equal blocks once the table has changed", () => {
  const decoder = new Decoder();
  decode(decoder, "4001 6101 31");
  for (let i = 0; i < 4; i++) assertEquals(decode(decoder, "be").fields, ["a", "1"]);
  decode(decoder, "4001 6101 32");
  for (let i = 0; i < 4; i++) assertEquals(decode(decoder, "be").fields, ["a", "2"]);
  decode(decoder, "20");
  assertThrows(() => decode(decoder, "be"), HpackError);
});

Deno.test("decode() inserts the fields of equal blocks every time", () => {
  const decoder = new Decoder();
  for (let i = 0; i < 5; i++) decode(decoder, "4001 6101 31");
  assertEquals(decode(decoder, "c2").fields, ["a", "1"]);
  assertThrows(() => decode(decoder, "c3"), HpackError);
});

Deno.test("decode() keeps nothing of the buffer it was given", () => {
  const decoder = new Decoder();
  const octets = fromHex("82 0001 6101 62");
  const fields = [":method", "GET", "a", "b"];
  for (let i = 0; i < 3; i++) assertEquals(decoder.decode(octets, 0, 6).fields, fields);
  octets[5] = 0x63;
  assertEquals(decoder.decode(octets, 0, 6).fields, [":method", "GET", "a", "c"]);
  octets[5] = 0x62;
  assertEquals(decoder.decode(octets, 0, 6).fields, fields);
});

Deno.test("Decoder refuses options that are not integers from 0", () => {
  for (const value of [-1, 1.5, NaN]) {
    assertThrows(
      () => new Decoder({ maxTableSize: value }),
      RangeError,
      `maxTableSize must be an integer >= 0: current value is ${value}`,
    );
    assertThrows(() => new Decoder({ maxHeaderListSize: value }), RangeError, "maxHeaderListSize");
    assertThrows(() => new Decoder({ maxFields: value }), RangeError, "maxFields");
    assertThrows(() => new Decoder().setMaxTableSize(value), RangeError, "size");
  }
});
