import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { create, getOption, toBinary, toJson } from "@bufbuild/protobuf";
import {
  type FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  TimestampSchema,
} from "@bufbuild/protobuf/wkt";
import { LIMITS, Loader, ProtoError } from "../../protoc/mod.ts";
import { readCases } from "./negative/case.ts";

/** Files as a serialized set: their bytes as field 1, one after another. */
function setOf(...files: Uint8Array[]): Uint8Array {
  const pieces = files.flatMap((bytes) => {
    const head = [0x0a];
    let { length } = bytes;
    for (; length > 0x7f; length >>>= 7) head.push(length & 0x7f | 0x80);
    return [Uint8Array.from([...head, length]), bytes];
  });
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const TEXTS: Readonly<Record<string, string>> = {
  "b.proto": `edition = "2023"; package p;
    import "google/protobuf/timestamp.proto"; import "google/protobuf/descriptor.proto";
    extend google.protobuf.MessageOptions { string note = 50000; }
    message B {
      option (note) = "é"; B inner = 1 [features.message_encoding = DELIMITED];
      map<string, int32> counts = 2; google.protobuf.Timestamp at = 3;
      oneof one { string left = 4; bytes right = 5; } extensions 100 to 200;
      repeated int32 loose = 6 [features.repeated_field_encoding = EXPANDED]; reserved 9; reserved gone;
      string named = 7 [json_name = "other", default = "x"]; enum E { A = 0; Z = -1; } E e = 8;
    }`,
  "a.proto": `syntax = "proto3"; package p; import "b.proto";
    message A { B b = 1; optional int32 o = 2; }
    service S { rpc Do(A) returns (stream B) { option idempotency_level = NO_SIDE_EFFECTS; } }`,
};

function compiled(): Loader {
  const loader = new Loader({ resolve: (name) => TEXTS[name] });
  loader.load(TEXTS["a.proto"]!, "a.proto");
  return loader;
}

function bytesOf(...names: string[]): Uint8Array[] {
  const loader = compiled();
  return names.map((name) => loader.bytes(name));
}

const SET = setOf(...bytesOf("a.proto", "b.proto"));

function faultsOf(set: Uint8Array | readonly Uint8Array[], loader = new Loader()): string[] {
  return assertThrows(() => loader.loadSet(set), ProtoError).message.split("\n");
}

/** A set of one file that is written as a message of protobuf-es. */
function setOfProto(...protos: Parameters<typeof create<typeof FileDescriptorProtoSchema>>[1][]) {
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: protos as [] }));
}

Deno.test("loadSet() gives what load() gives of the texts, in any order of files", () => {
  const loader = new Loader();
  const [a, b] = loader.loadSet(SET);
  assertEquals([a!.name, b!.name], ["a", "b"]);
  assertStrictEquals(loader.loaded["a.proto"], a);
  assertEquals(loader.bytes("b.proto"), compiled().bytes("b.proto"));
  assertStrictEquals(b!.messages[0]!.field["at"]!.message, TimestampSchema);
  assertEquals(getOption(b!.messages[0]!, b!.extensions[0]!), "é");
  const [method] = a!.services[0]!.methods;
  assertEquals([method!.methodKind, method!.idempotency], ["server_streaming", 1]);
  const message = loader.registry.getMessage("p.A")!;
  assertEquals(toJson(message, create(message, { b: { named: "é" } })), { b: { other: "é" } });
  assertEquals(loader.loadSet(SET), [a, b]);
});

Deno.test("texts may import what came in a set", () => {
  const loader = new Loader();
  loader.loadSet(SET);
  const file = loader.load(
    `syntax = "proto2"; import "b.proto"; import "google/protobuf/descriptor.proto";
     extend p.B { optional p.B.E e = 100 [default = Z]; }
     message M { option (p.note) = "here"; optional p.B b = 1; }`,
    "c.proto",
  );
  assertEquals(file.messages[0]!.fields[0]!.message, loader.registry.getMessage("p.B"));
  assertEquals(getOption(file.messages[0]!, loader.registry.getExtension("p.note")!), "here");
  assertThrows(
    () => loader.load(`syntax = "proto3"; package p; message A {}`, "d.proto"),
    ProtoError,
    '"p.A" is already defined in file "a.proto".',
  );
});

Deno.test("loadSet() takes answers of reflection and lists of files", () => {
  const files = bytesOf("b.proto", "a.proto");
  // original_request before the answer, as grpc-go writes it.
  const inner = setOf(...files, files[0]!);
  const answer = setOf(inner);
  answer[0] = 0x22;
  const whole = new Uint8Array([0x12, 0x02, 0x1a, 0x00, ...answer]);
  for (const set of [inner, whole, files, files.toReversed()]) {
    const loader = new Loader();
    loader.loadSet(set);
    assertEquals(Object.keys(loader.loaded).sort(), ["a.proto", "b.proto"]);
  }
});

