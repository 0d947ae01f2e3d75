/**
 * Puts whole responses into a coding their client takes.
 *
 * @module
 */
import {
  chooseCoding,
  codedFields,
  compressBody,
  MAX_COMPRESS_BYTES,
  mayCompress,
  MIN_COMPRESS_BYTES,
} from "../coding/compress.ts";
import { readContentLength } from "../message/body_length.ts";
import { fieldOf } from "../message/headers.ts";

/** A response as it is to be sent. */
interface CodedResponse {
  /** Its header fields, or null if those given stay. */
  readonly fields: string[] | null;
  readonly body: string | Uint8Array | null;
}

const encoder = new TextEncoder();

/** The response with these `fields` and this whole `body`; `accept` is the client's accept-encoding. */
export function codeResponse(
  method: string,
  status: number,
  fields: string[],
  body: string | Uint8Array | null,
  accept: string | undefined,
): CodedResponse {
  // RFC 9110 §15.4.5: with the vary that 200 would have had.
  if (status === 304) return { fields: codedFields(fields, null), body };
  if (!mayCompress(status, fields)) return { fields: null, body };
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  // RFC 9110 §9.3.2: HEAD has the fields GET would have; without a body, its length may tell.
  const length = bytes !== null
    ? bytes.length
    : method === "HEAD"
    ? readContentLength(fieldOf(fields, "content-length") ?? "")
    : 0;
  if (length < MIN_COMPRESS_BYTES || length > MAX_COMPRESS_BYTES) {
    return { fields: null, body: bytes };
  }
  const coding = chooseCoding(accept);
  return {
    fields: codedFields(fields, coding),
    body: coding === null || bytes === null ? bytes : compressBody(coding, bytes),
  };
}
