import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Diagnostic } from "./lex/diagnostic.ts";
import { LIMITS } from "./limits.ts";

/** The directories that import names are relative to, in order of precedence. */
export class ImportRoots {
  /** Absolute paths. */
  readonly directories: readonly string[];

  constructor(directories: readonly string[]) {
    this.directories = directories.map((directory) => resolve(directory));
  }

  /** The bytes of an imported file; undefined when no root has it. */
  async read(name: string): Promise<Uint8Array | undefined> {
    if (!isCanonicalName(name)) return undefined;
    for (const directory of this.directories) {
      try {
        return await readFile(join(directory, name));
      } catch (error) {
        if (!isAbsence(error)) throw error;
      }
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

/**
 * Why no file is imported as `name`, in protoc's words, or undefined. Import names identify files, so
 * each file must have one spelling only, and none may lead out of the roots: on Windows `\\` separates
 * too, and a drive letter begins anew. No system has a file with NUL in its name.
 */
export function nameFault(name: string): string | undefined {
  const oneSpelling = name.split("/").every((part, i) =>
    part !== "." && part !== ".." && (part !== "" || i === 0)
  );
  if (!oneSpelling) {
    return 'Backslashes, consecutive slashes, ".", or ".." are not allowed in the virtual path';
  }
  return /[\\\0]|^[A-Za-z]:/.test(name) ? "File not found." : undefined;
}

/** Whether a file may be imported as `name`. */
export function isCanonicalName(name: string): boolean {
  return nameFault(name) === undefined;
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
    missing.push({ file, line: 0, column: 0, message, severity: "error" });
  };
  for (const given of paths) {
    const shown = given instanceof URL ? fileURLToPath(given) : given;
    const located = await locate(shown, roots);
    if (!located) {
      complain(shown, "File not found.");
      continue;
    }
    const files = located.isDirectory ? await listProtos(located.path, 0) : [located.path];
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
  for (const candidate of [resolve(path), ...roots.directories.map((root) => join(root, path))]) {
    try {
      const stats = await stat(candidate);
      return { path: candidate, isDirectory: stats.isDirectory() };
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  }
  return undefined;
}

async function listProtos(directory: string, depth: number): Promise<string[]> {
  if (depth > LIMITS.maxDirectoryDepth) return [];
  const files: string[] = [];
  const entries = await readdir(directory, { withFileTypes: true });
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      for (const file of await listProtos(path, depth + 1)) files.push(file);
    } else if (entry.name.endsWith(".proto")) {
      files.push(path);
    }
  }
  return files;
}

/** True for errors that say that there is no such file. */
function isAbsence(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code;
  return code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR";
}
