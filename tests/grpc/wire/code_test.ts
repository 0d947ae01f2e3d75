import { assertEquals } from "@std/assert";
import { code, codeName } from "../../../grpc/wire/code.ts";

Deno.test("code has the seventeen codes of gRPC with their numbers", () => {
  assertEquals(Object.values(code), Array.from({ length: 17 }, (_, i) => i));
  assertEquals(codeName(code.UNAUTHENTICATED), "UNAUTHENTICATED");
  assertEquals(codeName(99), "CODE(99)");
});
