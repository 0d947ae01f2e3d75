import { create, toBinary } from "@bufbuild/protobuf";
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { FallbackCodec } from "../../../grpc/codec/codec.ts";
import { CodecError } from "../../../grpc/codec/mod.ts";
import { Random } from "./random.ts";
import { typeOf, TYPES } from "./schema.ts";

Deno.test("the fallback refuses malformed bytes with a CodecError only", () => {
  for (const [seed, desc] of TYPES.entries()) {
    const codec = new FallbackCodec(desc);
    const random = new Random(seed + 9000);
    for (let i = 0; i < 60; i++) {
      const bytes = random.bytes(random.below(20));
      try {
        codec.decode(bytes, 0, bytes.length);
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
      }
    }
  }
});

Deno.test("the fallback says which type the malformed bytes were to be", () => {
  const codec = new FallbackCodec(typeOf("proto3.Small"));
  const error = assertThrows(() => codec.decode(Uint8Array.of(10, 9), 0, 2), CodecError);
  assertEquals(error.message, "Cannot decode proto3.Small: premature EOF");
});

Deno.test("the fallback reads nothing outside of start and end", () => {
  const codec = new FallbackCodec(typeOf("proto3.Small"));
  const message = codec.decode(Uint8Array.of(9, 10, 1, 97, 10), 1, 4);
  assertEquals((message as unknown as { name: string }).name, "a");
  assertThrows(() => codec.decode(new Uint8Array(2), 0, 3), RangeError);
});

Deno.test("the fallback says that messages may keep views of the input, and they do", () => {
  const codec = new FallbackCodec(typeOf("proto3.Small"));
  assertEquals(codec.aliases, true);
  const input = Uint8Array.of(32, 5);
  const message = codec.decode(input, 0, 2);
  assertStrictEquals(message.$unknown![0]!.data.buffer, input.buffer);
});

Deno.test("the fallback takes null for a field that is not set, in messages too", () => {
  const desc = typeOf("proto3.All");
  const message = { ...create(desc, { string: "x" }), bytes: null, selfList: null, choice: null };
  assertEquals(
    new FallbackCodec(desc).encode(message),
    toBinary(desc, create(desc, { string: "x" })),
  );
});

Deno.test("the fallback writes unknown fields of inner messages", () => {
  const desc = typeOf("proto3.Small");
  const codec = new FallbackCodec(desc);
  const bytes = Uint8Array.of(26, 2, 32, 7, 40, 8);
  assertEquals(codec.encode(codec.decode(bytes, 0, bytes.length)), bytes);
});
