import { assert, assertEquals, assertMatch } from "@std/assert";
import { run } from "./support/process.ts";

const root = new URL("../", import.meta.url).pathname;

/** The programs among the examples: those whose first line says how to run them. */
const programs: { name: string; args: string[] }[] = [];
for (const { name } of Deno.readDirSync(`${root}examples`)) {
  const [first = ""] = Deno.readTextFileSync(`${root}examples/${name}`).split("\n");
  const command = /^\/\/ deno (run .*)$/.exec(first)?.[1];
  if (command !== undefined) programs.push({ name, args: command.split(" ") });
}

for (const { name, args } of programs) {
  Deno.test(`examples/${name} runs as its first line says`, async () => {
    assertEquals(args.at(-1), `examples/${name}`);
    const { code, stdout, stderr } = await run(
      { command: Deno.execPath(), args, cwd: root, env: { NO_COLOR: "1" } },
      120_000,
    );
    assertEquals(code, 0, stderr);
    assert(stdout.trim() !== "", "it printed nothing");
  });
}

Deno.test("examples have the programs the README names", async () => {
  const readme = await Deno.readTextFile(`${root}README.md`);
  const named = [...readme.matchAll(/\]\(examples\/(\w+\.ts)\)/g)].map((match) => match[1]!);
  assert(named.length > 0);
  for (const name of named) {
    assert(programs.some((program) => program.name === name), `examples/${name} is missing`);
  }
});

Deno.test("deno task demo prints what it did and how long it took", async () => {
  const { code, stdout, stderr } = await run(
    { command: Deno.execPath(), args: ["task", "demo"], cwd: root, env: { NO_COLOR: "1" } },
    120_000,
  );
  assertEquals(code, 0, stderr);
  for (const step of ["unary", "server streaming", "client streaming", "bidirectional streaming"]) {
    assertMatch(stdout, new RegExp(`\\d ms +${step}: `));
  }
  assertMatch(stdout, /etcd/);
  assertMatch(stdout, /done in [\d.]+ s/);
});
