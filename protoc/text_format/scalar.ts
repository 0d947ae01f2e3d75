import type { FieldNode, OptionScalar } from "../syntax/ast.ts";
import { FieldType } from "../syntax/kinds.ts";
import { Feature } from "../syntax/features.ts";
import { asciiLowerCase } from "../syntax/naming.ts";
import { parseFloatToken, parseInteger64 } from "../lex/number_literal.ts";
import { valueNamed, valueNumbered } from "../syntax/enum_value.ts";
import { isStrictText } from "../value/message.ts";
import { textOrBytes } from "../lex/source.ts";
import { unquote } from "../lex/string_literal.ts";
import { TokenKind } from "./lexer.ts";
import type { TextReader } from "./reader.ts";

const INT32_MAX = 0x7fffffffn;
const UINT32_MAX = 0xffffffffn;
const INT64_MAX = 0x7fffffffffffffffn;
const UINT64_MAX = 0xffffffffffffffffn;

/** Reads one value of a scalar or enum field. */
export function readScalar(reader: TextReader, field: FieldNode): OptionScalar {
  switch (field.type) {
    case FieldType.int32:
    case FieldType.sint32:
    case FieldType.sfixed32:
      return Number(readSigned(reader, INT32_MAX));
    case FieldType.uint32:
    case FieldType.fixed32:
      return Number(readUnsigned(reader, UINT32_MAX));
    case FieldType.int64:
    case FieldType.sint64:
    case FieldType.sfixed64:
      return readSigned(reader, INT64_MAX);
    case FieldType.uint64:
    case FieldType.fixed64:
      return readUnsigned(reader, UINT64_MAX);
    case FieldType.float:
      return Math.fround(readDouble(reader));
    case FieldType.double:
      return readDouble(reader);
    case FieldType.bool:
      return readBool(reader, field);
    case FieldType.enum:
      return readEnum(reader, field);
    default:
      return readString(reader, field);
  }
}

function readUnsigned(reader: TextReader, max: bigint): bigint {
  const { kind, text } = reader.lexer;
  if (kind !== TokenKind.integer) reader.fail(`Expected integer, got: ${text}`);
  const value = parseInteger64(text, max);
  if (value === undefined) reader.fail(`Integer out of range (${text})`);
  reader.lexer.next();
  return value;
}

function readSigned(reader: TextReader, max: bigint): bigint {
  // Two's complement has one more negative number.
  return reader.take("-") ? -readUnsigned(reader, max + 1n) : readUnsigned(reader, max);
}

function readDouble(reader: TextReader): number {
  const negative = reader.take("-");
  const { kind, text } = reader.lexer;
  let value: number;
  if (kind === TokenKind.integer) {
    if (/^0[xX0-7]/.test(text)) reader.fail(`Expect a decimal number, got: ${text}`);
    value = Number(text);
  } else if (kind === TokenKind.float) {
    value = parseFloatToken(text.replace(/[fF]$/, ""));
  } else if (kind === TokenKind.identifier) {
    const word = asciiLowerCase(text);
    if (word === "inf" || word === "infinity") value = Infinity;
    else if (word === "nan") value = NaN;
    else reader.fail(`Expected double, got: ${word}`);
  } else {
    reader.fail(`Expected double, got: ${text}`);
  }
  reader.lexer.next();
  return negative ? -value : value;
}

function readBool(reader: TextReader, field: FieldNode): boolean {
  if (reader.lexer.kind === TokenKind.integer) return readUnsigned(reader, 1n) === 1n;
  const text = reader.identifier();
  if (text === "true" || text === "True" || text === "t") return true;
  if (text === "false" || text === "False" || text === "f") return false;
  reader.fail(`Invalid value for boolean field "${field.name}". Value: "${text}".`);
}

function readEnum(reader: TextReader, field: FieldNode): number {
  const { kind, text } = reader.lexer;
  const type = field.enum!;
  if (kind === TokenKind.identifier) {
    reader.lexer.next();
    const value = valueNamed(type, text);
    if (value) return value.number;
    reader.fail(`Unknown enumeration value of "${text}" for field "${field.name}".`);
  }
  if (kind !== TokenKind.integer && text !== "-") {
    reader.fail(`Expected integer or identifier, got: ${text}`);
  }
  const number = Number(readSigned(reader, INT32_MAX));
  if (!isClosed(field) || valueNumbered(type, number)) return number;
  reader.fail(`Unknown enumeration value of "${number}" for field "${field.name}".`);
}

function readString(reader: TextReader, field: FieldNode): string | Uint8Array {
  const { kind, text } = reader.lexer;
  if (kind !== TokenKind.string) reader.fail(`Expected string, got: ${text}`);
  let value = unquote(text);
  reader.lexer.next();
  while (reader.lexer.kind === TokenKind.string) {
    value += unquote(reader.lexer.text);
    reader.lexer.next();
  }
  const result = textOrBytes(value);
  if (typeof result !== "string" && isStrictText(field)) {
    reader.fail(`String field "${field.name}" must be valid UTF-8.`);
  }
  return result;
}

/** C++ readers of proto2, and of `(pb.cpp).legacy_closed_enum`, treat every enum as closed. */
function isClosed(field: FieldNode): boolean {
  return field.features?.legacyClosedEnum === true ||
    field.enum!.features?.enumType === Feature.closed;
}
