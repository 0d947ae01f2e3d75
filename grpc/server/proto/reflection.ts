import type { DescFile } from "@bufbuild/protobuf";
import { field, type FieldInit, serviceFile } from "../../wire/proto/file.ts";

function reflectionFile(version: string): DescFile {
  const packageName = `grpc.reflection.${version}`;
  const type = (name: string) => `.${packageName}.${name}`;
  /** A field that may be chosen among those of the message's oneof. */
  const choice = (name: string, number: number, of: string): FieldInit =>
    field(name, number, of, { oneof: 0 });
  return serviceFile(
    `grpc/reflection/${version}/reflection.proto`,
    packageName,
    [
      {
        name: "ServerReflectionRequest",
        field: [
          field("host", 1, "string"),
          choice("file_by_filename", 3, "string"),
          choice("file_containing_symbol", 4, "string"),
          choice("file_containing_extension", 5, type("ExtensionRequest")),
          choice("all_extension_numbers_of_type", 6, "string"),
          choice("list_services", 7, "string"),
        ],
        oneofDecl: [{ name: "message_request" }],
      },
      {
        name: "ExtensionRequest",
        field: [field("containing_type", 1, "string"), field("extension_number", 2, "int32")],
      },
      {
        name: "ServerReflectionResponse",
        field: [
          field("valid_host", 1, "string"),
          field("original_request", 2, type("ServerReflectionRequest")),
          choice("file_descriptor_response", 4, type("FileDescriptorResponse")),
          choice("all_extension_numbers_response", 5, type("ExtensionNumberResponse")),
          choice("list_services_response", 6, type("ListServiceResponse")),
          choice("error_response", 7, type("ErrorResponse")),
        ],
        oneofDecl: [{ name: "message_response" }],
      },
      {
        name: "FileDescriptorResponse",
        field: [field("file_descriptor_proto", 1, "bytes", { repeated: true })],
      },
      {
        name: "ExtensionNumberResponse",
        field: [
          field("base_type_name", 1, "string"),
          field("extension_number", 2, "int32", { repeated: true }),
        ],
      },
      {
        name: "ListServiceResponse",
        field: [field("service", 1, type("ServiceResponse"), { repeated: true })],
      },
      { name: "ServiceResponse", field: [field("name", 1, "string")] },
      {
        name: "ErrorResponse",
        field: [field("error_code", 1, "int32"), field("error_message", 2, "string")],
      },
    ],
    "ServerReflection",
    [{
      name: "ServerReflectionInfo",
      inputType: type("ServerReflectionRequest"),
      outputType: type("ServerReflectionResponse"),
      clientStreaming: true,
      serverStreaming: true,
    }],
  );
}

let files: readonly DescFile[] | undefined;

/**
 * gRPC's server reflection, in the version that is current and in the one that old tools ask for.
 * {@link https://github.com/grpc/grpc/blob/master/doc/server-reflection.md}
 */
export function reflectionFiles(): readonly DescFile[] {
  return files ??= ["v1", "v1alpha"].map(reflectionFile);
}
