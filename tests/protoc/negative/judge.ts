/**
 * Holds the loader against the negative cases.
 *
 * @module
 */

import { formatDiagnostic, Loader, ProtoError } from "../../../protoc/mod.ts";
import { type Case, MAIN, readCases } from "./case.ts";

/** How the loader did over all cases. */
export interface NegativeCounts {
  /** Cases that protoc refuses. */
  cases: number;
  /** Of them, refused with a `ProtoError`. */
  refused: number;
  /** Of them, with the first error in protoc's file and on its line. */
  line: number;
  /** Of them, with the first error inside the token at protoc's column. */
  column: number;
  /** Of them, with protoc's text for the first error. */
  message: number;
  /** Of them, with all of protoc's errors, in its order and words. */
  exact: number;
  /** Near-misses: cases that protoc accepts. */
  valid: number;
  /** Of them, accepted. */
  accepted: number;
}

/** What the loader says about a case: its error lines, none when it accepts. */
export function errorsOf(one: Case): string[] {
  const loader = new Loader({ resolve: (path) => one.files.get(path) });
  try {
    loader.load(one.files.get(MAIN)!, MAIN);
    return [];
  } catch (error) {
    if (error instanceof ProtoError) return error.diagnostics.map(formatDiagnostic);
    throw error;
  }
}

/** Runs every case; `lines` says where the loader and protoc part. */
export async function judge(): Promise<{ counts: NegativeCounts; lines: string[] }> {
  const counts = {
    cases: 0,
    refused: 0,
    line: 0,
    column: 0,
    message: 0,
    exact: 0,
    valid: 0,
    accepted: 0,
  };
  const lines: string[] = [];
  for (const one of await readCases()) {
    const where = `${one.group}: ${one.title}`;
    let ours: string[];
    try {
      ours = errorsOf(one);
    } catch (error) {
      if (one.errors.length === 0) counts.valid++;
      else counts.cases++;
      lines.push(`${where}: threw ${error instanceof Error ? error.stack : String(error)}`);
      continue;
    }
    if (one.aborts) continue;
    if (one.errors.length === 0) {
      counts.valid++;
      if (ours.length === 0) counts.accepted++;
      else lines.push(`${where}: must be accepted, but ${ours[0]}`);
      continue;
    }
    counts.cases++;
    const theirs = one.errors[0]!;
    if (ours.length === 0) {
      lines.push(`${where}: accepted, but ${theirs}`);
      continue;
    }
    counts.refused++;
    const mine = positionOf(ours[0]!);
    const right = positionOf(theirs);
    const onLine = mine.file === right.file && mine.line === right.line;
    const onToken = onLine && inToken(one, right, mine.column);
    if (onLine) counts.line++;
    if (onToken) counts.column++;
    if (mine.message === right.message) counts.message++;
    if (ours.join("\n") === one.errors.join("\n")) counts.exact++;
    else {lines.push(
        `${where}:\n    ours   ${ours.join("\n           ")}\n    protoc ${
          one.errors.join("\n           ")
        }`,
      );}
  }
  return { counts, lines };
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

function positionOf(text: string): Place {
  const match = /^(.*?):(?:(\d+):(\d+):)? (.*)$/.exec(text);
  if (match === null) return { file: "", line: 0, column: 0, message: text };
  return {
    file: match[1]!,
    line: Number(match[2] ?? 0),
    column: Number(match[3] ?? 0),
    message: match[4]!,
  };
}

/** Whether `column` lies in the token of which `right` is a position. */
function inToken(one: Case, right: Place, column: number): boolean {
  if (column === right.column) return true;
  const bytes = one.files.get(right.file);
  if (bytes === undefined) return false;
  const line = new TextDecoder("latin1").decode(bytes).split("\n")[right.line - 1] ?? "";
  for (const token of line.matchAll(/"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[\w.]+|\s+|./g)) {
    const start = token.index + 1;
    const end = start + token[0].length;
    if (right.column >= start && right.column < end) return column >= start && column < end;
  }
  return false;
}
