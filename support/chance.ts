/** Chance that tests can rely on. */

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
