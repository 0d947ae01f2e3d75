/**
 * Fairness between a loop whose next item is always ready and the rest of the process.
 *
 * `await` of what is ready runs in the same turn of the event loop, and reads of a socket are ready as
 * long as the peer sends faster than it is read: such a peer would keep every timer, socket and signal
 * waiting. So code that takes input or hands out items without a wait counts that work here, and lets the
 * loop turn when it is told to.
 *
 * Sockets wait longer than timers: of a loop that is never idle the platform looks after them in every
 * 61st turn only. So one that gives way gives so many turns at once: they cost some 0.2 ms, where the shortest
 * timer, which would leave the loop idle, costs more than 1 ms and counts as a leak in tests of users.
 *
 * @module
 */
import { setImmediate } from "node:timers";

/** Milliseconds of work after which others get their turns: they wait little longer than this. */
const TURN_MS = 10;

/** Turns that are given at once: the platform's interval (tokio's `event_interval`). */
const TURNS = 61;

/** Work between two looks at the clock. A unit is a small frame or chunk with what it causes. */
const UNITS_PER_LOOK = 256;

/** An item handed to the user, in such units: what the user does with it is not known. */
const ITEM_UNITS = 32;

let units = 0;
let turns = 0;
let turnedAt = 0;
let next: Promise<void> | null = null;
let resume = () => {};

/**
 * Counts work that was done without a wait: 1 for a small frame. Returns undefined, or when it took
 * long enough a promise of those turns, to be awaited before going on.
 */
export function worked(amount: number): Promise<void> | undefined {
  if (next !== null) return next;
  units += amount;
  if (units < UNITS_PER_LOOK) return undefined;
  units = 0;
  // Turns that came about by themselves are not seen: one too many costs less than watching for them.
  return performance.now() - turnedAt < TURN_MS ? undefined : next = new Promise((resolve) => {
    turns = 0;
    resume = resolve;
    setImmediate(onTurn);
  });
}

function onTurn(): void {
  if (++turns < TURNS) {
    setImmediate(onTurn);
    return;
  }
  turnedAt = performance.now();
  next = null;
  resume();
}

/**
 * Counts one item that is handed out without a wait, or `cost` where it is as much work as that many.
 * Returns undefined, or when there were enough of them a promise of those turns, to be awaited before
 * the item is given.
 */
export function ready(cost = 1): Promise<void> | undefined {
  return worked(cost * ITEM_UNITS);
}

async function rejectFairly(error: unknown): Promise<never> {
  await ready();
  throw error;
}

/**
 * The promise of a call, which may fail at once, as those of a client that was closed do: a loop of such
 * calls then keeps nobody from their turns.
 */
export function fair<T>(promise: Promise<T>): Promise<T> {
  return promise.then(undefined, rejectFairly);
}
