/**
 * How long a body is: what its head says, and whether that is what is sent (RFC 9110 §8.6).
 *
 * @module
 */
import { hasToken } from "./connection_fields.ts";

/** A content-length: 1*DIGIT, within what a number holds. -1 if it is none. */
export function readContentLength(text: string): number {
  const n = text.length;
  if (n === 0 || n > 15) return -1;
  let length = 0;
  for (let i = 0; i < n; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}

/** Whether a response has no body whatever its head says (RFC 9110 §6.4.1). */
export function isBodiless(method: string, status: number): boolean {
  return method === "HEAD" || status === 204 || status === 304;
}

/** Framing and connection of a response, as its fields tell. */
interface Framing {
  /** Content-length, or -1. */
  declared: number;
  /** Whether `transfer-encoding: chunked` is wished. */
  chunked: boolean;
  /** Whether `connection: close` is wished. */
  close: boolean;
  /** Whether a date is given. */
  dated: boolean;
}

/** Reused by {@linkcode responseFraming}: its caller reads it at once. */
const framing: Framing = { declared: -1, chunked: false, close: false, dated: false };

/**
 * Reads what a response's fields say of its framing. The result is valid until the next call.
 *
 * @throws {TypeError} If they contradict themselves or ask for what there is not.
 */
export function responseFraming(fields: readonly string[]): Framing {
  let declared = -1;
  let chunked = false;
  let close = false;
  let dated = false;
  for (let i = 0; i < fields.length; i += 2) {
    const value = fields[i + 1]!;
    switch (fields[i]) {
      case "content-length": {
        const length = readContentLength(value);
        if (length < 0 || (declared >= 0 && declared !== length)) {
          throw new TypeError(
            `Cannot respond as content-length must be one decimal number: current value is ${
              JSON.stringify(value)
            }`,
          );
        }
        declared = length;
        break;
      }
      case "transfer-encoding":
        if (value.toLowerCase() !== "chunked") {
          throw new TypeError(
            `Cannot respond as transfer-encoding must be "chunked": current value is ${
              JSON.stringify(value)
            }`,
          );
        }
        chunked = true;
        break;
      case "connection":
        if (hasToken(value, "close")) close = true;
        break;
      case "date":
        dated = true;
        break;
    }
  }
  if (chunked && declared >= 0) {
    throw new TypeError(
      "Cannot respond with both content-length and transfer-encoding (RFC 9112 §6.2)",
    );
  }
  framing.declared = declared;
  framing.chunked = chunked;
  framing.close = close;
  framing.dated = dated;
  return framing;
}

/**
 * Checks one more piece of a body.
 *
 * @throws {RangeError} If `sent` would exceed the `declared` length; -1 is any.
 */
export function checkSent(declared: number, sent: number): void {
  if (declared >= 0 && sent > declared) {
    throw new RangeError(
      `Cannot send more than content-length says: ${declared} bytes, with this piece ${sent}`,
    );
  }
}

/**
 * Checks the end of a body.
 *
 * @throws {RangeError} If `sent` is not the `declared` length; -1 is any.
 */
export function checkEnd(what: "request" | "response", declared: number, sent: number): void {
  if (declared >= 0 && sent !== declared) {
    throw new RangeError(
      `Cannot end the ${what} as content-length says ${declared} bytes: sent were ${sent}`,
    );
  }
}
