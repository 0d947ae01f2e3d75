/**
 * Request targets and methods: one check for both versions (RFC 9112 §3, RFC 9113 §8.3.1).
 *
 * @module
 */
import { isToken } from "./headers.ts";

/** Byte kinds of a request target. 0: not allowed. */
const PLAIN = 1;
/** See {@linkcode PLAIN}: the URL standard has its own reading of it. */
export const SPECIAL = 2;

/** The kind of each byte: visible ASCII but `#` (RFC 9112 §3.2, RFC 3986 §4.3). */
export const TARGET_BYTE: Uint8Array = new Uint8Array(256).fill(PLAIN, 0x21, 0x7f);
TARGET_BYTE[0x23] = 0;
for (const c of '"<>\\`{}') TARGET_BYTE[c.charCodeAt(0)] = SPECIAL;

/**
 * A target in origin-form (path and query) as a URL has it, or null if it may not be one.
 *
 * Bytes that no URL holds literally (`"` `<` `>`, in paths also `` ` `` `{` `}`) are percent-encoded
 * as every URL parser does, so a path is the same text in the target and in the URL made of it. A
 * backslash in a path is refused: URL parsers take it for a slash, others do not.
 */
export function readTarget(text: string): string | null {
  if (text.charCodeAt(0) !== 0x2f) return null;
  let kinds = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const kind = c < 256 ? TARGET_BYTE[c]! : 0;
    if (kind === 0) return null;
    kinds |= kind;
  }
  return (kinds & SPECIAL) === 0 ? text : encodeTarget(text);
}

/** See {@linkcode readTarget}; all bytes of `text` are known to be of an allowed kind. */
export function encodeTarget(text: string): string | null {
  const query = text.indexOf("?");
  const path = query < 0 ? text : text.slice(0, query);
  if (path.includes("\\")) return null;
  const encoded = path.replace(/["<>`{}]/g, percent);
  return query < 0 ? encoded : encoded + text.slice(query).replace(/["<>]/g, percent);
}

function percent(c: string): string {
  return `%${c.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * Why a request may not have this method, or "". Methods are case-sensitive (RFC 9110 §9.1): `get` is
 * not GET, yet passes checks written for it.
 */
export function methodFault(method: string): string {
  if (!isToken(method)) return "Method must be a token and one blank";
  for (let i = 0; i < method.length; i++) {
    const c = method.charCodeAt(i);
    if (c >= 0x61 && c <= 0x7a) {
      return `Method must be in upper case: got ${JSON.stringify(method)}`;
    }
  }
  return "";
}
