import { type NamePart, type OptionsNode, UninterpretedOption } from "./ast.ts";
import { Token } from "../lex/lexer.ts";
import { parseFloatToken, parseInteger64 } from "../lex/number_literal.ts";
import { textOrBytes } from "../lex/source.ts";
import type { Location } from "./source_info.ts";
import { Punctuator, type TokenReader } from "./token_reader.ts";

const INT64_MIN_MAGNITUDE = 0x8000000000000000n;

/**
 * Parses one option, also the word `option` and the semicolon when it is a statement, and adds it to
 * `options`.
 */
export function parseOption(
  reader: TokenReader,
  options: OptionsNode,
  optionsLocation: Location | undefined,
  isStatement: boolean,
): void {
  const location = openOption(reader, optionsLocation);
  if (isStatement) reader.expectWord("option");
  const option = new UninterpretedOption();
  options.uninterpreted.push(option);
  if (location) location.option = option;

  option.nameOffset = reader.lexer.start;
  do parseNamePart(reader, option); while (reader.takeSymbol(Punctuator.dot));
  reader.expectSymbol(Punctuator.equals);
  option.valueOffset = reader.lexer.start;
  parseValue(reader, option);
  if (isStatement) reader.expectEnd(Punctuator.semicolon, location);
  reader.close(location);
}

/** The location of an option has the path of its options message until it is interpreted. */
function openOption(reader: TokenReader, options: Location | undefined): Location | undefined {
  return options && reader.info?.add(options.path, reader.lexer.start);
}

function parseNamePart(reader: TokenReader, option: UninterpretedOption): void {
  const { lexer } = reader;
  // Added first: checks that come behind an error see as many parts as protoc does.
  const name: NamePart = { part: "", isExtension: false };
  option.name.push(name);
  if (!reader.takeSymbol(Punctuator.openParen)) {
    name.part = reader.expectIdentifier("Expected identifier.");
    return;
  }
  if (lexer.kind === Token.identifier) {
    name.part = reader.expectIdentifier("Expected identifier.");
  }
  while (reader.takeSymbol(Punctuator.dot)) {
    name.part += ".";
    name.part += reader.expectIdentifier("Expected identifier.");
  }
  reader.expectSymbol(Punctuator.closeParen);
  name.isExtension = true;
}

function parseValue(reader: TokenReader, option: UninterpretedOption): void {
  const { lexer } = reader;
  const isNegative = reader.takeSymbol(Punctuator.minus);
  switch (lexer.kind) {
    case Token.end:
      return reader.fail("Unexpected end of stream while parsing option value.");
    case Token.identifier: {
      const word = reader.expectIdentifier("Expected identifier.");
      if (!isNegative) option.identifier = word;
      else if (word === "inf") option.double = -Infinity;
      else if (word === "nan") option.double = NaN;
      else reader.fail("Identifier after '-' symbol must be inf or nan.");
      return;
    }
    case Token.integer:
    case Token.float: {
      const integer = lexer.kind === Token.float
        ? undefined
        : parseInteger64(lexer.text, isNegative ? INT64_MIN_MAGNITUDE : undefined);
      if (integer === undefined) {
        // Or too large for an integer.
        const value = expectNumber(reader, "Expected number.");
        option.double = isNegative ? -value : value;
        return;
      }
      if (isNegative) option.negativeInt = -integer;
      else option.positiveInt = integer;
      lexer.next();
      return;
    }
    case Token.string:
      if (isNegative) reader.fail("Invalid '-' symbol before string.");
      option.stringValue = textOrBytes(reader.expectString("Expected string."));
      return;
    default:
      if (lexer.symbol !== Punctuator.openBrace) reader.fail("Expected option value.");
      option.aggregate = parseAggregate(reader);
  }
}

/** A number of any form, also `inf` and `nan`, but without sign. */
export function expectNumber(reader: TokenReader, message: string): number {
  const { lexer } = reader;
  let value = 0;
  if (lexer.kind === Token.float) {
    value = parseFloatToken(lexer.text);
  } else if (lexer.kind === Token.integer) {
    const { text } = lexer;
    const integer = parseInteger64(text);
    if (integer !== undefined) value = Number(integer);
    else if (text.charCodeAt(0) === 0x30) reader.error("Integer out of range.");
    else value = Number(text);
  } else if (lexer.is("inf")) {
    value = Infinity;
  } else if (lexer.is("nan")) {
    value = NaN;
  } else {
    reader.fail(message);
  }
  lexer.next();
  return value;
}

/**
 * The text between braces, one character a byte, to be parsed when the type of the option is known.
 * Comments become blanks, since the text format of messages has others; lines and columns stay.
 */
function parseAggregate(reader: TokenReader): string {
  const { lexer, source } = reader;
  const from = lexer.end;
  const gaps: { start: number; end: number }[] = [];
  let depth = 1;
  lexer.next();
  for (;;) {
    const gap = source.text.slice(lexer.previousEnd, lexer.start);
    // A slash between tokens is a comment; control characters are dropped likewise.
    if (/[^ \t\r\n\v\f]/.test(gap)) gaps.push({ start: lexer.previousEnd, end: lexer.start });
    if (lexer.kind === Token.end) {
      reader.fail("Unexpected end of stream while parsing aggregate value.");
    }
    if (lexer.symbol === Punctuator.openBrace) {
      depth++;
    } else if (lexer.symbol === Punctuator.closeBrace && --depth === 0) {
      break;
    }
    lexer.next();
  }
  let value = "";
  let at = from;
  for (const { start, end } of gaps) {
    value += source.text.slice(at, start) + blank(source.text.slice(start, end));
    at = end;
  }
  value += source.text.slice(at, lexer.start);
  lexer.next();
  return value;
}

/** The text between two tokens, without its comments. */
function blank(gap: string): string {
  return gap.replace(/[^\n\t]/g, " ");
}
