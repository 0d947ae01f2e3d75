/** grpc-gateway as the judge of routing: what it makes of requests, and where the module differs on purpose. */
import { TextLineStream } from "./lines.ts";
import { inPeers } from "../../../support/peers.ts";
import {
  isMulti,
  parseTemplate,
  rawVariable,
  type Template,
} from "../../../grpc/transcoding/template.ts";
import { decodeSegment, decodeSegments, isWellEncoded } from "../../../grpc/transcoding/percent.ts";
import { TemplateTable } from "../../../grpc/transcoding/table.ts";

/** The program, if it was built. */
export const GATEWAY: string | undefined = inPeers("bin/grpc_gateway_peer");

export const GATEWAY_REMEDY =
  "go build -o $SLUICE_PEERS/bin/grpc_gateway_peer in tests/grpc/transcoding/peers/go";

export interface Rule {
  readonly verb: string;
  readonly template: string;
}

export interface Request {
  readonly verb: string;
  readonly path: string;
}

/** What became of a request. */
export interface Outcome {
  /** Index of the rule, or -1. */
  readonly rule: number;
  readonly status: number;
  readonly vars: Readonly<Record<string, string>> | null;
}

export interface Answer {
  readonly faults: readonly string[];
  readonly outcomes: readonly Outcome[];
}

/** grpc-gateway, running. */
export class Gateway implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #in: WritableStreamDefaultWriter<Uint8Array>;
  readonly #out: ReadableStreamDefaultReader<string>;

  constructor() {
    this.#child = new Deno.Command(GATEWAY!, { stdin: "piped", stdout: "piped", stderr: "null" })
      .spawn();
    this.#in = this.#child.stdin.getWriter();
    this.#out = this.#child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream()).getReader();
  }

  /** Routes requests by a table of rules. */
  async route(rules: readonly Rule[], requests: readonly Request[]): Promise<Answer> {
    await this.#in.write(new TextEncoder().encode(`${JSON.stringify({ rules, requests })}\n`));
    const { value } = await this.#out.read();
    if (value === undefined) throw new Error("grpc-gateway's program ended");
    return JSON.parse(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#in.close();
    await this.#out.cancel();
    await this.#child.status;
  }
}

/** Routes requests as the module does. */
export function routeHere(rules: readonly Rule[], requests: readonly Request[]): Outcome[] {
  const table = new TemplateTable<{ readonly index: number; readonly template: Template }>();
  rules.forEach(({ verb, template }, index) => {
    const parsed = parseTemplate(template);
    table.set(verb, parsed, { index, template: parsed });
  });
  return requests.map(({ verb, path }) => {
    const found = table.find(verb, path);
    if (found === null) return { rule: -1, status: 404, vars: null };
    if (found.kind === "other-methods") return { rule: -1, status: 405, vars: null };
    const { index, template } = found.value;
    if (!isWellEncoded(path)) return { rule: -1, status: 400, vars: null };
    const vars: Record<string, string> = {};
    for (const variable of template.variables) {
      const raw = rawVariable(template, variable, found.segments);
      const text = isMulti(template, variable) ? decodeSegments(raw) : decodeSegment(raw);
      vars[variable.path.join(".")] = text;
    }
    return { rule: index, status: 200, vars };
  });
}

/** Why the module and grpc-gateway may differ. */
export const REASONS = {
  /** http.proto: "The server side does the reverse decoding, except "%2F" and "%2f" are left unchanged". */
  slash: "%2F stays as it is in a variable of several segments, also where they are *",
  /** A value is what stands in the path. */
  empty: "behind text, ** that takes no segment adds no slash",
  /** RFC 3986 §6.2.2.2: such spellings are equivalent. */
  literal: "a literal fits its percent-encoded spelling",
  /** grpc-gateway gives up as soon as it meets a rule with that verb, whatever other rules there are. */
  verb: "a last segment that is a verb without anything before it is text of rules without a verb",
  /** Texts of proto are UTF-8, and nothing else can be sent. */
  encoding: "what is not well encoded UTF-8 is answered 400 where it is a value, 404 else",
} as const;

const plain = (text: string): string => text.replace(/%2f/gi, "/");

/** Why two outcomes differ as they do; "" if they are the same, null if there is no reason. */
export function reasonOf(
  { path }: Request,
  template: string,
  here: Outcome,
  there: Outcome,
): keyof typeof REASONS | "" | null {
  const isMiss = ({ status }: Outcome) => status === 404 || status === 405 || status === 501;
  if (isMiss(here) && isMiss(there)) return "";
  if (here.rule < 0 && here.status === there.status) return "";
  if (here.rule === there.rule && here.rule >= 0) {
    const names = Object.keys(here.vars!);
    if (names.length !== Object.keys(there.vars!).length) return null;
    const different = names.filter((name) => here.vars![name] !== there.vars![name]);
    if (different.length === 0) return "";
    const texts = different.map((name) => [plain(here.vars![name]!), plain(there.vars![name]!)]);
    if (/%2f/i.test(path) && texts.every(([a, b]) => a === b)) return "slash";
    const isEmpty = texts.every(([a, b]) => a === b || hasOneSlashLess(a!, b!));
    return isEmpty && template.includes("**") ? "empty" : null;
  }
  if (!isWellEncoded(path)) return here.rule < 0 ? "encoding" : null;
  if (here.rule >= 0 && isMiss(there) && /\/:[^/]*$/.test(path)) return "verb";
  if (here.rule >= 0 && isMiss(there) && `${path}${template}`.includes("%")) return "literal";
  return null;
}

function hasOneSlashLess(text: string, other: string): boolean {
  return other.split("").some((char, i) =>
    char === "/" && other.slice(0, i) + other.slice(i + 1) === text
  );
}
