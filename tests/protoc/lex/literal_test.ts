import { assertEquals } from "@std/assert";
import {
  formatDouble,
  formatFloat,
  parseFloatToken,
  parseInteger,
  parseInteger64,
} from "../../../protoc/lex/number_literal.ts";
import { decodeByteString, Source, textOrBytes } from "../../../protoc/lex/source.ts";
import { escapeBytes, unquote } from "../../../protoc/lex/string_literal.ts";

Deno.test("parseInteger64() reads decimal, octal and hex up to 64 bits", () => {
  assertEquals(parseInteger64("18446744073709551615"), 0xffffffffffffffffn);
  assertEquals(parseInteger64("18446744073709551616"), undefined);
  assertEquals(parseInteger64("0xffffffffffffffff"), 0xffffffffffffffffn);
  assertEquals(parseInteger64("0777"), 0o777n);
  assertEquals(parseInteger64("0"), 0n);
  assertEquals(parseInteger64("08"), undefined);
  assertEquals(parseInteger64("0".repeat(1000) + "7"), 7n);
  assertEquals(parseInteger64("9".repeat(100_000)), undefined);
});

Deno.test("parseInteger() refuses what is above its maximum", () => {
  assertEquals(parseInteger("2147483647", 0x7fffffff), 2147483647);
  assertEquals(parseInteger("2147483648", 0x7fffffff), undefined);
  assertEquals(parseInteger("0x80000000", 0x7fffffff), undefined);
  assertEquals(parseInteger("99999999999999999999", 0x7fffffff), undefined);
});

Deno.test("parseFloatToken() reads floats without digits on one side", () => {
  assertEquals(parseFloatToken("1."), 1);
  assertEquals(parseFloatToken(".5"), 0.5);
  assertEquals(parseFloatToken("1e400"), Infinity);
  assertEquals(parseFloatToken("1e+"), 1);
});

Deno.test("formatDouble() writes as few digits as protoc", () => {
  const cases: [number, string][] = [
    [0, "0"],
    [-0, "-0"],
    [1.5, "1.5"],
    [0.1, "0.1"],
    [1 / 3, "0.33333333333333331"],
    [1e15, "1e+15"],
    [123456789012345, "123456789012345"],
    [1e-5, "1e-05"],
    [0.0001, "0.0001"],
    [-1500, "-1500"],
    [1.7976931348623157e308, "1.7976931348623157e+308"],
    [Infinity, "inf"],
    [-Infinity, "-inf"],
    [NaN, "nan"],
  ];
  for (const [value, text] of cases) assertEquals(formatDouble(value), text);
});

Deno.test("formatFloat() writes as few digits as protoc", () => {
  const cases: [number, string][] = [
    [0.1, "0.1"],
    [1 / 3, "0.333333343"],
    [1e10, "1e+10"],
    [123456, "123456"],
    [1234567, "1234567"],
    [16777217, "16777216"],
    [3.4028234663852886e38, "3.40282347e+38"],
  ];
  for (const [value, text] of cases) assertEquals(formatFloat(Math.fround(value)), text);
});

Deno.test("unquote() resolves every escape to bytes", () => {
  assertEquals(unquote(`"\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\'\\""`), "\x07\b\f\n\r\t\v\\?'\"");
  assertEquals(unquote(`'\\1\\12\\123\\4567'`), "\x01\x0aS\x2e7");
  assertEquals(unquote(`'\\x4\\x41B\\X7e'`), "\x04AB~");
  assertEquals(unquote(`'\\u00e9'`), "\xc3\xa9");
  assertEquals(unquote(`'\\U0001F600'`), "\xf0\x9f\x98\x80");
  assertEquals(unquote(`'\\ud83d\\ude00'`), "\xf0\x9f\x98\x80");
  assertEquals(unquote(`'\\ud83d'`), "\xed\xa0\xbd");
});

Deno.test("escapeBytes() writes bytes as a C string literal", () => {
  assertEquals(escapeBytes("a\n\r\t\"'\\\x00\xff~"), "a\\n\\r\\t\\\"\\'\\\\\\000\\377~");
});

Deno.test("textOrBytes() keeps what is not UTF-8 as bytes", () => {
  assertEquals(textOrBytes("abc"), "abc");
  assertEquals(textOrBytes("\xc3\xa9"), "é");
  assertEquals(textOrBytes("a\xff"), Uint8Array.of(0x61, 0xff));
  assertEquals(decodeByteString("a\xff"), "a\ufffd");
});

Deno.test("Source counts columns in bytes, with tabs to the next multiple of 8", () => {
  const source = new Source("é\tx\n\t\ty");
  assertEquals(source.isAscii, false);
  assertEquals(source.position(source.text.indexOf("x")), { line: 0, column: 8 });
  assertEquals(source.position(source.text.indexOf("y")), { line: 1, column: 16 });
});

Deno.test("Source finds lines forwards, backwards and far away", () => {
  const source = new Source(Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join(""));
  for (const line of [0, 99, 3, 4, 50, 49, 100, 0]) {
    assertEquals(source.lineAt(source.lines[line]!), line);
    assertEquals(source.position(source.lines[line]!), { line, column: 0 });
  }
});

Deno.test("Source gives the same text for a string and for its UTF-8", () => {
  const text = "// naïve 😀\n";
  assertEquals(new Source(text).text, new Source(new TextEncoder().encode(text)).text);
});
