/**
 * The compiled codec beside protobuf-es and protobufjs: `deno bench -A bench/codec.ts`.
 *
 * Three messages: a short string, an answer of a key-value store with 100 entries (14 KB), 1 MiB of bytes.
 * `encode` of the compiled codec ends with a view of its scratch and protobuf-es and protobufjs with bytes of
 * their own, so there is a second run that copies.
 */
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import protobufjs from "npm:protobufjs@^7.4.0";
import { codecFor } from "../grpc/codec/mod.ts";

const PROTO = `
syntax = "proto3";
package bench;
message Hello { string name = 1; }
message Header { uint64 cluster_id = 1; uint64 member_id = 2; int64 revision = 3; uint64 raft_term = 4; }
message KeyValue {
  bytes key = 1; int64 create_revision = 2; int64 mod_revision = 3; int64 version = 4; bytes value = 5;
  int64 lease = 6;
}
message Range { Header header = 1; repeated KeyValue kvs = 2; bool more = 3; int64 count = 4; }
message Blob { bytes data = 1; }
`;

type FieldList = [name: string, type: Type, typeName?: string][];

function message(name: string, fields: FieldList) {
  return {
    name,
    field: fields.map(([name, type, typeName], i) => ({
      name,
      number: i + 1,
      type,
      label: name === "kvs" ? Label.REPEATED : Label.OPTIONAL,
      ...(typeName === undefined ? {} : { typeName }),
    })),
  };
}

const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: "bench.proto",
    package: "bench",
    syntax: "proto3",
    messageType: [
      message("Hello", [["name", Type.STRING]]),
      message("Header", [
        ["cluster_id", Type.UINT64],
        ["member_id", Type.UINT64],
        ["revision", Type.INT64],
        ["raft_term", Type.UINT64],
      ]),
      message("KeyValue", [
        ["key", Type.BYTES],
        ["create_revision", Type.INT64],
        ["mod_revision", Type.INT64],
        ["version", Type.INT64],
        ["value", Type.BYTES],
        ["lease", Type.INT64],
      ]),
      message("Range", [
        ["header", Type.MESSAGE, ".bench.Header"],
        ["kvs", Type.MESSAGE, ".bench.KeyValue"],
        ["more", Type.BOOL],
        ["count", Type.INT64],
      ]),
      message("Blob", [["data", Type.BYTES]]),
    ],
  }),
  () => undefined,
);

const text = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, i) => 97 + (i * 7 + seed) % 26);

const hello = { name: "world, and more" };
const range = {
  header: {
    clusterId: 14841639068965178418n,
    memberId: 10276657743932975437n,
    revision: 123_456n,
    raftTerm: 7n,
  },
  kvs: Array.from({ length: 100 }, (_, i) => ({
    key: text(24, i),
    createRevision: BigInt(100_000 + i),
    modRevision: BigInt(110_000 + i),
    version: BigInt(i % 5 + 1),
    value: text(100, i),
    lease: i % 4 === 0 ? 7_587_862_094_411_233_000n + BigInt(i) : 0n,
  })),
  count: 100n,
};
const blob = { data: text(1 << 20, 0) };

function typeOf(name: string): DescMessage {
  return registry.getMessage(`bench.${name}`)!;
}

const peer = protobufjs.parse(PROTO).root;

for (
  const [group, name, init] of [
    ["a short string", "Hello", hello],
    ["100 key-values", "Range", range],
    ["1 MiB of bytes", "Blob", blob],
  ] as [string, string, Record<string, unknown>][]
) {
  const desc = typeOf(name);
  const codec = codecFor(desc);
  const message: Message = create(desc, init);
  const bytes = toBinary(desc, message);
  const peerType = peer.lookupType(`bench.${name}`);
  const peerMessage = peerType.decode(bytes);

  Deno.bench({ group: `decode ${group}`, name: "sluice", baseline: true }, () => {
    codec.decode(bytes, 0, bytes.length);
  });
  Deno.bench({ group: `decode ${group}`, name: "protobuf-es" }, () => {
    fromBinary(desc, bytes);
  });
  Deno.bench({ group: `decode ${group}`, name: "protobufjs" }, () => {
    peerType.decode(bytes);
  });

  Deno.bench({ group: `encode ${group}`, name: "sluice", baseline: true }, () => {
    codec.encode(message);
  });
  Deno.bench({ group: `encode ${group}`, name: "sluice, object of fields" }, () => {
    codec.encode(init);
  });
  Deno.bench({ group: `encode ${group}`, name: "sluice, and copy" }, () => {
    codec.encode(message).slice();
  });
  Deno.bench({ group: `encode ${group}`, name: "protobuf-es" }, () => {
    toBinary(desc, message);
  });
  Deno.bench({ group: `encode ${group}`, name: "protobuf-es, create and encode" }, () => {
    toBinary(desc, create(desc, init));
  });
  Deno.bench({ group: `encode ${group}`, name: "protobufjs" }, () => {
    peerType.encode(peerMessage).finish();
  });
}
