import type { KnownFields } from "../descriptor/retained.ts";
import { closestName } from "../../http/message/options.ts";
import { nameFault } from "../import_names.ts";
import { type Diagnostic, Diagnostics } from "../lex/diagnostic.ts";
import { Source } from "../lex/source.ts";
import { LIMITS } from "../limits.ts";
import { LinkContext } from "../link/context.ts";
import type { SymbolTable } from "../link/symbols.ts";
import type { FileNode, MessageNode } from "../syntax/ast.ts";
import { wellKnownNames, wellKnownText } from "../well_known/files.ts";
import { Detail, type Importer } from "../lex/detail.ts";
import { CompiledFile, type Content, diagnosticAt, ParsedFile, tooManyFiles } from "./file.ts";
import { checkFile } from "./phases.ts";

/** How files are compiled. */
interface RunOptions {
  /** Keep locations and comments. */
  readonly sourceInfo?: boolean;
  /** Take `edition = "UNSTABLE"`. */
  readonly experimentalEditions?: boolean;
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
  /** Where files are looked for, in words. */
  searched: readonly string[];
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

/** A parsed file that waits for its imports. */
interface OpenFile extends Importer {
  readonly parsed: ParsedFile;
  readonly isWellKnown: boolean;
  readonly imports: readonly string[];
  /** The first of them that was not looked at. */
  next: number;
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
  /** Files whose imports are compiled, each imported by the one before. */
  readonly #pending: OpenFile[] = [];
  /** Where in {@linkcode #pending} a file stands. */
  readonly #depths: Map<string, number> = new Map();
  readonly #failed: Set<string> = new Set();
  /** Files begun so far. */
  #count = 0;

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
    if (content instanceof ParsedFile && content.bytes !== undefined) {
      if (isWellKnown || sameBytes(content.bytes, compiled.bytes)) return true;
    } else {
      const source = content instanceof ParsedFile ? content.file.source : new Source(content);
      if (isWellKnown || file.source.text === source.text) return true;
    }
    const message =
      "A file with this name is already loaded, with other text. Use another name or a new loader.";
    this.#reportFile(file.name, message);
    return false;
  }

