/**
 * A file on its way through the phases: parsed, then compiled.
 *
 * @module
 */
import { Detail, keywordHint, withDetail } from "../lex/detail.ts";
import { writeFile } from "../descriptor/file.ts";
import type { KnownFields } from "../descriptor/retained.ts";
import type { Diagnostic } from "../lex/diagnostic.ts";
import { Source } from "../lex/source.ts";
import { LIMITS } from "../limits.ts";
import type { FileNode } from "../syntax/ast.ts";
import { parseFile } from "../syntax/parse_file.ts";
import { SourceInfo } from "../syntax/source_info.ts";

/** The text of a file. */
export type Content = string | Uint8Array;

/** A parsed file. */
export class ParsedFile {
  readonly file: FileNode;
  readonly info: SourceInfo | undefined;
  /** Complaints of the lexer and the parser. */
  readonly diagnostics: readonly Diagnostic[];
  readonly hadErrors: boolean;
  /** The descriptor that the file was read from, when it was no text. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;

  constructor(
    { file, info, diagnostics = [], hadErrors = false, bytes }: {
      readonly file: FileNode;
      readonly info?: SourceInfo | undefined;
      readonly diagnostics?: readonly Diagnostic[];
      readonly hadErrors?: boolean;
      readonly bytes?: Uint8Array<ArrayBuffer>;
    },
  ) {
    this.file = file;
    this.info = info;
    this.diagnostics = diagnostics;
    this.hadErrors = hadErrors;
    this.bytes = bytes;
  }

  /** Parses text. */
  static of(name: string, content: Content, sourceInfo: boolean): ParsedFile {
    const diagnostics: Diagnostic[] = [];
    const isTooLarge = content.length > LIMITS.maxFileBytes;
    const source = new Source(isTooLarge ? "" : content);
    const info = sourceInfo ? new SourceInfo() : undefined;
    const result = parseFile(name, source, info, (offset, message, isWarning) => {
      const hint = () => keywordHint(source, offset);
      const detail = new Detail({ source, offset, hint });
      diagnostics.push(diagnosticAt(source, name, offset, message, isWarning, detail));
    });
    if (isTooLarge) {
      const message =
        `File has ${content.length} bytes, more than the limit of ${LIMITS.maxFileBytes}.`;
      diagnostics.push(diagnosticAt(undefined, name, -1, message, false));
    }
    const hadErrors = result.hadErrors || isTooLarge;
    return new ParsedFile({ file: result.file, info, diagnostics, hadErrors });
  }

  /** Names of the files it imports. */
  get imports(): string[] {
    return [...this.file.imports, ...this.file.optionImports].map((node) => node.name);
  }
}

/** A file without errors. */
export class CompiledFile {
  readonly file: FileNode;
  /** The text came with the compiler, since nobody else had one. */
  readonly isWellKnown: boolean;
  /** It was asked for by name, not only imported. */
  readonly isRequested: boolean;
  readonly #info: SourceInfo | undefined;
  readonly #known: KnownFields | undefined;
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  constructor(
    file: FileNode,
    isWellKnown: boolean,
    isRequested: boolean,
    info: SourceInfo | undefined,
    known: KnownFields | undefined,
    bytes: Uint8Array<ArrayBuffer> | undefined,
  ) {
    this.file = file;
    this.isWellKnown = isWellKnown;
    this.isRequested = isRequested;
    this.#info = info;
    this.#known = known;
    this.#bytes = bytes;
  }

  /** Its name as imports spell it. */
  get name(): string {
    return this.file.name;
  }

  /** The serialized `google.protobuf.FileDescriptorProto`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes ??= writeFile(this.file, { info: this.#info, known: this.#known });
  }
}

/** The complaint about imports that lead on and on, up to the file `name`. */
export function tooManyFiles(name: string): Diagnostic {
  return diagnosticAt(
    undefined,
    name,
    -1,
    `Imports lead to more than ${LIMITS.maxFiles} files.`,
    false,
  );
}

/** A diagnostic at an offset of a file, or about the file as a whole where there is none. */
export function diagnosticAt(
  source: Source | undefined,
  file: string,
  offset: number,
  message: string,
  isWarning: boolean,
  detail: Detail = new Detail({ source, offset }),
): Diagnostic {
  const severity = isWarning ? "warning" : "error";
  if (!source || offset < 0) {
    return withDetail({ file, line: 0, column: 0, message, severity }, detail);
  }
  const { line, column } = source.position(offset);
  return withDetail({ file, line: line + 1, column: column + 1, message, severity }, detail);
}
