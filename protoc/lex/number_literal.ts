const UINT64_MAX = 0xffffffffffffffffn;

/** The integer token `text` (decimal, octal or hex); undefined when it is none or exceeds `max`. */
export function parseInteger(text: string, max: number): number | undefined {
  const isDecimal = text.charCodeAt(0) !== 0x30;
  if (isDecimal && text.length <= 15) {
    const value = Number(text);
    return value <= max ? value : undefined;
  }
  const value = parseInteger64(text, BigInt(max));
  return value === undefined ? undefined : Number(value);
}

/** The integer token `text`, up to 64 bits; undefined when it is none or exceeds `max`. */
export function parseInteger64(text: string, max: bigint = UINT64_MAX): bigint | undefined {
  let digits = text;
  if (text.charCodeAt(0) === 0x30) {
    if (/^0[xX]/.test(text)) {
      if (text.length === 2) return 0n;
    } else {
      if (!/^[0-7]+$/.test(text)) return undefined;
      digits = `0o${text}`;
    }
  }
  // Digits without end would make BigInt slow; no 64-bit number has so many after its zeros.
  if (digits.length > 32 && digits.replace(/^0[xo]?0*/i, "").length > 32) return undefined;
  const value = BigInt(digits);
  return value <= max ? value : undefined;
}

/** The value of a float token; one with an empty exponent was reported by the lexer. */
export function parseFloatToken(text: string): number {
  return Number(text.replace(/[eE][-+]?$/, ""));
}

/** A double as protoc writes it: 15 digits if they give the number back, else 17. */
export function formatDouble(value: number): string {
  return formatNumber(value, 15, (text) => Number(text) === value, 17);
}

/** A float as protoc writes it: 6 digits if they give the number back, else 9. */
export function formatFloat(value: number): string {
  // The C library counts underflow as a failure to read the text back, even when it is exact.
  const isNormal = Math.abs(value) >= 2 ** -126 || value === 0;
  return formatNumber(value, 6, (text) => isNormal && Math.fround(Number(text)) === value, 9);
}

function formatNumber(
  value: number,
  digits: number,
  isExact: (text: string) => boolean,
  moreDigits: number,
): string {
  if (Number.isNaN(value)) return "nan";
  if (value === Infinity) return "inf";
  if (value === -Infinity) return "-inf";
  const text = general(value, digits);
  return isExact(text) ? text : general(value, moreDigits);
}

/** C's `%.<precision>g`. */
function general(value: number, precision: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa, power] = value.toExponential(precision - 1).split("e") as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= precision) {
    const sign = exponent < 0 ? "-" : "+";
    return `${trimZeros(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return trimZeros(value.toFixed(precision - 1 - exponent));
}

function trimZeros(digits: string): string {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}
