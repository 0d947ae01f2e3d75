import { assertEquals } from "@std/assert";
import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CompiledCodec } from "../../../grpc/codec/codec.ts";
import { Loader } from "../../../protoc/mod.ts";

const KINDS = [
  "string",
  "int32",
  "repeated int64",
  "E",
  "M",
  "bytes",
  "string",
  "map<string, M>",
  "repeated C",
];

/** A message of `n` fields and as many oneofs as there are hundreds of them. */
function wide(n: number): DescMessage {
  const fields = Array.from({ length: n }, (_, i) => {
    const number = i < 18_999 ? i + 1 : i + 2001;
    return i % 100 === 99
      ? `oneof o${i} { string s${i} = ${number}; M m${i} = ${number + 100_000}; }`
      : `${KINDS[i % KINDS.length]} f${i} = ${number};`;
  });
  return new Loader().load(
    `edition = "2023"; option features.field_presence = IMPLICIT;
     enum E { ZERO = 0; A = 1; }
     enum C { option features.enum_type = CLOSED; ONE = 1; TWO = 2; }
     message M { string x = 1; repeated int32 list = 2; }
     message W { ${fields.join("\n")} }`,
    "wide.proto",
  ).messages[1]!;
}

Deno.test("a message with more fields than functions have parameters is read and written as protobuf-es does", () => {
  const W = wide(1300);
  const M = W.fields[4]!.message!;
  const codec = new CompiledCodec(W);
  const bytes = toBinary(
    W,
    create(W, {
      f0: "a",
      f1: -1,
      f2: [1n, -1n],
      f3: 1,
      f4: create(M, { x: "m", list: [1] } as never),
      f5: Uint8Array.of(1, 2),
      f7: { k: create(M, { x: "v" } as never) },
      f8: [2, 1],
      o99: { case: "m99", value: create(M, { x: "one", list: [2] } as never) },
      f1287: "last",
      // deno-lint-ignore no-explicit-any
    } as any),
  );
  // Twice the same bytes: messages merge, lists grow, unknown fields are kept.
  const twice = new Uint8Array([...bytes, ...bytes, 0xfa, 0xff, 0xff, 0x7f, 1, 65]);
  for (const input of [new Uint8Array(0), bytes, twice]) {
    const [ours, theirs] = [codec.decode(input, 0, input.length), fromBinary(W, input)];
    assertEquals(ours, theirs);
    assertEquals(Object.keys(ours).sort(), Object.keys(theirs).sort());
    assertEquals(codec.encode(ours).slice(), toBinary(W, theirs));
  }
});

Deno.test("a message may have as many fields as the loader allows", () => {
  const W = wide(60_000);
  const codec = new CompiledCodec(W);
  const bytes = toBinary(W, create(W, { f0: "first", f59995: 5 } as never));
  const message = codec.decode(bytes, 0, bytes.length);
  assertEquals(codec.encode(message).slice(), bytes);
});
