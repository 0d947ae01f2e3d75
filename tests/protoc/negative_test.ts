// deno-lint-ignore-file no-console
import { assert, assertEquals } from "@std/assert";
import { parseGroup, printGroup, readCases, readGroups } from "./negative/case.ts";
import { judge } from "./negative/judge.ts";

/** Share of the cases whose first error must be on protoc's line. */
const ON_LINE = 0.95;
/** Share of the cases whose first error must lie in protoc's token. */
const ON_TOKEN = 0.95;

Deno.test("Loader.load() refuses every file protoc refuses, on its line", async () => {
  const { counts, lines } = await judge();
  console.log(JSON.stringify(counts));
  const wrong = lines.filter((line) => /: (accepted, but|must be accepted|threw) /.test(line));
  assertEquals(wrong, []);
  assertEquals(counts.refused, counts.cases);
  assertEquals(counts.accepted, counts.valid);
  const others = lines.slice(0, 20).join("\n");
  assert(counts.line >= counts.cases * ON_LINE, `${counts.line} of ${counts.cases}\n${others}`);
  assert(
    counts.column >= counts.cases * ON_TOKEN,
    `${counts.column} of ${counts.cases}\n${others}`,
  );
});

Deno.test("the negative cases are at least 450, each with its error and its own title", async () => {
  const cases = await readCases();
  assert(cases.filter((one) => one.errors.length > 0).length >= 450);
  const titles = cases.map((one) => `${one.group}: ${one.title}`);
  assertEquals(new Set(titles).size, titles.length);
});

Deno.test("parseGroup() and printGroup() keep a case file as it is", async () => {
  for (const [group, text] of await readGroups()) {
    const { foreword, cases } = parseGroup(group, text);
    assertEquals(printGroup(foreword, cases), text);
  }
});
