/** Columns go on to the next multiple of this at a tab, as in protoc's tokenizer. */
const TAB_WIDTH = 8;

/** Zero-based position; the column counts bytes, with tabs widened. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * The text of a file as protoc sees it: bytes. `text` has one character (0 to 255) for each byte, so
 * offsets and columns count bytes as they do in protoc, and text that is not valid UTF-8 survives.
 */
export class Source {
  /** One character a byte. */
  readonly text: string;
  /** False when some byte is above 127. */
  readonly isAscii: boolean;
  #lines: number[] | undefined;
  #hasTabs: boolean | undefined;
  /** Line of the last lookup: the next is likely near. */
  #lastLine = 0;
  /** The last column that was counted: the next is likely behind it on a line that may be long. */
  #columnLine = -1;
  #columnOffset = 0;
  #column = 0;

  /** Takes text, or the bytes of a file. */
  constructor(content: string | Uint8Array) {
    // deno-lint-ignore no-control-regex
    if (typeof content === "string" && !/[^\x00-\x7f]/.test(content)) {
      this.text = content;
      this.isAscii = true;
      return;
    }
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    const text = decoder.decode(bytes);
    this.isAscii = !nonAscii.test(text);
    this.text = this.isAscii ? text : byteString(bytes);
  }

  /** Start offsets of all lines. */
  get lines(): readonly number[] {
    if (this.#lines) return this.#lines;
    const { text } = this;
    const lines = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.push(at + 1);
    return this.#lines = lines;
  }

  /** The zero-based line of an offset. */
  lineAt(offset: number): number {
    const { lines } = this;
    let line = this.#lastLine;
    if (offset >= lines[line]!) {
      const near = Math.min(line + 8, lines.length - 1);
      while (line < near && offset >= lines[line + 1]!) line++;
      if (line + 1 >= lines.length || offset < lines[line + 1]!) return this.#lastLine = line;
    }
    let low = 0;
    let high = lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (lines[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return this.#lastLine = low;
  }

  /** The zero-based column of an offset on a line that {@linkcode lineAt} gave. */
  columnAt(offset: number, line: number): number {
    const start = this.lines[line]!;
    this.#hasTabs ??= this.text.indexOf("\t") >= 0;
    if (!this.#hasTabs) return offset - start;
    const isAhead = this.#columnLine === line && this.#columnOffset <= offset;
    let column = isAhead ? this.#column : 0;
    for (let at = isAhead ? this.#columnOffset : start; at < offset; at++) {
      if (this.text.charCodeAt(at) === 0x09) column += TAB_WIDTH - column % TAB_WIDTH;
      else column++;
    }
    this.#columnLine = line;
    this.#columnOffset = offset;
    this.#column = column;
    return column;
  }

  /** The zero-based position of an offset. */
  position(offset: number): Position {
    const line = this.lineAt(offset);
    return { line, column: this.columnAt(offset, line) };
  }

  /** The part between two offsets as ordinary text; what is not UTF-8 becomes U+FFFD. */
  slice(start: number, end: number): string {
    const part = this.text.slice(start, end);
    return this.isAscii ? part : decodeByteString(part);
  }
}

// deno-lint-ignore no-control-regex
const nonAscii = /[^\x00-\x7f]/;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes that one call turns to characters: arguments of a call lie on the stack. */
const CHUNK = 8192;

/** Text with one character a byte. */
export function byteString(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[]);
  }
  return text;
}

/** The bytes of a text that has one character a byte. */
export function bytesOfString(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Ordinary text from one character a byte; what is not UTF-8 becomes U+FFFD. */
export function decodeByteString(text: string): string {
  return nonAscii.test(text) ? decoder.decode(bytesOfString(text)) : text;
}

/** Ordinary text from one character a byte, or the bytes when they are not valid UTF-8. */
export function textOrBytes(text: string): string | Uint8Array {
  if (!nonAscii.test(text)) return text;
  const bytes = bytesOfString(text);
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return bytes;
  }
}
