/**
 * Commands, and the world they work in.
 *
 * @module
 */
import type { Client } from "../client.ts";
import type { ResponseHeader } from "../types.ts";
import { type Flags, type Given, UsageError } from "./arguments.ts";
import { type Format, goJson, headerFields, headerJson, hexBytes, table } from "./format.ts";
import type { World } from "./world.ts";

/** A client, arguments and output of a command. */
export interface Cli {
  readonly client: Client;
  readonly given: Given;
  readonly args: readonly string[];
  /** Arguments behind `--`. */
  readonly rest: readonly string[] | undefined;
  readonly format: Format;
  readonly hex: boolean;
  /** Milliseconds of short commands. */
  readonly timeout: number;
  readonly world: World;
}

/** One command. */
export interface Command {
  /** Its arguments in the help. */
  readonly usage: string;
  /** Its purpose, in the help. */
  readonly about: string;
  readonly flags?: Flags;
  /** How many arguments it takes. */
  readonly args: readonly [least: number, most: number];
  /** Whether what stands behind `--` is a program, not arguments. */
  readonly runsProgram?: boolean;
  /** Carries it out; gives the exit code if it is not 0. */
  run(cli: Cli): Promise<number | void>;
}

/** Commands by their words. */
export type Commands = Readonly<Record<string, Command>>;

/** How one answer looks in each form; a form that is missing is not supported. */
interface Answer {
  readonly simple: () => string;
  readonly json: () => unknown;
  readonly fields?: () => string;
  readonly table?: () => readonly [titles: readonly string[], rows: readonly (readonly string[])[]];
}

/** Prints an answer in the form that was asked for. */
export async function show({ format, world }: Cli, answer: Answer): Promise<void> {
  if (format === "json") return await world.print(`${goJson(answer.json())}\n`);
  if (format === "simple") return await world.print(answer.simple());
  if (format === "fields" && answer.fields !== undefined) return await world.print(answer.fields());
  if (format === "table" && answer.table !== undefined) {
    return await world.print(table(...answer.table()));
  }
  throw new UsageError(`${format} not supported as output format`, 4);
}

/** Prints what a change did: a sentence, or the header. */
export async function showChange(
  cli: Cli,
  sentence: string,
  header: ResponseHeader,
): Promise<void> {
  await show(cli, {
    simple: () => `${sentence}\n`,
    json: () => ({ header: headerJson(header) }),
    fields: () => headerFields(header),
  });
}

/** Bytes as text shows them: as they are, or in hexadecimal digits. */
export function textOf(cli: Pick<Cli, "hex">, bytes: Uint8Array): string {
  return cli.hex ? hexBytes(bytes) : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
