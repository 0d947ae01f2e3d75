/**
 * Fairness between a loop whose next item is always ready and the rest of the process.
 *
 * `await` of what is ready runs in the same turn of the event loop: a peer that fills a queue faster
 * than it is read would keep every timer, socket and signal waiting. So whoever hands out items that
 * nobody had to wait for asks {@linkcode ready} first.
 *
 * @module
 */
import { setImmediate } from "node:timers";

/** Items handed out in one turn: at 100 µs of work for each, others wait 13 ms. */
const ITEMS_PER_TURN = 128;

let items = 0;
let next: Promise<void> | null = null;

/**
 * Counts one item that is handed out without a wait, or `cost` where it is as much work as that many.
 * Returns undefined, or when the turn has had enough of them a promise of the next turn, to be awaited
 * before the item is given.
 */
export function ready(cost = 1): Promise<void> | undefined {
  if (items === 0) setImmediate(reset);
  items += cost;
  if (items <= ITEMS_PER_TURN) return undefined;
  return next ??= new Promise((resolve) => setImmediate(resolve));
}

function reset(): void {
  items = 0;
  next = null;
}
