/**
 * Fairness between a loop whose next item is always ready and the rest of the process.
 *
 * `await` of what is ready runs in the same turn of the event loop, and reads of a socket are ready as
 * long as the peer sends faster than it is read: such a peer would keep every timer, socket and signal
 * waiting. So whoever takes input or hands out items without a wait counts that work here, and lets the
 * loop turn when it is told to.
 *
 * @module
 */
import { setImmediate } from "node:timers";

/** Milliseconds of work after which the loop turns: others wait little longer than this. */
const TURN_MS = 4;

/** Work between two looks at the clock. A unit is a small frame or chunk with what it causes. */
const UNITS_PER_LOOK = 256;

/** An item handed to the user, in such units. */
const ITEM_UNITS = 16;

let units = 0;
let turnedAt = 0;
let next: Promise<void> | null = null;

/**
 * Counts work that was done without a wait: 1 for a small frame. Returns undefined, or when it took
 * long enough a promise of the next turn, to be awaited before going on.
 */
export function worked(amount: number): Promise<void> | undefined {
  if (next !== null) return next;
  units += amount;
  if (units < UNITS_PER_LOOK) return undefined;
  units = 0;
  // Turns that came about by themselves are not seen: one too many costs less than watching for them.
  return performance.now() - turnedAt < TURN_MS ? undefined : next = new Promise((resolve) => {
    setImmediate(() => {
      turnedAt = performance.now();
      next = null;
      resolve();
    });
  });
}

/**
 * Counts one item that is handed out without a wait, or `cost` where it is as much work as that many.
 * Returns undefined, or when there were enough of them a promise of the next turn, to be awaited before
 * the item is given.
 */
export function ready(cost = 1): Promise<void> | undefined {
  return worked(cost * ITEM_UNITS);
}
