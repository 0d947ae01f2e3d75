/**
 * Names that published files export, and who imports them.
 *
 * @module
 */
import { dirname, join } from "node:path/posix";

/** An export: the file, relative to the root, and the name. */
export interface Export {
  readonly file: string;
  readonly name: string;
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum|namespace) ([A-Za-z_$][\w$]*)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?;/gm;
const IMPORTED = /^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm;
const WHOLE = /^(?:import|export) (?:type )?\*(?: as [\w$]+)? from "(\.[^"]+)";/gm;

/** The names of a clause such as `a, type B, c as d`: what they are called at their source. */
function namesOf(clause: string, last = false): string[] {
  return clause.split(",").map((part) => {
    const [source, alias] = part.trim().replace(/^type /, "").split(" as ");
    return (last ? alias ?? source : source)!.trim();
  }).filter((name) => name !== "");
}

/** Exports of `files` that nothing in `files` imports and that are not marked `@internal`. */
export function unusedExports(
  files: ReadonlyMap<string, string>,
  entries: ReadonlySet<string>,
): Export[] {
  const used = new Set<string>();
  for (const [file, text] of files) {
    for (const [, clause, from] of text.matchAll(IMPORTED)) {
      const target = join(dirname(file), from!);
      for (const name of namesOf(clause!)) used.add(`${target} ${name}`);
    }
    for (const [, from] of text.matchAll(WHOLE)) used.add(`${join(dirname(file), from!)} *`);
    for (const [, from] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g)) {
      used.add(`${join(dirname(file), from!)} *`);
    }
  }
  const unused: Export[] = [];
  for (const [file, text] of files) {
    if (entries.has(file) || used.has(`${file} *`)) continue;
    const names = [...text.matchAll(DECLARED)].map((match) => ({
      name: match[1]!,
      internal: /@internal[^/]*\*\/\s*$/.test(text.slice(0, match.index)),
    }));
    for (const [, clause, from] of text.matchAll(LISTED)) {
      if (from === undefined) {
        names.push(...namesOf(clause!, true).map((name) => ({ name, internal: false })));
      }
    }
    for (const { name, internal } of names) {
      if (!internal && !used.has(`${file} ${name}`)) unused.push({ file, name });
    }
  }
  return unused;
}
