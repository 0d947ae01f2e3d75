/**
 * Checks of the option bags that callers give. A name that is not known is refused with the nearest
 * one that is: a misspelt option would otherwise be an option not set.
 *
 * @module
 */

/** Milliseconds of the longest timer: 2³¹ − 1, some 24 days. */
export const MAX_TIMER_MS = 0x7fff_ffff;

/**
 * Checks that `given` is an object with known names only. Names whose value is undefined are as if
 * they were not there, but must be known too.
 *
 * @param what What the options are for: "Cannot `what` as …".
 * @throws {TypeError} If it is no object, or a name is not known.
 */
export function checkOptions(what: string, known: readonly string[], given: unknown): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`Cannot ${what} as its options must be an object: got ${kindOf(given)}`);
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = closestName(name, known);
    throw new TypeError(
      `Cannot ${what} as it has no option "${name}"${
        near === null ? "" : `: did you mean "${near}"?`
      }`,
    );
  }
}

/**
 * Checks a count: a whole number from `least` on, or Infinity where that is allowed.
 *
 * @throws {TypeError} If it is no number. @throws {RangeError} If it is out of range.
 */
export function checkCount(
  what: string,
  name: string,
  value: unknown,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER,
): void {
  if (value === undefined) return;
  if (typeof value !== "number") {
    throw new TypeError(`Cannot ${what} as ${name} must be a number: got ${kindOf(value)}`);
  }
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(
    `Cannot ${what} as ${name} must be a whole number from ${least} to ${most}: current value is ${value}`,
  );
}

/**
 * Checks a time in milliseconds: a number >= 0. Fractions are allowed; Infinity stands for no limit.
 *
 * @throws {TypeError} If it is no number. @throws {RangeError} If it is negative or NaN.
 */
export function checkTime(what: string, name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "number") {
    throw new TypeError(
      `Cannot ${what} as ${name} must be a number of milliseconds: got ${kindOf(value)}`,
    );
  }
  if (value >= 0) return;
  throw new RangeError(
    `Cannot ${what} as ${name} must be a number of milliseconds >= 0: current value is ${value}`,
  );
}

/** The name among `known` that `name` is nearest to, if it is near at all. */
export function closestName(name: string, known: readonly string[]): string | null {
  const plain = simplified(name);
  let best: string | null = null;
  // A third of the letters may differ, and two in short names.
  let least = Math.max(2, Math.floor(plain.length / 3)) + 1;
  for (const candidate of known) {
    const d = distance(plain, simplified(candidate), least);
    if (d < least) [least, best] = [d, candidate];
  }
  return best;
}

/** `max_idle_per_host` and `maxIdlePerHost` are one name to whoever comes from another language. */
function simplified(name: string): string {
  return name.slice(0, 64).replace(/[_-]/g, "").toLowerCase();
}

/** Edits (insert, delete, replace, swap neighbours) between two names, or `most` if there are more. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let d = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        d = Math.min(d, before[j - 2]! + 1);
      }
      row.push(d);
    }
    [before, above] = [above, row];
  }
  return Math.min(above[b.length]!, most);
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
}
