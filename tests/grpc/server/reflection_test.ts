import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { grpc, protoc } from "@sluice/sluice";
import { reflectionFiles } from "../../../grpc/server/proto/reflection.ts";
import { inPeers, type Need, peerTest } from "../../../support/peers.ts";
import { run, which } from "../../../support/process.ts";

/** Two files, with all that has a name. */
const loader = new protoc.Loader();
loader.load(
  `syntax = "proto2";
   package shop;
   message Item { extensions 100 to 200; optional string name = 1; oneof kind { bool new = 2; } }
   extend Item { optional int32 weight = 150; optional int32 age = 120; }
   enum Color { RED = 0; }`,
  "item.proto",
);
const SHOP = loader.load(
  `syntax = "proto3";
   package shop;
   import "item.proto";
   import "google/protobuf/empty.proto";
   service Shop { rpc Buy(google.protobuf.Empty) returns (Item); }`,
  "shop.proto",
);

// deno-lint-ignore no-explicit-any
type Answer = any;

async function withReflection(
  run: (ask: (question: object) => Promise<Answer>, addr: string) => Promise<void>,
  version = 0,
): Promise<void> {
  const registrar = new grpc.Registrar();
  grpc.reflection(registrar);
  registrar.register(SHOP, { Buy: () => ({ name: "pear" }) });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 200 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  using stream = await grpc.newService(conn, reflectionFiles()[version]!).ServerReflectionInfo();
  const ask = async (messageRequest: object) => {
    await stream.write({ host: "me", messageRequest });
    const { validHost, originalRequest, messageResponse } = await stream.read(1000);
    assertEquals(validHost, "me");
    assertEquals(originalRequest.messageRequest.case, (messageRequest as { case?: string }).case);
    return messageResponse;
  };
  await run(ask, server.addr);
}

function names(answer: Answer): string[] {
  assertEquals(answer.case, "fileDescriptorResponse");
  return answer.value.fileDescriptorProto
    .map((bytes: Uint8Array) => fromBinary(FileDescriptorProtoSchema, bytes).name);
}

Deno.test("reflection lists the services, those registered later too, in both versions", async () => {
  for (const version of [0, 1]) {
    await withReflection(async (ask) => {
      const { value } = await ask({ case: "listServices", value: "" });
      assertEquals(value.service.map((one: { name: string }) => one.name), [
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        "shop.Shop",
      ]);
    }, version);
  }
});

Deno.test("reflection sends a file as it was loaded, with what it imports, each import once", async () => {
  await withReflection(async (ask) => {
    const first = await ask({ case: "fileByFilename", value: "shop.proto" });
    assertEquals(names(first), ["shop.proto", "item.proto", "google/protobuf/empty.proto"]);
    assertEquals(
      first.value.fileDescriptorProto.slice(0, 2),
      [loader.bytes("shop.proto"), loader.bytes("item.proto")],
    );
    const again = await ask({ case: "fileContainingSymbol", value: "shop.Shop" });
    assertEquals(names(again), ["shop.proto"]);
  });
});

Deno.test("reflection finds whatever has a name", async () => {
  const places = {
    "shop.Shop": "shop.proto",
    "shop.Shop.Buy": "shop.proto",
    ".shop.Item": "item.proto",
    "shop.Item.name": "item.proto",
    "shop.Item.kind": "item.proto",
    "shop.weight": "item.proto",
    "shop.Color": "item.proto",
    "shop.RED": "item.proto",
    "google.protobuf.Empty": "google/protobuf/empty.proto",
  };
  await withReflection(async (ask) => {
    for (const [value, file] of Object.entries(places)) {
      assertEquals(names(await ask({ case: "fileContainingSymbol", value }))[0], file, value);
    }
  });
});

Deno.test("reflection knows the extensions of a message", async () => {
  await withReflection(async (ask) => {
    const numbers = await ask({ case: "allExtensionNumbersOfType", value: "shop.Item" });
    assertEquals(numbers.value.extensionNumber, [120, 150]);
    assertEquals(numbers.value.baseTypeName, "shop.Item");
    const none = await ask({ case: "allExtensionNumbersOfType", value: "google.protobuf.Empty" });
    assertEquals(none.value.extensionNumber, []);
    const value = { containingType: "shop.Item", extensionNumber: 150 };
    assertEquals(names(await ask({ case: "fileContainingExtension", value }))[0], "item.proto");
  });
});

