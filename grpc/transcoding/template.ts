/**
 * Path templates: `/v1/{name=shelves/*}/books:list`.
 * {@link https://github.com/googleapis/googleapis/blob/master/google/api/http.proto}
 *
 * @module
 */
import { canonical } from "./percent.ts";

/** A literal that paths must have, one segment of any text, or any number of segments. */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "one" }
  | { readonly kind: "many" };

/** A field of the request, and the segments it is made of. */
export interface Variable {
  /** Names of fields, from the request downwards. */
  readonly path: readonly string[];
  /** Index of its first segment. */
  readonly start: number;
  /** Index behind its last segment. */
  readonly end: number;
}

/** A template, read. */
export interface Template {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  /** The text behind the last colon, or "". */
  readonly verb: string;
}

/** Segments a template may have. */
const MAX_SEGMENTS = 64;
/** Characters a template may have. */
const MAX_TEMPLATE_LENGTH = 2048;

/** Text of one segment: pchar of RFC 3986 §3.3 but `*`, which would look like a wildcard. */
const LITERAL = /^(?:[A-Za-z0-9._~!$&'()+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads a template from its first character to its last. */
class TemplateReader {
  readonly #text: string;
  readonly #end: number;
  #at = 1;
  readonly segments: Segment[] = [];
  readonly variables: Variable[] = [];

  /** `end`: where the verb begins. */
  constructor(text: string, end: number) {
    this.#text = text;
    this.#end = end;
  }

  read(): void {
    for (;;) {
      if (this.#peek() === "{") this.#variable();
      else this.#segment();
      if (this.#at >= this.#end) return;
      this.#expect("/");
    }
  }

  #variable(): void {
    this.#at++;
    const path = this.#until(/[=}]/).split(".");
    for (const name of path) {
      if (!IDENTIFIER.test(name)) {
        this.#fail(`a variable must be named by fields: current value is "${path.join(".")}"`);
      }
    }
    const start = this.segments.length;
    if (this.#peek() === "=") {
      do {
        this.#at++;
        if (this.#peek() === "{") this.#fail("a variable must not contain another one");
        this.#segment();
      } while (this.#peek() === "/");
    } else this.#add({ kind: "one" });
    this.#expect("}");
    this.variables.push({ path, start, end: this.segments.length });
  }

  #segment(): void {
    const text = this.#until(/[/}{]/);
    if (text === "*") return this.#add({ kind: "one" });
    if (text === "**") {
      if (this.segments.some(({ kind }) => kind === "many")) {
        this.#fail("** must stand in it once at most");
      }
      return this.#add({ kind: "many" });
    }
    if (!LITERAL.test(text)) {
      this.#fail(
        `a segment must be *, **, a variable, or text with no other characters than those of URLs: current value is "${text}"`,
      );
    }
    this.#add({ kind: "literal", text: canonical(text) });
  }

  #add(segment: Segment): void {
    this.segments.push(segment);
    if (this.segments.length > MAX_SEGMENTS) {
      this.#fail(`it must have <= ${MAX_SEGMENTS} segments`);
    }
  }

  #peek(): string {
    return this.#at < this.#end ? this.#text[this.#at]! : "";
  }

  #until(delimiter: RegExp): string {
    const rest = this.#text.slice(this.#at, this.#end);
    const length = rest.search(delimiter);
    const text = length < 0 ? rest : rest.slice(0, length);
    this.#at += text.length;
    return text;
  }

  #expect(char: string): void {
    if (this.#peek() !== char) {
      this.#fail(`"${char}" must stand at ${this.#at}: current value is "${this.#peek()}"`);
    }
    this.#at++;
  }

  #fail(rule: string): never {
    throw new SyntaxError(rule);
  }
}

/**
 * Reads a template.
 *
 * @throws {SyntaxError} With the rule it breaks.
 */
export function parseTemplate(text: string): Template {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    throw new SyntaxError(`it must have <= ${MAX_TEMPLATE_LENGTH} characters`);
  }
  if (!text.startsWith("/")) throw new SyntaxError("it must begin with /");
  if (text === "/") {
    return { text, segments: [{ kind: "literal", text: "" }], variables: [], verb: "" };
  }
  const colon = verbStart(text);
  const verb = colon < 0 ? "" : text.slice(colon + 1);
  if (colon >= 0 && !LITERAL.test(verb)) {
    throw new SyntaxError(`behind : a verb must stand: current value is "${verb}"`);
  }
  const reader = new TemplateReader(text, colon < 0 ? text.length : colon);
  reader.read();
  checkVariables(reader.variables);
  return { text, segments: reader.segments, variables: reader.variables, verb: canonical(verb) };
}

/** Index of the colon of the verb, or -1: the last one of the last literal, or the one behind `}`. */
function verbStart(text: string): number {
  const brace = text.lastIndexOf("}");
  const tail = Math.max(text.lastIndexOf("/"), brace) + 1;
  if (tail === brace + 1) return text[tail] === ":" ? tail : -1;
  const colon = text.lastIndexOf(":");
  return colon >= tail ? colon : -1;
}

function checkVariables(variables: readonly Variable[]): void {
  const seen: string[] = [];
  for (const { path } of variables) {
    const name = path.join(".");
    const twin = seen.find((other) =>
      other === name || other.startsWith(`${name}.`) || name.startsWith(`${other}.`)
    );
    if (twin !== undefined) {
      throw new SyntaxError(`its variables must be of different fields: "${twin}" and "${name}"`);
    }
    seen.push(name);
  }
}

/** Whether the variable may take several segments: slashes in it then stand between segments. */
export function isMulti(template: Template, { start, end }: Variable): boolean {
  return end - start > 1 || template.segments[start]!.kind === "many";
}

/** The text of a variable in a path that fits its template, as it was sent. */
export function rawVariable(
  { segments: parts }: Template,
  { start, end }: Variable,
  segments: readonly string[],
): string {
  const many = parts.findIndex(({ kind }) => kind === "many");
  // Indices behind `**` move by as many segments as it takes beyond one.
  const more = many < 0 ? 0 : segments.length - parts.length;
  const from = many < 0 || start <= many ? start : start + more;
  const to = many < 0 || end <= many ? end : end + more;
  return segments.slice(from, to).join("/");
}
