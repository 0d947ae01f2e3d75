/**
 * Pauses before a stream that broke is opened again.
 *
 * @module
 */

/** Milliseconds before the second attempt; the first is made at once. */
const INITIAL_MS = 50;

/** Milliseconds at most: as long as a client may take to notice that its member is back. */
const MAX_MS = 1_000;

/** Milliseconds to wait after `failures` attempts failed in a row, with up to 20 % left off by chance. */
export function reopenDelay(failures: number, random: () => number = Math.random): number {
  if (failures <= 1) return 0;
  return Math.min(MAX_MS, INITIAL_MS * 2 ** (failures - 2)) * (1 - 0.2 * random());
}
