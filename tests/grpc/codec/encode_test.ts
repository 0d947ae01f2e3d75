import { create, toBinary } from "@bufbuild/protobuf";
import { assertEquals, assertThrows } from "@std/assert";
import { CompiledCodec } from "../../../grpc/codec/codec.ts";
import {
  grow,
  MESSAGE_LIMIT_BYTES,
  scratch,
  SCRATCH_BYTES,
  SCRATCH_KEPT_BYTES,
  unknownFields,
} from "../../../grpc/codec/writer.ts";
import { Random } from "./random.ts";
import { typeOf, TYPES } from "./schema.ts";

const small = typeOf("proto3.Small");

Deno.test("encode() makes room wherever the scratch ends", () => {
  const full = scratch.bytes;
  try {
    for (const [seed, desc] of TYPES.entries()) {
      const random = new Random(seed + 6000);
      const codec = new CompiledCodec(desc);
      for (let i = 0; i < 12; i++) {
        const init = random.init(desc, 2);
        if (desc.typeName === "proto2.Required" && Object.keys(init).length === 0) continue;
        const expected = toBinary(desc, create(desc, init));
        // A write past the end of an array is dropped without a word, so every size up to enough is tried.
        const step = Math.max(1, Math.floor(expected.length / 40));
        for (let size = 0; size <= expected.length + 30; size += step) {
          scratch.bytes = new Uint8Array(size);
          assertEquals(
            codec.encode(init).slice(),
            expected,
            `${desc.typeName}, scratch of ${size}`,
          );
        }
      }
    }
  } finally {
    scratch.bytes = full;
  }
});

Deno.test("encode() makes room for the length of a message that ends in unknown fields", () => {
  const full = scratch.bytes;
  const data = new Uint8Array(150).fill(9);
  const next = Object.assign(create(small), { $unknown: [{ no: 536_870_911, wireType: 1, data }] });
  const expected = toBinary(small, create(small, { next: create(small, { next }) }));
  try {
    for (let size = 0; size < 400; size++) {
      scratch.bytes = new Uint8Array(size);
      const bytes = new CompiledCodec(small).encode({ next: { next } });
      assertEquals(bytes.slice(), expected, `scratch of ${size}`);
    }
  } finally {
    scratch.bytes = full;
  }
});

Deno.test("encode() widens the length of an inner message, list or map entry that is long", () => {
  for (const length of [0, 1, 63, 120, 125, 126, 127, 128, 129, 16_380, 16_384, 2_097_150]) {
    const init = { next: { next: { name: "x".repeat(length) }, name: "after" } };
    assertEquals(
      new CompiledCodec(small).encode(init).slice(),
      toBinary(small, create(small, init)),
    );
  }
});

Deno.test("encode() writes text of every length and width as protobuf-es does", () => {
  const codec = new CompiledCodec(small);
  for (const unit of ["a", "é", "水", "\u{1f600}", "\ud800", "a\udc00é"]) {
    for (
      const length of [1, 15, 16, 47, 48, 49, 64, 126, 127, 128, 5_461, 16_383, 16_384, 700_000]
    ) {
      const init = { name: unit.repeat(length) };
      assertEquals(codec.encode(init).slice(), toBinary(small, create(small, init)));
    }
  }
});

Deno.test("encode() keeps a scratch of moderate size and lets go of a larger one", () => {
  const blob = new CompiledCodec(typeOf("google.protobuf.BytesValue"));
  blob.encode({ value: new Uint8Array(1_000_000) });
  const kept = scratch.bytes.length;
  assertEquals(kept >= 1_000_000 && kept <= SCRATCH_KEPT_BYTES, true);
  const large = blob.encode({ value: new Uint8Array(SCRATCH_KEPT_BYTES + 1).fill(7) });
  assertEquals(scratch.bytes.length, SCRATCH_BYTES);
  assertEquals([large.length, large.at(-1)], [SCRATCH_KEPT_BYTES + 6, 7]);
  assertEquals(blob.encode({ value: Uint8Array.of(1) }).slice(), Uint8Array.of(10, 1, 1));
});

Deno.test("encode() lets go of a large scratch that an error left", () => {
  const codec = new CompiledCodec(typeOf("proto3.All"));
  const init = { bytes: new Uint8Array(SCRATCH_KEPT_BYTES + 1), selfList: [{ bool: 1 }] };
  assertThrows(() => codec.encode(init), TypeError);
  codec.encode({});
  assertEquals(scratch.bytes.length <= SCRATCH_KEPT_BYTES, true);
});

Deno.test("grow() refuses messages past protobuf's limit", () => {
  const error = assertThrows(() => grow(MESSAGE_LIMIT_BYTES + 1), RangeError);
  assertEquals(
    error.message,
    "Cannot encode message as it must be <= 2147483647 bytes: it is larger",
  );
});

Deno.test("unknownFields() writes fields that are large", () => {
  const data = new Uint8Array(200_000).fill(5);
  const o = unknownFields(0, [{ no: 536_870_911, wireType: 1, data }], 0);
  assertEquals(o, 200_005);
  assertEquals(scratch.bytes.slice(0, 6), Uint8Array.of(0xf9, 0xff, 0xff, 0xff, 0x0f, 5));
});

Deno.test("encode() takes null and undefined for fields that are not set", () => {
  for (const name of ["proto2.All", "proto3.All", "edition.All", "proto3.Maps", "proto3.Known"]) {
    const desc = typeOf(name);
    for (const nothing of [null, undefined]) {
      const init = Object.fromEntries(desc.members.map((member) => [member.localName, nothing]));
      assertEquals(new CompiledCodec(desc).encode(init).length, 0);
      const message = { ...create(desc), ...init };
      assertEquals(new CompiledCodec(desc).encode(message).length, 0);
    }
    const noCase = Object.fromEntries(
      desc.oneofs.map((oneof) => [oneof.localName, { case: undefined, value: undefined }]),
    );
    assertEquals(new CompiledCodec(desc).encode(noCase).length, 0);
  }
});

Deno.test("encode() tells a field set to its default from one that is not set", () => {
  const defaults = typeOf("proto2.Defaults");
  const codec = new CompiledCodec(defaults);
  assertEquals(codec.encode(create(defaults)).length, 0);
  const set = { text: "héllo", count: -7n, flag: true, color: 399 };
  assertEquals(codec.encode(set).slice(), toBinary(defaults, create(defaults, set)));
  assertEquals(codec.encode(create(defaults, set)).slice(), codec.encode(set).slice());
  const zero = { text: "", count: 0, flag: false, ratio: 0, raw: new Uint8Array() };
  assertEquals(codec.encode(zero).slice(), toBinary(defaults, create(defaults, zero)));
});
