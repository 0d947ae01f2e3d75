import type { FileNode, MessageNode } from "../syntax/ast.ts";
import { writeFile } from "../descriptor/file.ts";
import { type Diagnostic, Diagnostics } from "../lex/diagnostic.ts";
import { LinkContext } from "../link/context.ts";
import { compileFile } from "./phases.ts";
import { parseFile } from "../syntax/parse_file.ts";
import { nameFault } from "../import_roots.ts";
import { Source } from "../lex/source.ts";
import { SourceInfo } from "../syntax/source_info.ts";
import { type SymbolNode, SymbolTable } from "../link/symbols.ts";
import { DESCRIPTOR_PROTO, wellKnownText } from "../well_known/files.ts";

/** Bytes a `.proto` file may have; larger ones are refused unread. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Files a chain of imports may have: a imports b imports c, and so on. */
export const MAX_IMPORT_DEPTH = 256;

/** The text of a file. */
export type Content = string | Uint8Array;

/** What a compiler is made of. */
interface CompilerOptions {
  /** The text of an imported file, or the file parsed ahead; undefined when there is none. */
  readonly read: (name: string) => Content | ParsedFile | undefined;
  /** Keep locations and comments. */
  readonly sourceInfo?: boolean;
  /** Keep options that are for the source only. */
  readonly retainOptions?: boolean;
}

/** A parsed file that waits for its imports. */
export class ParsedFile {
  readonly file: FileNode;
  readonly info: SourceInfo | undefined;
  /** What the lexer and the parser complained about. */
  readonly diagnostics: readonly Diagnostic[];
  readonly hadErrors: boolean;

  constructor(name: string, content: Content, sourceInfo: boolean) {
    const diagnostics: Diagnostic[] = [];
    const isTooLarge = content.length > MAX_FILE_BYTES;
    const source = new Source(isTooLarge ? "" : content);
    this.info = sourceInfo ? new SourceInfo() : undefined;
    const result = parseFile(name, source, this.info, (offset, message, isWarning) => {
      diagnostics.push(diagnosticAt(source, name, offset, message, isWarning));
    });
    if (isTooLarge) {
      const message = `File has ${content.length} bytes, more than the limit of ${MAX_FILE_BYTES}.`;
      diagnostics.push(diagnosticAt(undefined, name, -1, message, false));
    }
    this.file = result.file;
    this.diagnostics = diagnostics;
    this.hadErrors = result.hadErrors || isTooLarge;
  }

  /** Names of the files it imports. */
  get imports(): string[] {
    return [...this.file.imports, ...this.file.optionImports].map((node) => node.name);
  }
}

/** A file without errors. */
export class CompiledFile {
  readonly file: FileNode;
  /** The text came with the compiler, since nobody else had one. */
  readonly isWellKnown: boolean;
  readonly #info: SourceInfo | undefined;
  readonly #retainOptions: boolean;
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  constructor(
    file: FileNode,
    isWellKnown: boolean,
    info: SourceInfo | undefined,
    retainOptions: boolean,
  ) {
    this.file = file;
    this.isWellKnown = isWellKnown;
    this.#info = info;
    this.#retainOptions = retainOptions;
  }

  /** Its name as imports spell it. */
  get name(): string {
    return this.file.name;
  }

  /** The serialized `google.protobuf.FileDescriptorProto`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes ??= writeFile(this.file, {
      info: this.#info,
      retainOptions: this.#retainOptions,
    });
  }
}

/**
 * The phases from text to descriptor, for any number of files that import each other:
 *
 * 1. `source`, `lexer`, `parser`: text to nodes, each file alone;
 * 2. imports: every imported file goes through all phases first;
 * 3. `link/declare`, `symbols`: names into one table for all files;
 * 4. `link/link`: names to what they mean;
 * 5. `option`, `text_format`: options to values, features resolved;
 * 6. `validate`: the rules of the language, and of its editions;
 * 7. `descriptor`: nodes to bytes, when asked for.
 *
 * Each phase runs only for files that had no error in an earlier one, as in protoc.
 */
export class Compiler {
  /** What the phases complained about in this run. */
  diagnostics: Diagnostics = new Diagnostics();

