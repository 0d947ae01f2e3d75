import type { FieldNode } from "./ast.ts";
import { FieldType } from "./kinds.ts";
import { Token } from "../lex/lexer.ts";
import { formatDouble, parseInteger64 } from "../lex/number_literal.ts";
import { expectNumber } from "./parse_option.ts";
import { decodeByteString, textOrBytes } from "../lex/source.ts";
import type { Location } from "./source_info.ts";
import { escapeBytes } from "../lex/string_literal.ts";
import { Punctuator, type TokenReader } from "./token_reader.ts";

/** Number of `default_value` in `google.protobuf.FieldDescriptorProto`. */
const DEFAULT_VALUE_TAG = 7;

/** Parses `default = value`, which looks like an option but is a part of the field. */
export function parseDefault(
  reader: TokenReader,
  field: FieldNode,
  fieldLocation: Location | undefined,
): void {
  if (field.defaultValue !== undefined) reader.error('Already set option "default".');
  reader.lexer.next();
  reader.expectSymbol(Punctuator.equals);
  const location = reader.open(fieldLocation, DEFAULT_VALUE_TAG);
  field.defaultOffset = reader.lexer.start;
  field.defaultValue = "";
  field.defaultValue = parseDefaultValue(reader, field);
  reader.close(location);
}

const INT64_MAX = 0x7fffffffffffffffn;
const INT32_MAX = 0x7fffffffn;
const UINT64_MAX = 0xffffffffffffffffn;
const UINT32_MAX = 0xffffffffn;

/** The default in the form that descriptors keep it in: text for every type. */
function parseDefaultValue(reader: TokenReader, field: FieldNode): string | Uint8Array {
  const { lexer } = reader;
  switch (field.type) {
    case FieldType.int32:
    case FieldType.sint32:
    case FieldType.sfixed32:
      return parseSigned(reader, INT32_MAX);
    case FieldType.int64:
    case FieldType.sint64:
    case FieldType.sfixed64:
      return parseSigned(reader, INT64_MAX);
    case FieldType.uint32:
    case FieldType.fixed32:
      return parseUnsigned(reader, UINT32_MAX);
    case FieldType.uint64:
    case FieldType.fixed64:
      return parseUnsigned(reader, UINT64_MAX);
    case FieldType.float:
    case FieldType.double: {
      const sign = reader.takeSymbol(Punctuator.minus) ? "-" : "";
      return sign + formatDouble(expectNumber(reader, "Expected number."));
    }
    case FieldType.bool:
      if (reader.takeWord("true")) return "true";
      if (reader.takeWord("false")) return "false";
      return reader.fail('Expected "true" or "false".');
    case FieldType.string:
      return textOrBytes(reader.expectString("Expected string for field default value."));
    case FieldType.bytes:
      return escapeBytes(reader.expectString("Expected string."));
    case FieldType.group:
      return reader.fail("Messages can't have default values.");
    default: {
      // An enum value, unless the type turns out to be a message: linking tells.
      const value = lexer.kind === Token.end ? "" : decodeByteString(lexer.text);
      lexer.next();
      return value;
    }
  }
}

function parseSigned(reader: TokenReader, max: bigint): string {
  // Two's complement has one more negative number.
  if (reader.takeSymbol(Punctuator.minus)) return `-${expectInteger64(reader, max + 1n)}`;
  return String(expectInteger64(reader, max));
}

function parseUnsigned(reader: TokenReader, max: bigint): string {
  if (reader.takeSymbol(Punctuator.minus)) {
    reader.error("Unsigned field can't have negative default value.");
  }
  return String(expectInteger64(reader, max));
}

function expectInteger64(reader: TokenReader, max: bigint): bigint {
  const { lexer } = reader;
  if (lexer.kind !== Token.integer) reader.fail("Expected integer for field default value.");
  const value = parseInteger64(lexer.text, max);
  if (value === undefined) reader.error("Integer out of range.");
  lexer.next();
  return value ?? 0n;
}
