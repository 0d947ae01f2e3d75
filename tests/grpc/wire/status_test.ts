import { assertEquals } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { FieldList } from "../../../grpc/wire/field_list.ts";
import {
  addDetails,
  addErrorMetadata,
  addStatus,
  codeFromHttpStatus,
  trailersError,
} from "../../../grpc/wire/status.ts";

Deno.test("addStatus() and trailersError() carry code, message, metadata and details", () => {
  const error = new ConnectError("no ☺", Code.NotFound, { "x-m": "1" });
  error.details = [{ type: "pkg.Detail", value: Uint8Array.of(8, 1) }];
  const list = new FieldList([], Infinity);
  addStatus(list, error);
  addErrorMetadata(list, error);
  addDetails(list, error);
  assertEquals(list.faults, []);
  const back = trailersError(list.fields, ["h", "2"])!;
  assertEquals(back.code, Code.NotFound);
  assertEquals(back.rawMessage, "no ☺");
  assertEquals([back.metadata.get("x-m"), back.metadata.get("h")], ["1", "2"]);
  assertEquals(back.details, [{ type: "pkg.Detail", value: Uint8Array.of(8, 1) }]);
});

Deno.test("trailersError() judges statuses as the protocol says", () => {
  const codeOf = (...trailers: string[]) => trailersError(trailers, [])?.code;
  assertEquals(codeOf("grpc-status", "0"), undefined);
  assertEquals(codeOf("grpc-status", "5"), Code.NotFound);
  assertEquals(codeOf("grpc-status", "05"), Code.Unknown);
  assertEquals(codeOf("grpc-status", "5abc"), Code.Unknown);
  assertEquals(codeOf("grpc-status", "17"), Code.Unknown);
  assertEquals(codeOf("x", "y"), Code.Unknown);
  // Details that are no status leave the plain fields standing; details of another code are a fault.
  assertEquals(codeOf("grpc-status", "5", "grpc-status-details-bin", "////"), Code.NotFound);
  assertEquals(codeOf("grpc-status", "5", "grpc-status-details-bin", "CAA"), Code.Internal);
});

Deno.test("codeFromHttpStatus() follows gRPC's table", () => {
  const table: [number, number][] = [
    [400, 13],
    [401, 16],
    [403, 7],
    [404, 12],
    [429, 14],
    [502, 14],
    [503, 14],
    [504, 14],
    [418, 2],
    [431, 2],
    [800, 2],
  ];
  for (const [status, expected] of table) assertEquals(codeFromHttpStatus(status), expected);
});
