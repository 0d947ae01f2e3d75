import { create, type DescMessage } from "@bufbuild/protobuf";
import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { CompiledCodec, FallbackCodec } from "../../../grpc/codec/codec.ts";
import { explainMismatch } from "../../../grpc/codec/mismatch.ts";
import { Random } from "./random.ts";
import { typeOf, TYPES } from "./schema.ts";

/** Both codecs refuse the value with this text. */
function refused(type: string, message: unknown, text: string): void {
  const desc = typeOf(type);
  for (const codec of [new CompiledCodec(desc), new FallbackCodec(desc)]) {
    const error = assertThrows(() => codec.encode(message as object), TypeError);
    assertEquals(error.message, `Cannot encode ${text}`);
  }
}

const fields: [value: unknown, text: string][] = [
  [{ string: 5 }, "string: expected string, got number 5"],
  [{ string: true }, "string: expected string, got boolean true"],
  [{ string: 5n }, "string: expected string, got bigint 5"],
  [{ string: ["a"] }, "string: expected string, got array of 1"],
  [{ string: {} }, "string: expected string, got object"],
  [{ string: new Date(0) }, "string: expected string, got Date"],
  [{ string: () => 1 }, "string: expected string, got function"],
  [{ string: Symbol("x") }, "string: expected string, got symbol"],
  [{ string: new Uint8Array(3) }, "string: expected string, got Uint8Array of 3"],
  [{ bytes: "abc" }, 'bytes: expected Uint8Array, got string "abc"'],
  [{ bytes: [1, 2] }, "bytes: expected Uint8Array, got array of 2"],
  [{ bytes: new ArrayBuffer(1) }, "bytes: expected Uint8Array, got ArrayBuffer"],
  [
    { bytes: "x".repeat(50) },
    `bytes: expected Uint8Array, got string "${"x".repeat(40)}…"`,
  ],
  [{ bool: 1 }, "bool: expected boolean, got number 1"],
  [{ bool: "true" }, 'bool: expected boolean, got string "true"'],
  [{ double: "1.5" }, 'double: expected number, got string "1.5"'],
  [{ double: 1n }, "double: expected number, got bigint 1"],
  [{ float: "1" }, 'float: expected number, got string "1"'],
  [
    { float: 3.5e38 },
    "float: expected float of at most 3.4028234663852886e+38 in size, got number 3.5e+38",
  ],
  [{ int32: "5" }, 'int32: expected number (int32), got string "5"'],
  [{ int32: 5n }, "int32: expected number (int32), got bigint 5"],
  [{ int32: 1.5 }, "int32: expected int32 from -2147483648 to 2147483647, got number 1.5"],
  [{ int32: NaN }, "int32: expected int32 from -2147483648 to 2147483647, got number NaN"],
  [
    { sint32: 2 ** 31 },
    "sint32: expected int32 from -2147483648 to 2147483647, got number 2147483648",
  ],
  [
    { sfixed32: -(2 ** 31) - 1 },
    "sfixed32: expected int32 from -2147483648 to 2147483647, got number -2147483649",
  ],
  [{ uint32: -1 }, "uint32: expected uint32 from 0 to 4294967295, got number -1"],
  [{ fixed32: 2 ** 32 }, "fixed32: expected uint32 from 0 to 4294967295, got number 4294967296"],
  [
    { int64: 1.5 },
    "int64: expected bigint, safe integer or decimal string (int64), got number 1.5",
  ],
  [
    { int64: 2 ** 53 },
    "int64: expected bigint, safe integer or decimal string (int64), got number 9007199254740992",
  ],
  [
    { int64: "" },
    'int64: expected bigint, safe integer or decimal string (int64), got string ""',
  ],
  [
    { int64: "0x1f" },
    'int64: expected bigint, safe integer or decimal string (int64), got string "0x1f"',
  ],
  [
    { int64Text: " 5" },
    'int64Text: expected bigint, safe integer or decimal string (int64), got string " 5"',
  ],
  [
    { sint64: 2n ** 63n },
    "sint64: expected int64 from -9223372036854775808 to 9223372036854775807, " +
    "got bigint 9223372036854775808",
  ],
  [
    { sfixed64: "-9223372036854775809" },
    "sfixed64: expected int64 from -9223372036854775808 to 9223372036854775807, " +
    'got string "-9223372036854775809"',
  ],
  [{ uint64: -1 }, "uint64: expected uint64 from 0 to 18446744073709551615, got number -1"],
  [
    { fixed64: 2n ** 64n },
    "fixed64: expected uint64 from 0 to 18446744073709551615, got bigint 18446744073709551616",
  ],
  [
    { uint64: 10n ** 60n },
    `uint64: expected uint64 from 0 to 18446744073709551615, got bigint 1${"0".repeat(39)}…`,
  ],
  [
    { color: "COLOR_RED" },
    'color: expected enum proto3.Color (int32), got string "COLOR_RED" (its number is -1)',
  ],
  [{ color: "PINK" }, 'color: expected enum proto3.Color (int32), got string "PINK"'],
  [{ color: 0.5 }, "color: expected enum proto3.Color (int32), got number 0.5"],
  [
    { small: "x" },
    'small: expected message proto3.Small or object of its fields, got string "x"',
  ],
  [
    { small: [] },
    "small: expected message proto3.Small or object of its fields, got array of 0",
  ],
  [
    { small: new Map([["name", "x"]]) },
    "small: expected message proto3.Small or object of its fields, got Map",
  ],
  [
    { small: Promise.resolve({}) },
    "small: expected message proto3.Small or object of its fields, got Promise",
  ],
  [
    { small: create(typeOf("proto2.Small")) },
    "small: expected message proto3.Small or object of its fields, got message proto2.Small",
  ],
  [{ small: { name: 5 } }, "small.name: expected string, got number 5"],
  [
    { small: { next: { next: { id: "x" } } } },
    "small.next.next.id: expected " +
    'bigint, safe integer or decimal string (int64), got string "x"',
  ],
  [{ stringList: "a" }, 'stringList: expected array, got string "a"'],
  [{ stringList: ["a", null] }, "stringList[1]: expected string, got null"],
  [{ stringList: ["a", , "b"] }, "stringList[1]: expected string, got undefined"],
  [{ int32List: [1, 2, "3"] }, 'int32List[2]: expected number (int32), got string "3"'],
  [{ int32List: new Int32Array(2) }, "int32List: expected array, got Int32Array"],
  [
    { smallList: [{}, { name: 1 }] },
    "smallList[1].name: expected string, got number 1",
  ],
  [
    { smallList: [undefined] },
    "smallList[0]: expected message proto3.Small or object of its fields, got undefined",
  ],
  [
    { choice: { case: "oneString", value: 5 } },
    "oneString: expected string, got number 5",
  ],
  [
    { choice: { case: "oneString" } },
    "oneString: expected string, got undefined",
  ],
  [
    { choice: { case: "oneSmall", value: { name: 1 } } },
    "oneSmall.name: expected string, got number 1",
  ],
  [
    { choice: { case: "oneStrin", value: "x" } },
    'choice: the oneof has no case "oneStrin" (did you mean "oneString"?)',
  ],
  [
    { otherChoice: { case: 5, value: "x" } },
    'otherChoice: the oneof has no case number 5 (the cases are "oneSelf", "toString")',
  ],
  [{ choice: "oneString" }, 'choice: expected oneof { case, value }, got string "oneString"'],
  [{ choice: { value: "x" } }, "choice: the oneof has a value but no case"],
];

