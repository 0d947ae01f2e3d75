import { assert, assertEquals } from "@std/assert";
import { Loader } from "../../protoc/mod.ts";
import { wellKnownNames, wellKnownText } from "../../protoc/well_known/files.ts";

Deno.test("the files that come along keep all rules, which are not checked again for them", () => {
  const loader = new Loader({ resolve: wellKnownText });
  assert(wellKnownNames().length > 10);
  // Given as anyone's, they are checked as anyone's.
  for (const name of wellKnownNames()) loader.load(wellKnownText(name)!, name);
  assertEquals(loader.warnings, []);
});
