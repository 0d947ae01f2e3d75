import { assertEquals } from "@std/assert";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { wellKnownText } from "../../../protoc/well_known/files.ts";
import { Loader, type LoaderOptions } from "../../../protoc/mod.ts";

const HEAD = `import "google/protobuf/descriptor.proto";
message Z { optional int32 a = 1; optional int32 b = 2; }
extend google.protobuf.MessageOptions { optional Z z = 50002; optional Z y = 50001; }
`;

/** Bytes of the options that message M has, as its file carries them. */
function optionsOfM(text: string, options: LoaderOptions): string {
  const loader = new Loader(options);
  loader.load(text, "a.proto");
  const bytes = loader.bytes("a.proto").toHex();
  const at = bytes.indexOf("0a014d") + 6;
  return bytes.slice(at);
}

Deno.test("retained options are a field for each statement, in their order", () => {
  const text = `${HEAD}message M {
    option (z).b = 2; option (z).a = 1; option (y).a = 1; option deprecated = true;
  }`;
  // What protoc 36.2 writes; its own options come first.
  const kept = "3a14" + "1801" + "92b518021002" + "92b518020801" + "8ab518020801";
  assertEquals(optionsOfM(text, { retainOptions: true }).slice(0, kept.length), kept);
  const sorted = "3a10" + "1801" + "8ab518020801" + "92b5180408011002";
  assertEquals(optionsOfM(text, {}).slice(0, sorted.length), sorted);
});

Deno.test("retained features that protoc knows are one message, those it does not are many", () => {
  const loader = new Loader({ retainOptions: true });
  loader.load(
    `edition = "2024";
     import "google/protobuf/go_features.proto";
     import "google/protobuf/cpp_features.proto";
     option features.(pb.go).api_level = API_OPEN;
     option features.(pb.cpp).string_type = VIEW;
     option features.(pb.go).strip_enum_prefix = STRIP_ENUM_PREFIX_KEEP;
     option features.(pb.cpp).enum_name_uses_string_view = true;`,
    "a.proto",
  );
  const hex = loader.bytes("a.proto").toHex();
  assertEquals(hex.includes("920311" + "c23e0410011801" + "d23e021001" + "d23e021801"), true, hex);
});

Deno.test("options of a copy of descriptor.proto stay when all in them was for the source", () => {
  const text = `syntax = "proto2"; import "IMPORT";
    message M { extensions 10 to 20 [declaration = { number: 10 full_name: ".a" type: ".A" }]; }`;
  const rangeOptions = (name: string) => {
    const loader = new Loader({
      resolve: (path) => path === name ? wellKnownText("google/protobuf/descriptor.proto") : null,
    });
    loader.load(text.replace("IMPORT", name), "a.proto");
    return fromBinary(FileDescriptorProtoSchema, loader.bytes("a.proto"))
      .messageType[0]!.extensionRange[0]!.options !== undefined;
  };
  assertEquals(rangeOptions("copy.proto"), true);
  assertEquals(rangeOptions("google/protobuf/descriptor.proto"), false);
});
