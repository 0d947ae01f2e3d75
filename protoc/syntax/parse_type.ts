import { FieldType } from "./kinds.ts";
import { Token } from "../lex/lexer.ts";
import { Punctuator, type TokenReader } from "./token_reader.ts";

/** Words that name a scalar type, or open a group. */
const typeWords: ReadonlyMap<string, number> = new Map([
  ["double", FieldType.double],
  ["float", FieldType.float],
  ["uint64", FieldType.uint64],
  ["fixed64", FieldType.fixed64],
  ["fixed32", FieldType.fixed32],
  ["bool", FieldType.bool],
  ["string", FieldType.string],
  ["group", FieldType.group],
  ["bytes", FieldType.bytes],
  ["uint32", FieldType.uint32],
  ["sfixed32", FieldType.sfixed32],
  ["sfixed64", FieldType.sfixed64],
  ["int32", FieldType.int32],
  ["int64", FieldType.int64],
  ["sint32", FieldType.sint32],
  ["sint64", FieldType.sint64],
]);

/** The same under `edition = "UNSTABLE"`, where plain integers have a fixed width. */
const unstableTypeWords: ReadonlyMap<string, number> = new Map([
  ["double", FieldType.double],
  ["float", FieldType.float],
  ["uint64", FieldType.fixed64],
  ["bool", FieldType.bool],
  ["string", FieldType.string],
  ["group", FieldType.group],
  ["bytes", FieldType.bytes],
  ["uint32", FieldType.fixed32],
  ["int32", FieldType.sfixed32],
  ["int64", FieldType.sfixed64],
  ["varint32", FieldType.int32],
  ["varint64", FieldType.int64],
  ["uvarint32", FieldType.uint32],
  ["uvarint64", FieldType.uint64],
  ["zigzag32", FieldType.sint32],
  ["zigzag64", FieldType.sint64],
]);

/** Replacements for the words that `edition = "UNSTABLE"` no longer has. */
const obsoleteTypeWords: ReadonlyMap<string, string> = new Map([
  ["fixed32", "uint32"],
  ["fixed64", "uint64"],
  ["sfixed32", "int32"],
  ["sfixed64", "int64"],
  ["sint32", "zigzag32"],
  ["sint64", "zigzag64"],
]);

/** Rules for types that depend on the language version. */
export interface TypeSyntax {
  readonly isEditions: boolean;
  readonly isUnstable: boolean;
}

/** A field type as written: a scalar's number, or the name of a message or an enum. */
export interface TypeReference {
  /** A value of {@linkcode FieldType}; `unresolved` when it is a name. */
  type: number;
  name: string;
}

/** Parses a field type. */
export function parseType(reader: TokenReader, syntax: TypeSyntax): TypeReference {
  const { lexer } = reader;
  if (lexer.kind === Token.identifier) {
    const { text } = lexer;
    const type = (syntax.isUnstable ? unstableTypeWords : typeWords).get(text);
    if (type !== undefined) {
      if (syntax.isEditions && type === FieldType.group) {
        reader.error(
          "Group syntax is no longer supported in editions. To get group behavior you can " +
            "specify features.message_encoding = DELIMITED on a message field.",
        );
      }
      lexer.next();
      return { type, name: "" };
    }
    const replacement = syntax.isUnstable ? obsoleteTypeWords.get(text) : undefined;
    if (replacement !== undefined) {
      reader.error(
        `Type '${text}' is obsolete in unstable editions, use '${replacement}' instead.`,
      );
      lexer.next();
      return { type: FieldType.int32, name: "" };
    }
  }
  return { type: FieldType.unresolved, name: parseTypeName(reader) };
}

/** Parses the name of a message or an enum. */
export function parseTypeName(reader: TokenReader): string {
  const { lexer, source } = reader;
  const { start } = lexer;
  if (lexer.kind === Token.identifier && typeWords.has(lexer.text)) {
    reader.error("Expected message type.");
    const { text } = lexer;
    lexer.next();
    return text;
  }
  // Blanks and comments may stand between the parts.
  let hasGap = false;
  if (reader.takeSymbol(Punctuator.dot)) hasGap = lexer.start !== lexer.previousEnd;
  if (lexer.kind !== Token.identifier) reader.fail("Expected type name.");
  lexer.next();
  while (lexer.symbol === Punctuator.dot) {
    hasGap ||= lexer.start !== lexer.previousEnd;
    lexer.next();
    hasGap ||= lexer.start !== lexer.previousEnd;
    if ((lexer.kind as number) !== Token.identifier) reader.fail("Expected identifier.");
    lexer.next();
  }
  const name = source.text.slice(start, lexer.previousEnd);
  return hasGap ? withoutGaps(name) : name;
}

function withoutGaps(name: string): string {
  return name.replace(/\/\/[^\n]*|\/\*[^]*?\*\//g, "").replace(/[^A-Za-z0-9_.]/g, "");
}
