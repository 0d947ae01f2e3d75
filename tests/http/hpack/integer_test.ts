import { assertEquals, assertThrows } from "@std/assert";
import { HpackError } from "../../../http/hpack/error.ts";
import { decodeInteger, encodeInteger, MAX_INTEGER } from "../../../http/hpack/integer.ts";
import { fromHex, toHex } from "./hex.ts";

function encoded(pattern: number, prefixBits: number, value: number): string {
  const out = new Uint8Array(16);
  return toHex(out.subarray(0, encodeInteger(out, 0, pattern, prefixBits, value)));
}

function decoded(hex: string, prefixBits: number): { value: number; at: number } {
  const bytes = fromHex(hex);
  const cursor = { bytes, at: 0, end: bytes.length };
  return { value: decodeInteger(cursor, prefixBits), at: cursor.at };
}

Deno.test("encodeInteger() and decodeInteger() agree with C.1.1: 10 with a 5-bit prefix", () => {
  assertEquals(encoded(0, 5, 10), "0a");
  assertEquals(decoded("0a", 5), { value: 10, at: 1 });
});

Deno.test("encodeInteger() and decodeInteger() agree with C.1.2: 1337 with a 5-bit prefix", () => {
  assertEquals(encoded(0, 5, 1337), "1f9a0a");
  assertEquals(decoded("1f9a0a", 5), { value: 1337, at: 3 });
});

Deno.test("encodeInteger() and decodeInteger() agree with C.1.3: 42 at an octet boundary", () => {
  assertEquals(encoded(0, 8, 42), "2a");
  assertEquals(decoded("2a", 8), { value: 42, at: 1 });
});

Deno.test("encodeInteger() leaves the bits above the prefix alone", () => {
  assertEquals(encoded(0xe0, 5, 10), "ea");
  assertEquals(encoded(0x20, 5, 4096), "3fe11f");
  assertEquals(decoded("ea", 5).value, 10);
});

Deno.test("decodeInteger() gives back what encodeInteger() wrote, at every edge of every prefix", () => {
  const edges = [0, 1, 126, 127, 128, 255, 256, 16_383, 16_384, 2_097_151, 2 ** 28, MAX_INTEGER];
  for (let prefixBits = 1; prefixBits <= 8; prefixBits++) {
    const prefix = 2 ** prefixBits - 1;
    for (const value of [...edges, prefix - 1, prefix, prefix + 1, prefix + 127, prefix + 128]) {
      if (value > MAX_INTEGER) continue;
      const hex = encoded(0, prefixBits, value);
      assertEquals(decoded(hex, prefixBits), { value, at: hex.length / 2 });
    }
  }
});

Deno.test("decodeInteger() accepts zeros in excess up to five octets", () => {
  assertEquals(decoded("1f8080808000", 5), { value: 31, at: 6 });
});

Deno.test("decodeInteger() refuses a sixth octet after the prefix", () => {
  const error = assertThrows(() => decoded("1f808080808000", 5), HpackError);
  assertEquals(error.message, "Integer must have at most 5 bytes after its prefix");
});

Deno.test("decodeInteger() refuses values over 2^31-1", () => {
  assertEquals(decoded("7f80ffffff07", 7).value, MAX_INTEGER);
  const error = assertThrows(() => decoded("7f81ffffff07", 7), HpackError);
  assertEquals(error.message, "Integer must be at most 2147483647: got 2147483648");
});

Deno.test("decodeInteger() refuses to go past the end, however much the buffer holds after it", () => {
  const bytes = fromHex("1f9a0a");
  for (let end = 0; end < 3; end++) {
    assertThrows(() => decodeInteger({ bytes, at: 0, end }, 5), HpackError, "Header block ends");
  }
});
