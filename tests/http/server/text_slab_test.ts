import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { bytesOfPiece } from "../../../http/server/text_slab.ts";
import { Random } from "../../../support/random.ts";

Deno.test("bytesOfPiece() gives text in UTF-8, and no two pieces the same bytes", () => {
  const random = new Random(1);
  const given: { text: string; bytes: Uint8Array }[] = [];
  for (let i = 0; i < 3000; i++) {
    // Some are longer than there is room for, all may end in the middle of a slab.
    const length = random.below(50) === 0 ? random.below(30_000) : random.below(200);
    const text = ["a", "é", "語", "🦥"][random.below(4)]!.repeat(length);
    given.push({ text, bytes: bytesOfPiece(text) });
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (const { text, bytes } of given) assertEquals(decoder.decode(bytes), text);
});

Deno.test("bytesOfPiece() gives lone surrogates as U+FFFD, as TextEncoder does", () => {
  for (const text of ["\ud800", "a\udc00b", "\ud83e\ud83e\udda5"]) {
    assertEquals(bytesOfPiece(text).slice(), new TextEncoder().encode(text));
  }
});

Deno.test("bytesOfPiece() gives bytes as they are, and refuses all else", () => {
  const bytes = new Uint8Array(3);
  assertStrictEquals(bytesOfPiece(bytes), bytes);
  for (const wrong of [1, null, undefined, {}, [1], new ArrayBuffer(1)]) {
    assertThrows(() => bytesOfPiece(wrong as unknown as string), TypeError, "Cannot send body");
  }
});
