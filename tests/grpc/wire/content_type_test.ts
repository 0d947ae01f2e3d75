import { assertEquals } from "@std/assert";
import { grpcCodec } from "../../../grpc/wire/content_type.ts";

Deno.test("grpcCodec() knows gRPC's content types from others", () => {
  assertEquals(grpcCodec("application/grpc"), "proto");
  assertEquals(grpcCodec("application/grpc+proto"), "proto");
  assertEquals(grpcCodec("application/grpc;charset=utf-8"), "proto");
  assertEquals(grpcCodec("application/grpc+json"), "json");
  assertEquals(grpcCodec("application/grpc-web"), undefined);
  assertEquals(grpcCodec("application/grpcx"), undefined);
  assertEquals(grpcCodec("application/json"), undefined);
});