Deno.test("loadSet() names what is missing, double or wrong", () => {
  assertEquals(faultsOf(bytesOf("a.proto"))[0], "b.proto: File not found.");
  const error = assertThrows(() => new Loader().loadSet(bytesOf("a.proto")), ProtoError);
  assertEquals(error.diagnostics[0]!.detail!.importedBy, ["a.proto"]);
  assertEquals(error.diagnostics[0]!.detail!.searched[0], "the set");
  assertEquals(faultsOf(new TextEncoder().encode("no set")), [
    ": Set is no serialized FileDescriptorSet.",
  ]);
  assertEquals(faultsOf([Uint8Array.of(0x0a, 5)]), [
    ": File of the set is no serialized FileDescriptorProto.",
  ]);
  assertEquals(faultsOf(setOfProto({})), [": File of the set has no name."]);
  assertEquals(
    faultsOf(setOfProto({ name: "a.proto" }, { name: "a.proto", package: "p" })),
    ["a.proto: Set has two files of this name, which differ."],
  );
  const message = (more: object) =>
    setOfProto({ name: "a.proto", messageType: [{ name: "M", ...more } as never] });
  const field = (more: object) => message({ field: [{ name: "f", number: 1, label: 1, ...more }] });
  assertEquals(faultsOf(field({ typeName: ".N", type: 11 })), ['a.proto: ".N" is not defined.']);
  assertEquals(faultsOf(field({})), ['a.proto: Field "f" has no type.']);
  assertEquals(faultsOf(field({ type: 5, oneofIndex: 3 })), [
    'a.proto: Field "M.f" is in a oneof that there is not.',
  ]);
  assertEquals(
    faultsOf(field({ type: 5, number: -1 }))[0],
    "a.proto: Field numbers must be positive integers.",
  );
  assertEquals(
    faultsOf(setOfProto({
      name: "a.proto",
      syntax: "proto3",
      messageType: [{
        name: "M",
        oneofDecl: [{ name: "o" }],
        field: [1, 2].map((number) => ({
          name: `f${number}`,
          number,
          type: 5,
          oneofIndex: 0,
          proto3Optional: true,
        })),
      } as never],
    }))[0],
    "a.proto: Fields with proto3_optional set must be a member of a one-field oneof",
  );
  assertEquals(faultsOf(message({ name: "a b" })), ['a.proto: "a b" is not a valid identifier.']);
  assertEquals(
    faultsOf(setOfProto({ name: "a.proto", dependency: ["b.proto"] }, {
      name: "b.proto",
      dependency: ["a.proto"],
    }))[0],
    "a.proto: File recursively imports itself: a.proto -> b.proto -> a.proto",
  );
  assertEquals(
    faultsOf(setOfProto({ name: "a.proto", messageType: [{ name: "M" }] }, {
      name: "b.proto",
      messageType: [{ name: "M" }],
    })),
    ['b.proto: "M" is already defined in file "a.proto".'],
  );
  assertThrows(() => new Loader().loadSet("x" as never), TypeError, "Cannot load a set as it must");
});

Deno.test("loadSet() limits bytes, files and depth", () => {
  const { maxSetBytes, maxFiles, maxMessageDepth } = LIMITS;
  assertEquals(faultsOf(new Uint8Array(maxSetBytes + 1)), [
    `: Set has ${maxSetBytes + 1} bytes, more than the limit of ${maxSetBytes}.`,
  ]);
  assertEquals(faultsOf(new Uint8Array(2 * maxFiles + 2).map((_, i) => i % 2 === 0 ? 0x0a : 0)), [
    `: Set has ${maxFiles + 1} files, more than the limit of ${maxFiles}.`,
  ]);
  const nested = (depth: number) => {
    let message: object = { name: "M" };
    for (let i = 1; i < depth; i++) message = { name: "M", nestedType: [message] };
    return setOfProto({ name: "a.proto", messageType: [message as never] });
  };
  new Loader().loadSet(nested(maxMessageDepth));
  assertEquals(faultsOf(nested(maxMessageDepth + 1)), [
    "a.proto: Reached maximum recursion limit for nested messages.",
  ]);
  // Deeper than any reader goes.
  let bytes = new Uint8Array(0);
  for (let i = 0; i < 2000; i++) bytes = new Uint8Array([...setOf(bytes)].with(0, 0x1a));
  const file = [0x0a, 1, 0x61, ...setOf(bytes).with(0, 0x22)];
  assertEquals(faultsOf([Uint8Array.from(file)]), [
    ": File of the set is no serialized FileDescriptorProto.",
  ]);
});

Deno.test("loadSet() takes every file that load() takes, and leaves its bytes alone", async () => {
  let count = 0;
  for (const one of await readCases()) {
    if (one.errors.length > 0 || one.aborts) continue;
    const texts = new Loader({ resolve: (name) => one.files.get(name) });
    texts.load(one.files.get("case.proto")!, "case.proto");
    const names = Object.keys(texts.loaded);
    const set = names.map((name) => texts.bytes(name));
    const loader = new Loader();
    loader.loadSet(set);
    names.forEach((name, i) => assertEquals(loader.bytes(name), set[i]!));
    count++;
  }
  assert(count > 100, String(count));
});

const FLIPS = [1, 0x80, 0x7f, 8, 3];

Deno.test("loadSet() gives files or a ProtoError for any bytes", () => {
  let accepted = 0;
  for (let at = 0; at < SET.length; at++) {
    const bytes = SET.slice();
    bytes[at]! ^= FLIPS[at % FLIPS.length]!;
    try {
      new Loader().loadSet(bytes);
      accepted++;
    } catch (error) {
      if (!(error instanceof ProtoError)) throw new Error(`byte ${at}: ${error}`, { cause: error });
    }
  }
  assert(accepted > 0);
});
