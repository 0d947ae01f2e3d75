/**
 * Writes `protoc/well_known/texts.ts` from the files that protoc brings along: `deno task well-known`
 * with `PROTOC_INCLUDE`, the folder `include` of npm's `protoc`.
 *
 * @module
 */

import { join } from "node:path";

const include = Deno.env.get("PROTOC_INCLUDE");
if (include === undefined) throw new Error("Set PROTOC_INCLUDE to the folder that protoc includes");

async function* protos(prefix: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(join(include!, prefix))) {
    if (isDirectory) yield* protos(`${prefix}${name}/`);
    else if (name.endsWith(".proto")) yield `${prefix}${name}`;
  }
}

const names = (await Array.fromAsync(protos("google/protobuf/"))).sort();
const entries = await Promise.all(names.map(async (name) => {
  const text = await Deno.readTextFile(join(include, name));
  return `  "${name}": \`${text.replace(/[\\`]|\$(?=\{)/g, "\\$&")}\`,\n`;
}));
await Deno.writeTextFile(
  new URL("../protoc/well_known/texts.ts", import.meta.url),
  `// Files of Protocol Buffers, as protoc brings them along: their licence stands at the head of each.
// Written by \`deno task well-known\`.

/** The built-in files, word for word, by import name. */
export const texts: Readonly<Record<string, string>> = {
${entries.join("")}};
`,
);
