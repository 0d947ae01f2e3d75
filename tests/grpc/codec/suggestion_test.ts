import { assertEquals } from "@std/assert";
import { similar } from "../../../grpc/codec/suggestion.ts";

Deno.test("similar() finds the name with the fewest edits", () => {
  const names = ["name", "names", "leaseId", "key", "keys", "rangeEnd"];
  assertEquals(similar("nmae", names), "name");
  assertEquals(similar("nam", names), "name");
  assertEquals(similar("namess", names), "names");
  assertEquals(similar("leaseID", names), "leaseId");
  assertEquals(similar("rangeend", names), "rangeEnd");
  assertEquals(similar("range_end", names), "rangeEnd");
  assertEquals(similar("kye", names), "key");
});

Deno.test("similar() finds nothing where no name is like it", () => {
  assertEquals(similar("other", ["name", "key"]), undefined);
  assertEquals(similar("id", ["ab"]), undefined);
  assertEquals(similar("x", ["y"]), undefined);
  assertEquals(similar("", ["a", "b"]), undefined);
  assertEquals(similar("name", []), undefined);
});

Deno.test("similar() does not look for names like a very long one", () => {
  const long = "x".repeat(65);
  assertEquals(similar(long, [long]), undefined);
  assertEquals(similar("x".repeat(64), ["x".repeat(63)]), "x".repeat(63));
});