Deno.test("encode() refuses values that do not fit with the path, the rule and the value", () => {
  for (const [message, text] of fields) refused("proto3.All", message, `proto3.All.${text}`);
});

Deno.test("encode() refuses what is no message and no object of fields", () => {
  const what = "proto3.Small: expected message or object of its fields, got";
  refused("proto3.Small", undefined, `${what} undefined`);
  refused("proto3.Small", null, `${what} null`);
  refused("proto3.Small", "x", `${what} string "x"`);
  refused("proto3.Small", [], `${what} array of 0`);
  refused("proto3.Small", new Uint8Array(2), `${what} Uint8Array of 2`);
  refused("proto3.Small", new Map(), `${what} Map`);
  refused("proto3.Small", new Error("x"), `${what} Error`);
  refused("proto3.Small", create(typeOf("proto3.Empty")), `${what} message proto3.Empty`);
  refused(
    "proto3.Empty",
    create(typeOf("proto3.Small")),
    "proto3.Empty: expected message or " +
      "object of its fields, got message proto3.Small",
  );
});

Deno.test("encode() refuses properties that are no fields and names the one that was meant", () => {
  refused(
    "proto3.Small",
    { nmae: "x" },
    'proto3.Small: it has no field "nmae" (did you mean "name"?)',
  );
  refused(
    "proto3.Small",
    { NAME: "x" },
    'proto3.Small: it has no field "NAME" (did you mean "name"?)',
  );
  refused("proto3.Small", { other: 1 }, 'proto3.Small: it has no field "other"');
  refused("proto3.Empty", { a: 1 }, 'proto3.Empty: it has no field "a"');
  refused("proto3.Small", { $unknown: [] }, 'proto3.Small: it has no field "$unknown"');
  refused(
    "proto3.All",
    { string_list: [] },
    'proto3.All: it has no field "string_list" (did you mean "stringList"?)',
  );
  refused(
    "proto3.All",
    { constructor: "x" },
    'proto3.All: it has no field "constructor" (did you mean "constructor$"?)',
  );
  refused(
    "proto3.All",
    { self: { oneString: "x" } },
    'proto3.All.self: it has no field "oneString" (it is a case of a oneof: write choice: ' +
      '{ case: "oneString", value: … })',
  );
});

