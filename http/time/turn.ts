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

/** Work between two turns. A unit is a small frame or chunk: with what it causes, others wait some 10 ms. */
const UNITS_PER_TURN = 2048;

/** An item handed to the user: 128 of them in a turn, at 100 µs of work for each, keep others 13 ms. */
const ITEM_UNITS = 16;

let units = 0;
let next: Promise<void> | null = null;

/**
 * Counts work that was done without a wait: 1 for a small frame. Returns undefined, or when that was
 * enough a promise of the next turn, to be awaited before going on.
 */
export function worked(amount: number): Promise<void> | undefined {
  units += amount;
  // No turn is counted that came about by itself: looking for those would cost more than one too many.
  if (units < UNITS_PER_TURN) return undefined;
  return next ??= new Promise((resolve) => {
    setImmediate(() => {
      units = 0;
      next = null;
      resolve();
    });
  });
}

/**
 * Counts one item that is handed out without a wait, or `cost` where it is as much work as that many.
 * Returns undefined, or when the turn has had enough of them a promise of the next turn, to be awaited
 * before the item is given.
 */
export function ready(cost = 1): Promise<void> | undefined {
  return worked(cost * ITEM_UNITS);
}
