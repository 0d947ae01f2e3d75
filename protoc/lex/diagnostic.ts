import { checkChoice, checkOptions, checkText } from "../../http/message/options.ts";
import { LIMITS } from "../limits.ts";

/** How bad a {@linkcode Diagnostic} is: files with warnings only are loaded. */
export type Severity = "error" | "warning";

/** One complaint about a file, as protoc would print it. */
export interface Diagnostic {
  /** Name of the file, relative to its import root; empty when it has none. */
  readonly file: string;
  /** Line, from 1; 0 when the complaint is about the file as a whole. */
  readonly line: number;
  /** Column in bytes, from 1; a tab goes on to the next multiple of 8. 0 when `line` is. */
  readonly column: number;
  /** The fault, without its position. */
  readonly message: string;
  /** Whether the file can be used all the same. */
  readonly severity: Severity;
  /** More than protoc says, worked out when it is asked for; it does not count when compared. */
  readonly detail?: DiagnosticDetail | undefined;
}

/** Help to mend a fault: see {@linkcode formatDiagnostic}. */
export interface DiagnosticDetail {
  /** The line, or the 160 characters of it around the fault; empty when the position is not known. */
  readonly sourceLine: string;
  /** Where in {@linkcode sourceLine} the fault begins, in UTF-16 code units, from 0. */
  readonly start: number;
  /** How long it is there. */
  readonly length: number;
  /** A guess at what was meant. */
  readonly hint?: string | undefined;
  /** The files that lead here, the one that was asked for first; 16 of them at most. */
  readonly importedBy: readonly string[];
  /** Where a file was looked for that was not found. */
  readonly searched: readonly string[];
}

/** How {@linkcode formatDiagnostic} writes. */
export interface FormatOptions {
  /**
   * - `"protoc"`: `file:line:col: message`, or `file: message` when the position is not known;
   * - `"msvs"`: `file(line) : error in column=col: message`, as `protoc --error_format=msvs`;
   * - `"line"`: `file:line:col: error: message (hint)`, on one line;
   * - `"text"`: the message, the source line with a mark under the fault, and all that is known;
   * - `"json"`: one object on one line;
   * - `"github"`: a command that annotates a file in GitHub Actions.
   *
   * @default {"protoc"}
   */
  readonly form?: "protoc" | "msvs" | "line" | "text" | "json" | "github";
  /** Shown for the name of the file, such as the path that leads to it. */
  readonly file?: string;
}

const FORMS: Readonly<Record<string, (diagnostic: Diagnostic) => string>> = {
  protoc: asProtoc,
  msvs: asMsvs,
  line: asLine,
  text: asText,
  json: asJson,
  github: asGithub,
};

/**
 * A diagnostic as text: as protoc prints it, or in another form.
 *
 * @throws {TypeError} If `form` is none of those there are.
 */
export function formatDiagnostic(diagnostic: Diagnostic, options?: FormatOptions): string;
/** The same for `diagnostics.map(formatDiagnostic)`, which gives an index that means nothing here. */
export function formatDiagnostic(diagnostic: Diagnostic, index: number): string;
export function formatDiagnostic(
  diagnostic: Diagnostic,
  given: FormatOptions | number = {},
): string {
  const options = typeof given === "number" ? {} : given;
  if (typeof diagnostic !== "object" || diagnostic === null) {
    throw new TypeError("Cannot format a diagnostic as it must be an object with file and message");
  }
  checkOptions("format a diagnostic", ["form", "file"], options);
  checkText("format a diagnostic", "file", options.file);
  checkChoice("format a diagnostic", "form", options.form, Object.keys(FORMS));
  const { form = "protoc", file = diagnostic.file } = options;
  return FORMS[form]!({ ...diagnostic, file, detail: diagnostic.detail });
}

function positionOf({ file, line, column }: Diagnostic): string {
  return line > 0 ? `${file}:${line}:${column}` : file;
}

function asProtoc(diagnostic: Diagnostic): string {
  const { severity, message } = diagnostic;
  return `${positionOf(diagnostic)}: ${severity === "warning" ? "warning: " : ""}${message}`;
}

function asMsvs(diagnostic: Diagnostic): string {
  const { file, line, column, message, severity } = diagnostic;
  if (line === 0) return asProtoc(diagnostic);
  return `${file}(${line}) : ${severity} in column=${column}: ${message}`;
}

function asLine(diagnostic: Diagnostic): string {
  const { severity, message, detail } = diagnostic;
  const hint = detail?.hint === undefined ? "" : ` (${detail.hint})`;
  return printable(`${positionOf(diagnostic)}: ${severity}: ${message}${hint}`);
}

