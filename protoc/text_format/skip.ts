import { asciiLowerCase } from "../syntax/naming.ts";
import { TokenKind } from "./lexer.ts";
import { MAX_LITERAL_DEPTH, type TextReader } from "./reader.ts";

/** Passes over what follows the name of a reserved field, whose type is unknown. */
export function skipFieldRest(reader: TextReader): void {
  if (reader.take(":") && !reader.looksAt("{") && !reader.looksAt("<")) skipValue(reader, 0);
  else skipMessage(reader);
}

function skipMessage(reader: TextReader): void {
  reader.block(() => {
    if (reader.looksAt("[")) reader.bracketName();
    else reader.identifier();
    skipFieldRest(reader);
    reader.separator();
  });
}

function skipValue(reader: TextReader, depth: number): void {
  const { lexer } = reader;
  if (lexer.kind === TokenKind.string) {
    while ((lexer.kind as number) === TokenKind.string) lexer.next();
    return;
  }
  if (reader.take("[")) {
    if (depth === MAX_LITERAL_DEPTH) {
      reader.fail(
        "Message is too deep, the parser exceeded the configured recursion limit of " +
          `${MAX_LITERAL_DEPTH}.`,
      );
    }
    reader.list(() => {
      if (reader.looksAt("{") || reader.looksAt("<")) skipMessage(reader);
      else skipValue(reader, depth + 1);
    });
    return;
  }
  const negative = reader.take("-");
  const { kind, text } = lexer;
  const isValue = kind === TokenKind.integer || kind === TokenKind.float ||
    kind === TokenKind.identifier;
  if (!isValue) reader.fail(`Cannot skip field value, unexpected token: ${text}`);
  if (negative && kind === TokenKind.identifier) {
    const word = asciiLowerCase(text);
    if (word !== "inf" && word !== "infinity" && word !== "nan") {
      reader.fail(`Invalid float number: ${word}`);
    }
  }
  lexer.next();
}
