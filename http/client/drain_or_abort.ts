/**
 * What becomes of answers that are not the last: redirects, and those that are tried again.
 *
 * @module
 */
import type { ClientExchange, IncomingHead } from "./exchange.ts";

/** Octets of a body nobody wants that are read to keep its connection. */
const MAX_DRAIN_BYTES = 64 << 10;
/** Milliseconds that takes at most. */
const MAX_DRAIN_MS = 500;

/** Reads a body nobody wants, if that is cheaper than a new connection. */
export async function drainOrAbort(exchange: ClientExchange, head: IncomingHead): Promise<void> {
  const unwanted = new Error("The rest of the body is not wanted");
  if (head.length > MAX_DRAIN_BYTES) return exchange.abort(unwanted);
  if (head.length === 0) return;
  let dropped = 0;
  const timer = setTimeout(() => exchange.abort(unwanted), MAX_DRAIN_MS);
  try {
    for (let piece = await exchange.read(); piece !== null; piece = await exchange.read()) {
      dropped += piece.length;
      if (dropped > MAX_DRAIN_BYTES) break;
    }
  } catch {
    // What comes of the old connection does not matter to the next.
  } finally {
    clearTimeout(timer);
  }
  exchange.abort(unwanted);
}
