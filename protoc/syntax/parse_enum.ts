import { type EnumNode, EnumValueNode, OptionsNode } from "./ast.ts";
import type { FileContext } from "./parse_field.ts";
import { parseOption } from "./parse_option.ts";
import { parseEnumReserved } from "./parse_range.ts";
import type { Location } from "./source_info.ts";
import { Punctuator, recover, type TokenReader } from "./token_reader.ts";

/** Field numbers of `google.protobuf.EnumDescriptorProto`. */
const EnumTag = { name: 1, value: 2, options: 3 } as const;
/** Field numbers of `google.protobuf.EnumValueDescriptorProto`. */
const ValueTag = { name: 1, number: 2, options: 3 } as const;

/** Parses an enum from the word `enum` on. */
export function parseEnum(
  context: FileContext,
  node: EnumNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  reader.lexer.next();
  const nameLocation = reader.open(location, EnumTag.name);
  node.nameOffset = reader.lexer.start;
  node.name = reader.expectIdentifier("Expected enum name.");
  reader.close(nameLocation);

  reader.expectEnd(Punctuator.openBrace, location);
  while (!reader.takeEnd(Punctuator.closeBrace, undefined)) {
    if (reader.atEnd) {
      reader.fail("Reached end of input in enum definition (missing '}').");
    }
    recover(reader, () => parseStatement(context, node, location));
  }
  checkAliases(reader, node);
  reader.close(location);
}

function parseStatement(
  context: FileContext,
  node: EnumNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  const { lexer } = reader;
  if (reader.takeEnd(Punctuator.semicolon, undefined)) return;
  if (lexer.is("option")) {
    const optionsLocation = reader.open(location, EnumTag.options);
    node.options ??= new OptionsNode();
    parseOption(reader, node.options, optionsLocation, true);
    reader.close(optionsLocation);
  } else if (lexer.is("reserved")) {
    parseEnumReserved(context, node, location);
  } else {
    const valueLocation = reader.open(location, EnumTag.value, node.values.length);
    const value = new EnumValueNode(node);
    node.values.push(value);
    parseValue(reader, value, valueLocation);
    reader.close(valueLocation);
  }
}

function parseValue(
  reader: TokenReader,
  value: EnumValueNode,
  location: Location | undefined,
): void {
  const { lexer } = reader;
  const nameLocation = reader.open(location, ValueTag.name);
  value.nameOffset = lexer.start;
  value.name = reader.expectIdentifier("Expected enum constant name.");
  reader.close(nameLocation);
  reader.expectSymbol(Punctuator.equals, "Missing numeric value for enum constant.");

  const numberLocation = reader.open(location, ValueTag.number);
  value.numberOffset = lexer.start;
  value.number = reader.expectSignedInteger("Expected integer.");
  reader.close(numberLocation);

  if (lexer.symbol === Punctuator.openBracket) {
    const optionsLocation = reader.open(location, ValueTag.options);
    lexer.next();
    value.options = new OptionsNode();
    do {
      parseOption(reader, value.options, optionsLocation, false);
    } while (reader.takeSymbol(Punctuator.comma));
    reader.expectSymbol(Punctuator.closeBracket);
    reader.close(optionsLocation);
  }
  reader.expectEnd(Punctuator.semicolon, location);
}

/** `allow_alias` must be there for a reason; protoc reports both faults behind the enum. */
function checkAliases(reader: TokenReader, node: EnumNode): void {
  const option = node.options?.uninterpreted.find(({ name }) =>
    name.length === 1 && !name[0]!.isExtension && name[0]!.part === "allow_alias"
  );
  if (!option) return;
  if (option.identifier !== "true") {
    reader.fail(
      `"${node.name}" declares 'option allow_alias = false;' which has no effect. Please remove ` +
        "the declaration.",
    );
  }
  const numbers = new Set(node.values.map((value) => value.number));
  if (numbers.size === node.values.length) {
    reader.fail(
      `"${node.name}" declares support for enum aliases but no enum values share field numbers. ` +
        "Please remove the unnecessary 'option allow_alias = true;' declaration.",
    );
  }
}
