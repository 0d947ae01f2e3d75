import { Compiler } from "../compile/compiler.ts";
import { fetchFiles } from "../compile/fetch.ts";
import { isDirectory, readBytes } from "../disk.ts";
import { findFiles, ImportRoots } from "../import_roots.ts";
import type { Diagnostic } from "../lex/diagnostic.ts";
import type { FileNode } from "../syntax/ast.ts";
import { type Arguments, UsageError } from "./arguments.ts";
import { joined, readFields } from "./wire.ts";

/** A file of the run: compiled from text, or taken from a descriptor set. */
export interface SourceFile {
  readonly name: string;
  /** Names of the files it imports. */
  readonly imports: readonly string[];
  /** The serialized descriptor, with positions and comments where these are kept. */
  readonly bytes: Uint8Array;
  /** Its tree; one from a descriptor set has none. */
  readonly node: FileNode | undefined;
}

/** Files that were asked for, and all they import. */
export interface Sources {
  /** Files that were asked for, in their order. */
  readonly requested: readonly SourceFile[];
  readonly warnings: readonly Diagnostic[];
  /** The files and all they import, each after what it imports. */
  closure(of: readonly SourceFile[]): SourceFile[];
}

/** How files are compiled. */
interface SourceOptions {
  readonly sourceInfo: boolean;
  readonly retainOptions: boolean;
  /** Called now and then with how many files were read. */
  readonly onRead?: ((count: number) => void) | undefined;
}

/**
 * Compiles the files that the command line names.
 *
 * @throws {ProtoError} If a file has errors.
 * @throws {UsageError} If a path leads nowhere.
 */
export async function readSources(args: Arguments, options: SourceOptions): Promise<Sources> {
  const sets = await readSets(args.descriptorSetIn);
  const roots = new ImportRoots(args.roots);
  const names = new Set<string>();
  const wanted: { name: string; text: undefined }[] = [];
  for (const input of args.inputs) {
    if (sets.has(input) && await roots.read(input) === undefined) {
      names.add(input);
      continue;
    }
    for (const name of await namesOf(input, args, roots)) {
      if (!names.has(name)) wanted.push({ name, text: undefined });
      names.add(name);
    }
  }
  const compiler = new Compiler(options);
  const fetched = await fetchFiles(
    compiler,
    wanted,
    (name) => roots.read(name),
    options.onRead,
  );
  const { diagnostics } = compiler.run(wanted, (name) => fetched.get(name));
  diagnostics.throwIfAny();
  const get = (name: string): SourceFile => {
    const compiled = compiler.get(name);
    if (!compiled) {
      const file = sets.get(name);
      if (file) return file;
      throw new UsageError(`Could not find file in descriptor database: ${name}`);
    }
    const { imports, optionImports } = compiled.file;
    return {
      name,
      imports: [...imports, ...optionImports].map((node) => node.name),
      bytes: compiled.bytes,
      node: compiled.file,
    };
  };
  return {
    requested: [...names].map(get),
    warnings: diagnostics.warnings,
    closure: (of) => importsFirst(of, get),
  };
}

/** Each file after those it imports. */
function importsFirst(
  files: readonly SourceFile[],
  get: (name: string) => SourceFile,
): SourceFile[] {
  const ordered: SourceFile[] = [];
  const visited = new Set<string>();
  const visit = (file: SourceFile): void => {
    if (visited.has(file.name)) return;
    visited.add(file.name);
    for (const name of file.imports) visit(get(name));
    ordered.push(file);
  };
  for (const file of files) visit(file);
  return ordered;
}

/** Import names of the files that a path of the command line stands for. */
async function namesOf(
  input: string,
  { roots: shownRoots }: Arguments,
  roots: ImportRoots,
): Promise<readonly string[]> {
  if (shownRoots.length === 0) {
    throw new UsageError(
      `Could not find file in descriptor database: ${input}: No such file or directory`,
    );
  }
  const { names, missing } = await findFiles([input], roots);
  const [fault] = missing;
  if (fault?.message === "File not found.") {
    throw new UsageError(`Could not make proto path relative: ${input}: No such file or directory`);
  }
  if (fault?.message.startsWith("File does not reside")) {
    throw new UsageError(`${input}: ${OUTSIDE}`);
  }
  if (fault) throw new UsageError(`${fault.file}: ${fault.message}`);
  const [name] = names;
  if (names.length === 1 && await isDirectory(input) === false) {
    const [first] = await pathsOf(name!, shownRoots);
    if (first !== undefined && !await isSameFile(first, input)) {
      throw new UsageError(
        `${input}: Input is shadowed in the --proto_path by "${first}".  Either use the latter ` +
          "file as your input or reorder the --proto_path so that the former file's location " +
          "comes first.",
      );
    }
  }
  return names;
}

/** protoc's words, which scripts may look for. */
const OUTSIDE = "File does not reside within any path specified using --proto_path (or -I).  You " +
  "must specify a --proto_path which encompasses this file.  Note that the proto_path must be an " +
  "exact prefix of the .proto file names -- protoc is too dumb to figure out when two paths (e.g. " +
  "absolute and relative) are equivalent (it's harder than you think).";

/** Where a file lies on disk, written as protoc does: the root as given, then the name. */
export async function pathsOf(name: string, roots: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const root of roots) {
    const path = root === "" || root === "." ? name : `${root.replace(/\/$/, "")}/${name}`;
    if (await isDirectory(path) === false) paths.push(path);
  }
  return paths;
}

async function isSameFile(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([Deno.realPath(a), Deno.realPath(b)]);
  return first === second;
}

/** Fields of `google.protobuf.FileDescriptorProto` that are looked at. */
const NAME = 1;
const DEPENDENCY = 3;
const SOURCE_CODE_INFO = 9;
const OPTION_DEPENDENCY = 15;

/** Files of descriptor sets by name; the first of a name counts. */
async function readSets(paths: readonly string[]): Promise<Map<string, SourceFile>> {
  const files = new Map<string, SourceFile>();
  for (const path of paths) {
    const set = await readBytes(path);
    if (!set) throw new UsageError(`${path}: No such file or directory`);
    const fields = readFields(set);
    if (!fields) throw new UsageError(`${path}: Unable to parse.`);
    for (const field of fields) {
      if (field.number !== 1 || field.kind !== "bytes") continue;
      const file = fileOf(field.value);
      if (!file) throw new UsageError(`${path}: Unable to parse.`);
      if (!files.has(file.name)) files.set(file.name, file);
    }
  }
  return files;
}

function fileOf(bytes: Uint8Array): SourceFile | undefined {
  const fields = readFields(bytes);
  if (!fields) return undefined;
  const decoder = new TextDecoder();
  const texts = (number: number): string[] =>
    fields.flatMap((field) =>
      field.number === number && field.kind === "bytes" ? [decoder.decode(field.value)] : []
    );
  return {
    name: texts(NAME).at(-1) ?? "",
    imports: [...texts(DEPENDENCY), ...texts(OPTION_DEPENDENCY)],
    bytes,
    node: undefined,
  };
}

/** The descriptor of a file without positions and comments. */
export function withoutSourceInfo(bytes: Uint8Array): Uint8Array {
  const kept = readFields(bytes)!.filter(({ number }) => number !== SOURCE_CODE_INFO);
  return joined(kept.map(({ start, end }) => bytes.subarray(start, end)));
}
