import { assertEquals, assertThrows } from "@std/assert";
import { Code, ConnectError, encodeBinaryHeader } from "@connectrpc/connect";
import { backoffDelay } from "../../grpc/client/backoff.ts";
import { code, codeName } from "../../grpc/wire/code.ts";
import { grpcCodec } from "../../grpc/wire/content_type.ts";
import { appendMetadata, readMetadata } from "../../grpc/wire/metadata.ts";
import { FieldList } from "../../grpc/wire/field_list.ts";
import { decodeMessage, encodeMessage } from "../../grpc/wire/percent.ts";
import { parseTarget, resolveTarget } from "../../grpc/client/resolver.ts";
import {
  addDetails,
  addErrorMetadata,
  addStatus,
  codeFromHttpStatus,
  trailersError,
} from "../../grpc/wire/status.ts";
import { formatTimeout, parseTimeout } from "../../grpc/wire/timeout.ts";

Deno.test("code has the seventeen codes of gRPC with their numbers", () => {
  assertEquals(Object.values(code), Array.from({ length: 17 }, (_, i) => i));
  assertEquals(codeName(code.UNAUTHENTICATED), "UNAUTHENTICATED");
  assertEquals(codeName(99), "CODE(99)");
});

Deno.test("encodeMessage() and decodeMessage() agree on any text", () => {
  const special = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";
  for (const text of ["", "plain", "100%", special, "\0\x7f", " ", " a b ", "a ", " ☺ "]) {
    const wire = encodeMessage(text);
    assertEquals(/^[\x20-\x7e]*$/.test(wire), true);
    // What begins or ends with a blank is no value of a field.
    assertEquals(wire.trim(), wire);
    assertEquals(decodeMessage(wire), text);
  }
  assertEquals(encodeMessage("a b%☺"), "a b%25%E2%98%BA");
  assertEquals(encodeMessage("\ud800"), "%EF%BF%BD");
});

Deno.test("encodeMessage() cuts between two characters, at a cost of what it gives", () => {
  for (const char of ["a", "a b", "%", "é", "☺", "😈"]) {
    for (const limit of [0, 1, 2, 3, 11, 12, 13, 100, 8192]) {
      const wire = encodeMessage(char.repeat(1_000_000), limit);
      assertEquals(wire.length <= limit && wire.trim() === wire, true);
      assertEquals(wire.length > limit - encodeMessage(char).length, true);
      assertEquals(char.repeat(limit).startsWith(decodeMessage(wire)), true);
      assertEquals(decodeMessage(wire).isWellFormed(), true);
    }
  }
});

Deno.test("decodeMessage() never throws on what is not percent-encoded", () => {
  assertEquals(decodeMessage("100%"), "100%");
  assertEquals(decodeMessage("%zz%4"), "%zz%4");
  assertEquals(decodeMessage("%ff"), "\ufffd");
});

Deno.test("parseTimeout() takes one to eight digits and a unit", () => {
  assertEquals(parseTimeout("1H"), 3_600_000);
  assertEquals(parseTimeout("99999999H"), 99_999_999 * 3_600_000);
  assertEquals(parseTimeout("2M"), 120_000);
  assertEquals(parseTimeout("3S"), 3000);
  assertEquals(parseTimeout("4m"), 4);
  assertEquals(parseTimeout("1500u"), 2);
  assertEquals(parseTimeout("1n"), 1);
  assertEquals(parseTimeout("0n"), 0);
  for (const bad of ["", "1", "m", "-1m", "+1m", "1.5S", "123456789m", "1s", "1 m"]) {
    assertEquals(parseTimeout(bad), -1, bad);
  }
});

Deno.test("formatTimeout() rounds up and stays within eight digits", () => {
  assertEquals(formatTimeout(1), "1m");
  assertEquals(formatTimeout(1.2), "2m");
  assertEquals(formatTimeout(99_999_999), "99999999m");
  assertEquals(formatTimeout(100_000_000), "100000S");
  assertEquals(formatTimeout(1e12), "16666667M");
  assertEquals(formatTimeout(Number.MAX_SAFE_INTEGER), "99999999H");
});

Deno.test("grpcCodec() knows gRPC's content types from others", () => {
  assertEquals(grpcCodec("application/grpc"), "proto");
  assertEquals(grpcCodec("application/grpc+proto"), "proto");
  assertEquals(grpcCodec("application/grpc;charset=utf-8"), "proto");
  assertEquals(grpcCodec("application/grpc+json"), "json");
  assertEquals(grpcCodec("application/grpc-web"), undefined);
  assertEquals(grpcCodec("application/grpcx"), undefined);
  assertEquals(grpcCodec("application/json"), undefined);
});

Deno.test("appendMetadata() keeps the protocol's names to itself and splits binary values", () => {
  const fields: string[] = [];
  appendMetadata(fields, [
    ["x-a", "1"],
    ["te", "gzip"],
    ["grpc-status", "0"],
    ["x-bin", encodeBinaryHeader(Uint8Array.of(1))],
    ["x-bin", "AgM="],
  ]);
  assertEquals(fields, ["x-a", "1", "x-bin", "AQ", "x-bin", "AgM"]);
  assertThrows(() => appendMetadata([], { "x-ü": "1" }), TypeError);
  assertThrows(() => appendMetadata([], { "x-a": "ü" }), TypeError, "-bin");
});

Deno.test("readMetadata() shows users' names and hides the protocol's", () => {
  const headers = readMetadata([
    ":status",
    "200",
    "content-type",
    "application/grpc",
    "a",
    "1",
    "a",
    "2",
    "grpc-status",
    "0",
    "b-bin",
    "AQ",
  ]);
  assertEquals([...headers], [["a", "1, 2"], ["b-bin", "AQ"]]);
});

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

Deno.test("parseTarget() reads hosts, names to look up and Unix sockets", () => {
  const parts = (text: string) => {
    const { address, dns } = parseTarget(text);
    return [address.hostname, address.port, address.path ?? "", dns];
  };
  assertEquals(parts("127.0.0.1:50051"), ["127.0.0.1", 50051, "", false]);
  assertEquals(parts("[::1]:1"), ["::1", 1, "", false]);
  assertEquals(parts("dns://db:50051"), ["db", 50051, "", true]);
  assertEquals(parts("dns:///db:50051"), ["db", 50051, "", true]);
  assertEquals(parts("dns:db:50051"), ["db", 50051, "", true]);
  assertEquals(parts("unix:/tmp/s"), ["", 0, "/tmp/s", false]);
  for (const bad of ["", "host", "host:", ":80", "host:99999", "http://host:80"]) {
    assertThrows(() => parseTarget(bad), TypeError, "Cannot use", bad);
  }
});

Deno.test("resolveTarget() finds the addresses of a name", async () => {
  const addresses = await resolveTarget(parseTarget("dns://localhost:50051"));
  assertEquals(addresses.length > 0, true);
  assertEquals(
    addresses.every((one) => one.port === 50051 && one.authority === "localhost:50051"),
    true,
  );
});

Deno.test("backoffDelay() grows by 1.6 with 20 % jitter up to its maximum", () => {
  assertEquals(backoffDelay(1, { initial: 1000 }, () => 0.5), 1000);
  assertEquals(backoffDelay(2, { initial: 1000 }, () => 0.5), 1600);
  assertEquals(backoffDelay(1, { initial: 1000 }, () => 0), 800);
  assertEquals(backoffDelay(100, { max: 5000 }, () => 0.5), 5000);
});