  /** Compiles a file and what it leads to. Chains of imports may be longer than the call stack. */
  #compile(name: string, content?: Content | ParsedFile): CompiledFile | undefined {
    this.#open(name, content);
    while (this.#pending.length > 0) {
      const open = this.#pending[this.#pending.length - 1]!;
      const imported = open.imports[open.next++];
      if (imported !== undefined) this.#open(imported, undefined);
      else this.#close(open);
    }
    return this.#state.compiled.get(name);
  }

  /** Begins a file, unless it is known what becomes of it. */
  #open(name: string, content: Content | ParsedFile | undefined): void {
    if (this.#state.compiled.has(name) || this.#failed.has(name)) return;
    const cycleStart = this.#depths.get(name);
    if (cycleStart !== undefined) return this.#reportCycle(cycleStart);
    const open = this.#parse(name, content);
    if (!open) {
      this.#failed.add(name);
      return;
    }
    const { maxImportDepth, maxFiles } = LIMITS;
    if (this.#pending.length >= maxImportDepth) {
      const fault = `Imports are nested deeper than ${maxImportDepth} files.`;
      return this.#giveUp(diagnosticAt(undefined, name, -1, fault, false));
    }
    if (++this.#count > maxFiles) return this.#giveUp(tooManyFiles(name));
    this.#depths.set(name, this.#pending.length);
    this.#pending.push(open);
  }

  /** Ends a file whose imports are done. */
  #close(open: OpenFile): void {
    this.#pending.pop();
    const { name } = open.parsed.file;
    this.#depths.delete(name);
    const compiled = this.#check(open);
    if (compiled) {
      this.#state.compiled.set(name, compiled);
      this.#state.fresh.push(compiled);
    } else {
      this.#failed.add(name);
    }
  }

  /** Fails all files that wait for this one, by one complaint. */
  #giveUp(complaint: Diagnostic): void {
    this.diagnostics.add(complaint);
    this.#failed.add(complaint.file);
    for (const { parsed } of this.#pending.splice(0)) this.#failed.add(parsed.file.name);
    this.#depths.clear();
  }

  #parse(name: string, content: Content | ParsedFile | undefined): OpenFile | undefined {
    let isWellKnown = false;
    if (content === undefined) {
      const fault = nameFault(name);
      if (fault !== undefined) return this.#reportFile(name, fault);
      content = this.#read(name);
      isWellKnown = content === undefined;
      content ??= wellKnownText(name);
      if (content === undefined) return this.#reportMissing(name);
    }
    const parsed = content instanceof ParsedFile
      ? content
      : ParsedFile.of(name, content, this.#state.options.sourceInfo ?? false);
    const importer = this.#pending[this.#pending.length - 1];
    for (const diagnostic of parsed.diagnostics) {
      (diagnostic.detail as Detail).importer = importer;
      this.diagnostics.add(diagnostic);
    }
    if (parsed.hadErrors) return undefined;
    return { name, importer, parsed, isWellKnown, imports: parsed.imports, next: 0 };
  }

  /** Takes a file through all phases behind the parser. */
  #check(open: OpenFile): CompiledFile | undefined {
    const { parsed, isWellKnown } = open;
    const { options, table, builtinType } = this.#state;
    const { file, info } = parsed;
    file.dependencies = file.imports.map(({ name }) => this.#dependency(name));
    file.optionDependencies = file.optionImports.map(({ name }) => this.#dependency(name));
    const isDirectInput = this.#requested.has(file.name) && parsed.bytes === undefined;
    const context = new LinkContext({
      file,
      table,
      recordsPaths: info !== undefined,
      keepsStatements: options.known !== undefined,
      isDirectInput,
      isTrusted: isWellKnown,
      allowsUnstable: options.experimentalEditions ?? false,
      report: (offset, message, isWarning, hint) =>
        this.#report(file, file.name, offset, message, isWarning, open, { hint }),
      builtinType,
    });
    this.#checkImports(context);
    // Protoc has nothing more to say about a file that imports itself.
    if (file.imports.some((node) => node.name === file.name)) return undefined;
    if (!checkFile(context)) return undefined;
    return new CompiledFile(
      file,
      isWellKnown,
      isDirectInput,
      info,
      options.known,
      parsed.bytes,
    );
  }

  #dependency(name: string): FileNode | undefined {
    return this.#state.compiled.get(name)?.file;
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

  #reportMissing(name: string): undefined {
    const hint = () => {
      const near = closestName(name, [...this.#state.compiled.keys(), ...wellKnownNames()]);
      return near === null ? undefined : `did you mean "${near}"?`;
    };
    const { searched } = this.#state;
    this.#report(undefined, name, -1, "File not found.", false, undefined, { hint, searched });
    return undefined;
  }

  /** Reports an error about a file as a whole. */
  #reportFile(name: string, message: string): undefined {
    this.#report(undefined, name, -1, message, false);
    return undefined;
  }

  #reportCycle(from: number): void {
    const files = this.#pending.slice(from).map(({ parsed }) => parsed.file);
    const chain = files.map((file) => file.name);
    const { name } = files[0]!;
    this.#report(
      files[0],
      name,
      files[0]!.importOffset(chain[1] ?? name),
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
    open: OpenFile | undefined = this.#pending[this.#pending.length - 1],
    more: { hint?: (() => string | undefined) | undefined; searched?: readonly string[] } = {},
  ): void {
    const detail = new Detail({ source: file?.source, offset, ...more });
    detail.importer = open?.name === name ? open.importer : open;
    this.diagnostics.add(
      diagnosticAt(file?.source, name, offset, message, isWarning, detail),
    );
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a === b || a.length === b.length && a.every((byte, i) => byte === b[i]);
}
