import {
  create,
  type DescMessage,
  fromBinary,
  getExtension,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { assert, assertEquals, assertLess, assertStrictEquals, assertThrows } from "@std/assert";
import { CodecError, codecFor } from "../../../grpc/codec/mod.ts";
import { difference } from "./same.ts";
import { registryOf, typeOf } from "./schema.ts";

function decode(desc: DescMessage, ...bytes: number[]): Record<string, unknown> {
  const message = codecFor(desc).decode(Uint8Array.from(bytes), 0, bytes.length);
  return message as unknown as Record<string, unknown>;
}

function refused(desc: DescMessage, bytes: number[], message: string): void {
  const error = assertThrows(() => decode(desc, ...bytes), CodecError);
  assertEquals(error.message, message);
  assertEquals(error.name, "CodecError");
}

const small = typeOf("proto3.Small"); // name = 1, id = 2, next = 3
const small2 = typeOf("proto2.Small");
const all2 = typeOf("proto2.All");

function tag(desc: DescMessage, name: string, wireType: number): number[] {
  return varint((desc.field[name]!.number << 3 | wireType) >>> 0);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [value & 127 | 128, ...varint(value >>> 7)];
}

Deno.test("decode() refuses malformed bytes with the type, the offset and the rule", () => {
  const cannot = "Cannot decode proto3.Small at byte";
  const past = "the value runs past the end of the message";
  refused(small, [10], `${cannot} 1: ${past}`);
  refused(small, [10, 1], `${cannot} 2: ${past}`);
  refused(small, [10, 0xff], `${cannot} 1: ${past}`);
  refused(small, [10, 0xff, 0xff, 0xff, 0xff, 0x0f], `${cannot} 1: ${past}`);
  refused(small, [16, 0x80], `${cannot} 1: ${past}`);
  refused(small, [16], `${cannot} 1: ${past}`);
  refused(small, [0x80], `${cannot} 0: ${past}`);
  refused(small, [10, 1, 97, 26, 5, 16, 1], `${cannot} 5: ${past}`);
  const long = "the varint is longer than 10 bytes";
  refused(small, [16, ...Array(10).fill(0x80), 0], `${cannot} 1: ${long}`);
  refused(small, [10, ...Array(10).fill(0x80), 0], `${cannot} 1: ${long}`);
  refused(small, [32, ...Array(10).fill(0x80), 0], `${cannot} 1: ${long}`);
  const wide = "the field tag does not fit 32 bits";
  refused(small, [0xff, 0xff, 0xff, 0xff, 0x1f, 0], `${cannot} 0: ${wide}`);
  refused(small, [0x8a, 0x80, 0x80, 0x80, 0x80, 0x00], `${cannot} 0: ${wide}`);
  refused(small, [0, 0], `${cannot} 0: field number 0 is not allowed`);
  refused(small, [14, 0], `${cannot} 1: wire type 6 does not exist`);
  refused(small, [15, 0], `${cannot} 1: wire type 7 does not exist`);
  refused(small, [12], `${cannot} 1: the end of group 1 has no start`);
  refused(small, [33, 1, 2, 3, 4, 5, 6, 7], `${cannot} 1: ${past}`);
  refused(small, [37, 1, 2, 3], `${cannot} 1: ${past}`);
  refused(small, [35, 40, 1], `${cannot} 1: ${past}`);
  refused(small, [35, 40, 1, 44], `${cannot} 4: the end of group 5 has no start`);
  refused(small, [10, 1, 0xff], `${cannot} 2: the string is not valid UTF-8`);
});

Deno.test("decode() counts the offset of an error from the start of the message", () => {
  const bytes = Uint8Array.of(1, 2, 3, 10, 1, 0xff, 9);
  const error = assertThrows(() => codecFor(small).decode(bytes, 3, 6), CodecError);
  assertEquals(
    error.message,
    "Cannot decode proto3.Small at byte 2: the string is not valid UTF-8",
  );
});

Deno.test("decode() refuses values that reach past the message, group or list that holds them", () => {
  const past = "the value runs past the end of the message";
  // The inner message is 2 bytes long and its string 3.
  refused(small, [26, 2, 10, 3, 97, 98, 99], `Cannot decode proto3.Small at byte 4: ${past}`);
  const packed = tag(all2, "int32List", 2);
  const at = packed.length + 2;
  refused(all2, [...packed, 2, 1, 0x80, 0], `Cannot decode proto2.All at byte ${at}: ${past}`);
  const fixed = tag(all2, "doubleList", 2);
  refused(
    all2,
    [...fixed, 9, ...Array(16).fill(0)],
    `Cannot decode proto2.All at byte ${fixed.length + 9}: ${past}`,
  );
  // The group starts in a message of 3 bytes and ends after it.
  const start = tag(all2, "grp", 3);
  const self = tag(all2, "self", 2);
  refused(
    all2,
    [...self, start.length + 1, ...start, 10, 0, ...tag(all2, "grp", 4)],
    `Cannot decode proto2.All at byte ${self.length + start.length + 2}: ${past}`,
  );
});

Deno.test("decode() reads nothing outside of start and end", () => {
  const bytes = Uint8Array.of(16, 1, 16, 0x80, 1, 16, 9);
  const message = codecFor(small).decode(bytes, 2, 5) as unknown as { id: bigint };
  assertEquals(message.id, 128n);
  assertThrows(() => codecFor(small).decode(bytes, 2, 4), CodecError);
  assertEquals(codecFor(small).decode(bytes, 7, 7), create(small));
});

Deno.test("decode() refuses offsets outside of the bytes", () => {
  for (const [start, end] of [[-1, 2], [2, 1], [0, 4], [NaN, 1], [0, NaN]] as const) {
    const error = assertThrows(
      () => codecFor(small).decode(new Uint8Array(3), start, end),
      RangeError,
    );
    assertEquals(
      error.message,
      `Cannot decode as 0 <= start <= end <= 3 must hold: start is ${start}, end is ${end}`,
    );
  }
});

Deno.test("decode() takes 100 levels of messages and refuses 101", () => {
  const nested = (levels: number) => {
    let bytes: number[] = [];
    for (let i = 1; i < levels; i++) bytes = [26, ...varint(bytes.length), ...bytes];
    return bytes;
  };
  const bytes = nested(100);
  assertEquals(
    difference(decode(small, ...bytes), fromBinary(small, Uint8Array.from(bytes))),
    undefined,
  );
  assertThrows(() => fromBinary(small, Uint8Array.from(nested(101))));
  const error = assertThrows(() => decode(small, ...nested(101)), CodecError);
  assertStringEnd(error.message, "messages are nested more than 100 deep");
});

Deno.test("decode() counts messages in maps, lists and groups among the levels", () => {
  const maps = typeOf("proto2.Maps");
  const wrap: [DescMessage, (inner: number[]) => number[]][] = [
    [maps, (inner) => {
      const entry = [18, ...varint(inner.length), ...inner];
      return [...tag(maps, "stringSelf", 2), ...varint(entry.length), ...entry];
    }],
    [all2, (inner) => [...tag(all2, "selfList", 2), ...varint(inner.length), ...inner]],
    [all2, (inner) => [...tag(all2, "oneSelf", 2), ...varint(inner.length), ...inner]],
    [all2, (inner) => [...tag(all2, "grpList", 3), ...inner, ...tag(all2, "grpList", 4)]],
  ];
  for (const [desc, around] of wrap) {
    let bytes: number[] = [];
    for (let i = 1; i < 100; i++) bytes = around(bytes);
    const message = decode(desc, ...bytes);
    assertEquals(difference(message, fromBinary(desc, Uint8Array.from(bytes))), undefined);
    assertThrows(() => decode(desc, ...around(bytes)), CodecError, "nested more than 100 deep");
  }
});

Deno.test("decode() keeps the unknown fields of every occurrence of a message", () => {
  const bytes = [26, 2, 32, 1, 26, 4, 10, 1, 97, 26, 2, 40, 2].with(5, 3);
  const { next } = decode(small, ...bytes) as { next: Record<string, unknown> };
  assertEquals((next.$unknown as { no: number }[]).map(({ no }) => no), [4, 5]);
  assertEquals(next.name, "a");
  assertEquals(
    difference(decode(small, ...bytes), fromBinary(small, Uint8Array.from(bytes))),
    undefined,
  );
});

function assertStringEnd(text: string, end: string): void {
  assertEquals(text.slice(-end.length), end);
}

Deno.test("decode() counts the groups of unknown fields among the levels", () => {
  const groups = (n: number) => [...Array(n).fill(35), ...Array(n).fill(36)];
  assertEquals((decode(small, ...groups(99)).$unknown as unknown[]).length, 1);
  fromBinary(small, Uint8Array.from(groups(99)));
  assertThrows(() => fromBinary(small, Uint8Array.from(groups(100))));
  assertThrows(() => decode(small, ...groups(100)), CodecError, "nested more than 100 deep");
  const hostile = new Uint8Array(1e6).fill(35);
  assertThrows(() => codecFor(small).decode(hostile, 0, 1e6), CodecError, "100 deep");
});

Deno.test("decode() keeps unknown fields as they came, and encode() writes them again", () => {
  const bytes = [
    32,
    0x96,
    1,
    16,
    5,
    42,
    2,
    1,
    2,
    51,
    56,
    1,
    52,
    61,
    1,
    2,
    3,
    4,
    65,
    ...Array(8).fill(7),
  ];
  const message = decode(small, ...bytes);
  assertEquals(message.$unknown, [
    { no: 4, wireType: 0, data: Uint8Array.of(0x96, 1) },
    { no: 5, wireType: 2, data: Uint8Array.of(2, 1, 2) },
    { no: 6, wireType: 3, data: Uint8Array.of(56, 1, 52) },
    { no: 7, wireType: 5, data: Uint8Array.of(1, 2, 3, 4) },
    { no: 8, wireType: 1, data: new Uint8Array(8).fill(7) },
  ]);
  assertEquals(difference(message, fromBinary(small, Uint8Array.from(bytes))), undefined);
  assertEquals(
    codecFor(small).encode(message).slice(),
    toBinary(small, fromBinary(small, Uint8Array.from(bytes))),
  );
});

Deno.test("decode() takes a known field under a wire type it cannot have for an unknown one", () => {
  assertEquals(decode(small, 8, 5, 18, 1, 9).$unknown, [
    { no: 1, wireType: 0, data: Uint8Array.of(5) },
    { no: 2, wireType: 2, data: Uint8Array.of(1, 9) },
  ]);
  assertEquals(decode(small, 8, 5).name, "");
});

Deno.test("decode() leaves extensions where getExtension() finds them", () => {
  const registry = registryOf({
    name: "ext.proto",
    package: "ext",
    syntax: "proto2",
    messageType: [{ name: "Base", extensionRange: [{ start: 100, end: 200 }] }],
    extension: [{
      name: "note",
      number: 100,
      type: Type.STRING,
      label: Label.OPTIONAL,
      extendee: ".ext.Base",
    }],
  });
  const base = registry.getMessage("ext.Base")!;
  const note = registry.getExtension("ext.note")!;
  const message = create(base);
  setExtension(message, note, "héllo");
  const bytes = codecFor(base).encode(message).slice();
  assertEquals(bytes, toBinary(base, message));
  assertEquals(getExtension(codecFor(base).decode(bytes, 0, bytes.length), note), "héllo");
});

Deno.test("decode() puts values a closed enum does not know into unknown fields, and keeps the others", () => {
  const color = tag(all2, "color", 0);
  const message = decode(all2, ...color, 5, 8, 1, ...color, 199, 1);
  assertEquals(message.color, 199);
  const { number } = all2.field.color!;
  assertEquals((message.$unknown as { no: number }[]).map(({ no }) => no), [number, 1]);
  assertEquals((message.$unknown as { data: Uint8Array }[])[0]!.data, Uint8Array.of(5));
  const negative = decode(all2, ...color, ...Array(9).fill(0xff), 1);
  assertEquals(negative.color, -1);
  const strange = decode(all2, ...color, 0xfe, ...Array(8).fill(0xff), 1);
  assertEquals(
    difference(
      strange,
      fromBinary(all2, Uint8Array.of(...color, 0xfe, ...Array(8).fill(0xff), 1)),
    ),
    undefined,
  );
});

Deno.test("decode() takes lists packed and unpacked, whatever the field says", () => {
  for (const syntax of ["proto2", "proto3", "edition"]) {
    const desc = typeOf(`${syntax}.All`);
    for (const name of ["int32List", "int32Other"]) {
      const message = decode(
        desc,
        ...tag(desc, name, 0),
        1,
        ...tag(desc, name, 2),
        3,
        2,
        0x80,
        1,
        ...tag(desc, name, 0),
        3,
      );
      assertEquals(message[name], [1, 2, 128, 3]);
    }
  }
});

Deno.test("decode() drops the bits past the 64th of a varint and past the 32nd of a 32-bit one", () => {
  const bits = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
  assertEquals(decode(small, 16, ...bits).id, -1n);
  const desc = typeOf("proto3.All");
  assertEquals(decode(desc, ...tag(desc, "uint32", 0), ...bits).uint32, 0xffffffff);
  assertEquals(decode(desc, ...tag(desc, "int32", 0), ...bits).int32, -1);
  assertEquals(decode(desc, ...tag(desc, "bool", 0), 0x80, 0x80, 1).bool, true);
  assertEquals(decode(desc, ...tag(desc, "bool", 0), 0x80, 0x80, 0).bool, false);
});

Deno.test("decode() takes lengths that are written with more bytes than they need", () => {
  assertEquals(decode(small, 10, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 97).name, "a");
});

Deno.test("decode() replaces invalid UTF-8 only where the field is not to be verified", () => {
  assertEquals(decode(small2, 10, 2, 97, 0xff).name, "a\uFFFD");
  const mixed = typeOf("edition.Mixed");
  assertEquals(decode(mixed, 26, 2, 97, 0xff).lenient, "a\uFFFD");
  for (const length of [0, 5, 11, 12, 13, 100, 191, 192, 193, 1000]) {
    const text = Array(length).fill(97);
    for (
      const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]
    ) {
      const bytes = [...text, ...bad];
      const field = [10, ...varint(bytes.length), ...bytes];
      assertThrows(() => decode(small, ...field), CodecError, "is not valid UTF-8");
      assertEquals(
        decode(small2, ...field).name,
        (fromBinary(small2, Uint8Array.from(field)) as unknown as { name: string }).name,
      );
    }
    // A replacement character that was sent as one is valid.
    const sent = [...text, 0xef, 0xbf, 0xbd];
    assertEquals(
      decode(small, 10, ...varint(sent.length), ...sent).name,
      `${"a".repeat(length)}\uFFFD`,
    );
  }
});

