import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Process, run } from "../../support/process.ts";

Deno.test("Process.waitFor() resolves at the line that says ready", async () => {
  await using process = new Process({
    command: "sh",
    args: ["-c", "echo port=123; exec sleep 30"],
  });
  const match = await process.waitFor(/port=(\d+)/);
  assertEquals(match[1], "123");
  assert(!process.ended);
});

Deno.test("Process.waitFor() rejects with both outputs when the program ends first", async () => {
  await using process = new Process({
    command: "sh",
    args: ["-c", "echo out; echo err >&2; exit 3"],
  });
  const error = await assertRejects(() => process.waitFor(/never/), Error);
  for (const part of ["exit code 3", "out", "err"]) assertStringIncludes(error.message, part);
});

Deno.test("Process.waitFor() rejects when the time is up", async () => {
  await using process = new Process({ command: "sleep", args: ["30"] });
  const error = await assertRejects(() => process.waitFor(/never/, 20), Error);
  assertStringIncludes(error.message, "in 20 ms");
});

Deno.test("Process.stop() ends a program, and may be called twice", async () => {
  const process = new Process({ command: "sleep", args: ["30"] });
  await process.stop();
  await process.stop();
  assert(process.ended);
});

Deno.test("run() gives input, returns both outputs and the exit code", async () => {
  const result = await run({
    command: "sh",
    args: ["-c", "cat; echo err >&2; exit 4"],
    stdin: "in",
  });
  assertEquals(result, { code: 4, stdout: "in", stderr: "err\n" });
});

Deno.test("run() kills a program that takes too long", async () => {
  await assertRejects(() => run({ command: "sleep", args: ["30"] }, 50), Error, "in 50 ms");
});

Deno.test("Process.stop() does not wait for a child that holds the outputs open", async () => {
  const process = new Process({ command: "sh", args: ["-c", "sleep 5 & echo ready; wait"] });
  await process.waitFor(/ready/);
  const started = performance.now();
  await process.stop();
  assert(performance.now() - started < 4000);
});
