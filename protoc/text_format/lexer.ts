/** Kinds of tokens of the text format. */
export const TokenKind = {
  end: 0,
  identifier: 1,
  integer: 2,
  float: 3,
  string: 4,
  symbol: 5,
  url: 6,
} as const;

const Class = {
  letter: 1,
  digit: 2,
  space: 4,
  hex: 8,
  octal: 16,
  url: 32,
  escape: 64,
} as const;

const classes = new Uint8Array(128);
function mark(characters: string, bit: number): void {
  for (let i = 0; i < characters.length; i++) classes[characters.charCodeAt(i)]! |= bit;
}
mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", Class.letter | Class.url);
mark("0123456789", Class.digit | Class.url);
mark("0123456789abcdefABCDEF", Class.hex);
mark("01234567", Class.octal);
mark(" \t\n\v\f\r", Class.space);
mark("-.~!$&()*+,;=%/", Class.url);
mark("abfnrtv\\?'\"", Class.escape);

function is(code: number, bits: number): boolean {
  return code < 128 && (classes[code]! & bits) !== 0;
}

/**
 * Tokens of the protobuf text format (one character a byte), one at a time, the way protoc's tokenizer cuts them:
 * `#` starts a comment and `f` may follow a float. Problems are handed to `report` and the scan goes
 * on, so that the errors of one literal come out in protoc's order.
 */
export class TextLexer {
  /** Kind of the current token, one of {@linkcode TokenKind}. */
  kind: number = TokenKind.end;
  /** Text of the current token, as written. */
  text = "";
  /** Where the current token begins. */
  start = 0;
  /** Deliver runs of URL characters as one token (inside `[…]` of a field name). */
  reportUrl = false;

  #source: string;
  #report: (message: string) => void;
  #position = 0;

  constructor(source: string, report: (message: string) => void) {
    this.#source = source;
    this.#report = report;
  }

  /** Moves to the next token. */
  next(): void {
    const source = this.#source;
    const length = source.length;
    const previousIsIdentifier = this.kind === TokenKind.identifier;
    const previousEnd = this.#position;
    while (this.#position < length) {
      const start = this.#position;
      let code = source.charCodeAt(start);
      if (is(code, Class.space)) {
        this.#skip(Class.space);
        continue;
      }
      if (code === 0x23) {
        const newline = source.indexOf("\n", start);
        this.#position = newline < 0 ? length : newline + 1;
        continue;
      }
      if (code < 0x20) {
        this.#report("Invalid control characters encountered in text.");
        while (this.#position < length) {
          code = source.charCodeAt(this.#position);
          if (code >= 0x20) break;
          this.#position++;
        }
        continue;
      }
      this.#position = start + 1;
      this.#token(this.#scan(code, previousIsIdentifier && start === previousEnd), start);
      return;
    }
    this.kind = TokenKind.end;
    this.text = "";
    this.start = length;
  }

  /** Where the scan stands: behind the current token, or in the middle of a faulty one. */
  get position(): number {
    return this.#position;
  }

  #token(kind: number, start: number): void {
    this.kind = kind;
    this.start = start;
    this.text = this.#source.slice(start, this.#position);
  }

  #scan(code: number, afterIdentifier: boolean): number {
    if (this.reportUrl) {
      if (!is(code, Class.url)) return this.#symbol(code);
      this.#skip(Class.url);
      return TokenKind.url;
    }
    if (is(code, Class.letter)) {
      this.#skip(Class.letter | Class.digit);
      return TokenKind.identifier;
    }
    if (is(code, Class.digit)) return this.#number(code === 0x30, false);
    if (code === 0x2e) {
      if (!this.#take(Class.digit)) return TokenKind.symbol;
      if (afterIdentifier) this.#report("Need space between identifier and decimal point.");
      return this.#number(false, true);
    }
    if (code === 0x22 || code === 0x27) {
      this.#string(code);
      return TokenKind.string;
    }
    return this.#symbol(code);
  }

