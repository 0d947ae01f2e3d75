import {
  EnumNode,
  FileNode,
  type ImportModifier,
  MessageNode,
  OptionsNode,
  ServiceNode,
} from "./ast.ts";
import { Edition } from "./features.ts";
import { parseEnum } from "./parse_enum.ts";
import type { FileContext } from "./parse_field.ts";
import {
  parseExtend,
  parseMessage,
  parseMessageBlock,
  parseVisibility,
  topLevelPlace,
} from "./parse_message.ts";
import { parseOption } from "./parse_option.ts";
import { parseService } from "./parse_service.ts";
import { decodeByteString, type Source } from "../lex/source.ts";
import type { Location, SourceInfo } from "./source_info.ts";
import { Punctuator, recover, TokenReader } from "./token_reader.ts";

/** Field numbers of `google.protobuf.FileDescriptorProto`. */
const FileTag = {
  package: 2,
  dependency: 3,
  messageType: 4,
  enumType: 5,
  service: 6,
  extension: 7,
  options: 8,
  publicDependency: 10,
  weakDependency: 11,
  syntax: 12,
  optionDependency: 15,
} as const;

/** Texts that may stand behind `edition =`. */
const editions: ReadonlyMap<string, number> = new Map([
  ["LEGACY", Edition.legacy],
  ["2023", Edition.edition2023],
  ["2024", Edition.edition2024],
  ["2026", Edition.edition2026],
  ["UNSTABLE", Edition.unstable],
  ["1_TEST_ONLY", 1],
  ["2_TEST_ONLY", 2],
  ["99997_TEST_ONLY", 99997],
  ["99998_TEST_ONLY", 99998],
  ["99999_TEST_ONLY", 99999],
  ["MAX", 0x7fffffff],
]);

/** A file as parsed. */
interface ParseResult {
  readonly file: FileNode;
  /** True when the file must not be used. */
  readonly hadErrors: boolean;
}

/** Collects errors and warnings of the parse by offset. */
type ReportParseError = (offset: number, message: string, isWarning: boolean) => void;

/**
 * Parses one file (google/protobuf/compiler/parser.cc is the reference, also for what happens after
 * an error).
 *
 * @param info Filled with locations and comments if given.
 */
export function parseFile(
  name: string,
  source: Source,
  info: SourceInfo | undefined,
  report: ReportParseError,
): ParseResult {
  const reader = new TokenReader(source, info, report);
  const file = new FileNode(name, source);
  file.offset = reader.lexer.start;
  const root = info?.add([], reader.lexer.start);
  const syntax = { isEditions: false, isUnstable: false };
  const context: FileContext = { reader, file, syntax, messageBlock: parseMessageBlock };
  if (reader.lexer.is("syntax") || reader.lexer.is("edition")) {
    let isKnown = false;
    // Without knowing the language there is no point in reading on.
    try {
      isKnown = parseSyntax(context, root);
    } catch (error) {
      if (!reader.hadErrors) throw error;
    }
    if (!isKnown) return { file, hadErrors: true };
    syntax.isEditions = file.syntax === "editions";
    syntax.isUnstable = syntax.isEditions && file.edition === Edition.unstable;
  }
  while (!reader.atEnd) {
    recover(reader, () => {
      parseStatement(context, root);
    }, () => {
      if (reader.lexer.symbol === Punctuator.closeBrace) {
        reader.error('Unmatched "}".');
        reader.nextAtTop();
      }
    });
  }
  reader.close(root);
  return { file, hadErrors: reader.hadErrors };
}

function parseSyntax(context: FileContext, root: Location | undefined): boolean {
  const { reader, file } = context;
  const { lexer } = reader;
  const location = reader.open(root, FileTag.syntax);
  file.syntaxOffset = lexer.start;
  const isEdition = lexer.is("edition");
  lexer.next();
  reader.expectSymbol(Punctuator.equals);
  const { start } = lexer;
  const value = decodeByteString(reader.expectString("Expected syntax identifier."));
  reader.expectEnd(Punctuator.semicolon, location);
  reader.close(location);
  if (isEdition) {
    const edition = editions.get(value);
    if (edition === undefined) {
      reader.errorAt(start, `Unknown edition "${value}".`);
      return false;
    }
    file.syntax = "editions";
    file.edition = edition;
    return true;
  }
  if (value !== "proto2" && value !== "proto3") {
    reader.errorAt(
      start,
      `Unrecognized syntax identifier "${value}".  This parser only recognizes "proto2" and ` +
        '"proto3".',
    );
    return false;
  }
  file.syntax = value;
  file.edition = value === "proto2" ? Edition.proto2 : Edition.proto3;
  return true;
}

