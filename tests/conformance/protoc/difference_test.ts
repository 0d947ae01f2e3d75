import { create, toBinary } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { assertEquals } from "@std/assert";
import { firstDifference } from "./difference.ts";

function file(type: FieldDescriptorProto_Type): Uint8Array {
  return toBinary(
    FileDescriptorProtoSchema,
    create(FileDescriptorProtoSchema, {
      name: "a.proto",
      messageType: [{ name: "A" }, { name: "B", field: [{ name: "x", type }] }],
    }),
  );
}

Deno.test("firstDifference() finds nothing between equal files", () => {
  const bytes = file(FieldDescriptorProto_Type.BOOL);
  assertEquals(firstDifference(FileDescriptorProtoSchema, bytes, bytes.slice()), undefined);
});

Deno.test("firstDifference() names the path of the first differing value", () => {
  assertEquals(
    firstDifference(
      FileDescriptorProtoSchema,
      file(FieldDescriptorProto_Type.BOOL),
      file(FieldDescriptorProto_Type.STRING),
    ),
    "FileDescriptorProto.message_type[1].field[0].type: ours 8, protoc 9",
  );
});

Deno.test("firstDifference() says which side lacks a field", () => {
  const whole = file(FieldDescriptorProto_Type.BOOL);
  assertEquals(
    firstDifference(FileDescriptorProtoSchema, whole, whole.subarray(0, 9)),
    "FileDescriptorProto.message_type[0]: protoc lacks it, ours 0x0a0141",
  );
});
