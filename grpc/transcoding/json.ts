/**
 * JSON of clients, read without giving them more of the stack than a depth allows, and without losing
 * digits of integers.
 *
 * @module
 */
import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { badRequest } from "./refusal.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`, with this bit. */
const BRACKET_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Digits that a number might not keep. */
const LONG_NUMBER = /\d{16}/;

/** Types whose numbers are JSON's own, and stay numbers. */
const FREE_TYPES: ReadonlySet<string> = new Set([
  "google.protobuf.Any",
  "google.protobuf.ListValue",
  "google.protobuf.Struct",
  "google.protobuf.Value",
]);

/** An object or a list of JSON. */
type Container = { [key: string]: unknown };

/**
 * Reads the JSON that a client sent. Throws INVALID_ARGUMENT if it is none, or deeper than `maxDepth`.
 * With `long`, integers that a number would round are text.
 */
export function parseBoundedJson(text: string, maxDepth: number, long?: LongIntegers): JsonValue {
  if (text.length > maxDepth) checkDepth(text, maxDepth);
  try {
    return long !== undefined && LONG_NUMBER.test(text)
      ? JSON.parse(text, long.reviver)
      : JSON.parse(text);
  } catch {
    throw badRequest("the body must be JSON");
  }
}

/**
 * Integers with more digits than numbers keep. They are read as their texts, which fields of 64 bits
 * take as they take numbers.
 */
export class LongIntegers {
  /** Where such texts stand: keys by what has them. */
  readonly #places = new Map<Container, Set<string>>();

  /** Reads a value of JSON. */
  readonly reviver: (this: Container, key: string, value: unknown) => unknown;

  constructor() {
    const places = this.#places;
    this.reviver = function (key, value, context?: { readonly source?: string }) {
      if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
      const source = context?.source;
      if (source === undefined || !/^-?\d+$/.test(source)) return value;
      const keys = places.get(this);
      if (keys === undefined) places.set(this, new Set([key]));
      else keys.add(key);
      return source;
    };
  }

  /** Makes numbers again of those where a message has JSON of any kind. */
  restore(desc: DescMessage, json: unknown): void {
    if (this.#places.size === 0 || !isContainer(json)) return;
    for (const { message, fieldKind, jsonName, name } of desc.fields) {
      if (message === undefined) continue;
      for (const key of [jsonName, name]) {
        if (!Object.hasOwn(json, key)) continue;
        const isFree = FREE_TYPES.has(message.typeName);
        if (isFree && fieldKind === "message") this.#restoreAt(json, key);
        else if (isFree) this.#restoreAll(json[key]);
        else if (fieldKind === "message") this.restore(message, json[key]);
        else for (const one of values(json[key])) this.restore(message, one);
        if (jsonName === name) break;
      }
    }
  }

  #restoreAll(json: unknown): void {
    if (isContainer(json)) { for (const key of Object.keys(json)) this.#restoreAt(json, key); }
  }

  #restoreAt(container: Container, key: string): void {
    if (this.#places.get(container)?.has(key)) container[key] = Number(container[key]);
    else this.#restoreAll(container[key]);
  }
}

function isContainer(json: unknown): json is Container {
  return typeof json === "object" && json !== null;
}

function values(json: unknown): readonly unknown[] {
  return isContainer(json) ? Object.values(json) : [];
}

function checkDepth(text: string, maxDepth: number): void {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inText) {
      if (char === BACKSLASH) i++;
      else if (char === QUOTE) inText = false;
    } else if (char === QUOTE) inText = true;
    else if ((char | BRACKET_BIT) === OPEN) {
      if (++depth > maxDepth) {
        throw badRequest(`JSON must not be nested deeper than ${maxDepth} (maxDepth)`);
      }
    } else if ((char | BRACKET_BIT) === CLOSE) depth--;
  }
}
