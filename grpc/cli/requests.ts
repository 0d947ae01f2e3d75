/**
 * Requests as they are typed in: JSON values one behind the other, or the text format.
 *
 * @module
 */
import { type DescMessage, fromJsonString, type Message, type Registry } from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import type { Schema } from "./schema.ts";

/** Characters of one request that are kept while its end has not come. */
const MAX_REQUEST_LENGTH = 64 << 20;

/** Ends a request in the text format: ASCII's record separator. */
export const SEPARATOR = "\x1e";

/** How requests are read. */
interface RequestOptions {
  readonly format: "json" | "text";
  readonly allowUnknownFields: boolean;
}

/** Messages of a type, as they come. Throws what is wrong with one. */
export async function* typedRequests(
  input: AsyncIterable<string>,
  desc: DescMessage,
  source: Schema,
  { format, allowUnknownFields }: RequestOptions,
): AsyncGenerator<Message> {
  let number = 0;
  for await (const text of format === "json" ? jsonValues(input) : records(input)) {
    number++;
    try {
      if (format === "text") yield fromText(desc, text, { registry: source.registry });
      else yield await fromJsonText(desc, text, source, allowUnknownFields);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `error getting request data: request ${number} is no ${desc.typeName}: ${why}`,
      );
    }
  }
}

async function fromJsonText(
  desc: DescMessage,
  text: string,
  source: Schema,
  ignoreUnknownFields: boolean,
): Promise<Message> {
  // The types of `Any` have to be there before it is read.
  for (const [, name] of text.matchAll(/"@type"\s*:\s*"(?:[^"\\]*\/)?([\w.]+)"/g)) {
    await source.find(name!).catch(() => {});
  }
  const registry: Registry = source.registry;
  return fromJsonString(desc, withPlainEmpty(text), { registry, ignoreUnknownFields });
}

const EMPTY = "google.protobuf.Empty";

/** An `Empty` in an `Any` is written with a `value` by some, as this command's templates are. */
function withPlainEmpty(text: string): string {
  if (!text.includes(`${EMPTY}"`)) return text;
  type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
  const revive: Reviver = (_, value, { source }) => {
    // Numbers that JavaScript has not are read as text.
    if (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "")) {
      return source;
    }
    if (typeof value !== "object" || value === null) return value;
    const { "@type": type, value: inner, ...rest } = value as Record<string, unknown>;
    return String(type).endsWith(`/${EMPTY}`) && JSON.stringify(inner) === "{}"
      ? { "@type": type, ...rest }
      : value;
  };
  return JSON.stringify(JSON.parse(text, revive as (key: string, value: unknown) => unknown));
}

/** Cuts text into JSON values; what stands between them is white space. */
async function* jsonValues(input: AsyncIterable<string>): AsyncGenerator<string> {
  const cutter = new JsonCutter();
  for await (const piece of input) yield* cutter.cut(piece);
  const rest = cutter.end();
  if (rest !== null) yield rest;
}

/** Finds the ends of JSON values; whether they are any, their reader says. */
class JsonCutter {
  #held = "";
  /** Where the search goes on. */
  #at = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  *cut(piece: string): Generator<string> {
    this.#held += piece;
    while (this.#at < this.#held.length) {
      if (!this.#step(this.#held[this.#at++]!)) continue;
      const value = this.#held.slice(0, this.#at).trim();
      this.#held = this.#held.slice(this.#at);
      this.#at = 0;
      if (value !== "") yield value;
    }
    checkLength(this.#held);
  }

  /** Whether a value, or space, ends with this character. */
  #step(character: string): boolean {
    if (this.#inString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === "\\") this.#isEscaped = true;
      else if (character === '"') this.#inString = false;
      return !this.#inString && this.#depth === 0;
    }
    switch (character) {
      case '"':
        this.#inString = true;
        return false;
      case "{":
      case "[":
        this.#depth++;
        return false;
      case "}":
      case "]":
        this.#depth = Math.max(0, this.#depth - 1);
        return this.#depth === 0;
      default:
        return this.#depth === 0 && /\s/.test(character);
    }
  }

  /** The value that the end of the input ends. */
  end(): string | null {
    const rest = this.#held.trim();
    return rest === "" ? null : rest;
  }
}

async function* records(input: AsyncIterable<string>): AsyncGenerator<string> {
  let held = "";
  for await (const piece of input) {
    const parts = (held + piece).split(SEPARATOR);
    held = parts.pop()!;
    checkLength(held);
    yield* parts;
  }
  yield held;
}

function checkLength(held: string): void {
  if (held.length <= MAX_REQUEST_LENGTH) return;
  throw new Error(
    `Cannot read a request as it must have <= ${MAX_REQUEST_LENGTH} characters: its end has not come yet`,
  );
}

/** Bytes as text, as they come. */
export async function* decoded(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of input) yield decoder.decode(piece, { stream: true });
  const rest = decoder.decode();
  if (rest !== "") yield rest;
}
