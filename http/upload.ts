/**
 * Sends a body piece by piece.
 *
 * @module
 */
import { NO_BODY, pieceBytes, type RequestBody } from "./body.ts";
import type { ClientExchange } from "./exchange.ts";
import type { Progress } from "./request.ts";

/** Milliseconds `expect: 100-continue` holds a body back (RFC 9110 §10.1.1). */
const CONTINUE_WAIT_MS = 1000;

/** Sends `body` and ends the request. Rejects if the body's source fails or the exchange is over. */
export async function upload(
  exchange: ClientExchange,
  body: RequestBody,
  expect: boolean,
  onUpload: ((progress: Progress) => void) | undefined,
): Promise<void> {
  if (expect && body !== NO_BODY) await exchange.continued(CONTINUE_WAIT_MS);
  const total = body.length >= 0 ? body.length : undefined;
  let transferred = 0;
  for await (const piece of body.pieces ?? slices(body.bytes)) {
    const bytes = pieceBytes(piece);
    const wait = exchange.write(bytes);
    if (wait !== undefined) await wait;
    transferred += bytes.length;
    onUpload?.({ transferred, total });
  }
  exchange.finish();
}

/** Octets between two reports of progress. */
const SLICE_BYTES = 64 << 10;

function* slices(bytes: Uint8Array | null): Generator<Uint8Array> {
  if (bytes === null) return;
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
  }
}
