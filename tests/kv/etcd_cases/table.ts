/**
 * The table in docs/kv_conformance.md: which of etcd's own client tests are repeated here.
 * `deno run -A tests/kv/etcd_cases/table.ts` writes it anew.
 *
 * @module
 */
import { LEFT_OUT, NAMES } from "./names.ts";

/** Lines between which the table stands. */
const BEGIN = "<!-- table: written by tests/kv/etcd_cases/table.ts -->";
const END = "<!-- end of table -->";

/** The page. */
export const PAGE: URL = new URL("../../../docs/kv_conformance.md", import.meta.url);

/** Names of the cases that are registered in this folder, with their files. */
export async function registered(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const folder = new URL(".", import.meta.url);
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith("_test.ts") || name === "table_test.ts") continue;
    const text = await Deno.readTextFile(new URL(name, folder));
    for (const [, one] of text.matchAll(/^(?!.*\/\/).*?["`](Test[A-Za-z0-9_]+)["`]/gm)) {
      found.set(one!, name);
    }
    // One line makes a case of each kind of call.
    if (text.includes("`TestBalancerUnderBlackholeNoKeepAlive${name}`")) {
      for (const kind of ["Put", "Delete", "Txn", "LinearizableGet", "SerializableGet"]) {
        found.set(`TestBalancerUnderBlackholeNoKeepAlive${kind}`, name);
      }
    }
  }
  return found;
}

/** The page as it should be, made of the one there is. */
export async function pageWith(page: string): Promise<string> {
  const at = await registered();
  const rows: [string, string][] = [];
  let passed = 0;
  let all = 0;
  for (const [file, names] of Object.entries(NAMES)) {
    for (const name of names) {
      all++;
      const here = at.get(name);
      if (here !== undefined) passed++;
      const reason = LEFT_OUT[name] ?? LEFT_OUT[file];
      rows.push([
        `\`${name}\``,
        here !== undefined
          ? "passed"
          : reason === undefined
          ? "missing"
          : `not applicable: ${reason}`,
      ]);
    }
  }
  const lines = [
    BEGIN,
    "",
    `${passed} of ${all} are repeated.`,
    "",
    ...columns([["test", "here"], ...rows]),
    "",
    END,
  ];
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < 0) throw new Error(`${PAGE.pathname} has no place for the table`);
  return page.slice(0, begin) + lines.join("\n") + page.slice(end + END.length);
}

/** A table as `deno fmt` would have it. */
export function columns([head, ...rows]: [string, string][]): string[] {
  const width = (i: 0 | 1) => Math.max(...[head!, ...rows].map((row) => row[i].length));
  const line = (row: readonly string[], pad = " ") =>
    `| ${row.map((cell, i) => cell.padEnd(width(i as 0 | 1), pad)).join(" | ")} |`;
  return [line(head!), line(["", ""], "-"), ...rows.map((row) => line(row))];
}

if (import.meta.main) await Deno.writeTextFile(PAGE, await pageWith(await Deno.readTextFile(PAGE)));
