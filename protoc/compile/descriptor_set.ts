import { create, createFileRegistry, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { CompiledFile } from "./file.ts";

/**
 * Descriptors of protobuf-es for compiled files.
 *
 * @param files In an order that has imports before what imports them.
 * @param known Descriptors of other imports, which the new ones will refer to.
 */
export function createDescriptors(
  files: readonly CompiledFile[],
  known: ReadonlyMap<string, DescFile>,
): Map<string, DescFile> {
  const protos = new Map<string, FileDescriptorProto>();
  for (const { name, bytes } of files) {
    protos.set(name, fromBinary(FileDescriptorProtoSchema, bytes));
  }
  // One registry for all: it takes them in the reverse of the order in which this file imports them.
  const all = create(FileDescriptorProtoSchema, {
    name: " all files of one load ",
    syntax: "proto3",
    dependency: [...protos.keys()].reverse(),
  });
  const registry = createFileRegistry(all, (name) => protos.get(name) ?? shallow(known.get(name)));
  const created = new Map<string, DescFile>();
  for (const name of protos.keys()) {
    const descriptor = registry.getFile(name)!;
    const dependencies = descriptor.dependencies as DescFile[];
    dependencies.forEach((dependency, i) => {
      dependencies[i] = known.get(dependency.proto.name) ?? dependency;
    });
    created.set(name, descriptor);
  }
  return created;
}

/**
 * A file without its imports: a registry walks these anew for each file that leads to them, which takes
 * time without bounds when imports form a lattice. Only the types of the file itself are needed.
 */
function shallow(file: DescFile | undefined): DescFile | undefined {
  return file && { ...file, dependencies: [] };
}
