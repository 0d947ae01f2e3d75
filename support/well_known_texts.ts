/**
 * Writes the texts of the built-in files: `deno task well-known`. `protoc/well_known/texts.ts` from
 * the files that protoc brings along, with `PROTOC_INCLUDE`, the folder `include` of npm's `protoc`;
 * `protoc/well_known/google_api.ts` from npm's `google-proto-files`, with `GOOGLE_PROTOS`, its folder.
 *
 * @module
 */

import { join } from "node:path";

/** Files of googleapis that annotations for HTTP need. */
const GOOGLE_API = [
  "google/api/annotations.proto",
  "google/api/field_behavior.proto",
  "google/api/http.proto",
  "google/api/httpbody.proto",
  "google/rpc/status.proto",
];

async function* protos(folder: string, prefix: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(join(folder, prefix))) {
    if (isDirectory) yield* protos(folder, `${prefix}${name}/`);
    else if (name.endsWith(".proto")) yield `${prefix}${name}`;
  }
}

/** Writes a module that holds files of a folder. */
async function write(
  module: string,
  head: string,
  constant: string,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const entries = await Promise.all(names.map(async (name) => {
    const text = await Deno.readTextFile(join(folder, name));
    return `  "${name}": \`${text.replace(/[\\`]|\$(?=\{)/g, "\\$&")}\`,\n`;
  }));
  await Deno.writeTextFile(
    new URL(`../protoc/well_known/${module}`, import.meta.url),
    `${head}
// Written by \`deno task well-known\`.

/** The built-in files, word for word, by import name. */
export const ${constant}: Readonly<Record<string, string>> = {
${entries.join("")}};
`,
  );
}

const include = Deno.env.get("PROTOC_INCLUDE");
const google = Deno.env.get("GOOGLE_PROTOS");
if (include === undefined && google === undefined) {
  throw new Error(
    "Set PROTOC_INCLUDE to the folder that protoc includes, or GOOGLE_PROTOS to that of google-proto-files",
  );
}
if (include !== undefined) {
  await write(
    "texts.ts",
    "// Files of Protocol Buffers, as protoc brings them along: their licence stands at the head of each.",
    "texts",
    include,
    (await Array.fromAsync(protos(include, "google/protobuf/"))).sort(),
  );
}
if (google !== undefined) {
  await write(
    "google_api.ts",
    `// Files of googleapis under the Apache License 2.0, unchanged: its notice stands at the head of each,
// its text in APACHE-2.0.txt beside this file.`,
    "googleApi",
    google,
    GOOGLE_API,
  );
}
