/**
 * Numbers and strings as Go's printers write them: the command's output is grpcurl's.
 *
 * @module
 */

/** The shortest digits that read as the same number, and where the point stands among them. */
function digitsOf(value: number, isFloat: boolean): { digits: string; point: number } {
  let text = Math.abs(value).toExponential();
  if (isFloat) {
    for (let digits = 0; digits < 9; digits++) {
      text = Math.abs(value).toExponential(digits);
      if (Math.fround(Number(text)) === Math.fround(Math.abs(value))) break;
    }
  }
  const [mantissa, exponent] = text.split("e") as [string, string];
  const digits = mantissa.replace(".", "").replace(/0+$/, "");
  return { digits: digits === "" ? "0" : digits, point: Number(exponent) + 1 };
}

/** `strconv.FormatFloat(value, 'g', -1, 64)`, or 32 bits. */
export function shortest(value: number, isFloat: boolean): string {
  const { digits, point } = digitsOf(value, isFloat);
  // From the seventh digit on, exponents show.
  const text = point < -3 || point > 6 ? scientific(digits, point - 1) : plain(digits, point);
  return isNegative(value) ? `-${text}` : text;
}

/** A number as `encoding/json` writes it. */
export function jsonNumber(value: number, isFloat: boolean): string {
  const { digits, point } = digitsOf(value, isFloat);
  const text = value !== 0 && (point < -5 || point > 21)
    ? scientific(digits, point - 1).replace(/e-0(\d)$/, "e-$1")
    : plain(digits, point);
  return isNegative(value) ? `-${text}` : text;
}

/** `%f`: six digits behind the point. */
export function fixed(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  // Beyond 10²¹ `toFixed` would write an exponent.
  const whole = Math.abs(value) < 1e21 ? null : BigInt(value);
  return whole === null ? value.toFixed(6) : `${whole}.000000`;
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

function scientific(digits: string, exponent: number): string {
  const rest = digits.slice(1);
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits[0]}${rest === "" ? "" : `.${rest}`}e${exponent < 0 ? "-" : "+"}${power}`;
}

function plain(digits: string, point: number): string {
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return digits.padEnd(point, "0");
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** A string as `encoding/json` writes it: safe inside of HTML. */
export function jsonString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  '"': '\\"',
  "\\": "\\\\",
};

/** Bytes as a string literal of the text format: all but printable ASCII as octal numbers. */
export function quotedBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    text += ESCAPES[character] ??
      (byte >= 0x20 && byte < 0x7f ? character : `\\${byte.toString(8).padStart(3, "0")}`);
  }
  return `"${text}"`;
}

/** A string as a literal of proto source: printable characters stay. */
export function quotedString(text: string): string {
  let quoted = "";
  for (const character of text) {
    const code = character.codePointAt(0)!;
    quoted += ESCAPES[character] ??
      (isPrintable(character)
        ? character
        : code > 0xffff
        ? `\\U${code.toString(16).toUpperCase().padStart(8, "0")}`
        : code > 0x7f
        ? `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`
        : `\\${code.toString(8).padStart(3, "0")}`);
  }
  return `"${quoted}"`;
}

/** Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and the space. */
function isPrintable(character: string): boolean {
  return character === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}
