import type { DescFile } from "@bufbuild/protobuf";
import { field, serviceFile } from "./file.ts";

const PACKAGE = "grpc.health.v1";
const REQUEST = `.${PACKAGE}.HealthCheckRequest`;
const RESPONSE = `.${PACKAGE}.HealthCheckResponse`;

function makeFile(): DescFile {
  return serviceFile(
    "grpc/health/v1/health.proto",
    PACKAGE,
    [
      { name: "HealthCheckRequest", field: [field("service", 1, "string")] },
      {
        name: "HealthCheckResponse",
        field: [field("status", 1, `${RESPONSE}.ServingStatus`, { isEnum: true })],
        enumType: [{
          name: "ServingStatus",
          value: ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"]
            .map((name, number) => ({ name, number })),
        }],
      },
      { name: "HealthListRequest" },
      {
        name: "HealthListResponse",
        field: [
          field("statuses", 1, `.${PACKAGE}.HealthListResponse.StatusesEntry`, { repeated: true }),
        ],
        nestedType: [{
          name: "StatusesEntry",
          field: [field("key", 1, "string"), field("value", 2, RESPONSE)],
          options: { mapEntry: true },
        }],
      },
    ],
    "Health",
    [
      { name: "Check", inputType: REQUEST, outputType: RESPONSE },
      {
        name: "List",
        inputType: `.${PACKAGE}.HealthListRequest`,
        outputType: `.${PACKAGE}.HealthListResponse`,
      },
      { name: "Watch", inputType: REQUEST, outputType: RESPONSE, serverStreaming: true },
    ],
  );
}

let file: DescFile | undefined;

/**
 * gRPC's health checking.
 * {@link https://github.com/grpc/grpc/blob/master/doc/health-checking.md}
 */
export function healthFile(): DescFile {
  return file ??= makeFile();
}
