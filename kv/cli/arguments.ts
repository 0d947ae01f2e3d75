/**
 * The command line: which command, its arguments and its flags, as etcdctl writes them.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { closestName } from "../../http/engine.ts";

/** Exit code of a command that failed. */
export const FAILURE = 1;
/** Exit code of a command line that makes no sense: etcdctl's. */
export const BAD_ARGUMENTS = 128;

/** The command line makes no sense. */
export class UsageError extends Error {
  /** Exit code. */
  readonly code: number;

  constructor(message: string, code: number = BAD_ARGUMENTS) {
    super(message);
    this.code = code;
  }
}

/** One flag. */
interface Flag {
  readonly type: "boolean" | "string";
  readonly short?: string;
  /** Its line in the help. */
  readonly about: string;
}

/** Flags by their names. */
export type Flags = Readonly<Record<string, Flag>>;

/** The flags that were given. */
export class Given {
  readonly #values: Readonly<Record<string, string | boolean | undefined>>;

  constructor(values: Readonly<Record<string, string | boolean | undefined>>) {
    this.#values = values;
  }

  /** Whether a switch is on. */
  has(name: string): boolean {
    return this.#values[name] === true;
  }

  /** The value of a flag, or undefined. */
  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The value of a flag as an integer; undefined if it is not given or 0. */
  integer(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined || /^0+$/.test(text)) return undefined;
    if (/^-?\d+$/.test(text)) return BigInt(text);
    throw new UsageError(`--${name} must be an integer: it is ${JSON.stringify(text)}`);
  }

  /** A lease or a member, in hexadecimal digits. */
  id(name: string): bigint | undefined {
    const text = this.text(name);
    return text === undefined || text === "0" ? undefined : hexId(`--${name}`, text);
  }
}

/** Reads the hexadecimal digits of a lease or a member. */
export function hexId(what: string, text: string): bigint {
  if (/^[0-9a-f]{1,16}$/i.test(text)) return BigInt(`0x${text}`);
  throw new UsageError(`bad ${what} ID (${text}): it must be hexadecimal digits`);
}

/** Reads `5s`, `500ms`, `1m`, `1h`, to milliseconds. */
export function duration(name: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  const ms = match === null ? NaN : Number(match[1]) * units[match[2]!]!;
  if (ms > 0) return ms;
  throw new UsageError(`--${name} must be a time as 5s or 500ms: it is ${JSON.stringify(text)}`);
}

/** A command line, parsed. */
interface Parsed {
  readonly given: Given;
  readonly args: readonly string[];
  /** Arguments behind `--`. */
  readonly rest: readonly string[] | undefined;
}

/** Reads a command line by the flags it may have. */
export function parse(args: readonly string[], flags: Flags): Parsed {
  const end = args.indexOf("--");
  const front = end < 0 ? args : args.slice(0, end);
  const options: Record<string, { type: "boolean" | "string"; short?: string }> = {};
  for (const [name, { type, short }] of Object.entries(flags)) {
    options[name] = short === undefined ? { type } : { type, short };
  }
  try {
    const { values, positionals } = parseArgs({
      args: front.flatMap((arg) => asNodeHasIt(arg, flags)),
      options,
      allowPositionals: true,
    });
    return {
      given: new Given(values as Record<string, string | boolean>),
      args: positionals,
      rest: end < 0 ? undefined : args.slice(end + 1),
    };
  } catch (error) {
    throw refused(error, front, flags);
  }
}

/** Go takes `-w=json` for `-w json`, `--prefix=true` for `--prefix`, `--prefix=false` for nothing. */
function asNodeHasIt(arg: string, flags: Flags): string[] {
  const short = /^-([a-z])=(.*)$/i.exec(arg);
  if (short !== null) return [`-${short[1]}`, short[2]!];
  const match = /^--([\w-]+)=(true|false|1|0)$/.exec(arg);
  if (match === null || flags[match[1]!]?.type !== "boolean") return [arg];
  return match[2] === "true" || match[2] === "1" ? [`--${match[1]}`] : [];
}

function refused(error: unknown, args: readonly string[], flags: Flags): UsageError {
  const unknown = args
    .filter((arg) => /^--?[a-z]/i.test(arg))
    .map((arg) => /^--?([^=]+)/.exec(arg)![1]!)
    .find((name) =>
      flags[name] === undefined && !Object.values(flags).some(({ short }) => short === name[0])
    );
  if (unknown === undefined) {
    return new UsageError(error instanceof Error ? error.message : String(error), FAILURE);
  }
  const near = closestName(unknown, Object.keys(flags));
  const hint = near === null ? "" : `: did you mean --${near}?`;
  return new UsageError(`unknown flag: --${unknown}${hint}`, FAILURE);
}
