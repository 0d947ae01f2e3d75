import type { FeatureSet } from "./feature_set.ts";
import type { Source } from "../lex/source.ts";
import { FieldType, Label, NodeKind, Visibility } from "./kinds.ts";

/*
 * The nodes of one `.proto` file. The parser fills in what the text says; linking then completes
 * the same objects in place (full names, resolved types, features, option values), and the
 * descriptor writer reads them. They mirror google/protobuf/descriptor.proto, so that every rule
 * reads like its counterpart there.
 *
 * Offsets are positions in `FileNode.source.text`; -1 means that protoc, too, knows no position for
 * this part, and prints its errors with the file name alone.
 */

/** Offset of parts that have no position of their own. */
export const NO_OFFSET = -1;

/** How an import was written. */
export type ImportModifier = "none" | "public" | "weak" | "option";

/** One `import` statement. */
interface ImportNode {
  readonly name: string;
  readonly modifier: ImportModifier;
  /** Start of the statement. */
  readonly offset: number;
}

/** A piece of an option name: `part` or `(part)`. */
export interface NamePart {
  /** Without parentheses; with the leading dot if one was written. */
  part: string;
  isExtension: boolean;
}

/** One option as written; exactly one of the values is set. */
export class UninterpretedOption {
  readonly name: NamePart[] = [];
  identifier: string | undefined = undefined;
  positiveInt: bigint | undefined = undefined;
  negativeInt: bigint | undefined = undefined;
  double: number | undefined = undefined;
  /** Text when the literal is valid UTF-8, bytes otherwise. */
  stringValue: string | Uint8Array | undefined = undefined;
  /** Text between the outer braces, one character a byte, with comments replaced by blanks. */
  aggregate: string | undefined = undefined;
  nameOffset: number = NO_OFFSET;
  valueOffset: number = NO_OFFSET;
  /** Path inside the options message, once interpreted; kept only when source info is wanted. */
  interpretedPath: number[] | undefined = undefined;

  /** The same option for another element; protoc gives copies no position. */
  copy(): UninterpretedOption {
    const copy = new UninterpretedOption();
    copy.name.push(...this.name);
    copy.identifier = this.identifier;
    copy.positiveInt = this.positiveInt;
    copy.negativeInt = this.negativeInt;
    copy.double = this.double;
    copy.stringValue = this.stringValue;
    copy.aggregate = this.aggregate;
    return copy;
  }
}

/** The options of one element: as written, and as interpreted. */
export class OptionsNode {
  readonly uninterpreted: UninterpretedOption[] = [];
  /** The options message, from linking. */
  value: OptionMessage | undefined = undefined;
  /** Values in the order of their statements; only where these are kept. */
  statements: OptionStatement[] | undefined = undefined;
}

/** A statement as interpreted: the fields that lead to the value, outermost first. */
interface OptionStatement {
  readonly path: readonly FieldNode[];
  readonly value: OptionScalar;
}

/** A `.proto` file. */
export class FileNode {
  readonly name: string;
  readonly source: Source;
  /** `proto2` also for a file that does not say. */
  syntax: "proto2" | "proto3" | "editions" = "proto2";
  /** A number of `google.protobuf.Edition`; 998 and 999 for proto2 and proto3. */
  edition = 998;
  /** Dotted name; empty when none is declared. */
  package = "";
  /** All but `import option`, in order. */
  readonly imports: ImportNode[] = [];
  /** `import option` statements, in order. */
  readonly optionImports: ImportNode[] = [];
  /** Indexes into {@linkcode imports}. */
  readonly publicDependency: number[] = [];
  /** Indexes into {@linkcode imports}. */
  readonly weakDependency: number[] = [];
  readonly messages: MessageNode[] = [];
  readonly enums: EnumNode[] = [];
  readonly services: ServiceNode[] = [];
  readonly extensions: FieldNode[] = [];
  options: OptionsNode | undefined = undefined;
  /** Read from a descriptor, which lacks what is for the source only: styles, default visibility. */
  isDescribed = false;

  /** Start of the first token. */
  offset = 0;
  /** Start of the `syntax` or `edition` statement. */
  syntaxOffset = NO_OFFSET;
  /** Start of the `package` statement. */
  packageOffset = NO_OFFSET;

  /** The file of each of {@linkcode imports}; undefined where it was not found or had errors. */
  dependencies: (FileNode | undefined)[] = [];
  /** The file of each of {@linkcode optionImports}. */
  optionDependencies: (FileNode | undefined)[] = [];
  /** The scope of top-level names, from linking. */
  scope: PackageNode | undefined = undefined;
  features: FeatureSet | undefined = undefined;

  #importOffsets: Map<string, number> | undefined = undefined;

