import { assertEquals } from "@std/assert";
import { decodeMessage, encodeMessage } from "../../../grpc/wire/percent.ts";

Deno.test("encodeMessage() and decodeMessage() agree on any text", () => {
  const special = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";
  for (const text of ["", "plain", "100%", special, "\0\x7f", " ", " a b ", "a ", " ☺ "]) {
    const wire = encodeMessage(text);
    assertEquals(/^[\x20-\x7e]*$/.test(wire), true);
    // What begins or ends with a blank is no value of a field.
    assertEquals(wire.trim(), wire);
    assertEquals(decodeMessage(wire), text);
  }
  assertEquals(encodeMessage("a b%☺"), "a b%25%E2%98%BA");
  assertEquals(encodeMessage("\ud800"), "%EF%BF%BD");
});

Deno.test("encodeMessage() cuts between two characters, at a cost of what it gives", () => {
  for (const char of ["a", "a b", "%", "é", "☺", "😈"]) {
    for (const limit of [0, 1, 2, 3, 11, 12, 13, 100, 8192]) {
      const wire = encodeMessage(char.repeat(1_000_000), limit);
      assertEquals(wire.length <= limit && wire.trim() === wire, true);
      assertEquals(wire.length > limit - encodeMessage(char).length, true);
      assertEquals(char.repeat(limit).startsWith(decodeMessage(wire)), true);
      assertEquals(decodeMessage(wire).isWellFormed(), true);
    }
  }
});

Deno.test("decodeMessage() never throws on what is not percent-encoded", () => {
  assertEquals(decodeMessage("100%"), "100%");
  assertEquals(decodeMessage("%zz%4"), "%zz%4");
  assertEquals(decodeMessage("%ff"), "\ufffd");
});
