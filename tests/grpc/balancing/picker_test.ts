import { assertEquals } from "@std/assert";
import {
  type Candidate,
  hopeful,
  NONE,
  pick,
  type Readiness,
} from "../../../grpc/balancing/picker.ts";

const LETTERS: Readonly<Record<string, Readiness>> = {
  R: "ready",
  F: "full",
  S: "starting",
  O: "opening",
  D: "down",
};

const candidates = (text: string): Candidate[] =>
  [...text].map((letter) => ({ readiness: LETTERS[letter]! }));

/** Indices picked one after the other, each turn behind the one before. */
function round(text: string, count: number, patient = false): number[] {
  const all = candidates(text);
  const picked: number[] = [];
  for (let i = 0, turn = 0; i < count; i++) {
    const at = pick(all, turn, patient, null);
    picked.push(at);
    if (at !== NONE) turn = (at + 1) % all.length;
  }
  return picked;
}

Deno.test("pick() takes the first, the second, after the last the first again", () => {
  assertEquals(round("RRR", 7), [0, 1, 2, 0, 1, 2, 0]);
});

Deno.test("pick() spreads the share of those that are not ready over all others", () => {
  for (const absent of ["D", "O", "F", "S"]) {
    assertEquals(round(`R${absent}R`, 6), [0, 2, 0, 2, 0, 2], absent);
    assertEquals(round(`${absent}${absent}RR`, 4), [2, 3, 2, 3], absent);
  }
});

Deno.test("pick() keeps the turn of one that is starting only while it is patient", () => {
  assertEquals(round("SRR", 2, true), [NONE, NONE]);
  assertEquals(round("RSR", 2, true), [0, NONE]);
  assertEquals(round("DSR", 1, true), [NONE]);
  assertEquals(round("ORR", 2, true), [1, 2]);
  assertEquals(round("SRR", 2, false), [1, 2]);
});

Deno.test("pick() takes the one that has just refused only if no other is ready", () => {
  const all = candidates("RRD");
  assertEquals(pick(all, 0, false, all[0]!), 1);
  assertEquals(pick(all, 1, false, all[1]!), 0);
  const alone = candidates("DRO");
  assertEquals(pick(alone, 0, false, alone[1]!), 1);
});

Deno.test("pick() takes nothing where nothing is ready, and hopeful() says whether to wait", () => {
  assertEquals(pick([], 0, true, null), NONE);
  assertEquals(hopeful([]), false);
  for (const text of ["D", "F", "O", "S", "DFOS"]) {
    assertEquals(pick(candidates(text), 0, false, null), NONE);
    assertEquals(hopeful(candidates(text)), text !== "D");
  }
});
