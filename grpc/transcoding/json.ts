/**
 * JSON of clients, read without giving them more of the stack than a depth allows, and without losing
 * digits of integers.
 *
 * @module
 */
import type { JsonValue } from "@bufbuild/protobuf";
import { badRequest } from "./refusal.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, `]` and `}`, with this bit. */
const BRACKET_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Digits that a number might not keep. */
const LONG_NUMBER = /\d{16}/;

/** Reads the JSON that a client sent. Throws INVALID_ARGUMENT if it is none, or deeper than `maxDepth`. */
export function parseBoundedJson(text: string, maxDepth: number): JsonValue {
  if (text.length > maxDepth) checkDepth(text, maxDepth);
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
  } catch {
    throw badRequest("the body must be JSON");
  }
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

/** Keeps an integer that a number would round as its text, which fields of 64 bits take. */
function exact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? source : value;
}
