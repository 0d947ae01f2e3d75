/**
 * Percent-encoding of `grpc-message`: UTF-8 octets outside 0x20-0x7E, and "%", become %XX.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses}
 *
 * @module
 */
const NEEDS_ENCODING = /[^\x20-\x24\x26-\x7e]/;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encodes any text. Lone surrogates become U+FFFD. */
export function encodeMessage(text: string): string {
  if (!NEEDS_ENCODING.test(text)) return text;
  let out = "";
  for (const octet of encoder.encode(text)) {
    out += octet >= 0x20 && octet <= 0x7e && octet !== 0x25
      ? String.fromCharCode(octet)
      : "%" + octet.toString(16).toUpperCase().padStart(2, "0");
  }
  return out;
}

/** Decodes leniently, as the protocol demands: what is no valid encoding stays as it came. */
export function decodeMessage(text: string): string {
  if (!text.includes("%")) return text;
  const octets = new Uint8Array(text.length);
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const hex = text.charCodeAt(i) === 0x25 ? text.slice(i + 1, i + 3) : "";
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      octets[n++] = parseInt(hex, 16);
      i += 2;
    } else {
      octets[n++] = text.charCodeAt(i);
    }
  }
  return decoder.decode(octets.subarray(0, n));
}
