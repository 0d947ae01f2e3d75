/**
 * Compression of responses that are given whole (RFC 9110 §8.4, §12.5.3). Off unless asked for: it
 * lets an eavesdropper who can plant text beside a secret guess the secret from lengths (BREACH).
 *
 * @module
 */
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { fieldOf, type FlatHeaders } from "../message/headers.ts";

/** Bodies shorter than this gain nothing. */
export const MIN_COMPRESS_BYTES = 1024;
/** Longer ones would hold up everything else while they are compressed. */
export const MAX_COMPRESS_BYTES = 4 << 20;

/** Media types worth compressing; images, archives and the like are compressed already. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:json|javascript|xml|wasm|graphql|manifest\+json|x-ndjson|[\w.-]+\+(?:json|xml))|image\/svg\+xml)/i;

/** The coding to use for an `accept-encoding`, or null. Brotli wins a tie: it is shorter. */
export function chooseCoding(accept: string | undefined): "br" | "gzip" | null {
  if (accept === undefined) return null;
  const weights: Record<string, number> = {};
  for (const item of accept.toLowerCase().split(",")) {
    const [name, ...parameters] = item.split(";").map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    weights[name!] = weight >= 0 ? weight : 0;
  }
  const any = weights["*"] ?? 0;
  const br = weights["br"] ?? any;
  const gzip = weights["gzip"] ?? weights["x-gzip"] ?? any;
  if (br <= 0 && gzip <= 0) return null;
  return br >= gzip ? "br" : "gzip";
}

/** Whether a response with these fields may be compressed. */
export function mayCompress(status: number, fields: FlatHeaders): boolean {
  return status !== 206 && COMPRESSIBLE.test(fieldOf(fields, "content-type") ?? "") &&
    fieldOf(fields, "content-encoding") === undefined &&
    fieldOf(fields, "content-range") === undefined &&
    !/no-transform/i.test(fieldOf(fields, "cache-control") ?? "");
}

/** The body in a coding. */
export function compressBody(coding: "br" | "gzip", body: Uint8Array): Uint8Array {
  return coding === "gzip" ? gzipSync(body) : brotliCompressSync(body, {
    // 4 takes as long as gzip's default and is shorter.
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 4,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  });
}

/** The fields of a response whose body was put in `coding`. */
export function codedFields(fields: FlatHeaders, coding: "br" | "gzip" | null): string[] {
  const coded: string[] = [];
  let vary = false;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    let value = fields[i + 1]!;
    if (name === "content-length" && coding !== null) continue;
    if (name === "vary") {
      vary = true;
      if (!/\*|accept-encoding/i.test(value)) value += ", accept-encoding";
    }
    // RFC 9110 §8.8.1: other octets, so equal in meaning at most.
    if (name === "etag" && coding !== null && !value.startsWith("W/")) value = `W/${value}`;
    coded.push(name, value);
  }
  if (!vary) coded.push("vary", "accept-encoding");
  if (coding !== null) coded.push("content-encoding", coding);
  return coded;
}
