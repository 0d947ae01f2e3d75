/**
 * The layout of the files under `cases/`: many small inputs in one text, each with the errors that
 * protoc gives.
 *
 * ```text
 * What this class of errors is about: free text up to the first case.
 *
 * === a title that says what is wrong
 * syntax = "proto3";
 * import "other.proto";
 * --- other.proto
 * syntax = "proto3";
 * >>> case.proto:2:1: the first error
 * >>> case.proto:3:9: the second, if there is one
 *
 * === a near-miss that must be accepted
 * syntax = "proto3";
 * >>> accepted
 * ```
 *
 * The text before any `---` is `case.proto`. `«1b»` stands for that byte, `«40*text»` for 40 times
 * the text, `«1..40*f#»` for 40 times with 1 to 40 in place of `#`, and `«eof»` drops everything after it, the line end included. Only the `>>>` lines are generated
 * (by `regenerate.ts`, from protoc itself).
 *
 * @module
 */

/** One input and what protoc says about it. */
export interface Case {
  /** Name of the class: the file it stands in, without `.txt`. */
  readonly group: string;
  readonly title: string;
  /** The source lines as they stand in the case file. */
  readonly source: string;
  /** File contents by name; `case.proto` is the one to compile. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The error lines of protoc, in order; empty when it accepts the input, or aborts on it. */
  errors: string[];
  /** Whether protoc itself dies of the input; then nothing can be held against it but survival. */
  aborts: boolean;
}

/** Name of the file that a case compiles. */
export const MAIN = "case.proto";

const ACCEPTED = "accepted";
const ABORTS = "protoc aborts";

const CASES = new URL("./cases/", import.meta.url);

/** All case files, by class, in order of name. */
export async function readGroups(): Promise<Map<string, string>> {
  const groups = new Map<string, string>();
  const entries = await Array.fromAsync(Deno.readDir(CASES));
  for (const { name } of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    if (!name.endsWith(".txt")) continue;
    groups.set(name.slice(0, -4), await Deno.readTextFile(new URL(name, CASES)));
  }
  return groups;
}

/** Writes a case file back. */
export async function writeGroup(group: string, text: string): Promise<void> {
  await Deno.writeTextFile(new URL(`${group}.txt`, CASES), text);
}

/** Every case of every class. */
export async function readCases(): Promise<Case[]> {
  return [...await readGroups()].flatMap(([group, text]) => parseGroup(group, text).cases);
}

/** Splits a case file into its foreword and its cases. */
export function parseGroup(group: string, text: string): { foreword: string; cases: Case[] } {
  const [foreword = "", ...blocks] = text.split(/^=== /m);
  const cases = blocks.map((block) => {
    const end = block.indexOf("\n");
    const title = block.slice(0, end);
    const lines = block.slice(end + 1).split("\n");
    const errors = lines.filter((line) => line.startsWith(">>> ")).map((line) => line.slice(4));
    const source = lines.filter((line) => !line.startsWith(">>>")).join("\n").replace(/\n*$/, "\n");
    return {
      group,
      title,
      source,
      files: filesOf(source),
      errors: errors[0] === ACCEPTED || errors[0] === ABORTS ? [] : errors,
      aborts: errors[0] === ABORTS,
    };
  });
  return { foreword, cases };
}

/** The text of a case file. */
export function printGroup(foreword: string, cases: readonly Case[]): string {
  const blocks = cases.map(({ title, source, errors, aborts }) => {
    const lines = aborts ? [ABORTS] : errors.length === 0 ? [ACCEPTED] : errors;
    return `=== ${title}\n${source}${lines.map((line) => `>>> ${line}\n`).join("")}`;
  });
  return foreword.replace(/\n*$/, "\n\n") + blocks.join("\n");
}

function filesOf(source: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const [main = "", ...others] = source.split(/^--- /m);
  files.set(MAIN, expand(main));
  for (const other of others) {
    const end = other.indexOf("\n");
    files.set(other.slice(0, end), expand(other.slice(end + 1)));
  }
  return files;
}

function expand(text: string): Uint8Array {
  const repeated = text
    .replace(/«eof»[^]*$/, "")
    .replace(/«(\d+)\*([^»]*)»/g, (_, times, what) => what.repeat(Number(times)))
    .replace(
      /«(\d+)\.\.(\d+)\*([^»]*)»/g,
      (_, first, last, what: string) =>
        Array.from({ length: last - first + 1 }, (_, i) => what.replaceAll("#", `${+first + i}`))
          .join(""),
    );
  const encoder = new TextEncoder();
  const bytes: number[] = [];
  for (const piece of repeated.split(/(«[0-9a-f]{2}»)/)) {
    if (/^«..»$/.test(piece)) bytes.push(parseInt(piece.slice(1, 3), 16));
    else for (const byte of encoder.encode(piece)) bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