  readonly #options: CompilerOptions;
  readonly #table = new SymbolTable();
  readonly #compiled: Map<string, CompiledFile> = new Map();
  #fresh: CompiledFile[] = [];
  /** Files being compiled, each imported by the one before. */
  readonly #pending: FileNode[] = [];
  /** Files that had errors in this run. */
  readonly #failed: Set<string> = new Set();
  readonly #requested: Set<string> = new Set();

  constructor(options: CompilerOptions) {
    this.#options = options;
  }

  /** The file of this name, if it was compiled. */
  get(name: string): CompiledFile | undefined {
    return this.#compiled.get(name);
  }

  /** All compiled files, imports before what imports them. */
  get files(): Iterable<CompiledFile> {
    return this.#compiled.values();
  }

  /** The files compiled since the last call, imports before what imports them. */
  takeNew(): CompiledFile[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  /**
   * Tells which files are wanted for themselves, before the first of them is compiled: only these are
   * checked for unused imports.
   */
  request(names: readonly string[]): void {
    for (const name of names) this.#requested.add(name);
  }

  /**
   * Forgets complaints, and which files failed: their text, or that of their imports, may be another
   * the next time.
   */
  endRun(): void {
    this.#requested.clear();
    this.#failed.clear();
    this.diagnostics = new Diagnostics();
  }

  /**
   * True when a compiled file was made from this text; if not, complains. A built-in file that others
   * import stays what it is, whatever text comes under its name later.
   */
  isSame(compiled: CompiledFile, content: Content | ParsedFile): boolean {
    const { file, isWellKnown } = compiled;
    const source = content instanceof ParsedFile ? content.file.source : new Source(content);
    if (isWellKnown || file.source.text === source.text) return true;
    const message =
      "A file with this name is already loaded, with other text. Use another name or a new loader.";
    this.#reportFile(file.name, message);
    return false;
  }

  /** Parses a file ahead of {@linkcode compile}, so that what it imports can be fetched first. */
  parse(name: string, content: Content): ParsedFile {
    return new ParsedFile(name, content, this.#options.sourceInfo ?? false);
  }

  /**
   * Compiles a file and what it imports.
   *
   * @param content Its text, or the file parsed ahead; read like that of an import when not given.
   * @returns Undefined when it had errors, which are in {@linkcode diagnostics}.
   */
  compile(name: string, content?: Content | ParsedFile): CompiledFile | undefined {
    this.#requested.add(name);
    return this.#compile(name, content);
  }

  #compile(name: string, content?: Content | ParsedFile): CompiledFile | undefined {
    const existing = this.#compiled.get(name);
    if (existing) return existing;
    if (this.#failed.has(name)) return undefined;
    const cycleStart = this.#pending.findIndex((file) => file.name === name);
    if (cycleStart >= 0) {
      this.#reportCycle(cycleStart);
      return undefined;
    }
    const compiled = this.#compileNew(name, content);
    if (compiled) {
      this.#compiled.set(name, compiled);
      this.#fresh.push(compiled);
    } else {
      this.#failed.add(name);
    }
    return compiled;
  }

  #compileNew(name: string, content: Content | ParsedFile | undefined): CompiledFile | undefined {
    let isWellKnown = false;
    if (content === undefined) {
      const fault = nameFault(name);
      if (fault !== undefined) return this.#reportFile(name, fault);
      content = this.#options.read(name);
      isWellKnown = content === undefined;
      content ??= wellKnownText(name);
      if (content === undefined) return this.#reportFile(name, "File not found.");
    }
    if (this.#pending.length >= MAX_IMPORT_DEPTH) {
      return this.#reportFile(name, `Imports are nested deeper than ${MAX_IMPORT_DEPTH} files.`);
    }
    const parsed = content instanceof ParsedFile ? content : this.parse(name, content);
    for (const diagnostic of parsed.diagnostics) this.diagnostics.add(diagnostic);
    if (parsed.hadErrors) return undefined;
    const { file, info } = parsed;

    this.#pending.push(file);
    file.dependencies = file.imports.map((node) => this.#dependency(node.name));
    file.optionDependencies = file.optionImports.map((node) => this.#dependency(node.name));
    this.#pending.pop();

    const context = new LinkContext({
      file,
      table: this.#table,
      recordsPaths: info !== undefined,
      isDirectInput: this.#requested.has(name),
      report: (offset, message, isWarning) =>
        this.#report(file, file.name, offset, message, isWarning),
      builtinType,
    });
    this.#checkImports(context);
    // Protoc has nothing more to say about a file that imports itself.
    if (file.imports.some((node) => node.name === name)) return undefined;
    if (!compileFile(context)) return undefined;
    return new CompiledFile(file, isWellKnown, info, this.#options.retainOptions ?? false);
  }

  #dependency(name: string): FileNode | undefined {
    return this.#compile(name)?.file;
  }

  #checkImports(context: LinkContext): void {
    const { file } = context;
    const seen = new Set<string>();
    const check = (name: string): number => {
      const offset = file.importOffset(name);
      if (seen.has(name)) context.error(offset, `Import "${name}" was listed twice.`);
      seen.add(name);
      return offset;
    };
    file.imports.forEach(({ name }, index) => {
      const offset = check(name);
      if (!file.dependencies[index] && name !== file.name) {
        context.error(offset, `Import "${name}" was not found or had errors.`);
      }
    });
    // Whether these are there matters only when options are set: linking looks.
    for (const { name } of file.optionImports) check(name);
  }

  /** Reports an error about a file as a whole. */
  #reportFile(name: string, message: string): undefined {
    this.#report(undefined, name, -1, message, false);
    return undefined;
  }

  #reportCycle(from: number): void {
    const chain = this.#pending.slice(from).map((file) => file.name);
    const file = this.#pending[from]!;
    const name = file.name;
    this.#report(
      file,
      name,
      file.importOffset(chain[1] ?? name),
      `File recursively imports itself: ${[...chain, name].join(" -> ")}`,
      false,
    );
  }

