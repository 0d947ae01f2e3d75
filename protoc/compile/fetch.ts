import { ProtoError } from "../lex/diagnostic.ts";
import { LIMITS } from "../limits.ts";
import type { Compiler } from "./compiler.ts";
import { type Content, type ParsedFile, tooManyFiles } from "./file.ts";

/** Parsed files by name; undefined where there is none. */
export type Fetched = Map<string, ParsedFile | undefined>;

/**
 * Gets and parses files and all they import, so that {@linkcode Compiler.run} need not wait.
 *
 * @param fetch Gives the text of a file; called once for each name.
 * @throws {ProtoError} If they are more than `maxFiles`.
 * @param onParsed Called after each file, with how many were parsed.
 */
export async function fetchFiles(
  compiler: Compiler,
  files: readonly { readonly name: string; readonly text: Content | undefined }[],
  fetch: (name: string) => Promise<Content | undefined>,
  onParsed?: (count: number) => void,
): Promise<Fetched> {
  const fetched: Fetched = new Map();
  const waiting = [...files];
  const seen = new Set(files.map(({ name }) => name));
  while (waiting.length > 0) {
    const batch = waiting.splice(0, LIMITS.maxPendingReads);
    const contents = await Promise.all(batch.map(({ name, text }) => text ?? fetch(name)));
    batch.forEach(({ name }, i) => {
      const content = contents[i];
      const parsed = content === undefined ? undefined : compiler.parse(name, content);
      fetched.set(name, parsed);
      for (const imported of parsed?.imports ?? []) {
        if (seen.has(imported)) continue;
        seen.add(imported);
        waiting.push({ name: imported, text: undefined });
      }
    });
    onParsed?.(fetched.size);
    if (fetched.size > LIMITS.maxFiles) throw new ProtoError([tooManyFiles(batch[0]!.name)]);
  }
  return fetched;
}
