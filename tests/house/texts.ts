/**
 * Texts of the repository's files.
 *
 * @module
 */
import { ROOT } from "./graph.ts";

/** Text of all files of TypeScript in folders of the repository, by path, and of `mod.ts`. */
export function textsOf(folders: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const { name, isDirectory } of Deno.readDirSync(new URL(`${folder}/`, ROOT))) {
      const path = `${folder}/${name}`;
      if (isDirectory) walk(path);
      else if (name.endsWith(".ts")) texts.set(path, Deno.readTextFileSync(new URL(path, ROOT)));
    }
  };
  for (const folder of folders) walk(folder);
  texts.set("mod.ts", Deno.readTextFileSync(new URL("mod.ts", ROOT)));
  return texts;
}

const TOKEN =
  /\/\*[^]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`/g;

/** The string and template literals of a program, without what templates fill in. */
export function literalsOf(text: string): string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => token)
    .filter((token) => !token.startsWith("/"))
    .map((token) => token.replace(/\$\{[^{}]*\}/g, "${}"));
}