  #report(
    file: FileNode | undefined,
    name: string,
    offset: number,
    message: string,
    isWarning: boolean,
  ): void {
    this.diagnostics.add(diagnosticAt(file?.source, name, offset, message, isWarning));
  }
}

function diagnosticAt(
  source: Source | undefined,
  file: string,
  offset: number,
  message: string,
  isWarning: boolean,
): Diagnostic {
  const severity = isWarning ? "warning" : "error";
  if (!source || offset < 0) return { file, line: 0, column: 0, message, severity };
  const { line, column } = source.position(offset);
  return { file, line: line + 1, column: column + 1, message, severity };
}

let builtin: SymbolNode | undefined;

/** Messages of the descriptor.proto that comes with the compiler: for files that import none. */
function builtinType(name: string): MessageNode {
  builtin ??= compileBuiltin();
  let node: SymbolNode | undefined = builtin;
  for (const part of name.split(".")) {
    node = node && "members" in node ? node.members.get(part) : undefined;
  }
  if (node?.kind !== "message") throw new Error(`Cannot find ${name} in ${DESCRIPTOR_PROTO}`);
  return node;
}

function compileBuiltin(): SymbolNode {
  const compiler = new Compiler({ read: () => undefined });
  const compiled = compiler.compile(DESCRIPTOR_PROTO);
  compiler.diagnostics.throwIfAny();
  let node = compiled!.file.scope!;
  while (node.parent) node = node.parent;
  return node;
}
