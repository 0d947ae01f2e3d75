import type { FileNode, MessageNode, OptionsNode, Scope } from "../syntax/ast.ts";
import { Resolver, type SymbolTable } from "./symbols.ts";

/** Options statements that wait for the names they use to be linked. */
export interface PendingOptions {
  readonly options: OptionsNode;
  /** Full name of the options message, `google.protobuf.FieldOptions` for a field. */
  readonly typeName: string;
  /** Where the names of extensions are looked up first. */
  readonly scope: Scope;
}

/** Works out what may have been meant, if anything. */
type Hint = () => string | undefined;

type Report = (offset: number, message: string, isWarning: boolean, hint?: Hint) => void;

/** A position for the suggestion of free field numbers, and how many to suggest. */
interface NumberHint {
  offset: number;
  count: number;
}

/** State that the phases from symbols to validation share while one file passes through them. */
export class LinkContext {
  readonly file: FileNode;
  readonly table: SymbolTable;
  readonly resolver: Resolver;
  /** True once an error was reported for this file: later phases then stay away. */
  hadErrors = false;
  /** Fill `interpretedPath` of option statements, which source info needs. */
  readonly recordsPaths: boolean;
  /** Fill `statements` of options, which descriptors that keep all options need. */
  readonly keepsStatements: boolean;
  /** The file was asked for by name, not only imported: unused imports are warned about. */
  readonly isDirectInput: boolean;
  /** The text came with the compiler: it is known to keep the rules. */
  readonly isTrusted: boolean;
  /** Whether `edition = "UNSTABLE"` may be asked for. */
  readonly allowsUnstable: boolean;
  /** Options to interpret, in protoc's order. */
  readonly pending: PendingOptions[] = [];
  /** Messages with a field that was given a JSON name. */
  readonly messagesWithJsonNames: Set<MessageNode> = new Set();
  /** Messages whose field numbers clash with something. */
  readonly hints: Map<MessageNode, NumberHint> = new Map();

  readonly #report: Report;
  readonly #builtinType: (name: string) => MessageNode;

  constructor(init: LinkContextInit) {
    this.file = init.file;
    this.table = init.table;
    this.resolver = new Resolver(init.table, init.file, init.isDirectInput);
    this.recordsPaths = init.recordsPaths;
    this.keepsStatements = init.keepsStatements;
    this.isDirectInput = init.isDirectInput;
    this.isTrusted = init.isTrusted ?? false;
    this.allowsUnstable = init.allowsUnstable;
    this.#report = init.report;
    this.#builtinType = init.builtinType;
  }

  /** Reports an error at a source offset, or for the file as a whole when it is negative. */
  error(offset: number, message: string, hint?: Hint): void {
    this.hadErrors = true;
    this.#report(offset, message, false, hint);
  }

  /** Reports what does not stop the file from being used. */
  warning(offset: number, message: string): void {
    this.#report(offset, message, true);
  }

  /**
   * The message type of options: from the loaded descriptor.proto, which knows extensions, or else
   * the built-in one.
   */
  optionType(name: string): MessageNode {
    const symbol = this.table.find(name);
    if (symbol?.kind !== "message") return this.#builtinType(name);
    // Interpreting an option uses descriptor.proto: no warning about its import.
    this.resolver.markUsed(symbol.file);
    return symbol;
  }

  /** Asks for a suggestion of free numbers in `message` at the first place that clashed. */
  suggestNumbers(message: MessageNode | undefined, offset: number, count = 1): void {
    if (!message) return;
    const hint = this.hints.get(message);
    if (hint) hint.count += count;
    else this.hints.set(message, { offset, count });
  }
}

/** Parts of a {@linkcode LinkContext}. */
interface LinkContextInit {
  /** Its `dependencies` are filled, with files that are linked. */
  readonly file: FileNode;
  readonly table: SymbolTable;
  readonly recordsPaths: boolean;
  readonly keepsStatements: boolean;
  readonly isDirectInput: boolean;
  readonly isTrusted?: boolean;
  readonly allowsUnstable: boolean;
  /** Takes errors and warnings; a negative offset means the file as a whole. */
  readonly report: Report;
  /** A message of the built-in descriptor.proto by full name. */
  readonly builtinType: (name: string) => MessageNode;
}
