import {
  type EnumNode,
  ExtensionRangeNode,
  type MessageNode,
  OptionsNode,
  RangeNode,
} from "./ast.ts";
import { Token } from "../lex/lexer.ts";
import { isIdentifier } from "./naming.ts";
import type { FileContext } from "./parse_field.ts";
import { parseOption } from "./parse_option.ts";
import { decodeByteString } from "../lex/source.ts";
import { Location } from "./source_info.ts";
import { INT32_MAX, Punctuator, type TokenReader } from "./token_reader.ts";

/** Field numbers of ranges, the same in all three range messages, and of extension range options. */
const RangeTag = { start: 1, end: 2, options: 3 } as const;
/** Field numbers of `google.protobuf.DescriptorProto`. */
const MessageTag = { reservedRange: 9, reservedName: 10 } as const;
/** Field numbers of `google.protobuf.EnumDescriptorProto`. */
const EnumTag = { reservedRange: 4, reservedName: 5 } as const;

/** The largest field number. */
const MAX_FIELD_NUMBER = 0x1fffffff;
/** End of a range `to max`, until the options tell whether the message is a message set. */
const MAX_SENTINEL = -1;

/** Gives ranges `to max` their end; to be called when the message's block has been read. */
export function closeMaxRanges(message: MessageNode): void {
  const isMessageSet = message.options?.uninterpreted.some((option) =>
    option.name.length === 1 && !option.name[0]!.isExtension &&
    option.name[0]!.part === "message_set_wire_format" && option.identifier === "true"
  );
  const end = isMessageSet ? INT32_MAX : MAX_FIELD_NUMBER + 1;
  for (const range of message.extensionRanges) if (range.end === MAX_SENTINEL) range.end = end;
  for (const range of message.reservedRanges) if (range.end === MAX_SENTINEL) range.end = end;
}

/** Parses an `extensions` statement. */
export function parseExtensions(
  context: FileContext,
  message: MessageNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  reader.lexer.next();
  const first = message.extensionRanges.length;
  do {
    const rangeLocation = open(reader, location, message.extensionRanges.length);
    const range = new ExtensionRangeNode();
    message.extensionRanges.push(range);
    parseFieldNumbers(reader, range, rangeLocation, "Expected field number range.");
    reader.close(rangeLocation);
  } while (reader.takeSymbol(Punctuator.comma));
  if (reader.lexer.symbol === Punctuator.openBracket) {
    parseRangeOptions(reader, message, first, location);
  }
  reader.expectEnd(Punctuator.semicolon, location);
  reader.close(location);
}

/** Opens a location right below `parent`. */
function open(
  reader: TokenReader,
  parent: Location | undefined,
  index: number,
): Location | undefined {
  return reader.open(parent, index);
}

/** Options of a list of ranges are those of each: also their locations are repeated. */
function parseRangeOptions(
  reader: TokenReader,
  message: MessageNode,
  first: number,
  location: Location | undefined,
): void {
  const { extensionRanges } = message;
  const locations = reader.info?.locations;
  const before = locations?.length ?? 0;
  const options = extensionRanges[first]!.options = new OptionsNode();
  const optionsLocation = locations && location
    ? reader.info!.add([...location.path, first, RangeTag.options], reader.lexer.start)
    : undefined;
  reader.lexer.next();
  do {
    parseOption(reader, options, optionsLocation, false);
  } while (reader.takeSymbol(Punctuator.comma));
  reader.expectSymbol(Punctuator.closeBracket);
  reader.close(optionsLocation);

  const template = locations?.slice(before) ?? [];
  for (let i = first + 1; i < extensionRanges.length; i++) {
    const copies = extensionRanges[i]!.options = new OptionsNode();
    for (const option of options.uninterpreted) copies.uninterpreted.push(option.copy());
    let index = 0;
    for (const original of template) {
      const copy = new Location([...location!.path, i, RangeTag.options], original.start);
      copy.end = original.end;
      if (original.option) copy.option = copies.uninterpreted[index++];
      locations!.push(copy);
    }
  }
}

/** Parses `5`, `5 to 9` or `5 to max` as numbers of fields. */
function parseFieldNumbers(
  reader: TokenReader,
  range: RangeNode | ExtensionRangeNode,
  location: Location | undefined,
  message: string,
): void {
  const { lexer } = reader;
  const { start: tokenStart, end: tokenEnd } = lexer;
  range.offset = tokenStart;
  const startLocation = reader.open(location, RangeTag.start);
  const start = reader.expectInteger(message);
  if (start === INT32_MAX) reader.fail("Field number out of bounds.");
  reader.close(startLocation);
  let end = start;
  if (reader.takeWord("to")) {
    const endLocation = reader.open(location, RangeTag.end);
    if (reader.takeWord("max")) {
      end = MAX_SENTINEL - 1;
    } else {
      end = reader.expectInteger("Expected integer.");
      if (end === INT32_MAX) reader.fail("Field number out of bounds.");
    }
    reader.close(endLocation);
  } else {
    repeatLocation(reader, location, tokenStart, tokenEnd);
  }
  range.start = start;
  range.end = end + 1;
}

