/**
 * Writes modules that hold what the compiler infers of proto text against what the writer of types
 * makes of it.
 *
 * @module
 */

import type { DescFile, DescMessage } from "@bufbuild/protobuf";
import { Loader } from "../../../protoc/mod.ts";
import { isShipped } from "../../../protoc/types/names.ts";
import { writeTypes } from "../../../protoc/types/module.ts";
import { reachableFrom, typesOf } from "../../../protoc/types/reach.ts";

const SAME = new URL("./same.ts", import.meta.url).href;
const LOADED = new URL("../../../protoc/infer/loaded.ts", import.meta.url).href;

/** Whether a file refers to no types but its own and those that come along. */
export function standsAlone(file: DescFile): boolean {
  const types = typesOf(file);
  return types.length > 0 &&
    reachableFrom(types).every((type) => type.file === file || isShipped(type));
}

/** Two modules for a file: the types that are written of it, and the comparison. */
export function comparison(file: DescFile, text: string, name: string): [string, string][] {
  const written = writeTypes([file], { protobuf: "@bufbuild/protobuf" });
  const own = typesOf(file);
  const messages = own.filter((type): type is DescMessage => type.kind === "message");
  const exported = exportedNames(written);
  const rows = [
    ...messages.map(({ typeName }) =>
      `Expect<Same<MessageShape<Known["messages"]["${typeName}"]>, MessageShape<Written.Messages["${typeName}"]>>>`
    ),
    ...own.filter((type) => type.kind === "enum").map(({ typeName }) =>
      `Expect<Same<Known["enums"]["${typeName}"], Written.${exported.get(typeName)}>>`
    ),
    ...own.filter((type) => type.kind === "service").flatMap((service) => [
      `Expect<Same<keyof Known["services"]["${service.typeName}"]["method"], keyof Written.Services["${service.typeName}"]["method"]>>`,
      ...service.methods.flatMap(({ localName }) =>
        ["input", "output"].map((side) =>
          `Expect<Same<MessageShape<Known["services"]["${service.typeName}"]["method"]["${localName}"]["${side}"]>, MessageShape<Written.Services["${service.typeName}"]["method"]["${localName}"]["${side}"]>>>`
        ).concat(
          `Expect<Same<Known["services"]["${service.typeName}"]["method"]["${localName}"]["methodKind"], Written.Services["${service.typeName}"]["method"]["${localName}"]["methodKind"]>>`,
        )
      ),
    ]),
    `Expect<Same<keyof Known["messages"], ${names(messages)}>>`,
  ];
  const compare = `import type { MessageShape } from "@bufbuild/protobuf";\n` +
    `import type { Expect, Same } from "${SAME}";\nimport type { LoadedFile } from "${LOADED}";\n` +
    `import type * as Written from "./${name}_types.ts";\n` +
    `const text = ${JSON.stringify(text)} as const;\n` +
    `type Known = NonNullable<LoadedFile<typeof text>["~types" & keyof LoadedFile<typeof text>]>;\n` +
    `export type Checks = [\n${rows.map((row) => `  ${row},\n`).join("")}];\n`;
  return [[`${name}_types.ts`, written], [`${name}.ts`, compare]];
}

function names(messages: readonly DescMessage[]): string {
  return messages.map(({ typeName }) => JSON.stringify(typeName)).join(" | ") || "never";
}

/** Names in a written module by the full names above them. */
function exportedNames(written: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, full, name] of written.matchAll(/A value of (\S+) \*\/\nexport type (\S+)/g)) {
    found.set(full!, name!);
  }
  return found;
}

/** Small files below a directory that stand alone, with their text; a fixed choice of `count`. */
export async function smallFiles(
  root: string,
  count: number,
  bytes: { readonly from: number; readonly to: number },
): Promise<{ file: DescFile; text: string }[]> {
  const paths: string[] = [];
  const walk = (directory: string) => {
    const entries = [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1);
    for (const { name, isDirectory } of entries) {
      const path = `${directory}/${name}`;
      if (isDirectory) walk(path);
      else if (name.endsWith(".proto")) {
        const { size } = Deno.statSync(path);
        if (size >= bytes.from && size < bytes.to) paths.push(path);
      }
    }
  };
  walk(root);
  const found: { file: DescFile; text: string }[] = [];
  // A prime apart, so that the choice is not all of one folder.
  for (let i = 0; i < paths.length && found.length < count; i++) {
    const path = paths[(i * 7919) % paths.length]!;
    if (path.includes("/google/protobuf/")) continue;
    const file = await new Loader().loadFile(path, { roots: [root] }).catch(() => undefined);
    if (file && standsAlone(file)) found.push({ file, text: await Deno.readTextFile(path) });
  }
  return found;
}
