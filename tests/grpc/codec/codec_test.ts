import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { CompiledCodec, FallbackCodec } from "../../../grpc/codec/codec.ts";
import { codecFor } from "../../../grpc/codec/mod.ts";
import { typeOf, TYPES } from "./schema.ts";

const small = typeOf("proto3.Small");

Deno.test("codecFor() gives one codec for each descriptor", () => {
  assertStrictEquals(codecFor(small), codecFor(small));
  assert(codecFor(small) !== codecFor(typeOf("proto2.Small")));
  assertStrictEquals(codecFor(small).desc, small);
});

Deno.test("codecFor() generates code for every type that a registry made", () => {
  for (const desc of TYPES) assert(codecFor(desc) instanceof CompiledCodec, desc.typeName);
});

Deno.test("codecFor() leaves types with impossible names or numbers to protobuf-es", () => {
  for (const change of [{ localName: "__proto__" }, { number: 0 }, { number: 2 ** 29 }]) {
    const field = { ...small.fields[0]!, ...change };
    const desc = { ...small, fields: [field], members: [field] } as unknown as DescMessage;
    assert(codecFor(desc) instanceof FallbackCodec);
  }
});

Deno.test("codecFor() treats names in descriptors as text, never as code", () => {
  const evil = [
    `"];globalThis.injected=1;["`,
    "`${globalThis.injected=1}`",
    "\n;globalThis.injected=1//",
    "*/globalThis.injected=1/*",
    "\u2028globalThis.injected=1",
    "constructor",
    "m",
    "b",
    "$typeName\\",
  ];
  const fields = small.fields.slice(0, 1).concat(
    evil.map((name, i) => ({ ...small.fields[0]!, localName: name, name, number: i + 10 })),
  );
  const desc: DescMessage = {
    ...small,
    typeName: evil.join(),
    fields,
    members: fields,
    oneofs: [],
  };
  const init = Object.fromEntries(evil.map((name, i) => [name, `value ${i}`]));
  const codec = codecFor(desc);
  assert(codec instanceof CompiledCodec);
  const bytes = codec.encode(init).slice();
  assertEquals(bytes, toBinary(desc, create(desc, init)));
  const decoded = codec.decode(bytes, 0, bytes.length);
  assertEquals({ ...decoded }, { ...fromBinary(desc, bytes) });
  assert(!("injected" in globalThis));
});

Deno.test("Codec.aliases says whether bytes occur in the type or below it", () => {
  const aliases = TYPES.filter((desc) => codecFor(desc).aliases).map((desc) => desc.typeName);
  assertEquals(
    aliases.toSorted(),
    ["google.protobuf.Any", "google.protobuf.BytesValue", "edition.Implicit", "proto2.Defaults"]
      .concat(
        ["proto2", "proto3", "edition"].flatMap((syntax) =>
          ["All", "Maps", "Known"].map((name) => `${syntax}.${name}`)
        ),
      ).toSorted(),
  );
});

Deno.test("decode() keeps views of the input if Codec.aliases, else nothing of it", () => {
  const value = typeOf("google.protobuf.BytesValue");
  const input = Uint8Array.of(10, 2, 1, 2, 16, 9);
  const aliasing = codecFor(value).decode(input, 0, 6) as unknown as {
    value: Uint8Array;
    $unknown: { data: Uint8Array }[];
  };
  const copying = codecFor(small).decode(input.with(1, 1).with(2, 97), 0, 3);
  const unknowing = codecFor(small).decode(Uint8Array.of(32, 7, 40, 8), 2, 4);
  input.fill(0xee);
  assertEquals(aliasing.value, Uint8Array.of(0xee, 0xee));
  assertEquals(aliasing.$unknown[0]!.data, Uint8Array.of(0xee));
  assertStrictEquals(aliasing.value.buffer, input.buffer);
  assertEquals((copying as unknown as { name: string }).name, "a");
  assertEquals(unknowing.$unknown, [{ no: 5, wireType: 0, data: Uint8Array.of(8) }]);

  const source = Uint8Array.of(32, 7, 40, 8);
  const kept = codecFor(small).decode(source, 0, 4);
  source.fill(0);
  assertEquals(kept.$unknown!.map(({ data }) => data[0]), [7, 8]);
});

Deno.test("decode() copies the unknown fields of each message from its own input", () => {
  const codec = codecFor(small);
  const first = codec.decode(Uint8Array.of(32, 1), 0, 2);
  assertThrows(() => codec.decode(Uint8Array.of(32, 2, 10), 0, 3));
  const second = codec.decode(Uint8Array.of(0, 32, 3), 1, 3);
  assertEquals(first.$unknown![0]!.data, Uint8Array.of(1));
  assertEquals(second.$unknown![0]!.data, Uint8Array.of(3));
});

Deno.test("decode() gives plain Uint8Arrays, also of a Buffer", () => {
  const value = typeOf("google.protobuf.BytesValue");
  const input = Buffer.from([0, 10, 2, 1, 2]).subarray(1);
  const message = codecFor(value).decode(input, 0, 4) as unknown as { value: Uint8Array };
  assertStrictEquals(message.value.constructor, Uint8Array);
  assertEquals(message.value, Uint8Array.of(1, 2));
});

Deno.test("encode() gives a view that the next encode() writes over", () => {
  const codec = codecFor(small);
  const first = codec.encode({ name: "abc" });
  const kept = first.slice();
  codec.encode({ name: "xyz" });
  assertEquals(first, Uint8Array.of(10, 3, 120, 121, 122));
  assertEquals(kept, Uint8Array.of(10, 3, 97, 98, 99));
});

Deno.test("encode() works from within a getter of the message that is being encoded", () => {
  const codec = codecFor(small);
  const inner: Uint8Array[] = [];
  const message = {
    id: 5n,
    get name() {
      inner.push(codec.encode({ name: "x".repeat(100_000) }).slice());
      return "outer";
    },
    get next() {
      inner.push(codec.encode({ name: "y".repeat(50) }).slice());
      assertThrows(() => codec.encode({ name: "y".repeat(50), id: "z" }), TypeError);
      return { name: "next" };
    },
  };
  assertEquals(
    codec.encode(message).slice(),
    toBinary(small, create(small, { id: 5n, name: "outer", next: { name: "next" } })),
  );
  assertEquals(inner.map((bytes) => bytes.length), [100_004, 52]);
});

Deno.test("encode() throws what a getter throws, and works after it", () => {
  const codec = codecFor(small);
  const problem = new RangeError("mine");
  const message = {
    id: 1n,
    get name(): string {
      throw problem;
    },
  };
  assertStrictEquals(assertThrows(() => codec.encode(message)), problem);
  assertEquals(codec.encode({ name: "a" }).slice(), Uint8Array.of(10, 1, 97));
});

Deno.test("encode() works after the buffer of a result was transferred", () => {
  const codec = codecFor(small);
  const view = codec.encode({ name: "a" });
  structuredClone(null, { transfer: [view.buffer as ArrayBuffer] });
  assertEquals(codec.encode({ name: "b" }).slice(), Uint8Array.of(10, 1, 98));
  assertEquals(codec.encode({ name: "c" }).slice(), Uint8Array.of(10, 1, 99));
});

Deno.test("codecFor() uses protobuf-es where code generation is forbidden", async () => {
  const script = new URL("no_code_generation.ts", import.meta.url);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--v8-flags=--disallow-code-generation-from-strings", script.href],
  }).output();
  const text = new TextDecoder();
  assertEquals(code, 0, text.decode(stderr));
  assertEquals(text.decode(stdout).trim(), "FallbackCodec ok");
});
