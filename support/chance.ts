/** Chance that tests can repeat. */
import { Random } from "./random.ts";

/** From now on `Math.random` goes by a seed, until it is disposed of. */
export function seeded(seed: number): Disposable {
  const platform = Math.random;
  const random = new Random(seed);
  Math.random = () => random.next();
  return {
    [Symbol.dispose]: () => {
      Math.random = platform;
    },
  };
}

/** From now on draws of `Math.random` lie evenly, however many others draw between; until it is disposed of. */
export function evenChance(): Disposable {
  const platform = Math.random;
  let at = 0;
  // Steps of the golden ratio: of ten draws in a row every third of the range gets some.
  Math.random = () => at = (at + (Math.sqrt(5) - 1) / 2) % 1;
  return {
    [Symbol.dispose]: () => {
      Math.random = platform;
    },
  };
}
