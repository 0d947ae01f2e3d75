import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { assertEquals } from "@std/assert";
import { CompiledCodec, FallbackCodec } from "../../../grpc/codec/codec.ts";
import { Random } from "./random.ts";
import { difference } from "./same.ts";
import { TYPES } from "./schema.ts";

/** Random messages for each type; more for the large ones. */
const ROUNDS = 20;

const types = [
  ...TYPES,
  ...file_google_protobuf_descriptor.messages,
  ...file_google_protobuf_api.messages,
];

function* inits(desc: DescMessage, seed: number): Generator<Record<string, unknown>> {
  const random = new Random(seed);
  yield {};
  const rounds = desc.fields.length > 20 ? 4 * ROUNDS : ROUNDS;
  for (let i = 0; i < rounds; i++) yield random.init(desc, 2);
}

function required(desc: DescMessage): boolean {
  return desc.fields.some((field) => field.presence === 3);
}

Deno.test("encode() gives the bytes that toBinary() gives, of objects of fields and of messages", () => {
  for (const [seed, desc] of types.entries()) {
    const codec = new CompiledCodec(desc);
    for (const init of inits(desc, seed)) {
      if (required(desc) && Object.keys(init).length === 0) continue;
      const message = create(desc, init);
      const expected = toBinary(desc, message);
      assertEquals(codec.encode(init).slice(), expected, desc.typeName);
      assertEquals(codec.encode(message).slice(), expected, desc.typeName);
    }
  }
});

Deno.test("decode() gives the message that fromBinary() gives, prototype and absent fields included", () => {
  for (const [seed, desc] of types.entries()) {
    const codec = new CompiledCodec(desc);
    for (const init of inits(desc, seed)) {
      if (required(desc) && Object.keys(init).length === 0) continue;
      const bytes = toBinary(desc, create(desc, init));
      const wide = new Uint8Array(bytes.length + 20).fill(0xff);
      wide.set(bytes, 7);
      const message = codec.decode(wide, 7, 7 + bytes.length);
      assertEquals(difference(message, fromBinary(desc, bytes)), undefined, desc.typeName);
      assertEquals(codec.encode(message).slice(), bytes, desc.typeName);
    }
  }
});

Deno.test("decode() merges a message that is written twice as fromBinary() does", () => {
  for (const [seed, desc] of types.entries()) {
    const codec = new CompiledCodec(desc);
    let last: Uint8Array = new Uint8Array();
    for (const init of inits(desc, seed)) {
      if (required(desc) && Object.keys(init).length === 0) continue;
      const bytes = toBinary(desc, create(desc, init));
      const both = new Uint8Array(last.length + bytes.length);
      both.set(last);
      both.set(bytes, last.length);
      last = bytes;
      const message = codec.decode(both, 0, both.length);
      assertEquals(difference(message, fromBinary(desc, both)), undefined, desc.typeName);
    }
  }
});

Deno.test("the fallback encodes and decodes as generated code does", () => {
  for (const [seed, desc] of types.entries()) {
    const [compiled, fallback] = [new CompiledCodec(desc), new FallbackCodec(desc)];
    for (const init of inits(desc, seed)) {
      if (required(desc) && Object.keys(init).length === 0) continue;
      const bytes = fallback.encode(init);
      assertEquals(bytes, compiled.encode(init).slice(), desc.typeName);
      assertEquals(
        difference(
          fallback.decode(bytes, 0, bytes.length),
          compiled.decode(bytes, 0, bytes.length),
        ),
        undefined,
        desc.typeName,
      );
    }
  }
});

Deno.test("decode() and encode() agree with protobuf-es on the descriptor of descriptor.proto", () => {
  const codec = new CompiledCodec(FileDescriptorProtoSchema);
  const bytes = toBinary(FileDescriptorProtoSchema, file_google_protobuf_descriptor.proto);
  const message = codec.decode(bytes, 0, bytes.length);
  assertEquals(difference(message, fromBinary(FileDescriptorProtoSchema, bytes)), undefined);
  assertEquals(codec.encode(message).slice(), bytes);
});
