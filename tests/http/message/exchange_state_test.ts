import { assertEquals, assertThrows } from "@std/assert";
import { type Half, isOver, type Step, step } from "../../../http/message/exchange_state.ts";

const HALVES: Half[] = ["idle", "body", "ended", "switched", "failed"];
const STEPS: Step[] = ["inform", "head", "retract", "data", "end", "switch", "fail"];

Deno.test("step() allows each event in its states and no other", () => {
  const allowed: [Half, Step, Half][] = [
    ["idle", "inform", "idle"],
    ["idle", "head", "body"],
    ["idle", "switch", "switched"],
    ["body", "retract", "idle"],
    ["body", "data", "body"],
    ["body", "end", "ended"],
    ["idle", "fail", "failed"],
    ["body", "fail", "failed"],
    ["switched", "fail", "failed"],
    ["failed", "fail", "failed"],
    // What was sent whole stays so, whatever becomes of the connection.
    ["ended", "fail", "ended"],
  ];
  for (const half of HALVES) {
    for (const event of STEPS) {
      const row = allowed.find(([from, by]) => from === half && by === event);
      if (row !== undefined) assertEquals(step(half, event), row[2], `${half} ${event}`);
      else assertThrows(() => step(half, event), TypeError, "as the message", `${half} ${event}`);
    }
  }
});

Deno.test("step() says what cannot be done and why", () => {
  assertThrows(
    () => step("body", "inform"),
    TypeError,
    "Cannot send an informational head as the message has begun",
  );
  assertThrows(() => step("idle", "end"), TypeError, "Cannot end the message as the message has");
});

Deno.test("isOver() is true where nothing can follow", () => {
  assertEquals(HALVES.filter(isOver), ["ended", "switched", "failed"]);
});
