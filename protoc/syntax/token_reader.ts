import type { Comments } from "../lex/comments.ts";
import { LIMITS } from "../limits.ts";
import { Lexer, Token } from "../lex/lexer.ts";
import { parseInteger } from "../lex/number_literal.ts";
import type { Source } from "../lex/source.ts";
import type { Location, SourceInfo } from "./source_info.ts";
import { unquote } from "../lex/string_literal.ts";

/** Character codes of the symbols of the language. */
export const Punctuator = {
  openParen: 0x28,
  closeParen: 0x29,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  semicolon: 0x3b,
  less: 0x3c,
  equals: 0x3d,
  greater: 0x3e,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

/** The largest value of `int32`. */
export const INT32_MAX = 0x7fffffff;

/** Thrown, and caught by the statement around, when a statement makes no sense any further. */
class StatementError extends Error {}

/** One for all: the error has been reported, and nobody looks at the stack. */
const statementError = new StatementError("The statement cannot be read; its error is reported.");

/**
 * The tokens of a file, and the needs of all rules of the grammar: expectations with their messages,
 * recovery after errors, and, if asked for, source locations with their comments.
 */
export class TokenReader {
  readonly source: Source;
  readonly lexer: Lexer;
  /** Undefined when nobody asked for source info. */
  readonly info: SourceInfo | undefined;
  /** Levels of messages around the token. */
  depth = 0;
  /** Levels of groups around the token. */
  groupDepth = 0;
  #errorCount = 0;
  #leading = "";
  #detached: string[] = [];
  readonly #report: (offset: number, message: string, isWarning: boolean) => void;

  constructor(
    source: Source,
    info: SourceInfo | undefined,
    report: (offset: number, message: string, isWarning: boolean) => void,
  ) {
    this.source = source;
    this.info = info;
    this.#report = report;
    this.lexer = new Lexer(source.text, (offset, message) => this.errorAt(offset, message));
    if (info) {
      const comments = this.lexer.nextWithComments();
      this.#keep(comments);
    } else {
      this.lexer.next();
    }
  }

  /** True when something was reported that makes the file useless. */
  get hadErrors(): boolean {
    return this.#errorCount > 0;
  }

  /** Reports an error at an offset; after `maxDiagnostics` the file ends there. */
  errorAt(offset: number, message: string): void {
    if (++this.#errorCount > LIMITS.maxDiagnostics) this.lexer.abandon();
    else this.#report(offset, message, false);
  }

  /** Reports an error at the token. */
  error(message: string): void {
    this.errorAt(this.lexer.start, message);
  }

  /** Reports what does not stop the file from being used. */
  warningAt(offset: number, message: string): void {
    this.#report(offset, message, true);
  }

  /** Gives up the statement, after an error that was reported. */
  stop(): never {
    throw statementError;
  }

  /** Reports an error at the token and gives up the statement. */
  fail(message: string): never {
    this.error(message);
    throw statementError;
  }

  get atEnd(): boolean {
    return this.lexer.kind === Token.end;
  }

  /** Goes past the symbol when it is the token. */
  takeSymbol(symbol: number): boolean {
    if (this.lexer.symbol !== symbol) return false;
    this.lexer.next();
    return true;
  }

  /** Goes past the identifier when it is the token. */
  takeWord(word: string): boolean {
    if (!this.lexer.is(word)) return false;
    this.lexer.next();
    return true;
  }

  expectSymbol(symbol: number, message?: string): void {
    if (this.lexer.symbol !== symbol) {
      this.fail(message ?? `Expected "${String.fromCharCode(symbol)}".`);
    }
    this.lexer.next();
  }

  expectWord(word: string): void {
    if (!this.takeWord(word)) this.fail(`Expected "${word}".`);
  }

  expectIdentifier(message: string): string {
    const { lexer } = this;
    if (lexer.kind !== Token.identifier) this.fail(message);
    const { text } = lexer;
    lexer.next();
    return text;
  }

  /** An integer from 0 to 2^31-1; one out of range is reported and read as 0. */
  expectInteger(message: string, max: number = INT32_MAX): number {
    const { lexer } = this;
    if (lexer.kind !== Token.integer) this.fail(message);
    let value = parseInteger(lexer.text, max);
    if (value === undefined) {
      this.error("Integer out of range.");
      value = 0;
    }
    lexer.next();
    return value;
  }

  /** An integer from -2^31 to 2^31-1. */
  expectSignedInteger(message: string): number {
    if (this.takeSymbol(Punctuator.minus)) {
      const value = this.expectInteger(message, INT32_MAX + 1);
      return value === 0 ? 0 : -value;
    }
    return this.expectInteger(message);
  }

  /** Adjacent string literals as one, one character a byte. */
  expectString(message: string): string {
    const { lexer } = this;
    if (lexer.kind !== Token.string) this.fail(message);
    let value = unquote(lexer.text);
    lexer.next();
    while ((lexer.kind as number) === Token.string) {
      value += unquote(lexer.text);
      lexer.next();
    }
    return value;
  }

  /**
   * Goes past the `;`, `{` or `}` that ends a declaration, and gives it its comments.
   *
   * @param location The declaration; undefined when it has no location of its own.
   */
  takeEnd(symbol: number, location: Location | undefined): boolean {
    const { lexer } = this;
    if (lexer.symbol !== symbol) return false;
    if (!this.info) {
      lexer.next();
      return true;
    }
    const comments = lexer.nextWithComments();
    if (location) {
      location.leading = this.#leading;
      location.trailing = comments.trailing;
      location.detached = this.#detached;
      this.#detached = comments.detached;
    } else if (symbol === Punctuator.closeBrace) {
      this.#detached = comments.detached;
    } else {
      for (const comment of comments.detached) this.#detached.push(comment);
    }
    this.#leading = comments.leading;
    return true;
  }

  expectEnd(symbol: number, location: Location | undefined): void {
    if (!this.takeEnd(symbol, location)) {
      this.fail(`Expected "${String.fromCharCode(symbol)}".`);
    }
  }

  /** Goes past the token at the top of the file after an error there. */
  nextAtTop(): void {
    if (this.info) this.#keep(this.lexer.nextWithComments());
    else this.lexer.next();
  }

  #keep(comments: Comments): void {
    this.#leading = comments.leading;
    this.#detached = comments.detached;
  }

  /** Opens a location at the token, `path` below `parent`. */
  open(parent: Location | undefined, first: number, second = -1): Location | undefined {
    if (!this.info) return undefined;
    const base = parent ? parent.path : [];
    const path = second < 0 ? [...base, first] : [...base, first, second];
    return this.info.add(path, this.lexer.start);
  }

  /** Closes a location behind the last token taken, unless it was closed before. */
  close(location: Location | undefined): void {
    if (location && location.end < 0) location.end = this.lexer.previousEnd;
  }

  /** Goes on behind the statement that could not be read. */
  skipStatement(): void {
    const { lexer } = this;
    while (lexer.kind !== Token.end) {
      if (this.takeEnd(Punctuator.semicolon, undefined)) return;
      if (this.takeSymbol(Punctuator.openBrace)) return this.#skipBlock();
      if (lexer.symbol === Punctuator.closeBrace) return;
      lexer.next();
    }
  }

  #skipBlock(): void {
    const { lexer } = this;
    let depth = 1;
    while (lexer.kind !== Token.end) {
      if (this.takeEnd(Punctuator.closeBrace, undefined)) {
        if (--depth === 0) return;
      } else if (this.takeSymbol(Punctuator.openBrace)) {
        depth++;
      }
      // As in protoc, the token after a brace is passed over unseen.
      lexer.next();
    }
  }
}

/**
 * Runs the rule for one statement; after an error in it, goes on behind it.
 *
 * @param afterError Called when the statement has been skipped.
 */
export function recover(
  reader: TokenReader,
  statement: () => void,
  afterError?: () => void,
): void {
  const { depth, groupDepth } = reader;
  try {
    statement();
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    reader.depth = depth;
    reader.groupDepth = groupDepth;
    reader.skipStatement();
    afterError?.();
  }
}
