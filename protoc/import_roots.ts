import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { absolute, entriesOf, isDirectory, readBytes } from "./disk.ts";
import { isCanonicalName } from "./import_names.ts";
import { Detail, withDetail } from "./lex/detail.ts";
import type { Diagnostic } from "./lex/diagnostic.ts";
import { LIMITS } from "./limits.ts";

/** The directories that import names are relative to, in order of precedence. */
export class ImportRoots {
  /** Absolute paths. */
  readonly directories: readonly string[];

  constructor(directories: readonly string[]) {
    this.directories = directories.map((directory) => absolute(directory));
  }

  /** The bytes of an imported file; undefined when no root has it. */
  async read(name: string): Promise<Uint8Array | undefined> {
    if (!isCanonicalName(name)) return undefined;
    for (const directory of this.directories) {
      const bytes = await readBytes(join(directory, name));
      if (bytes) return bytes;
    }
    return undefined;
  }

  /** Import name of the file at an absolute path; undefined when it is in no root. */
  nameOf(path: string): string | undefined {
    for (const directory of this.directories) {
      const name = relative(directory, path).split(sep).join("/");
      if (name !== "" && !name.startsWith("../") && name !== ".." && isCanonicalName(name)) {
        return name;
      }
    }
    return undefined;
  }
}

/** Result of {@linkcode findFiles}. */
interface FoundFiles {
  /** Import names, without repetition. */
  readonly names: string[];
  /** One complaint for each path that leads nowhere. */
  readonly missing: Diagnostic[];
}

/** The import names of files, and of all `.proto` files in directories and below. */
export async function findFiles(
  paths: readonly (string | URL)[],
  roots: ImportRoots,
): Promise<FoundFiles> {
  const names = new Set<string>();
  const missing: Diagnostic[] = [];
  const complain = (file: string, message: string) => {
    const detail = new Detail({ searched: ["the current directory", ...roots.directories] });
    missing.push(withDetail({ file, line: 0, column: 0, message, severity: "error" }, detail));
  };
  for (const given of paths) {
    if (given === "") {
      throw new TypeError(
        "Cannot load files as a path must not be empty: the current directory is .",
      );
    }
    const shown = given instanceof URL ? fileURLToPath(given) : given;
    const located = await locate(shown, roots);
    if (!located) {
      complain(shown, "File not found.");
      continue;
    }
    const files = located.isDirectory ? await listProtos(located.path, 0) : [located.path];
    if (files.length === 0) complain(shown, "Directory has no .proto files.");
    for (const file of files) {
      const name = roots.nameOf(file);
      if (name !== undefined) names.add(name);
      else {
        complain(
          shown,
          "File does not reside within any of the import roots " +
            `(${roots.directories.join(", ")}): add its directory to them.`,
        );
        break;
      }
    }
  }
  return { names: [...names], missing };
}

interface Located {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** A path as it stands, or else below the first root that has it. */
async function locate(path: string, roots: ImportRoots): Promise<Located | undefined> {
  for (const candidate of [absolute(path), ...roots.directories.map((root) => join(root, path))]) {
    const found = await isDirectory(candidate);
    if (found !== undefined) return { path: candidate, isDirectory: found };
  }
  return undefined;
}

async function listProtos(directory: string, depth: number): Promise<string[]> {
  if (depth > LIMITS.maxDirectoryDepth) return [];
  const files: string[] = [];
  const entries = await entriesOf(directory);
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory) {
      for (const file of await listProtos(path, depth + 1)) files.push(file);
    } else if (entry.name.endsWith(".proto")) {
      files.push(path);
    }
  }
  return files;
}
