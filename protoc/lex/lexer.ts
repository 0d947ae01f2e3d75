import {
  BLANK,
  classes,
  CONTROL,
  DIGIT,
  ESCAPE,
  HEX,
  LETTER,
  NEWLINE,
  OCTAL,
  SLASH,
  STAR,
} from "./character.ts";
import { LIMITS } from "../limits.ts";
import { CommentCollector, type Comments } from "./comments.ts";

/** Kinds of tokens. */
export const Token = {
  /** Before the first token. */
  start: 0,
  end: 1,
  identifier: 2,
  integer: 3,
  float: 4,
  string: 5,
  symbol: 6,
} as const;

/**
 * Splits a file into tokens as protoc's tokenizer does, with its messages. The token is described by
 * public fields rather than by an object, since files have many.
 */
export class Lexer {
  /** A value of {@linkcode Token}. */
  kind: number = Token.start;
  /** The character code of a symbol; 0 for other tokens. */
  symbol = 0;
  /** Offset of the token. */
  start = 0;
  /** Offset behind the token. */
  end = 0;
  /** Offset behind the token before. */
  previousEnd = 0;

  readonly #text: string;
  readonly #report: (offset: number, message: string) => void;
  /** NUL ends comments and strings; nearly no file has one. */
  readonly #hasNul: boolean;
  #at = 0;

  /** @param report Takes errors with their offset. */
  constructor(text: string, report: (offset: number, message: string) => void) {
    this.#text = text;
    this.#report = report;
    this.#hasNul = text.indexOf("\0") >= 0;
  }

  /** The token as written. */
  get text(): string {
    return this.#text.slice(this.start, this.end);
  }

  /** True when the token is the identifier `word`. */
  is(word: string): boolean {
    return this.end - this.start === word.length && this.kind === Token.identifier &&
      this.#text.startsWith(word, this.start);
  }

  /** Goes to the next token. */
  next(): void {
    this.previousEnd = this.end;
    const previousKind = this.kind;
    if (previousKind === Token.start && !this.#skipByteOrderMark()) return;
    const text = this.#text;
    const { length } = text;
    let at = this.#at;
    while (at < length) {
      const code = text.charCodeAt(at);
      if (code === 0x20 || code === NEWLINE) {
        at++;
        continue;
      }
      const flags = classes[code]!;
      if ((flags & LETTER) !== 0) {
        this.start = at;
        do at++; while (at < length && (classes[text.charCodeAt(at)]! & (LETTER | DIGIT)) !== 0);
        this.kind = Token.identifier;
        this.symbol = 0;
        this.end = this.#at = at;
        if (at - this.start > LIMITS.maxTokenBytes) this.#tooLong();
        return;
      }
      if ((flags & BLANK) !== 0) {
        at++;
        continue;
      }
      if (code === SLASH) {
        const next = text.charCodeAt(at + 1);
        if (next === SLASH) {
          at = this.#lineCommentEnd(at + 2);
          continue;
        }
        if (next === STAR) {
          this.#at = at + 2;
          this.#blockComment(undefined);
          at = this.#at;
          continue;
        }
      }
      if ((flags & CONTROL) !== 0) {
        at = this.#control(at);
        continue;
      }
      this.#at = at;
      this.#token(code, flags, previousKind);
      return;
    }
    this.#at = length;
    this.#endOfInput();
  }

  /** Gives up on the rest of the file: the next token is the end. */
  abandon(): void {
    this.#at = this.#text.length;
  }

  #endOfInput(): void {
    this.kind = Token.end;
    this.symbol = 0;
    this.start = this.end = this.#at;
  }