  #symbol(code: number): number {
    if (code >= 0x80) {
      this.#position--;
      this.#report(`Interpreting non ascii codepoint ${code}.`);
      this.#position++;
    }
    return TokenKind.symbol;
  }

  #skip(bits: number): void {
    const source = this.#source;
    let at = this.#position;
    while (at < source.length && is(source.charCodeAt(at), bits)) at++;
    this.#position = at;
  }

  #take(bits: number): boolean {
    if (!is(this.#source.charCodeAt(this.#position), bits)) return false;
    this.#position++;
    return true;
  }

  /** Takes the lower-case letter `letter` (a code) in either case. */
  #takeLetter(letter: number): boolean {
    if ((this.#source.charCodeAt(this.#position) | 0x20) !== letter) return false;
    this.#position++;
    return true;
  }

  #takeCode(code: number): boolean {
    if (this.#source.charCodeAt(this.#position) !== code) return false;
    this.#position++;
    return true;
  }

  #number(startedWithZero: boolean, startedWithDot: boolean): number {
    let float = startedWithDot;
    if (startedWithZero && this.#takeLetter(0x78)) {
      if (!this.#take(Class.hex)) this.#report('"0x" must be followed by hex digits.');
      this.#skip(Class.hex);
    } else if (startedWithZero && is(this.#source.charCodeAt(this.#position), Class.digit)) {
      this.#skip(Class.octal);
      if (this.#take(Class.digit)) {
        this.#report("Numbers starting with leading zero must be in octal.");
        this.#skip(Class.digit);
      }
    } else {
      this.#skip(Class.digit);
      if (!startedWithDot && this.#takeCode(0x2e)) {
        float = true;
        this.#skip(Class.digit);
      }
      if (this.#takeLetter(0x65)) {
        float = true;
        if (!this.#takeCode(0x2d)) this.#takeCode(0x2b);
        if (!this.#take(Class.digit)) this.#report('"e" must be followed by exponent.');
        this.#skip(Class.digit);
      }
      if (this.#takeLetter(0x66)) float = true;
    }
    const code = this.#source.charCodeAt(this.#position);
    if (is(code, Class.letter)) {
      this.#report("Need space between number and identifier.");
    } else if (code === 0x2e) {
      this.#report(
        float
          ? "Already saw decimal point or exponent; can't have another one."
          : "Hex and octal numbers must be integers.",
      );
    }
    return float ? TokenKind.float : TokenKind.integer;
  }

  #string(delimiter: number): void {
    const source = this.#source;
    for (;;) {
      const code = source.charCodeAt(this.#position);
      // NaN (the end of the text) and NUL both end a string in protoc.
      if (!code) return this.#report("Unexpected end of string.");
      if (code === 0x0a) {
        return this.#report('Multiline strings are not allowed. Did you miss a "?.');
      }
      this.#position++;
      if (code === delimiter) return;
      if (code === 0x5c) this.#escape();
    }
  }

  #escape(): void {
    if (this.#take(Class.escape) || this.#take(Class.octal)) return;
    if (this.#takeLetter(0x78)) {
      if (!this.#take(Class.hex)) this.#report("Expected hex digits for escape sequence.");
    } else if (this.#takeCode(0x75)) {
      if (!this.#takeHex(4)) this.#report("Expected four hex digits for \\u escape sequence.");
    } else if (this.#takeCode(0x55)) {
      const inRange = this.#takeCode(0x30) && this.#takeCode(0x30) &&
        (this.#takeCode(0x30) || this.#takeCode(0x31)) && this.#takeHex(5);
      if (!inRange) {
        this.#report("Expected eight hex digits up to 10ffff for \\U escape sequence");
      }
    } else {
      this.#report("Invalid escape sequence in string literal.");
    }
  }

  #takeHex(count: number): boolean {
    for (let i = 0; i < count; i++) if (!this.#take(Class.hex)) return false;
    return true;
  }
}
