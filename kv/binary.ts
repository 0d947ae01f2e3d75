/**
 * Bytes as text of one character a byte. Such texts take no more memory than their bytes, compare as
 * keys do, byte by byte, and share nothing with the message they came in.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Bytes } from "./types.ts";

/** Undocumented methods of Node's buffers, several times as fast as anything else there is. */
interface Latin1 {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  latin1Write(this: Uint8Array, text: string, at: number, length: number): number;
}

const { latin1Slice, latin1Write } = Buffer.prototype as unknown as Latin1;
const encoder = new TextEncoder();

/** A key or a value as text of one character a byte. */
export function binaryOf(value: Bytes): string {
  if (typeof value !== "string") return latin1Slice.call(value, 0, value.length);
  return isAscii(value) ? value : binaryOf(encoder.encode(value));
}

/** The bytes of such a text. */
export function bytesOf(binary: string): Uint8Array {
  // As UTF-8 only ASCII takes one byte a character.
  const encoded = encoder.encode(binary);
  if (encoded.length === binary.length) return encoded;
  const bytes = new Uint8Array(binary.length);
  latin1Write.call(bytes, binary, 0, binary.length);
  return bytes;
}

function isAscii(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return /^[\x00-\x7f]*$/.test(text);
}