function parseStatement(context: FileContext, root: Location | undefined): void {
  const { reader, file } = context;
  const { lexer } = reader;
  if (reader.takeEnd(Punctuator.semicolon, undefined)) return;
  const visibility = parseVisibility(context);
  if (lexer.is("message")) {
    const location = reader.open(root, FileTag.messageType, file.messages.length);
    const message = new MessageNode(file, undefined);
    message.visibility = visibility;
    file.messages.push(message);
    parseMessage(context, message, location);
  } else if (lexer.is("enum")) {
    const location = reader.open(root, FileTag.enumType, file.enums.length);
    const node = new EnumNode(file, undefined);
    node.visibility = visibility;
    file.enums.push(node);
    parseEnum(context, node, location);
  } else if (lexer.is("service")) {
    const location = reader.open(root, FileTag.service, file.services.length);
    const service = new ServiceNode(file);
    file.services.push(service);
    parseService(context, service, location);
  } else if (lexer.is("extend")) {
    const location = reader.open(root, FileTag.extension);
    const place = topLevelPlace(file, root, FileTag.messageType);
    parseExtend(context, file.extensions, place, location);
  } else if (lexer.is("import")) {
    parseImport(context, root);
  } else if (lexer.is("package")) {
    parsePackage(context, root);
  } else if (lexer.is("option")) {
    const location = reader.open(root, FileTag.options);
    file.options ??= new OptionsNode();
    parseOption(reader, file.options, location, true);
    reader.close(location);
  } else {
    reader.fail('Expected top-level statement (e.g. "message").');
  }
}

function parsePackage(context: FileContext, root: Location | undefined): void {
  const { reader, file } = context;
  if (file.package !== "") reader.error("Multiple package definitions.");
  const location = reader.open(root, FileTag.package);
  file.packageOffset = reader.lexer.start;
  reader.lexer.next();
  file.package = reader.expectIdentifier("Expected identifier.");
  while (reader.takeSymbol(Punctuator.dot)) {
    file.package += `.${reader.expectIdentifier("Expected identifier.")}`;
  }
  reader.expectEnd(Punctuator.semicolon, location);
  reader.close(location);
}

const IMPORT_NAME_EXPECTED = "Expected a string naming the file to import.";

function parseImport(context: FileContext, root: Location | undefined): void {
  const { reader, file } = context;
  const { lexer } = reader;
  const { start } = lexer;
  // Protoc gives files without an edition the number 0 here.
  const edition = file.syntax === "editions" ? file.edition : 0;
  lexer.next();
  if (lexer.is("option")) {
    if (edition < Edition.edition2024) {
      reader.error("option import is not supported before edition 2024.");
    }
    const location = reader.open(root, FileTag.optionDependency, file.optionImports.length);
    if (location) location.start = start;
    lexer.next();
    const name = decodeByteString(reader.expectString(IMPORT_NAME_EXPECTED));
    file.optionImports.push({ name, modifier: "option", offset: start });
    reader.expectEnd(Punctuator.semicolon, location);
    return reader.close(location);
  }
  const location = reader.open(root, FileTag.dependency, file.imports.length);
  if (location) location.start = start;
  if (file.optionImports.length > 0) {
    reader.error(
      "imports should precede any option imports to ensure proto files can roundtrip.",
    );
  }
  let modifier: ImportModifier = "none";
  if (lexer.is("public")) {
    modifier = "public";
    takeModifier(reader, root, FileTag.publicDependency, file.publicDependency.length);
    file.publicDependency.push(file.imports.length);
  } else if (lexer.is("weak")) {
    if (edition >= Edition.edition2024) {
      reader.error(
        "weak import is not supported in edition 2024 and above. Consider using option import " +
          "instead.",
      );
    }
    modifier = "weak";
    takeModifier(reader, root, FileTag.weakDependency, file.weakDependency.length);
    file.weakDependency.push(file.imports.length);
  }
  const name = decodeByteString(reader.expectString(IMPORT_NAME_EXPECTED));
  file.imports.push({ name, modifier, offset: start });
  reader.expectEnd(Punctuator.semicolon, location);
  reader.close(location);
}

function takeModifier(
  reader: TokenReader,
  root: Location | undefined,
  tag: number,
  index: number,
): void {
  const location = reader.open(root, tag, index);
  reader.lexer.next();
  reader.close(location);
}
