import type {
  FieldNode,
  FileNode,
  MessageNode,
  PackageNode,
  Scope,
  SymbolNode,
} from "../syntax/ast.ts";
import { NodeKind } from "../syntax/kinds.ts";
import { joinName, parentScope } from "../syntax/names.ts";

/** Why a name was not found. */
export interface LookupFailure {
  readonly kind: "failure";
  /** A symbol that has the name, in a file that is not imported. */
  readonly hidden: SymbolNode | undefined;
  /** The name the first component led to, which does not exist; or "". */
  readonly resolvedName: string;
}

/** Kinds of symbol {@linkcode SymbolTable.lookup} stops at. */
type LookupMode = "all" | "types";

function isType(symbol: SymbolNode): boolean {
  return symbol.kind === NodeKind.message || symbol.kind === NodeKind.enum;
}

/** Whether a symbol can be followed by a dot and another name. */
function isAggregate(symbol: SymbolNode): boolean {
  return isType(symbol) || symbol.kind === NodeKind.package || symbol.kind === NodeKind.service;
}

function memberOf(symbol: SymbolNode, name: string): SymbolNode | undefined {
  switch (symbol.kind) {
    case NodeKind.package:
    case NodeKind.message:
    case NodeKind.service:
      return symbol.members.get(name);
    default:
      return undefined;
  }
}

/**
 * All symbols of the files of one loader, as a tree: packages hold what files declare in them, and
 * messages and services hold their own members. A name is found by walking the tree, so full
 * names are built for messages and enums only.
 */
export class SymbolTable {
  /** The package without a name. */
  readonly root: PackageNode = {
    kind: NodeKind.package,
    name: "",
    fullName: "",
    parent: undefined,
    members: new Map(),
    file: undefined,
  };
  /** Extensions by the message they extend and their number, across files. */
  readonly extensions: Map<MessageNode, Map<number, FieldNode>> = new Map();

  /** Symbols the file being declared has put into packages, to take back if it fails. */
  #journal: { scope: Scope; name: string }[] = [];
  #file: FileNode | undefined;
  #extensionJournal: FieldNode[] = [];

  /** Starts the record of what `file` adds. */
  begin(file: FileNode | undefined): void {
    this.#file = file;
    this.#journal = [];
    this.#extensionJournal = [];
  }

  /** Takes back what was added since {@linkcode begin}. */
  rollback(): void {
    for (const { scope, name } of this.#journal) scope.members.delete(name);
    for (const field of this.#extensionJournal) {
      this.extensions.get(field.extendeeNode!)?.delete(field.number);
    }
    this.begin(undefined);
  }

  /**
   * The package `name` as `file` declares it. When a part of the name is taken by something else,
   * `conflict` is told, and the package returned stands apart from the tree.
   */
  declarePackage(
    name: string,
    file: FileNode,
    conflict: (name: string, other: FileNode | undefined) => void,
  ): PackageNode {
    let scope = this.root;
    if (name === "") return scope;
    let end = 0;
    while (end < name.length) {
      const start = end === 0 ? 0 : end + 1;
      end = name.indexOf(".", start);
      if (end < 0) end = name.length;
      const part = name.slice(start, end);
      const existing = scope.members.get(part);
      if (existing?.kind === NodeKind.package) {
        scope = existing;
        continue;
      }
      const next: PackageNode = {
        kind: NodeKind.package,
        name: part,
        fullName: name.slice(0, end),
        parent: scope,
        members: new Map(),
        file,
      };
      if (existing) {
        conflict(next.fullName, existing.file);
      } else {
        scope.members.set(part, next);
        this.#journal.push({ scope, name: part });
      }
      scope = next;
    }
    return scope;
  }

  /** Adds a symbol to a scope; the one that was there before, if any, stays and is returned. */
  add(scope: Scope, symbol: SymbolNode): SymbolNode | undefined {
    const { members } = scope;
    const existing = members.get(symbol.name);
    if (existing) return existing;
    members.set(symbol.name, symbol);
    // The file's own scopes go with it.
    if (scope.kind === NodeKind.package || scope.file !== this.#file) {
      this.#journal.push({ scope, name: symbol.name });
    }
    return undefined;
  }

  /** Registers an extension; the one already there under the same number is returned. */
  addExtension(extendee: MessageNode, field: FieldNode): FieldNode | undefined {
    let byNumber = this.extensions.get(extendee);
    if (!byNumber) this.extensions.set(extendee, byNumber = new Map());
    const existing = byNumber.get(field.number);
    if (existing) return existing;
    byNumber.set(field.number, field);
    this.#extensionJournal.push(field);
    return undefined;
  }

  /** The symbol with this full name, in whatever file. */
  find(fullName: string): SymbolNode | undefined {
    return descend(this.root, fullName, 0);
  }
}

function descend(from: SymbolNode, path: string, start: number): SymbolNode | undefined {
  let symbol: SymbolNode | undefined = from;
  while (symbol) {
    const dot = path.indexOf(".", start);
    if (dot < 0) return memberOf(symbol, path.slice(start));
    symbol = memberOf(symbol, path.slice(start, dot));
    start = dot + 1;
  }
  return undefined;
}

/**
 * Name resolution as one file sees it: its own symbols and those of its imports, with the public
 * imports of these.
 */
export class Resolver {
  /** Imports not used so far; what remains is warned about. */
  readonly unused: Set<FileNode> = new Set();

