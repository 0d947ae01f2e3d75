/**
 * What becomes of answers that are not the last: redirects, and those that are tried again.
 *
 * @module
 */
import type { ClientExchange, ResponseStart } from "./exchange.ts";

/** Octets of a body nobody wants that are read to keep its connection. */
const MAX_DISCARD_BYTES = 64 << 10;
/** Milliseconds that takes at most. */
const MAX_DISCARD_MS = 500;

/** Reads a body nobody wants, if that is cheaper than a new connection. */
export async function discard(exchange: ClientExchange, head: ResponseStart): Promise<void> {
  const unwanted = new Error("The rest of the body is not wanted");
  if (head.length > MAX_DISCARD_BYTES) return exchange.abort(unwanted);
  if (head.length === 0) return;
  let dropped = 0;
  const timer = setTimeout(() => exchange.abort(unwanted), MAX_DISCARD_MS);
  try {
    for (let piece = await exchange.read(); piece !== null; piece = await exchange.read()) {
      dropped += piece.length;
      if (dropped > MAX_DISCARD_BYTES) break;
    }
  } catch {
    // What comes of the old connection does not matter to the next.
  } finally {
    clearTimeout(timer);
  }
  exchange.abort(unwanted);
}