  constructor(name: string, source: Source) {
    this.name = name;
    this.source = source;
  }

  /** Where `name` is imported, once the file is parsed: protoc remembers the last statement. */
  importOffset(name: string): number {
    if (this.#importOffsets === undefined) {
      this.#importOffsets = new Map();
      for (const node of this.imports) this.#importOffsets.set(node.name, node.offset);
      for (const node of this.optionImports) this.#importOffsets.set(node.name, node.offset);
    }
    return this.#importOffsets.get(name) ?? NO_OFFSET;
  }
}

/** Numbers from `start` up to, but not including, `end`. */
export class RangeNode {
  start = 0;
  end = 0;
  offset = NO_OFFSET;
}

/** A part of an `extensions` statement: numbers from `start` up to, but not including, `end`. */
export class ExtensionRangeNode {
  start = 0;
  end = 0;
  options: OptionsNode | undefined = undefined;
  offset = NO_OFFSET;
  features: FeatureSet | undefined = undefined;
}

/** A message, also one that a group or a map field declares. */
export class MessageNode {
  readonly kind = NodeKind.message;
  readonly file: FileNode;
  readonly parent: MessageNode | undefined;
  name = "";
  readonly fields: FieldNode[] = [];
  readonly oneofs: OneofNode[] = [];
  readonly messages: MessageNode[] = [];
  readonly enums: EnumNode[] = [];
  readonly extensions: FieldNode[] = [];
  readonly extensionRanges: ExtensionRangeNode[] = [];
  readonly reservedRanges: RangeNode[] = [];
  readonly reservedNames: string[] = [];
  options: OptionsNode | undefined = undefined;
  /** A number of {@linkcode Visibility}. */
  visibility: number = Visibility.unset;
  nameOffset = NO_OFFSET;
  /** The entry message of a map field: it alone may set `map_entry`. */
  mapEntry = false;

  /** Dotted name without leading dot, from linking. */
  fullName = "";
  /** The scope around the message, from linking. */
  scope: Scope | undefined = undefined;
  /** Everything named inside, by simple name, from linking. */
  readonly members: Map<string, SymbolNode> = new Map();
  /** `message_set_wire_format`, once options are interpreted. */
  isMessageSet = false;
  features: FeatureSet | undefined = undefined;

  constructor(file: FileNode, parent: MessageNode | undefined) {
    this.file = file;
    this.parent = parent;
  }
}

/** A field or an extension. */
export class FieldNode {
  readonly kind = NodeKind.field;
  readonly file: FileNode;
  /** The message the field is in, or in which the extension is declared. */
  readonly parent: MessageNode | undefined;
  readonly isExtension: boolean;
  name = "";
  number = 0;
  /** A number of {@linkcode Label}. */
  label: number = Label.none;
  /** A number of {@linkcode FieldType}; `unresolved` until linking finds {@linkcode typeName}. */
  type: number = FieldType.unresolved;
  /** The type as written; empty for scalars. */
  typeName = "";
  /** The extended message as written; empty for fields. */
  extendee = "";
  /** As written and normalised by protoc's rules; undefined when there is none. */
  defaultValue: string | Uint8Array | undefined = undefined;
  /** As written; undefined when there is none. */
  jsonName: string | undefined = undefined;
  /** Index into the oneofs of {@linkcode parent}; -1 outside of oneofs. */
  oneofIndex = -1;
  /** `optional` in a proto3 file. */
  proto3Optional = false;
  options: OptionsNode | undefined = undefined;

  nameOffset = NO_OFFSET;
  numberOffset = NO_OFFSET;
  typeOffset = NO_OFFSET;
  defaultOffset = NO_OFFSET;
  jsonNameOffset = NO_OFFSET;
  jsonValueOffset = NO_OFFSET;
  /** Known only for the first field of an `extend` block. */
  extendeeOffset = NO_OFFSET;

  /** Resolved {@linkcode typeName}, when it is a message. */
  message: MessageNode | undefined = undefined;
  /** Resolved {@linkcode typeName}, when it is an enum. */
  enum: EnumNode | undefined = undefined;
  /** Resolved {@linkcode extendee}. */
  extendeeNode: MessageNode | undefined = undefined;
  features: FeatureSet | undefined = undefined;

  constructor(file: FileNode, parent: MessageNode | undefined, isExtension: boolean) {
    this.file = file;
    this.parent = parent;
    this.isExtension = isExtension;
  }
}

/** A oneof, also one that stands for a proto3 `optional`. */
export class OneofNode {
  readonly kind = NodeKind.oneof;
  readonly file: FileNode;
  readonly parent: MessageNode;
  name = "";
  options: OptionsNode | undefined = undefined;
  /** Made for a proto3 `optional` field. */
  isSynthetic = false;
  features: FeatureSet | undefined = undefined;

