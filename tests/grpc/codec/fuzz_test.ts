import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { CompiledCodec } from "../../../grpc/codec/codec.ts";
import { CodecError } from "../../../grpc/codec/mod.ts";
import { Random } from "./random.ts";
import { difference } from "./same.ts";
import { TYPES } from "./schema.ts";
import { oddities } from "./wire_walk.ts";

/** Mutated inputs for each type. */
const ROUNDS = 200;

function mutate(random: Random, bytes: Uint8Array): Uint8Array {
  const out = [...bytes];
  for (let n = 1 + random.below(3); n > 0; n--) {
    const at = random.below(out.length + 1);
    switch (random.below(7)) {
      case 0:
        out.splice(at, 1, random.below(256));
        break;
      case 1:
        out.splice(at, 0, random.below(256));
        break;
      case 2:
        out.splice(at, 1 + random.below(4));
        break;
      case 3:
        out.splice(at, 0, ...out.slice(at, at + random.below(30)));
        break;
      case 4:
        out.length = at;
        break;
      case 5:
        if (at < out.length) out[at] = out[at]! & 0xf8 | random.below(6);
        break;
      default:
        if (at < out.length) out[at]! ^= 1 << random.below(8);
    }
  }
  return Uint8Array.from(out);
}

function attempt<T>(run: () => T): { message: T } | { error: unknown } {
  try {
    return { message: run() };
  } catch (error) {
    return { error };
  }
}

/** Compares one decode with protobuf-es and with the judge. Returns how it went. */
function compare(
  desc: DescMessage,
  codec: CompiledCodec,
  bytes: Uint8Array,
): "same" | "odd" | "refused" {
  const where = () => `${desc.typeName} of [${bytes}]`;
  // What follows the message looks like more of it, so that a read past the end is noticed.
  const wide = new Uint8Array(bytes.length + 64).fill(1);
  wide.set(bytes, 3);
  const ours = attempt<Message>(() => codec.decode(wide, 3, 3 + bytes.length));
  const theirs = attempt<Message>(() => fromBinary(desc, bytes));
  const { malformed, mismatched, strangeEnum } = oddities(desc, bytes);
  if ("error" in ours) {
    assertInstanceOf(ours.error, CodecError, where());
    assert("error" in theirs || malformed, `${where()}: ${ours.error.message}`);
    return "refused";
  }
  assert(!malformed, where());
  if (mismatched || strangeEnum) return "odd";
  assert("message" in theirs, where());
  assertEquals(difference(ours.message, theirs.message), undefined, where());
  return "same";
}

Deno.test("decode() accepts and refuses mutated bytes as protobuf-es does, apart from what is malformed", () => {
  const counts = { same: 0, odd: 0, refused: 0 };
  for (const [seed, desc] of TYPES.entries()) {
    const codec = new CompiledCodec(desc);
    const random = new Random(seed + 1000);
    let bytes: Uint8Array = new Uint8Array();
    for (let i = 0; i < ROUNDS; i++) {
      if (i % 10 === 0) {
        do bytes = toBinary(desc, create(desc, random.init(desc, 2))); while (bytes.length > 2000);
      }
      counts[compare(desc, codec, mutate(random, bytes))]++;
    }
  }
  // Each way out must have been taken often for the comparison to mean something.
  assert(Math.min(counts.same, counts.refused) > 1000 && counts.odd > 15, JSON.stringify(counts));
});

Deno.test("decode() accepts and refuses random bytes as protobuf-es does, apart from what is malformed", () => {
  for (const [seed, desc] of TYPES.entries()) {
    const codec = new CompiledCodec(desc);
    const random = new Random(seed + 2000);
    for (let i = 0; i < ROUNDS; i++) {
      const bytes = random.bytes(random.below(24));
      // A tag of a known field to start with, or nearly all would end at the first byte.
      const field = desc.fields.length > 0 ? random.pick(desc.fields) : undefined;
      if (bytes.length > 0 && field !== undefined && field.number < 16) {
        bytes[0] = (field.number << 3) | random.pick([0, 1, 2, 3, 5]);
      }
      compare(desc, codec, bytes);
    }
  }
});

Deno.test("decode() refuses every prefix that ends inside a field", () => {
  for (const [seed, desc] of TYPES.entries()) {
    const codec = new CompiledCodec(desc);
    const random = new Random(seed + 3000);
    let bytes: Uint8Array;
    do bytes = toBinary(desc, create(desc, random.init(desc, 1))); while (bytes.length > 1500);
    for (let end = 0; end < bytes.length; end++) {
      const { malformed } = oddities(desc, bytes.subarray(0, end));
      const ours = attempt(() => codec.decode(bytes, 0, end));
      if ("error" in ours) assertInstanceOf(ours.error, CodecError);
      assertEquals("error" in ours, malformed, `${desc.typeName}, ${end} of [${bytes}]`);
    }
  }
});
