/** Classes of bytes, as flags. */
export const LETTER = 1;
export const DIGIT = 2;
export const OCTAL = 4;
export const HEX = 8;
/** Blank, but not the end of a line. */
export const BLANK = 16;
/** Neither blank nor printable. */
export const CONTROL = 32;
/** Characters that may follow a backslash on their own. */
export const ESCAPE = 64;

export const NEWLINE = 0x0a;
export const SLASH = 0x2f;
export const STAR = 0x2a;

/** The classes of each of the 256 bytes. */
export const classes: Uint8Array = /* @__PURE__ */ characterClasses();

function characterClasses(): Uint8Array {
  const table = new Uint8Array(256);
  const mark = (characters: string, flag: number) => {
    for (let i = 0; i < characters.length; i++) table[characters.charCodeAt(i)]! |= flag;
  };
  mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", LETTER);
  mark("0123456789", DIGIT);
  mark("01234567", OCTAL);
  mark("0123456789abcdefABCDEF", HEX);
  mark(" \t\r\v\f", BLANK);
  mark("abfnrtv\\?'\"", ESCAPE);
  for (let code = 0; code < 0x20; code++) {
    if (code !== NEWLINE && (table[code]! & BLANK) === 0) table[code]! |= CONTROL;
  }
  return table;
}