Deno.test("encode() takes objects of a class, with getters and inherited values, for objects of fields", () => {
  class Person {
    id = 5;
    get name() {
      return "x";
    }
    unrelated() {}
  }
  const codec = new CompiledCodec(typeOf("proto3.Small"));
  const expected = Uint8Array.of(10, 1, 120, 16, 5);
  assertEquals(codec.encode(new Person()).slice(), expected);
  assertEquals(codec.encode(Object.create({ name: "x", id: 5 })).slice(), expected);
  const bare = Object.assign(Object.create(null), { name: "x", id: 5 });
  assertEquals(codec.encode(bare).slice(), expected);
  assertEquals(new FallbackCodec(typeOf("proto3.Small")).encode(new Person()), expected);
});

Deno.test("encode() lets a message of protobuf-es have properties of its own", () => {
  const desc = typeOf("proto3.Small");
  const message = Object.assign(create(desc, { name: "x" }), { extra: 1 });
  assertEquals(new CompiledCodec(desc).encode(message).slice(), Uint8Array.of(10, 1, 120));
});

Deno.test("encode() refuses map entries that do not fit with their key", () => {
  const cases: [unknown, string][] = [
    [{ stringInt32: [] }, "stringInt32: expected object of map entries, got array of 0"],
    [{ stringInt32: new Map() }, "stringInt32: expected object of map entries, got Map"],
    [{ stringInt32: 5 }, "stringInt32: expected object of map entries, got number 5"],
    [
      { stringInt32: { a: 1, b: "2" } },
      'stringInt32["b"]: expected number (int32), got string "2"',
    ],
    [{ stringString: { a: null } }, 'stringString["a"]: expected string, got null'],
    [
      { int32Text: { x: "a" } },
      'int32Text["x"]: expected key of int32 from -2147483648 to 2147483647',
    ],
    [
      { uint32Text: { "-1": "a" } },
      'uint32Text["-1"]: expected key of uint32 from 0 to 4294967295',
    ],
    [
      { fixed64Text: { "1.5": "a" } },
      'fixed64Text["1.5"]: expected key of uint64 from 0 to ' +
      "18446744073709551615",
    ],
    [
      { sint64Text: { "9223372036854775808": "a" } },
      'sint64Text["9223372036854775808"]: ' +
      "expected key of int64 from -9223372036854775808 to 9223372036854775807",
    ],
    [{ boolText: { yes: "a" } }, 'boolText["yes"]: expected key "true" or "false"'],
    [{ int32Small: { 1: { name: 5 } } }, 'int32Small["1"].name: expected string, got number 5'],
    [
      { int32Small: { 1: undefined } },
      'int32Small["1"]: expected message proto3.Small or object ' +
      "of its fields, got undefined",
    ],
    [
      { int32Color: { 1: "RED" } },
      'int32Color["1"]: expected enum proto3.Color (int32), ' +
      'got string "RED" (its number is -1)',
    ],
    [
      { stringStruct: { a: { b: undefined } } },
      'stringStruct["a"]["b"]: expected JSON value, got undefined',
    ],
  ];
  for (const [message, text] of cases) refused("proto3.Maps", message, `proto3.Maps.${text}`);
});

Deno.test("encode() refuses what is no JSON in place of a Struct", () => {
  const cases: [unknown, string][] = [
    [5, ": expected JSON object, got number 5"],
    [[], ": expected JSON object, got array of 0"],
    [new Map(), ": expected JSON object, got Map"],
    [
      create(typeOf("google.protobuf.Struct")),
      ": expected JSON object, got message google.protobuf.Struct",
    ],
    [{ a: undefined }, '["a"]: expected JSON value, got undefined'],
    [{ a: [1, { b: 5n }] }, '["a"][1]["b"]: expected JSON value, got bigint 5'],
    [{ a: () => 1 }, '["a"]: expected JSON value, got function'],
    [{ a: new Date(0) }, '["a"]: expected JSON object, got Date'],
  ];
  for (const [aStruct, text] of cases) {
    refused("proto3.Known", { aStruct }, `proto3.Known.aStruct${text}`);
  }
});

