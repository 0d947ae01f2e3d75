/**
 * Drops the answers that are not the last: redirects, and those after which the request is retried.
 *
 * @module
 */
import type { ClientExchange, IncomingHead } from "./exchange.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";

/** Bytes of a body nobody wants that are read to keep its connection. */
const MAX_DRAIN_BYTES = 64 << 10;
/** Milliseconds that takes at most. */
const MAX_DRAIN_MS = 500;

/** Reads a body nobody wants, if that is cheaper than a new connection. */
export async function drainOrAbort(
  exchange: ClientExchange,
  head: IncomingHead,
  time: Time,
): Promise<void> {
  const unwanted = new Error("The rest of the body is not wanted");
  if (head.length > MAX_DRAIN_BYTES) return exchange.abort(unwanted);
  if (head.length === 0) return;
  let dropped = 0;
  const countdown = new Countdown(time, MAX_DRAIN_MS, () => exchange.abort(unwanted));
  try {
    for (let piece = await exchange.read(); piece !== null; piece = await exchange.read()) {
      dropped += piece.length;
      if (dropped > MAX_DRAIN_BYTES) break;
    }
  } catch {
    // The next request does not depend on this connection.
  } finally {
    countdown.stop();
  }
  exchange.abort(unwanted);
}
