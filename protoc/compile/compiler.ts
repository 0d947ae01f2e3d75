import type { Diagnostics } from "../lex/diagnostic.ts";
import { SymbolTable } from "../link/symbols.ts";
import { type CompiledFile, type Content, ParsedFile } from "./file.ts";
import { builtinType, knownFields } from "./builtin.ts";
import { type CompilerState, type Read, type RequestedFile, Run } from "./run.ts";

/** How files are compiled. */
interface CompilerOptions {
  /** Keep locations and comments. */
  readonly sourceInfo?: boolean;
  /** Keep options that are for the source only. */
  readonly retainOptions?: boolean;
  /** Take `edition = "UNSTABLE"`. */
  readonly experimentalEditions?: boolean;
}

/** Result of a run. */
interface Outcome {
  /** The requested files without errors, in their order. */
  readonly files: readonly CompiledFile[];
  /** Complaints of all phases. */
  readonly diagnostics: Diagnostics;
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
  readonly #state: CompilerState;

  constructor(options: CompilerOptions = {}) {
    const { sourceInfo = false, retainOptions, experimentalEditions = false } = options;
    this.#state = {
      options: {
        sourceInfo,
        experimentalEditions,
        known: retainOptions ? knownFields() : undefined,
      },
      table: new SymbolTable(),
      compiled: new Map(),
      fresh: [],
      searched: [],
      builtinType,
    };
  }

  /** The file of this name, if it was compiled. */
  get(name: string): CompiledFile | undefined {
    return this.#state.compiled.get(name);
  }

  /**
   * The files compiled since the last call, imports before what imports them: also those of a run that
   * `read` broke off.
   */
  takeNew(): CompiledFile[] {
    return this.#state.fresh.splice(0);
  }

  /** Parses a file ahead of {@linkcode run}, so that what it imports can be fetched first. */
  parse(name: string, content: Content): ParsedFile {
    return ParsedFile.of(name, content, this.#state.options.sourceInfo ?? false);
  }

  /**
   * Compiles files and what they import; what `read` throws ends the run.
   *
   * @param searched Where `read` looks, for complaints about files that it does not find.
   */
  run(files: readonly RequestedFile[], read: Read, searched: readonly string[] = []): Outcome {
    this.#state.searched = searched;
    const run = new Run(this.#state, files, read);
    return { files: run.compile(), diagnostics: run.diagnostics };
  }
}
