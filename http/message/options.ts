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

/** The options that are set: laid over defaults, one that is undefined leaves them. */
export function givenOptions<T extends object>(options: T | undefined): {
  [K in keyof T]?: Exclude<T[K], undefined>;
} {
  const given = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/**
 * The names of an option bag, for {@linkcode checkOptions}. A name that is forgotten, or is none, does
 * not compile.
 */
export function optionNames<T>(
  names: { readonly [K in keyof Required<T>]: true },
): readonly string[] {
  return Object.keys(names);
}

/**
 * Checks a count, if it is given: an integer in a range. Infinity is one where `most` is.
 *
 * @throws {TypeError} If it is none.
 */
export function checkCount(
  what: string,
  name: string,
  value: unknown,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER,
): void {
  if (value === undefined) return;
  if (
    (Number.isInteger(value) || value === Infinity) && (value as number) >= least &&
    (value as number) <= most
  ) return;
  const range = most >= Number.MAX_SAFE_INTEGER ? `>= ${least}` : `from ${least} to ${most}`;
  throw wrong(what, name, `an integer ${range}`, value);
}

/**
 * Checks a number, if it is given. Fractions and Infinity are allowed.
 *
 * @throws {TypeError} If it is none, or less than `least`.
 */
export function checkNumber(what: string, name: string, value: unknown, least = 0): void {
  if (value === undefined || (typeof value === "number" && value >= least)) return;
  throw wrong(what, name, `a number >= ${least}`, value);
}

/**
 * Checks a time, if it is given: a number of milliseconds. Fractions and Infinity are allowed.
 *
 * @throws {TypeError} If it is none, or less than `least`.
 */
export function checkTime(what: string, name: string, value: unknown, least = 0): void {
  if (value === undefined || (typeof value === "number" && value >= least)) return;
  throw wrong(what, name, `a number >= ${least}, in milliseconds`, value);
}

/**
 * Checks a switch, if it is given.
 *
 * @throws {TypeError} If it is neither true nor false.
 */
export function checkBoolean(what: string, name: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw new TypeError(
    `Cannot ${what} as ${name} must be true or false: current value is ${shown(value, String)}`,
  );
}

/**
 * Checks a text, if it is given.
 *
 * @throws {TypeError} If it is none.
 */
export function checkText(what: string, name: string, value: unknown): void {
  if (value === undefined || typeof value === "string") return;
  throw wrong(what, name, "a string", value);
}

/**
 * Checks a callback, if it is given. Null is as good as none.
 *
 * @throws {TypeError} If it is no function.
 */
export function checkCallback(what: string, name: string, value: unknown): void {
  if (value === undefined || value === null || typeof value === "function") return;
  throw wrong(what, name, "a function", value);
}

/**
 * Checks a choice, if it is given.
 *
 * @throws {TypeError} If it is not among `choices`.
 */
export function checkChoice(
  what: string,
  name: string,
  value: unknown,
  choices: readonly string[],
): void {
  if (value === undefined || (choices as readonly unknown[]).includes(value)) return;
  const quoted = choices.map((choice) => JSON.stringify(choice));
  const last = quoted.pop();
  throw wrong(what, name, quoted.length > 0 ? `${quoted.join(", ")} or ${last}` : last!, value);
}

/**
 * Checks a signal, if it is given.
 *
 * @throws {TypeError} If it is no `AbortSignal`.
 */
export function checkSignal(what: string, name: string, value: unknown): void {
  if (
    value === undefined ||
    (typeof value === "object" && value !== null &&
      typeof (value as AbortSignal).aborted === "boolean" &&
      typeof (value as AbortSignal).addEventListener === "function")
  ) return;
  throw wrong(what, name, "an AbortSignal", value);
}

function wrong(what: string, name: string, rule: string, value: unknown): TypeError {
  return new TypeError(
    `Cannot ${what} as ${name} must be ${rule}: current value is ${shownValue(value)}`,
  );
}

/** A wrong value as messages show it, its text in quotes. */
export function shownValue(value: unknown): string {
  return shown(value, JSON.stringify);
}

/** A wrong value in a message. Objects are named by kind: they may hold secrets. */
function shown(value: unknown, text: (value: string) => string): string {
  if (typeof value === "string") {
    return text(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  }
  return typeof value === "object" || typeof value === "function" ? kindOf(value) : String(value);
}

/** Characters of a wrong value that its error shows. */
const MAX_SHOWN = 60;

/** The name among `known` that `name` is nearest to, if it is near at all. */
export function closestName(name: string, known: readonly string[]): string | null {
  const plain = simplified(name);
  let best: string | null = null;
  // A third of the letters may differ, and two in short names.
  let least = Math.max(2, Math.floor(plain.length / 3)) + 1;
  for (const candidate of known) {
    const d = editDistance(plain, simplified(candidate), least);
    if (d < least) [least, best] = [d, candidate];
  }
  return best;
}

/** `max_idle_per_host` and `maxIdlePerHost` are one name to users who come from another language. */
function simplified(name: string): string {
  return name.slice(0, 64).replace(/[_-]/g, "").toLowerCase();
}

/** Edits (insert, delete, replace, swap neighbours) between two names, or `most` if there are more. */
export function editDistance(a: string, b: string, most: number): number {
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
