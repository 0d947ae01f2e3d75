/**
 * The command line, as Go's `flag` reads it: `-name value`, `-name=value`, one dash or two.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { closestName } from "../../http/engine.ts";

/** Exit code of a command that failed: grpcurl's. */
export const FAILURE = 1;
/** Exit code of a command line that makes no sense: grpcurl's. */
export const BAD_USAGE = 2;

/** The command line makes no sense. */
export class UsageError extends Error {}

/** One flag. */
interface Flag {
  readonly type: "boolean" | "string" | "list";
  /** Its value, as the help has it. */
  readonly value?: string;
  /** Its line in the help. */
  readonly about: string;
  /** Values, for the completion of shells: words, or files. */
  readonly words?: readonly string[] | "files" | "folders";
}

/** Flags by their names. */
export type Flags = Readonly<Record<string, Flag>>;

type Value = string | boolean | readonly (string | boolean)[] | undefined;

/** The flags that were given. */
export class Given {
  readonly #values: Readonly<Record<string, Value>>;

  constructor(values: Readonly<Record<string, Value>>) {
    this.#values = values;
  }

  /** Whether a switch is on. */
  has(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Whether a flag was given, on or off. */
  said(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  /** The value of a flag; undefined if it is not given, or empty. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  /** The values of a flag that may be given more than once. */
  list(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value as readonly string[] : [];
  }

  /** Seconds as milliseconds; undefined if not given, or 0. */
  seconds(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const seconds = Number(text);
    if (Number.isNaN(seconds) || seconds < 0) {
      throw new UsageError(`-${name} must be seconds, as 2 or 0.5: it is ${JSON.stringify(text)}`);
    }
    return seconds === 0 ? undefined : seconds * 1000;
  }

  /** A whole number; undefined if not given. */
  integer(name: string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new UsageError(
      `-${name} must be a whole number from ${least} to ${most}: it is ${JSON.stringify(text)}`,
    );
  }
}

/** A command line, parsed. */
interface Parsed {
  readonly given: Given;
  readonly args: readonly string[];
}

/** Go's words for true and false. */
const BOOLEANS: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...["1", "t", "T", "true", "TRUE", "True"].map((word) => [word, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((word) => [word, false] as const),
]);

/** Reads a command line by the flags it may have. */
export function parse(args: readonly string[], flags: Flags): Parsed {
  const { values, positionals } = parseArgs({
    args: [...asNodeHasThem(args, flags)],
    options: Object.fromEntries(
      Object.entries(flags).map(([name, { type }]) => [name, {
        type: type === "boolean" ? "boolean" as const : "string" as const,
        multiple: type === "list",
      }]),
    ),
    allowPositionals: true,
    allowNegative: true,
  });
  return { given: new Given(values), args: positionals };
}

/** Writes each flag as `--name`, `--no-name` or `--name=value`; refuses those that nobody knows. */
function asNodeHasThem(args: readonly string[], flags: Flags): readonly string[] {
  const written: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--") return [...written, ...args.slice(i)];
    const match = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(arg);
    if (match === null) {
      if (arg.startsWith("-") && arg !== "-") throw new UsageError(`bad flag: ${arg}`);
      written.push(arg);
      continue;
    }
    const [, name, value] = match as unknown as [string, string, string | undefined];
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
    if (flag === undefined) throw new UsageError(`unknown flag: -${name}${hintFor(name, flags)}`);
    if (flag.type === "boolean") {
      const on = value === undefined ? true : BOOLEANS[value];
      if (on === undefined) {
        throw new UsageError(`-${name} must be true or false: it is ${JSON.stringify(value)}`);
      }
      written.push(on ? `--${name}` : `--no-${name}`);
      continue;
    }
    const given = value ?? args[++i];
    if (given === undefined) throw new UsageError(`-${name} needs a value: -${name} ${flag.value}`);
    written.push(`--${name}=${given}`);
  }
  return written;
}

function hintFor(name: string, flags: Flags): string {
  const near = closestName(name, Object.keys(flags));
  return near === null ? "" : `: did you mean -${near}?`;
}
