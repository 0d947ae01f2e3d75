/**
 * Work on many keys, in portions: it yields where it may be left for a while. What it reads stays as it
 * is meanwhile, as it reads at a revision.
 *
 * @module
 */

/** Work that is carried out bit by bit. */
export type Work<Result> = Generator<void, Result, void>;

/** Keys, states or revisions of one portion: less than a millisecond of work. */
export const PORTION = 1_000;

/** Does all of a work at once. */
export function finish<Result>(work: Work<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Turns the members of a list into others. */
export function* mapped<From, To>(list: readonly From[], turn: (one: From) => To): Work<To[]> {
  const all: To[] = [];
  for (let at = 0; at < list.length; at++) {
    all.push(turn(list[at]!));
    if (at % PORTION === PORTION - 1) yield;
  }
  return all;
}

/** Sorts a list; members that compare equal keep their order. */
export function* sorted<One>(
  list: readonly One[],
  compare: (a: One, b: One) => number,
): Work<readonly One[]> {
  if (list.length <= PORTION) return [...list].sort(compare);
  let runs: (readonly One[])[] = [];
  for (let at = 0; at < list.length; at += PORTION) {
    runs.push(list.slice(at, at + PORTION).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const longer: (readonly One[])[] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = [runs[i]!, runs[i + 1]];
      longer.push(right === undefined ? left : yield* merged(left, right, compare));
    }
    runs = longer;
  }
  return runs[0]!;
}

function* merged<One>(
  left: readonly One[],
  right: readonly One[],
  compare: (a: One, b: One) => number,
): Work<One[]> {
  const all: One[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length;) {
    const first = j === right.length || (i < left.length && compare(left[i]!, right[j]!) <= 0);
    all.push(first ? left[i++]! : right[j++]!);
    if (all.length % PORTION === 0) yield;
  }
  return all;
}