Deno.test("reflection answers what it cannot find with an error, and the stream goes on", async () => {
  await withReflection(async (ask) => {
    const questions = [
      { case: "fileByFilename", value: "none.proto" },
      { case: "fileContainingSymbol", value: "shop.None" },
      { case: "fileContainingSymbol", value: "" },
      { case: "fileContainingSymbol", value: "shop.Item.none" },
      { case: "allExtensionNumbersOfType", value: "shop.Shop" },
      {
        case: "fileContainingExtension",
        value: { containingType: "shop.Item", extensionNumber: 1 },
      },
    ];
    for (const question of questions) {
      const { case: kind, value } = await ask(question);
      assertEquals([kind, value.errorCode], ["errorResponse", grpc.code.NOT_FOUND]);
    }
    assertEquals((await ask({ case: undefined })).value.errorCode, grpc.code.INVALID_ARGUMENT);
    assert(names(await ask({ case: "fileByFilename", value: "shop.proto" })).length > 0);
  });
});

Deno.test("reflection() refuses to be added twice", () => {
  const registrar = new grpc.Registrar();
  grpc.reflection(registrar);
  assertThrows(() => grpc.reflection(registrar), TypeError, "twice");
});

Deno.test("reflectionFiles() are what the loader makes of the same text", () => {
  for (const [i, version] of ["v1", "v1alpha"].entries()) {
    const name = `grpc/reflection/${version}/reflection.proto`;
    const own = new protoc.Loader();
    own.load(
      `syntax = "proto3";
       package grpc.reflection.${version};
       message ServerReflectionRequest {
         string host = 1;
         oneof message_request {
           string file_by_filename = 3;
           string file_containing_symbol = 4;
           ExtensionRequest file_containing_extension = 5;
           string all_extension_numbers_of_type = 6;
           string list_services = 7;
         }
       }
       message ExtensionRequest { string containing_type = 1; int32 extension_number = 2; }
       message ServerReflectionResponse {
         string valid_host = 1;
         ServerReflectionRequest original_request = 2;
         oneof message_response {
           FileDescriptorResponse file_descriptor_response = 4;
           ExtensionNumberResponse all_extension_numbers_response = 5;
           ListServiceResponse list_services_response = 6;
           ErrorResponse error_response = 7;
         }
       }
       message FileDescriptorResponse { repeated bytes file_descriptor_proto = 1; }
       message ExtensionNumberResponse {
         string base_type_name = 1;
         repeated int32 extension_number = 2;
       }
       message ListServiceResponse { repeated ServiceResponse service = 1; }
       message ServiceResponse { string name = 1; }
       message ErrorResponse { int32 error_code = 1; string error_message = 2; }
       service ServerReflection {
         rpc ServerReflectionInfo(stream ServerReflectionRequest)
           returns (stream ServerReflectionResponse);
       }`,
      name,
    );
    assertEquals(
      toBinary(FileDescriptorProtoSchema, reflectionFiles()[i]!.proto),
      own.bytes(name),
    );
  }
});

const grpcurl = Deno.env.get("GRPCURL") ?? inPeers("bin/grpcurl") ?? await which("grpcurl");
const GRPCURL: Need = [
  "grpcurl",
  grpcurl,
  "go install github.com/fullstorydev/grpcurl/cmd/grpcurl@latest, and put it on PATH or set GRPCURL",
];
const buf = inPeers("node_modules/.bin/buf") ?? await which("buf");
const BUF: Need = ["buf", buf, "npm install @bufbuild/buf, and put it on PATH"];

peerTest(
  "grpcurl lists, describes and calls what reflection tells it",
  { needs: [GRPCURL] },
  async () => {
    await withReflection(async (_, addr) => {
      const ask = async (...args: string[]) => {
        const { code, stdout, stderr } = await run({
          command: grpcurl!,
          args: ["-plaintext", ...args],
        });
        assertEquals(code, 0, stderr);
        return stdout;
      };
      assertStringIncludes(await ask(addr, "list"), "shop.Shop\n");
      assertStringIncludes(
        await ask(addr, "describe", "shop.Shop"),
        "rpc Buy ( .google.protobuf.Empty )",
      );
      assertStringIncludes(await ask(addr, "describe", "shop.Item"), "string name = 1;");
      assertStringIncludes(await ask(addr, "describe", "shop.weight"), "int32 weight = 150;");
      assertEquals(JSON.parse(await ask(addr, "shop.Shop/Buy")), { name: "pear" });
    });
  },
);

peerTest("buf curl calls what reflection tells it", { needs: [BUF] }, async () => {
  await withReflection(async (_, addr) => {
    const { code, stdout, stderr } = await run({
      command: buf!,
      args: [
        "curl",
        "--protocol",
        "grpc",
        "--http2-prior-knowledge",
        `http://${addr}/shop.Shop/Buy`,
      ],
    });
    assertEquals(code, 0, stderr);
    assertEquals(JSON.parse(stdout), { name: "pear" });
  });
});
