/**
 * The table in docs/kv_store_conformance.md: which of etcd's own server tests the store passes.
 * `deno run -A tests/kv/server/etcd_cases/table.ts` writes it anew.
 *
 * @module
 */
import { columns, registered as registeredOfClient } from "../../etcd_cases/table.ts";
import { ELSEWHERE, LEFT_OUT, NAMES } from "./names.ts";

const BEGIN = "<!-- table: written by tests/kv/server/etcd_cases/table.ts -->";
const END = "<!-- end of table -->";

/** The page. */
export const PAGE: URL = new URL("../../../../docs/kv_store_conformance.md", import.meta.url);

/** Names of the cases in this folder. */
export async function registered(): Promise<Set<string>> {
  const found = new Set<string>();
  const folder = new URL(".", import.meta.url);
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith("_test.ts")) continue;
    const text = await Deno.readTextFile(new URL(name, folder));
    for (const [, one] of text.matchAll(/"(Test[A-Za-z0-9_]+)"/g)) found.add(one!);
  }
  return found;
}

/** The page as it should be, made of the one there is. */
export async function pageWith(page: string): Promise<string> {
  const here = await registered();
  const client = await registeredOfClient();
  let passed = 0;
  const rows = Object.entries(NAMES).flatMap(([file, names]) =>
    names.map((name): [string, string] => {
      const reason = LEFT_OUT[name] ?? LEFT_OUT[file];
      const elsewhere = ELSEWHERE.includes(file) && client.has(name);
      const shown = here.has(name) || elsewhere;
      if (shown) passed++;
      const result = here.has(name)
        ? "passed"
        : elsewhere
        ? "passed, by this client"
        : reason === undefined
        ? "missing"
        : `not applicable: ${reason}`;
      return [`\`${name}\``, result];
    })
  );
  const lines = [
    BEGIN,
    "",
    `${passed} of ${rows.length} pass.`,
    "",
    ...columns([["test", "here"], ...rows]),
    "",
    END,
  ];
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < 0) throw new Error(`${PAGE.pathname} has no place for the table`);
  return page.slice(0, begin) + lines.join("\n") + page.slice(end + END.length);
}

if (import.meta.main) {
  await Deno.writeTextFile(PAGE, await pageWith(await Deno.readTextFile(PAGE)));
}
