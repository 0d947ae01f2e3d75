import { assertEquals } from "@std/assert";
import { closestFieldName } from "../../../grpc/codec/closest_name.ts";

Deno.test("closestFieldName() finds the name with the fewest edits", () => {
  const names = ["name", "names", "leaseId", "key", "keys", "rangeEnd"];
  assertEquals(closestFieldName("nmae", names), "name");
  assertEquals(closestFieldName("nam", names), "name");
  assertEquals(closestFieldName("namess", names), "names");
  assertEquals(closestFieldName("leaseID", names), "leaseId");
  assertEquals(closestFieldName("rangeend", names), "rangeEnd");
  assertEquals(closestFieldName("range_end", names), "rangeEnd");
  assertEquals(closestFieldName("kye", names), "key");
});

Deno.test("closestFieldName() finds nothing where no name is like it", () => {
  assertEquals(closestFieldName("other", ["name", "key"]), undefined);
  assertEquals(closestFieldName("id", ["ab"]), undefined);
  assertEquals(closestFieldName("x", ["y"]), undefined);
  assertEquals(closestFieldName("", ["a", "b"]), undefined);
  assertEquals(closestFieldName("name", []), undefined);
});

Deno.test("closestFieldName() does not look for names like a very long one", () => {
  const long = "x".repeat(65);
  assertEquals(closestFieldName(long, [long]), undefined);
  assertEquals(closestFieldName("x".repeat(64), ["x".repeat(63)]), "x".repeat(63));
});
