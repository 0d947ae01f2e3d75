// deno-lint-ignore-file no-console
/**
 * Prints the structure of the published code: rooms, arrows, circles, the longest files, public names.
 *
 * deno task house [-v]
 */
import { AREAS, entries, importsFrom, structureOf } from "./graph.ts";

const verbose = Deno.args.includes("-v");
const imports = await importsFrom(Object.values(entries()));
const root = new URL("../../", import.meta.url);

console.log("| area | rooms | arrows | up | circles of files | files | lines | median | longest |");
console.log("|---|---|---|---|---|---|---|---|---|");
for (const area of AREAS) {
  const { rooms, arrows, up, circles } = structureOf(area, imports);
  const files = new Set(
    imports.flatMap(({ from, to, own }) => own ? [from, to] : [from])
      .filter((file) => file.startsWith(`${area}/`)),
  );
  const lengths = [...files].map((file) =>
    [Deno.readTextFileSync(new URL(file, root)).split("\n").length - 1, file] as const
  ).sort((a, b) => a[0] - b[0]);
  const total = lengths.reduce((sum, [n]) => sum + n, 0);
  const median = lengths[lengths.length >> 1]![0];
  const [longest, name] = lengths.at(-1)!;
  const sizes = circles.length === 0 ? "0" : `${circles.length} (${circles.map((c) => c.length)})`;
  console.log(
    `| ${area} | ${rooms.length} | ${arrows.size} | ${up.length} | ${sizes} | ${files.size} | ${total} | ${median} | ${longest} ${name} |`,
  );
  if (!verbose) continue;
  for (const arrow of up) console.log(`  up: ${arrow} (${arrows.get(arrow)})`);
  for (const circle of circles) console.log(`  circle: ${circle.join(" ")}`);
}

console.log("\n| entry | public names |");
console.log("|---|---|");
for (const [name, path] of Object.entries(entries())) {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", path],
    cwd: root,
    stderr: "null",
  }).output();
  const doc = JSON.parse(new TextDecoder().decode(stdout));
  const nodes: { symbols?: unknown[] }[] = Object.values(doc.nodes ?? {});
  const count = nodes.reduce((sum, node) => sum + (node.symbols?.length ?? 0), 0);
  console.log(`| ${name} | ${count} |`);
}