function asText(diagnostic: Diagnostic): string {
  const { line, severity, message, detail } = diagnostic;
  const margin = " ".repeat(String(line).length);
  const lines = [`${severity}: ${message}`, `${margin}--> ${positionOf(diagnostic)}`];
  if (detail && detail.sourceLine !== "") {
    const { sourceLine, start, length } = detail;
    const before = blanks(sourceLine.slice(0, start));
    const marks = "^".repeat(Math.max(1, widthOf(sourceLine.slice(start, start + length))));
    lines.push(`${margin} |`, `${line} | ${sourceLine}`, `${margin} | ${before}${marks}`);
  }
  const notes: string[] = [];
  if (detail?.hint !== undefined) notes.push(detail.hint);
  if (detail && detail.importedBy.length > 0) {
    notes.push(`imported by ${[...detail.importedBy].reverse().join(", which is imported by ")}`);
  }
  if (detail && detail.searched.length > 0) notes.push(`searched: ${detail.searched.join(", ")}`);
  for (const note of notes) lines.push(`${margin} = ${note}`);
  return lines.map(printable).join("\n");
}

function asJson(diagnostic: Diagnostic): string {
  const { file, line, column, message, severity, detail } = diagnostic;
  return JSON.stringify({ file, line, column, severity, message, ...shownDetail(detail) });
}

function shownDetail(detail: DiagnosticDetail | undefined): Partial<DiagnosticDetail> {
  if (!detail) return {};
  const { sourceLine, start, length, hint, importedBy, searched } = detail;
  return {
    ...(sourceLine === "" ? {} : { sourceLine, start, length }),
    ...(hint === undefined ? {} : { hint }),
    ...(importedBy.length === 0 ? {} : { importedBy }),
    ...(searched.length === 0 ? {} : { searched }),
  };
}

function asGithub({ file, line, column, message, severity, detail }: Diagnostic): string {
  const data = (text: string) =>
    text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const place = line > 0 ? `,line=${line},col=${column}` : "";
  const hint = detail?.hint === undefined ? "" : ` (${detail.hint})`;
  return printable(`::${severity} file=${property(file)}${place}::${data(message + hint)}`);
}

// deno-lint-ignore no-control-regex
const COMMANDS = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text without what a terminal would take for a command. */
function printable(text: string): string {
  return text.replace(COMMANDS, "\ufffd");
}

/** Characters that take two columns, roughly: those of East Asia, and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function widthOf(text: string): number {
  return blanks(text).length;
}

/** As wide as `text`; its tabs stay. */
function blanks(text: string): string {
  return Array.from(text, (one) => {
    if (one === "\t") return one;
    return /\p{M}/u.test(one) ? "" : WIDE.test(one) ? "  " : " ";
  }).join("");
}

/** Collects what the phases complain about, in the order in which they do. */
export class Diagnostics {
  readonly errors: Diagnostic[] = [];
  readonly warnings: Diagnostic[] = [];

  /** Adds a complaint; past `maxDiagnostics` of a kind it is dropped. */
  add(diagnostic: Diagnostic): void {
    const list = diagnostic.severity === "error" ? this.errors : this.warnings;
    if (list.length < LIMITS.maxDiagnostics) list.push(diagnostic);
  }

  /** Throws what was collected, if there was any error. */
  throwIfAny(): void {
    if (this.errors.length > 0) throw new ProtoError(this.errors);
  }
}

/**
 * Thrown for files that protoc would refuse. The message has one line for each error.
 *
 * @example Say where the mistake is
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { Loader, ProtoError } from "@sluice/sluice/protoc";
 *
 * const error = assertThrows(
 *   () => new Loader().load('syntax = "proto3"; message A { B b = 1; }', "a.proto"),
 *   ProtoError,
 * );
 * assertEquals(error.message, 'a.proto:1:32: "B" is not defined.');
 * assertEquals(error.diagnostics[0]?.line, 1);
 * ```
 */
export class ProtoError extends Error {
  /** All errors of the run, in protoc's order. */
  readonly diagnostics: readonly Diagnostic[];

  /** Wraps the errors of a run; there is at least one. */
  constructor(diagnostics: readonly Diagnostic[]) {
    if (!Array.isArray(diagnostics)) {
      throw new TypeError("Cannot make a ProtoError as diagnostics must be a list");
    }
    super(diagnostics.map(formatDiagnostic).join("\n"));
    this.name = "ProtoError";
    this.diagnostics = diagnostics;
  }
}
