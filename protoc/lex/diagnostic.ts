import { LIMITS } from "../limits.ts";

/** How bad a {@linkcode Diagnostic} is: files with warnings only are loaded. */
export type Severity = "error" | "warning";

/** One complaint about a file, as protoc would print it. */
export interface Diagnostic {
  /** Name of the file, relative to its import root. */
  readonly file: string;
  /** Line, from 1; 0 when the complaint is about the file as a whole. */
  readonly line: number;
  /** Column in bytes, from 1; a tab goes on to the next multiple of 8. 0 when `line` is. */
  readonly column: number;
  /** The fault, without its position. */
  readonly message: string;
  /** Whether the file can be used all the same. */
  readonly severity: Severity;
}

/** `file:line:col: message`, or `file: message` when the position is not known. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  if (typeof diagnostic !== "object" || diagnostic === null) {
    throw new TypeError("Cannot format a diagnostic as it must be an object with file and message");
  }
  const { file, line, column, message, severity } = diagnostic;
  const position = line > 0 ? `${file}:${line}:${column}` : file;
  return `${position}: ${severity === "warning" ? "warning: " : ""}${message}`;
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
