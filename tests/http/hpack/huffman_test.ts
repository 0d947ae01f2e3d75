import { assert, assertEquals, assertThrows } from "@std/assert";
import { HpackError } from "../../../http/hpack/error.ts";
import {
  decodedRoom,
  huffmanDecode,
  huffmanEncode,
  huffmanLength,
} from "../../../http/hpack/huffman.ts";
import { CODE_LENGTHS, STATIC_NAMES, STATIC_VALUES } from "../../../http/hpack/tables.ts";
import { fromHex, toHex } from "./hex.ts";
import { Random } from "./random.ts";

function encoded(text: string): Uint8Array {
  const out = new Uint8Array(4 * text.length + 4);
  return out.slice(0, huffmanEncode(text, out, 0));
}

function decoded(octets: Uint8Array): string {
  const out = new Uint8Array(decodedRoom(octets.length));
  return String.fromCharCode(...out.subarray(0, huffmanDecode(octets, 0, octets.length, out)));
}

Deno.test("CODE_LENGTHS make a complete code of 257 symbols", () => {
  assertEquals(CODE_LENGTHS.length, 257);
  assertEquals(CODE_LENGTHS.reduce((sum, length) => sum + 2 ** (30 - length), 0), 2 ** 30);
});

Deno.test("STATIC_NAMES and STATIC_VALUES agree with Appendix A", () => {
  assertEquals(STATIC_NAMES.length, 62);
  assertEquals(STATIC_VALUES.length, 62);
  const rows: [number, string, string][] = [
    [1, ":authority", ""],
    [2, ":method", "GET"],
    [3, ":method", "POST"],
    [5, ":path", "/index.html"],
    [8, ":status", "200"],
    [14, ":status", "500"],
    [16, "accept-encoding", "gzip, deflate"],
    [19, "accept", ""],
    [31, "content-type", ""],
    [32, "cookie", ""],
    [58, "user-agent", ""],
    [61, "www-authenticate", ""],
  ];
  for (const [index, name, value] of rows) {
    assertEquals([STATIC_NAMES[index], STATIC_VALUES[index]], [name, value]);
  }
});

Deno.test("huffmanEncode() writes the codes of Appendix B", () => {
  // A symbol of every length, padded with ones to whole octets.
  const rows: [string, string][] = [
    ["0", "07"],
    [" ", "53"],
    ["A", "87"],
    ["&", "f8"],
    ["!", "fe3f"],
    ["'", "ff5f"],
    ["#", "ffaf"],
    ["\x00", "ffc7"],
    ["^", "fff3"],
    ["<", "fff9"],
    ["\\", "fffe1f"],
    ["\x80", "fffe6f"],
    ["\x99", "fffee7"],
    ["\x81", "ffff4b"],
    ["\x01", "ffffb1"],
    ["\t", "ffffea"],
    ["\xc7", "fffff67f"],
    ["\xc0", "fffff83f"],
    ["\xcb", "fffffbdf"],
    ["\x02", "fffffe2f"],
    ["\n", "fffffff3"],
    ["\r", "fffffff7"],
    ["\x16", "fffffffb"],
  ];
  for (const [text, hex] of rows) {
    assertEquals(toHex(encoded(text)), hex, JSON.stringify(text));
    assertEquals(decoded(fromHex(hex)), text);
  }
});

Deno.test("huffmanDecode() gives back what huffmanEncode() wrote: all pairs of octets", () => {
  for (let first = 0; first < 256; first++) {
    let text = "";
    for (let second = 0; second < 256; second++) text += String.fromCharCode(first, second);
    const octets = encoded(text);
    assertEquals(octets.length, huffmanLength(text));
    assertEquals(decoded(octets), text);
  }
});

Deno.test("huffmanDecode() gives back what huffmanEncode() wrote: 2,000 random strings", () => {
  const random = new Random(1);
  for (let i = 0; i < 2000; i++) {
    const length = random.below(60);
    const text = random.chance(0.5) ? random.text(length) : random.octets(length);
    const octets = encoded(text);
    assertEquals(octets.length, huffmanLength(text));
    assertEquals(decoded(octets), text);
  }
});

Deno.test("huffmanDecode() keeps within the room that decodedRoom() gives", () => {
  for (let length = 0; length < 40; length++) {
    // "0" has a code of five zeros, so that these are as many symbols as fit.
    const octets = encoded("0".repeat(Math.floor((length * 8) / 5)));
    const out = new Uint8Array(decodedRoom(octets.length));
    assert(huffmanDecode(octets, 0, octets.length, out) + 1 < out.length);
  }
});

Deno.test("huffmanDecode() refuses the end-of-string symbol, in the beginning and further on", () => {
  for (const hex of ["ffffffff", "3fffffffff", "07fffffffffe"]) {
    const error = assertThrows(() => decoded(fromHex(hex)), HpackError);
    assertEquals(error.message, "Huffman-coded string must not contain the end-of-string symbol");
  }
});

Deno.test("huffmanDecode() refuses padding of more than 7 bits", () => {
  assertEquals(decoded(fromHex("f8")), "&");
  assertThrows(() => decoded(fromHex("f8ff")), HpackError, "at most 7 bits of padding");
  assertThrows(() => decoded(fromHex("ff")), HpackError, "at most 7 bits of padding");
});

Deno.test("huffmanDecode() refuses padding that is not all ones", () => {
  assertEquals(decoded(fromHex("07")), "0");
  for (const hex of ["00", "01", "03", "05", "06"]) {
    assertThrows(() => decoded(fromHex(hex)), HpackError, "padding, all ones");
  }
});

Deno.test("huffmanDecode() refuses a string that ends inside a code", () => {
  const octets = encoded("\n");
  for (let length = 1; length < octets.length; length++) {
    assertThrows(() => decoded(octets.subarray(0, length)), HpackError, "end with a whole code");
  }
});
