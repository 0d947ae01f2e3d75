// Durations, as Go writes them.

/** A duration: milliseconds, or text as `"10s"`, `"1h30m"`, `"300ms"`. */
export type Duration = number | string;

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;

/** Milliseconds of a duration in text; undefined if it is none. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) return undefined;
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0);
}

/**
 * Milliseconds of a duration.
 *
 * @throws {TypeError} If it is none, or less than 0.
 */
export function milliseconds(what: string, name: string, value: Duration): number {
  const ms = typeof value === "string" ? parseDuration(value) : value;
  if (typeof ms === "number" && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER) return ms;
  throw new TypeError(
    `Cannot ${what} as ${name} must be milliseconds, or a duration such as "10s" or "1h30m": current value is ${
      typeof value === "string" ? JSON.stringify(value) : String(value)
    }`,
  );
}