  readonly #table: SymbolTable;
  readonly #file: FileNode;
  /** Files whose symbols may be used. */
  readonly #visible: Set<FileNode>;
  /** Files of which only option extensions may be used (`import option`). */
  readonly #optionVisible: Set<FileNode>;
  /** Whether these two hold what imports import publicly: many files never need that. */
  #isWhole = false;
  #packages: Set<string> | undefined;
  /** The symbol that the lookup under way had to leave out last. */
  #hidden: SymbolNode | undefined;

  /** `tracksUse` fills {@linkcode unused}; the imports of `file` must be linked already. */
  constructor(table: SymbolTable, file: FileNode, tracksUse: boolean) {
    this.#table = table;
    this.#file = file;
    this.#visible = new Set([file, ...present(file.dependencies)]);
    this.#optionVisible = new Set(present(file.optionDependencies));
    if (!tracksUse) return;
    for (const dependency of [...file.dependencies, ...file.optionDependencies]) {
      // A file with public imports may be there for these alone.
      if (dependency?.publicDependency.length === 0) this.unused.add(dependency);
    }
    for (const index of file.publicDependency) this.unused.delete(file.dependencies[index]!);
  }

  /** The symbol `name` means at `scope`, or why there is none. */
  lookup(name: string, scope: Scope, mode: LookupMode): SymbolNode | LookupFailure {
    this.#hidden = undefined;
    if (name.charCodeAt(0) === 0x2e) return this.#findFull(name, 1) ?? this.#failure();

    const dot = name.indexOf(".");
    const first = dot < 0 ? name : name.slice(0, dot);
    for (let at: Scope | undefined = scope; at; at = parentScope(at)) {
      const isRoot = at === this.#table.root;
      const found = at.members.get(first);
      if (!found) continue;
      // At the root protoc looks the whole name up at once: no binding by the first part.
      if (isRoot) return this.#findFull(name, 0) ?? this.#failure();
      if (!this.#isVisible(found)) continue;
      if (dot < 0) {
        if (mode === "types" && !isType(found)) continue;
        return found;
      }
      if (!isAggregate(found)) continue;
      const symbol = descend(found, name, dot + 1);
      if (symbol && this.#isVisible(symbol)) return symbol;
      return this.#failure(joinName(at.fullName, name));
    }
    return this.#failure();
  }

  #failure(resolvedName = ""): LookupFailure {
    return { kind: "failure", hidden: this.#hidden, resolvedName };
  }

  /** The symbol with this full name, if this file may use it. */
  find(fullName: string): SymbolNode | undefined {
    return this.#findFull(fullName, 0);
  }

  #findFull(name: string, start: number): SymbolNode | undefined {
    const symbol = descend(this.#table.root, name, start);
    return symbol && this.#isVisible(symbol) ? symbol : undefined;
  }

  /** Counts an import as used without asking whether its symbols may be named here. */
  markUsed(file: FileNode): void {
    if (this.unused.size > 0) this.unused.delete(file);
  }

  #isVisible(symbol: SymbolNode): boolean {
    if (this.#isSeen(symbol)) return true;
    if (!this.#isWhole) {
      this.#isWhole = true;
      this.#packages = undefined;
      for (const files of [this.#visible, this.#optionVisible]) addPublic(files);
      if (this.#isSeen(symbol)) return true;
    }
    this.#hidden = symbol;
    return false;
  }

  #isSeen(symbol: SymbolNode): boolean {
    const file = symbol.file;
    if (symbol.kind === NodeKind.package) {
      this.#packages ??= this.#visiblePackages();
      return this.#packages.has(symbol.fullName);
    }
    if (file === this.#file) return true;
    if (this.#visible.has(file!)) {
      if (this.unused.size > 0) this.unused.delete(file!);
      return true;
    }
    if (!this.#optionVisible.has(file!)) return false;
    if (this.unused.size > 0) this.unused.delete(file!);
    return symbol.kind === NodeKind.field;
  }

  #visiblePackages(): Set<string> {
    const names = new Set<string>();
    for (const files of [this.#visible, this.#optionVisible]) {
      for (const { package: name } of files) {
        for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
          const part = name.slice(0, end);
          if (names.has(part)) break;
          names.add(part);
        }
      }
    }
    return names;
  }
}

function present(files: readonly (FileNode | undefined)[]): FileNode[] {
  return files.filter((file) => file !== undefined);
}

/** Adds what the files import publicly. A chain of these may be longer than the call stack. */
function addPublic(files: Set<FileNode>): void {
  // A set goes on to what is added while it is walked.
  for (const { publicDependency, dependencies } of files) {
    for (const index of publicDependency) {
      const file = dependencies[index];
      if (file) files.add(file);
    }
  }
}
