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