  constructor(parent: MessageNode) {
    this.file = parent.file;
    this.parent = parent;
  }
}

/** An enum. */
export class EnumNode {
  readonly kind = NodeKind.enum;
  readonly file: FileNode;
  readonly parent: MessageNode | undefined;
  name = "";
  readonly values: EnumValueNode[] = [];
  /** Both ends belong to the range. */
  readonly reservedRanges: RangeNode[] = [];
  readonly reservedNames: string[] = [];
  options: OptionsNode | undefined = undefined;
  /** A number of {@linkcode Visibility}. */
  visibility: number = Visibility.unset;
  nameOffset = NO_OFFSET;

  /** Dotted name without leading dot, from linking. */
  fullName = "";
  /** The scope around the enum, from linking. */
  scope: Scope | undefined = undefined;
  features: FeatureSet | undefined = undefined;

  constructor(file: FileNode, parent: MessageNode | undefined) {
    this.file = file;
    this.parent = parent;
  }
}

/** A value of an enum. */
export class EnumValueNode {
  readonly kind = NodeKind.enumValue;
  readonly file: FileNode;
  readonly parent: EnumNode;
  name = "";
  number = 0;
  options: OptionsNode | undefined = undefined;
  nameOffset = NO_OFFSET;
  numberOffset = NO_OFFSET;
  features: FeatureSet | undefined = undefined;

  constructor(parent: EnumNode) {
    this.file = parent.file;
    this.parent = parent;
  }
}

/** A service. */
export class ServiceNode {
  readonly kind = NodeKind.service;
  readonly file: FileNode;
  readonly parent = undefined;
  name = "";
  readonly methods: MethodNode[] = [];
  options: OptionsNode | undefined = undefined;
  nameOffset = NO_OFFSET;

  /** Dotted name without leading dot, from linking. */
  fullName = "";
  /** The package, from linking. */
  scope: Scope | undefined = undefined;
  /** The methods by name, from linking. */
  readonly members: Map<string, SymbolNode> = new Map();
  features: FeatureSet | undefined = undefined;

  constructor(file: FileNode) {
    this.file = file;
  }
}

/** A method of a service. */
export class MethodNode {
  readonly kind = NodeKind.method;
  readonly file: FileNode;
  readonly parent: ServiceNode;
  name = "";
  /** As written. */
  inputType = "";
  /** As written. */
  outputType = "";
  clientStreaming = false;
  serverStreaming = false;
  options: OptionsNode | undefined = undefined;
  nameOffset = NO_OFFSET;
  inputOffset = NO_OFFSET;
  outputOffset = NO_OFFSET;
  /** The last `stream` keyword. */
  streamOffset = NO_OFFSET;

  /** Resolved {@linkcode inputType}. */
  input: MessageNode | undefined = undefined;
  /** Resolved {@linkcode outputType}. */
  output: MessageNode | undefined = undefined;
  features: FeatureSet | undefined = undefined;

  constructor(parent: ServiceNode) {
    this.file = parent.file;
    this.parent = parent;
  }
}

/** A package, or a part of one: `google` and `google.api` are two. */
export interface PackageNode {
  readonly kind: typeof NodeKind.package;
  readonly name: string;
  /** Dotted name; empty for the root. */
  readonly fullName: string;
  readonly parent: PackageNode | undefined;
  /** Symbols and sub-packages of this package, by simple name. */
  readonly members: Map<string, SymbolNode>;
  /** The file that named this package first. */
  readonly file: FileNode | undefined;
}

/** Anything that has a full name. */
export type SymbolNode =
  | PackageNode
  | MessageNode
  | FieldNode
  | OneofNode
  | EnumNode
  | EnumValueNode
  | ServiceNode
  | MethodNode;

/** Where a name is looked up: the innermost scope first, then outwards. */
export type Scope = PackageNode | MessageNode | ServiceNode;

/**
 * One value of an option: 64-bit integers are bigint, the other numbers and enum values number,
 * text a string when it is known to be UTF-8 and bytes otherwise.
 */
export type OptionScalar = number | bigint | boolean | string | Uint8Array | OptionMessage;

/** A field that is set, with its value, or its values when it is repeated. */
export interface OptionField {
  readonly field: FieldNode;
  value: OptionScalar | OptionScalar[];
}

/**
 * A message whose type is known only at run time: an options message or a part of one. Fields are
 * kept by number in the order they were first set.
 */
export interface OptionMessage {
  readonly type: MessageNode;
  readonly fields: Map<number, OptionField>;
}