/** A single number is both ends of its range. */
function repeatLocation(
  reader: TokenReader,
  location: Location | undefined,
  start: number,
  end: number,
): void {
  const endLocation = reader.open(location, RangeTag.end);
  if (!endLocation) return;
  endLocation.start = start;
  endLocation.end = end;
}

/** Parses a `reserved` statement of a message. */
export function parseReserved(
  context: FileContext,
  message: MessageNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  const { start } = reader.lexer;
  reader.lexer.next();
  if (
    parseNames(context, message.reservedNames, start, location, MessageTag.reservedName, "field")
  ) {
    return;
  }
  const rangesLocation = openAt(reader, location, MessageTag.reservedRange, start);
  let expectation = "Expected field name or number range.";
  do {
    const rangeLocation = open(reader, rangesLocation, message.reservedRanges.length);
    const range = new RangeNode();
    message.reservedRanges.push(range);
    parseFieldNumbers(reader, range, rangeLocation, expectation);
    reader.close(rangeLocation);
    expectation = "Expected field number range.";
  } while (reader.takeSymbol(Punctuator.comma));
  reader.expectEnd(Punctuator.semicolon, rangesLocation);
  reader.close(rangesLocation);
}

/** Parses a `reserved` statement of an enum. */
export function parseEnumReserved(
  context: FileContext,
  node: EnumNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  const { lexer } = reader;
  const { start } = lexer;
  lexer.next();
  if (
    parseNames(context, node.reservedNames, start, location, EnumTag.reservedName, "enum value")
  ) {
    return;
  }
  const rangesLocation = openAt(reader, location, EnumTag.reservedRange, start);
  let expectation = "Expected enum value or number range.";
  do {
    const rangeLocation = open(reader, rangesLocation, node.reservedRanges.length);
    const range = new RangeNode();
    node.reservedRanges.push(range);
    parseEnumNumbers(reader, range, rangeLocation, expectation);
    reader.close(rangeLocation);
    expectation = "Expected enum number range.";
  } while (reader.takeSymbol(Punctuator.comma));
  reader.expectEnd(Punctuator.semicolon, rangesLocation);
  reader.close(rangesLocation);
}

function parseEnumNumbers(
  reader: TokenReader,
  range: RangeNode,
  location: Location | undefined,
  message: string,
): void {
  const { lexer } = reader;
  const { start: tokenStart } = lexer;
  range.offset = tokenStart;
  // A minus sign is a token of its own, and the only one that the location repeats.
  const tokenEnd = lexer.end;
  const startLocation = reader.open(location, RangeTag.start);
  range.start = reader.expectSignedInteger(message);
  reader.close(startLocation);
  range.end = range.start;
  if (reader.takeWord("to")) {
    const endLocation = reader.open(location, RangeTag.end);
    if (reader.takeWord("max")) range.end = INT32_MAX;
    else range.end = reader.expectSignedInteger("Expected integer.");
    reader.close(endLocation);
  } else {
    repeatLocation(reader, location, tokenStart, tokenEnd);
  }
}

function openAt(
  reader: TokenReader,
  parent: Location | undefined,
  tag: number,
  start: number,
): Location | undefined {
  const location = reader.open(parent, tag);
  if (location) location.start = start;
  return location;
}

/** Parses reserved names; false when numbers come instead. */
function parseNames(
  context: FileContext,
  names: string[],
  start: number,
  parent: Location | undefined,
  tag: number,
  what: "field" | "enum value",
): boolean {
  const { reader, syntax } = context;
  const { lexer } = reader;
  if (lexer.kind === Token.string) {
    if (syntax.isEditions) {
      reader.fail("Reserved names must be identifiers in editions, not string literals.");
    }
  } else if (lexer.kind === Token.identifier) {
    if (!syntax.isEditions) {
      reader.fail(
        "Reserved names must be string literals. (Only editions supports identifiers.)",
      );
    }
  } else {
    return false;
  }
  const isText = lexer.kind === Token.string;
  const kind = what === "field" ? "field name" : "enum value";
  const location = openAt(reader, parent, tag, start);
  do {
    const nameLocation = open(reader, location, names.length);
    if (isText) {
      names.push(parseNameText(reader, `Expected ${kind} string literal.`));
    } else {
      names.push(reader.expectIdentifier(`Expected ${kind} identifier.`));
    }
    reader.close(nameLocation);
  } while (reader.takeSymbol(Punctuator.comma));
  reader.expectEnd(Punctuator.semicolon, location);
  reader.close(location);
  return true;
}

function parseNameText(reader: TokenReader, message: string): string {
  const { start } = reader.lexer;
  const name = decodeByteString(reader.expectString(message));
  if (!isIdentifier(name)) {
    reader.warningAt(start, `Reserved name "${name}" is not a valid identifier.`);
  }
  return name;
}
