import type { KnownFields } from "../descriptor/retained.ts";
import { nameFault } from "../import_names.ts";
import { Diagnostics } from "../lex/diagnostic.ts";
import { Source } from "../lex/source.ts";
import { LIMITS } from "../limits.ts";
import { LinkContext } from "../link/context.ts";
import type { SymbolTable } from "../link/symbols.ts";
import type { FileNode, MessageNode } from "../syntax/ast.ts";
import { wellKnownText } from "../well_known/files.ts";
import { CompiledFile, type Content, diagnosticAt, ParsedFile } from "./file.ts";
import { checkFile } from "./phases.ts";

/** How files are compiled. */
interface RunOptions {
  /** Keep locations and comments. */
  readonly sourceInfo?: boolean;
  /** Keep options that are for the source only, and all as they were stated. */
  readonly known?: KnownFields | undefined;
}

/** State that the runs of a compiler share. */
export interface CompilerState {
  readonly options: RunOptions;
  readonly table: SymbolTable;
  /** All files without errors, imports before what imports them. */
  readonly compiled: Map<string, CompiledFile>;
  /** Those of them that nobody has taken yet. */
  readonly fresh: CompiledFile[];
  /** A message of the built-in descriptor.proto by full name. */
  readonly builtinType: (name: string) => MessageNode;
}

/** Gives the text of a file, or the file parsed ahead; undefined when there is none. */
export type Read = (name: string) => Content | ParsedFile | undefined;

/** A file to compile. Without text it is read like an import. */
export interface RequestedFile {
  readonly name: string;
  readonly text: Content | ParsedFile | undefined;
}

/**
 * One pass over requested files and what they import: which failed and what was complained about. The
 * next run knows nothing of it, for texts may be others by then.
 */
export class Run {
  /** Complaints of all phases. */
  readonly diagnostics: Diagnostics = new Diagnostics();

  readonly #state: CompilerState;
  readonly #read: Read;
  readonly #files: readonly RequestedFile[];
  /** Files wanted for themselves: only these are checked for unused imports. */
  readonly #requested: ReadonlySet<string>;
  /** Files being compiled, each imported by the one before. */
  readonly #pending: FileNode[] = [];
  readonly #failed: Set<string> = new Set();

  constructor(state: CompilerState, files: readonly RequestedFile[], read: Read) {
    this.#state = state;
    this.#files = files;
    this.#read = read;
    this.#requested = new Set(files.map(({ name }) => name));
  }

  /** Compiles the files; gives those without errors, in their order. */
  compile(): CompiledFile[] {
    const compiled: CompiledFile[] = [];
    for (const { name, text } of this.#files) {
      const file = this.#compile(name, text);
      if (file && (text === undefined || this.#isSame(file, text))) compiled.push(file);
    }
    return compiled;
  }

  /**
   * True when a compiled file was made from this text; if not, complains. A built-in file that others
   * import stays what it is, whatever text comes under its name later.
   */
  #isSame(compiled: CompiledFile, content: Content | ParsedFile): boolean {
    const { file, isWellKnown } = compiled;
    const source = content instanceof ParsedFile ? content.file.source : new Source(content);
    if (isWellKnown || file.source.text === source.text) return true;
    const message =
      "A file with this name is already loaded, with other text. Use another name or a new loader.";
    this.#reportFile(file.name, message);
    return false;
  }

  #compile(name: string, content?: Content | ParsedFile): CompiledFile | undefined {
    const existing = this.#state.compiled.get(name);
    if (existing) return existing;
    if (this.#failed.has(name)) return undefined;
    const cycleStart = this.#pending.findIndex((file) => file.name === name);
    if (cycleStart >= 0) {
      this.#reportCycle(cycleStart);
      return undefined;
    }
    const compiled = this.#compileNew(name, content);
    if (compiled) {
      this.#state.compiled.set(name, compiled);
      this.#state.fresh.push(compiled);
    } else {
      this.#failed.add(name);
    }
    return compiled;
  }

  #compileNew(name: string, content: Content | ParsedFile | undefined): CompiledFile | undefined {
    const { options, table } = this.#state;
    let isWellKnown = false;
    if (content === undefined) {
      const fault = nameFault(name);
      if (fault !== undefined) return this.#reportFile(name, fault);
      content = this.#read(name);
      isWellKnown = content === undefined;
      content ??= wellKnownText(name);
      if (content === undefined) return this.#reportFile(name, "File not found.");
    }
    if (this.#pending.length >= LIMITS.maxImportDepth) {
      return this.#reportFile(
        name,
        `Imports are nested deeper than ${LIMITS.maxImportDepth} files.`,
      );
    }
    const parsed = content instanceof ParsedFile
      ? content
      : new ParsedFile(name, content, options.sourceInfo ?? false);
    for (const diagnostic of parsed.diagnostics) this.diagnostics.add(diagnostic);
    if (parsed.hadErrors) return undefined;
    const { file, info } = parsed;

    this.#pending.push(file);
    file.dependencies = file.imports.map((node) => this.#dependency(node.name));
    file.optionDependencies = file.optionImports.map((node) => this.#dependency(node.name));
    this.#pending.pop();

    const context = new LinkContext({
      file,
      table,
      recordsPaths: info !== undefined,
      keepsStatements: options.known !== undefined,
      isDirectInput: this.#requested.has(name),
      report: (offset, message, isWarning) =>
        this.#report(file, file.name, offset, message, isWarning),
      builtinType: this.#state.builtinType,
    });
    this.#checkImports(context);
    // Protoc has nothing more to say about a file that imports itself.
    if (file.imports.some((node) => node.name === name)) return undefined;
    if (!checkFile(context)) return undefined;
    return new CompiledFile(file, isWellKnown, info, options.known);
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
