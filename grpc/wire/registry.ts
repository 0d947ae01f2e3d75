import { createRegistry, type DescFile, type Registry } from "@bufbuild/protobuf";

/** All types a file knows, and those of `more`: JSON spells out what is in an `Any`. */
export function registryOf(file: DescFile, more: Registry | undefined): Registry {
  const own = createRegistry(...withImports(file));
  return more === undefined ? own : createRegistry(own, more);
}

function withImports(file: DescFile, found: Set<DescFile> = new Set()): Set<DescFile> {
  if (!found.has(file)) {
    found.add(file);
    for (const dependency of file.dependencies) withImports(dependency, found);
  }
  return found;
}
