import type { SourceFile, Sources } from "./sources.ts";
import { withoutSourceInfo } from "./sources.ts";
import { delimited, joined } from "./wire.ts";

/** `FileDescriptorSet.file`. */
const FILE = 1;

/** Contents of a descriptor set besides the files. */
interface SetOptions {
  readonly includeImports: boolean;
  readonly includeSourceInfo: boolean;
}

/**
 * The serialized `google.protobuf.FileDescriptorSet` of files, each after those that it imports; with
 * `includeImports`, these are in it though nobody asked for them.
 */
export function descriptorSet(sources: Sources, options: SetOptions): Uint8Array {
  const { requested } = sources;
  const given = new Set(requested.map(({ name }) => name));
  const all = sources.closure(requested);
  const chosen = options.includeImports ? all : all.filter(({ name }) => given.has(name));
  const bytesOf = ({ bytes }: SourceFile): Uint8Array =>
    options.includeSourceInfo ? bytes : withoutSourceInfo(bytes);
  return joined(chosen.flatMap((file) => delimited(FILE, bytesOf(file))));
}
