import { type DescFile, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Loader } from "../loader.ts";

/** `FileDescriptorSet.file`: field 1, length-delimited. */
const FILE_TAG = 0x0a;

/**
 * The serialized `google.protobuf.FileDescriptorSet` of loaded files, each after those that it
 * imports; with `includeImports`, these are in it though they are not among `files`.
 */
export function descriptorSet(
  loader: Loader,
  files: readonly DescFile[],
  includeImports: boolean,
): Uint8Array {
  const given = new Set(files.map((file) => file.proto.name));
  const all = importsFirst(loader, given);
  const chosen = includeImports ? all : all.filter((name) => given.has(name));
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

function importsFirst(loader: Loader, names: Iterable<string>): string[] {
  const ordered: string[] = [];
  const visited = new Set<string>();
  const visit = (name: string) => {
    if (visited.has(name)) return;
    visited.add(name);
    // The descriptors of built-in files are protobuf-es's and not among the loaded ones.
    const proto = loader.loaded[name]?.proto ??
      fromBinary(FileDescriptorProtoSchema, loader.bytes(name));
    proto.dependency.forEach(visit);
    proto.optionDependency.forEach(visit);
    ordered.push(name);
  };
  for (const name of names) visit(name);
  return ordered;
}

function fieldHead(length: number): Uint8Array {
  const head = [FILE_TAG];
  for (; length > 0x7f; length >>>= 7) head.push(length & 0x7f | 0x80);
  head.push(length);
  return Uint8Array.from(head);
}
