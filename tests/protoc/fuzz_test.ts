import { assert, assertEquals } from "@std/assert";
import { mutate } from "./fuzz/mutate.ts";
import { Random } from "./fuzz/random.ts";
import { runTrials, type Trial } from "./fuzz/trial.ts";
import { MAIN, readCases } from "./negative/case.ts";

/** Mutants of the quick run; `fuzz/run.ts` makes many more and asks protoc about them. */
const MUTANTS = 600;

Deno.test("Loader.load() gives a descriptor or a ProtoError for any bytes, in bounded time", async () => {
  const cases = await readCases();
  const good = cases.filter((one) => one.errors.length === 0);
  const random = new Random(1);
  const trials: Trial[] = [];
  for (let id = 0; id < MUTANTS; id++) {
    const seed = random.pick(random.below(4) === 0 ? cases : good);
    const other = random.pick(cases).files.get(MAIN)!;
    const text = mutate(seed.files.get(MAIN)!, other, random);
    const sourceInfo = id % 2 === 0;
    trials.push({ id, name: MAIN, text, roots: [], sourceInfo, files: seed.files });
  }
  let accepted = 0;
  let refused = 0;
  await runTrials(trials, (finding) => {
    const { text } = trials[finding.id]!;
    assertEquals(finding.defect, undefined, new TextDecoder().decode(text));
    if (finding.accepted) accepted++;
    else {
      refused++;
      assert(finding.errors.length > 0, "refused without a word");
    }
  });
  assertEquals(accepted + refused, MUTANTS);
  assert(accepted > 20 && refused > 20, `${accepted} accepted, ${refused} refused`);
});

Deno.test("mutate() makes the same mutants of the same seed", () => {
  const text = new TextEncoder().encode('syntax = "proto3"; message A { string s = 1; } // é');
  const make = () => {
    const random = new Random(7);
    return Array.from({ length: 50 }, () => mutate(text, text, random));
  };
  assertEquals(make(), make());
  assert(new Set(make().map(String)).size > 30);
});
