/**
 * Names that files export, and who imports them.
 *
 * @module
 */
import { dirname, join } from "node:path/posix";

/** An export: the file, relative to the root, the name, and whether its comment says `@internal`. */
export interface Export {
  readonly file: string;
  readonly name: string;
  readonly internal: boolean;
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum|namespace) ([A-Za-z_$][\w$]*)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\};/gm;
const IMPORTED = /^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm;
const WHOLE = /^(?:import|export) (?:type )?\*(?: as [\w$]+)? from "(\.[^"]+)";/gm;
const DYNAMIC = /\bimport\("(\.[^"]+)"\)/g;

/** The names of a clause such as `a, type B, c as d`: what they are called at their source. */
function namesOf(clause: string, last = false): string[] {
  return clause.split(",").map((part) => {
    const [source, alias] = part.trim().replace(/^type /, "").split(" as ");
    return (last ? alias ?? source : source)!.trim();
  }).filter((name) => name !== "");
}

/** What a file itself declares and exports. */
export function exportsOf(file: string, text: string): Export[] {
  const found = [...text.matchAll(DECLARED)].map((match) => ({
    file,
    name: match[1]!,
    internal: /@internal[^/]*\*\/\s*$/.test(text.slice(0, match.index)),
  }));
  for (const [, clause] of text.matchAll(LISTED)) {
    for (const name of namesOf(clause!, true)) found.push({ file, name, internal: false });
  }
  return found;
}

/** Exports of `files` that nothing in `files` imports; those of `entries` are for others. */
export function unusedExports(
  files: ReadonlyMap<string, string>,
  entries: ReadonlySet<string>,
): Export[] {
  const used = new Set<string>();
  for (const [file, text] of files) {
    const target = (from: string): string => join(dirname(file), from);
    for (const [, clause, from] of text.matchAll(IMPORTED)) {
      for (const name of namesOf(clause!)) used.add(`${target(from!)} ${name}`);
    }
    for (const pattern of [WHOLE, DYNAMIC]) {
      for (const [, from] of text.matchAll(pattern)) used.add(`${target(from!)} *`);
    }
  }
  return [...files]
    .filter(([file]) => !entries.has(file) && !used.has(`${file} *`))
    .flatMap(([file, text]) => exportsOf(file, text))
    .filter(({ file, name }) => !used.has(`${file} ${name}`));
}
