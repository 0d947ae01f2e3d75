/**
 * Percent-encoding of `grpc-message`: UTF-8 bytes outside 0x20-0x7E, and "%", become %XX.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses}
 *
 * @module
 */

/** Bytes of a message when encoded: peers take whole header lists of 8 KiB and more. */
export const MAX_MESSAGE_SIZE: number = 8 << 10;

const NEEDS_ENCODING = /[^\x20-\x24\x26-\x7e]/;
/** A blank at an end of a field's value, which makes it malformed (RFC 9113 §8.2.1). */
const BLANK_END = /^ | $/;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Encodes any text, as much of it as fits into `limit` bytes: it is cut between two characters.
 * Lone surrogates become U+FFFD.
 */
export function encodeMessage(text: string, limit = MAX_MESSAGE_SIZE): string {
  const start = text.slice(0, limit);
  if (!NEEDS_ENCODING.test(start) && !BLANK_END.test(start)) return start;
  let out = "";
  // Not of the cut text: its last character may be half of one.
  for (const char of text) {
    const piece = char === " " && out === "" ? "%20" : encodeCharacter(char);
    if (out.length + piece.length > limit) break;
    out += piece;
  }
  let end = out.length;
  while (end > 0 && out.charCodeAt(end - 1) === 0x20) end--;
  if (end === out.length) return out;
  return out.length + 2 <= limit ? `${out.slice(0, -1)}%20` : out.slice(0, end);
}

function encodeCharacter(char: string): string {
  if (!NEEDS_ENCODING.test(char)) return char;
  let out = "";
  for (const byte of encoder.encode(char)) {
    out += "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  }
  return out;
}

/** Decodes leniently, as the protocol demands: invalid encodings stay as they came. */
export function decodeMessage(text: string): string {
  if (!text.includes("%")) return text;
  const bytes = new Uint8Array(text.length);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const hex = text.charCodeAt(i) === 0x25 ? text.slice(i + 1, i + 3) : "";
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes[n++] = parseInt(hex, 16);
      i += 2;
    } else {
      bytes[n++] = text.charCodeAt(i);
    }
  }
  return decoder.decode(bytes.subarray(0, n));
}
