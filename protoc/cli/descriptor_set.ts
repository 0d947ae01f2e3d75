import type { DescFile } from "@bufbuild/protobuf";
import type { Loader } from "../loader.ts";

/** `FileDescriptorSet.file`: field 1, length-delimited. */
const FILE_TAG = 0x0a;

/**
 * The serialized `google.protobuf.FileDescriptorSet` of loaded files, in their order; with
 * `includeImports`, each after what it imports.
 */
export function descriptorSet(
  loader: Loader,
  files: readonly DescFile[],
  includeImports: boolean,
): Uint8Array {
  const chosen: Iterable<string> = includeImports
    ? importsFirst(files)
    : new Set(files.map((file) => file.proto.name));
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const name of chosen) {
    const bytes = loader.bytes(name);
    const head = fieldHead(bytes.length);
    pieces.push(head, bytes);
    length += head.length + bytes.length;
  }
  const set = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    set.set(piece, at);
    at += piece.length;
  }
  return set;
}

function importsFirst(files: readonly DescFile[]): Set<string> {
  const names = new Set<string>();
  const visited = new Set<DescFile>();
  const visit = (file: DescFile) => {
    if (visited.has(file)) return;
    visited.add(file);
    file.dependencies.forEach(visit);
    names.add(file.proto.name);
  };
  files.forEach(visit);
  return names;
}

function fieldHead(length: number): Uint8Array {
  const head = [FILE_TAG];
  for (; length > 0x7f; length >>>= 7) head.push(length & 0x7f | 0x80);
  head.push(length);
  return Uint8Array.from(head);
}
