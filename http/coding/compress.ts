/**
 * Compression of responses that are given whole (RFC 9110 §8.4, §12.5.3). Off unless asked for: it
 * lets an eavesdropper who can plant text beside a secret guess the secret from lengths (BREACH).
 *
 * @module
 */
import * as zlib from "node:zlib";
import { fieldOf, type FlatHeaders, listOf } from "../message/headers.ts";

/** Bodies shorter than this gain nothing. */
export const MIN_COMPRESS_BYTES = 1024;
/** Longer ones would hold up everything else while they are compressed. */
export const MAX_COMPRESS_BYTES = 4 << 20;

/** Media types worth compressing; images, archives and the like are compressed already. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:json|javascript|xml|wasm|graphql|manifest\+json|x-ndjson|[\w.-]+\+(?:json|xml))|image\/svg\+xml)/i;

/** A content-coding (RFC 9110 §8.4.1) that responses are put in. */
type SentCoding = "br" | "zstd" | "gzip";

/** Codings this runtime has, shortest result first: that one wins a tie. */
const CODINGS: readonly SentCoding[] = typeof zlib.zstdCompressSync === "function"
  ? ["br", "zstd", "gzip"]
  : ["br", "gzip"];

/**
 * The coding to use for an `accept-encoding` (RFC 9110 §12.5.3), or null: the one with the highest
 * weight, unless the client prefers none.
 */
export function chooseCoding(accept: string | undefined): SentCoding | null {
  if (accept === undefined) return null;
  const weights = new Map<string, number>();
  for (const item of accept.toLowerCase().split(",")) {
    const [name, ...parameters] = item.split(";").map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(name === "x-gzip" ? "gzip" : name!, q === undefined ? 1 : weightOf(q.slice(2)));
  }
  const any = weights.get("*") ?? 0;
  let best: SentCoding | null = null;
  let most = weights.get("identity") ?? 0;
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? any;
    if (weight > 0 && (weight > most || (best === null && weight === most))) {
      best = coding;
      most = weight;
    }
  }
  return best;
}

/** A qvalue, 0 to 1 with three decimals; what is none counts as 0. */
function weightOf(text: string): number {
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

/** Whether a response with these fields may be compressed. */
export function mayCompress(status: number, fields: FlatHeaders): boolean {
  return status !== 206 && COMPRESSIBLE.test(fieldOf(fields, "content-type") ?? "") &&
    fieldOf(fields, "content-encoding") === undefined &&
    fieldOf(fields, "content-range") === undefined &&
    !/no-transform/i.test(listOf(fields, "cache-control") ?? "");
}

/** The body in a coding. */
export function compressBody(coding: SentCoding, body: Uint8Array): Uint8Array {
  switch (coding) {
    case "gzip":
      return zlib.gzipSync(body);
    case "zstd":
      return zlib.zstdCompressSync(body);
    case "br":
      return zlib.brotliCompressSync(body, {
        // 4 takes as long as gzip's default and is shorter.
        params: {
          [zlib.constants.BROTLI_PARAM_QUALITY]: 4,
          [zlib.constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      });
  }
}

/** The fields of a response whose body was put in `coding`. */
export function codedFields(fields: FlatHeaders, coding: SentCoding | null): string[] {
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
    // RFC 9110 §8.8.1: other bytes, so equal in meaning at most.
    if (name === "etag" && coding !== null && !value.startsWith("W/")) value = `W/${value}`;
    coded.push(name, value);
  }
  if (!vary) coded.push("vary", "accept-encoding");
  if (coding !== null) coded.push("content-encoding", coding);
  return coded;
}
