/**
 * Descriptors of etcd's API, made of its proto text by this library's loader, and the module that
 * carries them: a client need not load a compiler to know what it was made for.
 *
 * @module
 */
import { protoc } from "@sluice/sluice";

const FOLDER = new URL("../kv/proto/", import.meta.url);

/** Where the descriptors are kept. */
export const MODULE: URL = new URL("descriptors.ts", FOLDER);

/** Paths of the files, as they import each other. */
export function protoPaths(): string[] {
  const paths: string[] = [];
  for (const folder of Deno.readDirSync(FOLDER)) {
    if (!folder.isDirectory) continue;
    for (const { name } of Deno.readDirSync(new URL(`${folder.name}/`, FOLDER))) {
      if (name.endsWith(".proto")) paths.push(`${folder.name}/${name}`);
    }
  }
  return paths.sort();
}

/** A loader with all of them. */
export function loadProtos(): protoc.Loader {
  const text = (path: string) => Deno.readTextFileSync(new URL(path, FOLDER));
  const loader = new protoc.Loader({
    resolve: (path) => protoPaths().includes(path) ? text(path) : undefined,
  });
  for (const path of protoPaths()) {
    if (loader.loaded[path] === undefined) loader.load(text(path), path);
  }
  return loader;
}

/** Text of the module. */
export function moduleText(): string {
  const loader = loadProtos();
  const entries = protoPaths().map((path) => {
    const lines = btoa(String.fromCharCode(...loader.bytes(path))).match(/.{1,92}/g)!;
    return `  ${JSON.stringify(path)}:\n${
      lines.map((line) => `    ${JSON.stringify(line)}`).join(" +\n")
    },`;
  });
  return `// Made by \`deno task descriptors\` of the texts beside it. Do not edit.

/** \`google.protobuf.FileDescriptorProto\` of each file, as base64. */
export const DESCRIPTORS: Readonly<Record<string, string>> = {
${entries.join("\n")}
};
`;
}

if (import.meta.main) await Deno.writeTextFile(MODULE, moduleText());
