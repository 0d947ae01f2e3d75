import { assertEquals, assertThrows } from "@std/assert";
import { encodeBinaryHeader } from "@connectrpc/connect";
import { appendMetadata, readMetadata } from "../../../grpc/wire/metadata.ts";

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