Deno.test("encode() refuses a wrapped value that does not fit", () => {
  refused(
    "proto3.Known",
    { aInt32Value: "5" },
    "proto3.Known.aInt32Value: expected number (int32), " +
      'got string "5"',
  );
  refused(
    "proto3.Known",
    { aStringValue: { value: "x" } },
    "proto3.Known.aStringValue: expected string, " +
      "got object",
  );
  refused(
    "proto3.Known",
    { choice: { case: "oneStringValue", value: "x" } },
    "proto3.Known.oneStringValue: expected message google.protobuf.StringValue or object of its " +
      'fields, got string "x"',
  );
});

Deno.test("encode() refuses a message whose required field is not set", () => {
  refused("proto2.Required", {}, "proto2.Required.id: the required field is not set");
  refused("proto2.Required", { id: 1 }, "proto2.Required.small: the required field is not set");
  refused(
    "proto2.Required",
    create(typeOf("proto2.Required")),
    "proto2.Required.id: the required field is not set",
  );
  refused(
    "edition.Mixed",
    { explicit: 1 },
    "edition.Mixed.required: the required field is not set",
  );
});

Deno.test("encode() refuses unknown fields that are none", () => {
  const desc = typeOf("proto3.Small");
  const message = (unknown: unknown) => Object.assign(create(desc), { $unknown: unknown });
  const data = new Uint8Array();
  refused("proto3.Small", message({}), "proto3.Small.$unknown: expected array, got object");
  for (
    const field of [
      { no: 0, wireType: 0, data },
      { no: 2 ** 29, wireType: 0, data },
      { no: 5, wireType: 4, data },
      { no: 5, wireType: 0, data: "x" },
    ]
  ) {
    refused(
      "proto3.Small",
      message([{ no: 5, wireType: 2, data: Uint8Array.of(0) }, field]),
      "proto3.Small.$unknown[1]: expected unknown field {no, wireType, data}, got object",
    );
  }
  refused(
    "proto3.Small",
    message([null]),
    "proto3.Small.$unknown[0]: expected unknown field " +
      "{no, wireType, data}, got null",
  );
});

Deno.test("encode() says so when a value fits only the second time it is read", () => {
  let reads = 0;
  const message = {
    get name() {
      return reads++ === 0 ? 5 : "x";
    },
  };
  const error = assertThrows(
    () => new CompiledCodec(typeOf("proto3.Small")).encode(message),
    TypeError,
  );
  assertEquals(error.message, "Cannot encode proto3.Small: it changes while it is read");
});

const STRANGE: unknown[] = [
  null,
  undefined,
  0,
  -0,
  1.5,
  -1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  1e39,
  NaN,
  Infinity,
  5n,
  -5n,
  2n ** 63n,
  2n ** 64n,
  "",
  "5",
  "-5",
  "x",
  true,
  [],
  [null],
  [5, "x"],
  {},
  { a: 1 },
  { case: "x", value: 1 },
  { $typeName: "other" },
  new Uint8Array(2),
  new Map(),
  new Date(0),
  Symbol("s"),
  () => 1,
];

/** Puts a strange value somewhere into a random object of fields. */
function spoil(random: Random, value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) {
    return random.pick(STRANGE);
  }
  const keys = Object.keys(value);
  if (keys.length === 0 || random.chance(0.1)) return random.pick(STRANGE);
  const key = random.pick(keys);
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[key] = spoil(random, copy[key]);
  return copy;
}

Deno.test("encode() refuses exactly what explainMismatch() finds, and explainMismatch() always finds why", () => {
  let [good, bad] = [0, 0];
  for (const [seed, desc] of TYPES.entries()) {
    const random = new Random(seed + 5000);
    const codec = new CompiledCodec(desc);
    for (let i = 0; i < 150; i++) {
      const message = spoil(random, random.init(desc, 2));
      const problem = explainMismatch(desc, message);
      const error = thrown(codec, message);
      assertEquals((error as Error | undefined)?.message, problem, describeAll(desc, message));
      if (error === undefined) good++;
      else {
        assertInstanceOf(error, TypeError);
        bad++;
      }
    }
  }
  assert(good > 300 && bad > 2000, `${good} and ${bad}`);
});

function thrown(codec: CompiledCodec, message: unknown): unknown {
  try {
    codec.encode(message as object);
    return undefined;
  } catch (error) {
    return error;
  }
}

function describeAll(desc: DescMessage, message: unknown): string {
  return `${desc.typeName}: ${Deno.inspect(message, { depth: 6 })}`;
}