Deno.test("decode() sets the key __proto__ of a map like any other", () => {
  const maps = typeOf("proto3.Maps");
  const init = { stringText: {}, stringInt32: JSON.parse('{"__proto__": 5}') };
  const bytes = toBinary(maps, create(maps, { stringInt32: init.stringInt32 }));
  const { stringInt32 } = decode(maps, ...bytes) as { stringInt32: object };
  assertEquals(Object.entries(stringInt32), [["__proto__", 5]]);
  assertStrictEquals(Object.getPrototypeOf(stringInt32), Object.prototype);
});

Deno.test("decode() gives map entries without key or value the zero values", () => {
  const maps = typeOf("proto2.Maps");
  for (const field of maps.fields) {
    const bytes = [...tag(maps, field.localName, 2), 0];
    assertEquals(
      difference(decode(maps, ...bytes), fromBinary(maps, Uint8Array.from(bytes))),
      undefined,
      field.name,
    );
  }
});

Deno.test("decode() gives messages that share nothing", () => {
  const desc = typeOf("proto3.All");
  const [a, b] = [decode(desc), decode(desc)];
  for (const [key, value] of Object.entries(a)) {
    if (typeof value !== "object" || value instanceof Uint8Array) continue;
    assert(value !== b[key], key);
  }
});

Deno.test("decode() takes time in proportion to the bytes", () => {
  // Each would take minutes if an occurrence cost as much as all that came before it.
  const n = 200_000;
  const run = (desc: DescMessage, unit: number[]) => {
    const bytes = new Uint8Array(n * unit.length);
    for (let i = 0; i < n; i++) bytes.set(unit, i * unit.length);
    const started = performance.now();
    codecFor(desc).decode(bytes, 0, bytes.length);
    assertLess(performance.now() - started, 5_000);
  };
  run(small, [26, 2, 32, 1]); // a message that occurs again and again, with an unknown field each time
  run(small, [26, 5, 10, 3, 97, 98, 99]);
  run(small, [32, 1]); // unknown fields
  const struct = typeOf("proto2.Known");
  run(struct, [...tag(struct, "aStruct", 2), 5, 10, 3, 10, 1, 97]);
  run(struct, [...tag(struct, "aStringValue", 2), 3, 10, 1, 97]);
});
