/**
 * The content of answers that are read whole.
 *
 * @module
 */
import type { LastAnswer } from "./request_run.ts";
import type { ResolvedOptions } from "./resolve.ts";
import { clientStream } from "./stream.ts";

/** The whole body of an answer if it is short plain text and here already, as most are; else null. */
export function takeText({ exchange, head }: LastAnswer, options: ResolvedOptions): string | null {
  const { maxWholeBytes, onDownload } = options;
  if (onDownload !== undefined || !isPlain(head.fields)) return null;
  return maxWholeBytes === 0 || head.length <= maxWholeBytes ? exchange.takeText() : null;
}

/** The whole body of an answer. */
export function readContent(
  { exchange, head, url, redirects }: LastAnswer,
  { decompress, maxWholeBytes, onDownload }: ResolvedOptions,
): Promise<Uint8Array> {
  const settings = { decompress, maxResponseBytes: maxWholeBytes, onDownload, onClosed: undefined };
  return clientStream(exchange, settings, url, redirects, head).readBytes();
}

/** Charsets whose lower half is ASCII, which covers nearly every charset in use. */
const ASCII_BASED = /charset\s*=\s*["']?(?:utf-?8|us-ascii|ascii|iso-8859-|windows-125|latin1)/i;

/** Whether ASCII bytes of a body are text as they stand. */
function isPlain(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i] === "content-encoding") return false;
    if (fields[i] === "content-type") {
      const value = fields[i + 1]!;
      if (/charset/i.test(value) && !ASCII_BASED.test(value)) return false;
    }
  }
  return true;
}
