import { TextLexer, TokenKind } from "./lexer.ts";

/** Messages inside messages that options may have; readers of descriptors refuse more. */
export const MAX_LITERAL_DEPTH = 100;

/** Something that is wrong with a text. */
export interface TextFault {
  readonly message: string;
  /** Where in the text, in bytes. */
  readonly offset: number;
}

/** Thrown to leave the parse; its message has been recorded. */
export class Stop extends Error {}

/** The tokens of one literal, with what went wrong. */
export class TextReader {
  /** In the order they were found. */
  readonly errors: TextFault[] = [];
  readonly lexer: TextLexer;
  #depth: number;

  constructor(text: string, depth: number) {
    this.#depth = depth;
    this.lexer = new TextLexer(text, (message) => {
      this.errors.push({ message, offset: this.lexer?.position ?? 0 });
    });
    this.lexer.next();
  }

  fail(message: string): never {
    this.errors.push({ message, offset: this.lexer.start });
    throw new Stop();
  }

  looksAt(text: string): boolean {
    return this.lexer.text === text;
  }

  take(text: string): boolean {
    if (this.lexer.text !== text) return false;
    this.lexer.next();
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) this.fail(`Expected "${text}", found "${this.lexer.text}".`);
  }

  identifier(): string {
    const { kind, text } = this.lexer;
    if (kind !== TokenKind.identifier) this.fail(`Expected identifier, got: ${text}`);
    this.lexer.next();
    return text;
  }

  /** Fields may be followed by one comma or semicolon. */
  separator(): void {
    if (!this.take(";")) this.take(",");
  }

  /** Calls `item` for each part of a list up to its `]`; the `[` is taken. */
  list(item: () => void): void {
    if (this.take("]")) return;
    for (;;) {
      item();
      if (this.take("]")) return;
      this.expect(",");
    }
  }

  /** A message in braces or angle brackets; `field` reads one field. */
  block(field: () => void): void {
    this.#depth++;
    this.checkDepth();
    const isAngle = this.take("<");
    if (!isAngle) this.expect("{");
    while (!this.looksAt(">") && !this.looksAt("}")) field();
    this.expect(isAngle ? ">" : "}");
    this.#depth--;
  }

  /** Fails when the current message is too deep. */
  checkDepth(): void {
    if (this.#depth <= MAX_LITERAL_DEPTH) return;
    this.fail(
      "Message is too deep, the parser exceeded the configured recursion limit of " +
        `${MAX_LITERAL_DEPTH}.`,
    );
  }

  /** `[name]` or `[prefix/name]`, the slash staying with the prefix. */
  bracketName(): { prefix: string; name: string } {
    const { lexer } = this;
    lexer.reportUrl = true;
    lexer.next();
    let text = "";
    while (lexer.kind === TokenKind.url) {
      text += lexer.text;
      lexer.next();
    }
    lexer.reportUrl = false;
    this.expect("]");
    const slash = text.lastIndexOf("/") + 1;
    const prefix = text.slice(0, slash);
    const name = text.slice(slash);
    if (prefix === "/") this.fail("Type URL prefix is empty");
    if (prefix.startsWith("/")) this.fail('Type URL starts with "/"');
    const percent = /%(?![0-9a-fA-F]{2})/.exec(prefix);
    if (percent) {
      const shown = prefix.slice(percent.index, percent.index + 3);
      this.fail(`Invalid percent encode, got: "${shown}"`);
    }
    for (const part of name.split(".")) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(part)) {
        this.fail(`Invalid identifier in type name, got: "${part}"`);
      }
    }
    return { prefix, name };
  }
}
