import { closestName } from "../../http/message/options.ts";
import type { Diagnostic, DiagnosticDetail } from "./diagnostic.ts";
import { decodeByteString, type Source } from "./source.ts";

/** Characters of a source line that are shown. */
const MAX_LINE = 160;
/** Files of a chain of imports that are shown. */
const MAX_CHAIN = 16;

/** A file that is imported by another. */
export interface Importer {
  readonly name: string;
  readonly importer: Importer | undefined;
}

/** Parts of a {@linkcode Detail}; all are worked out when they are asked for. */
interface DetailInit {
  readonly source?: Source | undefined;
  readonly offset?: number;
  readonly hint?: (() => string | undefined) | undefined;
  readonly searched?: readonly string[];
}

/** More about a diagnostic than protoc says. */
export class Detail implements DiagnosticDetail {
  /** The file that imports the one in question; a file parsed ahead is told later. */
  importer: Importer | undefined;
  readonly searched: readonly string[];

  readonly #source: Source | undefined;
  readonly #offset: number;
  readonly #hint: (() => string | undefined) | undefined;

  constructor({ source, offset = -1, hint, searched = [] }: DetailInit) {
    this.#source = offset < 0 ? undefined : source;
    this.#offset = offset;
    this.#hint = hint;
    this.searched = searched;
  }

  get sourceLine(): string {
    const { line } = this.#window();
    return line;
  }

  get start(): number {
    return this.#window().start;
  }

  get length(): number {
    return this.#window().length;
  }

  get hint(): string | undefined {
    return this.#hint?.();
  }

  get importedBy(): readonly string[] {
    const names: string[] = [];
    for (let at = this.importer; at && names.length < MAX_CHAIN; at = at.importer) {
      names.push(at.name);
    }
    return names.reverse();
  }

  #window(): { line: string; start: number; length: number } {
    const source = this.#source;
    if (!source) return { line: "", start: 0, length: 0 };
    const offset = this.#offset;
    const { text } = source;
    const { line } = source.position(offset);
    const end = text.indexOf("\n", offset);
    const lineEnd = end < 0 ? text.length : end;
    // Bytes of one character stay together: those that begin none are passed over.
    let from = Math.max(source.lines[line]!, offset - MAX_LINE / 2);
    while (from > source.lines[line]! && isContinuation(text.charCodeAt(from))) from--;
    let to = Math.min(lineEnd, from + MAX_LINE);
    while (to < lineEnd && isContinuation(text.charCodeAt(to))) to++;
    const tokenEnd = Math.min(to, offset + tokenAt(text, offset).length);
    return {
      line: decodeByteString(text.slice(from, to)).replace(/\r$/, ""),
      start: decodeByteString(text.slice(from, offset)).length,
      length: decodeByteString(text.slice(offset, tokenEnd)).length,
    };
  }
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The token that begins at an offset: a name with its dots, a string, a number, or a sign. */
function tokenAt(text: string, offset: number): string {
  const token = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[\w.]+|[^\n]/y;
  token.lastIndex = offset;
  return token.exec(text)?.[0] ?? "";
}

/** Puts a detail on a diagnostic, where comparing and copying do not see it. */
export function withDetail(diagnostic: Diagnostic, detail: Detail): Diagnostic {
  Object.defineProperty(diagnostic, "detail", { value: detail });
  return diagnostic;
}

/** Words that begin statements. */
const KEYWORDS = ["syntax", "edition", "import", "package", "option", "message", "enum", "service"]
  .concat("extend", "extensions", "reserved", "oneof", "rpc", "returns", "optional", "required")
  .concat("repeated", "stream", "public");

/** The keyword that a parser's complaint may be about. */
export function keywordHint(source: Source, offset: number): string | undefined {
  const token = tokenAt(source.text, offset);
  if (!/^[a-z]{3,}$/i.test(token) || KEYWORDS.includes(token)) return undefined;
  const near = closestName(token, KEYWORDS);
  return near === null ? undefined : `did you mean "${near}"?`;
}