  #tooLong(): void {
    this.#report(this.start, `Token is longer than ${LIMITS.maxTokenBytes} bytes.`);
    // Nothing of the rest can be trusted; without it there is one clear error.
    this.abandon();
    this.#endOfInput();
  }

  /** Anything but an identifier, which starts at `#at` with the character `code`. */
  #token(code: number, flags: number, previousKind: number): void {
    const start = this.start = this.#at;
    this.symbol = 0;
    this.#at = start + 1;
    if ((flags & DIGIT) !== 0) {
      this.kind = this.#number(code === 0x30, false);
    } else if (code === 0x22 || code === 0x27) {
      this.#string(code);
      this.kind = Token.string;
    } else if (code === 0x2e && this.#looksAt(DIGIT)) {
      if (previousKind === Token.identifier && start === this.previousEnd) {
        this.#report(start, "Need space between identifier and decimal point.");
      }
      this.#at++;
      this.kind = this.#number(false, true);
    } else {
      if (code >= 0x80) this.#report(start, `Interpreting non ascii codepoint ${code}.`);
      this.kind = Token.symbol;
      this.symbol = code;
    }
    this.end = this.#at;
    if (this.end - start > LIMITS.maxTokenBytes) this.#tooLong();
  }

  #looksAt(flag: number): boolean {
    // Beyond the end charCodeAt is NaN, which indexes nothing.
    return ((classes[this.#text.charCodeAt(this.#at)] ?? 0) & flag) !== 0;
  }

  #skip(flag: number): void {
    const text = this.#text;
    let at = this.#at;
    while (((classes[text.charCodeAt(at)] ?? 0) & flag) !== 0) at++;
    this.#at = at;
  }

  /** Goes past the character when it is one of `a` and `b`. */
  #take(a: number, b: number): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code !== a && code !== b) return false;
    this.#at++;
    return true;
  }

  #number(startedWithZero: boolean, startedWithDot: boolean): number {
    let isFloat = startedWithDot;
    if (startedWithZero && this.#take(0x78, 0x58)) {
      if (this.#looksAt(HEX)) this.#skip(HEX);
      else this.#report(this.#at, '"0x" must be followed by hex digits.');
    } else if (startedWithZero && this.#looksAt(DIGIT)) {
      this.#skip(OCTAL);
      if (this.#looksAt(DIGIT)) {
        this.#report(this.#at, "Numbers starting with leading zero must be in octal.");
        this.#skip(DIGIT);
      }
    } else {
      this.#skip(DIGIT);
      if (!startedWithDot && this.#take(0x2e, 0x2e)) {
        isFloat = true;
        this.#skip(DIGIT);
      }
      if (this.#take(0x65, 0x45)) {
        isFloat = true;
        this.#take(0x2d, 0x2b);
        if (this.#looksAt(DIGIT)) this.#skip(DIGIT);
        else this.#report(this.#at, '"e" must be followed by exponent.');
      }
    }
    if (this.#looksAt(LETTER)) {
      this.#report(this.#at, "Need space between number and identifier.");
    } else if (this.#text.charCodeAt(this.#at) === 0x2e) {
      this.#report(
        this.#at,
        isFloat
          ? "Already saw decimal point or exponent; can't have another one."
          : "Hex and octal numbers must be integers.",
      );
    }
    return isFloat ? Token.float : Token.integer;
  }

  #string(quote: number): void {
    const text = this.#text;
    const { length } = text;
    let at = this.#at;
    for (;;) {
      if (at >= length || (this.#hasNul && text.charCodeAt(at) === 0)) {
        this.#report(at, "Unexpected end of string.");
        break;
      }
      const code = text.charCodeAt(at);
      if (code === NEWLINE) {
        this.#report(at, 'Multiline strings are not allowed. Did you miss a "?.');
        break;
      }
      at++;
      if (code === quote) break;
      if (code === 0x5c) {
        this.#at = at;
        this.#escape();
        at = this.#at;
      }
    }
    this.#at = at;
  }

  #escape(): void {
    if (this.#looksAt(ESCAPE | OCTAL)) {
      this.#at++;
    } else if (this.#take(0x78, 0x58)) {
      if (this.#looksAt(HEX)) this.#at++;
      else this.#report(this.#at, "Expected hex digits for escape sequence.");
    } else if (this.#take(0x75, 0x75)) {
      if (!this.#hexDigits(4)) {
        this.#report(this.#at, "Expected four hex digits for \\u escape sequence.");
      }
    } else if (this.#take(0x55, 0x55)) {
      const isInRange = this.#take(0x30, 0x30) && this.#take(0x30, 0x30) &&
        this.#take(0x30, 0x31) && this.#hexDigits(5);
      if (!isInRange) {
        this.#report(
          this.#at,
          "Expected eight hex digits up to 10ffff for \\U escape sequence",
        );
      }
    } else {
      this.#report(this.#at, "Invalid escape sequence in string literal.");
    }
  }

  #hexDigits(count: number): boolean {
    for (let i = 0; i < count; i++) {
      if (!this.#looksAt(HEX)) return false;
      this.#at++;
    }
    return true;
  }

  #control(at: number): number {
    this.#report(at, "Invalid control characters encountered in text.");
    const text = this.#text;
    do at++; while (at < text.length && text.charCodeAt(at) < 0x20);
    return at;
  }

  /** True unless the file starts with a broken UTF-8 byte order mark. */
  #skipByteOrderMark(): boolean {
    const text = this.#text;
    if (this.#at > 0 || text.charCodeAt(0) !== 0xef) return true;
    if (text.startsWith("\xef\xbb\xbf")) {
      this.#at = 3;
      return true;
    }
    this.#at = text.charCodeAt(1) === 0xbb ? 2 : 1;
    this.#report(
      this.#at,
      "Proto file starts with 0xEF but not UTF-8 BOM. Only UTF-8 is accepted for proto file.",
    );
    return false;
  }

  /** Behind the line break that ends a comment. */
  #lineCommentEnd(from: number): number {
    const text = this.#text;
    const newline = text.indexOf("\n", from);
    const end = newline < 0 ? text.length : newline + 1;
    if (!this.#hasNul) return end;
    const nul = text.indexOf("\0", from);
    return nul >= 0 && nul < end ? nul : end;
  }

  /**
   * Goes past a block comment whose `/*` is behind `#at`. Its lines, without the asterisks in front of
   * them, go to `lines` if given.
   */
  #blockComment(lines: string[] | undefined): void {
    const text = this.#text;
    const opening = this.#at - 2;
    let at = this.#at;
    let lineStart = at;
    for (;;) {
      const code = at < text.length ? text.charCodeAt(at) : 0;
      if (code === STAR && text.charCodeAt(at + 1) === SLASH) {
        lines?.push(text.slice(lineStart, at));
        at += 2;
        break;
      }
      if (code === NEWLINE) {
        at++;
        lines?.push(text.slice(lineStart, at));
        while ((classes[text.charCodeAt(at)] ?? 0) & BLANK) at++;
        if (text.charCodeAt(at) === STAR) {
          at++;
          if (text.charCodeAt(at) === SLASH) {
            at++;
            break;
          }
        }
        lineStart = at;
      } else if (code === SLASH && text.charCodeAt(at + 1) === STAR) {
        at++;
        this.#report(at, '"/*" inside block comment.  Block comments cannot be nested.');
      } else if (code === 0 && (at >= text.length || this.#hasNul)) {
        this.#report(at, "End-of-file inside block comment.");
        this.#report(opening, "  Comment started here.");
        lines?.push(text.slice(lineStart, at));
        break;
      } else {
        at++;
      }
    }
    this.#at = at;
  }

  /**
   * Goes to the next token like {@linkcode next}, and tells the comments on the way.
   *
   * A comment belongs to what stands before it when it is on the same line, or starts on the next line
   * and a blank line follows; to what comes after when no blank line is between; to nothing otherwise.
   */
  nextWithComments(): Comments {
    const collector = new CommentCollector();
    const atStart = this.kind === Token.start;
    let previousLineEnd = -1;
    let trailingEnd = -1;
    if (atStart) {
      // A broken mark is left to next(), which reports it.
      if (this.#text.startsWith("\xef\xbb\xbf")) this.#at = 3;
      collector.detachFromPrevious();
    } else {
      const line = this.#at;
      this.#skip(BLANK);
      const comment = this.#commentStart();
      if (comment === SLASH) {
        trailingEnd = this.#at;
        this.#collectLine(collector);
        collector.flush();
      } else if (comment === STAR) {
        this.#collectBlock(collector);
        trailingEnd = this.#at;
        this.#skip(BLANK);
        collector.flush();
      } else if (!this.#take(NEWLINE, NEWLINE)) {
        this.next();
        return collector.comments;
      }
      previousLineEnd = line;
    }
    for (;;) {
      this.#skip(BLANK);
      const comment = this.#commentStart();
      if (comment === SLASH) {
        this.#collectLine(collector);
      } else if (comment === STAR) {
        this.#collectBlock(collector);
        // The rest of the line is not a blank line of its own.
        this.#skip(BLANK);
        this.#take(NEWLINE, NEWLINE);
      } else if (this.#take(NEWLINE, NEWLINE)) {
        collector.flush();
        collector.detachFromPrevious();
      } else {
        this.next();
        if (this.#closesScope()) collector.flush();
        if (
          this.kind !== Token.end &&
          (this.#isSameLine(previousLineEnd) || this.#isSameLine(trailingEnd))
        ) {
          collector.detachSingle();
        }
        return collector.finish();
      }
    }
  }

  /** True when no line break lies between `offset` and the end of the token. */
  #isSameLine(offset: number): boolean {
    if (offset < 0) return false;
    const newline = this.#text.indexOf("\n", offset);
    return newline < 0 || newline >= this.end;
  }

  #closesScope(): boolean {
    const { symbol } = this;
    return this.kind === Token.end || symbol === 0x7d || symbol === 0x5d || symbol === 0x29;
  }

  /** Goes past `//` or the opening of a block comment and returns its second character; else 0. */
  #commentStart(): number {
    const text = this.#text;
    if (text.charCodeAt(this.#at) !== SLASH) return 0;
    const code = text.charCodeAt(this.#at + 1);
    if (code !== SLASH && code !== STAR) return 0;
    this.#at += 2;
    return code;
  }

  #collectLine(collector: CommentCollector): void {
    const end = this.#lineCommentEnd(this.#at);
    collector.addLine(this.#text.slice(this.#at, end));
    this.#at = end;
  }

  #collectBlock(collector: CommentCollector): void {
    const lines: string[] = [];
    this.#blockComment(lines);
    collector.addBlock(lines.join(""));
  }
}
